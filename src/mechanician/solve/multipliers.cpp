#include "mechanician/solve/multipliers.hpp"

#include <cmath>
#include <utility>

#include "mechanician/solve/dense.hpp"

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
    ThinQr qr = calc_thin_qr(Z_kept);
    result.V = std::move(qr.V);
    result.R = std::move(qr.R);
    T = calc_coefficients(result.V, result.R, Z_dropped).cleaned;
  } else {
    result.V = rows.V1;
    result.R = rows.R11;
  }

  result.undetermined.assign(static_cast<std::size_t>(m), false);
  for (Index j = 0; j < d; ++j) {
    result.undetermined[dropped[j]] = true;
    for (Index i = 0; i < k; ++i) {
      if (std::abs(T(i, j)) > 1e-10) result.undetermined[kept[i]] = true;
      T(i, j) *= rows.D(kept[i]) / rows.D(dropped[j]);  // now for the rows as given
    }
  }
  if (d > 0 && k > 0) {
    result.gram_L = calc_cholesky(MatrixXd::Identity(k, k) + T * T.transpose()).L;
  }
  result.T = std::move(T);
  result.kept = std::move(kept);
  result.dropped = std::move(dropped);
  return result;
}

MatrixXd LeastNormMultipliers::apply_gram_inverse(const MatrixXd& x) const {
  if (gram_L.size() == 0) return x;
  return solve_lower_transposed(gram_L, solve_lower(gram_L, x));
}

VectorXd LeastNormMultipliers::calc_basic(const RowFactor& rows, const VectorXd& u) const {
  VectorXd basic = solve_upper(R, VectorXd(V.transpose() * u));
  for (Index i = 0; i < basic.size(); ++i) basic(i) *= rows.D(kept[i]);
  return basic;
}

void LeastNormMultipliers::add_spread(const VectorXd& basic, VectorXd& lambda) const {
  const VectorXd at_kept = apply_gram_inverse(basic);
  const VectorXd at_dropped = T.transpose() * at_kept;
  for (Index i = 0; i < at_kept.size(); ++i) lambda(kept[i]) += at_kept(i);
  for (Index j = 0; j < at_dropped.size(); ++j) lambda(dropped[j]) += at_dropped(j);
}

VectorXd LeastNormMultipliers::spread(const RowFactor& rows, const VectorXd& given) const {
  if (dropped.empty()) return given;
  VectorXd basic(static_cast<Index>(kept.size())), elsewhere(static_cast<Index>(dropped.size()));
  for (Index i = 0; i < basic.size(); ++i) basic(i) = given(kept[i]);
  for (Index j = 0; j < elsewhere.size(); ++j) elsewhere(j) = given(dropped[j]);
  VectorXd lambda = VectorXd::Zero(rows.num_rows());
  add_spread(basic + T * elsewhere, lambda);
  // T was cleaned of rounding, so Aᵀλ may be off by as much: once more with what is missing.
  add_spread(calc_basic(rows, rows.Z * (given - lambda).cwiseQuotient(rows.D)), lambda);
  return lambda;
}

VectorXd LeastNormMultipliers::calc_lambda(const RowFactor& rows, const VectorXd& u) const {
  const VectorXd basic = calc_basic(rows, u);
  VectorXd lambda = VectorXd::Zero(rows.num_rows());
  for (Index i = 0; i < basic.size(); ++i) lambda(kept[i]) = basic(i);
  return spread(rows, lambda);
}

MatrixXd LeastNormMultipliers::calc_gain(const RowFactor& rows) const {
  const auto k = static_cast<Index>(kept.size());
  // The kept rows of A A⁺ = W (WᵀW)⁻¹ Wᵀ, Wᵀ = [I T].
  MatrixXd W_transposed = MatrixXd::Zero(k, rows.num_rows());
  for (Index i = 0; i < k; ++i) W_transposed(i, kept[i]) = 1.0;
  for (Index j = 0; j < T.cols(); ++j) W_transposed.col(dropped[j]) = T.col(j);
  MatrixXd result = apply_gram_inverse(W_transposed);
  for (Index i = 0; i < k; ++i) result.row(i) *= rows.D(kept[i]);
  return V * solve_upper_transposed(R, result);
}

}  // namespace mechanician
