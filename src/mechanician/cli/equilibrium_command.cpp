#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/motion/phase_model.hpp"
#include "mechanician/output/equilibrium_output.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

/// "p=a..b"
struct Varied {
  std::string name;
  double from = 0.0, to = 0.0;
};

std::optional<Varied> parse_varied(const CommandOptions& o) {
  if (o.vary.empty()) return std::nullopt;
  const std::string& text = o.vary.front();
  const std::size_t equal = text.find('='), dots = text.find("..");
  if (o.vary.size() > 1 || equal == std::string::npos || equal == 0 || dots == std::string::npos || dots < equal)
    throw UsageError(fmt::format("--vary {}: one parameter and its range, as in --vary \"p=0..2\"", o.vary.back()));
  Varied varied{text.substr(0, equal), parse_number(text.substr(equal + 1, dots - equal - 1), "--vary"),
                parse_number(text.substr(dots + 2), "--vary")};
  if (varied.from > varied.to) std::swap(varied.from, varied.to);
  if (!(varied.from < varied.to)) throw UsageError(fmt::format("--vary {}: the range has no length", text));
  return varied;
}

long parse_count(const std::string& text, const char* option, long otherwise, long least) {
  if (text.empty()) return otherwise;
  const double x = parse_number(text, option);
  if (!(x >= static_cast<double>(least)) || x != std::floor(x) || x > 1e15)
    throw UsageError(fmt::format("{} {}: a whole number, {} at least", option, text, least));
  return static_cast<long>(x);
}

/// One-sided constraints that act at the start, as equations, the others left out.
struct Contacts {
  std::optional<PhaseSystem> phase;
  std::vector<int> rows;  ///< of the whole system, one-sided and holding
};

std::optional<Contacts> hold_contacts(const Loaded& loaded) {
  Contacts held;
  const System& system = loaded.system;
  if (!system.has_contacts()) return held;
  const Instant instant = accelerate(system, loaded.start, {.diagnose = false});
  std::vector<ContactStatus> statuses;
  for (const Contact& c : instant.contacts) {
    if (c.values.has_friction) {
      say(Remark{fmt::format("`{}` has friction: states of rest with friction fill ranges, which are not looked for",
                             system.row_name(c.values.row)),
                 {},
                 system.row(c.values.row).place},
          "error", system);
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

Exit run_equilibrium(const CommandOptions& o) {
  const std::optional<Varied> varied = parse_varied(o);
  const RestOptions rest{
      static_cast<int>(std::min(parse_count(o.starts, "--starts", RestOptions{}.starts, 1), 1'000'000L)),
      static_cast<std::uint64_t>(parse_count(o.seed, "--seed", 0, 0))};
  const bool to_csv = o.output.ends_with(".csv"), to_json = o.output.ends_with(".json");
  if (!o.output.empty() && !to_csv && !to_json)
    throw UsageError(fmt::format("-o {}: the ending says the format: .csv or .json", o.output));
  Loaded loaded = load(o);
  loaded.start.qd.setZero();
  const System& system = loaded.system;
  EquilibriumReport report;
  report.t = loaded.start.t;
  const std::optional<Contacts> held = hold_contacts(loaded);
  if (!held) return Exit::refused;
  const System& searched = held->phase ? *held->phase->system : system;
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
  std::optional<RestSearch> search;
  try {
    search.emplace(searched, loaded.start, varied ? varied->name : "", ParameterOverrides(o.set.begin(), o.set.end()));
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--vary: {}", e.what()));
  }
  std::string trouble;
  report.equilibria = search->find_all(rest, &trouble);
  if (held->phase) {
    const std::size_t before = report.equilibria.size();
    std::erase_if(report.equilibria, [&](const RestState& s) { return !agrees(system, *held, s); });
    if (report.equilibria.size() < before)
      report.notes.push_back(fmt::format("{} left out: one-sided constraints would pull, or be passed",
                                         count_noun(before - report.equilibria.size(), "state")));
  }
  if (varied) {
    report.varied = varied->name;
    BranchOptions options;
    options.from = varied->from, options.to = varied->to, options.rest = rest;
    report.branches = follow_branches(*search, options);
    report.notes.insert(report.notes.end(), report.branches->notes.begin(), report.branches->notes.end());
  }
  for (const std::string& note : report.notes) say(Remark{note, {}, {}}, "note", system);
  const bool nothing = report.equilibria.empty() && (!report.branches || report.branches->branches.empty());
  if (nothing && !trouble.empty()) say(Remark{trouble, {}, {}}, "error", system);
  const std::string json = o.json || to_json ? equilibrium_json(searched, report) : std::string();
  if (!o.output.empty()) {
    const auto sink = make_file_sink(o.output);
    sink->append(to_json ? json : report.branches ? branches_csv(searched, report) : equilibria_csv(searched, report));
    sink->finish();
  }
  o.json ? write_out(json) : show(equilibrium_text(searched, report));
  return nothing ? Exit::refused : Exit::done;
}

}  // namespace mechanician
