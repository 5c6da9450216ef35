#pragma once

/// Numbers and expressions as text, with what they are worth at the start: what the layer of bodies writes models with.
///
///     Formula x = named("crank.x", 0.3);   2.0 * x + 0.0   is   "2*crank.x", worth 0.6
///
/// Sums and products of numbers are numbers, and what is zero disappears.

#include <array>
#include <string>
#include <string_view>

namespace mechanician {

struct Formula {
  double value = 0.0;     ///< at the start; of what moves too
  std::string text = {};  ///< empty: the number itself
  int level = 3;          ///< of the outermost operation: 1 sum, 2 product, 3 neither
  bool moves = false;     ///< made of more than numbers and parameters
  Formula() = default;
  Formula(double number) : value(number) {}  // NOLINT: numbers are formulas
  Formula(double worth, std::string words, int outermost, bool moving)
      : value(worth), text(std::move(words)), level(outermost), moves(moving) {}

  bool is_number() const { return text.empty(); }
  bool is_zero() const { return is_number() && value == 0.0; }
  bool is_one() const { return is_number() && value == 1.0; }
  /// As it stands in an expression.
  std::string str() const;
};

/// Something that moves, by its name or another text that needs no brackets, worth this much at the start.
inline Formula named(std::string name, double worth = 0.0) { return {worth, std::move(name), 3, true}; }
/// The text of somebody else, of parameters.
Formula quoted_formula(std::string_view text, double worth);

Formula operator-(const Formula& a);
Formula operator+(const Formula& a, const Formula& b);
Formula operator-(const Formula& a, const Formula& b);
Formula operator*(const Formula& a, const Formula& b);
Formula operator/(const Formula& a, const Formula& b);
Formula square(const Formula& a);
Formula sqrt(const Formula& a);
Formula sin(const Formula& a);
Formula cos(const Formula& a);
/// d/dt of what has a name; the derivative of a number is zero.
Formula rate_of(const Formula& name, double worth = 0.0);

using Vector = std::array<Formula, 3>;
/// By rows.
using Matrix = std::array<Vector, 3>;
/// w, x, y, z
using Quaternion = std::array<Formula, 4>;

Vector operator-(const Vector& a);
Vector operator+(const Vector& a, const Vector& b);
Vector operator-(const Vector& a, const Vector& b);
Vector operator*(const Formula& a, const Vector& b);
Formula dot(const Vector& a, const Vector& b);
Vector cross(const Vector& a, const Vector& b);
Formula norm(const Vector& a);
/// Of length one; a vector of numbers that has it already stays as it is.
Vector unit(const Vector& a);
Vector operator*(const Matrix& A, const Vector& v);
Matrix operator*(const Matrix& A, const Matrix& B);
Matrix transpose(const Matrix& A);
/// Columns a, b, c.
Matrix columns(const Vector& a, const Vector& b, const Vector& c);
Vector column(const Matrix& A, int j);
Matrix identity();
/// The turn about an axis of length one.
Matrix turn(const Vector& axis, const Formula& cosine, const Formula& sine);

Quaternion operator*(const Quaternion& a, const Quaternion& b);
Matrix matrix_of(const Quaternion& q);
/// Of a rotation; which of the four is divided by is chosen by its numbers.
Quaternion quaternion_of(const Matrix& R);
/// Angular velocity in the axes of the body, 2 E(q) q̇.
Vector spin_of(const Quaternion& q, const Quaternion& rate);
/// q̇ of an angular velocity in the axes of the body.
Quaternion rate_of(const Quaternion& q, const Vector& spin);

/// Right angles come as cos(π/2) = 6e-17, and every turn behind them would drag that along: numbers that are rounding of zero, against `size`, are
/// zero; beside a size of one those that are rounding of one are one.
void drop_rounding(Vector& v, double size = 1.0);

/// Whether a symmetric matrix has no negative eigenvalue, up to rounding.
bool is_positive(const Matrix& I);
double worth(const Vector& a, int k);
std::array<double, 3> worths(const Vector& a);
/// Two vectors that make a right-handed frame e, f, axis with an axis of length one. e lies near the coordinate axis that is farthest
/// from it, as the numbers are now.
struct Across {
  Vector e, f;
};
Across across(const Vector& axis);

}  // namespace mechanician
