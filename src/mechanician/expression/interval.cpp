#include "mechanician/expression/interval.hpp"

#include <numbers>

namespace mechanician {

namespace {

using std::numbers::pi;

Interval made(double low, double high) {
  return std::isnan(low) || std::isnan(high) ? Interval::everything() : Interval(low, high);
}
Interval rising(double (*f)(double), const Interval& a) { return made(f(a.low), f(a.high)); }
Interval falling(double (*f)(double), const Interval& a) { return made(f(a.high), f(a.low)); }
/// As far as it lies where a function is defined; the whole line where none of it does.
template <class F>
Interval within(const Interval& a, double least, double most, F f) {
  if (!(a.high >= least && a.low <= most)) return Interval::everything();
  return f(Interval(std::max(a.low, least), std::min(a.high, most)));
}

Interval product(const Interval& a, const Interval& b) {
  // The commonest: a number that is known.
  if (b.is_point() && !a.is_point()) return product(b, a);
  if (a.is_point() && std::isfinite(a.low)) {
    if (a.low == 0.0) return Interval(0.0);
    return a.low > 0.0 ? Interval(a.low * b.low, a.low * b.high) : Interval(a.low * b.high, a.low * b.low);
  }
  const auto hull = [](double p, double q, double r, double s) {
    return Interval(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
  };
  const double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
  if (!std::isnan(p + q + r + s)) return hull(p, q, r, s);
  // Between bounds without end 0·∞ is 0.
  const auto times = [](double x, double y) { return x == 0.0 || y == 0.0 ? 0.0 : x * y; };
  return hull(times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high));
}

Interval inverse(const Interval& a) {
  return a.contains(0.0) ? Interval::everything() : made(1.0 / a.high, 1.0 / a.low);
}

Interval magnitude(const Interval& a) {
  const double low = std::abs(a.low), high = std::abs(a.high);
  return {a.contains(0.0) ? 0.0 : std::min(low, high), std::max(low, high)};
}

/// cos over a − shift.
Interval cosine(const Interval& a, double shift) {
  if (!(a.high - a.low < 2.0 * pi)) return {-1.0, 1.0};
  const double l = std::cos(a.low - shift), h = std::cos(a.high - shift);
  // Of cos: maxima at even, minima at odd multiples of π.
  const auto has = [&](double place) {
    const double k = std::ceil((a.low - shift - place) / (2.0 * pi));
    return place + 2.0 * pi * k <= a.high - shift;
  };
  return {has(pi) ? -1.0 : std::min(l, h), has(0.0) ? 1.0 : std::max(l, h)};
}

Interval power(const Interval& a, const Interval& b) {
  if (b.low == 2.0 && b.high == 2.0) {
    const Interval base = magnitude(a);
    return made(base.low * base.low, base.high * base.high);
  }
  if (b.is_point() && b.low == std::floor(b.low) && std::abs(b.low) < 1e9) {
    if (b.low == 0.0) return Interval(1.0);
    if (b.low < 0.0) return inverse(power(a, Interval(-b.low)));
    const bool even = std::fmod(b.low, 2.0) == 0.0;
    const Interval base = even ? magnitude(a) : a;
    return made(detail::power(base.low, b.low), detail::power(base.high, b.low));
  }
  return within(a, 0.0, std::numeric_limits<double>::infinity(), [&](const Interval& base) {
    const double p[] = {std::pow(base.low, b.low), std::pow(base.low, b.high), std::pow(base.high, b.low),
                        std::pow(base.high, b.high)};
    return made(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
  });
}

Interval angle(const Interval& y, const Interval& x) {
  if (y.contains(0.0) && x.low <= 0.0) return {-pi, pi};
  const double p[] = {std::atan2(y.low, x.low), std::atan2(y.low, x.high), std::atan2(y.high, x.low),
                      std::atan2(y.high, x.high)};
  return made(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}

Interval modulo(const Interval& a, const Interval& b) {
  if (b.contains(0.0)) return Interval::everything();
  const Interval all{std::min(0.0, b.low), std::max(0.0, b.high)};
  if (b.low != b.high || !std::isfinite(a.low) || !std::isfinite(a.high)) return all;
  const double whole = std::floor(a.low / b.low), beyond = std::floor(a.high / b.low);
  if (whole != beyond) return all;
  const Interval inside = made(a.low - b.low * whole, a.high - b.low * whole);
  return {std::max(inside.low, all.low), std::min(inside.high, all.high)};
}

Interval truth(bool never, bool always) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }
bool may_be_true(const Interval& a) { return a.low != 0.0 || a.high != 0.0; }
bool may_be_false(const Interval& a) { return a.contains(0.0); }

}  // namespace

template <>
Interval evaluate_operator<Interval>(Op op, const Interval& a, const Interval& b, const Interval& c) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case Op::constant:
    case Op::symbol:
    case Op::table:
      return a;
    case Op::add:
      return made(a.low + b.low, a.high + b.high);
    case Op::sub:
      return made(a.low - b.high, a.high - b.low);
    case Op::mul:
      return product(a, b);
    case Op::div:
      return product(a, inverse(b));
    case Op::pow:
      return power(a, b);
    case Op::neg:
      return {-a.high, -a.low};
    case Op::sin:
      return cosine(a, 0.5 * pi);
    case Op::cos:
      return cosine(a, 0.0);
    case Op::tan:
      if (std::floor(a.low / pi + 0.5) != std::floor(a.high / pi + 0.5)) return Interval::everything();
      return rising(std::tan, a);
    case Op::asin:
      return within(a, -1.0, 1.0, [](const Interval& x) { return rising(std::asin, x); });
    case Op::acos:
      return within(a, -1.0, 1.0, [](const Interval& x) { return falling(std::acos, x); });
    case Op::atan:
      return rising(std::atan, a);
    case Op::atan2:
      return angle(a, b);
    case Op::sinh:
      return rising(std::sinh, a);
    case Op::cosh:
      return rising(std::cosh, magnitude(a));
    case Op::tanh:
      return rising(std::tanh, a);
    case Op::asinh:
      return rising(std::asinh, a);
    case Op::acosh:
      return within(a, 1.0, infinity, [](const Interval& x) { return rising(std::acosh, x); });
    case Op::atanh:
      return within(a, -1.0, 1.0, [](const Interval& x) { return rising(std::atanh, x); });
    case Op::exp:
      return rising(std::exp, a);
    case Op::log:
      return within(a, 0.0, infinity, [](const Interval& x) { return rising(std::log, x); });
    case Op::sqrt:
      return within(a, 0.0, infinity, [](const Interval& x) { return rising(std::sqrt, x); });
    case Op::abs:
      return magnitude(a);
    case Op::sign:
      return {a.low > 0.0 ? 1.0 : a.low < 0.0 ? -1.0 : 0.0, a.high > 0.0 ? 1.0 : a.high < 0.0 ? -1.0 : 0.0};
    case Op::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::hypot: {
      const Interval x = magnitude(a), y = magnitude(b);
      return {std::hypot(x.low, y.low), std::hypot(x.high, y.high)};
    }
    case Op::mod:
      return modulo(a, b);
    case Op::select:
      if (!may_be_false(a)) return b;
      return may_be_true(a) ? Interval::hull(b, c) : c;
    case Op::lookup:
      return c.is_point() ? bound_lookup(a, b, c.low) : Interval::everything();
    case Op::lt:
      return truth(a.low >= b.high, a.high < b.low);
    case Op::le:
      return truth(a.low > b.high, a.high <= b.low);
    case Op::gt:
      return truth(a.high <= b.low, a.low > b.high);
    case Op::ge:
      return truth(a.high < b.low, a.low >= b.high);
    case Op::eq:
      return truth(a.low > b.high || a.high < b.low, a.is_point() && b.is_point() && a.low == b.low);
    case Op::logical_and:
      return truth(!may_be_true(a) || !may_be_true(b), !may_be_false(a) && !may_be_false(b));
    case Op::logical_or:
      return truth(!may_be_true(a) && !may_be_true(b), !may_be_false(a) || !may_be_false(b));
    case Op::logical_not:
      return truth(!may_be_false(a), !may_be_true(a));
  }
  return Interval::everything();
}

}  // namespace mechanician
