#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mechanician/solve/oracle_for_test.hpp"

namespace mechanician::testing {
namespace {

__extension__ typedef __float128 Quad;

Quad square_root(Quad x) {
  if (x <= 0) return 0;
  Quad root = std::sqrt(static_cast<double>(x));
  for (int i = 0; i < 3; ++i) root = (root + x / root) / 2;
  return root;
}

Quad size_of(Quad x) { return x < 0 ? -x : x; }

/// Column-major p×q, p ≥ q.
struct QuadMatrix {
  int rows, cols;
  std::vector<Quad> data;
  QuadMatrix(int p, int q) : rows(p), cols(q), data(static_cast<std::size_t>(p) * static_cast<std::size_t>(q), 0) {}
  Quad& operator()(int i, int j) { return data[static_cast<std::size_t>(j * rows + i)]; }
  Quad operator()(int i, int j) const { return data[static_cast<std::size_t>(j * rows + i)]; }
};

/// Householder QR in place: R above, the reflectors in `reflectors`, one column each.
void triangularise(QuadMatrix& X, QuadMatrix& reflectors) {
  for (int j = 0; j < X.cols; ++j) {
    Quad norm2 = 0;
    for (int i = j; i < X.rows; ++i) norm2 += X(i, j) * X(i, j);
    const Quad norm = square_root(norm2);
    if (norm == 0) continue;
    for (int i = j; i < X.rows; ++i) reflectors(i, j) = X(i, j);
    reflectors(j, j) += X(j, j) < 0 ? -norm : norm;
    Quad length2 = 0;
    for (int i = j; i < X.rows; ++i) length2 += reflectors(i, j) * reflectors(i, j);
    for (int c = j; c < X.cols; ++c) {
      Quad dot = 0;
      for (int i = j; i < X.rows; ++i) dot += reflectors(i, j) * X(i, c);
      dot = 2 * dot / length2;
      for (int i = j; i < X.rows; ++i) X(i, c) -= dot * reflectors(i, j);
    }
  }
}

void reflect(const QuadMatrix& reflectors, int j, std::vector<Quad>& x) {
  Quad length2 = 0, dot = 0;
  for (int i = j; i < reflectors.rows; ++i) {
    length2 += reflectors(i, j) * reflectors(i, j);
    dot += reflectors(i, j) * x[static_cast<std::size_t>(i)];
  }
  if (length2 == 0) return;
  for (int i = j; i < reflectors.rows; ++i) x[static_cast<std::size_t>(i)] -= 2 * dot / length2 * reflectors(i, j);
}

}  // namespace

OracleOutput solve_in_quad(const OracleInput& in) {
  const int n = static_cast<int>(in.M.rows());
  const int k = static_cast<int>(in.A0.rows());
  const int m = static_cast<int>(in.S.rows());
  const auto q = [](double x) { return static_cast<Quad>(x); };

  // Row sizes, powers of two apart from what matters.
  std::vector<Quad> row_scale(static_cast<std::size_t>(k), 1);
  for (int i = 0; i < k; ++i) {
    Quad norm2 = 0;
    for (int j = 0; j < n; ++j) norm2 += q(in.A0(i, j)) * q(in.A0(i, j)) * q(in.scale(j)) * q(in.scale(j));
    row_scale[static_cast<std::size_t>(i)] = 1 / square_root(norm2);
  }
  QuadMatrix K(n + k, n + k), reflectors(n + k, n + k);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) K(i, j) = q(in.scale(i)) * q(in.scale(j)) * (q(in.M(i, j)) + q(in.M(j, i))) / 2;
    for (int r = 0; r < k; ++r) {
      const Quad a = q(in.A0(r, i)) * q(in.scale(i)) * row_scale[static_cast<std::size_t>(r)];
      K(n + r, i) = a;
      K(i, n + r) = -a;
    }
  }
  const QuadMatrix K_given = K;
  triangularise(K, reflectors);
  const auto solve = [&](std::vector<Quad> x) {
    for (int j = 0; j < n + k; ++j) reflect(reflectors, j, x);
    for (int i = n + k - 1; i >= 0; --i) {
      for (int j = i + 1; j < n + k; ++j) x[static_cast<std::size_t>(i)] -= K(i, j) * x[static_cast<std::size_t>(j)];
      x[static_cast<std::size_t>(i)] /= K(i, i);
    }
    return x;
  };
  std::vector<Quad> ideal_rhs(static_cast<std::size_t>(n + k)), full_rhs;
  for (int i = 0; i < n; ++i) ideal_rhs[static_cast<std::size_t>(i)] = q(in.scale(i)) * q(in.Q(i));
  for (int r = 0; r < k; ++r) {
    ideal_rhs[static_cast<std::size_t>(n + r)] = row_scale[static_cast<std::size_t>(r)] * q(in.b0(r));
  }
  full_rhs = ideal_rhs;
  for (int i = 0; i < n; ++i) full_rhs[static_cast<std::size_t>(i)] += q(in.scale(i)) * q(in.C(i));
  const auto ideal = solve(ideal_rhs);
  const auto full = solve(full_rhs);

  OracleOutput out;
  out.qdd.resize(n);
  out.Qc_i.resize(n);
  out.Qc_ni.resize(n);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    out.qdd(i) = static_cast<double>(full[at] * q(in.scale(i)));
    Quad Qc_i = 0, Qc_ni = 0;
    for (int r = 0; r < k; ++r) Qc_i -= K_given(i, n + r) * ideal[static_cast<std::size_t>(n + r)];
    for (int j = 0; j < n; ++j)
      Qc_ni += K_given(i, j) * (full[static_cast<std::size_t>(j)] - ideal[static_cast<std::size_t>(j)]);
    out.Qc_i(i) = static_cast<double>(Qc_i / q(in.scale(i)));
    out.Qc_ni(i) = static_cast<double>(Qc_ni / q(in.scale(i)));
  }

  // A₀ᵀSᵀλ = A₀ᵀλ₀: Sᵀλ = λ₀ of least norm, λ = Q R⁻ᵀλ₀ with S = Q R.
  QuadMatrix S(m, k), S_reflectors(m, k);
  for (int i = 0; i < m; ++i) {
    for (int r = 0; r < k; ++r) S(i, r) = q(in.S(i, r));
  }
  triangularise(S, S_reflectors);
  std::vector<Quad> lambda(static_cast<std::size_t>(m), 0);
  for (int i = 0; i < k; ++i) {
    const auto at = static_cast<std::size_t>(i);
    lambda[at] = ideal[static_cast<std::size_t>(n + i)] * row_scale[at];
    for (int j = 0; j < i; ++j) lambda[at] -= S(j, i) * lambda[static_cast<std::size_t>(j)];
    lambda[at] /= S(i, i);
  }
  for (int j = k - 1; j >= 0; --j) reflect(S_reflectors, j, lambda);
  out.lambda.resize(m);
  for (int i = 0; i < m; ++i) out.lambda(i) = static_cast<double>(lambda[static_cast<std::size_t>(i)]);
  return out;
}

