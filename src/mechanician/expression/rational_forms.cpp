// From expressions to rational forms: what each operator does.

#include <algorithm>
#include <cmath>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

bool is_negative(const RationalForm& f) { return !f.num.empty() && f.num.begin()->second.num() < 0; }

std::optional<Rational> constant_value(const RationalForm& f) {
  if (!f.den.empty() || !is_constant(f.num)) return std::nullopt;
  return f.num.empty() ? Rational(0) : f.num.begin()->second;
}

/// The largest s with s² | n, as far as small factors show it.
std::int64_t square_part(std::int64_t n) {
  std::int64_t s = 1;
  for (std::int64_t p = 2; p <= 100 && p * p <= n; ++p)
    while (n % (p * p) == 0) n /= p * p, s *= p;
  const auto root = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(n))));
  if (root < 3'000'000'000 && root * root == n) s *= root;
  return s;
}

enum class Parity { none, odd, even };
Parity parity_of(Op op) {
  switch (op) {
    case Op::tan:
    case Op::asin:
    case Op::atan:
    case Op::sinh:
    case Op::tanh:
    case Op::asinh:
    case Op::atanh:
    case Op::sign:
      return Parity::odd;
    case Op::cosh:
    case Op::abs:
      return Parity::even;
    default:
      return Parity::none;
  }
}

}  // namespace

std::vector<RationalForm> RationalField::forms(std::span<const Expr> fs) {
  const PostOrder order = post_order(fs);
  if (order.nodes.size() > options_.max_nodes) throw TooLarge{};
  const auto at = [&](const ExprNode* n) { return static_cast<std::size_t>(order.index.at(n)); };

  // Where singularities are kept, arguments of functions stay as written and need no form.
  std::vector<char> needed(order.nodes.size(), options_.singularities == Singularities::cancel);
  for (const Expr& f : fs) needed[at(f.node())] = 1;
  for (std::size_t i = order.nodes.size(); i-- > 0;) {
    const ExprNode* n = order.nodes[i];
    const bool rational = n->op == Op::add || n->op == Op::sub || n->op == Op::mul || n->op == Op::div ||
                          n->op == Op::neg || n->op == Op::pow;
    if (needed[i] && rational)
      for (const ExprNode* a : n->arguments()) needed[at(a)] = 1;
  }

  std::vector<RationalForm> made(order.nodes.size());
  std::vector<const RationalForm*> args;
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    if (!needed[i]) continue;
    args.clear();
    for (const ExprNode* a : order.nodes[i]->arguments()) args.push_back(&made[at(a)]);
    made[i] = node_form(order.nodes[i], args);
  }
  std::vector<RationalForm> result;
  for (const Expr& f : fs) result.push_back(made[at(f.node())]);
  check_singularities(fs, result);
  return result;
}

RationalForm RationalField::form(const Expr& f) { return std::move(forms(std::span(&f, 1)).front()); }

/// With Singularities::keep: every divisor must still be one, and every function that has a limited domain still be
/// there.
void RationalField::check_singularities(std::span<const Expr> fs, std::span<const RationalForm> results) const {
  if (options_.singularities == Singularities::cancel || fs.size() != 1) return;
  const RationalForm& f = results.front();
  const auto in_denominator = [&](const Polynomial& p) {
    return std::any_of(f.den.begin(), f.den.end(), [&](const auto& factor) { return factor.base == p; });
  };
  for (const Polynomial& p : divisors_) {
    const PrimitiveParts parts = primitive_parts(p);
    for (const auto& power : parts.monomial.powers)
      if (!in_denominator(variable_polynomial(power.variable))) throw TooLarge{};
    if (!is_constant(parts.primitive) && !in_denominator(parts.primitive)) throw TooLarge{};
  }
  for (std::size_t v = 0; v < kernels_.size(); ++v) {
    if (kernels_[v].expr.is_total()) continue;
    bool there = contains_variable(f.num, static_cast<int>(v));
    for (const auto& factor : f.den) there = there || contains_variable(factor.base, static_cast<int>(v));
    if (!there) throw TooLarge{};
  }
}

RationalForm RationalField::constant_form(double value) {
  if (!std::isfinite(value)) throw TooLarge{};
  // Short binary fractions are exact; longer ones stand for a decimal and stay what they are.
  constexpr double scale = 1 << 10, largest = 1e12;
  const double scaled = value * scale;
  if (std::abs(scaled) < largest * scale && scaled == std::floor(scaled))
    return constant(Rational(static_cast<std::int64_t>(scaled), static_cast<std::int64_t>(scale)));
  const RationalForm magnitude = kernel_form(Expr(std::abs(value)));
  return value < 0 ? negate(magnitude) : magnitude;
}

