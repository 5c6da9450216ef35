// From rational forms to expressions that read well.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

/// Place of a kernel in a product: numbers, parameters, time, state, what acts, functions.
int class_of(const Expr& kernel) {
  if (kernel.is_constant()) return 0;
  if (!kernel.is_symbol()) return 8;
  switch (kernel.symbol().kind) {
    case SymbolKind::parameter:
      return 1;
    case SymbolKind::time:
      return 2;
    case SymbolKind::coordinate:
      return 3;
    case SymbolKind::velocity:
      return 4;
    case SymbolKind::acceleration:
      return 5;
    case SymbolKind::ideal_force:
    case SymbolKind::multiplier:
    case SymbolKind::constraint_force:
    case SymbolKind::control_force:
    case SymbolKind::friction:
    case SymbolKind::power:
    case SymbolKind::work:
    case SymbolKind::effort:
    case SymbolKind::control_error:
    case SymbolKind::control_cost:
      return 6;
    case SymbolKind::unknown:
      return 7;
  }
  return 8;
}

bool is_parameter_like(const Expr& kernel) { return class_of(kernel) <= 1; }

Expr product_of(const std::vector<Expr>& factors) {
  if (factors.empty()) return 1;
  Expr p = factors.front();
  for (std::size_t i = 1; i < factors.size(); ++i) p = p * factors[i];
  return p;
}

Expr integer(std::int64_t value) { return Expr(static_cast<double>(value)); }

}  // namespace

int RationalField::rank_of(int variable) const {
  constexpr int per_class = 1 << 20;
  return class_of(kernel(variable)) * per_class + variable;
}

std::vector<Monomial::Power> RationalField::by_rank(const Monomial& m) const {
  std::vector<Monomial::Power> powers = m.powers;
  std::sort(powers.begin(), powers.end(),
            [&](const auto& a, const auto& b) { return rank_of(a.variable) < rank_of(b.variable); });
  return powers;
}

/// By degree in what is no parameter: downwards, but upwards where a term is free of state (1 + z²); then by name.
std::vector<RationalField::Term> RationalField::sorted_terms(const Polynomial& p) const {
  struct Keyed {
    Term term;
    int degree, total;
    std::vector<std::pair<int, int>> key;  ///< rank and −exponent
  };
  std::vector<Keyed> keyed;
  bool upwards = false;
  for (const auto& [monomial, coefficient] : p) {
    Keyed k{{monomial, coefficient}, 0, monomial.degree(), {}};
    for (const auto& power : by_rank(monomial)) {
      if (!is_parameter_like(kernel(power.variable))) k.degree += power.exponent;
      k.key.emplace_back(rank_of(power.variable), -power.exponent);
    }
    upwards = upwards || k.degree == 0;
    keyed.push_back(std::move(k));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    const int da = upwards ? a.degree : -a.degree, db = upwards ? b.degree : -b.degree;
    const int ta = upwards ? a.total : 0, tb = upwards ? b.total : 0;
    return std::tie(da, ta, a.key) < std::tie(db, tb, b.key);
  });
  std::vector<Term> terms;
  for (auto& k : keyed) terms.push_back(std::move(k.term));
  return terms;
}

Expr RationalField::monomial_expr(const Monomial& m) const {
  std::vector<Expr> factors;
  for (const auto& power : by_rank(m))
    factors.push_back(power.exponent == 1 ? kernel(power.variable) : pow(kernel(power.variable), power.exponent));
  return product_of(factors);
}

/// number · monomial, for a number ≥ 0; 9·0.2²·x is written 0.36·x, where that decimal is short.
std::vector<Expr> RationalField::factors_of(std::int64_t number, const Monomial& monomial) const {
  long double product = static_cast<long double>(number);
  Monomial rest;
  for (const auto& power : monomial.powers) {
    if (!kernel(power.variable).is_constant())
      rest.powers.push_back(power);
    else
      product *=
          std::pow(static_cast<long double>(kernel(power.variable).value()), static_cast<long double>(power.exponent));
  }
  std::vector<Expr> factors;
  const auto with_number = [&](const Expr& first, const Monomial& others) {
    if (!first.is_one() || others.powers.empty()) factors.push_back(first);
    if (!others.powers.empty()) factors.push_back(monomial_expr(others));
  };
  // Twelve digits are enough for what people write; the factors themselves are exact to sixteen.
  const double decimal = std::strtod(fmt::format("{:.12g}", product).c_str(), nullptr);
  const bool is_short = std::abs(static_cast<long double>(decimal) - product) <= 1e-15L * std::abs(product);
  if (folds_decimals_ && rest.powers.size() < monomial.powers.size() && is_short)
    with_number(decimal, rest);
  else
    with_number(integer(number), monomial);
  return factors;
}

/// |coefficient| · monomial
Expr RationalField::term_expr(const Term& term) const {
  const Expr e = product_of(factors_of(std::abs(term.coefficient.num()), term.monomial));
  return term.coefficient.den() == 1 ? e : e / integer(term.coefficient.den());
}

