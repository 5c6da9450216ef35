// check and accelerate of models with families that are too large to be written out member by member.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/large_loading.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/large/large_instant.hpp"
#include "mechanician/output/json_writer.hpp"
#ifdef MECHANICIAN_PROGRAM_SPQR
#include "mechanician/suitesparse/sparse_rank.hpp"
#endif

namespace mechanician {

namespace {

constexpr std::size_t most_names = 20;
constexpr std::size_t most_sets = 5;

#ifdef MECHANICIAN_PROGRAM_SPQR
const SparseRankFinder rank_finder = [](const SparsePattern& pattern, std::span<const double> M,
                                        std::span<const double> A) {
  return find_sparse_rank(pattern, M, A).dependences;
};
#else
const SparseRankFinder rank_finder = nullptr;
#endif

/// "a, b, c and 7 others"
template <class Name>
std::string list_some(const std::vector<int>& items, Name&& name) {
  std::string text;
  for (std::size_t k = 0; k < items.size() && k < most_names; ++k) text += (k == 0 ? "" : ", ") + name(items[k]);
  if (items.size() > most_names) text += fmt::format(" and {} others", items.size() - most_names);
  return text;
}
std::string rows_of(const LargeSystem& system, const std::vector<int>& rows) {
  return list_some(rows, [&](int row) { return system.row_name(row); });
}
std::string coordinates_of(const LargeSystem& system, const std::vector<int>& coordinates) {
  return list_some(coordinates, [&](int i) { return system.model().name_of(i); });
}

/// "2 top − rod[2] + 0.5 rod[3] and 7 others"
std::string sum_of(const LargeSystem& system, const SparseDependence& d) {
  if (d.rows.empty()) return "0";
  std::string text;
  constexpr std::size_t most_terms = 6;
  for (std::size_t k = 0; k < d.rows.size() && k < most_terms; ++k) {
    const double c = d.coefficients[k];
    text += k == 0 ? (c < 0 ? "−" : "") : (c < 0 ? " − " : " + ");
    if (const std::string factor = short_number(std::abs(c)); factor != "1") text += factor + " ";
    text += system.row_name(d.rows[k]);
  }
  if (d.rows.size() > most_terms) text += fmt::format(" and {} others", d.rows.size() - most_terms);
  return text;
}

/// What rows depend on which and contradict, where there is something to say.
std::string describe_rows(const LargeSystem& system, const LargeInstant& instant) {
  const SparseDiagnosis& d = instant.rows;
  std::string text;
  for (std::size_t k = 0; k < d.depends.size() && k < most_sets; ++k)
    text += fmt::format("    {} = {}\n", system.row_name(d.depends[k].row), sum_of(system, d.depends[k]));
  if (d.depends.size() > most_sets)
    text += fmt::format("    … and {} others; --json has them all\n", d.depends.size() - most_sets);
  if (!d.explained) text += "    too many depend on each other: some may be named in place of others\n";
  if (!d.conflicts.empty()) {
    text += fmt::format("  contradictions        {}\n",
                        d.conflicts.size() == 1 ? "one set" : fmt::format("{} sets", d.conflicts.size()));
    for (std::size_t k = 0; k < d.conflicts.size() && k < most_sets; ++k)
      text += fmt::format("    {}\n", rows_of(system, d.conflicts[k]));
    if (d.conflicts.size() > most_sets)
      text += fmt::format("    … and {} others; --json has them all\n", d.conflicts.size() - most_sets);
  }
  if (!instant.undetermined.empty())
    text += fmt::format("  undetermined          {}\n", coordinates_of(system, instant.undetermined));
  return text;
}

/// Names, member by member, as the keys of the contract want them.
class LargeJson {
 public:
  explicit LargeJson(const LargeSystem& system) : system_(system) {}

