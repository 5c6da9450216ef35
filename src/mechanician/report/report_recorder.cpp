#include "mechanician/report/report_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

constexpr double bytes_of_double = 8.0 * 4.0 / 3.0, bytes_of_float = 4.0 * 4.0 / 3.0;
constexpr long at_event = -1;  // instead of its number in the order of rows
constexpr int rows_of_step = 10;
constexpr double rows_of_run = 600.0;  // at least, for motions of few steps

/// Smaller is kept longer.
int rank_of(const std::string& group) {
  static const std::map<std::string, int> ranks{{"t", 0},        {"energy", 1}, {"works", 1},  {"gap", 2},
                                                {"residual", 2}, {"q", 3},      {"states", 3}, {"outputs", 4},
                                                {"lambda", 5},   {"qd", 6},     {"Qi", 7},     {"Qni", 8},
                                                {"Qcontrol", 9}, {"qdd", 10},   {"Qc", 11}};
  const auto found = ranks.find(group);
  return found == ranks.end() ? 20 : found->second;
}

std::string group_of(const ColumnGroup& group) {
  if (group.quantity.starts_with("work_")) return "works";
  return group.quantity;
}

}  // namespace

ReportRecorder::ReportRecorder(const System& system, const RunSetup& setup, const std::optional<View>& view,
                               const ReportLimits& limits)
    : system_(system), setup_(setup), columns_(system), has_view_(view.has_value()) {
  if (view) program_ = ViewProgram(*view, system, columns_);
  add_columns();
  choose(limits);
}

void ReportRecorder::add_columns() {
  int index = 0;
  std::set<std::string> states;
  for (const StateRow& z : system_.states()) states.insert(system_.coordinate(z.coordinate));
  for (const ColumnGroup& group : columns_.groups())
    for (const std::string& name : group.names)
      all_.push_back({name, group.quantity == "q" && states.contains(name) ? "states" : group_of(group), index++});

  const Equations& eqs = system_.equations();
  const Model& model = system_.model();
  std::vector<Expr> wanted;
  const auto add = [&](std::string name, std::string group, const Expr& f) {
    all_.push_back({std::move(name), std::move(group), index++});
    wanted.push_back(f);
  };
  if (model.kinetic) add("kinetic", "energy", *model.kinetic);
  if (model.potential) add("potential", "energy", *model.potential);
  if (model.kinetic && model.potential) add("total", "energy", *model.kinetic + *model.potential);
  for (const Row& row : eqs.rows)
    if (row.level != Level::acceleration && row.kind == RowKind::constraint && !row.one_sided && !row.is_rate &&
        !row.bare)
      add(fmt::format("residual({})", row.name), "residual", row.residual);
  for (const Row& row : eqs.rows)
    if (row.one_sided) add(fmt::format("gap({})", row.name), "gap", row.residual);
  num_own_ = static_cast<int>(wanted.size());
  view_begin_ = index;
  wanted.insert(wanted.end(), program_.expressions().begin(), program_.expressions().end());

  inputs_.push_back(eqs.t);
  for (const auto* symbols : {&eqs.q, &eqs.qd, &eqs.qdd, &eqs.parameters})
    inputs_.insert(inputs_.end(), symbols->begin(), symbols->end());
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (model.parameters[i].is_mode) modes_.push_back(i);
  add_forces(wanted);
  tape_ = Tape(wanted, inputs_);
}

/// Forces that pictures use, of a sample.
void ReportRecorder::add_forces(const std::vector<Expr>& wanted) {
  const auto& contacts = system_.equations().contacts;
  for (const Expr& s : symbols_of(wanted)) {
    const Symbol& symbol = s.symbol();
    if ((kind_bit(symbol.kind) & all_forces) == 0) continue;
    Force force{symbol.kind, 0, 1};
    if ((kind_bit(symbol.kind) & forces_of_coordinates) != 0) {
      force.at = system_.find_coordinate(symbol.name);
    } else if (symbol.kind == SymbolKind::effort) {
      const auto& actuators = system_.equations().control.actuators;
      while (actuators[static_cast<std::size_t>(force.at)].name != symbol.name) ++force.at;
    } else if (symbol.kind == SymbolKind::control_error) {
      while (system_.row_name(system_.m() + static_cast<int>(force.at)) != symbol.name) ++force.at;
    } else if (symbol.kind == SymbolKind::control_cost) {
      force.at = 0;
    } else if (symbol.kind != SymbolKind::friction) {
      while (system_.row_name(static_cast<int>(force.at)) != symbol.name) ++force.at;
    } else {
      for (const ContactRow& c : contacts) {
        force.count = static_cast<Eigen::Index>(c.slip.size());
        if (system_.row_name(c.row) == symbol.name) break;
        force.at += force.count;
      }
    }
    forces_.push_back(force);
    inputs_.push_back(s);
  }
}

double ReportRecorder::Force::of(const Sample& s) const {
  switch (kind) {
    case SymbolKind::ideal_force:
      return s.Qc_i(at);
    case SymbolKind::constraint_force:
      return s.Qc(at);
    case SymbolKind::control_force:
      return s.Q_control(at);
    case SymbolKind::effort:
      return s.tau(at);
    case SymbolKind::control_error:
      return s.error(at);
    case SymbolKind::control_cost:
      return s.cost;
    case SymbolKind::power:
      return s.power(at);
    case SymbolKind::work:
      return s.works.constraints(at);
    case SymbolKind::friction:
      return s.friction.segment(at, count).norm();
    default:
      return s.multipliers(at);
  }
}

