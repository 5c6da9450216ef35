#include "mechanician/solve/factorisation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/solve/coordinate_scale.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/sized_factorisation.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Factors M̂ and finds the directions that neither mass nor constraints determine.
void factor_Mhat(Factorisation& f) {
  const Index n = f.n();
  f.M_scaled = f.s.asDiagonal() * f.M * f.s.asDiagonal();
  for (Index i = 0; i < n; ++i) {
    if (f.mass.scale(i) > 0) continue;
    f.M_scaled.row(i).setZero();
    f.M_scaled.col(i).setZero();
  }
  f.V2 = calc_orthonormal_complement(f.rows.V1);
  const Index p = f.V2.cols();
  const MatrixXd F = calc_mass_root(f.M_scaled, f.mass.tolerance);
  const MatrixXd G = F * f.V2;
  PivotedQr qr = calc_pivoted_qr(G);
  f.Mhat_order = std::move(qr.order);
  // The scaled mass matrix has ones on its diagonal, so the threshold is absolute; V₂ is known to eps·κ only.
  const double null_threshold = std::max(1e-10, 32.0 * eps * f.rows.condition);
  Index rank = 0;
  while (rank < qr.R.rows() && std::abs(qr.R(rank, rank)) > null_threshold) ++rank;
  f.Mhat_R = qr.R.topLeftCorner(rank, rank);
  f.unique = rank == p;
  if (f.unique) return;

  MatrixXd null = MatrixXd::Zero(p, p - rank);
  const MatrixXd T = solve_upper(f.Mhat_R, MatrixXd(qr.R.topRightCorner(rank, p - rank)));
  for (Index j = 0; j < p - rank; ++j) {
    for (Index i = 0; i < rank; ++i) null(f.Mhat_order[i], j) = -T(i, j);
    null(f.Mhat_order[rank + j], j) = 1.0;
  }
  f.undetermined_scaled = f.V2 * orthonormalised(null);
  const double threshold = std::max(1e-8, 100.0 * eps * f.rows.condition);
  for (Index i = 0; i < n; ++i) {
    if (f.undetermined_scaled.row(i).norm() > threshold) f.undetermined.push_back(i);
  }
}

}  // namespace

VectorXd Factorisation::to_metric(const VectorXd& force) const {
  if (!definite) return s.cwiseProduct(force);
  return solve_lower(L, force);
}

VectorXd Factorisation::force_of(const VectorXd& u) const {
  if (!definite) return u.cwiseQuotient(s);
  return L * u;
}

VectorXd Factorisation::acceleration_of(const VectorXd& y) const {
  if (!definite) return s.cwiseProduct(y);
  return solve_lower_transposed(L, y);
}

VectorXd Factorisation::solve_Mhat(const VectorXd& r) const {
  const Index p = Mhat_R.rows();
  VectorXd x(p);
  for (Index i = 0; i < p; ++i) x(i) = r(Mhat_order[i]);
  x = solve_upper(Mhat_R, solve_upper_transposed(Mhat_R, x));
  VectorXd result = VectorXd::Zero(r.size());
  for (Index i = 0; i < p; ++i) result(Mhat_order[i]) = x(i);
  return result;
}

bool takes_sparse_path(const InstantValues& values) {
  if (values.path != SolvePath::automatic) return values.path == SolvePath::sparse;
  const Index size = values.M.rows() + values.b.size();
  return size >= sparse_from && sparse_share * (values.M.num_entries() + 2 * values.A.num_entries()) <= size * size;
}

Factorisation factor(const InstantValues& values, const SparseRows& all) {
  check_sizes(values);
  if (!takes_sparse_path(values) || !matrices_finite(values)) return factor_dense(values, all);
  Factorisation f;
  f.num_coordinates = values.M.rows(), f.num_rows = values.b.size();
  f.sparse = std::make_shared<SparseInstant>(values);
  if (!f.sparse->trustworthy()) return factor_dense(values, all);
  f.status = f.sparse->status();
  f.mass = f.sparse->mass().check();
  f.definite = f.sparse->mass().definite();
  f.unique = f.sparse->unique();
  f.undetermined = f.sparse->undetermined();
  return f;
}

Factorisation factor(const InstantValues& values) { return factor(values, values.A); }
Factorisation factor_dense(const InstantValues& values) { return factor_dense(values, values.A); }

