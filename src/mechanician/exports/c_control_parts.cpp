// What of control depends on the model, in exported C.

#include <fmt/format.h>

#include <set>

#include "mechanician/exports/c_runtime.hpp"
#include "mechanician/exports/c_writer_internal.hpp"

namespace mechanician {

void CWriter::make_control_facts() {
  const ControlEquations& control = eqs_.control;
  std::set<int> priorities;
  int sided = 0;
  for (const auto& r : control.requirements) priorities.insert(r.priority), sided += r.one_sided;
  const int actuators = static_cast<int>(control.actuators.size()),
            asks = static_cast<int>(control.requirements.size()), forces = actuators > 0 ? actuators : asks;
  add_text(fmt::format("enum {{ @FORCES = {}, @FIRST_REQUIREMENT = {}, @RANKS = {}, @KMAX = {}, @LINES = {} }};\n",
                       forces, eqs_.num_constraints(), priorities.size(), forces + sided,
                       2 * actuators + asks + 2 * sided + forces));
  // Limits may be in the way of anything.
  add_text("static const struct { int rank, one_sided, must; } @ask[] = {");
  for (const auto& r : control.requirements)
    add_text(fmt::format("{{{}, {:d}, {:d}}}, ", std::distance(priorities.begin(), priorities.find(r.priority)),
                         r.one_sided, r.priority == *priorities.begin() && !r.one_sided && !control.has_limits()));
  add_text("{0, 0, 0}};\n");
}

std::string CWriter::control_numbers(std::size_t first) const {
  const ControlEquations& control = eqs_.control;
  std::string text = "  for (i = 0; i < @N*@ACTUATORS; ++i) s->E[i] = 0;\n";
  std::size_t next = first;
  for (const auto& e : control.E.entries)
    text += fmt::format("  s->E[{}*@ACTUATORS + {}] = y[{}];\n", e.row, e.col, next++);
  for (std::size_t i = 0; i < control.actuators.size(); ++i)
    text += control.actuators[i].has_low ? fmt::format("  s->low[{}] = y[{}];\n", i, next++)
                                         : fmt::format("  s->low[{}] = -INFINITY;\n", i);
  for (std::size_t i = 0; i < control.actuators.size(); ++i)
    text += control.actuators[i].has_high ? fmt::format("  s->high[{}] = y[{}];\n", i, next++)
                                          : fmt::format("  s->high[{}] = INFINITY;\n", i);
  const std::size_t costs = control.actuators.size() * control.actuators.size(), asks = control.requirements.size();
  text += fmt::format("  for (i = 0; i < {}; ++i) s->R[i] = y[{} + i];\n", costs, next), next += costs;
  text += fmt::format("  for (i = 0; i < {}; ++i) s->weight[i] = y[{} + i];\n", asks, next), next += asks;
  for (std::size_t j = 0; j < asks; ++j)
    if (!control.requirements[j].weighted) text += fmt::format("  s->weight[{}] = 0;\n", j);
  text += control.has_free ? fmt::format("  for (i = 0; i < @N; ++i) s->free[i] = y[{} + i];\n", next)
                           : "  for (i = 0; i < @N; ++i) s->free[i] = 0;\n";
  return text;
}

void CWriter::make_control() {
  const ControlEquations& control = eqs_.control;
  const bool searches =
      control.has_limits() || std::any_of(control.requirements.begin(), control.requirements.end(),
                                          [](const ControlEquations::Requirement& r) { return r.one_sided; });
  add_text(
      with(c_control_algebra(), {{"LIMITS_THAT_ACT", std::string(control.has_limits() ? c_control_limits() : "")}}));
  if (searches) add_text(c_control_search());
  const auto free = [&](const char* place) { return std::string(control.has_free ? c_control_free(place) : ""); };
  add_text(with(c_control_force(),
                {{"FREE_COLUMN", free("FREE_COLUMN")},
                 {"FREE_FORCE", free("FREE_FORCE")},
                 {"SOLVE_PROGRAMME", searches ? "if ((status = @solve_bounded(s, &c, y)) != 0) return status;"
                                              : "@solve_acting(s, &c, 0, 0, y);"}}));
  std::string steer = "if ((status = @control(s, act, a, e)) != 0) return status;";
  if (!control.nominal.empty()) {
    // The controller's own model, at the state as it is; actuators do what they are told, within the limits that they have.
    std::vector<Expr> values;
    std::string put;
    for (const Named& p : facts_.model.control.nominal)
      for (std::size_t i = 0; i < facts_.model.parameters.size(); ++i)
        if (facts_.model.parameters[i].name == p.name) {
          put += fmt::format("    other[{}] = values[{}];\n", 1 + 2 * n() + static_cast<int>(i), values.size());
          values.push_back(p.value);
        }
    add_function("nominal_values", values);
    steer = fmt::format(
        R"({{
    @numbers believed;
    double other[@X], values[{0}], a2[@N], lambda2[@R + 1];
{1}    @nominal_values(x, values);
    for (i = 0; i < @X; ++i) other[i] = x[i];
{2}    if ((status = @number(other, &believed)) != 0) return status;
    if ((status = {3}) != 0) return status;
    if ((status = @control(&believed, act, a2, e)) != 0) return status;
    if (@ACTUATORS > 0) {{
      for (j = 0; j < @ACTUATORS; ++j) e->tau[j] = e->tau[j] < s->low[j] ? s->low[j] : e->tau[j] > s->high[j] ? s->high[j] : e->tau[j];
      e->cost = 0;
      for (i = 0; i < @ACTUATORS; ++i) for (j = 0; j < @ACTUATORS; ++j) e->cost += e->tau[i]*s->R[i*@ACTUATORS + j]*e->tau[j];
      for (i = 0; i < @N; ++i) for (e->u[i] = 0, j = 0; j < @ACTUATORS; ++j) e->u[i] += s->E[i*@ACTUATORS + j]*e->tau[j];
    }}
    if ((status = @respond(s, act, 1, e->u, e->da, e->dlambda)) != 0) return status;
  }})",
        values.size() + 1,
        facts_.switches ? "    static const @modes none;\n    double f[@SLIPS + 1];\n    char sure[@LARGEST];\n" : "",
        put,
        facts_.switches
            ? "@solve_rows(0, &believed, act, &none, believed.slip_b, believed.C, believed.b, a2, lambda2, f, sure)"
            : "@solve_plant(other, &believed, act, a2, lambda2)");
  }
  add_text(with(c_control_steer(), {{"STEER_CONTROL", steer}}));
  if (facts_.has_samples()) add_text(with(c_control_held(), {{"HELD", std::to_string(facts_.num_held())}}));
}

}  // namespace mechanician
