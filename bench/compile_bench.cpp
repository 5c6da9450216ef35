/// What compiling a model costs and gains: steps, time of one evaluation in each tier, time to make its code.
///
///     bench_compile [--sizes A,B,…] MODEL...
///
/// For the program of M, Q, A and b, and for that of the constrained acceleration. Ratios are what counts, times depend
/// on the machine.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/machine_code.hpp"
#include "mechanician/compile/object_file.hpp"
#include "mechanician/compile/program.hpp"
#include "mechanician/compile/program_order.hpp"
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

/// Of one call: the lower decile of rounds that are long enough for the clock, as others share the machine.
double typical_ns(const std::function<void()>& work) {
  const double once = std::max(20.0, std::min(nanoseconds(work), nanoseconds(work)));
  const int repeat = std::max(1, static_cast<int>(2e5 / once));
  std::vector<double> times;
  for (int round = 0; round < 101; ++round)
    times.push_back(nanoseconds([&] {
                      for (int k = 0; k < repeat; ++k) work();
                    }) /
                    repeat);
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
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

struct Measured {
  std::string name;
  std::shared_ptr<const MachineCode> code;
  double make_ms;
};

void measure(const std::string& name, const Program& original, const std::vector<double>& inputs,
             const std::vector<int>& sizes) {
  Program program;
  const double order_ns = nanoseconds([&] { program = with_long_chains_first(with_calls_first(original)); });
  std::vector<double> registers(scratch_bound(program)), values(program.outputs.size()), got(values.size());
  const auto interpret = [&] { program.evaluate(inputs.data(), registers.data(), values.data()); };
  fmt::print("  {}: {} steps, {} outputs; put in order in {:.3f} ms\n", name, program.steps.size(),
             program.outputs.size(), order_ns * 1e-6);
  fmt::print("  first result      {:10.0f} ns\n", nanoseconds(interpret));
  fmt::print("  interpreter       {:10.0f} ns\n", typical_ns(interpret));

  std::vector<Measured> all;
  const auto add = [&](std::string tier, const std::function<std::shared_ptr<const MachineCode>()>& make) {
    Measured m{std::move(tier), nullptr, 0};
    m.make_ms = nanoseconds([&] { m.code = make(); }) * 1e-6;
    if (m.code) all.push_back(std::move(m));
  };
  add("quick", [&] { return make_x86_code(program); });
  const double open_ns = nanoseconds([] { can_compile_objects(); });
  const auto compiled = [&](ObjectOptions options) {
    const auto objects = compile_objects(program, options);
    return objects ? load_objects(*objects) : nullptr;
  };
  for (const int size : sizes) {
    add(fmt::format("LLVM O0 by {}", size), [&] { return compiled({CodeLevel::quick, 1, size}); });
    add(fmt::format("LLVM O2 by {}", size), [&] { return compiled({CodeLevel::optimised, 1, size}); });
  }
  for (const Measured& m : all) {
    const auto run = [&] { m.code->run(inputs.data(), got.data(), registers.data()); };
    run();
    interpret();
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i)
      same = same && (got[i] == values[i] || (std::isnan(got[i]) && std::isnan(values[i])));
    fmt::print("  {:<17} {:10.0f} ns, made in {:8.3f} ms, {} parts, {} bytes{}\n", m.name, typical_ns(run), m.make_ms,
               m.code->num_parts(), m.code->num_bytes(), same ? "" : "  DIFFERENT NUMBERS");
  }
  if (!can_compile_objects()) return;
  const CompileOptions options{.tier = TierPolicy::optimised, .background = false};
  const CompiledFunction first(program, options), second(program, options);
  fmt::print("  LLVM opened in {:.1f} ms; from the disk, without it, in {:.3f} ms{}\n", open_ns * 1e-6,
             second.report().optimised_ms, second.report().from_cache ? "" : " (no cache)");
}

void measure(const std::string& file, const std::vector<int>& sizes) {
  const Model model = read_model(file);
  const ParameterValues parameters = evaluate_parameters(model);
  const Equations eqs = derive(model);
  const StartState start = start_state(model, parameters);
  std::vector<double> inputs{start.time};
  inputs.insert(inputs.end(), start.q.begin(), start.q.end());
  inputs.insert(inputs.end(), start.qd.begin(), start.qd.end());
  fmt::print("{}\n", file);
  measure("M Q A b", make_program(eqs, parameters.values), inputs, sizes);
  // Dependent rows are not looked for: the numbers would not be vouched for, but the time is the same.
  AccelerationOptions options;
  options.parameters = parameters.values;
  const AccelerationProgramResult acceleration = make_acceleration_program(eqs, options);
  if (acceleration.made)
    measure("acceleration", acceleration.made->program, inputs, sizes);
  else
    fmt::print("  no program of the acceleration: {}\n", acceleration.reason);
}

}  // namespace

int main(int argc, char** argv) {
  // --sizes A,B,…: steps per part to compare; 0 is what is used.
  std::vector<int> sizes{0};
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--sizes" && i + 1 < argc) {
      std::stringstream list(argv[++i]);
      sizes.clear();
      for (std::string size; std::getline(list, size, ',');) sizes.push_back(std::stoi(size));
    } else {
      measure(argv[i], sizes);
    }
  }
}
