#include "mechanician/output/bench_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/expression/operators.hpp"
#include "mechanician/output/json_writer.hpp"

namespace mechanician {

namespace {

/// Three digits and a unit: 7.12 ns, 450 ns, 2.21 µs.
std::string duration(double ns) {
  static constexpr std::pair<double, const char*> units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1.0, "ns"}};
  for (const auto& [size, name] : units)
    if (ns >= 0.9995 * size || size == 1.0) {
      const double x = ns / size;
      return fmt::format("{:.{}f} {}", x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0, name);
    }
  return {};
}

std::string line(std::string_view name, std::string_view text) { return fmt::format("  {:<24}{}\n", name, text); }

std::string timed(const Nanoseconds& t) {
  return fmt::format("{:>9}  ({} to {})", duration(t.median), duration(t.least), duration(t.most));
}

const CodeMeasurement* of_tier(const ModelMeasurement& measured, Tier tier) {
  const auto found = std::find_if(measured.code.begin(), measured.code.end(),
                                  [&](const CodeMeasurement& c) { return c.tier == tier; });
  return found == measured.code.end() ? nullptr : &*found;
}

}  // namespace

std::string bench_text(const System& system, const ModelMeasurement& measured, double derive_ms) {
  std::string out;
  if (!system.model().title.empty()) out += safe_text(system.model().title) + "\n";
  out += line("coordinates", std::to_string(measured.n));
  out += line("rows", std::to_string(measured.m));
  out += line("operations", fmt::format("{}{}", measured.num_operations,
                                        measured.best() ? " for a constrained acceleration" : " for M, Q, A and b"));
  out += line("path", measured.path);
  out += line("derived in", duration(1e6 * derive_ms));
  if (measured.best()) out += line("program made in", duration(1e6 * measured.program_ms));
  for (const CodeMeasurement& c : measured.code)
    if (c.tier != Tier::interpreter)
      out += line(fmt::format("{} code made in", describe(c.tier)), duration(1e6 * c.made_ms));
  if (measured.num_lanes)
    out += line(fmt::format("{} lanes made in", measured.num_lanes), duration(1e6 * measured.lanes_made_ms));

  out += fmt::format("\n  one acceleration, median over {} state{} near the start (least to 9 of 10 rounds)\n",
                     measured.num_states, measured.num_states == 1 ? "" : "s");
  for (const CodeMeasurement& c : measured.code)
    out += line(c.tier == Tier::interpreter ? std::string(describe(c.tier)) : fmt::format("{} code", describe(c.tier)),
                timed(c.time) + (&c == measured.best() ? "  quickest" : ""));
  if (measured.num_lanes) out += line(fmt::format("{} lanes, each", measured.num_lanes), timed(measured.lanes));
  out += line("robust path", timed(measured.robust));
  if (measured.difference)
    out += line("largest difference", fmt::format("{:.1e} of the acceleration", *measured.difference));
  if (measured.num_not_vouched)
    out += line("not vouched for",
                fmt::format("{} of {} states: the robust path answers", measured.num_not_vouched, measured.num_states));
  return out;
}

std::string bench_json(const ModelMeasurement& measured, double derive_ms) {
  const CodeMeasurement* best = measured.best();
  const auto made_ms = [](const CodeMeasurement* code) { return code ? std::optional(code->made_ms) : std::nullopt; };
  const auto median = [](const CodeMeasurement* code) {
    return code ? std::optional(code->time.median) : std::nullopt;
  };
  const CodeMeasurement *quick = of_tier(measured, Tier::quick), *optimised = of_tier(measured, Tier::optimised);
  JsonWriter json;
  json.begin_object();
  json.fields({{"coordinates", measured.n},
               {"rows", measured.m},
               {"operations", measured.num_operations},
               {"derive_ms", derive_ms},
               {"compile_ms", measured.compile_ms()},
               {"acceleration_ns", measured.acceleration().median},
               {"acceleration_lanes_ns", measured.num_lanes ? std::optional(measured.lanes.median) : std::nullopt},
               {"path", measured.path},
               {"tier", best ? describe(best->tier) : "robust"},
               {"program_ms", best ? std::optional(measured.program_ms) : std::nullopt},
               {"quick_ms", made_ms(quick)},
               {"quick_ns", median(quick)},
               {"optimised_ms", made_ms(optimised)},
               {"optimised_ns", median(optimised)},
               {"interpreter_ns", median(of_tier(measured, Tier::interpreter))},
               {"robust_ns", measured.robust.median},
               {"least_ns", measured.acceleration().least},
               {"most_ns", measured.acceleration().most},
               {"lanes", measured.num_lanes},
               {"states", measured.num_states},
               {"not_vouched", measured.num_not_vouched},
               {"difference", measured.difference}});
  json.end_object();
  return json.text();
}

std::string program_listing(const System& system, const AccelerationProgram& made) {
  const Program& program = made.program;
  const int n = system.n();
  std::vector<std::string> names{"t"};
  for (int i = 0; i < n; ++i) names.push_back(system.coordinate(i));
  for (int i = 0; i < n; ++i) names.push_back(system.coordinate(i) + "'");
  for (const double x : program.constants) names.push_back(fmt::format("{}", x));

  // Outputs are named where they are computed, unless a step is several outputs.
  std::vector<std::string> outputs(program.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k)
    outputs[k] = static_cast<int>(k) == made.at_vouch ? "vouch"
                 : static_cast<int>(k) < n            ? system.coordinate(static_cast<int>(k)) + "''"
                                                      : "";
  std::string out;
  const std::size_t first = names.size();
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const auto of = [&](std::int32_t r) -> const std::string& { return names[r]; };
    std::string name = fmt::format("v{}", s + 1);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (program.outputs[k] == static_cast<std::int32_t>(first + s) && !outputs[k].empty()) {
        name = outputs[k];
        outputs[k].clear();
      }
    std::string text;
    if (!is_op(step.action)) {
      const char* form = step.action == Action::fma   ? "{0}*{1} + {2}"
                         : step.action == Action::fms ? "{0}*{1} - {2}"
                                                      : "{2} - {0}*{1}";
      text = fmt::format(fmt::runtime(form), of(step.a), of(step.b), of(step.c));
    } else {
      const OperatorRow& row = row_of(static_cast<Op>(step.action));
      if (row.notation == Notation::infix)
        text = fmt::format("{} {} {}", of(step.a), row.name, of(step.b));
      else if (row.notation == Notation::prefix)
        text = fmt::format("{}{}", row.name, of(step.a));
      else
        text = fmt::format("{}({}{}{})", row.name, of(step.a), row.arity > 1 ? ", " + of(step.b) : "",
                           row.arity > 2 ? ", " + of(step.c) : "");
    }
    names.push_back(name);
    out += fmt::format("{} = {}\n", name, text);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!outputs[k].empty()) out += fmt::format("{} = {}\n", outputs[k], names[program.outputs[k]]);
  return out;
}

}  // namespace mechanician
