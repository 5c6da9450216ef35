#include "mechanician/model/bodies_formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

std::string text_of(double number) { return fmt::format("{}", number == 0.0 ? 0.0 : number); }

bool negative(const Formula& a) { return a.is_number() ? a.value < 0.0 : a.text.front() == '-' && a.level == 2; }

std::string at_level(const Formula& a, int level) {
  const bool low = a.is_number() ? a.value < 0.0 : a.level < level;
  return low ? "(" + a.str() + ")" : a.str();
}

Formula function(const char* name, const Formula& a, double value) {
  if (a.is_number()) return value;
  return {value, fmt::format("{}({})", name, a.text), 3, a.moves};
}

}  // namespace

std::string Formula::str() const { return is_number() ? text_of(value) : text; }

Formula quoted_formula(std::string_view text, double worth) {
  return {worth, is_name(text) ? std::string(text) : fmt::format("({})", text), 3, false};
}

Formula operator-(const Formula& a) {
  if (a.is_number()) return -a.value;
  if (negative(a)) return {-a.value, a.text.substr(1), 2, a.moves};
  return {-a.value, "-" + at_level(a, 2), 2, a.moves};
}

Formula operator+(const Formula& a, const Formula& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a.is_number() && b.is_number()) {
    // What is left of numbers that cancel is their rounding.
    const double sum = a.value + b.value;
    return std::abs(sum) <= 4.0 * eps * std::max(std::abs(a.value), std::abs(b.value)) ? 0.0 : sum;
  }
  const std::string right = b.str();
  return {
      a.value + b.value,
      right.front() == '-' ? fmt::format("{} - {}", a.str(), right.substr(1)) : fmt::format("{} + {}", a.str(), right),
      1, a.moves || b.moves};
}

Formula operator-(const Formula& a, const Formula& b) {
  if (b.is_number() || a.is_zero() || negative(b)) return a + -b;
  return {a.value - b.value, fmt::format("{} - {}", a.str(), at_level(b, 2)), 1, a.moves || b.moves};
}

Formula operator*(const Formula& a, const Formula& b) {
  if (a.is_number() && b.is_number()) return a.value * b.value;
  if (a.is_zero() || b.is_zero()) return 0.0;
  if (a.is_one()) return b;
  if (b.is_one()) return a;
  if (negative(a)) return -((-a) * b);
  if (negative(b)) return -(a * (-b));
  if (b.is_number()) return b * a;
  return {a.value * b.value, fmt::format("{}*{}", at_level(a, 2), at_level(b, 3)), 2, a.moves || b.moves};
}

Formula operator/(const Formula& a, const Formula& b) {
  if (a.is_number() && b.is_number()) return a.value / b.value;
  if (a.is_zero() || b.is_one()) return a;
  if (negative(a)) return -((-a) / b);
  return {a.value / b.value, fmt::format("{}/{}", at_level(a, 2), at_level(b, 3)), 2, a.moves || b.moves};
}

Formula square(const Formula& a) {
  if (a.is_number()) return a.value * a.value;
  return {a.value * a.value, at_level(a, 3) + "^2", 3, a.moves};
}

Formula sqrt(const Formula& a) { return function("sqrt", a, std::sqrt(a.value)); }
Formula sin(const Formula& a) { return function("sin", a, std::sin(a.value)); }
Formula cos(const Formula& a) { return function("cos", a, std::cos(a.value)); }

Formula rate_of(const Formula& name, double worth) {
  if (!name.moves) return 0.0;
  return {worth, name.text + "'", 3, true};
}

Vector operator-(const Vector& a) { return {-a[0], -a[1], -a[2]}; }
Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector operator-(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector operator*(const Formula& a, const Vector& b) { return {a * b[0], a * b[1], a * b[2]}; }
Formula dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Formula norm(const Vector& a) { return sqrt(square(a[0]) + square(a[1]) + square(a[2])); }

Vector unit(const Vector& a) {
  const Formula length = norm(a);
  if (length.is_number() && std::abs(length.value - 1.0) <= 4.0 * eps) return a;
  return {a[0] / length, a[1] / length, a[2] / length};
}

Vector operator*(const Matrix& A, const Vector& v) { return {dot(A[0], v), dot(A[1], v), dot(A[2], v)}; }
Matrix transpose(const Matrix& A) { return {column(A, 0), column(A, 1), column(A, 2)}; }
Vector column(const Matrix& A, int j) {
  const auto k = static_cast<std::size_t>(j);
  return {A[0][k], A[1][k], A[2][k]};
}
Matrix operator*(const Matrix& A, const Matrix& B) {
  const Matrix T = transpose(B);
  Matrix C;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) C[i][j] = dot(A[i], T[j]);
  return C;
}
Matrix columns(const Vector& a, const Vector& b, const Vector& c) { return transpose({a, b, c}); }
Matrix identity() { return {Vector{1.0, 0.0, 0.0}, Vector{0.0, 1.0, 0.0}, Vector{0.0, 0.0, 1.0}}; }

