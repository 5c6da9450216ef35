#include "mechanician/expression/polynomial.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

namespace mechanician {

namespace {

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r) || r == std::numeric_limits<std::int64_t>::min()) throw TooLarge{};
  return r;
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r) || r == std::numeric_limits<std::int64_t>::min()) throw TooLarge{};
  return r;
}

}  // namespace

Rational::Rational(std::int64_t numerator, std::int64_t denominator) {
  assert(denominator != 0);
  if (numerator == std::numeric_limits<std::int64_t>::min() || denominator == std::numeric_limits<std::int64_t>::min())
    throw TooLarge{};
  const std::int64_t g = std::gcd(numerator, denominator) * (denominator < 0 ? -1 : 1);
  num_ = numerator / g;
  den_ = denominator / g;
}

Rational operator+(const Rational& a, const Rational& b) {
  const std::int64_t g = std::gcd(a.den_, b.den_);
  return {plus(times(a.num_, b.den_ / g), times(b.num_, a.den_ / g)), times(a.den_, b.den_ / g)};
}

Rational operator*(const Rational& a, const Rational& b) {
  // Crosswise first, so that nothing overflows that fits.
  const Rational x(a.num_, b.den_), y(b.num_, a.den_);
  return {times(x.num_, y.num_), times(x.den_, y.den_)};
}

Rational operator/(const Rational& a, const Rational& b) { return a * Rational(b.den_, b.num_); }

int Monomial::exponent_of(int variable) const {
  for (const Power& p : powers)
    if (p.variable == variable) return p.exponent;
  return 0;
}

int Monomial::degree() const {
  int sum = 0;
  for (const Power& p : powers) sum += p.exponent;
  return sum;
}

Monomial operator*(const Monomial& a, const Monomial& b) {
  Monomial r;
  r.powers.reserve(a.powers.size() + b.powers.size());
  auto i = a.powers.begin();
  auto j = b.powers.begin();
  while (i != a.powers.end() || j != b.powers.end()) {
    if (j == b.powers.end() || (i != a.powers.end() && i->variable < j->variable))
      r.powers.push_back(*i++);
    else if (i == a.powers.end() || j->variable < i->variable)
      r.powers.push_back(*j++);
    else {
      r.powers.push_back({i->variable, i->exponent + j->exponent});
      if (r.powers.back().exponent > 10000) throw TooLarge{};
      ++i, ++j;
    }
  }
  return r;
}

std::optional<Monomial> quotient(const Monomial& a, const Monomial& b) {
  Monomial r;
  auto j = b.powers.begin();
  for (const Monomial::Power& p : a.powers) {
    if (j == b.powers.end() || j->variable > p.variable) {
      r.powers.push_back(p);
      continue;
    }
    if (j->variable < p.variable || j->exponent > p.exponent) return std::nullopt;
    if (p.exponent > j->exponent) r.powers.push_back({p.variable, p.exponent - j->exponent});
    ++j;
  }
  if (j != b.powers.end()) return std::nullopt;
  return r;
}

Monomial common(const Monomial& a, const Monomial& b) {
  Monomial r;
  for (const Monomial::Power& p : a.powers)
    if (const int e = std::min(p.exponent, b.exponent_of(p.variable)); e > 0) r.powers.push_back({p.variable, e});
  return r;
}

bool LeadingFirst::operator()(const Monomial& a, const Monomial& b) const {
  for (std::size_t i = 0; i < a.powers.size() && i < b.powers.size(); ++i) {
    const auto &p = a.powers[i], &q = b.powers[i];
    if (p.variable != q.variable) return p.variable < q.variable;
    if (p.exponent != q.exponent) return p.exponent > q.exponent;
  }
  return a.powers.size() > b.powers.size();
}

Polynomial constant_polynomial(const Rational& value) {
  if (value.is_zero()) return {};
  return {{Monomial{}, value}};
}

Polynomial variable_polynomial(int variable, int exponent) {
  if (exponent == 0) return constant_polynomial(1);
  return {{Monomial{{{variable, exponent}}}, Rational(1)}};
}

bool is_constant(const Polynomial& p) { return p.empty() || (p.size() == 1 && p.begin()->first.powers.empty()); }
bool is_one(const Polynomial& p) {
  return p.size() == 1 && p.begin()->first.powers.empty() && p.begin()->second.is_one();
}

bool contains_variable(const Polynomial& p, int variable) {
  return std::any_of(p.begin(), p.end(), [&](const auto& term) { return term.first.exponent_of(variable) > 0; });
}

