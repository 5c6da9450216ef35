/// What compiling a model costs and gains: steps, time of one evaluation in each tier, time to make its code.
///
///     bench_compile MODEL...
///
/// The program is that of M, Q, A and b, without the elimination. Medians of many rounds; ratios are what counts,
/// times depend on the machine.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/machine_code.hpp"
#include "mechanician/compile/object_file.hpp"
#include "mechanician/compile/program.hpp"
#include "mechanician/compile/x86_code.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

double nanoseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// Of one call, as the median of rounds that are long enough for the clock.
double median_ns(const std::function<void()>& work) {
  const double once = std::max(20.0, std::min(nanoseconds(work), nanoseconds(work)));
  const int repeat = std::max(1, static_cast<int>(2e5 / once));
  std::vector<double> times;
  for (int round = 0; round < 101; ++round)
    times.push_back(nanoseconds([&] {
                      for (int k = 0; k < repeat; ++k) work();
                    }) /
                    repeat);
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  return times[50];
}

Program make_program(const Equations& eqs, const std::vector<double>& parameters) {
  std::vector<Expr> outputs, symbols{eqs.t};
  for (const auto* matrix : {&eqs.M, &eqs.A})
    for (const auto& entry : matrix->entries) outputs.push_back(entry.value);
  outputs.insert(outputs.end(), eqs.Q.begin(), eqs.Q.end());
  outputs.insert(outputs.end(), eqs.b.begin(), eqs.b.end());
  symbols.insert(symbols.end(), eqs.q.begin(), eqs.q.end());
  symbols.insert(symbols.end(), eqs.qd.begin(), eqs.qd.end());
  const int num_inputs = static_cast<int>(symbols.size());
  symbols.insert(symbols.end(), eqs.parameters.begin(), eqs.parameters.end());
  ProgramBuilder builder(num_inputs);
  std::vector<ProgramBuilder::Value> inputs;
  for (int i = 0; i < num_inputs; ++i) inputs.push_back(builder.input(i));
  for (const double x : parameters) inputs.push_back(builder.constant(x));
  return builder.finish(builder.append(Tape(outputs, symbols), inputs));
}

void measure(const std::string& file) {
  const Model model = read_model(file);
  const ParameterValues parameters = evaluate_parameters(model);
  const Equations eqs = derive(model);
  Program program;
  const double build_ns = nanoseconds([&] { program = make_program(eqs, parameters.values); });
  const StartState start = start_state(model, parameters);
  std::vector<double> inputs{start.time};
  inputs.insert(inputs.end(), start.q.begin(), start.q.end());
  inputs.insert(inputs.end(), start.qd.begin(), start.qd.end());
  std::vector<double> registers(scratch_bound(program)), values(program.outputs.size());
  fmt::print("{}: {} steps, {} outputs; program in {:.2f} ms\n", file, program.steps.size(), program.outputs.size(),
             build_ns * 1e-6);
  fmt::print("  interpreter {:9.0f} ns\n",
             median_ns([&] { program.evaluate(inputs.data(), registers.data(), values.data()); }));

  {
    std::shared_ptr<const MachineCode> code;
    make_x86_code(program);
    const double compile_ns = nanoseconds([&] { code = make_x86_code(program); });
    std::vector<double> got(values.size());
    if (code) {
      code->run(inputs.data(), got.data(), registers.data());
      program.evaluate(inputs.data(), registers.data(), values.data());
      fmt::print("  direct      {:9.0f} ns, made in {:.3f} ms, {} bytes{}\n",
                 median_ns([&] { code->run(inputs.data(), got.data(), registers.data()); }), compile_ns * 1e-6,
                 code->num_bytes(), got == values ? "" : "  DIFFERENT NUMBERS");
    }
  }
  const double open_ns = nanoseconds([] { can_compile_objects(); });
  if (!can_compile_objects()) return;
  fmt::print("  LLVM opened in {:.1f} ms\n", open_ns * 1e-6);
  std::vector<ObjectOptions> variants{{.level = CodeLevel::quick}, {.level = CodeLevel::optimised}};
  if (const char* sizes = std::getenv("BENCH_SIZES")) {
    variants.clear();
    for (std::string text = sizes; !text.empty();) {
      const auto comma = text.find(',');
      const int size = std::stoi(text.substr(0, comma));
      text = comma == std::string::npos ? "" : text.substr(comma + 1);
      variants.push_back({.level = CodeLevel::quick, .steps_per_part = size});
      variants.push_back({.level = CodeLevel::optimised, .steps_per_part = size});
    }
  }
  for (const ObjectOptions& options : variants) {
    std::optional<std::vector<std::string>> objects;
    const double compile_ns = nanoseconds([&] { objects = compile_objects(program, options); });
    if (!objects) continue;
    std::shared_ptr<const MachineCode> code;
    const double load_ns = nanoseconds([&] { code = load_objects(*objects); });
    if (!code) {
      fmt::print("  refused\n");
      continue;
    }
    std::vector<double> got(values.size());
    code->run(inputs.data(), got.data(), registers.data());
    program.evaluate(inputs.data(), registers.data(), values.data());
    fmt::print("  {:<10} {:9.0f} ns, compiled in {:7.1f} ms, loaded in {:.3f} ms, {} parts of {}, {} bytes{}\n",
               options.level == CodeLevel::quick ? "quick" : "optimised",
               median_ns([&] { code->run(inputs.data(), got.data(), registers.data()); }), compile_ns * 1e-6,
               load_ns * 1e-6, code->num_parts(), options.steps_per_part, code->num_bytes(),
               got == values ? "" : "  DIFFERENT NUMBERS");
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) measure(argv[i]);
}
