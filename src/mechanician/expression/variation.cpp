#include "mechanician/expression/variation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "mechanician/expression/node.hpp"

namespace mechanician {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// 1/(1 + z²) has its flanks where the logarithm of what is below the line has changed by less than 1: tried out.
constexpr double turns_of_ratio = 2.5;

/// Not a number between infinities: infinite.
double width(const Interval& a) {
  const double w = a.high - a.low;
  return w >= 0.0 ? w : infinity;
}
double largest(const Interval& a) { return std::max(std::abs(a.low), std::abs(a.high)); }
double smallest(const Interval& a) { return a.contains(0.0) ? 0.0 : std::min(std::abs(a.low), std::abs(a.high)); }

/// By how much log|a| changes; a little more where that is not much.
double log_ratio(const Interval& a) {
  if (a.is_point()) return 0.0;
  const double least = smallest(a), ratio = largest(a) / least;
  if (!(least > 0.0)) return infinity;
  return ratio < 1.5 ? ratio - 1.0 : std::log(ratio);
}
Interval shifted(const Interval& a, double by) { return {a.low + by, a.high + by}; }

double turns_of_power(const Interval& a, const Interval& p) {
  if (p.is_point()) {
    if (p.low >= 0.0 && p.low <= most_smooth_power && p.low == std::floor(p.low)) return 0.0;
    return std::max(turns_of_ratio * std::min(std::abs(p.low), 1.0), std::abs(p.low)) * log_ratio(a);
  }
  if (!(a.low > 0.0)) return infinity;
  return width(evaluate_operator<Interval>(Op::mul, p, Interval(std::log(a.low), std::log(a.high)), p));
}

bool overlap(const Interval& a, const Interval& b) { return a.high > b.low && b.high > a.low; }

/// Whether op(a, b, c) may have a kink or a jump between bounds.
bool has_kink(Op op, const Interval& a, const Interval& b, const Interval& c) {
  switch (op) {
    case Op::abs:
      return a.low < 0.0 && a.high > 0.0;
    case Op::min:
    case Op::max:
      return overlap(a, b);
    case Op::mod:
      return !b.is_point() || std::floor(a.low / b.low) != std::floor(a.high / b.low);
    case Op::lookup:
      return !c.is_point() || lookup_breaks(a, b, c.low);
    default:
      return false;
  }
}

/// x ≥ 0 of 0·∞ is 0.
double times(double x, double y) { return x == 0.0 || y == 0.0 ? 0.0 : x * y; }

}  // namespace

double calc_turns(Op op, const Interval& a, const Interval& b, const Interval& c) {
  switch (op) {
    case Op::exp:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
      return width(a);
    case Op::atan:
    case Op::asinh:
      return turns_of_ratio * (width(a) < 1.0 ? width(a) : std::asinh(a.high) - std::asinh(a.low));
    case Op::div:
      return turns_of_ratio * log_ratio(b);
    case Op::log:
      return turns_of_ratio * log_ratio(a);
    case Op::sqrt:
      return 0.5 * turns_of_ratio * log_ratio(a);
    case Op::hypot:
      return turns_of_ratio * log_ratio(evaluate_operator<Interval>(op, a, b, a));
    case Op::atan2:
      return turns_of_ratio * log_ratio(evaluate_operator<Interval>(Op::hypot, a, b, a)) +
             width(evaluate_operator<Interval>(op, a, b, a));
    case Op::pow:
      return turns_of_power(a, b);
    case Op::tan:
      return turns_of_ratio * (width(a) + log_ratio(evaluate_operator<Interval>(Op::cos, a, a, a)));
    case Op::acosh:
      return turns_of_ratio * log_ratio(shifted(a, -1.0));
    case Op::asin:
    case Op::acos:
    case Op::atanh:
      return turns_of_ratio * (log_ratio(shifted(a, -1.0)) + log_ratio(shifted(a, 1.0)));
    case Op::lookup:
      return c.is_point() ? calc_lookup_turns(a, b, c.low) : infinity;
    default:
      return 0.0;
  }
}

bool is_narrow(const Expr& f, double most_power, bool bends) {
  constexpr KindSet moving = ~kind_bit(SymbolKind::parameter);
  if ((f.kinds() & moving) == 0) return false;
  switch (f.op()) {
    case Op::exp:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::atan:
    case Op::asinh:
    case Op::log:
    case Op::tan:
    case Op::acosh:
    case Op::atanh:
    case Op::lookup:
      return true;
    case Op::div:
      return (f.arg(1).kinds() & moving) != 0;
    case Op::pow: {
      const double p = f.arg(1).is_constant() ? f.arg(1).value() : -1.0;
      return p < 0.0 || p > most_power || (bends && p != std::floor(p));
    }
    case Op::sqrt:
    case Op::hypot:
    case Op::atan2:
    case Op::asin:
    case Op::acos:
      return bends;
    default:
      return false;
  }
}