namespace {

TEST(Oracle, a_bead_on_a_vertical_wire_hangs_from_it) {
  OracleInput in;
  in.M = 2.0 * Eigen::MatrixXd::Identity(2, 2);
  in.Q = Eigen::Vector2d(3.0, -19.62);
  in.C = Eigen::Vector2d(-1.0, 5.0);
  in.A0 = Eigen::RowVector2d(0.0, 2.0);
  in.b0 = Eigen::VectorXd::Zero(1);
  in.S = Eigen::Vector2d(1.0, -2.0);
  in.scale = Eigen::Vector2d::Ones();
  const OracleOutput out = solve_in_quad(in);
  EXPECT_DOUBLE_EQ(out.qdd(0), 1.0);
  EXPECT_NEAR(out.qdd(1), 0.0, 1e-30);
  EXPECT_DOUBLE_EQ(out.Qc_i(1), 19.62);
  EXPECT_DOUBLE_EQ(out.Qc_ni(0), -1.0);
  EXPECT_NEAR(out.Qc_ni(1), 0.0, 1e-30);
  // λ₁·2 − λ₂·4 = 19.62, least norm: λ ∥ (1, −2).
  EXPECT_DOUBLE_EQ(out.lambda(0), 19.62 / 10.0);
  EXPECT_DOUBLE_EQ(out.lambda(1), -2.0 * 19.62 / 10.0);
}

TEST(Oracle, has_more_than_double_precision) {
  const Quad x = 2;
  const Quad root = square_root(x);
  EXPECT_LT(static_cast<double>(size_of(root * root - x)), 1e-32);
}

}  // namespace
}  // namespace mechanician::testing
