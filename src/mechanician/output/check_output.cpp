#include "mechanician/output/check_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/classify.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/output/table.hpp"

namespace mechanician {

namespace {

const char* mass_text(MassKind kind) {
  switch (kind) {
    case MassKind::definite:
      return "positive definite";
    case MassKind::semidefinite:
      return "singular (positive semidefinite)";
    case MassKind::indefinite:
      return "indefinite";
    case MassKind::not_symmetric:
      return "not symmetric";
  }
  return "";
}

const char* mass_word(MassKind kind) {
  return kind == MassKind::definite       ? "definite"
         : kind == MassKind::semidefinite ? "semidefinite"
         : kind == MassKind::indefinite   ? "indefinite"
                                          : "not symmetric";
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
  return result;
}

bool knows_rank(const Instant& instant) { return !instant.not_finite && instant.diagnosis; }

}  // namespace

std::string check_text(const System& system, const Instant& instant) {
  std::string out;
  const auto say = [&](std::string_view label, const std::string& text) {
    fmt::format_to(std::back_inserter(out), "  {:<22}{}\n", label, text);
  };
  const Model& model = system.model();
  if (!model.title.empty()) out += model.title + "\n";
  const int control = system.equations().num_control();
  say("coordinates", fmt::format("{} ({})", system.n(), system.n() <= 12 ? [&] {
        std::string names;
        for (int i = 0; i < system.n(); ++i) names += (i ? ", " : "") + system.coordinate(i);
        return names;
      }() : system.coordinate(0) + " … " + system.coordinate(system.n() - 1)));
  say("constraint rows",
      control ? fmt::format("{}, and {} of control", system.m() - control, control) : std::to_string(system.m()));
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
  if (instant.not_finite) return out;
  say("mass matrix", mass_text(instant.solution.mass.kind));
  if (!knows_rank(instant)) return out;
  const Diagnosis& d = *instant.diagnosis;
  say("rank", fmt::format("{} of {}", d.rank, count_noun(static_cast<std::size_t>(d.num_rows), "row")));
  say("degrees of freedom", std::to_string(system.n() - static_cast<int>(d.rank)));
  say("dependent rows", d.redundant.empty() ? "none" : quote_list(row_names(system, d.redundant)));
  say("consistent", d.consistent ? "yes" : instant.has_acceleration() ? "no (weighted)" : "no");
  say("acceleration", !d.consistent && !instant.has_acceleration() ? "none"
                      : d.unique                                   ? "unique"
                      : d.solvable                                 ? "not unique"
                                                                   : "does not exist");
  say("start", fmt::format("largest residual {:.3g}", instant.constraint_residual));
  return out;
}

std::string check_json(const System& system, const Instant& instant) {
  JsonWriter json;
  json.begin_object();
  json.key("title").value(system.model().title);
  json.key("coordinates").value(system.n());
  json.key("rows").value(system.m());
  json.key("control_rows").value(system.equations().num_control());
  json.key("operations").value(system.num_operations());
  json.key("mass").value(mass_word(instant.solution.mass.kind));
  const auto residuals = by_row(instant);
  json.key("constraints").begin_array();
  for (int i = 0; i < system.m(); ++i) {
    const Row& row = system.row(i);
    json.begin_object();
    json.key("name")
        .value(row.name)
        .key("control")
        .value(row.kind == RowKind::control)
        .key("measured")
        .value(row.measured);
    json.key("level").value(row.level == Level::position   ? "position"
                            : row.level == Level::velocity ? "velocity"
                                                           : "acceleration");
    json.key("holonomic").value(row.level == Level::position).key("rheonomic").value(row.rheonomic);
    json.key("acatastatic")
        .value(row.acatastatic)
        .key("linear")
        .value(row.linear)
        .key("integrable")
        .value(row.integrable);
    json.key("one_sided").value(false);
    const auto found = residuals.find(i);
    json.key("residual");
    if (found == residuals.end())
      json.null();
    else
      json.value(found->second.value);
    json.key("rate");
    if (found == residuals.end() || !found->second.has_rate)
      json.null();
    else
      json.value(found->second.rate);
    json.end_object();
  }
  json.end_array();
  if (knows_rank(instant)) {
    const Diagnosis& d = *instant.diagnosis;
    json.key("rank").value(d.rank);
    json.key("degrees_of_freedom").value(static_cast<Eigen::Index>(system.n()) - d.rank);
    json.key("redundant").list(row_names(system, d.redundant));
    json.key("unique").value(d.unique).key("solvable").value(d.solvable).key("consistent").value(d.consistent);
    json.key("undetermined").list(coordinate_names(system, d.undetermined));
    json.key("conflicts").begin_array();
    for (const Conflict& c : d.conflicts) json.list(row_names(system, c.rows));
    json.end_array();
  }
  json.key("constraint_residual").value(instant.constraint_residual);
  json.key("start_valid").value(instant.violations().empty());
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
