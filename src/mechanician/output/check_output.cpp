#include "mechanician/output/check_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/equations/classify.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/readable.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/output/table.hpp"
#include "mechanician/solve/mass.hpp"

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
  TextTable table({"name", "restitution", "friction", "slip", "at the start"}, TextTable::LastColumn::words);
  for (std::size_t k = 0; k < static_cast<std::size_t>(lines_of(static_cast<long>(instant.contacts.size()))); ++k) {
    const Contact& c = instant.contacts[k];
    const ContactValues& v = c.values;
    std::string slip;
    for (const double psi : v.slip) slip += (slip.empty() ? "" : ", ") + short_number(psi == 0.0 ? 0.0 : psi);
    table.add({system.row_name(v.row), v.one_sided && v.level == Level::position ? short_number(v.restitution) : "-",
               v.has_friction ? short_number(v.limit > 0.0 || v.bare ? v.limit : v.mu) : "-", slip.empty() ? "-" : slip,
               std::string(name_of(c.status))});
  }
  return table.text() + others(static_cast<long>(instant.contacts.size()));
}

std::vector<int> coordinates_with_mass(const System& system) {
  std::vector<char> is_state(static_cast<std::size_t>(system.n()), 0);
  for (const StateRow& z : system.states()) is_state[static_cast<std::size_t>(z.coordinate)] = 1;
  std::vector<int> result;
  for (int i = 0; i < system.n(); ++i)
    if (!is_state[static_cast<std::size_t>(i)]) result.push_back(i);
  return result;
}

/// "3 (x, y, z)"
std::string count_and_names(const System& system, const std::vector<int>& coordinates) {
  if (coordinates.empty()) return "0";
  std::string names;
  for (const int i : coordinates) {
    if (coordinates.size() > 12) break;
    names += (names.empty() ? "" : ", ") + system.coordinate(i);
  }
  if (coordinates.size() > 12)
    names = system.coordinate(coordinates.front()) + " … " + system.coordinate(coordinates.back());
  return fmt::format("{} ({})", coordinates.size(), names);
}

/// That of the coordinates which can have a mass.
MassKind mass_kind(const System& system, const Instant& instant, const std::vector<int>& moving) {
  constexpr std::size_t most = 500;  // a matrix with its zeros
  const MassKind whole = instant.solution.mass.kind;
  if (system.num_states() == 0 || whole != MassKind::semidefinite || moving.size() > most) return whole;
  const auto size = static_cast<Eigen::Index>(moving.size());
  Eigen::MatrixXd M(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    for (Eigen::Index j = 0; j < size; ++j)
      M(i, j) = instant.values.M(moving[static_cast<std::size_t>(i)], moving[static_cast<std::size_t>(j)]);
  return check_mass(M).kind;
}

/// Degrees of freedom that neither constraints nor control decide: what they do is the zero dynamics.
int left_to_itself(const System& system, const Instant& instant) {
  return system.n() - static_cast<int>(instant.solution.rank) - instant.control->rank;
}

std::string control_text(const System& system, const Instant& instant) {
  const InstantControl& c = *instant.control;
  const auto actuators = system.equations().control.actuators.size();
  const int left = left_to_itself(system, instant);
  std::string out = fmt::format(
      "  {:<22}{}{}, rank {}; {}\n", "control",
      count_noun(static_cast<std::size_t>(system.num_control()), "requirement"),
      actuators > 0 ? fmt::format(" and {}", count_noun(actuators, "actuator")) : ", every coordinate can be forced",
      c.rank,
      left == 0   ? "nothing is left to itself"
      : left == 1 ? "one degree of freedom is left to itself (zero dynamics)"
                  : fmt::format("{} degrees of freedom are left to themselves (zero dynamics)", left));
  for (std::size_t j = 0; j < c.influenced.size(); ++j)
    if (!c.influenced[j])
      out += fmt::format("  {:<22}no force here influences the acceleration of `{}`: its relative degree is above {}\n",
                         "", system.row_name(system.m() + static_cast<int>(j)),
                         system.row(system.m() + static_cast<int>(j)).level == Level::position ? "two" : "one");
  return out;
}

bool knows_rank(const Instant& instant) { return !instant.not_finite && instant.diagnosis; }

}  // namespace

