#include "mechanician/large/large_quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/bounded.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/large/member_inputs.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

LargeQuantities::LargeQuantities(const FamilyModel& model, const std::vector<const FamilyQuantity*>& quantities)
    : model_(&model) {
  for (const FamilyQuantity* stated : quantities) {
    Quantity quantity;
    quantity.stated = stated;
    for (const QuantitySum& sum : stated->sums) {
      auto& kernels = quantity.sums.emplace_back();
      for (const Term& term : sum.terms) kernels.push_back(make_kernel(term, {}));
    }
    quantity.alone = stated->term.indices.empty() && stated->sums.empty();
    if (quantity.alone)
      quantity.whole.term = &stated->term, quantity.whole.members = find_members(model, stated->term);
    else
      quantity.whole = make_kernel(stated->term, stated->sums);
    size_ += at(quantity.whole.members.count);
    quantities_.push_back(std::move(quantity));
  }
  add_alone();
}

void LargeQuantities::add_alone() {
  std::vector<Expr> functions, symbols{time_symbol()};
  std::unordered_set<const ExprNode*> known{symbols.front().node()};
  const auto add = [&](const Expr& symbol, Alone::Input input) {
    if (known.insert(symbol.node()).second) symbols.push_back(symbol), alone_.inputs.push_back(input);
  };
  std::size_t place = 0;
  for (const Quantity& quantity : quantities_) {
    const Term& term = quantity.stated->term;
    const TermMembers& members = quantity.whole.members;
    if (quantity.alone && members.count == 1) {
      functions.push_back(term.body), alone_.places.push_back(place);
      has_accelerations_ |= term.body.contains(SymbolKind::acceleration);
      for (std::size_t c = 0; c < term.coordinates.size(); ++c) {
        const Expr &x = term.coordinates[c].symbol, v = dot(x);
        const std::int32_t number = members.coordinates[c][0];
        add(x, {0, number}), add(v, {1, number}), add(derivative_symbol(v), {2, number});
      }
      for (std::size_t k = 0; k < term.numbers.size(); ++k)
        add(term.numbers[k].symbol,
            {-1, 0, model_->numbers[at(term.numbers[k].family)].values[at(members.numbers[k][0])]});
    }
    place += at(members.count);
  }
  for (const Expr& s : symbols_of(functions))
    if ((kind_bit(s.symbol().kind) & all_forces) != 0) forces_.push_back(s);
  symbols.insert(symbols.end(), forces_.begin(), forces_.end());
  alone_.tape = Tape(functions, symbols);
  alone_.in.resize(symbols.size()), alone_.out.resize(functions.size());
  alone_.registers.resize(at(alone_.tape.num_registers()));
}

template <class T>
void LargeQuantities::place_alone(const T& t, const T* q, const T* qd, const T* qdd, const T* forces, T* to) const {
  const T* const state[3] = {q, qd, qdd};
  *to++ = t;
  for (const Alone::Input& i : alone_.inputs)
    *to++ = i.order < 0 ? T(i.number) : state[i.order] ? state[i.order][i.at] : T(0.0);
  for (std::size_t k = 0; k < forces_.size(); ++k) *to++ = forces ? forces[k] : T(0.0);
}

LargeQuantities::Kernel LargeQuantities::make_kernel(const Term& term, std::span<const QuantitySum> sums) {
  Kernel kernel;
  kernel.term = &term;
  kernel.members = find_members(*model_, term);
  has_accelerations_ |= term.body.contains(SymbolKind::acceleration);
  // [t | q | q̇ | q̈ | indices | numbers | sums]
  std::vector<Expr> inputs{time_symbol()};
  for (int order = 0; order < 3; ++order)
    for (const MemberSymbol& c : term.coordinates)
      inputs.push_back(order == 0 ? c.symbol : order == 1 ? dot(c.symbol) : ddot(c.symbol));
  for (const TermIndex& index : term.indices) inputs.push_back(index.symbol);
  for (const MemberSymbol& c : term.numbers) inputs.push_back(c.symbol);
  for (const QuantitySum& sum : sums) inputs.push_back(sum.symbol);
  ProgramBuilder builder(static_cast<int>(inputs.size()));
  std::vector<ProgramBuilder::Value> in;
  for (std::size_t i = 0; i < inputs.size(); ++i) in.push_back(builder.input(static_cast<int>(i)));
  kernel.tape = Tape(std::span(&term.body, 1), inputs);
  kernel.function =
      CompiledFunction(builder.finish(builder.append(kernel.tape, in)), {.lanes = static_cast<int>(lanes)});
  kernel.function.make_quick_code();
  kernel.inputs.resize(inputs.size() * at(lanes));
  return kernel;
}

