#include "mechanician/plot/plot_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/plot/between_rows.hpp"

namespace mechanician {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The columns that are needed, each once.
class Needed {
 public:
  std::size_t add(std::size_t column) {
    const auto [at, is_new] = places_.try_emplace(column, columns.size());
    if (is_new) columns.push_back(column);
    return at->second;
  }
  void add(const Shown& shown) {
    for (const std::size_t column : shown.columns) add(column);
  }
  std::vector<std::size_t> columns;

 private:
  std::unordered_map<std::size_t, std::size_t> places_;
};

/// Places of names; of equal ones, the first.
using NamePlaces = std::unordered_map<std::string, std::size_t>;
NamePlaces places_of(const std::vector<std::string>& names) {
  NamePlaces places;
  for (std::size_t i = 0; i < names.size(); ++i) places.try_emplace(names[i], i);
  return places;
}

bool is_jump(const ResultEvent& e) {
  return std::isfinite(e.time) && !e.velocity_after.empty() && e.velocity_before != e.velocity_after;
}

/// What an event says of a column: a member of its vectors.
struct KnownAtEvent {
  enum class What { nothing, time, position, velocity } what = What::nothing;
  std::size_t coordinate = 0;

  double of(const ResultEvent& e, const std::vector<double>& velocity) const {
    const auto at = [&](const std::vector<double>& x) { return coordinate < x.size() ? x[coordinate] : unknown; };
    switch (what) {
      case What::time:
        return e.time;
      case What::position:
        return at(e.position);
      case What::velocity:
        return at(velocity);
      case What::nothing:
        break;
    }
    return unknown;
  }
};

KnownAtEvent known_at_event(const std::string& name, const NamePlaces& coordinates) {
  if (name == "t") return {KnownAtEvent::What::time, 0};
  if (const auto found = coordinates.find(name); found != coordinates.end())
    return {KnownAtEvent::What::position, found->second};
  if (name.empty() || name.back() != '\'') return {};
  const auto found = coordinates.find(name.substr(0, name.size() - 1));
  return found == coordinates.end() ? KnownAtEvent{} : KnownAtEvent{KnownAtEvent::What::velocity, found->second};
}

/// Reads the derivatives of columns too: `x'` for `x`.
std::vector<DerivativePair> add_derivatives(Needed& needed, const std::vector<std::string>& names) {
  std::vector<DerivativePair> pairs;
  const std::size_t shown = needed.columns.size();
  const NamePlaces places = places_of(names);
  for (std::size_t i = 0; i < shown; ++i)
    if (const auto found = places.find(names[needed.columns[i]] + "'"); found != places.end())
      pairs.push_back({i, needed.add(found->second)});
  return pairs;
}

/// Rows of before and after each jump among the rows of the result. A row at the very time is of before.
std::vector<char> insert_jumps(ResultRows& rows, std::size_t time, const std::vector<KnownAtEvent>& known) {
  const std::vector<double> t = rows.columns[time];
  std::vector<char> jump;
  std::vector<std::vector<double>> merged(rows.columns.size());
  const auto copy_row = [&](std::size_t row) {
    for (std::size_t c = 0; c < merged.size(); ++c) merged[c].push_back(rows.columns[c][row]);
    jump.push_back(0);
  };
  const auto add_row = [&](const ResultEvent& e, const std::vector<double>& velocity) {
    for (std::size_t c = 0; c < merged.size(); ++c) merged[c].push_back(known[c].of(e, velocity));
    jump.push_back(0);
  };
  std::size_t row = 0;
  for (const ResultEvent& e : rows.events) {
    if (!is_jump(e)) continue;
    while (row < t.size() && !(t[row] > e.time)) copy_row(row++);
    if (merged[time].empty() || merged[time].back() != e.time) add_row(e, e.velocity_before);
    jump.back() = 1;
    add_row(e, e.velocity_after);
  }
  while (row < t.size()) copy_row(row++);
  rows.columns = std::move(merged);
  return jump;
}

std::vector<double> values_of(const Shown& shown, const ResultRows& rows, Needed& needed) {
  if (!shown.formula) return rows.columns[needed.add(shown.columns.front())];
  std::vector<std::size_t> from;
  for (const std::size_t column : shown.columns) from.push_back(needed.add(column));
  const Tape& tape = *shown.formula;
  std::vector<double> result(rows.columns.front().size()), inputs(from.size()),
      registers(static_cast<std::size_t>(tape.num_registers()));
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t i = 0; i < from.size(); ++i) inputs[i] = rows.columns[from[i]][row];
    tape.evaluate<double>(inputs, registers, std::span(&result[row], 1));
    // A comparison with what is not there is not false: it is not there either.
    for (const double x : inputs)
      if (std::isnan(x)) result[row] = unknown;
  }
  return result;
}

/// Where a time lies among the rows; negative outside them.
double row_at(const std::vector<double>& t, double time) {
  const auto after = std::lower_bound(t.begin(), t.end(), time);
  if (t.empty() || after == t.end() || time < t.front()) return -1.0;
  const auto i = static_cast<double>(after - t.begin());
  if (*after == time) return i;
  const double before = *(after - 1);
  return i - 1.0 + (time - before) / (*after - before);
}

}  // namespace

PlotData make_plot_data(ResultSource& source, const Shown& abscissa, const std::vector<std::vector<Shown>>& panels,
                        const PlotDataOptions& options) {
  Needed needed;
  const auto& names = source.columns();
  const auto found = std::find(names.begin(), names.end(), "t");
  const bool has_time = found != names.end();
  const std::size_t time = has_time ? needed.add(static_cast<std::size_t>(found - names.begin())) : 0;
  needed.add(abscissa);
  for (const auto& panel : panels)
    for (const Shown& shown : panel) needed.add(shown);
  std::vector<DerivativePair> pairs;
  if (has_time && !options.straight) pairs = add_derivatives(needed, names);

  ResultRows rows = source.read(needed.columns);
  PlotData data;
  data.abscissa = abscissa.label;
  data.against_time = has_time && !abscissa.formula && needed.columns[time] == abscissa.columns.front();
  data.remark = rows.remark;
  data.jump.assign(rows.columns.front().size(), 0);
  std::stable_sort(rows.events.begin(), rows.events.end(),
                   [](const ResultEvent& a, const ResultEvent& b) { return a.time < b.time; });
  const bool ordered =
      has_time && std::is_sorted(rows.columns[time].begin(), rows.columns[time].end()) &&
      std::none_of(rows.columns[time].begin(), rows.columns[time].end(), [](double t) { return !std::isfinite(t); });
  if (ordered && std::any_of(rows.events.begin(), rows.events.end(), is_jump)) {
    std::vector<KnownAtEvent> known;
    const NamePlaces coordinates = places_of(rows.coordinates);
    for (const std::size_t column : needed.columns) known.push_back(known_at_event(names[column], coordinates));
    data.jump = insert_jumps(rows, time, known);
  }
  if (!ordered) pairs.clear();
  data.added = add_rows_between(rows.columns, time, pairs, data.jump);
  data.x = values_of(abscissa, rows, needed);
  for (const auto& panel : panels) {
    auto& curves = data.panels.emplace_back();
    for (const Shown& shown : panel) curves.push_back({shown.label, values_of(shown, rows, needed)});
  }
  if (ordered)
    for (const ResultEvent& e : rows.events)
      if (const double row = row_at(rows.columns[time], e.time); row >= 0.0)
        data.events.push_back({e.time, e.kind, safe_text(e.kind == "user" && !e.name.empty() ? e.name : e.kind), row});
  return data;
}

}  // namespace mechanician
