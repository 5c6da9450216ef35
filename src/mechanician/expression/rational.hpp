#pragma once

/// Expressions as quotients of polynomials: to prove identities and to print closed forms that a person can read.
///
/// The polynomials have exact coefficients and stand over *kernels*: symbols, decimal constants (0.1 is no exact tenth)
/// and what is no rational operation (sin, √, if, …) with arguments in the same form. Known relations are applied: cos²
/// = 1 − sin², cosh² = 1 + sinh², √f·√f = f, |f|² = f², f^(k/2) = √f^k, hypot(f, g) = √(f² + g²), sin(−f) = −sin f.
///
/// A form equals its expression wherever that is defined; it may be defined at more points (x/x → 1). That is what a
/// proof of f = 0 *on the domain of f* needs, and what a closed form needs that is printed with its condition; where a
/// singularity must not get lost, ask with Singularities::keep.
///
/// Nothing recurses over the depth of an expression. Cost is limited by the caps: what is larger has no answer.

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/expression/degree.hpp"
#include "mechanician/expression/expression.hpp"
#include "mechanician/expression/polynomial.hpp"

namespace mechanician {

/// True only if f is proved to vanish identically on its domain. False says nothing.
bool proves_zero(const Expr& f);

enum class Singularities {
  cancel,  ///< common factors are cancelled
  keep,    ///< the result is defined exactly where f is; no answer where that cannot be kept
};
enum class Purpose {
  display,  ///< sin(a + b), tan and exp stay what they are
  proof,    ///< they are split, so that more identities are found
};

struct RationalOptions {
  Purpose purpose = Purpose::display;
  Singularities singularities = Singularities::cancel;
  PolynomialCaps caps = {};
  std::size_t max_nodes = 20000;  ///< distinct nodes of the expression
  bool short_decimals = false;    ///< 9·0.2²·x is written 0.36·x, which may change the last bit: for reading only
  std::vector<Expr> order = {};   ///< symbols in the order in which products name them; others as they appear
};

/// f as one quotient, expanded, collected and with common factors taken out; nothing above the caps.
std::optional<Expr> rational_expr(const Expr& f, const RationalOptions& options = {});

/// num / Π base^exponent. The bases are primitive, not constant and pairwise different.
struct RationalForm {
  struct Factor {
    Polynomial base;
    int exponent;
  };
  Polynomial num;
  std::vector<Factor> den;

  bool is_zero() const { return num.empty(); }
};

/// The field of these forms: its kernels and its arithmetic. Every function may throw TooLarge.
class RationalField {
 public:
  explicit RationalField(RationalOptions options = {});

  RationalForm form(const Expr& f);
  std::vector<RationalForm> forms(std::span<const Expr> fs);
  /// Readable: numbers first, common factors in front, terms in a natural order.
  Expr to_expr(const RationalForm& f);

  RationalForm constant(const Rational& value) const { return {constant_polynomial(value), {}}; }
  RationalForm of(Polynomial p) { return normalised({std::move(p), {}}); }
  RationalForm add(const RationalForm& a, const RationalForm& b);
  RationalForm subtract(const RationalForm& a, const RationalForm& b) { return add(a, negate(b)); }
  RationalForm multiply(const RationalForm& a, const RationalForm& b);
  RationalForm divide(const RationalForm& a, const RationalForm& b);
  RationalForm power(const RationalForm& a, int exponent);
  RationalForm negate(const RationalForm& a) { return {arithmetic_.multiply(a.num, Rational(-1)), a.den}; }
  /// Without common factors of numerator and denominator, as far as they are found.
  RationalForm cancelled(RationalForm f);
  /// The product of the denominator's factors.
  Polynomial denominator(const RationalForm& f);

  PolynomialArithmetic& arithmetic() { return arithmetic_; }
  /// A variable of no meaning, for calculations that put something in its place later.
  int placeholder(int number) { return kernel_of(make_symbol(SymbolKind::unknown, "#" + std::to_string(number))); }
  const Expr& kernel(int variable) const { return kernels_[static_cast<std::size_t>(variable)].expr; }

 private:
  /// A variable of the polynomials. Where it has a rule, kernel² = num/den, over kernels before it.
  struct Kernel {
    Expr expr;
    int sine = -1;  ///< of a cosine: the sine of the same argument
    bool has_rule = false;
    Polynomial rule_num, rule_den;
  };

  int kernel_of(const Expr& expr);
  RationalForm kernel_form(const Expr& expr) { return {variable_polynomial(kernel_of(expr)), {}}; }
  RationalForm node_form(const ExprNode* n, std::span<const RationalForm* const> args);
  RationalForm constant_form(double value);
  RationalForm power_form(const ExprNode* n, const RationalForm& base, const RationalForm& exponent);
  RationalForm root_form(const ExprNode* n, const RationalForm& radicand);
  RationalForm function_form(const ExprNode* n, std::span<const RationalForm* const> args);
  struct SineCosine {
    RationalForm sine, cosine;
  };
  SineCosine sine_cosine(const Expr& argument, const RationalForm& form);
  SineCosine sine_cosine_kernels(const Expr& argument);
  RationalForm exponential(const ExprNode* n, const RationalForm& argument);
  Expr argument_expr(const ExprNode* original, const RationalForm& form);

  RationalForm normalised(RationalForm f);
  /// p with kernel exponents below two, and the power of the rule's denominator that it is to be divided by.
  struct Reduced {
    Polynomial p;
    int divisions = 0;
  };
  Reduced reduced(const Polynomial& p, int kernel);
  void divide_by(RationalForm& f, const Polynomial& p, int exponent);
  void insert_factor(std::vector<RationalForm::Factor>& den, Polynomial p, int exponent);
  void cancel_rules(RationalForm& f);
  void check_singularities(std::span<const Expr> fs, std::span<const RationalForm> forms) const;

  // Display, in rational_display.cpp.
  Expr plain_expr(const RationalForm& f);
  struct Term {
    Monomial monomial;
    Rational coefficient;
  };
  std::vector<Term> sorted_terms(const Polynomial& p) const;
  bool is_mostly_negative(const Polynomial& p) const;
  std::vector<Expr> factors_of(std::int64_t number, const Monomial& monomial) const;
  Expr term_expr(const Term& term) const;
  struct Group {
    Monomial factor;
    std::vector<std::size_t> members;
  };
  Group best_group(std::span<const Term> terms, std::span<const char> done) const;
  Expr sum_expr(const Polynomial& p, int level) const;
  Expr monomial_expr(const Monomial& m) const;
  Polynomial shorter(const Polynomial& p);
  std::vector<Monomial::Power> by_rank(const Monomial& m) const;
  int rank_of(int variable) const;

  RationalOptions options_;
  PolynomialArithmetic arithmetic_;
  std::vector<Kernel> kernels_;
  std::unordered_map<const ExprNode*, int> kernel_index_;
  bool folds_decimals_ = false;       ///< while a result is written, not a kernel's argument
  std::vector<Polynomial> divisors_;  ///< everything that was ever divided by, for Singularities::keep
};

}  // namespace mechanician
