// check, accelerate and run of models with families that are too large to be written out member by member.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/progress.hpp"
#include "mechanician/large/large_motion.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/result/result_writer.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

/// From here on dense factorisations take too long.
constexpr long many_coordinates = 1000;
/// Models of up to so many that need what only the ordinary path has are read by it.
constexpr long most_for_the_ordinary_path = 3000;
constexpr int most_names = 10;

struct Large {
  LargeSystem system;
  LargeSystem::Start start;
};

std::optional<Large> load_large(const CommandOptions& options) {
  if (options.model.empty()) return std::nullopt;  // --resume
  const ParameterOverrides set(options.set.begin(), options.set.end());
  const long count = count_family_coordinates(options.model, set);
  if (count <= many_coordinates) return std::nullopt;
  try {
    LargeSystem system(read_family_model(options.model, set));
    LargeSystem::Start start = system.start();
    for (const auto& [values, option, to] : {std::tuple(&options.position, "--position", &start.q), std::tuple(&options.velocity, "--velocity", &start.qd)})
      for (const auto& [name, value] : *values) {
        const long number = system.model().find(name);
        if (number < 0) throw UsageError(fmt::format("{}: the model has no coordinate `{}`", option, name));
        (*to)[static_cast<std::size_t>(number)] = value;
      }
    if (!options.time.empty()) start.t = parse_number(options.time, "--time");
    return Large{std::move(system), std::move(start)};
  } catch (const ModelError&) {
    if (count <= most_for_the_ordinary_path) return std::nullopt;
    throw;
  }
}

/// "a, b, c and 7 others"
std::string names_of(const LargeSystem& system, const std::vector<int>& rows) {
  std::string text;
  for (std::size_t k = 0; k < rows.size() && k < most_names; ++k) text += (k == 0 ? "" : ", ") + system.row_name(rows[k]);
  if (rows.size() > most_names) text += fmt::format(" and {} others", rows.size() - most_names);
  return text;
}

/// What a row of the result holds.
struct Column {
  enum class Of : std::uint8_t { position, velocity, acceleration, multiplier, residual, work_given, work_ideal } of;
  std::size_t index = 0;
  std::string name;
};