  void by_coordinate(const char* key, const std::vector<double>& x, bool there = true) {
    json.key(key);
    if (!there) return void(json.null());
    json.begin_object();
    for (std::size_t i = 0; i < x.size(); ++i) json.key(system_.model().name_of(static_cast<long>(i))).value(x[i]);
    json.end_object();
  }
  void by_row(const char* key, const std::vector<double>& x, bool there) {
    json.key(key);
    if (!there) return void(json.null());
    json.begin_object();
    for (std::size_t j = 0; j < x.size(); ++j) json.key(system_.row_name(static_cast<int>(j))).value(x[j]);
    json.end_object();
  }
  void rows(const char* key, const std::vector<int>& list) {
    json.key(key);
    names(list);
  }
  void rank(const LargeInstant& instant) {
    json.key("rank");
    instant.rows.decided ? json.value(instant.rows.rank) : json.null();
  }
  /// redundant … undetermined
  void diagnosis(const LargeInstant& instant) {
    const SparseDiagnosis& d = instant.rows;
    rows("redundant", d.redundant);
    json.key("depends").begin_object();
    for (const SparseDependence& dependence : d.depends) {
      json.key(system_.row_name(dependence.row)).begin_object();
      for (std::size_t k = 0; k < dependence.rows.size(); ++k)
        json.key(system_.row_name(dependence.rows[k])).value(dependence.coefficients[k]);
      json.end_object();
    }
    json.end_object();
    json.key("depends_complete").value(d.explained);
    json.key("conflicts").begin_array();
    for (const std::vector<int>& set : d.conflicts) names(set);
    json.end_array();
    json.key("unique")
        .value(instant.unique)
        .key("solvable")
        .value(instant.solvable)
        .key("consistent")
        .value(d.consistent);
    std::vector<std::string> list;
    for (const int i : instant.undetermined) list.push_back(system_.model().name_of(i));
    json.key("undetermined").list(list);
    json.key("rank_doubtful").value(!d.decided);
  }
  JsonWriter json;