RationalForm RationalField::node_form(const ExprNode* n, std::span<const RationalForm* const> args) {
  switch (n->op) {
    case Op::constant:
      return constant_form(n->value);
    case Op::symbol:
    case Op::table:
      return kernel_form(Expr::of(n));
    case Op::add:
      return add(*args[0], *args[1]);
    case Op::sub:
      return subtract(*args[0], *args[1]);
    case Op::mul:
      return multiply(*args[0], *args[1]);
    case Op::div:
      return divide(*args[0], *args[1]);
    case Op::neg:
      return negate(*args[0]);
    case Op::pow:
      return power_form(n, *args[0], *args[1]);
    default:
      if (options_.singularities == Singularities::keep) return kernel_form(Expr::of(n));
      return function_form(n, args);
  }
}

RationalForm RationalField::power_form(const ExprNode* n, const RationalForm& base, const RationalForm& exponent) {
  constexpr std::int64_t largest = 1000;
  const auto e = constant_value(exponent);
  if (e && e->den() == 1 && std::abs(e->num()) <= largest) {
    if (e->num() < 0 && base.is_zero()) throw TooLarge{};
    return power(base, static_cast<int>(e->num()));
  }
  if (options_.singularities == Singularities::keep) return kernel_form(Expr::of(n));
  if (e && e->den() == 2 && std::abs(e->num()) <= largest) return power(root_form(n, base), static_cast<int>(e->num()));
  return kernel_form(make_simplified(Op::pow, {argument_expr(n->args[0], base), argument_expr(n->args[1], exponent)}));
}

Expr RationalField::argument_expr(const ExprNode*, const RationalForm& form) { return plain_expr(cancelled(form)); }

RationalForm RationalField::root_form(const ExprNode*, const RationalForm& given) {
  RationalForm radicand = cancelled(given);
  if (radicand.is_zero()) return {};
  // √(4x) = 2√x
  const Rational content = primitive_parts(radicand.num).content;
  const Rational outside(square_part(std::abs(content.num())), square_part(content.den()));
  radicand.num = arithmetic_.multiply(radicand.num, Rational(1) / (outside * outside));
  if (const auto c = constant_value(radicand); c && c->is_one()) return constant(outside);
  const int v = kernel_of(make_raw(Op::sqrt, {plain_expr(radicand)}));
  if (Kernel& k = kernels_[static_cast<std::size_t>(v)]; !k.has_rule) {
    k.has_rule = true;
    k.rule_num = radicand.num;
    k.rule_den = denominator(radicand);
  }
  return {arithmetic_.multiply(variable_polynomial(v), outside), {}};
}

RationalField::SineCosine RationalField::sine_cosine_kernels(const Expr& argument) {
  const Expr s = make_simplified(Op::sin, {argument}), c = make_simplified(Op::cos, {argument});
  if (s.is_constant() && c.is_constant()) return {constant_form(s.value()), constant_form(c.value())};
  const int vs = kernel_of(s), vc = kernel_of(c);
  if (Kernel& k = kernels_[static_cast<std::size_t>(vc)]; !k.has_rule && vs < vc) {
    k.has_rule = true;
    k.sine = vs;
    k.rule_num = arithmetic_.subtract(constant_polynomial(1), variable_polynomial(vs, 2));
    k.rule_den = constant_polynomial(1);
  }
  return {{variable_polynomial(vs), {}}, {variable_polynomial(vc), {}}};
}

RationalField::SineCosine RationalField::sine_cosine(const Expr& argument, const RationalForm& form) {
  constexpr std::size_t most_terms = 6;
  constexpr std::int64_t most_multiple = 8;
  if (options_.purpose == Purpose::display || !form.den.empty() || form.num.size() > most_terms) {
    const RationalForm& positive = is_negative(form) ? negate(form) : form;
    SineCosine sc = sine_cosine_kernels(is_negative(form) ? plain_expr(positive) : argument);
    if (is_negative(form)) sc.sine = negate(sc.sine);
    return sc;
  }
  // The addition theorem, term by term: p/q·m is p times the angle m/q.
  SineCosine sum{{}, constant(1)};
  const auto turn = [&](const SineCosine& by) {
    sum = {add(multiply(sum.sine, by.cosine), multiply(sum.cosine, by.sine)),
           subtract(multiply(sum.cosine, by.cosine), multiply(sum.sine, by.sine))};
  };
  for (const auto& [monomial, coefficient] : form.num) {
    const bool split = std::abs(coefficient.num()) <= most_multiple;
    const Rational step = split ? Rational(1, coefficient.den()) : coefficient.num() < 0 ? -coefficient : coefficient;
    SineCosine one = sine_cosine_kernels(plain_expr({Polynomial{{monomial, step}}, {}}));
    if (coefficient.num() < 0) one.sine = negate(one.sine);
    for (std::int64_t k = split ? std::abs(coefficient.num()) : 1; k > 0; --k) turn(one);
  }
  return sum;
}