Matrix turn(const Vector& a, const Formula& cosine, const Formula& sine) {
  // c 1 + (1 − c) a aᵀ + s [a]×
  Matrix R;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const Formula aa = a[i] * a[j];
      R[i][j] = aa + ((i == j ? 1.0 : 0.0) - aa) * cosine;
    }
  R[0][1] = R[0][1] - a[2] * sine, R[0][2] = R[0][2] + a[1] * sine;
  R[1][0] = R[1][0] + a[2] * sine, R[1][2] = R[1][2] - a[0] * sine;
  R[2][0] = R[2][0] - a[1] * sine, R[2][1] = R[2][1] + a[0] * sine;
  return R;
}

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

Matrix matrix_of(const Quaternion& q) {
  const auto& [w, x, y, z] = q;
  const Formula ww = square(w), xx = square(x), yy = square(y), zz = square(z);
  return {Vector{ww + xx - yy - zz, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
          Vector{2.0 * (x * y + w * z), ww - xx + yy - zz, 2.0 * (y * z - w * x)},
          Vector{2.0 * (x * z - w * y), 2.0 * (y * z + w * x), ww - xx - yy + zz}};
}

Quaternion quaternion_of(const Matrix& R) {
  const Formula diagonal[4] = {1.0 + R[0][0] + R[1][1] + R[2][2], 1.0 + R[0][0] - R[1][1] - R[2][2],
                               1.0 - R[0][0] + R[1][1] - R[2][2], 1.0 - R[0][0] - R[1][1] + R[2][2]};
  std::size_t largest = 0;
  for (std::size_t k = 1; k < 4; ++k)
    if (diagonal[k].value > diagonal[largest].value) largest = k;
  const Formula d = 2.0 * sqrt(diagonal[largest]);
  const Formula wx = (R[2][1] - R[1][2]) / d, wy = (R[0][2] - R[2][0]) / d, wz = (R[1][0] - R[0][1]) / d;
  const Formula xy = (R[0][1] + R[1][0]) / d, xz = (R[0][2] + R[2][0]) / d, yz = (R[1][2] + R[2][1]) / d;
  const Formula own = 0.25 * d;
  if (largest == 0) return {own, wx, wy, wz};
  if (largest == 1) return {wx, own, xy, xz};
  if (largest == 2) return {wy, xy, own, yz};
  return {wz, xz, yz, own};
}

Vector spin_of(const Quaternion& q, const Quaternion& d) {
  return {2.0 * (q[0] * d[1] - q[1] * d[0] + q[3] * d[2] - q[2] * d[3]),
          2.0 * (q[0] * d[2] - q[2] * d[0] + q[1] * d[3] - q[3] * d[1]),
          2.0 * (q[0] * d[3] - q[3] * d[0] + q[2] * d[1] - q[1] * d[2])};
}

Quaternion rate_of(const Quaternion& q, const Vector& spin) {
  const Quaternion product = q * Quaternion{0.0, spin[0], spin[1], spin[2]};
  return {0.5 * product[0], 0.5 * product[1], 0.5 * product[2], 0.5 * product[3]};
}

void drop_rounding(Vector& v, double size) {
  constexpr double few = 8 * std::numeric_limits<double>::epsilon();
  for (Formula& f : v) {
    if (!f.is_number()) continue;
    if (std::abs(f.value) <= few * size) f = 0.0;
    if (size == 1.0 && std::abs(std::abs(f.value) - 1.0) <= few) f = f.value > 0.0 ? 1.0 : -1.0;
  }
}

bool is_positive(const Matrix& I) {
  const auto at = [&](int i, int j) { return I[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].value; };
  const double trace = at(0, 0) + at(1, 1) + at(2, 2);
  if (!(trace > 0.0)) return trace == 0.0;
  double least = 0.0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    least = std::min({least, at(i, i) / trace, (at(i, i) * at(j, j) - at(i, j) * at(j, i)) / (trace * trace)});
  }
  const double det = at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
                     at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
                     at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
  return std::min(least, det / (trace * trace * trace)) > -1e-9;
}

double worth(const Vector& a, int k) { return a[static_cast<std::size_t>(k)].value; }
std::array<double, 3> worths(const Vector& a) { return {a[0].value, a[1].value, a[2].value}; }

Across across(const Vector& axis) {
  std::size_t least = 0;
  for (std::size_t k = 1; k < 3; ++k)
    if (std::abs(axis[k].value) < std::abs(axis[least].value) * (1.0 - 1e-9)) least = k;
  Vector near{0.0, 0.0, 0.0};
  near[least] = 1.0;
  const Vector f = unit(cross(axis, near));
  return {cross(f, axis), f};
}

}  // namespace mechanician