void ReportRecorder::choose(const ReportLimits& limits) {
  const auto room = static_cast<double>(limits.bytes);
  const double of_view = bytes_of_float * program_.num_values();
  // How many columns leave room for so many rows; the time and one more always do.
  const double rows = static_cast<double>(limits.least_rows);
  const double fit = (room / rows - of_view) / bytes_of_double;
  const auto count =
      static_cast<std::size_t>(std::clamp(fit, 2.0, static_cast<double>(std::max<std::size_t>(all_.size(), 2))));
  kept_ = all_;
  if (kept_.size() > count) {
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const ReportColumn& a, const ReportColumn& b) { return rank_of(a.group) < rank_of(b.group); });
    kept_.resize(count);
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const ReportColumn& a, const ReportColumn& b) { return a.index < b.index; });
  }
  const double of_row = of_view + bytes_of_double * static_cast<double>(kept_.size());
  most_rows_ = std::clamp<std::size_t>(static_cast<std::size_t>(room / of_row), 4, limits.most_rows);
}

void ReportRecorder::keep_groups(std::span<const std::string> groups) {
  std::erase_if(
      kept_, [&](const ReportColumn& c) { return std::find(groups.begin(), groups.end(), c.group) == groups.end(); });
}

void ReportRecorder::take(const Sample& sample, long order) {
  std::vector<double> row, inputs{sample.t};
  columns_.fill_row(sample, row);
  const auto append = [&](const auto& x) { inputs.insert(inputs.end(), x.data(), x.data() + x.size()); };
  append(sample.q), append(sample.qd), append(sample.qdd);
  std::vector<double> parameters = system_.parameters();
  for (std::size_t i = 0; i < modes_.size() && sample.modes.size() > 0; ++i)
    parameters[modes_[i]] = sample.modes(static_cast<Eigen::Index>(i));
  append(parameters);
  for (const Force& force : forces_) inputs.push_back(force.of(sample));
  inputs.resize(inputs_.size(), std::nan(""));
  std::vector<double> values = tape_(std::span<const double>(inputs));
  row.insert(row.end(), values.begin(), values.begin() + num_own_);
  values.erase(values.begin(), values.begin() + num_own_);
  program_.complete(values);
  row.insert(row.end(), values.begin(), values.end());
  rows_.push_back(std::move(row));
  order_.push_back(order);
  last_ = sample.t;
  if (rows_.size() >= most_rows_) thin();
}

void ReportRecorder::thin() {
  stride_ *= 2;
  // Events stay, unless they are most of what there is.
  const auto num_events = static_cast<std::size_t>(std::count(order_.begin(), order_.end(), at_event));
  events_wanted_ = events_wanted_ && num_events <= most_rows_ / 4;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (order_[i] == at_event ? !events_wanted_ : order_[i] % stride_ != 0) continue;
    if (kept != i) rows_[kept] = std::move(rows_[i]);
    order_[kept++] = order_[i];
  }
  rows_.resize(kept);
  order_.resize(kept);
  last_ = rows_.back()[0];
}

void ReportRecorder::look(Integrator& integrator) {
  if (rows_.empty()) {
    take(integrator.sample(setup_.start.t), 0);
    counter_ = 1;
  }
  const double begin = integrator.step_begin(), end = std::min(integrator.t(), setup_.motion.to);
  if (!(end > begin)) return;
  std::vector<std::pair<double, long>> wanted;
  for (; num_events_ < integrator.events().size(); ++num_events_)
    if (const double t = integrator.events()[num_events_].time; t >= begin && t <= end)
      wanted.emplace_back(t, at_event);
  if (setup_.every) {
    // counter_ counts the rows of the result; one that all but coincides with the end is left to the end.
    const double last = setup_.motion.to - 1e-6 * *setup_.every;
    for (;; ++counter_) {
      const double t = setup_.start.t + static_cast<double>(counter_) * *setup_.every;
      if (!(t <= end) || t >= last) break;
      if (counter_ % stride_ == 0 && t >= begin) wanted.emplace_back(t, counter_);
    }
  } else {
    const double widest = (setup_.motion.to - setup_.start.t) / rows_of_run;
    const int count = static_cast<int>(std::clamp(std::ceil((end - begin) / widest), double{rows_of_step}, 1e6));
    for (int k = 1; k <= count; ++k, ++counter_)
      if (counter_ % stride_ == 0) wanted.emplace_back(k == count ? end : begin + (end - begin) * k / count, counter_);
  }
  std::sort(wanted.begin(), wanted.end());
  for (const auto& [t, order] : wanted) {
    if (order == at_event ? !events_wanted_ : order % stride_ != 0) continue;  // thinned since
    if (t > last_) take(integrator.sample(t), order);
  }
}

void ReportRecorder::finish(Integrator& integrator) {
  const double end = std::min(integrator.t(), setup_.motion.to);
  if (rows_.empty() || end > last_) take(integrator.sample(end), 0);
}

std::string ReportRecorder::spacing() const {
  if (!setup_.every) return stride_ == 1 ? "several to a step" : fmt::format("thinned to one in {}", stride_);
  if (stride_ == 1) return fmt::format("every {}", short_number(*setup_.every));
  return fmt::format("every {}, one in {} of the result", short_number(*setup_.every * static_cast<double>(stride_)),
                     stride_);
}

}  // namespace mechanician
