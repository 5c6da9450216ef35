// Simbody. Motions project every step with a constraint tolerance of 1e-8: looser, it leaves the branch of parallel
// cranks.

#include <Simbody.h>

#include <sstream>

#include "contest.hpp"

namespace {

using namespace SimTK;
using contest::Arguments;
using contest::Timing;

struct Ladder {
  MultibodySystem system;
  SimbodyMatterSubsystem matter;
  GeneralForceSubsystem forces;
  std::vector<MobilizedBody> cranks, couplers;
  Ladder() : matter(system), forces(system) {
    Force::UniformGravity(forces, matter, Vec3(0, -contest::gravity, 0));
    const auto rod = [](const Vec3& along) {
      const double i = contest::rod_inertia;
      const Vec3 centre = 0.5 * along;
      return Body::Rigid(
          MassProperties(1, centre, Inertia(i * (1 - along[0]), i * (1 - along[1]), i).shiftFromMassCenter(centre, 1)));
    };
    const Body::Rigid crank = rod(Vec3(0, 1, 0)), coupler = rod(Vec3(1, 0, 0));
    const int N = contest::ladder_size;
    for (int i = 0; i <= N; ++i)
      cranks.push_back(MobilizedBody::Pin(matter.Ground(), Transform(Vec3(i, 0, 0)), crank, Transform()));
    for (int i = 0; i < N; ++i)
      couplers.push_back(MobilizedBody::Pin(cranks[i], Transform(Vec3(0, 1, 0)), coupler, Transform()));
    // Two rows for each loop: a plane mechanism needs no third.
    for (int i = 0; i < N; ++i)
      Constraint::PointOnLine(cranks[i + 1], UnitVec3(ZAxis), Vec3(0, 1, 0), couplers[i], Vec3(1, 0, 0));
  }
  void set(State& state, double angle, double speed) const {
    Vector& q = state.updQ();
    Vector& u = state.updU();
    for (const auto& c : cranks) q[c.getFirstQIndex(state)] = -angle, u[c.getFirstUIndex(state)] = -speed;
    for (const auto& c : couplers) q[c.getFirstQIndex(state)] = angle, u[c.getFirstUIndex(state)] = speed;
  }
};

void w1() {
  Ladder ladder;
  State state = ladder.system.realizeTopology();
  ladder.system.realizeModel(state);
  const auto first = ladder.cranks[0].getFirstUIndex(state);
  double error = 0.0;
  const Timing t = contest::time_calls(contest::ladder_states, [&](int k) {
    const double angle = contest::ladder_angle(k), exact = contest::ladder_exact(angle);
    ladder.set(state, angle, contest::ladder_speed);
    ladder.system.realize(state, Stage::Acceleration);
    error = std::max(error, std::abs(-state.getUDot()[first] - exact) / exact);
  });
  contest::report("realize(Acceleration)", t, error, "\"rows\": " + std::to_string(state.getNMultipliers()));
}

void w1_motion(const Arguments& a) {
  for (const double longest : {0.1, 0.08, 0.0625, 0.05}) {
    std::ostringstream name;
    name << "Runge-Kutta-Merson, steps of at most " << longest << " s";
    if (!a.wants(name.str())) continue;
    Ladder ladder;
    State start = ladder.system.realizeTopology();
    ladder.system.realizeModel(start);
    ladder.set(start, 0.0, 1.0);
    RungeKuttaMersonIntegrator integrator(ladder.system);
    integrator.setAccuracy(1e-3);
    integrator.setConstraintTolerance(1e-8);
    integrator.setProjectEveryStep(true);
    TimeStepper stepper(ladder.system, integrator);
    stepper.initialize(start);
    Timing t;
    double error = 1e9;
    const auto begin = contest::Clock::now();
    try {
      for (int k = 1; k <= std::lround(10.0 / longest); ++k) stepper.stepTo(k * longest);
      const State& end = integrator.getState();
      error = std::abs(-ladder.cranks[0].getOneQ(end, 0) - contest::ladder_end);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "simbody: %.100s\n", e.what());
    }
    t.median = t.least = 1e9 * contest::seconds_since(begin);
    contest::report(name.str(), t, error);
  }
}

void w2(const Arguments& a) {
  const std::vector<contest::ArmState> states = contest::read_arm_states(a.states.c_str());
  MultibodySystem system;
  SimbodyMatterSubsystem matter(system);
  GeneralForceSubsystem forces(system);
  Force::UniformGravity(forces, matter, Vec3(0, 0, -contest::gravity));
  MobilizedBody parent = matter.Ground();
  for (int i = 0; i < contest::arm_axes; ++i) {
    const Vec3 centre(0, contest::arm_centre_y, contest::arm_centre_z(i));
    const double xy = contest::arm_inertia_xy[i];
    const Inertia about_centre(xy, xy, contest::arm_inertia_z[i]);
    const Body::Rigid link(
        MassProperties(contest::arm_mass[i], centre, about_centre.shiftFromMassCenter(centre, contest::arm_mass[i])));
    const Rotation axis = contest::arm_about_y[i] ? Rotation(-Pi / 2, XAxis) : Rotation();  // a pin turns about z
    parent = MobilizedBody::Pin(parent, Transform(axis, Vec3(0, 0, contest::arm_offset[i])), link, Transform(axis));
  }
  const double* tip = contest::arm_tip;
  Constraint::Ball(matter.Ground(), Vec3(tip[0], tip[1], tip[2]), parent, Vec3(0, 0, contest::arm_offset[7]));
  State state = system.realizeTopology();
  system.realizeModel(state);
  double error = 0.0;
  const Timing t = contest::time_calls(static_cast<int>(states.size()), [&](int k) {
    for (int i = 0; i < contest::arm_axes; ++i) state.updQ()[i] = states[k].q[i], state.updU()[i] = states[k].qd[i];
    system.realize(state, Stage::Acceleration);
    error = std::max(error, contest::arm_error(states[k], state.getUDot()));
  });
  contest::report("realize(Acceleration)", t, error);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = contest::arguments(argc, argv);
  if (a.workload == "w1") w1();
  if (a.workload == "w1motion") w1_motion(a);
  if (a.workload == "w2") w2(a);
}
