#include "mechanician/exports/c_model.hpp"

#include <fmt/format.h>

#include <cctype>

#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/exports/c_interface.hpp"
#include "mechanician/exports/c_tangent.hpp"
#include "mechanician/exports/c_writer_internal.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/measure_model.hpp"

namespace mechanician {

namespace {
constexpr long longest_program = 80'000;    // as of motions
constexpr int most_solved_generally = 120;  // coordinates, rows and slips: the matrix lies on the stack
}  // namespace

CWriter::CWriter(const CFacts& facts, std::string name, bool tangents, bool compact)
    : facts_(facts),
      eqs_(facts.eqs),
      name_(std::move(name)),
      prefix_(name_ + "_"),
      tangents_(tangents),
      compact_(compact),
      needs_reactions_(facts.needs_reactions()) {
  largest_ = facts.n() + facts.m() + facts.num_slips;
  solves_generally_ = largest_ <= most_solved_generally;
  if ((facts.switches || has_control()) && !solves_generally_)
    refuse_export(fmt::format("{} coordinates, constraints and slips are more than {}, and {}", largest_,
                              most_solved_generally,
                              facts.switches ? "some of them change on the way" : "some of them are requirements"));
  if (facts.switches) return;
  std::string why;
  const auto found = find_program_options(facts.system, facts.start, {.parameters_as_inputs = true}, why);
  if (!found && !solves_generally_) refuse_export(why);
  if (found) options_ = *found, options_.most_steps = longest_program, has_program_ = true;
  // Rows that depend on others on the constraints only do so almost where stages are, here as in motions.
  options_.dropped_tolerance = 1e-6;
  // The engine's own fixed steps have no sides.
  step_options_ = make_lane_options(facts.system, facts.system.start(), std::nullopt);
  // Where the start is like any other state both leave out the same rows and weigh masses there: most of what they compute is the same then,
  // and is written once.
  if (has_program_ && options_.inert.empty() && options_.dropped.size() == step_options_.dropped.size()) {
    const Instant instant = accelerate(facts.system, facts.system.start(), {.diagnose = false});
    if (instant.has_acceleration() && instant.solution.rank + static_cast<int>(options_.dropped.size()) == facts.m())
      options_.dropped = step_options_.dropped, options_.reference = step_options_.reference;
  }
  options_.sides = facts.side_symbols();
  if (!options_.reference.empty()) {
    const std::vector<double> sides = facts.first_sides(options_.reference);
    options_.reference.insert(options_.reference.end(), sides.begin(), sides.end());
  }
}

CSources CWriter::write() {
  make_facts();
  make_pack();
  make_numbers();
  make_solvers();
  make_functions();
  make_motion();
  add_text(c_functions(facts_));
  CSources made;
  made.has_tangents = make_tangents();
  made.header = with_prefix(c_header(facts_, name_, made.has_tangents), prefix_);
  code_ = pool_.code() + code_;
  made.source = with_prefix(c_preamble(facts_, name_), prefix_) + c_operators(prefix_, code_) +
                with_prefix(tables_.code(), prefix_) + code_ + with_prefix(c_names(facts_), prefix_);
  return made;
}

void CWriter::add(const Program& program, std::string_view name, std::size_t alike) {
  pool_.add(program, prefix_ + std::string(name), static_cast<int>(num_inputs()), static_cast<int>(alike));
}

void CWriter::add_function(std::string_view name, std::vector<Expr> functions, const ProgramOptions& options) {
  if (functions.empty()) functions.emplace_back(0.0);
  ProgramOptions with_sides = options;
  const std::vector<Expr> sides = facts_.side_symbols();
  with_sides.sides.insert(with_sides.sides.begin(), sides.begin(), sides.end());
  add(make_values_program(eqs_, with_sides, functions), name);
}

bool CWriter::make_tangents() {
  if (!tangents_ || !solves_generally_ || needs_reactions_) return false;
  // Of control only where all rows together give the acceleration: else who exerts the force is an answer of its own.
  if (has_control() && (facts_.switches || !eqs_.control.is_plain())) return false;
  // The ideal forces of what rubs are those of another state of contacts.
  const bool others = facts_.switches && (eqs_.has_C || facts_.num_slips > 0);
  if (others && std::any_of(facts_.extensions.begin(), facts_.extensions.end(),
                            [](const Expr& e) { return e.symbol().kind == SymbolKind::ideal_force; }))
    return false;
  std::vector<int> left_out = options_.dropped;
  left_out.insert(left_out.end(), options_.inert.begin(), options_.inert.end());
  const CTangent made = make_c_tangent(facts_, left_out);
  // Both are of [x | a | λ | f | dx], and of more behind.
  const std::size_t alike = 2 * num_inputs() + static_cast<std::size_t>(largest_);
  add(made.rates, "tangent_rates"), add(made.equations, "tangent_equations", alike),
      add(made.quantities, "tangent_quantities", alike);
  add_text(made.text);
  return true;
}

std::string c_name_of(const std::string& file) {
  std::string name = file.substr(file.find_last_of('/') + 1);
  name = name.substr(0, name.find_last_of('.'));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(name.begin(), '_');
  return name;
}

CSources export_c(const System& system, const State& start, const std::string& name) {
  return export_c(CFacts(system, start), name);
}

CSources export_c(const CFacts& facts, const std::string& name, const COptions& options) {
  constexpr std::size_t long_source = 190'000;
  CSources made = CWriter(facts, name, options.tangents, false).write();
  return made.source.size() < long_source ? made : CWriter(facts, name, options.tangents, true).write();
}

}  // namespace mechanician
