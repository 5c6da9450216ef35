#include "mechanician/solve/weighted.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/mass.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

WeightedRows prepare_weighted(const MatrixXd& Z_given, const MatrixXd& noise, const std::vector<Index>& measured,
                              const MatrixXd& W, Index rank_all) {
  WeightedRows result;
  result.measured = measured;
  std::vector<bool> is_measured(static_cast<std::size_t>(Z_given.cols()), false);
  for (const Index j : measured) is_measured[j] = true;
  for (Index j = 0; j < Z_given.cols(); ++j) {
    if (!is_measured[j]) result.exact.push_back(j);
  }
  const auto num_exact = static_cast<Index>(result.exact.size());
  MatrixXd Z_exact(Z_given.rows(), num_exact);
  MatrixXd noise_exact(noise.size() == 0 ? 0 : Z_given.rows(), noise.size() == 0 ? 0 : num_exact);
  for (Index j = 0; j < num_exact; ++j) {
    Z_exact.col(j) = Z_given.col(result.exact[j]);
    if (noise.size() != 0) noise_exact.col(j) = noise.col(result.exact[j]);
  }
  result.exact_rows = factor_rows(Z_exact, noise_exact);
  result.V2 = calc_orthonormal_complement(result.exact_rows.V1);
  result.rank = std::max<Index>(0, rank_all - result.exact_rows.rank);

  // A weight matrix must pass the same test as a mass matrix: no units, no directions without weight.
  result.weights_definite = check_mass(W).kind == MassKind::definite;
  if (result.weights_definite && W.size() > 0) {
    const Cholesky cholesky = calc_cholesky(0.5 * (W + W.transpose()));
    result.weights_definite = cholesky.definite;
    result.W = 0.5 * (W + W.transpose());
  }
  return result;
}

VectorXd calc_weighted_b(const WeightedRows& weighted, const RowFactor& all_rows, const VectorXd& b,
                         const VectorXd& y_exact) {
  const auto num_measured = static_cast<Index>(weighted.measured.size());
  const Index n = all_rows.Z.rows();
  MatrixXd A_w(num_measured, n);  // measured rows in the metric, as given
  VectorXd b_w(num_measured);
  for (Index i = 0; i < num_measured; ++i) {
    const Index row = weighted.measured[i];
    A_w.row(i) = all_rows.Z.col(row).transpose() / all_rows.D(row);
    b_w(i) = b(row);
  }

  VectorXd y = y_exact;
  const Index rank = std::min<Index>({weighted.rank, weighted.V2.cols(), num_measured});
  if (rank > 0) {
    // Weights mix rows, which may be of very different sizes. With the largest rows first, the root of W is a triangle that adds
    // smaller ones to larger ones only: what is said by the small ones alone does not drown in rounding.
    // A row that the exact ones decide is left with rounding of its own size, which may be large beside rows that count.
    const double rounding = 16.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    MatrixXd F = A_w * weighted.V2;
    for (Index i = 0; i < num_measured; ++i)
      if (F.row(i).norm() <= rounding * A_w.row(i).norm()) F.row(i).setZero();
    std::vector<Index> by_size(static_cast<std::size_t>(num_measured));
    std::iota(by_size.begin(), by_size.end(), Index{0});
    const VectorXd size = F.rowwise().norm();
    std::sort(by_size.begin(), by_size.end(), [&](Index i, Index j) { return size(i) > size(j); });
    MatrixXd F_sorted(num_measured, F.cols()), W_sorted(num_measured, num_measured);
    for (Index i = 0; i < num_measured; ++i) {
      F_sorted.row(i) = F.row(by_size[i]);
      for (Index j = 0; j < num_measured; ++j) W_sorted(i, j) = weighted.W(by_size[i], by_size[j]);
    }
    const MatrixXd W_root = calc_cholesky(W_sorted).L.transpose();
    // Any minimiser will do: the basic solution. The rank was decided with scaled rows, before the weights.
    const PivotedQr qr = calc_pivoted_qr(W_root * F_sorted);
    const MatrixXd R = qr.R.topLeftCorner(rank, rank);
    // Rows that can all be met leave nothing of themselves, large or small: going on with what is left is exact for these.
    constexpr int num_passes = 3;
    for (int pass = 0; pass < num_passes; ++pass) {
      VectorXd left = b_w - A_w * y;
      const VectorXd terms = b_w.cwiseAbs() + A_w.cwiseAbs() * y.cwiseAbs();
      for (Index i = 0; i < num_measured; ++i)
        if (std::abs(left(i)) <= rounding * terms(i)) left(i) = 0.0;  // met
      VectorXd left_sorted(num_measured);
      for (Index i = 0; i < num_measured; ++i) left_sorted(i) = left(by_size[i]);
      const VectorXd reduced = solve_upper(R, VectorXd(qr.V.leftCols(rank).transpose() * (W_root * left_sorted)));
      VectorXd x = VectorXd::Zero(F.cols());
      for (Index i = 0; i < rank; ++i) x(qr.order[i]) = reduced(i);
      y += weighted.V2 * x;
    }
  }
  return A_w * y;
}

}  // namespace mechanician