bool RationalField::is_mostly_negative(const Polynomial& p) const {
  const auto negatives = std::count_if(p.begin(), p.end(), [](const auto& term) { return term.second.num() < 0; });
  const auto surplus = 2 * negatives - static_cast<std::ptrdiff_t>(p.size());
  return surplus > 0 || (surplus == 0 && sorted_terms(p).front().coefficient.num() < 0);
}

/// Terms that share a factor to the same power, one variable of which no other term has; the group that saves most.
RationalField::Group RationalField::best_group(std::span<const Term> terms, std::span<const char> done) const {
  Group best;
  std::pair<std::size_t, int> best_saving{0, 0};
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      if (done[i] || done[j]) continue;
      Group group;
      for (const auto& power : terms[i].monomial.powers)
        if (terms[j].monomial.exponent_of(power.variable) == power.exponent) group.factor.powers.push_back(power);
      if (group.factor.powers.empty()) continue;
      bool uniform = true;
      std::vector<char> elsewhere(group.factor.powers.size(), 0);
      for (std::size_t k = 0; k < terms.size(); ++k) {
        const bool member = !done[k] && quotient(terms[k].monomial, group.factor).has_value();
        if (member) group.members.push_back(k);
        for (std::size_t v = 0; v < elsewhere.size(); ++v) {
          const int exponent = terms[k].monomial.exponent_of(group.factor.powers[v].variable);
          if (member)
            uniform = uniform && exponent == group.factor.powers[v].exponent;
          else
            elsewhere[v] = elsewhere[v] || exponent > 0;
        }
      }
      const bool exclusive = std::find(elsewhere.begin(), elsewhere.end(), 0) != elsewhere.end();
      const int degree = group.factor.degree();
      const std::pair saving{(group.members.size() - 1) * static_cast<std::size_t>(degree), degree};
      if (uniform && exclusive && group.members.size() < terms.size() && saving > best_saving)
        best_saving = saving, best = std::move(group);
    }
  return best;
}

/// The sum of the terms, in their order, a positive one in front. Shared factors are taken out where that makes it
/// shorter: m·x + k·y + m·z → m·(x + z) + k·y, and a·x + a·y + b·x + b·y → (a + b)·(x + y).
Expr RationalField::sum_expr(const Polynomial& p, int level) const {
  constexpr std::size_t most_grouped = 30;
  constexpr int most_levels = 8;
  const std::vector<Term> terms = sorted_terms(p);
  /// outer · inner at the place of its first term; inner is one for a single term.
  struct Piece {
    std::size_t place;
    Polynomial outer, inner;
  };
  std::vector<Piece> pieces;
  std::vector<char> done(terms.size(), 0);
  while (terms.size() <= most_grouped && level < most_levels) {
    const Group group = best_group(terms, done);
    if (group.members.empty()) break;
    Piece piece{group.members.front(), {}, {}};
    for (const std::size_t k : group.members) {
      done[k] = 1;
      piece.inner.emplace(*quotient(terms[k].monomial, group.factor), terms[k].coefficient);
    }
    // Numbers and powers that its terms still share go outside, and so does the sign that most of them have.
    PrimitiveParts parts = primitive_parts(piece.inner);
    piece.inner = std::move(parts.primitive);
    Rational content = parts.content;
    if (is_mostly_negative(piece.inner)) {
      for (auto& term : piece.inner) term.second = -term.second;
      content = -content;
    }
    piece.outer = {{group.factor * parts.monomial, content}};
    // Where the same sum is multiplied already, the factors add up.
    const auto same =
        std::find_if(pieces.begin(), pieces.end(), [&](const Piece& q) { return q.inner == piece.inner; });
    if (same == pieces.end()) {
      pieces.push_back(std::move(piece));
    } else {
      for (const auto& [monomial, coefficient] : piece.outer) {
        const auto [at, fresh] = same->outer.emplace(monomial, coefficient);
        if (!fresh) at->second = at->second + coefficient;
        if (at->second.is_zero()) same->outer.erase(at);
      }
      same->place = std::min(same->place, piece.place);
    }
  }
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!done[i]) pieces.push_back({i, {{terms[i].monomial, terms[i].coefficient}}, constant_polynomial(1)});
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.place < b.place; });

  struct Signed {
    bool negative;
    Expr magnitude;
  };
  std::vector<Signed> parts;
  for (const Piece& piece : pieces) {
    if (piece.outer.empty()) continue;
    const bool single = piece.outer.size() == 1;
    Expr e = single ? term_expr({piece.outer.begin()->first, piece.outer.begin()->second})
                    : sum_expr(piece.outer, level + 1);
    if (!is_one(piece.inner)) {
      const Expr inner = sum_expr(piece.inner, level + 1);
      e = e.is_one() ? inner : e * inner;
    }
    parts.push_back({single && piece.outer.begin()->second.num() < 0, e});
  }
  const auto first = std::find_if(parts.begin(), parts.end(), [](const Signed& q) { return !q.negative; });
  if (first != parts.end()) std::rotate(parts.begin(), first, parts.end());
  Expr sum = parts.front().negative ? -parts.front().magnitude : parts.front().magnitude;
  for (std::size_t i = 1; i < parts.size(); ++i)
    sum = parts[i].negative ? sum - parts[i].magnitude : sum + parts[i].magnitude;
  return sum;
}

