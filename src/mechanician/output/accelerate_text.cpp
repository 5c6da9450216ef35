#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "mechanician/base/text.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/output/table.hpp"

namespace mechanician {

namespace {

std::string number(double x) { return std::isnan(x) ? "-" : fmt::format("{:.10g}", x == 0.0 ? 0.0 : x); }

/// "1, 2", or nothing to show.
std::string list(const Eigen::VectorXd& x) {
  std::string out;
  for (const double xi : x) out += (out.empty() ? "" : ", ") + number(xi);
  return out.empty() ? "-" : out;
}

/// What actuators do, and what becomes of the requirements.
std::string control_text(const System& system, const InstantControl& c) {
  std::string out;
  if (c.tau.size() > 0) {
    TextTable actuators({"actuator", "effort", ""}, TextTable::LastColumn::words);
    for (Eigen::Index i = 0; i < lines_of(c.tau.size()); ++i)
      actuators.add({system.equations().control.actuators[static_cast<std::size_t>(i)].name, number(c.tau(i)),
                     c.mode.at_limit[static_cast<std::size_t>(i)] != 0 ? "at its limit" : ""});
    out += "\n" + actuators.text() + others(c.tau.size());
  }
  TextTable requirements({"requirement", "error", "rate", ""}, TextTable::LastColumn::words);
  for (Eigen::Index j = 0; j < lines_of(c.error.size()); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool rests = system.equations().control.requirements[at].one_sided && !c.mode.held[at];
    requirements.add({system.row_name(system.m() + static_cast<int>(j)), number(c.error(j)), number(c.error_rate(j)),
                      !c.met[at] ? "not met"
                      : rests    ? "holds by itself"
                                 : "met"});
  }
  out += "\n" + requirements.text() + others(c.error.size());
  return out + fmt::format("\n  cost {}\n", number(c.cost));
}

}  // namespace

std::string accelerate_text(const System& system, const Instant& instant) {
  const Solution& s = instant.solution;
  // What is rounding beside the forces or accelerations of the instant is shown as zero.
  const auto largest = [](const Eigen::VectorXd& x) {
    return x.size() > 0 ? x.cwiseAbs().maxCoeff<Eigen::PropagateNumbers>() : 0.0;
  };
  const double least_qdd = 1e-15 * std::max(largest(s.qdd), s.a ? largest(*s.a) : 0.0);
  const double least_force = 1e-15 * std::max({largest(s.Qc), largest(instant.values.Q), largest(s.Q_control)});
  const auto above = [](double x, double least) { return number(std::abs(x) <= least ? 0.0 : x); };
  const bool friction = std::any_of(instant.contacts.begin(), instant.contacts.end(),
                                    [](const Contact& c) { return c.values.has_friction; });
  const bool control = instant.control.has_value(), nonideal = system.has_C() || friction;
  std::string out = fmt::format("t = {}\n\n", number(instant.state.t));

  std::vector<std::string> header{"coordinate",   "position",      "velocity",
                                  "acceleration", "unconstrained", nonideal ? "ideal force" : "constraint force"};
  if (nonideal) header.push_back("non-ideal force");
  if (control) header.push_back("control force");
  TextTable table(header);
  std::vector<char> is_state(static_cast<std::size_t>(system.n()), 0);
  for (const StateRow& z : system.states()) is_state[static_cast<std::size_t>(z.coordinate)] = 1;
  for (int i = 0; i < lines_of(system.n()); ++i) {
    if (is_state[static_cast<std::size_t>(i)]) continue;
    std::vector<std::string> row{system.coordinate(i),          number(instant.state.q(i)),
                                 number(instant.state.qd(i)),   above(s.qdd(i), least_qdd),
                                 s.a ? number((*s.a)(i)) : "-", above(s.Qc_i(i), least_force)};
    if (nonideal) row.push_back(above(s.Qc_ni(i), least_force));
    if (control) row.push_back(above(s.Q_control(i), least_force));
    table.add(std::move(row));
  }
  if (system.num_states() < system.n()) out += table.text() + others(system.n());
  if (system.num_states() > 0) {
    TextTable states({"state", "value", "rate"});
    for (int k = 0; k < lines_of(system.num_states()); ++k) {
      const int i = system.states()[static_cast<std::size_t>(k)].coordinate;
      states.add({system.coordinate(i), number(instant.state.q(i)), number(instant.state.qd(i))});
    }
    out += (system.num_states() < system.n() ? "\n" : "") + states.text() + others(system.num_states());
  }

  const Eigen::Index num_multipliers = s.multipliers.size() > 0 ? system.num_constraints() : 0;
  if (num_multipliers > 0) {
    TextTable multipliers({"constraint", "multiplier", ""}, TextTable::LastColumn::words);
    for (Eigen::Index i = 0; i < lines_of(num_multipliers); ++i) {
      if (system.row(static_cast<int>(i)).bare) continue;
      bool open = false;
      for (const Eigen::Index k : s.multipliers_undetermined) open |= k == i;
      multipliers.add(
          {system.row_name(static_cast<int>(i)), number(s.multipliers(i)), open ? "not unique, least norm" : ""});
    }
    out += "\n" + multipliers.text() + others(num_multipliers);
  }
  if (instant.control) out += control_text(system, *instant.control);
  if (!instant.contacts.empty()) {
    std::vector<std::string> columns{"contact", "gap", "rate", "normal"};
    if (friction) columns.insert(columns.end(), {"slip", "friction"});
    columns.push_back("");
    TextTable contacts(columns, TextTable::LastColumn::words);
    for (std::size_t k = 0; k < static_cast<std::size_t>(lines_of(static_cast<long>(instant.contacts.size()))); ++k) {
      const Contact& c = instant.contacts[k];
      const ContactValues& v = c.values;
      std::vector<std::string> row{system.row_name(v.row),
                                   v.one_sided && v.level == Level::position ? number(c.gap) : "-",
                                   v.one_sided ? number(c.rate) : "-", above(c.normal, least_force)};
      if (friction)
        row.push_back(v.has_friction ? list(v.slip) : "-"), row.push_back(v.has_friction ? list(c.friction) : "-");
      row.emplace_back(name_of(c.status));
      contacts.add(std::move(row));
    }
    out += "\n" + contacts.text() + others(static_cast<long>(instant.contacts.size()));
  }
  out += fmt::format("\n  rank {} of {}", s.rank - system.num_states(),
                     count_noun(static_cast<std::size_t>(s.num_rows - system.num_states()), "row"));
  if (s.gaussian) out += fmt::format(", Gaussian {}", number(*s.gaussian));
  out += fmt::format(", largest constraint residual {:.3g}\n", instant.constraint_residual);
  return out;
}

}  // namespace mechanician
