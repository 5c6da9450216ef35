#pragma once

/// Arithmetic that writes PTX instructions (device_functions.hpp says what it is asked for).

#include <bit>
#include <cstdint>
#include <string>

namespace mechanician {

/// The instructions of one kernel, and how many registers of each kind they use.
struct PtxInstructions {
  std::string text;
  int num_doubles = 0, num_words = 0, num_predicates = 0;
};

class PtxText {
 public:
  /// A register, or a constant in its place.
  struct F {
    bool is_constant = false;
    std::uint64_t what = 0;
  };
  struct I {
    int number = 0;
  };
  struct P {
    int number = 0;
  };

  explicit PtxText(PtxInstructions& to) : to_(&to) {}

  static F constant(double x) { return {true, std::bit_cast<std::uint64_t>(x)}; }
  F add(F a, F b) { return make("add.rn.f64", a, b); }
  F sub(F a, F b) { return make("sub.rn.f64", a, b); }
  F mul(F a, F b) { return make("mul.rn.f64", a, b); }
  F div(F a, F b) {
    // The same bits for fewer instructions.
    if (a.is_constant && a.what == constant(1.0).what) return write("rcp.rn.f64", next(), name(b));
    return make("div.rn.f64", a, b);
  }
  F fma(F a, F b, F c) { return write("fma.rn.f64", next(), name(a) + ", " + name(b) + ", " + name(c)); }
  F neg(F a) { return a.is_constant ? F{true, a.what ^ sign_bit} : write("neg.f64", next(), name(a)); }
  F abs(F a) { return write("abs.f64", next(), name(a)); }
  F sqrt(F a) { return write("sqrt.rn.f64", next(), name(a)); }
  F floor(F a) { return write("cvt.rmi.f64.f64", next(), name(a)); }
  F select(P p, F a, F b) { return write("selp.f64", next(), name(a) + ", " + name(b) + ", " + name(p)); }
  F with_sign_of(F a, F b) { return write("copysign.f64", next(), name(b) + ", " + name(a)); }

  P less(F a, F b) { return compare("lt", a, b); }
  P less_equal(F a, F b) { return compare("le", a, b); }
  P equal(F a, F b) { return compare("eq", a, b); }
  P differs(F a, F b) { return compare("neu", a, b); }  // also where one is not a number
  P not_less_equal(F a, F b) { return compare("gtu", a, b); }
  P both(P a, P b) { return write("and.pred", next_predicate(), name(a) + ", " + name(b)); }
  P either(P a, P b) { return write("or.pred", next_predicate(), name(a) + ", " + name(b)); }
  P negated(P a) { return write("not.pred", next_predicate(), name(a)); }
  P is_negative(F a) { return write("setp.lt.s64", next_predicate(), name(bits(a)) + ", 0"); }

  I bits(F a) { return write("mov.b64", next_word(), name(a)); }
  F from_bits(I a) { return write("mov.b64", next(), name(a)); }
  F flip(F a, I sign) { return from_bits(write("xor.b64", next_word(), name(bits(a)) + ", " + name(sign))); }
  I bit_and(I a, std::uint64_t b) { return write("and.b64", next_word(), name(a) + ", " + word(b)); }
  P is_set(I a, std::uint64_t bit) { return write("setp.ne.u64", next_predicate(), name(bit_and(a, bit)) + ", 0"); }
  I plus(I a, std::uint64_t b) { return write("add.u64", next_word(), name(a) + ", " + word(b)); }
  I minus(I a, std::uint64_t b) { return write("sub.u64", next_word(), name(a) + ", " + word(b)); }
  I difference(I a, I b) { return write("sub.u64", next_word(), name(a) + ", " + name(b)); }
  I shift_left(I a, int by) { return write("shl.b64", next_word(), name(a) + ", " + std::to_string(by)); }
  I shift_right_signed(I a, int by) { return write("shr.s64", next_word(), name(a) + ", " + std::to_string(by)); }
  I whole(std::uint64_t x) { return write("mov.b64", next_word(), word(x)); }
  I sum(I a, I b) { return write("add.u64", next_word(), name(a) + ", " + name(b)); }
  I times(I a, std::uint64_t b) { return write("mul.lo.u64", next_word(), name(a) + ", " + word(b)); }
  I least(I a, std::uint64_t b) { return write("min.u64", next_word(), name(a) + ", " + word(b)); }
  I select(P p, I a, I b) { return write("selp.b64", next_word(), name(a) + ", " + name(b) + ", " + name(p)); }
  I address_of(const std::string& array) { return write("mov.u64", next_word(), array); }
  F load(I address) { return write("ld.global.f64", next(), "[" + name(address) + "]"); }
  F to_double(I a) { return write("cvt.rn.f64.s64", next(), name(a)); }

  F next() { return {false, static_cast<std::uint64_t>(to_->num_doubles++)}; }
  static std::string name(F a) {
    if (!a.is_constant) return "%fd" + std::to_string(a.what);
    static const char digits[] = "0123456789ABCDEF";
    std::string s = "0d";
    for (int i = 60; i >= 0; i -= 4) s += digits[a.what >> i & 15];
    return s;
  }
  static std::string name(I a) { return "%rd" + std::to_string(a.number); }
  static std::string name(P a) { return "%p" + std::to_string(a.number); }
  /// One instruction.
  template <class T>
  T write(const char* instruction, T result, const std::string& operands) {
    to_->text += '\t';
    to_->text += instruction;
    to_->text += ' ' + name(result) + ", " + operands + ";\n";
    return result;
  }

 private:
  static constexpr std::uint64_t sign_bit = 1ull << 63;
  I next_word() { return {to_->num_words++}; }
  P next_predicate() { return {to_->num_predicates++}; }
  static std::string word(std::uint64_t x) { return std::to_string(x); }
  F make(const char* instruction, F a, F b) { return write(instruction, next(), name(a) + ", " + name(b)); }
  P compare(const char* how, F a, F b) {
    return write((std::string("setp.") + how + ".f64").c_str(), next_predicate(), name(a) + ", " + name(b));
  }

  PtxInstructions* to_;
};

}  // namespace mechanician