std::string check_text(const System& system, const Instant& instant) {
  std::string out;
  const auto say = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<22}{}\n", label, text);
  };
  if (!system.title().empty()) out += safe_text(system.title()) + "\n";
  const int control = system.num_control();
  const std::vector<int> moving = coordinates_with_mass(system);
  say("coordinates", count_and_names(system, moving));
  if (system.num_states() > 0) {
    std::vector<int> states;
    for (const StateRow& z : system.states()) states.push_back(z.coordinate);
    say("states", count_and_names(system, states));
  }
  int one_sided = 0;
  for (int i = 0; i < system.m(); ++i) one_sided += system.row(i).one_sided;
  const int rows = system.num_constraints();
  const std::string sides = one_sided == 0      ? ""
                            : rows == 1         ? ", one-sided"
                            : one_sided == rows ? ", all one-sided"
                                                : fmt::format(", {} of them one-sided", one_sided);
  say("constraint rows",
      fmt::format("{}{}{}", rows, sides, control ? fmt::format(", and {} of control", control) : ""));
  say("operations", fmt::format("{} for M, Q, A and b", system.num_operations()));
  if (system.num_rows() > system.num_states()) {
    const auto residuals = by_row(instant);
    out += "\n";
    TextTable table({"name", "residual", "rate", "kind"}, TextTable::LastColumn::words);
    for (int i = 0; i < lines_of(system.num_rows()); ++i) {
      if (system.row(i).is_rate) continue;
      const auto found = residuals.find(i);
      const auto shown = [](double x) { return fmt::format("{:.3g}", x == 0.0 ? 0.0 : x); };
      const RowTraits& row = system.row(i);
      table.add({system.row_name(i), found == residuals.end() ? "-" : shown(found->second.value),
                 found == residuals.end() || !found->second.has_rate ? "-" : shown(found->second.rate),
                 (row.kind == RowKind::control ? "control requirement, "
                  : row.measured               ? "measured, "
                                               : "") +
                     describe(row)});
    }
    out += table.text() + others(system.num_rows()) + "\n";
  }
  if (!instant.contacts.empty()) out += contact_table(system, instant) + "\n";
  if (instant.not_finite) return out;
  if (!moving.empty()) say("mass matrix", mass_text(mass_kind(system, instant, moving)));
  if (!knows_rank(instant)) return out;
  const Diagnosis& d = *instant.diagnosis;
  if (instant.control) out += control_text(system, instant);
  const auto acting = static_cast<std::size_t>(d.num_rows - system.num_states());
  const char* const open = d.num_rows == system.m() ? "" : acting == 1 ? " that acts" : " that act";
  say("rank", acting == 0 && system.m() > system.num_states()
                  ? "0: no row acts"
                  : fmt::format("{} of {}{}", d.rank - system.num_states(), count_noun(acting, "row"), open));
  say("degrees of freedom", std::to_string(system.n() - static_cast<int>(d.rank)));
  say("dependent rows", d.redundant.empty() ? "none" : quote_list(row_names(system, d.redundant)));
  say("consistent", d.consistent ? "yes" : instant.has_acceleration() ? "no (weighted)" : "no");
  const bool none =
      !instant.contact_conflict.empty() || (!d.consistent && !instant.has_acceleration() && !instant.impact);
  say("acceleration", instant.impact                     ? "none: velocities jump"
                      : !instant.contact_trouble.empty() ? instant.contact_trouble
                      : none                             ? "none"
                      : !instant.shared.empty()          ? "not unique: " + instant.shared
                      : d.unique                         ? "unique"
                      : d.solvable                       ? "not unique"
                                                         : "does not exist");
  say("start", fmt::format("largest residual {:.3g}", instant.constraint_residual));
  return out;
}

