#pragma once

/// Polynomials in several variables with exact rational coefficients, for rational.hpp. Internal to this folder and to
/// the closed forms of the equations folder.
///
/// Coefficients are quotients of 64-bit integers; variables are numbers (the kernels of rational.hpp). What would
/// overflow or grow beyond the caps throws TooLarge, which the public functions of rational.hpp turn into "no answer".

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace mechanician {

/// Thrown inside the folder only.
struct TooLarge {};

/// p/q in lowest terms, q > 0.
class Rational {
 public:
  Rational(std::int64_t numerator = 0) : num_(numerator) {}  // NOLINT(google-explicit-constructor)
  Rational(std::int64_t numerator, std::int64_t denominator);
  std::int64_t num() const { return num_; }
  std::int64_t den() const { return den_; }
  bool is_zero() const { return num_ == 0; }
  bool is_one() const { return num_ == 1 && den_ == 1; }
  friend bool operator==(const Rational&, const Rational&) = default;
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a) { return a * Rational(-1); }
  friend Rational operator/(const Rational& a, const Rational& b);

 private:
  std::int64_t num_ = 0, den_ = 1;
};

/// Π variable^exponent: by variable, exponents > 0.
struct Monomial {
  struct Power {
    int variable, exponent;
    friend auto operator<=>(const Power&, const Power&) = default;
  };
  std::vector<Power> powers;

  int exponent_of(int variable) const;
  int degree() const;
  friend bool operator==(const Monomial&, const Monomial&) = default;
};
Monomial operator*(const Monomial& a, const Monomial& b);
/// a/b, if b divides a.
std::optional<Monomial> quotient(const Monomial& a, const Monomial& b);
/// The largest monomial that divides both.
Monomial common(const Monomial& a, const Monomial& b);

/// Lexicographic, variable 0 first: an order that multiplication respects, as exact division needs it.
struct LeadingFirst {
  bool operator()(const Monomial& a, const Monomial& b) const;
};

/// The zero polynomial has no terms; the leading term comes first; no coefficient is zero.
using Polynomial = std::map<Monomial, Rational, LeadingFirst>;

Polynomial constant_polynomial(const Rational& value);
Polynomial variable_polynomial(int variable, int exponent = 1);
bool is_constant(const Polynomial& p);
bool is_one(const Polynomial& p);
bool contains_variable(const Polynomial& p, int variable);
/// Variables that occur, ascending.
std::vector<int> variables_of(const Polynomial& p);

struct PolynomialCaps {
  std::size_t max_terms = 2000;        ///< of one polynomial
  std::size_t max_work = 4'000'000;    ///< products of two terms, over the life of the arithmetic
  std::size_t max_gcd_work = 100'000;  ///< the same, for one greatest common divisor
};

/// The ring operations, which count what they cost.
class PolynomialArithmetic {
 public:
  explicit PolynomialArithmetic(const PolynomialCaps& caps = {}) : caps_(caps) {}

  Polynomial add(const Polynomial& a, const Polynomial& b);
  Polynomial subtract(const Polynomial& a, const Polynomial& b);
  Polynomial multiply(const Polynomial& a, const Polynomial& b);
  Polynomial multiply(const Polynomial& a, const Rational& factor);
  Polynomial multiply(const Polynomial& a, const Monomial& factor);
  Polynomial power(const Polynomial& a, int exponent);
  /// The quotient, if b divides a without remainder; b ≠ 0.
  std::optional<Polynomial> divide(const Polynomial& a, const Polynomial& b);
  /// The greatest common divisor, primitive; 1 where it is too costly to find: always a common divisor.
  Polynomial gcd(const Polynomial& a, const Polynomial& b);

 private:
  Polynomial gcd_by_remainders(Polynomial a, Polynomial b);
  Polynomial content_in(const Polynomial& p, int variable);
  Polynomial pseudo_remainder(Polynomial a, const Polynomial& b, int variable);
  Polynomial require_divided(const Polynomial& a, const Polynomial& b);
  void spend(std::size_t work);

  PolynomialCaps caps_;
  std::size_t work_ = 0;
};

/// content · monomial · primitive = p: `primitive` has coprime integer coefficients, a positive leading one and no
/// monomial that divides all its terms. p ≠ 0.
struct PrimitiveParts {
  Rational content;
  Monomial monomial;
  Polynomial primitive;
};
PrimitiveParts primitive_parts(const Polynomial& p);

/// p = Σ coefficient[k] · variable^k
std::vector<Polynomial> coefficients_in(const Polynomial& p, int variable);

}  // namespace mechanician
