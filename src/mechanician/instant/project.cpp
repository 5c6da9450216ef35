#include "mechanician/instant/project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/instant/nearest_search.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// r(x) = 0 with its Jacobian, where they are to be satisfied.
struct ConstraintValues {
  VectorXd r, r_noise;
  MatrixXd J, J_noise;
  std::optional<NotFinite> not_finite;
};

/// d of least mass norm with J d = r, in the least-squares sense where the rows contradict (redundant rows away from
/// the constraint do, to second order).
class LeastStep {
 public:
  LeastStep(const MatrixXd& M, const ConstraintValues& at) : M_(M) {
    InstantValues values;
    values.M = M;
    values.Q = VectorXd::Zero(M.rows());
    values.A = at.J;
    values.A_noise = at.J_noise;
    values.b = VectorXd::Zero(at.J.rows());
    f_ = factor(values);
    if (f_.definite) return;
    // M ≥ 0: the mass norm first, the Euclidean norm in what it leaves open.
    V2_ = calc_orthonormal_complement(euclidean().V1);
    Mhat_pinv_ = MatrixXd::Zero(V2_.cols(), V2_.cols());
    if (V2_.cols() == 0) return;  // the constraints say everything
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(V2_.transpose() * M_ * V2_);
    const VectorXd& values_of = eigen.eigenvalues();
    const double floor = values_of.cwiseAbs().maxCoeff() * 1e-12;
    for (Eigen::Index i = 0; i < values_of.size(); ++i) {
      const VectorXd v = eigen.eigenvectors().col(i);
      if (values_of(i) > floor)
        Mhat_pinv_ += v * v.transpose() / values_of(i);
      else
        free_.conservativeResize(M_.rows(), free_.cols() + 1), free_.col(free_.cols() - 1) = V2_ * v;
    }
  }

  VectorXd operator()(const VectorXd& r) const {
    if (f_.m() == 0) return VectorXd::Zero(M_.rows());
    if (f_.definite) {
      const RowFactor& rows = f_.rows;
      return f_.acceleration_of(rows.calc_least_norm(rows.project_consistent(rows.D.cwiseProduct(r))));
    }
    const VectorXd y = euclidean_.calc_least_norm(euclidean_.project_consistent(euclidean_.D.cwiseProduct(r)));
    VectorXd d = y - V2_ * (Mhat_pinv_ * (V2_.transpose() * (M_ * y)));
    if (free_.cols() > 0) d -= free_ * (free_.transpose() * d);
    return d;
  }

  /// The part of d that stays on the constraints.
  VectorXd tangential(const VectorXd& d) const { return d - (*this)(f_.A * d); }

 private:
  const RowFactor& euclidean() {
    euclidean_ = factor_rows(f_.A.transpose());
    return euclidean_;
  }

  const MatrixXd& M_;
  Factorisation f_;
  RowFactor euclidean_;
  MatrixXd V2_, Mhat_pinv_, free_{MatrixXd(M_.rows(), 0)};
};

/// Residuals as distances: |r_j|/‖J_j‖, zero where they are rounding.
double distance_to(const ConstraintValues& at) {
  double most = 0.0;
  for (Eigen::Index j = 0; j < at.r.size(); ++j) {
    if (std::abs(at.r(j)) <= at.r_noise(j)) continue;
    const double slope = at.J.row(j).norm();
    most = std::max(most, slope > 0.0 ? std::abs(at.r(j)) / slope : std::numeric_limits<double>::infinity());
  }
  return most;
}

/// The rows that positions or velocities have to meet.
std::vector<int> rows_to_meet(const System& system, bool velocities, const std::vector<bool>& violated) {
  std::vector<int> rows;
  for (int i = 0; i < system.m(); ++i) {
    const Row& row = system.row(i);
    if (row.kind == RowKind::control || row.measured) continue;
    // One-sided: only where it would be violated; a rate below zero at the constraint is an impact and no violation.
    if (row.one_sided && (!violated[static_cast<std::size_t>(i)] || (velocities && row.level == Level::position)))
      continue;
    if (row.level == Level::position || (velocities && row.level == Level::velocity)) rows.push_back(i);
  }
  return rows;
}

