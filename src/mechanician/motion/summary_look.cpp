#include "mechanician/motion/summary_look.hpp"

#include <algorithm>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/motion/step_box.hpp"

namespace mechanician {

namespace {
using Hidden = Varying<SeenBy::but_kinks_by_step>;
}

std::unique_ptr<SummaryLook> SummaryLook::make(const System& system, const MotionOptions& options, double start) {
  const std::vector<SummaryItem> all = options.summarise ? system.summary() : std::vector<SummaryItem>{};
  std::vector<SummaryItem> items;
  std::vector<double> from;
  std::vector<std::size_t> from_end;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!options.summarise_only.empty() && !options.summarise_only[k]) continue;
    // What robust control has come to is looked at in the second half of the run (NAME_error, which the reader adds where the requirement
    // stands).
    const auto is_error = [&](int row) {
      const Place& place = system.row(row).place;
      return all[k].name == system.row_name(row) + "_error" && all[k].place.line == place.line &&
             all[k].place.column == place.column;
    };
    bool late = false;
    for (int j = 0; j < system.num_control(); ++j) late = late || is_error(system.m() + j);
    items.push_back(all[k]);
    from.push_back(late ? start + 0.5 * (options.to - start) : start);
    from_end.push_back(all.size() - k);
  }
  if (items.empty()) return nullptr;
  std::unique_ptr<SummaryLook> made(
      new SummaryLook(SummaryWatch(std::move(items), start, options.tolerance, std::move(from)), std::move(from_end)));
  made->take_tape(system);
  return made;
}

void SummaryLook::take_tape(const System& system) {
  if (system.kernels() || system.is_staged()) return;
  const Model& model = system.model();
  const Equations& eqs = system.equations();
  std::vector<Expr> values, inputs{eqs.t};
  // Errors of requirements are what their rows leave.
  std::vector<Replacement> errors;
  for (const Row& row : eqs.rows)
    if (row.kind == RowKind::control)
      errors.push_back({make_symbol(SymbolKind::control_error, row.name), row.residual});
  for (const std::size_t back : from_end_)
    values.push_back(substitute(model.outputs[model.outputs.size() - back].value, errors));
  constexpr KindSet solved = all_forces | kind_bit(SymbolKind::acceleration);
  if (std::any_of(values.begin(), values.end(), [](const Expr& f) { return (f.kinds() & solved) != 0; })) return;
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) inputs.insert(inputs.end(), part->begin(), part->end());
  tape_ = Tape(values, inputs);
  inputs_.resize(inputs.size());
  registers_.resize(static_cast<std::size_t>(tape_.num_registers()));
  box_.assign(inputs.size(), Interval::everything());
  for (const Hidden& f : room_.evaluate<Hidden>(tape_, box_)) can_hide_ |= f.unseen != 0.0;
}

void SummaryLook::calc(MotionSteps& steps, double t, std::span<double> f) {
  if (tape_.num_outputs() > 0)
    if (const double* const y = steps.state_at(t)) {
      const System& system = *steps.system;
      inputs_[0] = t;
      std::copy_n(y, 2 * system.n(), inputs_.begin() + 1);
      std::copy(system.parameters().begin(), system.parameters().end(), inputs_.begin() + 1 + 2 * system.n());
      tape_.evaluate<double>(inputs_, registers_, f);
      return;
    }
  const Eigen::VectorXd outputs = steps.sample(t).outputs;
  for (std::size_t k = 0; k < f.size(); ++k) f[k] = outputs(outputs.size() - static_cast<Eigen::Index>(from_end_[k]));
}

void SummaryLook::bound(MotionSteps& steps, double begin, double end, std::span<SummaryWatch::Unseen> f) {
  const System& system = *steps.system;
  const auto size = 2 * static_cast<std::size_t>(system.n());
  states_.resize(3 * size);
  const double middle = 0.5 * (begin + end);
  double* to = states_.data();
  for (const double t : {begin, middle, end}) {
    const double* const y = steps.state_at(t);
    if (!y) return;
    to = std::copy_n(y, size, to);
  }
  box_[0] = {begin, end};
  for (std::size_t i = 0; i < size; ++i)
    box_[1 + i] = bound_between(states_[i], states_[size + i], states_[2 * size + i]);
  const std::vector<double>& parameters = system.parameters();
  std::transform(parameters.begin(), parameters.end(), box_.begin() + 1 + static_cast<std::ptrdiff_t>(size),
                 [](double p) { return Interval(p); });
  const std::span<const Hidden> values = room_.evaluate<Hidden>(tape_, box_);
  for (std::size_t k = 0; k < f.size(); ++k) f[k] = {values[k].range, values[k].unseen};
}

void SummaryLook::look(MotionSteps& steps) {
  const auto values = [&](double t, std::span<double> f) { calc(steps, t, f); };
  const auto bounds = [&](double begin, double end, std::span<SummaryWatch::Unseen> f) { bound(steps, begin, end, f); };
  watch_.look(steps.step_begin, std::min(steps.t, steps.options.to), values,
              can_hide_ ? SummaryWatch::Bounds(bounds) : SummaryWatch::Bounds());
  for (std::string& note : watch_.take_notes()) steps.notes.push_back(std::move(note));
}

}  // namespace mechanician