 private:
  void names(const std::vector<int>& list) {
    std::vector<std::string> text;
    for (const int row : list) text.push_back(system_.row_name(row));
    json.list(text);
  }
  const LargeSystem& system_;
};

const char* mass_word(const LargeInstant& instant) {
  return instant.mass_is_indefinite ? "indefinite" : instant.mass_is_definite ? "definite" : "semidefinite";
}

/// Why there is no acceleration, with the names that belong to it.
std::string explain_refusal(const LargeSystem& system, const LargeInstant& instant) {
  std::string why = instant.why;
  if (!instant.rows.conflicts.empty())
    why += ": " + rows_of(system, instant.rows.conflicts.front());
  else if (!instant.undetermined.empty())
    why += ": " + coordinates_of(system, instant.undetermined);
  else if (!instant.negative.empty())
    why += ", in the directions of " + coordinates_of(system, instant.negative);
  return why;
}

}  // namespace

std::optional<Exit> check_large(const CommandOptions& options) {
  auto large = load_large(options);
  if (!large) return std::nullopt;
  LargeSystem& system = large->system;
  const LargeInstant instant = examine(system, large->start.t, large->start.q, large->start.qd, rank_finder);
  const SparseDiagnosis& d = instant.rows;
  const bool on = instant.distance <= start_tolerance;
  if (options.json) {
    LargeJson out(system);
    out.json.begin_object()
        .key("title")
        .value(system.model().title)
        .key("coordinates")
        .value(system.n())
        .key("rows")
        .value(system.m());
    out.json.key("mass").value(mass_word(instant));
    out.rank(instant);
    out.json.key("degrees_of_freedom");
    d.decided ? out.json.value(system.n() - d.rank) : out.json.null();
    out.diagnosis(instant);
    out.json.key("constraint_residual").value(instant.violation).key("start_valid").value(on).end_object();
    write_out(out.json.text());
  } else {
    std::string text = system.model().title.empty() ? "" : system.model().title + "\n";
    text += fmt::format("  coordinates           {} ({} … {})\n  constraint rows       {}\n", system.n(),
                        system.model().name_of(0), system.model().name_of(system.n() - 1), system.m());
    text += fmt::format("  entries               {} of M, {} of A\n\n", system.M_pattern().size(),
                        system.A_pattern().size());
    if (d.decided)
      text += fmt::format("  rank                  {} of {} rows\n  degrees of freedom    {}\n", d.rank, system.m(),
                          system.n() - d.rank);
    else
      text += "  rank                  not decided\n";
    text += fmt::format("  dependent rows        {}\n",
                        d.redundant.empty() ? "none"
                        : d.redundant.size() > most_names
                            ? fmt::format("{}: {}", d.redundant.size(), rows_of(system, d.redundant))
                            : rows_of(system, d.redundant));
    text += describe_rows(system, instant);
    text += fmt::format("  acceleration          {}\n", instant.has_acceleration ? "unique" : instant.why);
    text +=
        fmt::format("  start                 largest residual {}{}\n", short_number(instant.violation),
                    instant.worst_row >= 0 && !on ? fmt::format(", of {}", system.row_name(instant.worst_row)) : "");
    show(text);
  }
  if (!on && std::isfinite(instant.distance))
    say("{}: error: the start is off the constraints, most of all off `{}`: residual {}\n", system.model().source.file,
        system.row_name(instant.worst_row), short_number(instant.violation));
  if (!instant.has_acceleration) say("{}: error: {}\n", system.model().source.file, explain_refusal(system, instant));
  return on && instant.has_acceleration ? Exit::done : Exit::refused;
}

std::optional<Exit> accelerate_large(const CommandOptions& options) {
  auto large = load_large(options);
  if (!large) return std::nullopt;
  if (options.parts || options.explain || options.form != Form::automatic)
    throw UsageError("--parts, --explain and --form are for models of at most 1,000 coordinates");
  LargeSystem& system = large->system;
  const LargeSystem::Start& start = large->start;
  const LargeInstant instant = examine(system, start.t, start.q, start.qd, rank_finder);
  const bool has = instant.has_acceleration;
  if (!has) say("{}: error: {}\n", system.model().source.file, explain_refusal(system, instant));
  if (instant.mass_is_indefinite) return Exit::refused;
  if (options.json) {
    LargeJson out(system);
    out.json.begin_object().key("time").value(start.t);
    out.by_coordinate("position", start.q), out.by_coordinate("velocity", start.qd);
    out.by_coordinate("acceleration", instant.qdd, has);
    out.by_coordinate("unconstrained_acceleration", instant.a, !instant.a.empty());
    out.by_coordinate("constraint_force", instant.constraint_force, has),
        out.by_coordinate("ideal_force", instant.constraint_force, has);
    const std::vector<double> zero(has ? start.q.size() : 0, 0.0);
    out.by_coordinate("nonideal_force", zero, has), out.by_coordinate("control_force", zero, has);
    out.by_row("multipliers", instant.multipliers, has);
    out.json.key("multipliers_unique").value(instant.rows.redundant.empty());
    out.rows("multipliers_undetermined", instant.rows.multipliers_undetermined);
    out.json.key("gaussian");
    instant.gaussian ? out.json.value(*instant.gaussian) : out.json.null();
    out.rank(instant);
    out.json.key("rows").value(system.m());
    out.diagnosis(instant);
    out.json.key("constraint_residual").value(instant.violation);
    out.json.key("solution_residual").value(std::max(instant.row_residual, instant.force_residual)).end_object();
    write_out(out.json.text());
    return has ? Exit::done : Exit::refused;
  }
  constexpr int shown = 20;
  std::string text = fmt::format("t = {}\n\n  {:14} {:>14} {:>14} {:>14}\n", short_number(start.t), "coordinate",
                                 "position", "velocity", "acceleration");
  for (int i = 0; i < std::min(shown, system.n()); ++i) {
    const auto k = static_cast<std::size_t>(i);
    text += fmt::format("  {:14} {:>14} {:>14} {:>14}\n", system.model().name_of(i), short_number(start.q[k]),
                        short_number(start.qd[k]), has ? short_number(instant.qdd[k]) : "–");
  }
  if (system.n() > shown) text += fmt::format("  … and {} others; --json has them all\n", system.n() - shown);
  text += instant.rows.decided ? fmt::format("\n  rank {} of {} rows", instant.rows.rank, system.m())
                               : std::string("\n  rank not decided");
  text += fmt::format(", largest constraint residual {}\n", short_number(instant.violation));
  if (!instant.rows.redundant.empty())
    text += fmt::format("  dependent rows: {}\n", rows_of(system, instant.rows.redundant));
  text += describe_rows(system, instant);
  show(text);
  return has ? Exit::done : Exit::refused;
}

}  // namespace mechanician
