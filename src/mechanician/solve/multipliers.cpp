#include "mechanician/solve/multipliers.hpp"

#include <Eigen/QR>
#include <cmath>
#include <utility>

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A dropped row replaces a kept one when that makes the basis this much larger …
constexpr double exchange_gain = 2.0;
// … but not when the new basis would be worse conditioned by more than the inverse of this.
constexpr double smallest_exchange = 1e-6;

/// Exchanges kept row i and dropped row j in T (scaled dropped = Σ T · scaled kept).
void exchange(MatrixXd& T, Index i, Index j) {
  const double pivot = T(i, j);
  const VectorXd column = T.col(j);
  const Eigen::RowVectorXd row = T.row(i) / pivot;
  T -= column * row;
  T.row(i) = row;
  T.col(j) = -column / pivot;
  T(i, j) = 1.0 / pivot;
}

}  // namespace

LeastNormMultipliers prepare_multipliers(const RowFactor& rows) {
  const Index m = rows.num_rows();
  const Index k = rows.rank;
  const Index d = m - k;
  LeastNormMultipliers result;
  std::vector<Index> kept(rows.order.begin(), rows.order.begin() + k);
  std::vector<Index> dropped(rows.order.begin() + k, rows.order.end());

  // Prefer large rows: norm of row j is 1/D(j). Each exchange multiplies the volume of the basis by more than
  // exchange_gain, so this ends; the count is a guard against rounding.
  MatrixXd T = rows.T;
  bool exchanged = false;
  for (Index guard = 0; guard < 20 * (m + 1); ++guard) {
    double best = exchange_gain;
    std::pair<Index, Index> where{-1, -1};
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < k; ++i) {
        const double size = std::abs(T(i, j));
        const double gain = size * rows.D(kept[i]) / rows.D(dropped[j]);
        if (size > smallest_exchange && gain > best) {
          best = gain;
          where = {i, j};
        }
      }
    }
    if (where.first < 0) break;
    exchange(T, where.first, where.second);
    std::swap(kept[where.first], dropped[where.second]);
    exchanged = true;
  }

  if (exchanged) {
    MatrixXd Z_kept(rows.Z.rows(), k);
    MatrixXd Z_dropped(rows.Z.rows(), d);
    for (Index i = 0; i < k; ++i) Z_kept.col(i) = rows.Z.col(kept[i]);
    for (Index j = 0; j < d; ++j) Z_dropped.col(j) = rows.Z.col(dropped[j]);
    const Eigen::HouseholderQR<MatrixXd> qr(Z_kept);
    result.V = qr.householderQ() * MatrixXd::Identity(rows.Z.rows(), k);
    result.R = qr.matrixQR().topRows(k).triangularView<Eigen::Upper>();
    T = calc_coefficients(result.V, result.R, Z_dropped).cleaned;
  } else {
    result.V = rows.V1;
    result.R = rows.R11;
  }

  // Left null basis of the rows as given: y = D η.
  result.N = MatrixXd::Zero(m, d);
  result.undetermined.assign(static_cast<std::size_t>(m), false);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < k; ++i) {
      result.N(kept[i], j) = -T(i, j) * (rows.D(kept[i]) / rows.D(dropped[j]));
      if (std::abs(T(i, j)) > 1e-10) result.undetermined[kept[i]] = true;
    }
    result.N(dropped[j], j) = 1.0;
    result.undetermined[dropped[j]] = true;
  }
  result.N = orthonormalised(result.N);
  result.basis = std::move(kept);
  return result;
}

VectorXd LeastNormMultipliers::calc_lambda(const RowFactor& rows, const VectorXd& u) const {
  const auto k = static_cast<Index>(basis.size());
  VectorXd lambda = VectorXd::Zero(rows.num_rows());
  const auto add_basic = [&](const VectorXd& force) {
    VectorXd mu = V.transpose() * force;
    R.triangularView<Eigen::Upper>().solveInPlace(mu);
    for (Index i = 0; i < k; ++i) lambda(basis[i]) += rows.D(basis[i]) * mu(i);
  };
  add_basic(u);
  if (N.cols() > 0) {
    // Twice: the second time removes what rounding left of the component.
    lambda -= N * (N.transpose() * lambda);
    lambda -= N * (N.transpose() * lambda);
    // N was cleaned of rounding, so Aᵀλ may have moved by as much: put it right.
    add_basic(u - rows.Z * lambda.cwiseQuotient(rows.D));
  }
  return lambda;
}

MatrixXd LeastNormMultipliers::calc_gain(const RowFactor& rows) const {
  const Index m = rows.num_rows();
  const auto k = static_cast<Index>(basis.size());
  // AA⁺ = I − N Nᵀ, of which only the basis rows are needed: they decide the least-norm solution.
  MatrixXd projected = MatrixXd::Zero(k, m);
  for (Index i = 0; i < k; ++i) {
    projected.row(i) = -N.row(basis[i]) * N.transpose();
    projected(i, basis[i]) += 1.0;
    projected.row(i) *= rows.D(basis[i]);
  }
  R.transpose().triangularView<Eigen::Lower>().solveInPlace(projected);
  return V * projected;
}

}  // namespace mechanician
