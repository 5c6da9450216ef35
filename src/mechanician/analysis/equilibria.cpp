#include "mechanician/analysis/equilibria.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/phase_model.hpp"

namespace mechanician {

namespace {

/// One-sided constraints that act at the start, as equations, the others left out.
struct Contacts {
  std::optional<PhaseSystem> phase;
  std::vector<int> rows;  ///< of the whole system, one-sided and holding
};

/// Nothing where there is friction, which `to` then says.
std::optional<Contacts> hold_contacts(const System& system, const State& start, FoundEquilibria& to) {
  Contacts held;
  if (!system.has_contacts()) return held;
  const Instant instant = accelerate(system, start, {.diagnose = false});
  std::vector<ContactStatus> statuses;
  for (const Contact& c : instant.contacts) {
    if (c.values.has_friction) {
      to.refusal = fmt::format("`{}` has friction: states of rest with friction fill ranges, which are not looked for",
                               system.row_name(c.values.row));
      to.place = system.row(c.values.row).place;
      return std::nullopt;
    }
    statuses.push_back(c.acts() ? ContactStatus::holding : ContactStatus::open);
    if (c.acts()) held.rows.push_back(c.values.row);
  }
  held.phase = make_phase_system(system, statuses);
  return held;
}

/// Whether a state of rest of the contacts that hold is one of all: forces press, and nothing has got through.
bool agrees(const System& whole, const Contacts& held, const RestState& s) {
  const Evaluation now = whole.evaluate(s.linear.state);
  double size = 0.0;
  for (const double x : s.linear.multipliers) size = std::max(size, std::abs(x));
  for (int j = 0; j < whole.m(); ++j) {
    if (!whole.row(j).one_sided) continue;
    const auto& rows = held.phase->row_of;
    const auto at = std::find(rows.begin(), rows.end(), j);
    if (at != rows.end() ? s.linear.multipliers(at - rows.begin()) < -1e-9 * size
                         : now.residual(j) < -1e-9 * std::max(1.0, s.linear.state.q.cwiseAbs().maxCoeff()))
      return false;
  }
  return true;
}

}  // namespace

FoundEquilibria find_equilibria(const System& system, State start, const EquilibriumSearch& asked) {
  FoundEquilibria found;
  start.qd.setZero();
  EquilibriumReport& report = found.report;
  report.t = start.t;
  const std::optional<Contacts> held = hold_contacts(system, start, found);
  if (!held) return found;
  found.searched = held->phase ? held->phase->system : std::make_shared<System>(system);
  const System& searched = *found.searched;
  if (held->phase) {
    std::vector<std::string> names;
    for (const int row : held->rows) names.push_back(system.row_name(row));
    report.notes.push_back(
        names.empty()
            ? "no one-sided constraint acts at the start: none is taken to act"
            : fmt::format("one-sided constraints that act at the start are taken to act: {}", quote_list(names)));
  }
  for (int i = 0; i < searched.m(); ++i)
    if (searched.row(i).rheonomic) {
      report.notes.push_back(
          fmt::format("constraints depend on time, which stands still at t = {}", short_number(report.t)));
      break;
    }
  RestSearch search(searched, start, asked.varied, asked.overrides);
  report.equilibria = search.find_all(asked.rest, &found.trouble);
  if (held->phase) {
    const std::size_t before = report.equilibria.size();
    std::erase_if(report.equilibria, [&](const RestState& s) { return !agrees(system, *held, s); });
    if (report.equilibria.size() < before)
      report.notes.push_back(fmt::format("{} left out: one-sided constraints would pull, or be passed",
                                         count_noun(before - report.equilibria.size(), "state")));
  }
  if (!asked.varied.empty()) {
    report.varied = asked.varied;
    BranchOptions options;
    options.from = asked.from, options.to = asked.to, options.rest = asked.rest;
    report.branches = follow_branches(search, options);
    report.notes.insert(report.notes.end(), report.branches->notes.begin(), report.branches->notes.end());
  }
  return found;
}

}  // namespace mechanician