std::vector<int> variables_of(const Polynomial& p) {
  std::vector<int> found;
  for (const auto& [monomial, coefficient] : p)
    for (const auto& power : monomial.powers) found.push_back(power.variable);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

namespace {

void add_term(Polynomial& p, const Monomial& monomial, const Rational& coefficient) {
  const auto [at, fresh] = p.emplace(monomial, coefficient);
  if (fresh) return;
  at->second = at->second + coefficient;
  if (at->second.is_zero()) p.erase(at);
}

}  // namespace

void PolynomialArithmetic::spend(std::size_t work) {
  work_ += work;
  if (work_ > caps_.max_work) throw TooLarge{};
}

Polynomial PolynomialArithmetic::add(const Polynomial& a, const Polynomial& b) {
  spend(a.size() + b.size());
  Polynomial r = a;
  for (const auto& [monomial, coefficient] : b) add_term(r, monomial, coefficient);
  if (r.size() > caps_.max_terms) throw TooLarge{};
  return r;
}

Polynomial PolynomialArithmetic::subtract(const Polynomial& a, const Polynomial& b) {
  spend(a.size() + b.size());
  Polynomial r = a;
  for (const auto& [monomial, coefficient] : b) add_term(r, monomial, -coefficient);
  if (r.size() > caps_.max_terms) throw TooLarge{};
  return r;
}

Polynomial PolynomialArithmetic::multiply(const Polynomial& a, const Polynomial& b) {
  spend(a.size() * b.size());
  Polynomial r;
  for (const auto& [ma, ca] : a) {
    for (const auto& [mb, cb] : b) add_term(r, ma * mb, ca * cb);
    if (r.size() > caps_.max_terms) throw TooLarge{};
  }
  return r;
}

Polynomial PolynomialArithmetic::multiply(const Polynomial& a, const Rational& factor) {
  spend(a.size());
  if (factor.is_zero()) return {};
  Polynomial r = a;
  for (auto& term : r) term.second = term.second * factor;
  return r;
}

Polynomial PolynomialArithmetic::multiply(const Polynomial& a, const Monomial& factor) {
  spend(a.size());
  Polynomial r;
  for (const auto& [monomial, coefficient] : a) r.emplace_hint(r.end(), monomial * factor, coefficient);
  return r;
}

Polynomial PolynomialArithmetic::power(const Polynomial& a, int exponent) {
  Polynomial r = constant_polynomial(1), base = a;
  for (int k = exponent; k > 0; k >>= 1) {
    if (k & 1) r = multiply(r, base);
    if (k > 1) base = multiply(base, base);
  }
  return r;
}

std::optional<Polynomial> PolynomialArithmetic::divide(const Polynomial& a, const Polynomial& b) {
  assert(!b.empty());
  // b | a means that lead(b) divides every leading term on the way.
  Polynomial rest = a, result;
  const auto& [lead, lead_coefficient] = *b.begin();
  while (!rest.empty()) {
    const auto m = quotient(rest.begin()->first, lead);
    if (!m) return std::nullopt;
    const Rational c = rest.begin()->second / lead_coefficient;
    spend(b.size());
    for (const auto& [monomial, coefficient] : b) add_term(rest, monomial * *m, -(coefficient * c));
    result.emplace_hint(result.end(), *m, c);
    if (rest.size() > caps_.max_terms || result.size() > caps_.max_terms) throw TooLarge{};
  }
  return result;
}

Polynomial PolynomialArithmetic::require_divided(const Polynomial& a, const Polynomial& b) {
  auto q = divide(a, b);
  assert(q);
  return *std::move(q);
}

PrimitiveParts primitive_parts(const Polynomial& p) {
  assert(!p.empty());
  std::int64_t numerators = 0, denominators = 1;
  Monomial shared = p.begin()->first;
  for (const auto& [monomial, coefficient] : p) {
    numerators = std::gcd(numerators, coefficient.num());
    denominators = times(denominators, coefficient.den() / std::gcd(denominators, coefficient.den()));
    shared = common(shared, monomial);
  }
  PrimitiveParts parts{Rational(numerators, denominators), shared, {}};
  if (p.begin()->second.num() < 0) parts.content = -parts.content;
  for (const auto& [monomial, coefficient] : p)
    parts.primitive.emplace_hint(parts.primitive.end(), *quotient(monomial, shared), coefficient / parts.content);
  return parts;
}

std::vector<Polynomial> coefficients_in(const Polynomial& p, int variable) {
  std::vector<Polynomial> result(1);
  for (const auto& [monomial, coefficient] : p) {
    const auto k = static_cast<std::size_t>(monomial.exponent_of(variable));
    if (k >= result.size()) result.resize(k + 1);
    Monomial rest = monomial;
    std::erase_if(rest.powers, [&](const Monomial::Power& q) { return q.variable == variable; });
    result[k].emplace(std::move(rest), coefficient);
  }
  return result;
}

// ---- greatest common divisor: primitive remainder sequences, one variable after the other

Polynomial PolynomialArithmetic::gcd(const Polynomial& a, const Polynomial& b) {
  // A search that leads nowhere must not use up what is left for the rest.
  const std::size_t limit = std::exchange(caps_.max_work, std::min(caps_.max_work, work_ + caps_.max_gcd_work));
  Polynomial g = constant_polynomial(1);
  try {
    g = gcd_by_remainders(a, b);
  } catch (const TooLarge&) {
  }
  caps_.max_work = limit;
  return g;
}

/// gcd of the coefficients of p as a polynomial in the variable.
Polynomial PolynomialArithmetic::content_in(const Polynomial& p, int variable) {
  Polynomial g;
  for (const Polynomial& c : coefficients_in(p, variable)) {
    if (c.empty()) continue;
    g = g.empty() ? c : gcd_by_remainders(g, c);
    if (is_constant(g)) return constant_polynomial(1);
  }
  return g;
}

/// The remainder of lead(b)^k a by b in one variable, for some k.
Polynomial PolynomialArithmetic::pseudo_remainder(Polynomial a, const Polynomial& b, int variable) {
  const std::vector<Polynomial> cb = coefficients_in(b, variable);
  for (;;) {
    const std::vector<Polynomial> ca = coefficients_in(a, variable);
    if (a.empty() || ca.size() < cb.size()) return a;
    const Polynomial shifted =
        multiply(b, Monomial{variable_polynomial(variable, static_cast<int>(ca.size() - cb.size())).begin()->first});
    a = subtract(multiply(a, cb.back()), multiply(shifted, ca.back()));
  }
}

Polynomial PolynomialArithmetic::gcd_by_remainders(Polynomial a, Polynomial b) {
  if (a.empty() && b.empty()) return {};
  if (a.empty()) std::swap(a, b);
  PrimitiveParts pa = primitive_parts(a);
  if (b.empty()) return multiply(pa.primitive, pa.monomial);
  PrimitiveParts pb = primitive_parts(b);
  const Monomial shared = common(pa.monomial, pb.monomial);
  a = std::move(pa.primitive);
  b = std::move(pb.primitive);

  // A variable that only one of them has can be only in that one's cofactor.
  for (bool changed = true; changed && !is_constant(a) && !is_constant(b);) {
    changed = false;
    for (const int v : variables_of(a))
      if (!contains_variable(b, v)) {
        a = content_in(a, v), changed = true;
        break;
      }
    if (changed) continue;
    for (const int v : variables_of(b))
      if (!contains_variable(a, v)) {
        b = content_in(b, v), changed = true;
        break;
      }
  }
  if (is_constant(a) || is_constant(b)) return {{shared, Rational(1)}};

  // In the variable of least degree.
  int variable = -1;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const int v : variables_of(a)) {
    const std::size_t degree = std::max(coefficients_in(a, v).size(), coefficients_in(b, v).size());
    if (degree < least) least = degree, variable = v;
  }
  const Polynomial ca = content_in(a, variable), cb = content_in(b, variable);
  a = require_divided(a, ca);
  b = require_divided(b, cb);
  if (coefficients_in(a, variable).size() < coefficients_in(b, variable).size()) std::swap(a, b);
  while (!b.empty()) {
    Polynomial r = pseudo_remainder(a, b, variable);
    if (!r.empty()) {
      if (coefficients_in(r, variable).size() == 1) {
        b = constant_polynomial(1);  // coprime in this variable
        a = b;
        break;
      }
      r = require_divided(r, content_in(r, variable));
      r = primitive_parts(r).primitive;
    }
    a = std::move(b);
    b = std::move(r);
  }
  const Polynomial g = multiply(a, gcd_by_remainders(ca, cb));
  return multiply(primitive_parts(g).primitive, shared);
}

}  // namespace mechanician
