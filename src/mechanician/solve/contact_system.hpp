// Contacts seen through everything else: accelerations at the contacts as functions of the contact forces, with the
// two-sided rows eliminated,
//
//   q̈ = q̈₀ + X f + U z,   w = w₀ + W f + (G D)ᵀU z,   λ_E = λ_E0 + Λ f,   Uᵀ(Q + C + G D f) = 0.
//
// Forces f: one for each one-sided row and k for each contact with friction; columns of G D are their directions, of unit
// size in the metric of the masses, W = (G D)ᵀX (symmetric, ≥ 0, diagonal ≤ 1). U: directions that masses and two-sided
// rows leave open (singular M only); there the forces must balance. Cost: p solutions with the two-sided rows.
#pragma once

#include <vector>

#include "mechanician/solve/coulomb.hpp"
#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

/// A contact, or a one-sided row without friction.
struct ContactUnit {
  Eigen::Index contact = -1;  // position among the contacts; −1 without friction
  Eigen::Index row = 0;       // of A
  Eigen::Index normal = -1;   // column of the normal force; −1 where the row is two-sided
  Eigen::Index tangent = -1;  // first column of the friction force
  Eigen::Index k = 0;
  double mu = 0, limit = 0;   // for scaled forces
  Eigen::VectorXd direction;  // of a slip that is there already
  // Two-sided: λ̂ = lambda0 + lambda·f, scaled like a force.
  double lambda0 = 0;
  Eigen::RowVectorXd lambda;
  double lambda_scale = 1;  // λ = lambda_scale·λ̂

  bool two_sided() const { return normal < 0; }
};

struct ContactSystem {
  SolveStatus status = SolveStatus::solved;       // anything else: of the two-sided rows; nothing below is there
  SolveStatus open_status = SolveStatus::solved;  // where the two-sided rows alone leave the acceleration open
  InstantValues values;                           // b of measured rows replaced by what they can attain
  std::vector<Eigen::Index> equality;             // two-sided rows
  Factorisation f;                                // of these
  SparseRows G_transposed;                        // p×n, unit forces as given
  Eigen::VectorXd D;                              // p, force as given = D·f
  Eigen::MatrixXd X;                              // n×p
  Eigen::VectorXd qdd0;                           // n
  Eigen::MatrixXd W;                              // p×p
  Eigen::VectorXd slip_b;                         // p, right-hand sides of the rows Gᵀ
  Eigen::VectorXd w0;                             // p, D (Gᵀq̈₀ − slip_b)
  Eigen::MatrixXd U;                              // n×u
  Eigen::VectorXd U_force;                        // u, Uᵀ(Q + C)
  Eigen::MatrixXd UG;                             // u×p, UᵀG D
  Eigen::VectorXd lambda0;                        // two-sided rows
  Eigen::MatrixXd Lambda;                         // two-sided rows × p
  std::vector<ContactUnit> units;
  std::vector<Eigen::Index> one_sided;  // as given
  double scale = 0;                     // size of accelerations and forces in the metric

  Eigen::Index p() const { return W.rows(); }
  /// The size of an acceleration in the metric.
  double motion_norm(const Eigen::VectorXd& qdd) const;
  /// Accelerations in the metric; on the sparse path by the scale of the coordinates alone.
  Eigen::MatrixXd to_metric(const Eigen::MatrixXd& qdd) const;
};

ContactSystem make_contact_system(const InstantValues& values, const std::vector<Eigen::Index>& one_sided,
                                  const std::vector<FrictionContact>& contacts);

/// Units that feel each other, as groups of positions in `units`.
std::vector<std::vector<std::size_t>> find_groups(const ContactSystem& system);

}  // namespace mechanician