namespace {

/// What a power is one of, and which: 1/(2·√(x² + y²)) of x² + y², −1/2. Only of powers by numbers.
struct Power {
  Expr base;
  double exponent;
};
Power take_apart(const Expr& f) {
  constexpr KindSet moving = ~kind_bit(SymbolKind::parameter);
  const auto moves = [](const Expr& e) { return (e.kinds() & moving) != 0; };
  Power power = f.op() == Op::div    ? Power{f.arg(1), -1.0}
                : f.op() == Op::sqrt ? Power{f.arg(0), 0.5}
                                     : Power{f.arg(0), f.arg(1).value()};
  for (;;) {
    const Expr e = power.base;
    if (e.op() == Op::neg || e.op() == Op::abs || (e.op() == Op::div && !moves(e.arg(1))) ||
        (e.op() == Op::mul && !moves(e.arg(1))))
      power.base = e.arg(0);
    else if (e.op() == Op::mul && !moves(e.arg(0)))
      power.base = e.arg(1);
    else if (e.op() == Op::sqrt)
      power = {e.arg(0), 0.5 * power.exponent};
    else if (e.op() == Op::pow && e.arg(1).is_constant())
      power = {e.arg(0), e.arg(1).value() * power.exponent};
    else
      return power;
  }
}

}  // namespace

NarrowFunctions::NarrowFunctions(std::span<const Expr> expressions, KindSet unknown) {
  std::vector<Expr> stack(expressions.begin(), expressions.end());
  std::unordered_set<const ExprNode*> visited;
  std::vector<Power> powers;
  while (!stack.empty()) {
    const Expr f = std::move(stack.back());
    stack.pop_back();
    if (!visited.insert(f.node()).second) continue;
    for (int k = 0; k < f.num_args(); ++k) stack.push_back(f.arg(k));
    if (!is_narrow(f) || (f.kinds() & unknown) != 0) continue;
    const bool is_power = f.op() == Op::div || f.op() == Op::sqrt || (f.op() == Op::pow && f.arg(1).is_constant());
    if (is_power) {
      const Power power = take_apart(f);
      const auto same_base =
          std::find_if(powers.begin(), powers.end(), [&](const Power& other) { return same(other.base, power.base); });
      if (same_base == powers.end())
        powers.push_back(power);
      else if (std::abs(power.exponent) > std::abs(same_base->exponent))
        same_base->exponent = power.exponent;
      continue;
    }
    const std::size_t a = arguments_.size();
    for (int k = 0; k < f.num_args(); ++k) arguments_.push_back(f.arg(k));
    const auto at = [&](std::size_t k) { return std::min(a + k, arguments_.size() - 1); };
    uses_.push_back({f.op(), a, at(1), at(2)});
  }
  for (const Power& power : powers) {
    uses_.push_back({Op::pow, arguments_.size(), arguments_.size() + 1, arguments_.size() + 1});
    arguments_.push_back(power.base), arguments_.push_back(Expr(-std::abs(power.exponent)));
  }
}

double calc_unseen(Op op, const Interval& value, const Interval (&args)[3], const double (&unseen)[3], SeenBy shown) {
  const double all = width(value);
  const auto& [a, b, c] = args;
  const auto& [ea, eb, ec] = unseen;
  switch (op) {
    case Op::add:
    case Op::sub:
      return std::min(all, ea + eb);
    case Op::neg:
    case Op::sin:
    case Op::cos:
      return std::min(all, ea);
    case Op::sign:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
      return all;  // jumps
    case Op::mul:
      return std::min(all, times(largest(a), eb) + times(largest(b), ea));
    default:
      break;
  }
  if (!(calc_turns(op, a, b, c) <= turns_shown(shown))) return all;
  if (!shows_kinks(shown) && has_kink(op, a, b, c)) return all;
  if (!(ea > 0.0 || eb > 0.0 || ec > 0.0)) return 0.0;
  // First what is known of the slope, then: no more than all.
  double carried = infinity;
  switch (op) {
    case Op::div:
      carried = (ea + times(largest(value), eb)) / smallest(b);
      break;
    case Op::pow:
      if (b.is_point() && b.low >= 1.0) carried = times(b.low * std::pow(largest(a), b.low - 1.0), ea);
      break;
    case Op::tanh:
    case Op::atan:
    case Op::asinh:
    case Op::abs:
      carried = ea;
      break;
    case Op::exp:
      carried = times(value.high, ea);
      break;
    case Op::sqrt:
      carried = 0.5 * ea / value.low;
      break;
    case Op::lookup:
      if (c.is_point())
        carried = times(largest(bound_lookup(a, b, c.low + table_key::by_x)), ea) +
                  times(largest(bound_lookup(a, b, c.low + table_key::by_y)), eb);
      break;
    case Op::min:
    case Op::max:
      carried = overlap(a, b) ? std::max(ea, eb) : (a.low >= b.high) == (op == Op::max) ? ea : eb;
      break;
    case Op::select:
      if (a.is_point()) carried = a.low != 0.0 ? eb : ec;  // else from one to the other
      break;
    default:
      break;
  }
  return carried <= all ? carried : all;
}

}  // namespace mechanician
