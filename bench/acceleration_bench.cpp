/// What one constrained acceleration costs in steps of a program and in time.
///
///     bench_acceleration MODEL...
///
/// For each model: steps of the equations (M, Q, A, b) and of the elimination, nanoseconds of interpreter and machine code,
/// and those of the orthogonal method of a step (Dynamics::rhs) beside it, interleaved, medians. The state is the start
/// all the time: what branches and caches learn from that is the same for all.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/compile/given_power.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

struct Timed {
  std::string name;
  std::function<void()> work;
  std::vector<double> times = {};
  double median() {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }
};

void measure(const std::string& file) {
  const Model model = read_model(file);
  const ParameterValues parameters = evaluate_parameters(model);
  const System system(model, parameters.values);
  const State start = state_of(start_state(model, parameters));
  const int n = system.n();

  std::vector<double> inputs{start.t};
  inputs.insert(inputs.end(), start.q.begin(), start.q.end());
  inputs.insert(inputs.end(), start.qd.begin(), start.qd.end());

  Dynamics dynamics(system);
  std::vector<double> y(static_cast<std::size_t>(dynamics.size())), dy(y);
  std::copy(start.q.begin(), start.q.end(), y.begin());
  std::copy(start.qd.begin(), start.qd.end(), y.begin() + n);
  const bool chosen = dynamics.choose_rows(start.t, y.data());
  const Instant robust = accelerate(system, start, {.diagnose = false});

  AccelerationOptions options;
  options.parameters = parameters.values;
  options.reference = inputs;
  for (int j = 0; j < system.m(); ++j)
    if (std::find(dynamics.all.kept.begin(), dynamics.all.kept.end(), j) == dynamics.all.kept.end())
      options.dropped.push_back(j);
  fmt::print("{}: {} coordinates, {} rows, {} of them dropped\n", file, n, system.m(), options.dropped.size());
  std::vector<Timed> timed;
  double sink = 0.0;
  struct Variant {
    std::string name;
    bool powers, refine, check_rows, built_in;
    bool short_power = false;
  };
  std::vector<std::vector<double>> memory;
  std::vector<AccelerationProgramResult> results;
  std::vector<CompiledFunction> compiled;
  memory.reserve(20), results.reserve(10), compiled.reserve(20);
  for (const Variant& v :
       {Variant{"q̈", false, false, false, true}, Variant{"q̈, parameters as inputs", false, false, false, false},
        Variant{"q̈, rows checked", false, false, true, true}, Variant{"q̈, refined", false, true, false, true},
        Variant{"q̈ and powers, with Ṁ", true, false, false, true},
        Variant{"q̈ and powers", true, false, false, true, true}}) {
    AccelerationOptions o = options;
    o.powers = v.powers, o.refine = v.refine, o.check_rows = v.check_rows;
    if (v.short_power) o.given_power = make_given_power(model);
    std::vector<double> in = inputs;
    if (!v.built_in) {
      o.parameters.reset();
      in.insert(in.end(), parameters.values.begin(), parameters.values.end());
      o.reference = in;
    }
    const auto begin = Clock::now();
    results.push_back(make_acceleration_program(system.equations(), o));
    const double build = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (!results.back().made) {
      fmt::print("  {:<28} none: {}\n", v.name, results.back().reason);
      continue;
    }
    const AccelerationProgram& made = *results.back().made;
    memory.push_back(in);
    const double* x = memory.back().data();
    memory.emplace_back(static_cast<std::size_t>(made.program.num_registers() + made.program.num_outputs()));
    double *registers = memory.back().data(), *values = registers + made.program.num_registers();
    made.program.evaluate(x, registers, values);
    double worst = 0.0, size = 0.0;
    if (robust.has_acceleration())
      for (int i = 0; i < n; ++i) {
        worst = std::max(worst, std::abs(values[i] - robust.solution.qdd(i)));
        size = std::max(size, std::abs(robust.solution.qdd(i)));
      }
    fmt::print(
        "  {:<28} {:>6} steps: {:>6} equations, {:>6} elimination; vouch {:.3g}, differs by {:.1e} of {:.3g}; {} built "
        "in {:.2f} ms\n",
        v.name, made.program.steps.size(), made.num_equation_steps, made.num_elimination_steps, values[made.at_vouch],
        worst, size, made.path, build);
    for (const TierPolicy tier : {TierPolicy::quick, TierPolicy::optimised}) {
      compiled.emplace_back(made.program, CompileOptions{.tier = tier, .background = false, .cache = false});
      CompiledFunction& f = compiled.back();
      f.wait();
      timed.push_back(
          {fmt::format("{} code ({:.1f} ms), {}", describe(f.tier()), f.compile_ms(), v.name), [&f, x, values, &sink] {
             f(x, values);
             sink += values[0];
           }});
    }
    timed.push_back({"interpreter, " + v.name, [&program = made.program, x, registers, values, &sink] {
                       program.evaluate(x, registers, values);
                       sink += values[0];
                     }});
  }
  if (chosen)
    timed.push_back({"Dynamics::rhs", [&] {
                       dynamics.rhs(start.t, y.data(), dy.data());
                       sink += dy[0];
                     }});
  constexpr int num_rounds = 101, repeat = 20;
  for (int round = 0; round < num_rounds; ++round)
    for (Timed& t : timed) {
      const auto begin = Clock::now();
      for (int k = 0; k < repeat; ++k) t.work();
      t.times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / repeat);
    }
  for (Timed& t : timed) fmt::print("  {:<60}{:>12.0f} ns\n", t.name, t.median());
  if (sink == 42.0) fmt::print("\n");  // keeps the work from being optimised away
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_acceleration MODEL...\n");
    return 2;
  }
  try {
    for (int i = 1; i < argc; ++i) measure(argv[i]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return EXIT_SUCCESS;
}