template <class Take>
void LargeQuantities::run(Kernel& kernel, double t, std::span<const double> q, std::span<const double> qd,
                          std::span<const double> qdd, std::span<const double> sums, Take&& take) {
  const TermMembers& members = kernel.members;
  std::fill_n(kernel.inputs.begin(), lanes, t);
  for (std::int64_t begin = 0; begin < members.count; begin += lanes) {
    double* to = kernel.inputs.data() + lanes;
    const auto place = [&](auto&& value) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) *to++ = value(at(std::min(begin + lane, members.count - 1)));
    };
    for (const std::span<const double> state : {q, qd, qdd})
      for (const auto& numbers : members.coordinates)
        place([&](std::size_t j) { return state.empty() ? 0.0 : state[at(numbers[j])]; });
    for (const auto& index : members.indices) place([&](std::size_t j) { return index[j]; });
    for (std::size_t k = 0; k < members.numbers.size(); ++k) {
      const std::vector<double>& values = model_->numbers[at(kernel.term->numbers[k].family)].values;
      place([&](std::size_t j) { return values[at(members.numbers[k][j])]; });
    }
    for (const double sum : sums) place([&](std::size_t) { return sum; });
    kernel.function(kernel.inputs.data(), kernel.outputs);
    for (std::int64_t lane = 0; lane < std::min(lanes, members.count - begin); ++lane)
      take(at(begin + lane), kernel.outputs[lane]);
  }
}

void LargeQuantities::evaluate(double t, std::span<const double> q, std::span<const double> qd,
                               std::span<const double> qdd, const double* forces, std::span<double> values) {
  if (!alone_.places.empty()) {
    place_alone(t, q.data(), qd.data(), qdd.empty() ? nullptr : qdd.data(), forces, alone_.in.data());
    alone_.tape.evaluate<double>(alone_.in, alone_.registers, alone_.out);
    for (std::size_t k = 0; k < alone_.places.size(); ++k) values[alone_.places[k]] = alone_.out[k];
  }
  std::size_t first = 0;
  for (Quantity& quantity : quantities_) {
    if (quantity.alone) {
      first += at(quantity.whole.members.count);
      continue;
    }
    sums_.assign(quantity.sums.size(), 0.0);
    for (std::size_t k = 0; k < quantity.sums.size(); ++k)
      for (Kernel& kernel : quantity.sums[k])
        run(kernel, t, q, qd, qdd, {}, [&](std::size_t, double x) { sums_[k] += x; });
    run(quantity.whole, t, q, qd, qdd, sums_, [&](std::size_t member, double x) { values[first + member] = x; });
    first += at(quantity.whole.members.count);
  }
}

