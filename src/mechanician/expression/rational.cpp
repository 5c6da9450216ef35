#include "mechanician/expression/rational.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mechanician {

RationalField::RationalField(RationalOptions options) : options_(std::move(options)), arithmetic_(options_.caps) {
  // Named first, so that they get the first numbers.
  for (const Expr& s : options_.order)
    if (s.is_symbol()) kernel_of(s);
}

int RationalField::kernel_of(const Expr& expr) {
  const auto [at, fresh] = kernel_index_.emplace(expr.node(), static_cast<int>(kernels_.size()));
  if (fresh) kernels_.push_back({expr, -1, false, {}, {}});
  return at->second;
}

// ---- arithmetic

RationalForm RationalField::add(const RationalForm& a, const RationalForm& b) {
  if (a.is_zero() && a.den.empty()) return b;
  if (b.is_zero() && b.den.empty()) return a;
  RationalForm sum{{}, a.den};
  Polynomial factor_a = constant_polynomial(1), factor_b = constant_polynomial(1);
  std::vector<char> shared(a.den.size(), 0);
  for (const auto& f : b.den) {
    const auto same = std::find_if(sum.den.begin(), sum.den.end(), [&](const auto& g) { return g.base == f.base; });
    if (same == sum.den.end()) {
      factor_a = arithmetic_.multiply(factor_a, arithmetic_.power(f.base, f.exponent));
      sum.den.push_back(f);
      continue;
    }
    shared[static_cast<std::size_t>(same - sum.den.begin())] = 1;
    const int difference = f.exponent - same->exponent;
    if (difference > 0) factor_a = arithmetic_.multiply(factor_a, arithmetic_.power(f.base, difference));
    if (difference < 0) factor_b = arithmetic_.multiply(factor_b, arithmetic_.power(f.base, -difference));
    same->exponent = std::max(same->exponent, f.exponent);
  }
  for (std::size_t i = 0; i < a.den.size(); ++i)
    if (!shared[i]) factor_b = arithmetic_.multiply(factor_b, arithmetic_.power(a.den[i].base, a.den[i].exponent));
  sum.num = arithmetic_.add(is_one(factor_a) ? a.num : arithmetic_.multiply(a.num, factor_a),
                            is_one(factor_b) ? b.num : arithmetic_.multiply(b.num, factor_b));
  return normalised(std::move(sum));
}

RationalForm RationalField::multiply(const RationalForm& a, const RationalForm& b) {
  RationalForm product{arithmetic_.multiply(a.num, b.num), a.den};
  for (const auto& f : b.den) insert_factor(product.den, f.base, f.exponent);
  return normalised(std::move(product));
}

RationalForm RationalField::divide(const RationalForm& a, const RationalForm& b) {
  if (b.is_zero()) throw TooLarge{};  // defined nowhere
  RationalForm quotient = a;
  for (const auto& f : b.den) quotient.num = arithmetic_.multiply(quotient.num, arithmetic_.power(f.base, f.exponent));
  divide_by(quotient, b.num, 1);
  return normalised(std::move(quotient));
}

RationalForm RationalField::power(const RationalForm& a, int exponent) {
  if (exponent < 0) return divide(constant(1), power(a, -exponent));
  if (exponent == 0) return constant(1);
  RationalForm result{arithmetic_.power(a.num, exponent), a.den};
  for (auto& f : result.den) f.exponent *= exponent;
  return normalised(std::move(result));
}

Polynomial RationalField::denominator(const RationalForm& f) {
  Polynomial product = constant_polynomial(1);
  for (const auto& g : f.den) product = arithmetic_.multiply(product, arithmetic_.power(g.base, g.exponent));
  return product;
}

void RationalField::divide_by(RationalForm& f, const Polynomial& p, int exponent) {
  if (p.empty()) throw TooLarge{};
  if (!is_constant(p) && std::find(divisors_.begin(), divisors_.end(), p) == divisors_.end()) divisors_.push_back(p);
  const PrimitiveParts parts = primitive_parts(p);
  Rational content = 1;
  for (int k = 0; k < exponent; ++k) content = content * parts.content;
  f.num = arithmetic_.multiply(f.num, Rational(1) / content);
  for (const auto& power : parts.monomial.powers)
    insert_factor(f.den, variable_polynomial(power.variable), power.exponent * exponent);
  insert_factor(f.den, parts.primitive, exponent);
}

