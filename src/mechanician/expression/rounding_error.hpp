#pragma once

/// First-order bounds of rounding errors, one operator at a time (running error analysis), for double and for numbers that
/// stand for steps of a program.

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "mechanician/expression/evaluate_operator.hpp"

namespace mechanician {

/// The number that an operand is, where that is known already.
inline std::optional<double> known_number(double x) { return x; }

template <class T>
class RoundingError {
 public:
  /// Of a number that was handed in: half a unit in its last place. One that happens to be whole is as rounded as its neighbours.
  static T of_input(const T& x) { return half_ulp(x); }
  /// Constants that are small integers are exact.
  static T of_constant(const T& x) {
    // 1.5·2⁵² more and less rounds to an integer.
    const T big(6755399441055744.0);
    const T is_whole = apply(Op::eq, apply(Op::sub, apply(Op::add, x, big), big), x),
            is_small = apply(Op::lt, apply(Op::abs, x), T(1e6));
    return choose(
        apply(Op::logical_and, is_whole, is_small), [] { return T(0.0); }, [&] { return half_ulp(x); });
  }

  /// Of f = op(a, b, c), whose operands have the errors ea, eb and ec.
  static T of_operator(Op op, const T& f, const T& a, const T& b, const T& c, const T& ea, const T& eb, const T& ec) {
    if (op == Op::select)
      return choose(
          a, [&] { return eb; }, [&] { return ec; });
    if (op == Op::lookup) return of_lookup(f, a, b, c, ea, eb);
    const T carried = carry(op, f, a, b, ea, eb);
    return op == Op::neg ? carried : apply(Op::add, carried, half_ulp(f));
  }

 private:
  static constexpr double eps = std::numeric_limits<double>::epsilon();

  /// The operator is known where this is called: for doubles nothing is left of the choice.
  [[gnu::always_inline]] static T apply(Op op, const T& a) {
    if constexpr (std::is_floating_point_v<T>) {
      if (op == Op::abs) return std::abs(a);
      if (op == Op::sqrt) return std::sqrt(a);
      if (op == Op::sin) return std::sin(a);
      if (op == Op::cos) return std::cos(a);
    }
    return evaluate_operator<T>(op, a, a, a);
  }
  [[gnu::always_inline]] static T apply(Op op, const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (op == Op::add) return a + b;
      if (op == Op::sub) return a - b;
      if (op == Op::mul) return a * b;
      if (op == Op::div) return a / b;
      if (op == Op::eq) return a == b;
      if (op == Op::lt) return a < b;
      if (op == Op::gt) return a > b;
      if (op == Op::logical_and) return a != 0 && b != 0;
    }
    return evaluate_operator<T>(op, a, b, a);
  }
  static T half_ulp(const T& x) { return apply(Op::mul, T(0.5 * eps), apply(Op::abs, x)); }
  /// Steps of a program have both branches.
  template <class Then, class Else>
  static T choose(const T& condition, Then then, Else otherwise) {
    if constexpr (std::is_floating_point_v<T>)
      return condition != 0 ? then() : otherwise();
    else
      return evaluate_operator<T>(Op::select, condition, then(), otherwise());
  }
  static T scaled(const T& slope, const T& e) {
    if constexpr (std::is_floating_point_v<T>)
      if (e == 0) return T(0);  // also where the slope is infinite
    return apply(Op::mul, apply(Op::abs, slope), e);
  }
  static T over(const T& a, const T& b) { return apply(Op::div, a, b); }
  static T one_plus(const T& x) { return apply(Op::add, T(1.0), x); }
  static T one_minus(const T& x) { return apply(Op::sub, T(1.0), x); }
  static T square(const T& x) { return apply(Op::mul, x, x); }
  static T at_least(const T& x, double least) { return apply(Op::max, x, T(least)); }

