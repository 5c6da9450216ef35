#include "mechanician/analysis/equilibria.hpp"

#include <fmt/format.h>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

namespace {

/// Whether there is friction, which `to` then says.
bool refuse_friction(const System& system, FoundEquilibria& to) {
  if (!system.has_contacts()) return false;
  for (const ContactRow& c : system.equations().contacts) {
    if (!c.has_friction) continue;
    to.refusal = fmt::format("`{}` has friction: states of rest with friction fill ranges, which are not looked for",
                             system.row_name(c.row));
    to.place = system.row(c.row).place;
    return true;
  }
  return false;
}

/// Where constraints depend on each other, those of least norm, as everywhere.
void take_least_multipliers(const System& system, RestState& s) {
  const Instant instant = accelerate(system, s.linear.state, {.diagnose = false});
  const Solution& solution = instant.solution;
  if (instant.has_acceleration() && !solution.multipliers_unique &&
      solution.multipliers.size() == s.linear.multipliers.size())
    s.linear.multipliers = solution.multipliers;
}

}  // namespace

FoundEquilibria find_equilibria(const System& whole, State start, const EquilibriumSearch& asked) {
  const System system = system_at_start(whole);  // what is released does not act
  FoundEquilibria found;
  start.qd.setZero();
  EquilibriumReport& report = found.report;
  report.t = start.t;
  if (refuse_friction(system, found)) return found;
  found.searched = std::make_shared<System>(system);
  const System& searched = *found.searched;
  for (int i = 0; i < searched.m(); ++i)
    if (searched.row(i).rheonomic) {
      report.notes.push_back(
          fmt::format("constraints depend on time, which stands still at t = {}", short_number(report.t)));
      break;
    }
  RestModes modes(system, start, asked.varied, asked.overrides);
  if (const std::vector<std::string> jumps = modes.open().jumps_at_rest(); !jumps.empty()) {
    found.refusal = fmt::format(
        "{} jumps wherever nothing moves: as with friction, states of rest fill ranges, which "
        "are not looked for",
        quote_list(std::vector{jumps.front()}));
    return found;
  }
  report.equilibria = modes.find_all(asked.rest, &found.trouble);
  for (RestState& s : report.equilibria) take_least_multipliers(system, s);
  for (std::size_t k = 0; k < report.equilibria.size(); ++k) {
    std::vector<std::string> names;
    for (const std::size_t c : modes.idle(report.equilibria[k])) names.push_back(modes.name(c));
    if (!names.empty())
      report.notes.push_back(fmt::format("state {}: {} without a force: deviations to the other side are not seen",
                                         k + 1, quote_list(names) + (names.size() == 1 ? " touches" : " touch")));
  }
  if (!asked.varied.empty()) {
    report.varied = asked.varied;
    BranchOptions options;
    options.from = asked.from, options.to = asked.to, options.rest = asked.rest;
    report.branches = follow_branches(modes, options);
    report.notes.insert(report.notes.end(), report.branches->notes.begin(), report.branches->notes.end());
  }
  return found;
}

}  // namespace mechanician
