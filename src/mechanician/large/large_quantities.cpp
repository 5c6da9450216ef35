#include "mechanician/large/large_quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/bounded.hpp"
#include "mechanician/expression/interval.hpp"
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
    quantity.whole = make_kernel(stated->term, stated->sums);
    size_ += at(quantity.whole.members.count);
    quantities_.push_back(std::move(quantity));
  }
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
                               std::span<const double> qdd, std::span<double> values) {
  std::size_t first = 0;
  for (Quantity& quantity : quantities_) {
    sums_.assign(quantity.sums.size(), 0.0);
    for (std::size_t k = 0; k < quantity.sums.size(); ++k)
      for (Kernel& kernel : quantity.sums[k])
        run(kernel, t, q, qd, qdd, {}, [&](std::size_t, double x) { sums_[k] += x; });
    run(quantity.whole, t, q, qd, qdd, sums_, [&](std::size_t member, double x) { values[first + member] = x; });
    first += at(quantity.whole.members.count);
  }
}

template <class T>
void LargeQuantities::evaluate_as(const T& t, const T* q, const T* qd, const T* qdd, std::span<T> values) const {
  std::vector<T> inputs, registers, sums;
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
                                           std::span<Interval>) const;
template void LargeQuantities::evaluate_as(const Bounded&, const Bounded*, const Bounded*, const Bounded*,
                                           std::span<Bounded>) const;

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
