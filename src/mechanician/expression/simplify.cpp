#include "mechanician/expression/simplify.hpp"

#include <cmath>
#include <optional>
#include <unordered_set>

#include "mechanician/expression/evaluate_operator.hpp"
#include "mechanician/expression/node.hpp"
#include "mechanician/expression/node_count.hpp"

namespace mechanician {

namespace {

using Args = std::span<const Expr>;

bool is_integer(const Expr& x) {
  return x.is_constant() && x.value() == std::floor(x.value()) && std::abs(x.value()) < 1e9;
}
bool is_positive_integer(const Expr& x) { return is_integer(x) && x.value() > 0; }
bool both_constant(Args x) { return x[0].is_constant() && x[1].is_constant(); }

/// The sum, product or quotient of two constants where it is exact.
std::optional<double> exact(Op op, double a, double b) {
  double r = 0.0, error = 0.0;
  switch (op) {
    case Op::add:
    case Op::sub: {
      const double c = op == Op::add ? b : -b;
      r = a + c;
      const double bb = r - a;
      error = (a - (r - bb)) + (c - bb);
      break;
    }
    case Op::mul:
      r = a * b;
      error = std::fma(a, b, -r);
      break;
    case Op::div:
      if (b == 0.0) return std::nullopt;
      r = a / b;
      error = std::fma(r, b, -a);
      break;
    default:
      return std::nullopt;
  }
  // A subnormal remainder hides its own error.
  if (!std::isfinite(r) || error != 0.0 || (r != 0.0 && std::abs(r) < 1e-290)) return std::nullopt;
  return r;
}

/// c·f with c < 0
bool is_negative_multiple(const Expr& f) { return f.op() == Op::mul && f.arg(0).is_constant() && f.arg(0).value() < 0; }
Expr negated_multiple(const Expr& f) { return make_simplified(Op::mul, {-f.arg(0).value(), f.arg(1)}); }

Expr simplified_add(Args x) {
  const Expr &a = x[0], &b = x[1];
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (both_constant(x))
    if (const auto r = exact(Op::add, a.value(), b.value())) return *r;
  if (b.op() == Op::neg) return make_simplified(Op::sub, {a, b.arg(0)});
  if (b.is_constant() && b.value() < 0) return make_simplified(Op::sub, {a, -b.value()});
  if (is_negative_multiple(b)) return make_simplified(Op::sub, {a, negated_multiple(b)});
  if (a.op() == Op::neg) return make_simplified(Op::sub, {b, a.arg(0)});
  if (is_negative_multiple(a)) return make_simplified(Op::sub, {b, negated_multiple(a)});
  if (same(a, b)) return make_simplified(Op::mul, {2, a});
  return make_raw(Op::add, x);
}

Expr simplified_sub(Args x) {
  const Expr &a = x[0], &b = x[1];
  if (b.is_zero()) return a;
  if (a.is_zero()) return make_simplified(Op::neg, {b});
  if (both_constant(x))
    if (const auto r = exact(Op::sub, a.value(), b.value())) return *r;
  if (same(a, b) && a.is_total()) return 0;
  if (b.op() == Op::neg) return make_simplified(Op::add, {a, b.arg(0)});
  if (b.is_constant() && b.value() < 0) return make_simplified(Op::add, {a, -b.value()});
  if (is_negative_multiple(b)) return make_simplified(Op::add, {a, negated_multiple(b)});
  return make_raw(Op::sub, x);
}

/// base and exponent of f as a power with a positive integer exponent: x → (x, 1), x^3 → (x, 3).
struct IntegerPower {
  Expr base;
  double exponent;
};
IntegerPower as_integer_power(const Expr& f) {
  if (f.op() == Op::pow && is_positive_integer(f.arg(1))) return {f.arg(0), f.arg(1).value()};
  return {f, 1.0};
}

Expr simplified_mul(Args x) {
  const Expr &a = x[0], &b = x[1];
  if (a.is_zero() && b.is_total()) return 0;
  if (b.is_zero() && a.is_total()) return 0;
  if (a.is_one()) return b;
  if (b.is_one()) return a;
  if (both_constant(x)) {
    if (const auto r = exact(Op::mul, a.value(), b.value())) return *r;
    return make_raw(Op::mul, x);
  }
  if (b.is_constant()) return make_simplified(Op::mul, {b, a});
  if (a.is_constant(-1.0)) return make_simplified(Op::neg, {b});
  if (a.op() == Op::neg && b.op() == Op::neg) return make_simplified(Op::mul, {a.arg(0), b.arg(0)});
  if (a.op() == Op::neg) return make_simplified(Op::neg, {make_simplified(Op::mul, {a.arg(0), b})});
  if (b.op() == Op::neg) return make_simplified(Op::neg, {make_simplified(Op::mul, {a, b.arg(0)})});
  if (a.is_constant() && b.op() == Op::mul && b.arg(0).is_constant())
    if (const auto r = exact(Op::mul, a.value(), b.arg(0).value())) return make_simplified(Op::mul, {*r, b.arg(1)});
  if (a.is_constant() && b.op() == Op::div && b.arg(0).is_constant())
    if (const auto r = exact(Op::mul, a.value(), b.arg(0).value())) return make_simplified(Op::div, {*r, b.arg(1)});
  // 2·(m/2) → m
  if (a.is_constant() && b.op() == Op::div && b.arg(1).is_constant())
    if (const auto r = exact(Op::div, a.value(), b.arg(1).value())) return make_simplified(Op::mul, {*r, b.arg(0)});
  if (!a.is_constant() && b.op() == Op::mul && b.arg(0).is_constant())
    return make_simplified(Op::mul, {b.arg(0), make_simplified(Op::mul, {a, b.arg(1)})});
  if (b.op() == Op::div && b.arg(0).is_one()) return make_simplified(Op::div, {a, b.arg(1)});
  if (a.op() == Op::div && a.arg(0).is_one()) return make_simplified(Op::div, {b, a.arg(1)});
  const IntegerPower pa = as_integer_power(a), pb = as_integer_power(b);
  if (same(pa.base, pb.base) && !pa.base.is_constant())
    return make_simplified(Op::pow, {pa.base, pa.exponent + pb.exponent});
  return make_raw(Op::mul, x);
}

Expr simplified_div(Args x) {
  const Expr &a = x[0], &b = x[1];
  if (b.is_one()) return a;
  if (b.is_constant(-1.0)) return make_simplified(Op::neg, {a});
  if (a.is_zero() && b.is_constant() && !b.is_zero()) return 0;
  if (both_constant(x))
    if (const auto r = exact(Op::div, a.value(), b.value())) return *r;
  if (a.op() == Op::neg) return make_simplified(Op::neg, {make_simplified(Op::div, {a.arg(0), b})});
  if (b.op() == Op::neg) return make_simplified(Op::neg, {make_simplified(Op::div, {a, b.arg(0)})});
  // 6·x/2 → 3·x
  if (b.is_constant() && a.op() == Op::mul && a.arg(0).is_constant())
    if (const auto r = exact(Op::div, a.arg(0).value(), b.value())) return make_simplified(Op::mul, {*r, a.arg(1)});
  return make_raw(Op::div, x);
}

Expr simplified_neg(Args x) {
  const Expr& a = x[0];
  if (a.is_constant()) return -a.value();
  if (a.op() == Op::neg) return a.arg(0);
  if (a.op() == Op::sub) return make_simplified(Op::sub, {a.arg(1), a.arg(0)});
  if (a.op() == Op::mul && a.arg(0).is_constant()) return make_simplified(Op::mul, {-a.arg(0).value(), a.arg(1)});
  return make_raw(Op::neg, x);
}

Expr simplified_pow(Args x) {
  const Expr &a = x[0], &b = x[1];
  if (b.is_one()) return a;
  if (b.is_zero() && a.is_total()) return 1;
  if (both_constant(x) && is_positive_integer(b) && b.value() <= 64) {
    std::optional<double> r = 1.0;
    for (int i = 0; i < static_cast<int>(b.value()) && r; ++i) r = exact(Op::mul, *r, a.value());
    if (r) return *r;
  }
  if (is_positive_integer(b) && a.op() == Op::pow && is_positive_integer(a.arg(1)))
    return make_simplified(Op::pow, {a.arg(0), a.arg(1).value() * b.value()});
  if (is_positive_integer(b) && std::fmod(b.value(), 2.0) == 0.0 && a.op() == Op::neg)
    return make_simplified(Op::pow, {a.arg(0), b});
  return make_raw(Op::pow, x);
}

bool all_constant(Args x) {
  for (const Expr& a : x)
    if (!a.is_constant()) return false;
  return true;
}

/// Functions of constants that are exact: sin(0), √9, |−2|, min(1, 2), 1 < 2.
Expr simplified_function(Op op, Args x) {
  if (op == Op::select) {
    if (x[0].is_constant()) return x[0].value() != 0.0 ? x[1] : x[2];
    if (same(x[1], x[2]) && x[0].is_total()) return x[1];
    return make_raw(op, x);
  }
  if (!all_constant(x)) return make_raw(op, x);
  const double a = x[0].value(), b = x.size() > 1 ? x[1].value() : 0.0;
  const double r = evaluate_operator<double>(op, a, b, 0.0);
  switch (op) {
    case Op::abs:
    case Op::sign:
    case Op::min:
    case Op::max:
    case Op::mod:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not:
      return r;
    case Op::sqrt:
      if (a >= 0 && r == std::floor(r) && exact(Op::mul, r, r) == a) return r;
      break;
    case Op::sin:
    case Op::tan:
    case Op::asin:
    case Op::atan:
    case Op::sinh:
    case Op::tanh:
    case Op::asinh:
    case Op::atanh:
      if (a == 0.0) return 0;
      break;
    case Op::cos:
    case Op::cosh:
    case Op::exp:
      if (a == 0.0) return 1;
      break;
    case Op::log:
    case Op::acosh:
    case Op::acos:
      if (a == 1.0) return 0;
      break;
    default:
      break;
  }
  return make_raw(op, x);
}

}  // namespace

Expr make_simplified(Op op, Args x) {
  switch (op) {
    case Op::add:
      return simplified_add(x);
    case Op::sub:
      return simplified_sub(x);
    case Op::mul:
      return simplified_mul(x);
    case Op::div:
      return simplified_div(x);
    case Op::neg:
      return simplified_neg(x);
    case Op::pow:
      return simplified_pow(x);
    default:
      return simplified_function(op, x);
  }
}

std::vector<Expr> substitute(std::span<const Expr> fs, std::span<const Replacement> replacements) {
  const PostOrder order = post_order(fs);
  std::vector<Expr> made;
  made.reserve(order.nodes.size());
  NodeIndex by;
  for (std::size_t i = 0; i < replacements.size(); ++i) by.emplace(replacements[i].symbol.node(), static_cast<int>(i));
  std::vector<Expr> args;
  for (const ExprNode* n : order.nodes) {
    if (const auto found = by.find(n); found != by.end()) {
      made.push_back(replacements[static_cast<std::size_t>(found->second)].by);
      continue;
    }
    if (n->num_args == 0) {
      made.push_back(Expr::of(n));
      continue;
    }
    args.clear();
    for (const ExprNode* a : n->arguments()) args.push_back(made[static_cast<std::size_t>(order.index.at(a))]);
    made.push_back(make_simplified(n->op, args));
  }
  std::vector<Expr> result;
  result.reserve(fs.size());
  for (const Expr& f : fs) result.push_back(made[static_cast<std::size_t>(order.index.at(f.node()))]);
  return result;
}

Expr substitute(const Expr& f, std::span<const Replacement> replacements) {
  return substitute(std::span(&f, 1), replacements).front();
}

std::vector<Expr> simplify(std::span<const Expr> fs) { return substitute(fs, {}); }
Expr simplify(const Expr& f) { return simplify(std::span(&f, 1)).front(); }

std::vector<Expr> symbols_of(std::span<const Expr> fs) {
  std::vector<Expr> symbols;
  for (const ExprNode* n : post_order(fs).nodes)
    if (n->op == Op::symbol) symbols.push_back(Expr::of(n));
  return symbols;
}

std::size_t count_nodes(std::span<const Expr> fs) {
  NodeCount count;
  for (const Expr& f : fs) count.add(f);
  return count.size();
}

}  // namespace mechanician