namespace {

/// Rows beyond which a list of all of them with all that is said of them is of no use.
constexpr int most_listed = 10'000;

void constraints_json(JsonWriter& json, const System& system, const Instant& instant) {
  const auto residuals = by_row(instant);
  json.begin_array();
  for (int i = 0; i < system.num_rows(); ++i) {
    const RowTraits& row = system.row(i);
    if (row.is_rate) continue;
    json.begin_object();
    json.key("name")
        .value(system.row_name(i))
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
    json.key("one_sided").value(row.one_sided);
    if (const Contact* c = find_contact(instant, i)) {
      json.key("status").value(name_of(c->status));
      if (row.one_sided && row.level == Level::position) json.key("restitution").value(c->values.restitution);
      if (c->values.has_friction) {
        if (c->values.limit > 0.0 || c->values.bare)
          json.key("friction_force").value(c->values.limit);
        else
          json.key("friction").value(c->values.mu);
        json.key("slip").begin_array();
        for (const double psi : c->values.slip) json.value(psi);
        json.end_array();
      }
    }
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
}

}  // namespace

std::string check_json(const System& system, const Instant& instant) {
  JsonWriter json;
  json.begin_object();
  json.key("title").value(system.title());
  const std::vector<int> moving = coordinates_with_mass(system);
  json.key("coordinates").value(static_cast<int>(moving.size()));
  if (system.num_states() > 0) {
    json.key("states");
    if (system.num_states() > most_listed) {
      json.null();
    } else {
      json.begin_object();  // by name: value and rate at the start
      for (const StateRow& z : system.states()) {
        json.key(system.coordinate(z.coordinate)).begin_object();
        json.key("value").value(instant.state.q(z.coordinate)).key("rate").value(instant.state.qd(z.coordinate));
        json.end_object();
      }
      json.end_object();
    }
  }
  json.key("rows").value(system.num_rows() - system.num_states());
  json.key("control_rows").value(system.num_control());
  if (instant.control) {
    json.key("control_rank").value(instant.control->rank);
    json.key("left_to_itself").value(left_to_itself(system, instant));
  }
  json.key("operations").value(system.num_operations());
  json.key("mass").value(mass_word(moving.empty() ? MassKind::definite : mass_kind(system, instant, moving)));
  json.key("constraints");
  if (system.m() > most_listed)
    json.null();
  else
    constraints_json(json, system, instant);
  if (system.has_contacts()) {
    json.key("impact").value(instant.impact.has_value());
    json.key("acting").list(row_names(system, instant.acting));
  }
  if (knows_rank(instant)) {
    const Diagnosis& d = *instant.diagnosis;
    json.key("rank").value(std::int64_t{d.rank - system.num_states()});
    json.key("degrees_of_freedom").value(std::int64_t{system.n() - d.rank});
    json.key("redundant").list(row_names(system, d.redundant));
    json.key("unique").value(d.unique).key("solvable").value(d.solvable).key("consistent").value(d.consistent);
    json.key("undetermined").list(coordinate_names(system, d.undetermined));
    json.key("conflicts").begin_array();
    for (const Conflict& c : d.conflicts) json.list(row_names(system, c.rows));
    json.end_array();
    depends_json(json, system, d);
    json.key("rank_doubtful").value(d.rank_doubtful);
  }
  json.key("constraint_residual").value(instant.constraint_residual);
  json.key("start_valid").value(instant.violations().empty());
  json.end_object();
  return json.text();
}

std::string project_json(const System& system, const State& state, double moved) {
  JsonWriter json;
  json.begin_object();
  const auto coordinate = [&](int i) { return system.coordinate(i); };
  json.key("position").named(coordinate, state.q);
  json.key("velocity").named(coordinate, state.qd);
  json.key("moved").value(moved);
  json.end_object();
  return json.text();
}

std::string project_text(const System& system, const State& state, double moved) {
  const auto list = [&](const Eigen::VectorXd& x) {
    std::string out;
    for (int i = 0; i < system.n(); ++i)
      out += fmt::format("{}{} = {}", i ? ", " : "", key_text(system.coordinate(i)), number_text(x(i)));
    return out;
  };
  return fmt::format("position = {{ {} }}\nvelocity = {{ {} }}\n# largest change {:.3g}\n", list(state.q),
                     list(state.qd), moved);
}

}  // namespace mechanician