/// sin² and cos² exchanged by sin² + cos² = 1 where that leaves fewer terms.
Polynomial RationalField::shorter(const Polynomial& p) {
  Polynomial best = p;
  for (std::size_t v = 0; v < kernels_.size(); ++v) {
    const int sine = kernels_[v].sine, cosine = static_cast<int>(v);
    if (sine < 0) continue;
    const std::vector<Polynomial> coefficients = coefficients_in(best, sine);
    if (coefficients.size() < 3) continue;
    const Polynomial square = arithmetic_.subtract(constant_polynomial(1), variable_polynomial(cosine, 2));
    Polynomial other;
    for (std::size_t j = 0; j < coefficients.size(); ++j) {
      Polynomial term = arithmetic_.multiply(coefficients[j], arithmetic_.power(square, static_cast<int>(j / 2)));
      if (j % 2 == 1) term = arithmetic_.multiply(term, variable_polynomial(sine));
      other = arithmetic_.add(other, term);
    }
    if (other.size() < best.size()) best = std::move(other);
  }
  return best;
}

Expr RationalField::to_expr(const RationalForm& f) {
  folds_decimals_ = options_.short_decimals;
  const Expr e = plain_expr(f);
  folds_decimals_ = false;
  return e;
}

Expr RationalField::plain_expr(const RationalForm& f) {
  if (f.is_zero() && f.den.empty()) return 0;

  // Denominator: its factors may fall apart again when sin² becomes 1 − cos².
  Rational number = 1;
  Monomial below;
  std::vector<std::pair<Polynomial, int>> sums;
  for (const auto& factor : f.den) {
    PrimitiveParts parts = primitive_parts(shorter(factor.base));
    for (int k = 0; k < factor.exponent; ++k) {
      number = number / parts.content;
      below = below * parts.monomial;
    }
    if (is_one(parts.primitive)) continue;
    if (is_mostly_negative(parts.primitive)) {
      for (auto& term : parts.primitive) term.second = -term.second;
      if (factor.exponent % 2 == 1) number = -number;
    }
    sums.emplace_back(std::move(parts.primitive), factor.exponent);
  }
  std::vector<Expr> over, under;
  bool negative = false;
  if (!f.is_zero()) {
    PrimitiveParts parts = primitive_parts(shorter(f.num));
    number = number * parts.content;
    const Monomial shared = common(parts.monomial, below);
    if (options_.singularities == Singularities::cancel) {
      parts.monomial = *quotient(parts.monomial, shared);
      below = *quotient(below, shared);
    }
    Polynomial& sum = parts.primitive;
    negative = number.num() < 0;
    // −(x − y) reads as y − x.
    if (negative && std::any_of(sum.begin(), sum.end(), [](const auto& term) { return term.second.num() < 0; })) {
      for (auto& term : sum) term.second = -term.second;
      negative = false;
    }
    const bool whole = is_one(sum);
    over = factors_of(std::abs(number.num()), parts.monomial);
    if (!whole && over.size() == 1 && over.front().is_one()) over.clear();
    if (!whole) over.push_back(sum_expr(sum, 0));
  } else {
    over.push_back(0);
    number = 1;
  }

  // √s·s reads as s^(3/2).
  const auto has_root = [&](const Polynomial& sum, const Monomial::Power& power) {
    const Kernel& k = kernels_[static_cast<std::size_t>(power.variable)];
    return power.exponent == 1 && k.expr.op() == Op::sqrt && is_one(k.rule_den) && k.rule_num == sum;
  };
  const auto root_below = [&](const Polynomial& sum) {
    return std::any_of(below.powers.begin(), below.powers.end(),
                       [&](const auto& power) { return has_root(sum, power); });
  };
  Monomial simple;
  for (const auto& power : below.powers)
    if (std::none_of(sums.begin(), sums.end(), [&](const auto& s) { return has_root(s.first, power); }))
      simple.powers.push_back(power);
  under = factors_of(number.den(), simple);
  if (under.size() == 1 && under.front().is_one()) under.clear();
  for (const auto& [sum, exponent] : sums) {
    const Expr e = sum_expr(sum, 0);
    if (root_below(sum))
      under.push_back(pow(e, integer(2 * exponent + 1) / 2));
    else
      under.push_back(exponent == 1 ? e : pow(e, exponent));
  }
  Expr e = under.empty() ? product_of(over) : product_of(over) / product_of(under);
  if (!negative) return e;
  return e.is_constant() ? Expr(-e.value()) : -e;
}

}  // namespace mechanician
