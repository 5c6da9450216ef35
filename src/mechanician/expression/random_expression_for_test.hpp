#pragma once

/// Random expressions for tests: seeded, over all operators, with sharing.

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

struct RandomExpressionOptions {
  int num_operations = 15;
  bool smooth = false;  ///< without abs, sign, min, max, if and comparisons
};

/// Grows a pool from the symbols by random operators and returns its last member.
inline Expr random_expression(std::mt19937_64& random, const std::vector<Expr>& symbols,
                              const RandomExpressionOptions& options = {}) {
  std::vector<Expr> pool = symbols;
  const double constants[] = {1.0, 2.0, 0.5, 3.0, -1.0, 0.1, 0.75};
  const auto pick = [&](std::size_t size) { return std::uniform_int_distribution<std::size_t>(0, size - 1)(random); };
  const auto operand = [&]() -> Expr {
    if (pick(6) == 0) return constants[pick(std::size(constants))];
    // Recent members more often, so that expressions get deep.
    return pool[pick(2) == 0 ? pool.size() - 1 - pick(std::min<std::size_t>(pool.size(), 4)) : pick(pool.size())];
  };
  const auto condition = [&]() -> Expr {
    const Expr a = operand(), b = operand();
    switch (pick(8)) {
      case 0:
        return a < b;
      case 1:
        return a <= b;
      case 2:
        return a > b;
      case 3:
        return a >= b;
      case 4:
        return equal_to(a, b);
      case 5:
        return a < b && b < 2;
      case 6:
        return a < b || a > 2;
      default:
        return !(a < b);
    }
  };
  const auto function = [&](Op op) {
    const OperatorRow& row = row_of(op);
    std::vector<Expr> args;
    for (int k = 0; k < row.arity; ++k) args.push_back(operand());
    return make_raw(op, args);
  };
  for (int i = 0; i < options.num_operations; ++i) {
    const std::size_t kind = pick(10);
    if (kind < 6) {
      constexpr Op arithmetic[] = {Op::add, Op::sub, Op::mul, Op::mul, Op::div, Op::neg, Op::add};
      pool.push_back(function(arithmetic[pick(std::size(arithmetic))]));
    } else if (kind == 6) {
      const double exponents[] = {2, 3, -1, 0.5, 1.5, 4, -2, 0};
      pool.push_back(pick(5) == 0 ? pow(operand(), operand()) : pow(operand(), exponents[pick(std::size(exponents))]));
    } else if (kind < 9 || options.smooth) {
      const auto first = static_cast<std::size_t>(Op::sin),
                 last = static_cast<std::size_t>(options.smooth ? Op::sqrt : Op::hypot);
      pool.push_back(function(static_cast<Op>(first + pick(last - first + 1))));
    } else {
      const Expr a = operand(), b = operand();
      pool.push_back(select(condition(), a, b));
    }
  }
  return pool.back();
}

/// Whether something in f is infinite there: an exponential or an arcus tangent may hide that, and the sign of a zero
/// then decides: exp(1/−0) is 0.
inline bool has_infinite_part(const Expr& f, const std::vector<Expr>& symbols, const std::vector<double>& at) {
  const Expr alone[] = {f};
  if (std::isinf(Tape(alone, symbols)(std::span<const double>(at))[0])) return true;
  for (int i = 0; i < f.num_args(); ++i)
    if (has_infinite_part(f.arg(i), symbols, at)) return true;
  return false;
}

}  // namespace mechanician
