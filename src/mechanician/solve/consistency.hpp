// Do the constraints contradict each other? A A⁺ b = b (U23, proof of result 4), decided with scaled rows, whatever M
// is: every row that depends on others, A_j = Σ T_ij A_i, must have b_j = Σ T_ij b_i within what the rows allow,
//
//   |b_j − Σ T_ij b_i| ≤ tol_j + Σ |T_ij| tol_i,
//   tol_j = 10⁻⁹ (Σ_i |A_ji||q̈_i| + max(|b_j|, b_size_j)) + rounding error bounds,   q̈ the least-squares solution.
#pragma once

#include <functional>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/rank.hpp"

namespace mechanician {

inline constexpr double consistency_tolerance = 1e-9;

struct Consistency {
  bool consistent = true;
  Eigen::VectorXd b;          // m, the consistent right-hand side nearest to the given one in scaled rows
  Eigen::VectorXd residual;   // m, given b minus that
  Eigen::VectorXd tolerance;  // m, what |residual| may be
  Eigen::VectorXd y_ls;       // n, least-squares solution of least norm, in the metric
};

/// tol of every row of `selection`. qdd_size: |q̈| of the least-squares solution; D: scale of the rows; `condition` of the
/// scaled rows.
Eigen::VectorXd calc_row_tolerances(const InstantValues& values, const std::vector<Eigen::Index>& selection,
                                    const Eigen::VectorXd& qdd_size, const Eigen::VectorXd& D, double condition);

using AccelerationOf = std::function<Eigen::VectorXd(const Eigen::VectorXd& y)>;

/// Rows of `values` to look at are `selection` (all of them in order for a factorisation of the whole A); the function
/// `to_qdd` turns a vector of the metric into an acceleration.
Consistency check_consistency(const RowFactor& rows, const InstantValues& values,
                              const std::vector<Eigen::Index>& selection, const AccelerationOf& to_qdd);

}  // namespace mechanician
