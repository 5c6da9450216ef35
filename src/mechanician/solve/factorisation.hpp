// The robust solution of one instant, in two stages: factor() uses M and A only, solve() needs Q, b and C as well.
// C may depend on the ideal force, which is known only after a first solve with C = 0; the second costs O(n²).
//
// M > 0. M = L Lᵀ, Z = L⁻¹AᵀD = V₁ [R₁₁ R₁₂] Πᵀ (column-pivoted QR, see rank.hpp), P = V₁V₁ᵀ:
//   Lᵀq̈ = y_p + (I − P) L⁻¹(Q + C),  Zᵀy_p = D b of least norm         (F1, U02 eq. 32, with L for M^(1/2))
//   Qᶜᵢ  = L (y_p − P L⁻¹Q)                                             (U02 eq. 7)
//   Qᶜₙᵢ = L (I − P) L⁻¹C                                               (U02 eq. 8)
//   e = b − A a is never formed: where large forces are held by constraints it is a difference of large numbers.
// M ≥ 0. Coordinates scaled by S, M̄ = S M S = FᵀF, V₂ an orthonormal basis of the complement of V₁:
//   S⁻¹q̈ = x_p + V₂ M̂⁻¹V₂ᵀ(S(Q + C) − M̄ x_p),  M̂ = V₂ᵀM̄V₂ = (FV₂)ᵀ(FV₂)       (F5, U23 eq. 54)
//   M̂⁻¹ by a QR of F V₂ (its R is the Cholesky factor of M̂, without squaring); the acceleration is unique iff
//   F V₂ has full column rank (U23 lemmas 3 and 4).
//
// Error of q̈: a small factor times eps times κ, κ the condition number of Z. Cost about n³/3 + 2 m n min(m,n).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/mass.hpp"
#include "mechanician/solve/multipliers.hpp"
#include "mechanician/solve/rank.hpp"
#include "mechanician/solve/solution.hpp"
#include "mechanician/solve/weighted.hpp"

namespace mechanician {

class SparseInstant;

struct Factorisation {
  /// Large and sparse: who answers. Nothing of what is dense below is filled in then, but `status`, `mass`, `definite`,
  /// `unique`, `undetermined` and the sizes are.
  std::shared_ptr<SparseInstant> sparse = {};

  SolveStatus status = SolveStatus::solved;  // solved, or what is wrong with M, A or W
  MassCheck mass;
  Eigen::MatrixXd M;  // n×n, symmetrised
  Eigen::MatrixXd A;  // m×n, as given

  // The metric. M > 0: L. Otherwise (also where M is refused, for the sake of diagnosis): the coordinate scale s.
  bool definite = false;
  Eigen::MatrixXd L;
  Eigen::VectorXd s;

  RowFactor rows;
  LeastNormMultipliers multipliers;
  std::optional<WeightedRows> weighted;

  // M ≥ 0 singular only.
  Eigen::MatrixXd M_scaled;  // n×n, S M S
  Eigen::MatrixXd V2;        // n×(n−k)
  Eigen::MatrixXd Mhat_R;    // Mhat = Pᵀ(RᵀR)P with the permutation below; leading block where not unique
  std::vector<Eigen::Index> Mhat_order;

  bool unique = true;
  std::vector<Eigen::Index> undetermined;
  Eigen::MatrixXd undetermined_scaled;  // n×p, orthonormal in scaled coordinates

  Eigen::Index num_coordinates = 0, num_rows = 0;

  Eigen::Index n() const { return num_coordinates; }
  Eigen::Index m() const { return num_rows; }

  /// A force (covector) in the metric, u = L⁻¹f or S f, and back.
  Eigen::VectorXd to_metric(const Eigen::VectorXd& force) const;
  Eigen::VectorXd force_of(const Eigen::VectorXd& u) const;
  /// An acceleration from the metric, q̈ = L⁻ᵀy or S y.
  Eigen::VectorXd acceleration_of(const Eigen::VectorXd& y) const;
  /// V₂ᵀM̄V₂ x = r.
  Eigen::VectorXd solve_Mhat(const Eigen::VectorXd& r) const;
};

/// Whether the sparse path answers: asked for, or from `sparse_from` coordinates and rows on where at most one in
/// `sparse_share` of the entries of [M Aᵀ; A 0] is there. See ARCHITECTURE.md, measured decisions.
inline constexpr Eigen::Index sparse_from = 160, sparse_share = 8;
bool takes_sparse_path(const InstantValues& values);

/// Throws std::invalid_argument for sizes that disagree; everything else is a status.
Factorisation factor(const InstantValues& values);
/// By orthogonal factorisations, whatever the size.
Factorisation factor_dense(const InstantValues& values);

/// Acceleration and total forces, before they are told apart by rows.
struct MotionForces {
  Eigen::VectorXd qdd;      // n
  Eigen::VectorXd F_ideal;  // n, M q̈ − Q for C = 0: in the span of the rows
  Eigen::VectorXd F_nonideal;
  // m, multipliers of the ideal problem and of the one with C, zero on dependent rows; empty where only the forces are
  // known.
  Eigen::VectorXd lambda_ideal = {}, lambda_joint = {};
};

/// b must be consistent, the acceleration unique; C empty or n.
MotionForces calc_motion(const Factorisation& f, const Eigen::VectorXd& Q, const Eigen::VectorXd& b,
                         const Eigen::VectorXd& C);

/// Second stage: `values` has the M, A, W and `measured` that were factored, and any Q, b, C.
Solution solve(const Factorisation& f, const InstantValues& values);

/// Both stages.
Solution solve(const InstantValues& values);

}  // namespace mechanician
