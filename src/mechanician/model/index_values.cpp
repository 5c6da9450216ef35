#include "mechanician/model/index_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/definite_conditions.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool is_whole(double x) { return x == std::round(x) && std::abs(x) < 1e15; }

std::size_t position_of(const Expr& symbol, std::span<const Expr> among) {
  return static_cast<std::size_t>(
      std::find_if(among.begin(), among.end(), [&](const Expr& s) { return same(symbol, s); }) - among.begin());
}

/// What lies between the ends of a box.
std::optional<std::pair<double, double>> range_of(const Affine& f, const IndexBox& box) {
  if (!is_whole(f.constant)) return std::nullopt;
  double low = f.constant, high = f.constant;
  for (std::size_t i = 0; i < f.factors.size(); ++i) {
    const double a = f.factors[i];
    if (a == 0.0) continue;
    if (!is_whole(a) || i >= box.low.size()) return std::nullopt;
    low += a * (a > 0.0 ? box.low[i] : box.high[i]), high += a * (a > 0.0 ? box.high[i] : box.low[i]);
  }
  return std::pair(low, high);
}

}  // namespace

namespace {

/// `budget`: how many nodes may be looked at; what is longer is worked out by a tape.
std::optional<Affine> affine_part(const Expr& f, std::span<const Expr> indices, int& budget) {
  const auto number = [&](double x) { return Affine{x, std::vector<double>(indices.size(), 0.0)}; };
  if (--budget < 0) return std::nullopt;
  if (f.is_constant()) return number(f.value());
  if (f.is_symbol()) {
    const std::size_t k = position_of(f, indices);
    if (k == indices.size()) return std::nullopt;
    Affine one = number(0.0);
    one.factors[k] = 1.0;
    return one;
  }
  if (f.op() != Op::add && f.op() != Op::sub && f.op() != Op::mul && f.op() != Op::neg) return std::nullopt;
  auto a = affine_part(f.arg(0), indices, budget);
  auto b = !a || f.op() == Op::neg ? number(0.0) : affine_part(f.arg(1), indices, budget);
  if (!a || !b) return std::nullopt;
  const auto is_number = [](const Affine& x) {
    return std::all_of(x.factors.begin(), x.factors.end(), [](double c) { return c == 0.0; });
  };
  double p = f.op() == Op::neg ? -1.0 : 1.0, q = f.op() == Op::sub ? -1.0 : 1.0;  // p·a + q·b
  if (f.op() == Op::mul) {
    if (!is_number(*a)) std::swap(a, b);
    if (!is_number(*a)) return std::nullopt;
    p = 0.0, q = a->constant;
  }
  Affine result = number(p * a->constant + q * b->constant);
  for (std::size_t i = 0; i < indices.size(); ++i) result.factors[i] = p * a->factors[i] + q * b->factors[i];
  return result;
}

}  // namespace

std::optional<Affine> affine_of(const Expr& f, std::span<const Expr> indices) {
  int budget = 200;
  return affine_part(f, indices, budget);
}

std::string index_text(std::span<const TermIndex> indices, std::span<const double> at) {
  std::string text;
  for (std::size_t k = 0; k < at.size() && k < indices.size(); ++k)
    text += fmt::format("{} {} = {}", text.empty() ? " for" : ",", indices[k].name, static_cast<long>(at[k]));
  return text;
}

std::string not_whole(double x) {
  return fmt::format("this is {}, and must be a whole number{}", std::isnan(x) ? "not a number" : short_number(x),
                     std::abs(x) >= 1e15 ? " below 1e15" : "");
}

/// A symbol that is worked out before the tape runs: a parameter, a member of a list, a sum.
struct IndexValues::Leaf {
  const double* parameter = nullptr;
  const NumberFamily* list = nullptr;
  std::unique_ptr<IndexValues> index;
  struct Sum {
    IndexWalk walk;
    IndexValues body;
  };
  std::vector<Sum> sums = {};
};

IndexValues::IndexValues(const FamilyModel& model, std::vector<Expr> fs, std::vector<Expr> indices) {
  for (const Expr& f : fs) {
    affine_.push_back(affine_of(f, indices));
    by_tape_ |= !affine_.back();
    constant_ &= affine_.back() && std::all_of(affine_.back()->factors.begin(), affine_.back()->factors.end(),
                                               [](double a) { return a == 0.0; });
  }
  values_.resize(fs.size());
  if (!by_tape_) return;
  fs = with_definite_conditions(fs);
  const std::vector<Expr> outer = indices;
  std::vector<Expr> inputs = std::move(indices);
  for (const Expr& s : symbols_of(fs)) {
    if (position_of(s, outer) < outer.size()) continue;
    Leaf leaf;
    if (const QuantitySum* sum = model.sum_of(s)) {
      for (const Term& term : sum->terms) {
        IndexWalk walk(model, term.indices, outer);
        IndexValues body(model, {term.body}, walk.symbols());
        leaf.sums.push_back({std::move(walk), std::move(body)});
      }
    } else if (const MemberSymbol* member = model.member_of(s); member && s.symbol().kind == SymbolKind::parameter) {
      leaf.list = &model.numbers[static_cast<std::size_t>(member->family)];
      leaf.index = std::make_unique<IndexValues>(model, member->indices, outer);
    } else if (s.symbol().kind == SymbolKind::parameter) {
      const auto number = model.parameter_numbers.find(s.symbol().name);
      if (number != model.parameter_numbers.end()) leaf.parameter = &model.parameters[number->second];
    }
    inputs.push_back(s);
    leaves_.push_back(std::move(leaf));
  }
  tape_ = Tape(fs, inputs);
  inputs_.resize(inputs.size());
  registers_.resize(static_cast<std::size_t>(tape_.num_registers()));
}

