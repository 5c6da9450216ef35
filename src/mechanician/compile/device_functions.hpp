#pragma once

/// The functions of the language for a device that has none: straight-line, of IEEE arithmetic and bit operations alone.
///
///     DeviceFunctions<HostArithmetic> on_host;      on_host.exp(1.0)       // for tests, and to say how accurate they are
///     DeviceFunctions<PtxText> in_text(text);       in_text.exp(register)  // writes instructions (ptx_code.hpp)
///
/// One algorithm for both, so what tests measure on the host is what the device computes, bit for bit. Arithmetic names
/// its types F (a double), I (64 bits) and P (a truth value), and has constant, add … fma, select, less, bits, shifts.
/// sin and cos are those of trigonometry.hpp, and give the same bits; beyond 2²⁰ they are not a number, and whoever
/// uses the answer finds that out. Errors of the others in units in the last place, at most, as the tests have it: exp 1,
/// log 0.9, atan and atan2 1.3, asin and acos 3, tan 2.1, sinh, cosh, tanh 2.5, asinh, acosh, atanh 3, hypot 2; pow 2 while
/// |log of the result| < 10, growing to 8 at the ends of the range.

#include <cstdint>

namespace mechanician {

template <class Arithmetic>
class DeviceFunctions {
 public:
  using F = typename Arithmetic::F;
  using I = typename Arithmetic::I;
  using P = typename Arithmetic::P;
  struct Both {
    F sine, cosine;
  };

  DeviceFunctions() = default;
  explicit DeviceFunctions(Arithmetic arithmetic) : o(arithmetic) {}

  Both sine_cosine(F x) {
    const Both near = near_sine_cosine(x);
    const P far = is_far(x);
    return {o.select(far, none(), near.sine), o.select(far, none(), near.cosine)};
  }
  /// Beyond 2²⁰, or not a number.
  P is_far(F x) { return o.not_less_equal(o.abs(x), c(0x1p20)); }

  /// Of angles that are not far. trigonometry.cpp says why it is done so.
  Both near_sine_cosine(F x) {
    const F n_shifted = o.fma(x, c(0x1.45f306dc9c883p-1), c(0x1.8p52));
    const F n = o.sub(n_shifted, c(0x1.8p52));
    const F minus_n = o.neg(n);
    const I quadrant = o.bits(n_shifted);
    const F r1 = o.fma(minus_n, c(0x1.921fb54442d18p+0), x);
    const F high = o.mul(n, c(0x1.1a62633145c07p-54)), low = o.fma(n, c(0x1.1a62633145c07p-54), o.neg(high));
    const F r = o.sub(r1, high), back = o.sub(r, r1);
    const F error = o.sub(o.sub(r1, o.sub(r, back)), o.add(high, back));
    const F t = o.fma(minus_n, c(-0x1.f1976b7ed8fbcp-110), o.sub(error, low));

    const F z = o.mul(r, r), z2 = o.mul(z, z);
    const F S = o.fma(z2,
                      o.fma(z2, o.fma(z, c(0x1.5d932f7c42389p-33), c(-0x1.ae5e66d594c9dp-26)),
                            o.fma(z, c(0x1.71de357875419p-19), c(-0x1.a01a019c126c1p-13))),
                      o.fma(z, c(0x1.111111110f881p-7), c(-0x1.5555555555549p-3)));
    const F C = o.fma(z2,
                      o.fma(z2, o.fma(z, c(-0x1.8faecf7d650f1p-37), c(0x1.1ee9ec484435bp-29)),
                            o.fma(z, c(-0x1.27e4f80a77278p-22), c(0x1.a01a019cb2701p-16))),
                      o.fma(z, c(-0x1.6c16c16c15184p-10), c(0x1.555555555554cp-5)));
    const F half = o.mul(c(0.5), z), w = o.sub(c(1.0), half);
    const F half_error = o.mul(c(0.5), o.fma(r, r, o.neg(z)));
    F sine = o.add(r, o.fma(o.mul(r, z), S, o.mul(t, w)));
    const F cosine = o.add(w, o.add(o.sub(o.sub(c(1.0), w), half), o.fma(z2, C, o.neg(o.fma(r, t, half_error)))));
    sine = o.select(o.less(o.abs(x), c(0x1p-27)), x, sine);

    const P odd = o.is_set(quadrant, 1);
    const I sign_s = o.shift_left(o.bit_and(quadrant, 2), 62);
    const I sign_c = o.shift_left(o.bit_and(o.plus(quadrant, 1), 2), 62);
    return {o.flip(o.select(odd, cosine, sine), sign_s), o.flip(o.select(odd, sine, cosine), sign_c)};
  }