  /// |∂f/∂a|·ea + |∂f/∂b|·eb
  static T carry(Op op, const T& f, const T& a, const T& b, const T& ea, const T& eb) {
    const T one(1.0);
    switch (op) {
      case Op::add:
      case Op::sub:
        return apply(Op::add, ea, eb);
      case Op::mul:
        return apply(Op::add, scaled(b, ea), scaled(a, eb));
      case Op::div:
        return apply(Op::add, scaled(over(one, b), ea), scaled(over(f, b), eb));
      case Op::pow:
        return apply(Op::add, scaled(power_slope(a, b), ea), exponent_error(f, a, eb));
      case Op::neg:
      case Op::abs:
        return ea;
      case Op::sin:
        return scaled(apply(Op::cos, a), ea);
      case Op::cos:
        return scaled(apply(Op::sin, a), ea);
      case Op::tan:
        return scaled(one_plus(square(f)), ea);
      case Op::asin:
      case Op::acos:
        return scaled(over(one, apply(Op::sqrt, at_least(one_minus(square(a)), eps))), ea);
      case Op::atan:
        return scaled(over(one, one_plus(square(a))), ea);
      case Op::atan2:
        return over(apply(Op::add, scaled(b, ea), scaled(a, eb)),
                    at_least(apply(Op::add, square(a), square(b)), std::numeric_limits<double>::min()));
      case Op::sinh:
        return scaled(apply(Op::cosh, a), ea);
      case Op::cosh:
        return scaled(apply(Op::sinh, a), ea);
      case Op::tanh:
        return scaled(one_minus(square(f)), ea);
      case Op::asinh:
        return scaled(over(one, apply(Op::sqrt, one_plus(square(a)))), ea);
      case Op::acosh:
        return scaled(over(one, apply(Op::sqrt, at_least(apply(Op::sub, square(a), one), eps))), ea);
      case Op::atanh:
        return scaled(over(one, at_least(apply(Op::abs, one_minus(square(a))), eps)), ea);
      case Op::exp:
        return scaled(f, ea);
      case Op::log:
        return scaled(over(one, a), ea);
      case Op::sqrt:
        // At a zero of the radicand the error is the root of its error.
        return choose(
            apply(Op::gt, f, T(0.0)), [&] { return apply(Op::min, scaled(over(T(0.5), f), ea), apply(Op::sqrt, ea)); },
            [&] { return apply(Op::sqrt, ea); });
      case Op::hypot:
        return choose(
            apply(Op::gt, f, T(0.0)), [&] { return apply(Op::add, scaled(over(a, f), ea), scaled(over(b, f), eb)); },
            [&] { return apply(Op::add, ea, eb); });
      case Op::mod:
        return apply(Op::add, ea, scaled(over(apply(Op::sub, a, f), b), eb));
      case Op::min:
        return choose(
            apply(Op::le, a, b), [&] { return ea; }, [&] { return eb; });
      case Op::max:
        return choose(
            apply(Op::ge, a, b), [&] { return ea; }, [&] { return eb; });
      default:
        return T(0.0);  // sign and conditions switch
    }
  }

  /// By the slopes of the table; its polynomials are sums of numbers as large as its values.
  static T of_lookup(const T& f, const T& x, const T& y, const T& key, const T& ex, const T& ey) {
    const auto at = [&](double added) { return evaluate_operator<T>(Op::lookup, x, y, apply(Op::add, key, T(added))); };
    const T carried = apply(Op::add, scaled(at(table_key::by_x), ex), scaled(at(table_key::by_y), ey));
    const std::optional<double> known = known_number(key);
    const T size = !known || is_value_of_table(*known) ? at(table_key::size) : T(0.0);
    return apply(Op::add, carried, apply(Op::add, half_ulp(f), half_ulp(size)));
  }

  static T power_slope(const T& a, const T& b) {
    return choose(
        apply(Op::eq, b, T(2.0)), [&] { return apply(Op::mul, T(2.0), a); },
        [&] { return apply(Op::mul, b, apply(Op::pow, a, apply(Op::sub, b, T(1.0)))); });
  }
  static T exponent_error(const T& f, const T& a, const T& eb) {
    return choose(
        apply(Op::logical_and, apply(Op::gt, a, T(0.0)), apply(Op::gt, eb, T(0.0))),
        [&] { return scaled(apply(Op::mul, f, apply(Op::log, a)), eb); }, [] { return T(0.0); });
  }
};

}  // namespace mechanician
