/// mechanician on the large workloads of bench/run --large (see peers/large_contest.hpp for what they are).
///
///     bench_large_workloads MODELS chain|ladder|net N     one acceleration, from numbers in to numbers out
///     bench_large_workloads MODELS setup N                reading, deriving and compiling, setting up a chain
///     bench_large_workloads MODELS motion N               ten seconds of a chain

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

#include "kernel_acceleration.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/motion/integrator.hpp"
#include "peers/large_contest.hpp"

namespace {

using namespace mechanician;

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

struct Problem {
  LargeSystem system;
  LargeSystem::Start state;
  KernelAcceleration dynamics;
  LargeVector q, qd, qdd;

  Problem(const std::string& file, double N)
      : system(read_family_model(file, {{"N", N}})),
        state(system.start()),
        dynamics(system),
        q(at(system.n())),
        qd(at(system.n())),
        qdd(at(system.n())) {}
  void accelerate() { dynamics(state.t, q.data(), qd.data(), qdd.data()); }
};

/// Once with pivots as witnesses, as the stages of a motion, and once with residuals.
void measure(Problem& problem, const auto& error) {
  for (const bool residuals : {false, true}) {
    problem.accelerate();
    problem.dynamics.set_check_residuals(residuals);
    const contest::Timing t = contest::time_large([&] { problem.accelerate(); });
    contest::report(residuals ? "residuals checked" : "pivots checked", t, error());
  }
}

/// Ours lists all x, then all y, then all z.
void measure_rods(const std::string& models, const std::string& name, int size) {
  const contest::Rods rods = name == "chain" ? contest::make_chain(size) : contest::make_net(size);
  Problem problem(models + "/" + name + ".toml", size);
  const auto masses = at(rods.num_masses);
  for (std::size_t i = 0; i < masses; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      problem.q[k * masses + i] = rods.x[3 * i + k];
      problem.qd[k * masses + i] = rods.v[3 * i + k];
    }
  const std::vector<double> exact = name == "chain" ? contest::chain_acceleration(rods) : std::vector<double>{};
  measure(problem, [&] {
    std::vector<double> a(3 * masses);
    for (std::size_t i = 0; i < masses; ++i)
      for (std::size_t k = 0; k < 3; ++k) a[3 * i + k] = problem.qdd[k * masses + i];
    return exact.empty() ? contest::rod_error(rods, a) : contest::chain_error(exact, a);
  });
}

void measure_ladder(const std::string& models, int N) {
  Problem problem(models + "/ladder.toml", N);
  const double angle = contest::ladder_angle(0), speed = contest::ladder_speed;
  const auto tips = at(N) + 1;
  for (std::size_t i = 0; i < tips; ++i) {
    problem.q[i] = static_cast<double>(i) + std::sin(angle), problem.q[tips + i] = std::cos(angle);
    problem.qd[i] = speed * std::cos(angle), problem.qd[tips + i] = -speed * std::sin(angle);
  }
  measure(problem, [&] {
    const double exact = contest::ladder_exact(angle, N);
    double off = 0.0;
    for (std::size_t i = 0; i < tips; ++i)
      off = std::max(off, std::abs(problem.qdd[i] * std::cos(angle) - problem.qdd[tips + i] * std::sin(angle) - exact));
    return off / exact;
  });
}

/// Two systems with the same terms take the same time to derive and compile: that of the small one is the least.
void measure_setup(const std::string& models, int N) {
  const auto reading = contest::Clock::now();
  FamilyModel model = read_family_model(models + "/chain.toml", {{"N", static_cast<double>(N)}});
  const double read = 1e9 * contest::seconds_since(reading);
  const auto making = contest::Clock::now();
  LargeSystem system(std::move(model));
  const auto start = system.start();
  KernelAcceleration accelerate(system);
  std::vector<double> qdd(at(system.n()));
  accelerate(start.t, start.q.data(), start.qd.data(), qdd.data());
  const double made = 1e9 * contest::seconds_since(making), compiled = 1e9 * system.seconds_of_deriving();
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double bytes = 1024.0 * static_cast<double>(used.ru_maxrss);
  contest::report("all", {read + made, read + made}, 0.0,
                  fmt::format("\"read_ns\": {:.6g}, \"compile_ns\": {:.6g}, \"bytes\": {:.6g}", read, compiled, bytes));
}

void measure_motion(const std::string& models, int N) {
  const System system(read_family_model(models + "/chain.toml", {{"N", static_cast<double>(N)}}));
  const State start = system.start();
  const auto begin = contest::Clock::now();
  Integrator motion(system, start, {.to = contest::motion_time, .tolerance = contest::motion_tolerance});
  while (motion.advance()) {
  }
  if (motion.stop().failed()) throw std::runtime_error(motion.stop().message);
  const double ns = 1e9 * contest::seconds_since(begin);
  const Sample end = motion.sample(contest::motion_time);
  const std::span<const double> q(end.q.data(), at(system.n())), qd(end.qd.data(), at(system.n()));
  // Change of energy, against the kinetic energy at the end.
  double kinetic = 0.0, change = 0.0;
  const auto masses = at(N);
  for (std::size_t i = 0; i < q.size(); ++i) kinetic += qd[i] * qd[i] / 2;
  for (std::size_t i = 0; i < masses; ++i)
    change += contest::gravity * (q[2 * masses + i] - start.q(static_cast<Eigen::Index>(2 * masses + i)));
  const Statistics& c = motion.statistics();
  contest::report("rods, DOP853", {ns, ns}, std::abs(kinetic + change) / kinetic,
                  fmt::format("\"tip\": [{:.12g}, {:.12g}, {:.12g}], \"steps\": {}, \"evaluations\": {}", q[masses - 1],
                              q[2 * masses - 1], q[3 * masses - 1], c.steps, c.evaluations));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: bench_large_workloads MODELS chain|ladder|net|setup|motion N\n");
    return 2;
  }
  try {
    const std::string models = argv[1], workload = argv[2];
    const int N = static_cast<int>(std::strtod(argv[3], nullptr));
    if (workload == "chain" || workload == "net") measure_rods(models, workload, N);
    if (workload == "ladder") measure_ladder(models, N);
    if (workload == "setup") measure_setup(models, N);
    if (workload == "motion") measure_motion(models, N);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