  F tan(F x) {
    const Both y = sine_cosine(x);
    return o.div(y.sine, y.cosine);
  }

  F exp(F x) { return exp_of_sum(x, c(0.0)); }

  F log(F x) {
    const Reduced m = reduce(x);
    const F f = o.sub(m.fraction, c(1.0)), s = o.div(f, o.add(c(2.0), f)), z = o.mul(s, s);
    const F half_square = o.mul(o.mul(c(0.5), f), f);
    // ln(1 + f) = f − (f²/2 − s (f²/2 + R)), and k ln 2 in two parts
    const F R = o.mul(z, logarithm_tail(z));
    const F tail = o.fma(s, o.add(half_square, R), o.mul(m.exponent, ln2_low()));
    const F value = o.fma(m.exponent, ln2_high(), o.sub(f, o.sub(half_square, tail)));
    return logarithm_limits(x, value);
  }

  /// aᵇ = exp(b·ln a), the logarithm to some 60 bits.
  F pow(F a, F b) {
    const F size = o.abs(a);
    const Reduced m = reduce(size);
    const F f = o.sub(m.fraction, c(1.0)), u = o.add(c(2.0), f), u_low = o.sub(f, o.sub(u, c(2.0)));
    const F s = o.div(f, u);
    const F s_low = o.div(o.sub(o.fma(o.neg(s), u, f), o.mul(s, u_low)), u);
    const F z = o.mul(s, s);
    const F head = o.mul(m.exponent, ln2_high()), two_s = o.add(s, s);
    const F high = o.add(head, two_s);  // |head| is 0 or larger
    const P no_exponent = o.equal(m.exponent, c(0.0));
    const F lost = o.select(no_exponent, c(0.0), o.sub(two_s, o.sub(high, head)));
    const F cube = o.mul(o.mul(s, z), logarithm_tail(z));
    const F low = o.add(lost, o.fma(m.exponent, ln2_low(), o.add(cube, o.add(s_low, s_low))));
    const F product = o.mul(b, high), product_low = o.fma(b, low, o.fma(b, high, o.neg(product)));
    F value = exp_of_sum(product, product_low);

    const P whole = o.equal(b, o.floor(b));
    const F half = o.mul(c(0.5), b);
    const P odd = o.both(whole, o.differs(half, o.floor(half)));
    const P negative = o.less(a, c(0.0)), vanishes = o.equal(a, c(0.0));
    value = o.select(o.both(negative, odd), o.neg(value), value);
    value = o.select(o.both(negative, o.negated(whole)), none(), value);
    value = o.select(vanishes, o.select(o.less(b, c(0.0)), infinity(), c(0.0)), value);
    value = o.select(o.equal(size, infinity()), o.select(o.less(b, c(0.0)), c(0.0), infinity()), value);
    value = o.select(o.differs(a, a), a, value);
    value = o.select(o.differs(b, b), b, value);
    return o.select(o.equal(b, c(0.0)), c(1.0), value);
  }