std::vector<Column> choose_columns(const LargeSystem& system, const std::string& patterns) {
  const std::vector<std::string_view> wanted = patterns.empty() ? std::vector<std::string_view>{} : split_list(patterns);
  std::vector<bool> used(wanted.size(), false);
  std::vector<Column> columns;
  const auto offer = [&](Column::Of of, std::size_t index, std::string name) {
    bool take = wanted.empty();
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (fits_pattern(wanted[k], name)) take = true, used[k] = true;
    if (take) columns.push_back({of, index, std::move(name)});
  };
  const auto n = static_cast<std::size_t>(system.n()), m = static_cast<std::size_t>(system.m());
  for (const auto& [of, primes] : {std::pair(Column::Of::position, ""), std::pair(Column::Of::velocity, "'"), std::pair(Column::Of::acceleration, "''")})
    for (std::size_t i = 0; i < n; ++i) offer(of, i, system.model().name_of(static_cast<long>(i)) + primes);
  for (std::size_t j = 0; j < m; ++j) offer(Column::Of::multiplier, j, fmt::format("lambda({})", system.row_name(static_cast<int>(j))));
  offer(Column::Of::residual, 0, "residual"), offer(Column::Of::work_given, 0, "work_given"), offer(Column::Of::work_ideal, 0, "work_ideal");
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (!used[k]) throw UsageError(fmt::format("--columns: no column is called `{}`", wanted[k]));
  return columns;
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

std::optional<Exit> run_large(const CommandOptions& options) {
  auto large = load_large(options);
  if (!large) {
    if (!options.columns.empty()) throw UsageError("--columns is for models of more than 1,000 coordinates");
    return std::nullopt;
  }
  LargeSystem& system = large->system;
  const RunSettings& settings = system.model().run;
  for (const auto& [given, name] : {std::pair(!options.report.empty(), "--report"), std::pair(options.verify, "--verify"), std::pair(!options.method.empty(), "--method"),
                                    std::pair(options.project_start, "--project-start"), std::pair(options.json, "--json")})
    if (given) throw UsageError(fmt::format("{} is not supported for a model of this size yet", name));
  if (!options.output.empty() && format_of(options.output) != ResultFormat::csv)
    throw UsageError(fmt::format("-o {}: results of a model of this size are written as .csv", options.output));
  const auto number = [&](const std::string& text, const char* what, std::optional<double> otherwise) { return text.empty() ? otherwise : parse_number(text, what); };
  const auto to = number(options.to, "--to", settings.to), every = number(options.every, "--every", settings.every);
  const double tolerance = *number(options.tolerance, "--tolerance", settings.tolerance);
  if (!to) throw ModelError({{{}, "nothing says how long the run is to be", "write `to = 10.0` in the section [run], or give --to 10"}}, system.model().source);
  if (!(*to > large->start.t)) throw UsageError(fmt::format("the run would end at t = {}, but it starts at t = {}", short_number(*to), short_number(large->start.t)));
  if (every && !(*every > 0.0)) throw UsageError("the time between two rows must be positive");
  if (!(tolerance > 0.0 && tolerance <= 0.1)) throw UsageError("the tolerance must be above 0 and at most 0.1, for example 1e-9");
  const std::vector<Column> columns = choose_columns(system, options.columns);

  LargeMotion motion(system, large->start, {.to = *to, .tolerance = tolerance});
  if (motion.failed()) {
    fmt::print(stderr, "{}: error: {}\n", system.model().source.file, motion.message());
    return Exit::refused;
  }
  const InterruptFlag interrupt;
  const auto sink = options.output.empty() ? make_standard_output_sink() : make_file_sink(options.output);
  std::string line = "t";
  for (const Column& c : columns) line += "," + (c.name.find(',') == std::string::npos ? c.name : "\"" + c.name + "\"");
  sink->append(line + "\n");
  const bool rates = std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.of == Column::Of::acceleration || c.of == Column::Of::multiplier; });
  std::vector<double> q(large->start.q.size()), qd(q), qdd(q);
  long rows = 0;
  const auto write = [&](double time) {
    motion.sample(time, q, qd);
    if (rates) motion.dynamics().accelerate(time, q.data(), qd.data(), qdd.data());
    const auto off = motion.dynamics().calc_violation(time, q.data(), qd.data());
    line.clear();
    append_number(line, time);
    for (const Column& c : columns) {
      line += ',';
      switch (c.of) {
        case Column::Of::position: append_number(line, q[c.index]); break;
        case Column::Of::velocity: append_number(line, qd[c.index]); break;
        case Column::Of::acceleration: append_number(line, qdd[c.index]); break;
        case Column::Of::multiplier: append_number(line, motion.dynamics().multipliers()[c.index]); break;
        case Column::Of::residual: append_number(line, std::max(off.position, off.velocity)); break;
        case Column::Of::work_given: append_number(line, motion.work_given()); break;
        case Column::Of::work_ideal: append_number(line, motion.work_constraints()); break;
      }
    }
    sink->append(line + "\n");
    ++rows;
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  ProgressBar bar(options.quiet ? ProgressBar::Mode::silent : ProgressBar::Mode::if_terminal);
  write(large->start.t);
  double last = large->start.t;
  for (long k = 1; !interrupt.raised() && motion.advance();) {
    if (every)
      for (double time; (time = large->start.t + static_cast<double>(k) * *every) <= motion.t(); ++k)
        if (time < *to) write(last = time);
    if (!every || motion.t() >= *to) write(last = motion.t());
    bar.update({large->start.t, motion.t(), *to, motion.certificate().steps, rows, seconds()});
  }
  if (last < motion.t()) write(motion.t());
  bar.clear();
  sink->finish();
  const LargeMotion::Certificate& c = motion.certificate();
  if (motion.failed()) fmt::print(stderr, "{}: error: {}\n", system.model().source.file, motion.message());
  if (!options.quiet) {
    fmt::print(stderr, "{}: t = {} to {} in {} steps, {} rejected, {} evaluations, {} rows, {:.3g} s\n",
               motion.failed() ? "stopped" : motion.t() < *to ? "interrupted" : "done", short_number(large->start.t), short_number(motion.t()), c.steps, c.rejected, c.evaluations,
               rows, seconds());
    fmt::print(stderr, "  largest constraint violation: {:.2g} in positions, {:.2g} in velocities\n", c.position_violation, c.velocity_violation);
    fmt::print(stderr, "  kinetic energy {} to {}; work of given forces {}, of constraints {}\n", short_number(c.kinetic_start), short_number(c.kinetic_end),
               short_number(c.work_given), short_number(c.work_constraints));
    fmt::print(stderr, "  balance of energy and work: {:.2g} at the end, at most {:.2g} (allowed {:.2g})\n", c.balance, c.balance_largest, c.balance_allowed);
    if (c.dependent_rows > 0) fmt::print(stderr, "  {} rows depend on others\n", c.dependent_rows);
    if (c.comes_near_singular())
      fmt::print(stderr, "  rows come within an angle of {:.1g} of depending on each other, near t = {}: the smooth motion is followed; other branches were not looked for\n",
                 c.smallest_angle, short_number(c.smallest_angle_at));
    fmt::print(stderr, "{}\n", c.holds() ? "the run passes its checks: constraints held, works and energy balance" : "the run does not pass its checks");
  }
  if (motion.failed()) return Exit::stopped;
  if (motion.t() < *to) return Exit::interrupted;
  return c.holds() ? Exit::done : Exit::suspect;
}

}  // namespace mechanician