ConstraintValues select(const System& system, const State& state, const std::vector<int>& rows, bool velocities) {
  const Evaluation now = system.evaluate(state);
  ConstraintValues at;
  const auto size = static_cast<Eigen::Index>(rows.size());
  at.r.resize(size), at.r_noise.resize(size), at.J.resize(size, system.n()), at.J_noise.resize(size, system.n());
  at.not_finite = now.not_finite;
  for (Eigen::Index k = 0; k < size; ++k) {
    const int i = rows[static_cast<std::size_t>(k)];
    const bool rate = velocities && system.row(i).level == Level::position;
    at.r(k) = rate ? now.rate(i) : now.residual(i);
    at.r_noise(k) = rate ? now.rate_noise(i) : now.residual_noise(i);
    at.J.row(k) = now.values.A.row(i);
    at.J_noise.row(k) = now.values.A_noise.row(i);
  }
  return at;
}

Projection project_rows(const System& system, const State& given, ProjectionGoal goal,
                        const std::vector<bool>& violated) {
  Projection result;
  result.state = given;
  const Evaluation start = system.evaluate(given);
  if (start.not_finite) {
    result.not_finite = start.not_finite;
    return result;
  }
  MatrixXd M = start.values.M;
  for (const bool velocities : {false, true}) {
    // Velocities live where the positions have been moved to.
    if (velocities) {
      const Evaluation there = system.evaluate(result.state);
      if ((result.not_finite = there.not_finite)) return result;
      M = there.values.M;
    }
    const std::vector<int> rows = rows_to_meet(system, velocities, violated);
    VectorXd& x = velocities ? result.state.qd : result.state.q;
    const VectorXd x0 = x;
    State at = result.state;
    NearestSearch search;
    for (search.begin(x0, M, goal == ProjectionGoal::nearest); search.goes_on();) {
      (velocities ? at.qd : at.q) = search.x();
      const ConstraintValues values = select(system, at, rows, velocities);
      const double far = values.not_finite ? 0.0 : distance_to(values);
      if (!search.look(!values.not_finite, far)) continue;
      const LeastStep least(M, values);
      search.step(far == 0.0 ? VectorXd::Zero(x.size()) : least(-values.r), least.tangential(x0 - search.x()));
    }
    const VectorXd& found = search.x();
    if (!search.found()) {
      if (!search.off_constraints()) return result;
      (velocities ? at.qd : at.q) = found;
      const ConstraintValues values = select(system, at, rows, velocities);
      result.not_finite = values.not_finite;
      for (Eigen::Index k = 0; k < values.r.size(); ++k)
        if (std::abs(values.r(k)) > 1e-12) result.unmet.push_back(rows[static_cast<std::size_t>(k)]);
      return result;
    }
    if (x0.size() > 0) result.moved = std::max(result.moved, (found - x0).cwiseAbs().maxCoeff());
    x = found;
  }
  result.converged = true;
  return result;
}

}  // namespace

Projection project(const System& system, const State& given, ProjectionGoal goal) {
  // One-sided constraints that are violated are met as equalities; those that this violates join them.
  std::vector<bool> violated(static_cast<std::size_t>(system.m()), false);
  Projection result;
  for (int round = 0; round <= system.m(); ++round) {
    result = project_rows(system, given, goal, violated);
    if (!result.converged || !system.has_contacts()) return result;
    const Evaluation there = system.evaluate(result.state);
    bool more = false;
    for (int j = 0; j < system.m(); ++j) {
      const Row& row = system.row(j);
      if (!row.one_sided || violated[static_cast<std::size_t>(j)] ||
          !(there.residual(j) < -4.0 * there.residual_noise(j)))
        continue;
      violated[static_cast<std::size_t>(j)] = more = true;
    }
    if (!more) break;
  }
  return result;
}

}  // namespace mechanician
