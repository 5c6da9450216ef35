#include "mechanician/output/check_output.hpp"

#include <fmt/format.h>

#include <map>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/equations/classify.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/output/table.hpp"

namespace mechanician {

namespace {

const char* mass_word(MassKind kind) {
  return kind == MassKind::definite       ? "definite"
         : kind == MassKind::semidefinite ? "semidefinite"
         : kind == MassKind::indefinite   ? "indefinite"
                                          : "not symmetric";
}

std::string mass_text(MassKind kind) {
  return kind == MassKind::definite       ? "positive definite"
         : kind == MassKind::semidefinite ? "singular (positive semidefinite)"
                                          : mass_word(kind);
}

/// Residuals by row: φ or ψ, and φ̇.
struct Pair {
  double value = 0.0, rate = 0.0, scaled = 0.0;
  bool has_rate = false;
};
std::map<int, Pair> by_row(const Instant& instant) {
  std::map<int, Pair> result;
  for (const RowResidual& r : instant.residuals) {
    Pair& p = result[r.row];
    (r.of_rate ? p.rate : p.value) = r.value;
    p.has_rate |= r.of_rate;
    p.scaled = std::max(p.scaled, r.scaled);
  }
  // A one-sided constraint is met by any gap that is not negative; what it is says more.
  for (const Contact& c : instant.contacts)
    if (c.values.one_sided && c.values.level == Level::position)
      result[c.values.row] = {.value = c.gap, .rate = c.rate, .scaled = 0.0, .has_rate = true};
    else if (c.values.one_sided)
      result[c.values.row] = {.value = c.rate};
  return result;
}

const Contact* find_contact(const Instant& instant, int row) {
  for (const Contact& c : instant.contacts)
    if (c.values.row == row) return &c;
  return nullptr;
}

/// What the constraints that are one-sided or have friction do at the start.
std::string contact_table(const System& system, const Instant& instant) {
  Table table({"name", "restitution", "friction", "slip", "at the start"}, Table::LastColumn::words);
  for (const Contact& c : instant.contacts) {
    const ContactValues& v = c.values;
    std::string slip;
    for (const double psi : v.slip) slip += (slip.empty() ? "" : ", ") + short_number(psi == 0.0 ? 0.0 : psi);
    table.add({system.row(v.row).name, v.one_sided && v.level == Level::position ? short_number(v.restitution) : "-",
               v.has_friction ? short_number(v.mu) : "-", slip.empty() ? "-" : slip, std::string(name_of(c.status))});
  }
  return table.text();
}

bool knows_rank(const Instant& instant) { return !instant.not_finite && instant.diagnosis; }

}  // namespace

std::string check_text(const System& system, const Instant& instant) {
  std::string out;
  const auto say = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<22}{}\n", label, text);
  };
  const Model& model = system.model();
  if (!model.title.empty()) out += safe_text(model.title) + "\n";
  const int control = system.equations().num_control();
  say("coordinates", fmt::format("{} ({})", system.n(), system.n() <= 12 ? [&] {
        std::string names;
        for (int i = 0; i < system.n(); ++i) names += (i ? ", " : "") + system.coordinate(i);
        return names;
      }() : system.coordinate(0) + " … " + system.coordinate(system.n() - 1)));
  int one_sided = 0;
  for (int i = 0; i < system.m(); ++i) one_sided += system.row(i).one_sided;
  const int rows = system.m() - control;
  const std::string sides = one_sided == 0      ? ""
                            : rows == 1         ? ", one-sided"
                            : one_sided == rows ? ", all one-sided"
                                                : fmt::format(", {} of them one-sided", one_sided);
  say("constraint rows",
      fmt::format("{}{}{}", rows, sides, control ? fmt::format(", and {} of control", control) : ""));
  say("operations", fmt::format("{} for M, Q, A and b", system.num_operations()));
  if (system.m() > 0) {
    const auto residuals = by_row(instant);
    out += "\n";
    Table table({"name", "residual", "rate", "kind"}, Table::LastColumn::words);
    for (int i = 0; i < system.m(); ++i) {
      const auto found = residuals.find(i);
      const auto shown = [](double x) { return fmt::format("{:.3g}", x == 0.0 ? 0.0 : x); };
      const Row& row = system.row(i);
      table.add({row.name, found == residuals.end() ? "-" : shown(found->second.value),
                 found == residuals.end() || !found->second.has_rate ? "-" : shown(found->second.rate),
                 (row.kind == RowKind::control ? "control requirement, "
                  : row.measured               ? "measured, "
                                               : "") +
                     describe(row)});
    }
    out += table.text();
    out += "\n";
  }
  if (!instant.contacts.empty()) out += contact_table(system, instant) + "\n";
  if (instant.not_finite) return out;
  say("mass matrix", mass_text(instant.solution.mass.kind));
  if (!knows_rank(instant)) return out;
  const Diagnosis& d = *instant.diagnosis;
  const auto acting = static_cast<std::size_t>(d.num_rows);
  const char* const open = d.num_rows == system.m() ? "" : acting == 1 ? " that acts" : " that act";
  say("rank", acting == 0 && system.m() > 0 ? "0: no row acts"
                                            : fmt::format("{} of {}{}", d.rank, count_noun(acting, "row"), open));
  say("degrees of freedom", std::to_string(system.n() - static_cast<int>(d.rank)));
  say("dependent rows", d.redundant.empty() ? "none" : quote_list(row_names(system, d.redundant)));
  say("consistent", d.consistent ? "yes" : instant.has_acceleration() ? "no (weighted)" : "no");
  const bool none =
      !instant.contact_conflict.empty() || (!d.consistent && !instant.has_acceleration() && !instant.impact);
  say("acceleration", instant.impact                     ? "none: velocities jump"
                      : !instant.contact_trouble.empty() ? instant.contact_trouble
                      : none                             ? "none"
                      : d.unique                         ? "unique"
                      : d.solvable                       ? "not unique"
                                                         : "does not exist");
  say("start", fmt::format("largest residual {:.3g}", instant.constraint_residual));
  return out;
}

