#pragma once

/// DeviceFunctions on this machine (device_functions.hpp).

#include <bit>
#include <cmath>
#include <cstdint>

namespace mechanician {

struct HostArithmetic {
  using F = double;
  using I = std::uint64_t;
  using P = bool;

  static F constant(double x) { return x; }
  static F add(F a, F b) { return a + b; }
  static F sub(F a, F b) { return a - b; }
  static F mul(F a, F b) { return a * b; }
  static F div(F a, F b) { return a / b; }
  static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  static F neg(F a) { return -a; }
  static F abs(F a) { return std::abs(a); }
  static F sqrt(F a) { return std::sqrt(a); }
  static F floor(F a) { return std::floor(a); }
  static F select(P p, F a, F b) { return p ? a : b; }
  static P less(F a, F b) { return a < b; }
  static P equal(F a, F b) { return a == b; }
  static P differs(F a, F b) { return a != b; }
  static P not_less_equal(F a, F b) { return !(a <= b); }
  static P both(P a, P b) { return a && b; }
  static P negated(P a) { return !a; }
  static P is_negative(F a) { return std::signbit(a); }
  static F with_sign_of(F a, F b) { return std::copysign(a, b); }
  static I bits(F a) { return std::bit_cast<I>(a); }
  static F from_bits(I a) { return std::bit_cast<F>(a); }
  static F flip(F a, I sign) { return from_bits(bits(a) ^ sign); }
  static I bit_and(I a, I b) { return a & b; }
  static P is_set(I a, I bit) { return (a & bit) != 0; }
  static I plus(I a, I b) { return a + b; }
  static I minus(I a, I b) { return a - b; }
  static I difference(I a, I b) { return a - b; }
  static I shift_left(I a, int by) { return a << by; }
  static I shift_right_signed(I a, int by) { return static_cast<I>(static_cast<std::int64_t>(a) >> by); }
  static F to_double(I a) { return static_cast<F>(static_cast<std::int64_t>(a)); }
};

}  // namespace mechanician