/// exp(Σ p/q·m) = Π exp(m/q)^p
RationalForm RationalField::exponential(const ExprNode* n, const RationalForm& argument) {
  if (options_.purpose == Purpose::display || !argument.den.empty())
    return kernel_form(make_simplified(Op::exp, {argument_expr(n->args[0], argument)}));
  RationalForm product = constant(1);
  for (const auto& [monomial, coefficient] : argument.num) {
    if (std::abs(coefficient.num()) > 1000) throw TooLarge{};
    const Expr base = make_raw(Op::exp, {plain_expr({Polynomial{{monomial, Rational(1, coefficient.den())}}, {}})});
    product = multiply(product, power(kernel_form(base), static_cast<int>(coefficient.num())));
  }
  return product;
}

RationalForm RationalField::function_form(const ExprNode* n, std::span<const RationalForm* const> args) {
  const bool proof = options_.purpose == Purpose::proof;
  if (n->op == Op::sqrt) return root_form(n, *args[0]);
  if (n->op == Op::hypot) return root_form(n, add(power(*args[0], 2), power(*args[1], 2)));
  if (n->op == Op::exp) return exponential(n, *args[0]);
  if (n->op == Op::sin || n->op == Op::cos || (proof && n->op == Op::tan)) {
    const RationalForm argument = cancelled(*args[0]);
    const SineCosine sc = sine_cosine(plain_expr(argument), argument);
    return n->op == Op::sin ? sc.sine : n->op == Op::cos ? sc.cosine : divide(sc.sine, sc.cosine);
  }

  // A kernel of its own, with arguments in normal form and the sign of an odd or even function's argument settled.
  std::vector<Expr> exprs;
  bool flipped = false;
  const Parity parity = parity_of(n->op);
  for (std::size_t k = 0; k < args.size(); ++k) {
    RationalForm argument = cancelled(*args[k]);
    flipped = parity != Parity::none && is_negative(argument);
    exprs.push_back(plain_expr(flipped ? negate(argument) : argument));
  }
  const auto kernel_with = [&](Op op) -> RationalForm {
    const Expr e = make_simplified(op, exprs);
    return e.is_constant() ? constant_form(e.value()) : kernel_form(e);
  };
  RationalForm result;
  if (n->op == Op::cosh || n->op == Op::sinh || (proof && n->op == Op::tanh)) {
    const RationalForm s = kernel_with(Op::sinh), c = kernel_with(Op::cosh);
    if (!is_constant(c.num)) {
      const int v = c.num.begin()->first.powers.front().variable;
      if (Kernel& kernel = kernels_[static_cast<std::size_t>(v)]; !kernel.has_rule) {
        kernel.has_rule = true;
        kernel.rule_num = arithmetic_.add(constant_polynomial(1), arithmetic_.multiply(s.num, s.num));
        kernel.rule_den = constant_polynomial(1);
      }
    }
    result = n->op == Op::cosh ? c : n->op == Op::sinh ? s : divide(s, c);
  } else {
    result = kernel_with(n->op);
  }
  if (n->op == Op::abs && !is_constant(result.num)) {
    const int v = result.num.begin()->first.powers.front().variable;
    if (Kernel& kernel = kernels_[static_cast<std::size_t>(v)]; !kernel.has_rule && kernel.expr.op() == Op::abs) {
      const RationalForm square = power(cancelled(*args[0]), 2);
      kernels_[static_cast<std::size_t>(v)].has_rule = true;
      kernels_[static_cast<std::size_t>(v)].rule_num = square.num;
      kernels_[static_cast<std::size_t>(v)].rule_den = denominator(square);
    }
  }
  return flipped && parity == Parity::odd ? negate(result) : result;
}

}  // namespace mechanician
