// Simbody on the chain, both ways: as its own kind of system, a tree of universal joints with two angles each and no
// constraint; and as the same system that we are given, masses free in space with a constraint for each rod.

#include <Simbody.h>

#include "large_contest.hpp"

namespace {

using namespace SimTK;
using contest::Timing;

struct Chain {
  MultibodySystem system;
  SimbodyMatterSubsystem matter;
  GeneralForceSubsystem forces;
  std::vector<MobilizedBody> bodies;
  Chain() : matter(system), forces(system) { Force::UniformGravity(forces, matter, Vec3(0, 0, -contest::gravity)); }
};

struct Tree : Chain {
  explicit Tree(int N) {
    const Body::Rigid link(MassProperties(1, Vec3(0, 0, -1), Inertia(1, 1, 0)));  // a point mass at its far end
    for (int i = 0; i < N; ++i) {
      const MobilizedBody parent = i ? bodies.back() : MobilizedBody(matter.Ground());
      MobilizedBody parent_copy = parent;
      bodies.push_back(MobilizedBody::Universal(parent_copy, Transform(Vec3(0, 0, i ? -1 : 0)), link, Transform()));
    }
  }
  /// Where the masses are and how they move.
  contest::Rods masses(const State& state) const {
    contest::Rods s = contest::make_chain(static_cast<int>(bodies.size()));
    for (std::size_t i = 0; i < bodies.size(); ++i)
      for (int k = 0; k < 3; ++k) {
        s.x[3 * i + k] = bodies[i].findStationLocationInGround(state, Vec3(0, 0, -1))[k];
        s.v[3 * i + k] = bodies[i].findStationVelocityInGround(state, Vec3(0, 0, -1))[k];
      }
    return s;
  }
};

struct Particles : Chain {
  explicit Particles(int N) {
    const Body::Rigid mass(MassProperties(1, Vec3(0), Inertia(0)));
    for (int i = 0; i < N; ++i) {
      bodies.push_back(MobilizedBody::Translation(matter.Ground(), Transform(), mass, Transform()));
      if (i)
        Constraint::Rod(bodies[i - 1], Vec3(0), bodies[i], Vec3(0), 1.0);
      else
        Constraint::Rod(matter.Ground(), Vec3(0), bodies[0], Vec3(0), 1.0);
    }
  }
};

std::vector<double> accelerations(const Chain& chain, const State& state, const Vec3& at) {
  std::vector<double> a;
  for (const MobilizedBody& body : chain.bodies)
    for (int k = 0; k < 3; ++k) a.push_back(body.findStationAccelerationInGround(state, at)[k]);
  return a;
}

void measure_tree(int N) {
  Tree tree(N);
  State state = tree.system.realizeTopology();
  tree.system.realizeModel(state);
  for (int i = 0; i < state.getNQ(); ++i) state.updQ()[i] = 0.02 * std::sin(1.3 * i);
  for (int i = 0; i < state.getNU(); ++i) state.updU()[i] = 0.01 * std::sin(i);
  const Timing t = contest::time_large([&] {
    state.updQ();  // nothing of the last time counts
    tree.system.realize(state, Stage::Acceleration);
  });
  contest::report("joints", t,
                  contest::chain_error(contest::chain_acceleration(tree.masses(state)),
                                       accelerations(tree, state, Vec3(0, 0, -1))));
}

void measure_particles(int N) {
  const contest::Rods s = contest::make_chain(N);
  Particles chain(N);
  State state = chain.system.realizeTopology();
  chain.system.realizeModel(state);
  const Timing t = contest::time_large([&] {
    for (int i = 0; i < 3 * N; ++i) state.updQ()[i] = s.x[i], state.updU()[i] = s.v[i];
    chain.system.realize(state, Stage::Acceleration);
  });
  contest::report("rods", t,
                  contest::chain_error(contest::chain_acceleration(s), accelerations(chain, state, Vec3(0))));
}

void measure_motion(int N) {
  Tree tree(N);
  State state = tree.system.realizeTopology();
  tree.system.realizeModel(state);
  // All rods along the first: a turn about y.
  tree.bodies[0].setQToFitRotation(state,
                                   Rotation(std::atan2(-contest::motion_start[0], -contest::motion_start[2]), YAxis));
  tree.system.realize(state, Stage::Dynamics);
  const double energy = tree.system.calcEnergy(state);
  RungeKuttaMersonIntegrator integrator(tree.system);
  integrator.setAccuracy(contest::motion_tolerance);
  TimeStepper stepper(tree.system, integrator);
  stepper.initialize(state);
  const auto begin = contest::Clock::now();
  stepper.stepTo(contest::motion_time);
  const double ns = 1e9 * contest::seconds_since(begin);
  const State& end = integrator.getState();
  tree.system.realize(end, Stage::Acceleration);
  const Vec3 tip = tree.bodies.back().findStationLocationInGround(end, Vec3(0, 0, -1));
  char more[200];
  std::snprintf(more, sizeof more, "\"tip\": [%.12g, %.12g, %.12g], \"steps\": %d, \"evaluations\": %d", tip[0], tip[1],
                tip[2], integrator.getNumStepsTaken(), integrator.getNumRealizations());
  contest::report("joints, Runge-Kutta-Merson", {ns, ns},
                  std::abs(tree.system.calcEnergy(end) - energy) / tree.system.calcKineticEnergy(end), more);
}

}  // namespace

int main(int argc, char** argv) {
  const contest::Arguments a = contest::arguments(argc, argv);
  const int N = contest::size_of(a);
  if (a.workload == "chain") measure_tree(N);
  if (a.workload == "rods") measure_particles(N);
  if (a.workload == "motion") measure_motion(N);
}
