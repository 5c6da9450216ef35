#pragma once

/// The arithmetic of one operator, for double, long double and std::complex (for complex-step derivatives).
///
/// Truth values are 1 and 0. For complex numbers the operators that are not analytic (abs, sign, min, max, comparisons)
/// act by the real part, so that their directional derivative along the imaginary step is the real one.

#include <cmath>
#include <complex>
#include <type_traits>

#include "mechanician/expression/operators.hpp"
#include "mechanician/expression/table_lookup.hpp"

namespace mechanician {

namespace detail {

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

template <class T>
auto real_of(const T& x) {
  if constexpr (IsComplex<T>::value)
    return x.real();
  else
    return x;
}

/// a^b. Squares, cubes and the reciprocal are products: exact to rounding and fast; other powers are the library's.
template <class T>
T power(const T& a, const T& b) {
  const auto e = real_of(b);
  if (e == 2) return a * a;
  if (e == 3) return a * a * a;
  if (e == -1) return T(1) / a;
  if constexpr (IsComplex<T>::value) {
    // The library's complex power goes through the logarithm, which has no value at zero.
    if (b.imag() == 0 && e == std::floor(e) && std::abs(e) <= 1024) {
      T r(1), base = e < 0 ? T(1) / a : a;
      for (auto k = static_cast<int>(std::abs(e)); k > 0; k >>= 1) {
        if (k & 1) r *= base;
        base *= base;
      }
      return r;
    }
  }
  return std::pow(a, b);
}

/// a less the multiple of b that leaves a number between 0 and b, b itself left out; exact for numbers.
template <class T>
T modulo(const T& a, const T& b) {
  if constexpr (IsComplex<T>::value) {
    const auto rest = modulo(a.real(), b.real());
    return T(rest, a.imag() - (a.real() - rest) / b.real() * b.imag());
  } else {
    const T rest = std::fmod(a, b);
    return rest == 0 ? rest * 0 : (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

/// Of tables; along an imaginary step by their derivatives.
template <class T>
T look_up(const T& x, const T& y, const T& key) {
  const auto number = [](const T& a) { return static_cast<double>(real_of(a)); };
  const auto at = [&](double added) { return calc_lookup(number(x), number(y), number(key) + added); };
  if constexpr (IsComplex<T>::value)
    return T(at(0.0), (x.imag() != 0 ? x.imag() * at(table_key::by_x) : 0.0) +
                          (y.imag() != 0 ? y.imag() * at(table_key::by_y) : 0.0));
  else
    return T(at(0.0));
}

}  // namespace detail

template <class T>
T evaluate_operator(Op op, const T& a, const T& b, const T& c) {
  using detail::real_of;
  const auto truth = [](bool x) { return T(x ? 1 : 0); };
  switch (op) {
    case Op::constant:
    case Op::symbol:
    case Op::table:
      return a;
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::pow:
      return detail::power(a, b);
    case Op::neg:
      return -a;
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::asin:
      return std::asin(a);
    case Op::acos:
      return std::acos(a);
    case Op::atan:
      return std::atan(a);
    case Op::atan2:
      if constexpr (detail::IsComplex<T>::value) {
        // d atan2(y, x) = (x dy − y dx)/(x² + y²)
        const auto y = a.real(), x = b.real();
        return T(std::atan2(y, x), (x * a.imag() - y * b.imag()) / (x * x + y * y));
      } else {
        return std::atan2(a, b);
      }
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::asinh:
      return std::asinh(a);
    case Op::acosh:
      return std::acosh(a);
    case Op::atanh:
      return std::atanh(a);
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::abs:
      return real_of(a) < 0 ? -a : (real_of(a) == 0 ? T(0) : a);
    case Op::sign:
      // Not a number stays one: a comparison would turn it into zero.
      return real_of(a) > 0 ? T(1) : (real_of(a) < 0 ? T(-1) : (real_of(a) == 0 ? T(0) : a));
    case Op::min:
      return real_of(a) != real_of(a) ? a : (real_of(b) < real_of(a) || real_of(b) != real_of(b) ? b : a);
    case Op::max:
      return real_of(a) != real_of(a) ? a : (real_of(b) > real_of(a) || real_of(b) != real_of(b) ? b : a);
    case Op::hypot:
      if constexpr (detail::IsComplex<T>::value)
        return std::sqrt(a * a + b * b);
      else
        return std::hypot(a, b);
    case Op::mod:
      return detail::modulo(a, b);
    case Op::select:
      return real_of(a) != 0 ? b : c;
    case Op::lookup:
      return detail::look_up(a, b, c);
    case Op::lt:
      return truth(real_of(a) < real_of(b));
    case Op::le:
      return truth(real_of(a) <= real_of(b));
    case Op::gt:
      return truth(real_of(a) > real_of(b));
    case Op::ge:
      return truth(real_of(a) >= real_of(b));
    case Op::eq:
      return truth(real_of(a) == real_of(b));
    case Op::logical_and:
      return truth(real_of(a) != 0 && real_of(b) != 0);
    case Op::logical_or:
      return truth(real_of(a) != 0 || real_of(b) != 0);
    case Op::logical_not:
      return truth(real_of(a) == 0);
  }
  return T(0);
}

}  // namespace mechanician
