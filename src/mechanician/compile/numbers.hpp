#pragma once

/// Numbers of a program under construction, with what is known about them: constants are known by value, signs are
/// carried along instead of computed, and in sums of products equal products are taken together.
///
///     m⁻¹x·x + m⁻¹y·y  →  m⁻¹(x·x + y·y)          g·x − g·x  →  nothing
///
/// Such sums are what A M⁻¹Aᵀ and A M⁻¹Q are made of: a rod between two masses has the same coefficients twice.

#include <span>
#include <vector>

#include "mechanician/compile/program.hpp"

namespace mechanician {

/// scale·value, or just the constant `scale`.
struct Number {
  ProgramBuilder::Value value = -1;  ///< −1: a constant
  double scale = 0.0;                ///< the constant, or the sign ±1 of the value

  bool is_constant() const { return value < 0; }
  bool is_zero() const { return is_constant() && scale == 0.0; }
  bool is_one() const { return is_constant() && scale == 1.0; }
  Number operator-() const { return {value, -scale}; }
};
inline Number constant_number(double x) { return {-1, x}; }

class Numbers {
 public:
  using Value = ProgramBuilder::Value;
  explicit Numbers(ProgramBuilder& builder) : builder_(&builder) {}

  /// Values of the builder as numbers. Linear in the size of the program so far.
  std::vector<Number> adopt(std::span<const Value> values);
  Value value_of(const Number& x);

  Number add(const Number& a, const Number& b);
  Number sub(const Number& a, const Number& b) { return add(a, -b); }
  Number mul(const Number& a, const Number& b);
  Number reciprocal(const Number& a);
  Number apply(Op op, const Number& a, const Number& b);

  /// factor·a·b; the factor is what sums are grouped by.
  struct Product {
    Number factor = constant_number(1.0), a = constant_number(1.0), b = constant_number(1.0);
  };
  Number sum(std::span<const Product> products);

 private:
  ProgramBuilder* builder_;
};

}  // namespace mechanician
