#include "mechanician/solve/parts.hpp"

#include <stdexcept>

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Euclidean split of n-vectors by N(A), coordinates as given.
struct EuclideanSplit {
  MatrixXd V1;          // n×k, orthonormal basis of N(A)^⊥
  VectorXd particular;  // A⁺b

  VectorXd on_range(const VectorXd& x) const { return V1 * (V1.transpose() * x); }
  VectorXd on_null(const VectorXd& x) const { return x - on_range(x); }
};

EuclideanSplit split_by_constraints(const Factorisation& f, const VectorXd& b) {
  // The independent rows that the factorisation kept, scaled, have the null space of A; for a consistent b they have
  // the least-norm solution too.
  const Index k = f.rows.rank;
  MatrixXd A_kept(f.n(), k);
  VectorXd b_kept(k);
  for (Index i = 0; i < k; ++i) {
    const Index row = f.rows.order[i];
    const double norm = f.A.row(row).norm();
    A_kept.col(i) = f.A.row(row).transpose() / norm;
    b_kept(i) = b(row) / norm;
  }
  const auto [V1, R] = calc_thin_qr(A_kept);
  return {V1, V1 * solve_upper_transposed(R, b_kept)};
}

}  // namespace

Parts calc_parts(const Factorisation& f, const InstantValues& values, const Solution& solution, const VectorXd& qd) {
  if (!solution.has_acceleration()) throw std::invalid_argument("calc_parts needs a solution with an acceleration");
  if (qd.size() != 0 && qd.size() != f.n()) throw std::invalid_argument("calc_parts needs n velocities, or none");
  if (f.sparse) return f.sparse->calc_parts(values, solution, qd);
  const VectorXd C = values.C.size() > 0 ? values.C : VectorXd::Zero(f.n());
  const VectorXd& b = solution.b_used;
  const MotionForces motion = calc_motion(f, values.Q, b, C);

  Parts parts;
  parts.c_acting = motion.F_nonideal;
  parts.c_absorbed = C - motion.F_nonideal;
  if (f.definite) {
    const VectorXd a = *solution.a;
    const VectorXd zero = VectorXd::Zero(f.n());
    parts.error_signal = b - f.A * a;
    parts.gain = f.L * f.multipliers.calc_gain(f.rows);
    parts.deviation_ideal = f.acceleration_of(f.to_metric(motion.F_ideal));
    parts.deviation_nonideal = f.acceleration_of(f.to_metric(motion.F_nonideal));
    parts.deviation = *parts.deviation_ideal + *parts.deviation_nonideal;
    parts.z = calc_mass_roots(f.M).inv_root * C;
    // The ideal force is linear in Q and b.
    parts.reaction_to_forces = calc_motion(f, values.Q, VectorXd::Zero(f.m()), zero).F_ideal;
    parts.reaction_to_motion = calc_motion(f, zero, b, zero).F_ideal;
  }

  const EuclideanSplit split = split_by_constraints(f, b);
  parts.acceleration_range = split.particular;
  parts.acceleration_null = split.on_null(solution.qdd);
  parts.force_null = split.on_null(solution.Qc);
  parts.force_range = split.on_range(solution.Qc);
  const MatrixXd projector = MatrixXd::Identity(f.n(), f.n()) - split.V1 * split.V1.transpose();
  parts.auxiliary.Ms = projector * f.M * projector;
  parts.auxiliary.Delta = values.Q + C - f.M * split.particular;
  // M_s⁺Δ = V₂M̂⁻¹V₂ᵀΔ is the acceleration on N(A) (U23 eq. 29, 51).
  parts.auxiliary.qdd_A = parts.acceleration_null;

  add_power(values, solution, qd, parts);
  return parts;
}

void add_power(const InstantValues& values, const Solution& solution, const VectorXd& qd, Parts& parts) {
  if (qd.size() != values.M.rows() || qd.size() == 0) return;
  PowerParts power;
  power.ideal = qd.dot(solution.Qc_i);
  power.nonideal = qd.dot(solution.Qc_ni);
  power.control = qd.dot(solution.Q_control);
  power.by_row = solution.multipliers;
  for (Index j = 0; j < power.by_row.size(); ++j) power.by_row(j) *= values.A.dot(j, qd);
  parts.power = power;
}

}  // namespace mechanician
