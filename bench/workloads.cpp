/// mechanician on the workloads of bench/run (see peers/contest.hpp for what they are and for the lines of results).
///
///     bench_workloads MODELS w1|w1motion|w2|w4|compile [VARIANT]
///     bench_workloads MODELS states FILE        states of the arm for the other contestants
///
/// MODELS is the folder of the model files.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/compile/step_function.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/integrator.hpp"
#include "peers/contest.hpp"
#include "ready.hpp"

namespace {

using namespace mechanician;

/// q̈ by compiled code, by the robust path where that does not vouch for it.
class Acceleration {
 public:
  Acceleration(const System& system, const State& start)
      : system_(system), made_(*make_program_near(system, start).made), function_(made_.program) {
    inputs_.resize(made_.program.num_inputs), outputs_.resize(made_.program.outputs.size());
    function_.wait();
  }
  double* inputs() { return inputs_.data(); }  ///< t, q, q̇
  const double* operator()() {
    function_(inputs_.data(), outputs_.data());
    if (!(outputs_[made_.at_vouch] > 0.0)) [[unlikely]]
      ask_robust_path();
    return outputs_.data();
  }
  const char* path() const { return num_robust ? "robust" : made_.path.c_str(); }
  std::string remarks() const {
    return fmt::format("\"tier\": \"{}\", \"steps\": {}, \"robust\": {}", describe(function_.tier()),
                       made_.program.steps.size(), num_robust);
  }
  long num_robust = 0;

 private:
  void ask_robust_path() {
    ++num_robust;
    const int n = system_.n();
    const State state{inputs_[0], Eigen::Map<const Eigen::VectorXd>(inputs_.data() + 1, n),
                      Eigen::Map<const Eigen::VectorXd>(inputs_.data() + 1 + n, n)};
    const Instant instant = accelerate(system_, state, {.diagnose = false});
    std::copy(instant.solution.qdd.begin(), instant.solution.qdd.end(), outputs_.begin());
  }