void RationalField::insert_factor(std::vector<RationalForm::Factor>& den, Polynomial p, int exponent) {
  // Factors that divide one another are split, so that a common denominator stays small.
  for (std::size_t i = 0; i < den.size() && !is_constant(p); ++i) {
    if (den[i].base == p) {
      den[i].exponent += exponent;
      if (den[i].exponent > 10000) throw TooLarge{};
      return;
    }
    if (den[i].base.size() == 1 || p.size() == 1) continue;
    if (auto q = arithmetic_.divide(p, den[i].base)) {
      den[i].exponent += exponent;
      p = primitive_parts(*q).primitive;
      --i;  // once more with the same factor
      continue;
    }
    if (auto q = arithmetic_.divide(den[i].base, p)) {
      const int outer = den[i].exponent;
      den[i].base = p;
      den[i].exponent += exponent;
      insert_factor(den, primitive_parts(*q).primitive, outer);
      return;
    }
  }
  if (!is_constant(p)) den.push_back({std::move(p), exponent});
}

// ---- relations between kernels

RationalField::Reduced RationalField::reduced(const Polynomial& p, int kernel) {
  const Kernel& k = kernels_[static_cast<std::size_t>(kernel)];
  const std::vector<Polynomial> coefficients = coefficients_in(p, kernel);
  const int most = static_cast<int>(coefficients.size() - 1) / 2;
  Reduced result{{}, is_one(k.rule_den) ? 0 : most};
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    if (coefficients[j].empty()) continue;
    const int half = static_cast<int>(j) / 2;
    Polynomial term = arithmetic_.multiply(coefficients[j], arithmetic_.power(k.rule_num, half));
    if (result.divisions > 0) term = arithmetic_.multiply(term, arithmetic_.power(k.rule_den, most - half));
    if (j % 2 == 1) term = arithmetic_.multiply(term, variable_polynomial(kernel));
    result.p = arithmetic_.add(result.p, term);
  }
  return result;
}

RationalForm RationalField::normalised(RationalForm f) {
  const auto highest = [&](const Polynomial& p, int exponent) {
    int found = -1;
    for (const auto& [monomial, coefficient] : p)
      for (const auto& power : monomial.powers)
        if (power.exponent * exponent >= 2 && kernels_[static_cast<std::size_t>(power.variable)].has_rule)
          found = std::max(found, power.variable);
    return found;
  };
  // A rule speaks of earlier kernels only: from the last to the first, each is needed once.
  for (int kernel; (kernel = highest(f.num, 1)) >= 0;) {
    const Reduced r = reduced(f.num, kernel);
    f.num = r.p;
    if (r.divisions > 0) divide_by(f, kernels_[static_cast<std::size_t>(kernel)].rule_den, r.divisions);
  }
  for (std::size_t i = 0; i < f.den.size();) {
    const bool single = f.den[i].base.size() == 1;
    const int kernel = highest(f.den[i].base, single ? f.den[i].exponent : 1);
    if (kernel < 0) {
      ++i;
      continue;
    }
    const RationalForm::Factor factor = f.den[i];
    f.den.erase(f.den.begin() + static_cast<std::ptrdiff_t>(i));
    const Reduced r =
        single ? reduced(variable_polynomial(kernel, factor.exponent), kernel) : reduced(factor.base, kernel);
    const int exponent = single ? 1 : factor.exponent;
    if (r.divisions > 0)
      f.num = arithmetic_.multiply(
          f.num, arithmetic_.power(kernels_[static_cast<std::size_t>(kernel)].rule_den, r.divisions * exponent));
    divide_by(f, r.p, exponent);
    return normalised(std::move(f));
  }
  if (options_.singularities == Singularities::keep) return f;
  // What cancels at once.
  if (f.is_zero()) f.den.clear();
  for (auto& factor : f.den)
    while (factor.exponent > 0) {
      auto q = arithmetic_.divide(f.num, factor.base);
      if (!q) break;
      f.num = *std::move(q);
      --factor.exponent;
    }
  std::erase_if(f.den, [](const auto& factor) { return factor.exponent == 0; });
  return f;
}