  F atan2(F y, F x) {
    const F ay = o.abs(y), ax = o.abs(x);
    const P steep = o.less(ax, ay);
    const F larger = o.select(steep, ay, ax), smaller = o.select(steep, ax, ay);
    const F ratio = o.select(o.equal(larger, c(0.0)), c(0.0), o.div(smaller, larger));  // in [0, 1]
    // atan r = π/4 + atan((r − 1)/(r + 1)) above tan π/8
    const P middle = o.less(c(0x1.a827999fcef32p-2), ratio);
    const F w = o.select(middle, o.div(o.sub(ratio, c(1.0)), o.add(ratio, c(1.0))), ratio), z = o.mul(w, w);
    F p = c(0x1.0ad36a455cafbp-6);
    for (const double a : {-0x1.1b33b923aa954p-5, 0x1.74ddd408bb4c1p-5, -0x1.ac7a938b69c93p-5, 0x1.e19a13b9fc6dfp-5,
                           -0x1.110e880a7a521p-4, 0x1.3b1392d9e785cp-4, -0x1.745d165df3f95p-4, 0x1.c71c71c304b68p-4,
                           -0x1.249249248d7eep-3, 0x1.9999999999953p-3, -0x1.5555555555555p-2})
      p = o.fma(p, z, c(a));
    const F quarter = c(0x1.921fb54442d18p-1), quarter_low = c(0x1.1a62633145c07p-55);
    // The angle as a sum of a large and a small part, until the last sum: at + rest.
    F at = o.select(middle, quarter, c(0.0));
    F rest = o.add(w, o.fma(o.mul(w, z), p, o.select(middle, quarter_low, c(0.0))));
    at = o.select(steep, o.sub(c(0x1.921fb54442d18p+0), at), at);  // exact
    rest = o.select(steep, o.sub(c(0x1.1a62633145c07p-54), rest), rest);
    const P left = o.is_negative(x);
    at = o.select(left, o.sub(c(0x1.921fb54442d18p+1), at), at);
    rest = o.select(left, o.sub(c(0x1.1a62633145c07p-53), rest), rest);
    F angle = o.add(at, rest);
    angle = o.select(o.both(o.equal(ax, infinity()), o.equal(ay, infinity())), none(), angle);
    angle = o.select(o.differs(y, y), y, o.select(o.differs(x, x), x, angle));
    return o.with_sign_of(angle, y);
  }

  F atan(F x) { return atan2(x, c(1.0)); }
  F asin(F x) { return atan2(x, o.sqrt(o.mul(o.sub(c(1.0), x), o.add(c(1.0), x)))); }
  F acos(F x) { return atan2(o.sqrt(o.mul(o.sub(c(1.0), x), o.add(c(1.0), x))), x); }

  F sinh(F x) {
    const F size = o.abs(x), e = exp(size), large = o.mul(c(0.5), o.sub(e, o.div(c(1.0), e)));
    return o.with_sign_of(o.select(o.less(size, c(1.0)), small_sinh(size), large), x);
  }
  F cosh(F x) {
    const F e = exp(o.abs(x));
    return o.mul(c(0.5), o.add(e, o.div(c(1.0), e)));
  }
  F tanh(F x) {
    const F size = o.abs(x), e = exp(size), up = o.div(c(1.0), e), s = small_sinh(size);
    const F small = o.div(s, o.mul(c(0.5), o.add(e, up)));
    const F twice = exp(o.add(size, size)), large = o.sub(c(1.0), o.div(c(2.0), o.add(twice, c(1.0))));
    return o.with_sign_of(o.select(o.less(size, c(1.0)), small, large), x);
  }
  F asinh(F x) {
    const F size = o.abs(x), square = o.mul(size, size);
    const F near = log_of_one_plus(o.add(size, o.div(square, o.add(c(1.0), o.sqrt(o.add(c(1.0), square))))));
    const F far = o.add(log(size), o.add(ln2_high(), ln2_low()));
    return o.with_sign_of(o.select(o.less(size, c(0x1p28)), near, far), x);
  }
  F acosh(F x) {
    const F t = o.sub(x, c(1.0));
    const F near = log_of_one_plus(o.add(t, o.sqrt(o.fma(t, t, o.add(t, t)))));
    const F far = o.add(log(x), o.add(ln2_high(), ln2_low()));
    return o.select(o.less(x, c(1.0)), none(), o.select(o.less(x, c(0x1p28)), near, far));
  }
  F atanh(F x) {
    const F size = o.abs(x);
    const F value = o.mul(c(0.5), log_of_one_plus(o.div(o.add(size, size), o.sub(c(1.0), size))));
    return o.with_sign_of(o.select(o.less(c(1.0), size), none(), value), x);
  }
  F hypot(F a, F b) {
    const F x = o.abs(a), y = o.abs(b);
    const P swap = o.less(x, y);
    const F larger = o.select(swap, y, x), smaller = o.select(swap, x, y), r = o.div(smaller, larger);
    const F value = o.mul(larger, o.sqrt(o.fma(r, r, c(1.0))));
    const F finite = o.select(o.equal(smaller, c(0.0)), larger, value);
    const F nan_kept = o.select(o.differs(a, a), a, o.select(o.differs(b, b), b, finite));
    return o.select(o.equal(larger, infinity()), infinity(), nan_kept);
  }