std::string check_json(const System& system, const Instant& instant) {
  JsonWriter json;
  json.begin_object();
  json.fields({{"title", system.model().title},
               {"coordinates", system.n()},
               {"rows", system.m()},
               {"control_rows", system.equations().num_control()},
               {"operations", system.num_operations()},
               {"mass", mass_word(instant.solution.mass.kind)}});
  const auto residuals = by_row(instant);
  json.key("constraints").begin_array();
  for (int i = 0; i < system.m(); ++i) {
    const Row& row = system.row(i);
    const bool position = row.level == Level::position;
    json.begin_object();
    json.fields({{"name", row.name},
                 {"control", row.kind == RowKind::control},
                 {"measured", row.measured},
                 {"level", position                       ? "position"
                           : row.level == Level::velocity ? "velocity"
                                                          : "acceleration"},
                 {"holonomic", position},
                 {"rheonomic", row.rheonomic},
                 {"acatastatic", row.acatastatic},
                 {"linear", row.linear},
                 {"integrable", row.integrable},
                 {"one_sided", row.one_sided}});
    if (const Contact* c = find_contact(instant, i)) {
      json.key("status").value(name_of(c->status));
      if (row.one_sided && position) json.key("restitution").value(c->values.restitution);
      if (c->values.has_friction) json.key("friction").value(c->values.mu).key("slip").list(c->values.slip);
    }
    const auto found = residuals.find(i);
    std::optional<double> residual, rate;
    if (found != residuals.end()) residual = found->second.value;
    if (found != residuals.end() && found->second.has_rate) rate = found->second.rate;
    json.fields({{"residual", residual}, {"rate", rate}});
    json.end_object();
  }
  json.end_array();
  if (system.has_contacts()) {
    json.key("impact").value(instant.impact.has_value());
    json.key("acting").list(row_names(system, instant.acting));
  }
  if (knows_rank(instant)) {
    const Diagnosis& d = *instant.diagnosis;
    json.fields({{"rank", d.rank}, {"degrees_of_freedom", system.n() - d.rank}});
    json.key("redundant").list(row_names(system, d.redundant));
    json.fields({{"unique", d.unique}, {"solvable", d.solvable}, {"consistent", d.consistent}});
    json.key("undetermined").list(coordinate_names(system, d.undetermined));
    json.key("conflicts").array(d.conflicts, [&](const Conflict& c) { json.list(row_names(system, c.rows)); });
  }
  json.fields({{"constraint_residual", instant.constraint_residual}, {"start_valid", instant.violations().empty()}});
  json.end_object();
  return json.text();
}

std::string project_json(const System& system, const State& state, double moved) {
  JsonWriter json;
  json.begin_object();
  json.key("position").named(system.equations().coordinates, state.q);
  json.key("velocity").named(system.equations().coordinates, state.qd);
  json.key("moved").value(moved);
  json.end_object();
  return json.text();
}

std::string project_text(const System& system, const State& state, double moved) {
  const auto list = [&](const Eigen::VectorXd& x) {
    std::string out;
    for (int i = 0; i < system.n(); ++i)
      out += fmt::format("{}{} = {}", i ? ", " : "", system.coordinate(i), number_text(x(i)));
    return out;
  };
  return fmt::format("position = {{ {} }}\nvelocity = {{ {} }}\n# largest change {:.3g}\n", list(state.q),
                     list(state.qd), moved);
}

}  // namespace mechanician