IndexValues::~IndexValues() = default;
IndexValues::IndexValues(IndexValues&&) noexcept = default;

std::span<const double> IndexValues::operator()(std::span<const double> at) {
  if (!by_tape_) {
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const Affine& f = *affine_[k];
      double value = f.constant;
      for (std::size_t i = 0; i < f.factors.size(); ++i)
        if (f.factors[i] != 0.0) value += f.factors[i] * at[i];
      values_[k] = value;
    }
    return values_;
  }
  std::copy(at.begin(), at.end(), inputs_.begin());
  double* input = inputs_.data() + (inputs_.size() - leaves_.size());
  for (Leaf& leaf : leaves_) {
    double& value = *input++ = leaf.parameter ? *leaf.parameter : not_a_number;
    if (leaf.list) {
      const std::span<const double> index = (*leaf.index)(at);
      const bool whole = std::all_of(index.begin(), index.end(), is_whole);
      const long number = whole ? number_of_member(leaf.list->bounds, index) : -1;
      if (number >= 0) value = leaf.list->values[static_cast<std::size_t>(number)];
    } else if (!leaf.parameter) {
      double total = 0.0;
      for (Leaf::Sum& sum : leaf.sums)
        sum.walk.each(at, [&](std::span<const double> inner) {
          total += sum.body(inner)[0];
          return true;
        });
      if (!leaf.sums.empty()) value = total;
    }
  }
  tape_.evaluate<double>(inputs_, registers_, values_);
  return values_;
}

std::optional<std::pair<double, double>> IndexValues::range(std::size_t k, const IndexBox& box) const {
  return affine_[k] ? range_of(*affine_[k], box) : std::nullopt;
}

IndexWalk::IndexWalk(const FamilyModel& model, std::span<const TermIndex> indices, std::vector<Expr> outer)
    : model_(&model),
      indices_(indices.begin(), indices.end()),
      symbols_(std::move(outer)),
      outer_(symbols_.size()),
      at_(outer_ + indices.size()),
      to_(indices.size()) {
  for (const TermIndex& index : indices) {
    bounds_.emplace_back(model, std::vector<Expr>{index.from, index.to}, symbols_);
    symbols_.push_back(index.symbol);
  }
}

std::optional<IndexBox> IndexWalk::box(IndexBox box) const {
  for (std::size_t k = 0; k < indices_.size(); ++k) {
    const std::span<const Expr> before = std::span(symbols_).first(outer_ + k);
    const auto from = affine_of(indices_[k].from, before), to = affine_of(indices_[k].to, before);
    const auto low = from ? range_of(*from, box) : std::nullopt, high = to ? range_of(*to, box) : std::nullopt;
    if (!low || !high) return std::nullopt;
    Affine length = *to;
    length.constant -= from->constant;
    for (std::size_t i = 0; i < length.factors.size(); ++i) length.factors[i] -= from->factors[i];
    if (range_of(length, box)->first < -1.0) return std::nullopt;
    box.low.push_back(low->first), box.high.push_back(high->second);
  }
  return box;
}

IndexWalk::IndexWalk(IndexWalk&& o) noexcept
    : steps(o.steps == &o.own_steps_ ? &own_steps_ : o.steps),
      most_steps(o.most_steps),
      too_many(std::move(o.too_many)),
      model_(o.model_),
      indices_(std::move(o.indices_)),
      symbols_(std::move(o.symbols_)),
      outer_(o.outer_),
      bounds_(std::move(o.bounds_)),
      at_(std::move(o.at_)),
      to_(std::move(o.to_)) {}

void IndexWalk::refuse_steps() const {
  Problem problem = too_many;
  if (problem.place.line == 0) problem.place = indices_.front().place;
  throw ModelError({std::move(problem)}, model_->source);
}

bool IndexWalk::find_end(std::span<const double> outer, bool last, std::vector<double>& at) {
  std::size_t soon = 0;
  const auto [count, most] = std::pair(std::exchange(steps, &soon), std::exchange(most_steps, 1'000'000));
  bool found = false;
  try {
    found = !each(
        outer, [&](std::span<const double> here) { return at.assign(here.begin(), here.end()), false; }, last);
  } catch (const ModelError&) {  // what is wrong was said when the indices were read
  }
  steps = count, most_steps = most;
  return found;
}

void IndexWalk::begin(std::size_t level, bool backwards) {
  const std::size_t before = outer_ + level;
  const std::span<const double> ends = bounds_[level](std::span<const double>(at_).first(before));
  const TermIndex& index = indices_[level];
  const auto where = [&] { return index_text(indices_, std::span<const double>(at_).subspan(outer_, level)); };
  const auto refuse = [&](const Place& place, std::string message) {
    throw ModelError({{place, std::move(message), {}}}, model_->source);
  };
  for (const bool upper : {false, true})
    if (const double x = ends[upper]; !is_whole(x))
      refuse(upper ? index.to_place : index.from_place,
             fmt::format("a bound of {}: {}{}", mechanician::quoted(index.name), not_whole(x), where()));
  // i = 1..0 is nothing, as sums over nothing are.
  if (ends[1] < ends[0] - 1.0) {
    Place all = index.from_place;
    if (all.line == index.to_place.line) all.length = index.to_place.column + index.to_place.length - all.column;
    refuse(all, fmt::format("the index {} runs backwards, from {:.0f} to {:.0f}{}", quoted(index.name), ends[0],
                            ends[1], where()));
  }
  at_[before] = ends[backwards], to_[level] = ends[!backwards];
}

}  // namespace mechanician
