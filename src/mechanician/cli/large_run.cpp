// run of models with families that are too large to be written out member by member.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/large_loading.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/progress.hpp"
#include "mechanician/large/large_motion.hpp"
#include "mechanician/result/result_writer.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

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