 private:
  F c(double x) { return o.constant(x); }
  F none() { return o.constant(__builtin_nan("")); }
  F infinity() { return o.constant(__builtin_inf()); }
  F ln2_high() { return c(0x1.62e42fefa3800p-1); }  // its products with exponents are exact
  F ln2_low() { return c(0x1.ef35793c76730p-45); }

  /// e^(x + y) for |y| far below |x|.
  F exp_of_sum(F x, F y) {
    const F low = o.select(o.less(x, c(-800.0)), c(-800.0), x), at = o.select(o.less(c(800.0), low), c(800.0), low);
    const F shifted = o.fma(at, c(0x1.71547652b82fep+0), c(0x1.8p52)), n = o.sub(shifted, c(0x1.8p52));
    const F minus_n = o.neg(n);
    const F r = o.add(o.fma(minus_n, ln2_low(), o.fma(minus_n, ln2_high(), at)), y);
    F p = c(0x1.1f730349868cep-29);
    for (const double a : {0x1.af4de97ca4194p-26, 0x1.27e4db646b17ep-22, 0x1.71de0231960ebp-19, 0x1.a01a01a6d889cp-16,
                           0x1.a01a01abe7fe1p-13, 0x1.6c16c16c162d4p-10, 0x1.11111111100dcp-7, 0x1.5555555555556p-5,
                           0x1.5555555555557p-3, 0.5})
      p = o.fma(p, r, c(a));
    const F value = o.add(c(1.0), o.fma(o.mul(r, r), p, r));
    // 2ⁿ in two factors, which are normal numbers for every n that is left
    const I k = o.minus(o.bits(shifted), 0x4338000000000000), half = o.shift_right_signed(k, 1);
    const I rest = o.difference(k, half);
    return o.mul(o.mul(value, power_of_two(half)), power_of_two(rest));
  }
  F power_of_two(I k) { return o.from_bits(o.shift_left(o.plus(k, 1023), 52)); }

  struct Reduced {
    F fraction, exponent;  ///< x = fraction·2^exponent, fraction in [√½, √2)
  };
  Reduced reduce(F x) {
    const P tiny = o.less(x, c(0x1p-1022));
    const I b = o.bits(o.select(tiny, o.mul(x, c(0x1p54)), x));
    const I k = o.shift_right_signed(o.minus(b, 0x3fe6a09e667f3bcd), 52);
    const F exponent = o.to_double(k);
    return {o.from_bits(o.difference(b, o.shift_left(k, 52))), o.select(tiny, o.sub(exponent, c(54.0)), exponent)};
  }
  /// (2 artanh s − 2 s)/s³ in z = s²
  F logarithm_tail(F z) {
    F p = c(0x1.e6bf079f670fep-4);
    for (const double a : {0x1.debd2cc5021e0p-4, 0x1.111d30dcfa14ap-3, 0x1.3b137afb813a0p-3, 0x1.745d17d40cf59p-3,
                           0x1.c71c71c64b463p-3, 0x1.2492492492962p-2, 0x1.9999999999998p-2, 0x1.5555555555555p-1})
      p = o.fma(p, z, c(a));
    return p;
  }
  F logarithm_limits(F x, F value) {
    value = o.select(o.equal(x, infinity()), x, value);
    value = o.select(o.less(x, c(0.0)), none(), value);
    value = o.select(o.differs(x, x), x, value);
    return o.select(o.equal(x, c(0.0)), o.neg(infinity()), value);
  }
  F log_of_one_plus(F y) {
    const F u = o.add(c(1.0), y), lost = o.sub(y, o.sub(u, c(1.0)));
    const F value = o.add(log(u), o.div(lost, u));
    return o.select(o.equal(u, infinity()), u, value);
  }
  /// Up to 1.
  F small_sinh(F x) {
    const F z = o.mul(x, x);
    F p = c(0x1.952c77030ad4ap-49);  // 1/17!, 1/15!, …
    for (const double a : {0x1.ae7f3e733b81fp-41, 0x1.6124613a86d09p-33, 0x1.ae64567f544e4p-26, 0x1.71de3a556c734p-19,
                           0x1.a01a01a01a01ap-13, 0x1.1111111111111p-7, 0x1.5555555555555p-3})
      p = o.fma(p, z, c(a));
    return o.fma(o.mul(x, z), p, x);
  }

  Arithmetic o;
};

}  // namespace mechanician
