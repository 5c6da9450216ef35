// check and accelerate of models with families that are too large to be written out member by member.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/large_loading.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/large/large_motion.hpp"
#include "mechanician/output/json_writer.hpp"

namespace mechanician {

namespace {

constexpr int most_names = 10;

/// "a, b, c and 7 others"
std::string names_of(const LargeSystem& system, const std::vector<int>& rows) {
  std::string text;
  for (std::size_t k = 0; k < rows.size() && k < most_names; ++k) text += (k == 0 ? "" : ", ") + system.row_name(rows[k]);
  if (rows.size() > most_names) text += fmt::format(" and {} others", rows.size() - most_names);
  return text;
}

}  // namespace

std::optional<Exit> check_large(const CommandOptions& options) {
  auto large = load_large(options);
  if (!large) return std::nullopt;
  LargeSystem& system = large->system;
  LargeDynamics dynamics(system);
  std::vector<double> qdd(large->start.q.size());
  const bool vouched = dynamics.accelerate(large->start.t, large->start.q.data(), large->start.qd.data(), qdd.data());
  const auto off = dynamics.calc_violation(large->start.t, large->start.q.data(), large->start.qd.data());
  const std::vector<int> dependent = dynamics.dependent_rows();
  const bool on = std::max(off.position, off.velocity) <= 1e-8;
  const int rank = system.m() - static_cast<int>(dependent.size());
  const bool decided = dynamics.result().num_grey == 0;  // else a row may or may not depend on others
  if (options.json) {
    std::vector<std::string> names;
    for (const int row : dependent) names.push_back(system.row_name(row));
    JsonWriter json;
    json.begin_object().key("coordinates").value(system.n()).key("rows").value(system.m());
    if (decided)
      json.key("rank").value(rank).key("degrees_of_freedom").value(system.n() - rank);
    else
      json.key("rank").null().key("degrees_of_freedom").null();
    json.key("redundant").list(names).key("consistent").value(vouched).key("start_residual").value(std::max(off.position, off.velocity)).end_object();
    write_out(json.text());
  } else {
    std::string text = system.model().title.empty() ? "" : system.model().title + "\n";
    text += fmt::format("  coordinates           {} ({} … {})\n  constraint rows       {}\n", system.n(), system.model().name_of(0), system.model().name_of(system.n() - 1), system.m());
    text += fmt::format("  entries               {} of M, {} of A\n\n", system.M_pattern().size(), system.A_pattern().size());
    if (decided) {
      text += fmt::format("  rank                  {} of {} rows\n  degrees of freedom    {}\n", rank, system.m(), system.n() - rank);
      text += fmt::format("  dependent rows        {}\n", dependent.empty() ? "none" : names_of(system, dependent));
    } else {
      text += "  rank                  not decided\n";
    }
    text += fmt::format("  acceleration          {}\n", vouched ? "unique" : dynamics.why());
    text += fmt::format("  start                 largest residual {}{}\n", short_number(std::max(off.position, off.velocity)),
                        off.worst >= 0 && !on ? fmt::format(", of {}", system.row_name(off.worst)) : "");
    write_out(text);
  }
  if (!on) fmt::print(stderr, "{}: error: the start is off the constraints\n", system.model().source.file);
  if (!vouched) fmt::print(stderr, "{}: error: {}\n", system.model().source.file, dynamics.why());
  return on && vouched ? Exit::done : Exit::refused;
}

std::optional<Exit> accelerate_large(const CommandOptions& options) {
  auto large = load_large(options);
  if (!large) return std::nullopt;
  if (options.parts || options.explain || options.form != Form::automatic)
    throw UsageError("--parts, --explain and --form are for models of at most 1,000 coordinates");
  LargeSystem& system = large->system;
  LargeDynamics dynamics(system);
  std::vector<double> qdd(large->start.q.size());
  if (!dynamics.accelerate(large->start.t, large->start.q.data(), large->start.qd.data(), qdd.data())) {
    fmt::print(stderr, "{}: error: {}\n", system.model().source.file, dynamics.why());
    return Exit::refused;
  }
  const auto off = dynamics.calc_violation(large->start.t, large->start.q.data(), large->start.qd.data());
  const std::vector<int>& dependent = dynamics.dependent_rows();
  if (options.json) {
    JsonWriter json;
    const auto named = [&](const char* key, const std::vector<double>& x) {
      json.key(key).begin_object();
      for (std::size_t i = 0; i < x.size(); ++i) json.key(system.model().name_of(static_cast<long>(i))).value(x[i]);
      json.end_object();
    };
    json.begin_object().key("time").value(large->start.t);
    named("position", large->start.q), named("velocity", large->start.qd), named("acceleration", qdd);
    named("constraint_force", dynamics.calc_constraint_force());
    json.key("multipliers");
    if (dependent.empty()) {
      json.begin_object();
      for (int j = 0; j < system.m(); ++j) json.key(system.row_name(j)).value(dynamics.multipliers()[static_cast<std::size_t>(j)]);
      json.end_object();
    } else {
      json.null();
    }
    std::vector<std::string> names;
    for (const int row : dependent) names.push_back(system.row_name(row));
    json.key("multipliers_unique").value(dependent.empty()).key("rank").value(system.m() - static_cast<int>(dependent.size())).key("rows").value(system.m());
    json.key("redundant").list(names).key("unique").value(true).key("consistent").value(true);
    json.key("constraint_residual").value(std::max(off.position, off.velocity)).end_object();
    write_out(json.text());
    return Exit::done;
  }
  constexpr int shown = 20;
  std::string text = fmt::format("t = {}\n\n  {:14} {:>14} {:>14} {:>14}\n", short_number(large->start.t), "coordinate", "position", "velocity", "acceleration");
  for (int i = 0; i < std::min(shown, system.n()); ++i) {
    const auto k = static_cast<std::size_t>(i);
    text += fmt::format("  {:14} {:>14} {:>14} {:>14}\n", system.model().name_of(i), short_number(large->start.q[k]), short_number(large->start.qd[k]), short_number(qdd[k]));
  }
  if (system.n() > shown) text += fmt::format("  … and {} others; --json has them all\n", system.n() - shown);
  text += fmt::format("\n  rank {} of {} rows, largest constraint residual {}\n", system.m() - static_cast<int>(dependent.size()), system.m(),
                      short_number(std::max(off.position, off.velocity)));
  if (!dependent.empty()) text += fmt::format("  dependent rows: {}\n", names_of(system, dependent));
  write_out(text);
  return Exit::done;
}

}  // namespace mechanician