Factorisation factor_dense(const InstantValues& values, const SparseRows& all) {
  check_sizes(values);
  Factorisation f;
  const Index n = values.M.rows();
  f.num_coordinates = n, f.num_rows = values.b.size();
  if (!matrices_finite(values)) {
    f.status = SolveStatus::not_finite;
    return f;
  }
  f.M = values.M.to_dense();
  f.A = values.A.size() > 0 ? values.A.to_dense() : MatrixXd::Zero(values.b.size(), n);
  f.mass = check_mass(f.M, values.M_noise.to_dense());
  f.M = (0.5 * (f.M + f.M.transpose())).eval();
  const bool refused = f.mass.kind == MassKind::indefinite || f.mass.kind == MassKind::not_symmetric;
  if (f.mass.kind == MassKind::indefinite) f.status = SolveStatus::mass_indefinite;
  if (f.mass.kind == MassKind::not_symmetric) f.status = SolveStatus::mass_not_symmetric;

  if (f.mass.kind == MassKind::definite) {
    Cholesky cholesky = calc_cholesky(f.M);
    f.definite = cholesky.definite;
    f.L = std::move(cholesky.L);
    if (!f.definite) f.mass.kind = MassKind::semidefinite;
  }

  // Rows in the metric, with their error bounds.
  MatrixXd Z, noise;
  const auto take_metric = [&](const VectorXd& of_mass) {
    if (f.definite) {
      Z = solve_lower(f.L, MatrixXd(f.A.transpose()));
      if (values.A_noise.size() > 0) {
        const MatrixXd L_inv = solve_lower(f.L, MatrixXd(MatrixXd::Identity(n, n)));
        noise = L_inv.cwiseAbs() * values.A_noise.to_dense().transpose().cwiseAbs();
      }
    } else {
      f.s = coordinate_scale(of_mass, all);
      Z = f.s.asDiagonal() * f.A.transpose();
      if (values.A_noise.size() > 0) noise = f.s.asDiagonal() * values.A_noise.to_dense().transpose().cwiseAbs();
    }
    f.rows = factor_rows(Z, noise);
    if (!f.definite && !refused) factor_Mhat(f);
  };
  // Masses that drown the others are left out, unless they alone determine something. Those that a Cholesky factor copes with
  // may differ by more.
  constexpr double drowns = 1e8, drowns_factor = 1e11;
  const VectorXd of_mass =
      refused ? VectorXd(VectorXd::Zero(n)) : drop_drowning(f.mass.scale, all, f.definite ? drowns_factor : drowns);
  const bool definite = f.definite;
  if (definite && of_mass.size() > 0 && of_mass.minCoeff() == 0.0) f.definite = false;
  take_metric(of_mass);
  if (definite && !f.definite && !f.unique) {
    f.definite = f.unique = true;
    f.undetermined.clear(), f.undetermined_scaled.resize(0, 0);
    take_metric(of_mass);
  }
  f.multipliers = prepare_multipliers(f.rows);
  if (!values.measured.empty()) {
    f.weighted = prepare_weighted(Z, noise, values.measured, values.W, f.rows.rank);
    if (!f.weighted->weights_definite && f.status == SolveStatus::solved) f.status = SolveStatus::weights_not_definite;
  }
  return f;
}

MotionForces calc_motion(const Factorisation& f, const VectorXd& Q, const VectorXd& b, const VectorXd& C) {
  const VectorXd y_p = f.rows.calc_least_norm(f.rows.project_consistent(f.rows.D.cwiseProduct(b)));
  const MatrixXd& V1 = f.rows.V1;
  const VectorXd g = f.to_metric(Q);
  const bool has_C = C.size() > 0;
  MotionForces motion;
  if (f.definite) {
    // A of full column rank leaves no room for forces; say so exactly.
    const bool no_freedom = f.rows.rank == f.n();
    const VectorXd held = no_freedom ? g : VectorXd(V1 * (V1.transpose() * g));
    VectorXd u_nonideal = VectorXd::Zero(f.n());
    if (has_C && !no_freedom) {
      u_nonideal = f.to_metric(C);
      u_nonideal -= V1 * (V1.transpose() * u_nonideal);
    }
    motion.qdd = f.acceleration_of(y_p + (g - held) + u_nonideal);
    motion.F_ideal = f.force_of(y_p - held);
    motion.F_nonideal = f.force_of(u_nonideal);
    return motion;
  }
  const VectorXd y_ideal = y_p + f.V2 * f.solve_Mhat(f.V2.transpose() * (g - f.M_scaled * y_p));
  // The ideal force lies in the span of the rows; projecting removes rounding across it.
  const VectorXd u_ideal = V1 * (V1.transpose() * (f.M_scaled * y_ideal - g));
  VectorXd y_nonideal = VectorXd::Zero(f.n());
  if (has_C) y_nonideal = f.V2 * f.solve_Mhat(f.V2.transpose() * f.to_metric(C));
  motion.qdd = f.acceleration_of(y_ideal + y_nonideal);
  motion.F_ideal = f.force_of(u_ideal);
  motion.F_nonideal = f.force_of(f.M_scaled * y_nonideal);
  return motion;
}

}  // namespace mechanician