template <class T>
void LargeQuantities::evaluate_as(const T& t, const T* q, const T* qd, const T* qdd, const T* forces,
                                  std::span<T> values) const {
  std::vector<T> inputs, registers, sums;
  if (!alone_.places.empty()) {
    std::vector<T> found(alone_.places.size());
    inputs.resize(alone_.in.size()), registers.resize(alone_.registers.size());
    place_alone(t, q, qd, qdd, forces, inputs.data());
    alone_.tape.evaluate<T>(inputs, registers, found);
    for (std::size_t k = 0; k < found.size(); ++k) values[alone_.places[k]] = found[k];
  }
  const MemberState<T> at_state{t, q, qd, qdd};
  const auto run_each = [&](const Kernel& kernel, auto&& take) {
    inputs.resize(static_cast<std::size_t>(kernel.tape.num_inputs()));
    registers.resize(static_cast<std::size_t>(kernel.tape.num_registers()));
    for (std::size_t j = 0; j < at(kernel.members.count); ++j) {
      T* const rest = place_member(*model_, *kernel.term, kernel.members, j, at_state, inputs.data());
      std::copy(sums.begin(), sums.end(), rest);
      T value;
      kernel.tape.evaluate<T>(inputs, registers, std::span(&value, 1));
      take(j, value);
    }
  };
  std::size_t first = 0;
  for (const Quantity& quantity : quantities_) {
    if (quantity.alone) {
      first += at(quantity.whole.members.count);
      continue;
    }
    std::vector<T> totals(quantity.sums.size(), T(0.0));
    sums.clear();
    for (std::size_t k = 0; k < quantity.sums.size(); ++k)
      for (const Kernel& kernel : quantity.sums[k])
        run_each(kernel, [&](std::size_t, const T& x) { totals[k] = evaluate_operator<T>(Op::add, totals[k], x, x); });
    sums = totals;
    run_each(quantity.whole, [&](std::size_t member, const T& x) { values[first + member] = x; });
    first += at(quantity.whole.members.count);
  }
}

template void LargeQuantities::evaluate_as(const Interval&, const Interval*, const Interval*, const Interval*,
                                           const Interval*, std::span<Interval>) const;
template void LargeQuantities::evaluate_as(const Bounded&, const Bounded*, const Bounded*, const Bounded*,
                                           const Bounded*, std::span<Bounded>) const;

std::size_t LargeQuantities::quantity_of(std::size_t member) const {
  std::size_t k = 0;
  for (; member >= at(quantities_[k].whole.members.count); ++k) member -= at(quantities_[k].whole.members.count);
  return k;
}

std::vector<std::string> LargeQuantities::names() const {
  std::vector<std::string> result;
  result.reserve(size_);
  for (const Quantity& quantity : quantities_) {
    const FamilyQuantity& stated = *quantity.stated;
    const TermMembers& members = quantity.whole.members;
    if (stated.label.empty()) {
      result.push_back(stated.name);
      continue;
    }
    std::vector<Expr> symbols;
    for (const TermIndex& index : stated.term.indices) symbols.push_back(index.symbol);
    const Tape tape(stated.label, symbols);
    std::vector<double> indices(symbols.size());
    for (std::int64_t j = 0; j < members.count; ++j) {
      for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = members.indices[k][at(j)];
      const std::vector<double> label = tape(std::span<const double>(indices));
      for (const double x : label)
        if (x != std::round(x))
          throw ModelError({{stated.term.place,
                             fmt::format("an index of {} is {}, and must be a whole number", quoted(stated.name),
                                         std::isnan(x) ? "not a number" : short_number(x)),
                             {}}},
                           model_->source);
      result.push_back(fmt::format("{}[{}]", stated.name, fmt::join(label, ",")));
    }
  }
  return result;
}

std::vector<std::string> output_names(const FamilyModel& model) {
  std::vector<const FamilyQuantity*> outputs;
  for (std::size_t i = 0; i + model.summary.size() < model.outputs.size(); ++i) outputs.push_back(&model.outputs[i]);
  return LargeQuantities(model, outputs).names();
}

std::vector<SummaryItem> summary_items(const FamilyModel& model) {
  std::vector<SummaryItem> items;
  const std::size_t first = model.outputs.size() - model.summary.size();
  for (std::size_t i = 0; i < model.summary.size(); ++i)
    for (std::string& name : LargeQuantities(model, {&model.outputs[first + i]}).names())
      items.push_back({std::move(name), model.summary[i].kind, model.summary[i].place});
  return items;
}

}  // namespace mechanician
