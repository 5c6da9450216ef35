// MuJoCo. Constraints are soft there: they are hardened by solref and solimp as far as a step of 1 ms allows, the
// Newton solver runs to 1e-10, and the last acceleration starts the next solve, as in a simulation.

#include <mujoco/mujoco.h>
#include <unistd.h>

#include <sstream>

#include "large_contest.hpp"

namespace {

using namespace contest;

struct Simulation {
  mjModel* m = nullptr;
  mjData* d = nullptr;
  explicit Simulation(const std::string& xml) {
    char file[] = "/tmp/mujoco_XXXXXX";
    const int handle = mkstemp(file);
    if (handle < 0 || write(handle, xml.data(), xml.size()) != static_cast<ssize_t>(xml.size())) std::abort();
    close(handle);
    char why[500] = "";
    m = mj_loadXML(file, nullptr, why, sizeof why);
    std::remove(file);
    if (!m) {
      std::fprintf(stderr, "mujoco: %s\n", why);
      std::exit(1);
    }
    d = mj_makeData(m);
  }
  ~Simulation() { mj_deleteData(d), mj_deleteModel(m); }
};

struct Settings {
  std::string integrator = "RK4", solver = "Newton", jacobian = "auto", solref = "0.002 1",
              solimp = "0.9999 0.9999 0.001";
  double step = 1e-3, tolerance = 1e-10;
};

std::string opening(const Settings& s, const char* gravity_vector, const std::string& size) {
  std::ostringstream o;
  o << "<mujoco><compiler inertiafromgeom='false' angle='radian'/>" << size << "<option gravity='" << gravity_vector
    << "' integrator='" << s.integrator << "' timestep='" << s.step << "' solver='" << s.solver << "' tolerance='"
    << s.tolerance << "' iterations='100' jacobian='" << s.jacobian << "'><flag contact='disable'/></option>";
  return o.str();
}

/// Three for each joint that closes a loop.
int ladder_rows(int N) { return 3 * N + 50; }

std::string ladder(const Settings& s, int N = ladder_size) {
  std::ostringstream o;
  o.precision(17);
  const long stack = std::max(4000000L, 50L * N * N);  // of which it touches a tenth; with 20 N² it stops
  o << opening(
           s, "0 -9.81 0",
           "<size njmax='" + std::to_string(ladder_rows(N)) + "' nconmax='1' nstack='" + std::to_string(stack) + "'/>")
    << "<worldbody>";
  const auto rod = [&](const char* centre, const char* along) {
    const double i = rod_inertia, thin = 1e-6;
    o << "<inertial pos='" << centre << "' mass='1' diaginertia='" << (*along == 'x' ? thin : i) << ' '
      << (*along == 'y' ? thin : i) << ' ' << i << "'/>";
  };
  for (int i = 0; i <= N; ++i) {
    o << "<body name='crank" << i << "' pos='" << i << " 0 0'><joint type='hinge' axis='0 0 1'/>";
    rod("0 .5 0", "y");
    if (i < N) {
      o << "<body name='coupler" << i << "' pos='0 1 0'><joint type='hinge' axis='0 0 1'/>";
      rod(".5 0 0", "x");
      o << "</body>";
    }
    o << "</body>";
  }
  o << "</worldbody><equality>";
  for (int i = 0; i < N; ++i)
    o << "<connect body1='coupler" << i << "' body2='crank" << i + 1 << "' anchor='1 0 0' solref='" << s.solref
      << "' solimp='" << s.solimp << "'/>";
  o << "</equality></mujoco>";
  return o.str();
}

void set_ladder(mjData* d, double angle, double speed, int N = ladder_size) {
  for (int i = 0; i <= 2 * N; ++i) {
    const double side = i % 2 ? 1.0 : -1.0;  // couplers turn back by what the cranks turn
    d->qpos[i] = side * angle, d->qvel[i] = side * speed;
  }
}

void w1(const Arguments& a) {
  for (const char* jacobian : {"sparse", "dense"}) {
    const std::string name = std::string("Newton, ") + jacobian;
    if (!a.wants(name)) continue;
    Settings s;
    s.jacobian = jacobian;
    Simulation sim(ladder(s));
    double error = 0.0;
    const Timing t = time_calls(ladder_states, [&](int k) {
      set_ladder(sim.d, ladder_angle(k), ladder_speed);
      mj_forward(sim.m, sim.d);
      std::copy(sim.d->qacc, sim.d->qacc + sim.m->nv, sim.d->qacc_warmstart);
      const double exact = ladder_exact(ladder_angle(k));
      error = std::max(error, std::abs(-sim.d->qacc[0] - exact) / exact);
    });
    report(name, t, error, "\"rows\": " + std::to_string(sim.d->nefc));
  }
}

/// What it writes to: the Jacobian, its transpose and A M⁻¹Aᵀ are kept whole, numbers and indices, also where it computes
/// with sparse ones; and the Hessian.
double ladder_bytes(double N) {
  const double rows = ladder_rows(static_cast<int>(N)), coordinates = 2 * N + 1;
  return 12.0 * (2 * rows * coordinates + rows * rows + coordinates * coordinates);
}

/// The ladder of any size, as far as memory goes.
void large_ladder(int N) {
  const double wanted = ladder_bytes(N),
               there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (wanted > 0.9 * there) {
    std::printf(
        "{\"variant\": \"Newton, sparse\", \"skipped\": \"wants %.0f GB of memory, of %.0f that the machine has\"}\n",
        wanted / 1e9, there / 1e9);
    return;
  }
  Settings s;
  s.jacobian = "sparse";
  Simulation sim(ladder(s, N));
  double error = 0.0;
  const auto one = [&] {
    set_ladder(sim.d, ladder_angle(0), ladder_speed, N);
    mj_forward(sim.m, sim.d);
    std::copy(sim.d->qacc, sim.d->qacc + sim.m->nv, sim.d->qacc_warmstart);
    const double exact = ladder_exact(ladder_angle(0), N);
    error = std::max(error, std::abs(-sim.d->qacc[0] - exact) / exact);
  };
  one();
  error = 0.0;  // from here on it starts at the last solution
  const Timing t = time_large(one);
  report("Newton, sparse", t, error, "\"rows\": " + std::to_string(sim.d->nefc));
}

void w1_motion(const Arguments& a) {
  const struct {
    const char* integrator;
    double step;
  } tries[] = {{"RK4", 0.02},   {"RK4", 0.016},   {"RK4", 0.0125},  {"RK4", 0.01},     {"RK4", 0.005},  {"Euler", 0.02},
               {"Euler", 0.01}, {"Euler", 0.008}, {"Euler", 0.005}, {"Euler", 0.0025}, {"Euler", 0.001}};
  for (const auto& with : tries) {
    std::ostringstream name;
    name << with.integrator << " " << with.step << " s";
    if (!a.wants(name.str())) continue;
    Settings s;
    s.integrator = with.integrator, s.step = with.step;
    s.solref = std::to_string(2 * with.step) + " 1";
    Simulation sim(ladder(s));
    const long steps = std::lround(10.0 / with.step);
    const auto prepare = [&] {
      mj_resetData(sim.m, sim.d);
      set_ladder(sim.d, 0.0, 1.0);
    };
    const Timing t = contest::time_motion(prepare, [&] {
      for (long i = 0; i < steps; ++i) mj_step(sim.m, sim.d);
    });
    report(name.str(), t, std::abs(-sim.d->qpos[0] - ladder_end));
  }
}

void w2(const Arguments& a) {
  const std::vector<ArmState> states = read_arm_states(a.states.c_str());
  for (const char* solver : {"Newton", "CG", "PGS"}) {
    if (!a.wants(solver)) continue;
    Settings s;
    s.tolerance = 1e-12, s.solver = solver;
    std::ostringstream o;
    o.precision(17);
    o << opening(s, "0 0 -9.81", "") << "<worldbody>";
    for (int i = 0; i < arm_axes; ++i)
      o << "<body name='link" << i << "' pos='0 0 " << arm_offset[i] << "'><joint type='hinge' axis='0 "
        << arm_about_y[i] << " " << !arm_about_y[i] << "'/><inertial pos='0 " << arm_centre_y << ' ' << arm_centre_z(i)
        << "' mass='" << arm_mass[i] << "' diaginertia='" << arm_inertia_xy[i] << ' ' << arm_inertia_xy[i] << ' '
        << arm_inertia_z[i] << "'/>";
    for (int i = 0; i < arm_axes; ++i) o << "</body>";
    o << "</worldbody><equality><connect body1='link6' anchor='0 0 " << arm_offset[7] << "' solref='" << s.solref
      << "' solimp='" << s.solimp << "'/></equality></mujoco>";
    Simulation sim(o.str());
    std::copy(arm_tip, arm_tip + 3, sim.m->eq_data + 3);
    double error = 0.0;
    const Timing t = time_calls(static_cast<int>(states.size()), [&](int k) {
      std::copy(states[k].q, states[k].q + arm_axes, sim.d->qpos);
      std::copy(states[k].qd, states[k].qd + arm_axes, sim.d->qvel);
      mj_forward(sim.m, sim.d);
      std::copy(sim.d->qacc, sim.d->qacc + arm_axes, sim.d->qacc_warmstart);
      error = std::max(error, arm_error(states[k], sim.d->qacc));
    });
    report(solver, t, error);
  }
}

void w4() {
  Simulation sim(
      "<mujoco><compiler inertiafromgeom='false' angle='radian'/><option gravity='0 0 -9.81' integrator='RK4' "
      "timestep='0.001'>"
      "<flag contact='disable' constraint='disable'/></option><worldbody><body><joint type='hinge' axis='0 -1 0'/>"
      "<inertial pos='0 0 -1' mass='1' diaginertia='1e-9 1e-9 1e-9'/><body pos='0 0 -1'><joint type='hinge' axis='0 -1 "
      "0'/>"
      "<inertial pos='0 0 -.8' mass='1.5' diaginertia='1e-9 1e-9 1e-9'/></body></body></worldbody></mujoco>");
  double error = 0.0;
  Timing t = time_calls(1, [&](int) {
    mj_resetData(sim.m, sim.d);
    sim.d->qpos[0] = pendulum_angle[0], sim.d->qpos[1] = pendulum_angle[1] - pendulum_angle[0];
    for (int i = 0; i < pendulum_steps; ++i) mj_step(sim.m, sim.d);
    const double first = sim.d->qpos[0], second = first + sim.d->qpos[1];
    const double x1 = std::sin(first), y1 = -std::cos(first);
    const double x[4] = {x1, y1, x1 + 0.8 * std::sin(second), y1 - 0.8 * std::cos(second)};
    error = pendulum_error(x);
  });
  t.median /= pendulum_steps, t.least /= pendulum_steps;
  report("RK4, two angles", t, error);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = arguments(argc, argv);
  if (a.workload == "w1") w1(a);
  if (a.workload == "ladder") large_ladder(size_of(a));
  if (a.workload == "w1motion") w1_motion(a);
  if (a.workload == "w2") w2(a);
  if (a.workload == "w4") w4();
}
