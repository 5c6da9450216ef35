#include "mechanician/plot/stored_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unordered_map>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/model/inside_folder.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/plot/result_source.hpp"

namespace mechanician {

namespace {

/// Times that differ by less than this part of the way to the next row are one time that was rounded twice.
constexpr double same_time = 1e-6;

/// The row at a time; rows of both sides of an impact have one time, and the later one is where the motion goes on.
std::size_t find_row(const std::string& file, const std::vector<double>& times, double at) {
  const auto after = std::upper_bound(times.begin(), times.end(), at);
  const auto above = static_cast<std::size_t>(after - times.begin());
  double gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = std::max<std::size_t>(above, 2) - 2; i + 1 < times.size() && i <= above; ++i)
    if (times[i + 1] > times[i]) gap = std::min(gap, times[i + 1] - times[i]);
  if (!std::isfinite(gap)) gap = 0.0;
  const double near = std::max(same_time * gap, 4.0 * std::numeric_limits<double>::epsilon() * std::abs(at));
  if (above < times.size() && times[above] - at <= near) {
    std::size_t row = above;
    while (row + 1 < times.size() && times[row + 1] == times[above]) ++row;
    return row;
  }
  if (above > 0 && at - times[above - 1] <= near) return above - 1;
  const std::string what = above == 0 ? fmt::format("it begins at t = {}", number_text(times.front()))
                           : above == times.size()
                               ? fmt::format("it ends at t = {}", number_text(times.back()))
                               : fmt::format("its rows beside it are at t = {} and {}", number_text(times[above - 1]),
                                             number_text(times[above]));
  throw FileError(fmt::format("{}: there is no row at t = {}: {}", file, number_text(at), what));
}

/// Columns that say which stage a motion is in.
struct StageColumns {
  struct Column {
    std::string name;
    bool is_mode;
    double at_start;
    std::size_t at;
  };
  std::vector<Column> columns;
  std::vector<std::string> missing;
};

StageColumns find_stage_columns(const System& system, const std::unordered_map<std::string, std::size_t>& place) {
  StageColumns found;
  if (!system.is_staged()) return found;
  const auto want = [&](const std::string& column, const std::string& name, bool is_mode, double at_start) {
    if (const auto there = place.find(column); there != place.end())
      found.columns.push_back({name, is_mode, at_start, there->second});
    else
      found.missing.push_back(column);
  };
  const Model& model = system.model();
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (model.parameters[i].is_mode)
      want(model.parameters[i].name, model.parameters[i].name, true, system.parameters()[i]);
  const std::vector<char> engaged = engaged_at_start(model);
  const std::vector<int> rows = rows_that_change(model);
  const std::vector<std::string> names = names_that_change(model);
  for (std::size_t k = 0; k < rows.size(); ++k)
    want(fmt::format("engaged({})", names[k]), names[k], false, engaged[static_cast<std::size_t>(rows[k])] ? 1.0 : 0.0);
  return found;
}

}  // namespace

void begin_as_stored(System& system, const StoredState& stored) {
  if (!stored.modes.empty()) {
    std::vector<double> values = system.parameters();
    for (const auto& [name, value] : stored.modes)
      for (std::size_t i = 0; i < values.size(); ++i)
        if (system.model().parameters[i].name == name) values[i] = value;
    system.set_parameters(values);
  }
  if (stored.engaged.empty()) return;
  std::vector<char> engaged = engaged_at_start(system);
  const std::vector<int> rows = rows_that_change(system.model());
  const std::vector<std::string> names = names_that_change(system.model());
  for (const auto& [name, value] : stored.engaged)
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (names[k] == name) engaged[static_cast<std::size_t>(rows[k])] = value != 0.0;
  system.set_engaged(std::move(engaged));
}