/// k²/k = k for a kernel in the denominator whose square divides the numerator, and k/k² = 1/k the other way round.
void RationalField::cancel_rules(RationalForm& f) {
  for (std::size_t v = 0; v < kernels_.size(); ++v) {
    const Kernel& k = kernels_[v];
    if (!k.has_rule || !is_one(k.rule_den) || is_constant(k.rule_num)) continue;
    const Polynomial variable = variable_polynomial(static_cast<int>(v));
    const Polynomial square = primitive_parts(k.rule_num).primitive;
    if (is_constant(square)) continue;
    for (std::size_t i = 0; i < f.den.size(); ++i) {
      if (f.den[i].base == variable) {
        if (auto q = arithmetic_.divide(f.num, k.rule_num)) {
          f.num = arithmetic_.multiply(*q, variable);
          f.den.erase(f.den.begin() + static_cast<std::ptrdiff_t>(i));
          break;
        }
      } else if (f.den[i].base == square && k.rule_num.size() > 1) {
        // num·k / (c·square) with k² = c·m·square: only where nothing but a constant is left over.
        const auto rest = arithmetic_.divide(k.rule_num, square);
        const auto q = arithmetic_.divide(f.num, variable);
        if (!q || !rest || !is_constant(*rest)) continue;
        f.num = arithmetic_.multiply(*q, rest->begin()->second);
        if (--f.den[i].exponent == 0) f.den.erase(f.den.begin() + static_cast<std::ptrdiff_t>(i));
        insert_factor(f.den, variable, 1);
        break;
      }
    }
  }
}

RationalForm RationalField::cancelled(RationalForm f) {
  if (f.is_zero()) return {};
  // Common factors of the denominator's own factors first: each of them is then tried alone.
  for (std::size_t i = 0; i < f.den.size(); ++i)
    for (std::size_t j = i + 1; j < f.den.size(); ++j) {
      if (f.den[i].base.size() == 1 || f.den[j].base.size() == 1) continue;
      const Polynomial g = arithmetic_.gcd(f.den[i].base, f.den[j].base);
      if (is_constant(g)) continue;
      const int exponent = f.den[i].exponent + f.den[j].exponent;
      for (const std::size_t k : {i, j})
        f.den[k].base = primitive_parts(*arithmetic_.divide(f.den[k].base, g)).primitive;
      std::erase_if(f.den, [](const auto& factor) { return is_constant(factor.base); });
      insert_factor(f.den, g, exponent);
      i = 0, j = 0;
      if (f.den.size() < 2) break;
    }
  f = normalised(std::move(f));
  for (std::size_t i = 0; i < f.den.size(); ++i) {
    if (f.den[i].base.size() == 1) continue;
    const Polynomial g = arithmetic_.gcd(f.num, f.den[i].base);
    if (is_constant(g)) continue;
    f.num = *arithmetic_.divide(f.num, g);
    const RationalForm::Factor factor = f.den[i];
    f.den.erase(f.den.begin() + static_cast<std::ptrdiff_t>(i));
    const Polynomial rest = primitive_parts(*arithmetic_.divide(factor.base, g)).primitive;
    insert_factor(f.den, rest, factor.exponent);
    if (factor.exponent > 1) insert_factor(f.den, g, factor.exponent - 1);
    i = static_cast<std::size_t>(-1);  // from the start
  }
  cancel_rules(f);
  return normalised(std::move(f));
}

// ---- questions

bool proves_zero(const Expr& f) {
  if (f.is_zero()) return true;
  try {
    RationalField field({.purpose = Purpose::proof});
    return field.form(f).is_zero();
  } catch (const TooLarge&) {
    return false;
  }
}

std::optional<Expr> rational_expr(const Expr& f, const RationalOptions& options) {
  try {
    RationalField field(options);
    RationalForm form = field.form(f);
    if (options.singularities == Singularities::cancel) form = field.cancelled(std::move(form));
    return field.to_expr(form);
  } catch (const TooLarge&) {
    return std::nullopt;
  }
}

}  // namespace mechanician
