// Measured rows (solve/weighted.hpp) in the equations of motion.
//
// Rows that are all independent are all met, whatever they weigh: then measured rows are rows like others, but that nothing is
// projected onto them. Where they depend on others, weights decide what they attain. With the exact rows held, unit forces
// along measured rows do X: M X = A_wᵀ + A_eᵀΛ, A_e X = 0. So
//
//   q̈ = q̈_e + X μ,   A_w q̈ = A_w q̈_e + S μ,   S = A_w X = XᵀM X           q̈_e: by the exact rows alone
//
// and what is left is a least-squares problem with as many unknowns as there are measured rows: A_w q̈ is what comes nearest to b_w
// in the weights, and any μ that gives it is as good as another, since X μ depends on S μ alone. S is small where rows are nearly
// dependent, by the square of a sine: what is lost in that, or weights of very different sizes, is for the general solver.

#include <algorithm>
#include <cmath>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/rank_limits.hpp"
#include "mechanician/solve/dense.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows for each of which a solution is made at every evaluation.
constexpr Index most_rows = 200;
/// Between the least and the largest weight, of unit rows.
constexpr double widest = 1e10;
}  // namespace

/// Of the choice among all rows: whether measured ones depend on others.
bool Dynamics::find_whether_weighed(const KktFactors::Matrices& at) {
  std::size_t acting = 0, measured = 0;
  for (const int j : all.candidates) {
    acting += !off_[j];
    measured += !off_[j] && facts().rows[static_cast<std::size_t>(j)].measured;
  }
  weighed_ = all.kept.size() < acting;
  if (!weighed_) return true;
  if (!factors_->choose(at, measured_.exact, off_, KktFactors::Mass::loose)) return false;
  weighed_ = all.kept.size() < measured_.exact.kept.size() + measured;
  return true;
}

/// Of the last evaluate(): factors the exact rows, and finds what the measured ones attain. False: not in this way.
bool Dynamics::weigh(double t, const double* y) {
  const EquationValues::Numbers v = values_->numbers();
  Measured& w = measured_;
  w.rows.clear();
  for (const int j : facts().measured)
    if (!off_[j]) w.rows.push_back(j);
  const auto count = static_cast<Index>(w.rows.size());
  if (count > most_rows || !factors_->factor({v.M, v.A}, w.exact, KktFactors::Mass::exact)) return false;
  VectorXd units(n_), x(n_), lambda(m_);
  factors_->calc_units({v.M, v.A}, units.data());
  w.X.resize(n_, count), w.Lambda.resize(m_, count), w.D.resize(count);
  for (Index k = 0; k < count; ++k) {
    std::fill(column_.begin(), column_.end(), 0.0);
    double squares = 0.0;
    each_entry(w.rows[k], [&](int i, double a) { column_[i] = a, squares += std::pow(a * units(i), 2); });
    w.D(k) = 1.0 / std::sqrt(squares);
    if (!factors_->solve(column_.data(), nullptr, w.X.col(k).data(), w.Lambda.col(k).data())) return false;
  }
  MatrixXd S(count, count);
  for (Index i = 0; i < count; ++i)
    for (Index k = 0; k < count; ++k) S(i, k) = w.D(i) * w.D(k) * calc_row_rate(w.rows[i], w.X.col(k).data());
  const SymmetricEigen eigen = calc_symmetric_eigen(0.5 * (S + S.transpose()));
  if (!eigen.values.allFinite()) return false;
  constexpr double clear = rank_limits::clear_of_measured;
  Index zero = 0;
  for (; zero < count && eigen.values(zero) <= clear * clear; ++zero) {
    const VectorXd left = w.X * w.D.cwiseProduct(eigen.vectors.col(zero));
    if (!(left.cwiseQuotient(units).norm() <= rank_limits::of_measured)) return false;
  }
  w.V = eigen.vectors.rightCols(count - zero), w.E = eigen.values.tail(count - zero);

  const std::span<const double> weights = values_->calc_weights(point_of(t, y));
  if (weights.size() != facts().measured.size() * facts().measured.size()) return false;
  const auto at = [&](int row) {
    return std::find(facts().measured.begin(), facts().measured.end(), row) - facts().measured.begin();
  };
  MatrixXd W(count, count);
  for (Index i = 0; i < count; ++i)
    for (Index k = 0; k < count; ++k)
      W(i, k) = weights[static_cast<std::size_t>(at(w.rows[i])) * facts().measured.size() +
                        static_cast<std::size_t>(at(w.rows[k]))];
  const Cholesky root = calc_cholesky(0.5 * (W + W.transpose()));
  const VectorXd relative = W.diagonal().cwiseQuotient(w.D.cwiseAbs2());
  if (!root.definite || (count > 0 && !(relative.maxCoeff() <= widest * relative.minCoeff()))) return false;
  if (!factors_->solve(v.Q, v.b, x.data(), lambda.data())) return false;

  w.b.assign(v.b, v.b + m_);
  VectorXd left(count), attained(count);
  for (Index i = 0; i < count; ++i)
    attained(i) = calc_row_rate(w.rows[i], x.data()), left(i) = v.b[w.rows[i]] - attained(i);
  const MatrixXd basis = w.D.cwiseInverse().asDiagonal() * w.V;
  const ThinQr qr = calc_thin_qr(root.L.transpose() * basis);
  for (int pass = 0; pass < 2 && basis.cols() > 0; ++pass) {
    const VectorXd more = basis * solve_upper(qr.R, VectorXd(qr.V.transpose() * (root.L.transpose() * left)));
    attained += more, left -= more;
  }
  for (Index i = 0; i < count; ++i) w.b[static_cast<std::size_t>(w.rows[i])] = attained(i);
  return true;
}

bool Dynamics::respond(const double* f, const double* g, double* x, double* lambda) {
  if (!factors_->solve(f, g, x, lambda)) return false;
  if (!weighed_) return true;
  const Measured& w = measured_;
  VectorXd left(w.D.size());
  for (Index k = 0; k < left.size(); ++k) left(k) = w.D(k) * ((g ? g[w.rows[k]] : 0.0) - calc_row_rate(w.rows[k], x));
  const VectorXd mu = w.D.cwiseProduct(w.V * (w.V.transpose() * left).cwiseQuotient(w.E));
  Eigen::Map<VectorXd>(x, n_) += w.X * mu;
  Eigen::Map<VectorXd>(lambda, m_) += w.Lambda * mu;
  for (Index k = 0; k < mu.size(); ++k) lambda[w.rows[k]] = mu(k);
  return true;
}

}  // namespace mechanician