StoredState read_stored_state(const System& system, const std::string& file, std::optional<double> at) {
  const std::unique_ptr<ResultSource> source = open_result(file);
  const std::vector<std::string>& columns = source->columns();
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < columns.size(); ++i) place.emplace(columns[i], i);
  std::vector<std::size_t> wanted;
  std::vector<std::string> missing;
  const auto want = [&](const std::string& name) {
    if (const auto found = place.find(name); found != place.end())
      wanted.push_back(found->second);
    else
      missing.push_back(name);
  };
  want("t");
  std::vector<char> is_state(static_cast<std::size_t>(system.n()), 0);  // whose rates nobody gives
  for (const StateRow& z : system.states()) is_state[static_cast<std::size_t>(z.coordinate)] = 1;
  for (const char* prime : {"", "'"})
    for (int i = 0; i < system.n(); ++i)
      if (*prime == '\0' || !is_state[static_cast<std::size_t>(i)]) want(system.coordinate(i) + prime);
  if (!missing.empty())
    throw FileError(
        fmt::format("{}: the result has no column {}: the motion cannot go on from it", file, quote_list(missing, 6)));
  // Sampled control goes on with what it holds, where the columns for that are there.
  std::vector<std::size_t> held;
  if (!system.kernels() && system.equations().control.every) {
    std::vector<std::string> names;
    for (const auto& actuator : system.equations().control.actuators)
      names.push_back(fmt::format("tau({})", actuator.name));
    for (int i = 0; i < system.n() && system.equations().control.actuators.empty(); ++i)
      if (!is_state[static_cast<std::size_t>(i)]) names.push_back(fmt::format("Qcontrol({})", system.coordinate(i)));
    for (const std::string& name : names)
      if (const auto found = place.find(name); found != place.end()) held.push_back(found->second);
    if (held.size() < names.size()) held.clear();
    wanted.insert(wanted.end(), held.begin(), held.end());
  }
  const StageColumns stage = find_stage_columns(system, place);
  for (const StageColumns::Column& c : stage.columns) wanted.push_back(c.at);
  const ResultRows rows = source->read(wanted);
  const std::vector<double>& times = rows.columns.front();
  if (times.empty()) throw FileError(fmt::format("{}: the result has no row", file));
  if (!std::is_sorted(times.begin(), times.end()))
    throw FileError(fmt::format("{}: its times do not grow from row to row", file));
  const std::size_t row = at ? find_row(file, times, *at) : times.size() - 1;
  const int n = system.n();
  StoredState result{.state = {times[row], Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)}, .remark = rows.remark};
  std::size_t k = 0;
  for (int i = 0; i < 2 * n; ++i) {
    if (i >= n && is_state[static_cast<std::size_t>(i - n)]) continue;
    const double x = rows.columns[1 + k][row];
    if (!std::isfinite(x))
      throw FileError(fmt::format("{}: `{}` has no value in the row at t = {}", file, columns[wanted[1 + k]],
                                  number_text(times[row])));
    (i < n ? result.state.q : result.state.qd)(i % n) = x;
    ++k;
  }
  for (std::size_t i = 0; i < held.size(); ++i) result.held.push_back(rows.columns[1 + k + i][row]);
  for (std::size_t i = 0; i < stage.columns.size(); ++i) {
    const StageColumns::Column& c = stage.columns[i];
    const double x = rows.columns[1 + k + held.size() + i][row];
    if (!std::isfinite(x) || x == c.at_start) continue;
    (c.is_mode ? result.modes : result.engaged).push_back({c.name, x});
    const std::string what = c.is_mode  ? fmt::format("`{}` = {}", c.name, number_text(x))
                             : x != 0.0 ? fmt::format("`{}` engaged", c.name)
                                        : fmt::format("`{}` released", c.name);
    result.begins_otherwise += (result.begins_otherwise.empty() ? "" : ", ") + what;
  }
  if (!stage.missing.empty())
    result.remark += fmt::format("{}it has no column {}, which begins as the model says",
                                 result.remark.empty() ? "" : "; ", quote_list(stage.missing, 6));
  if (!held.empty() && system.equations().control.actuators.empty())  // states of first order are not forced
    for (const StateRow& z : system.states()) result.held.insert(result.held.begin() + z.coordinate, 0.0);
  if (!std::all_of(result.held.begin(), result.held.end(), [](double x) { return std::isfinite(x); }))
    result.held.clear();
  system.set_state_rates(result.state);
  return result;
}

StoredState find_start(const System& system) {
  const StartRules rules = system.start_rules();
  if (!rules.from) return {.state = system.start(), .remark = {}};
  const FileBeside beside = file_beside(system.source().file, rules.from->file, "a result");
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw ModelError({{rules.from->place, why, hint}}, system.source());
  };
  if (!beside.problem.empty()) refuse(beside.problem, beside.hint);
  if (std::error_code error; !std::filesystem::exists(beside.path, error))
    refuse(fmt::format("there is no file {}", quote_list(std::vector{rules.from->file})),
           "it is written by `mechanician run MODEL -o FILE`; --from FILE takes another one");
  return read_stored_state(system, beside.path, rules.from->at);
}

}  // namespace mechanician
