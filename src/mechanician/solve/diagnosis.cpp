#include "mechanician/solve/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Rows that depend on rows before them, from the left null basis of the scaled rows.
std::vector<Index> find_redundant(const RowFactor& rows) {
  MatrixXd Y = rows.N;
  const double zero = 10.0 * rows.null_tolerance();
  std::vector<Index> redundant;
  // Y.leftCols(left): null vectors that vanish in all rows below the current one.
  Index left = Y.cols();
  for (Index row = rows.num_rows() - 1; row >= 0 && left > 0; --row) {
    const double size = Y.row(row).head(left).norm();
    // So many null vectors need so many rows: with none to spare the row has a pivot whatever its size.
    if (size <= zero && left <= row) continue;
    redundant.push_back(row);
    Eigen::RowVectorXd w = Y.row(row).head(left);
    w(left - 1) += std::copysign(size, w(left - 1));
    if (w.norm() > 0) {
      w.normalize();
      const VectorXd product = Y.leftCols(left) * w.transpose();
      Y.leftCols(left) -= 2.0 * product * w;
    }
    --left;
    Y.row(row).head(left).setZero();
  }
  std::reverse(redundant.begin(), redundant.end());
  return redundant;
}

/// Least squares of column z in the columns of Z_on, dropping what is rounding and fitting the rest again.
Dependence find_dependence(const RowFactor& rows, Index row, const std::vector<Index>& before) {
  Dependence result;
  result.row = row;
  if (rows.zero_row[row] || before.empty()) return result;
  std::vector<Index> on = before;
  VectorXd c;
  for (int round = 0; round < 3; ++round) {
    const MatrixXd Z = rows.Z(Eigen::all, on);
    const auto [V, R] = calc_thin_qr(Z);
    const auto size = static_cast<Index>(on.size());
    // One step of refinement: the residual of a consistent system is all rounding.
    c = solve_upper(R, VectorXd(V.transpose() * rows.Z.col(row)));
    c += solve_upper(R, VectorXd(V.transpose() * (rows.Z.col(row) - Z * c)));
    // Componentwise bound of the rounding error, |R⁻¹| (|R||c| + 1) eps.
    const MatrixXd R_inv = solve_upper(R, MatrixXd(MatrixXd::Identity(size, size)));
    const VectorXd bound = (64.0 * eps) * (R_inv.cwiseAbs() * (R.cwiseAbs() * c.cwiseAbs() + VectorXd::Ones(size)));
    std::vector<Index> kept;
    for (Index i = 0; i < size; ++i) {
      if (std::abs(c(i)) > std::max(1e-12, bound(i))) kept.push_back(on[i]);
    }
    if (kept.size() == on.size() || kept.empty()) break;
    on = std::move(kept);
  }
  for (std::size_t i = 0; i < on.size(); ++i) {
    result.on.push_back(on[i]);
    result.coefficients.push_back(c(static_cast<Index>(i)) * rows.D(on[i]) / rows.D(row));
  }
  return result;
}

}  // namespace

Diagnosis diagnose(const Factorisation& f, const InstantValues& values) {
  if (f.sparse) return f.sparse->diagnose(values);
  Diagnosis d;
  const Solution solution = solve(f, values);
  d.status = solution.status;
  d.num_rows = f.m();
  if (f.status == SolveStatus::not_finite) return d;
  d.rank = f.rows.rank;
  d.rank_gap = f.rows.gap;
  d.rank_doubtful = f.rows.doubtful;
  d.unique = f.unique;
  d.undetermined = f.undetermined;
  d.solvable = solution.solvable;
  for (Index j = 0; j < f.m(); ++j) {
    if (f.rows.zero_row[j]) d.zero_rows.push_back(j);
    if (f.multipliers.undetermined[j]) d.multipliers_undetermined.push_back(j);
  }

  d.redundant = find_redundant(f.rows);
  std::vector<Index> before;
  auto next = d.redundant.begin();
  for (Index row = 0; row < f.m(); ++row) {
    if (next != d.redundant.end() && *next == row) {
      d.depends.push_back(find_dependence(f.rows, row, before));
      ++next;
    } else {
      before.push_back(row);
    }
  }

  if (!vectors_finite(values)) return d;
  std::vector<Index> all(static_cast<std::size_t>(f.m()));
  std::iota(all.begin(), all.end(), Index{0});
  const Consistency consistency =
      check_consistency(f.rows, values, all, [&f](const VectorXd& y) { return f.acceleration_of(y); });
  d.consistent = consistency.consistent;
  if (!d.consistent) d.conflicts = find_conflicts(f.rows, values.b, consistency.tolerance);
  return d;
}

Diagnosis diagnose(const InstantValues& values) { return diagnose(factor(values), values); }

}  // namespace mechanician