  const System& system_;
  AccelerationProgram made_;
  CompiledFunction function_;
  std::vector<double> inputs_, outputs_;
};

void w1(const std::string& models) {
  const Ready ladder = read(models + "/ladder_40.toml");
  constexpr int tips = contest::ladder_size + 1;
  std::vector<std::vector<double>> states;
  for (int k = 0; k < contest::ladder_states; ++k) {
    const double angle = contest::ladder_angle(k), speed = contest::ladder_speed;
    std::vector<double> x{0.0};
    for (int i = 0; i < tips; ++i) x.push_back(i + std::sin(angle));
    x.insert(x.end(), tips, std::cos(angle));
    x.insert(x.end(), tips, speed * std::cos(angle));
    x.insert(x.end(), tips, -speed * std::sin(angle));
    states.push_back(std::move(x));
  }
  Acceleration acceleration(ladder.system, ladder.start);
  double error = 0.0;
  const contest::Timing t = contest::time_calls(contest::ladder_states, [&](int k) {
    std::copy(states[k].begin(), states[k].end(), acceleration.inputs());
    const double* qdd = acceleration();
    const double angle = contest::ladder_angle(k), exact = contest::ladder_exact(angle);
    error = std::max(error, std::abs(qdd[0] * std::cos(angle) - qdd[tips] * std::sin(angle) - exact) / exact);
  });
  contest::report("compiled", t, error, acceleration.remarks());
}

void w1_motion(const std::string& models, const std::string& variant) {
  const Ready ladder = read(models + "/ladder_40.toml");
  for (const char* tolerance :
       {"1e-3", "3e-4", "1e-4", "3e-5", "1e-5", "7e-6", "5e-6", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10"}) {
    const std::string name = fmt::format("tolerance {}", tolerance);
    if (!variant.empty() && variant != name) continue;
    // Deriving and compiling come before, as building a model does with the others; quick code is made on the way.
    std::optional<Integrator> integrator;
    Sample end;
    const contest::Timing t = contest::time_motion(
        [&] {
          integrator.emplace(ladder.system, ladder.start, MotionOptions{.to = 10.0, .tolerance = std::stod(tolerance)});
        },
        [&] {
          while (integrator->advance()) {
          }
          end = integrator->sample(integrator->t());
        });
    const double angle = std::atan2(end.q[0], end.q[contest::ladder_size + 1]);
    const double error = integrator->t() == 10.0
                             ? std::abs(std::remainder(angle - contest::ladder_end, 2 * 3.14159265358979323846))
                             : 1e9;
    contest::report(name, t, error,
                    fmt::format("\"steps\": {}, \"rejected\": {}, \"evaluations\": {}", integrator->statistics().steps,
                                integrator->statistics().rejected, integrator->statistics().evaluations));
  }
}

void write_states(const std::string& models, const std::string& file) {
  const Ready arm = read(models + "/arm7.toml");
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (!out) throw std::runtime_error("cannot write " + file);
  for (const State& s : states_near(arm.system, arm.start)) {
    const Instant instant = accelerate(arm.system, s, {.diagnose = false});
    for (const Eigen::VectorXd* part : {&s.q, &s.qd, &instant.solution.qdd})
      for (const double x : *part) fmt::print(out, "{} ", x);
    fmt::print(out, "\n");
  }
  std::fclose(out);
}

void w2(const std::string& models) {
  const Ready arm = read(models + "/arm7.toml");
  const std::vector<contest::ArmState> states = contest::read_arm_states(std::getenv("ARM_STATES"));
  Acceleration acceleration(arm.system, arm.start);
  double error = 0.0;
  const contest::Timing t = contest::time_calls(static_cast<int>(states.size()), [&](int k) {
    double* x = acceleration.inputs();
    x[0] = 0.0;
    std::copy(states[k].q, states[k].q + contest::arm_axes, x + 1);
    std::copy(states[k].qd, states[k].qd + contest::arm_axes, x + 1 + contest::arm_axes);
    error = std::max(error, contest::arm_error(states[k], acceleration()));
  });
  contest::report("compiled", t, error, acceleration.remarks());
}

/// A classical Runge–Kutta step of y = (q, q̇), n coordinates each.
template <int n>
void rk4(Acceleration& acceleration, double t, double h, std::array<double, 2 * n>& y) {
  std::array<double, 2 * n> sum{};
  const double* rate = nullptr;
  const auto stage = [&](double at, double share, double weight) {
    double* x = acceleration.inputs();
    // x still holds the velocities of the last stage, and `rate` its accelerations.
    std::array<double, 2 * n> next = y;
    if (rate)
      for (int i = 0; i < n; ++i) next[i] += share * h * x[1 + n + i], next[n + i] += share * h * rate[i];
    x[0] = t + at * h;
    std::copy(next.begin(), next.end(), x + 1);
    rate = acceleration();
    for (int i = 0; i < n; ++i) sum[i] += weight * next[n + i], sum[n + i] += weight * rate[i];
  };
  stage(0.0, 0.0, 1.0);
  stage(0.5, 0.5, 2.0);
  stage(0.5, 0.5, 2.0);
  stage(1.0, 1.0, 1.0);
  for (int i = 0; i < 2 * n; ++i) y[i] += h / 6 * sum[i];
}

ProgramOptions step_options(const Ready& model) {
  ProgramOptions options;
  options.parameters = model.system.parameters();
  options.reference = {model.start.t};
  for (const Eigen::VectorXd* part : {&model.start.q, &model.start.qd})
    options.reference.insert(options.reference.end(), part->begin(), part->end());
  return options;
}

void w4(const std::string& models) {
  const Ready pendulum = read(models + "/double_pendulum.toml");
  Acceleration acceleration(pendulum.system, pendulum.start);
  const contest::PendulumState start = contest::pendulum_start();
  double error = 0.0;
  contest::Timing t = contest::time_calls(1, [&](int) {
    std::array<double, 8> y{};
    std::copy(start.x, start.x + 4, y.begin());
    for (int i = 0; i < contest::pendulum_steps; ++i)
      rk4<4>(acceleration, i * contest::pendulum_step, contest::pendulum_step, y);
    error = contest::pendulum_error(y.data());
  });
  t.median /= contest::pendulum_steps, t.least /= contest::pendulum_steps;
  contest::report("compiled", t, error, acceleration.remarks());

  // The whole step compiled, as fixed steps of ensembles have it; one motion of it.
  const StepProgramResult made = make_step_program(pendulum.system.equations(), step_options(pendulum));
  StepFunction step(*made.made, {.lanes = 1});
  step.wait();
  AlignedNumbers block(step.block_size());
  t = contest::time_calls(1, [&](int) {
    block[0] = 0.0, block[1] = contest::pendulum_step;
    std::copy(start.x, start.x + 4, block.data() + 2);
    std::fill(block.data() + 6, block.data() + 10, 0.0);
    double vouched = 0.0;
    step.advance(block.data(), 0, contest::pendulum_steps, &vouched);
    error = vouched > 0.0 ? contest::pendulum_error(block.data() + 2) : 1e9;
  });
  t.median /= contest::pendulum_steps, t.least /= contest::pendulum_steps;
  contest::report("compiled steps", t, error, fmt::format("\"tier\": \"{}\"", describe(step.tier())));
}

/// From the file to numbers and to optimised code, in this process: `ns` is to the first acceleration.
void compile(const std::string& models) {
  const auto begin = contest::Clock::now();
  const Ready model = read(models + "/ladder_23.toml");
  const AccelerationProgramResult made = make_program_near(model.system, model.start, {.num_states = 1});
  CompiledFunction function(made.made->program, {.tier = TierPolicy::optimised, .cache = false});
  std::vector<double> x{model.start.t}, out(made.made->program.outputs.size());
  x.insert(x.end(), model.start.q.begin(), model.start.q.end());
  x.insert(x.end(), model.start.qd.begin(), model.start.qd.end());
  function(x.data(), out.data());
  contest::Timing t;
  t.median = t.least = 1e9 * contest::seconds_since(begin);
  function.wait();
  const double ready = 1e3 * contest::seconds_since(begin);
  contest::report("first acceleration", t, 0.0,
                  fmt::format("\"steps\": {}, \"optimised_ms\": {:.4g}, \"llvm_ms\": {:.4g}",
                              made.made->program.steps.size(), ready, function.report().optimised_ms));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_workloads MODELS w1|w1motion|w2|w4|compile|states [VARIANT|FILE]\n");
    return 2;
  }
  const std::string models = argv[1], workload = argv[2], more = argc > 3 ? argv[3] : "";
  try {
    if (workload == "w1") w1(models);
    if (workload == "w1motion") w1_motion(models, more);
    if (workload == "w2") w2(models);
    if (workload == "w4") w4(models);
    if (workload == "compile") compile(models);
    if (workload == "states") write_states(models, more);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
