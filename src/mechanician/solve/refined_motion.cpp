#include "mechanician/solve/refined_motion.hpp"

#include <cmath>
#include <limits>

#include "mechanician/solve/dense.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_steps = 3;

/// q̈ and the multipliers of the kept rows.
struct Kkt {
  VectorXd qdd, lambda;
};

class RefinedSolve {
 public:
  explicit RefinedSolve(const Factorisation& f, const std::vector<Index>& kept) : f_(f), kept_(kept) {}

  Kkt solve(const VectorXd& P, const VectorXd& b_kept) const {
    Kkt x = solve_once(P, b_kept);
    double last = std::numeric_limits<double>::infinity();
    for (int step = 0; step < most_steps; ++step) {
      const Kkt dx = solve_once(calc_force_residual(P, x), calc_row_residual(b_kept, x));
      const double size = relative_size(dx, x);
      // Corrections that do not shrink are rounding, or the factors are of no use.
      if (!(size < 0.5 * last)) break;
      x.qdd += dx.qdd;
      x.lambda += dx.lambda;
      last = size;
      if (size < std::numeric_limits<double>::epsilon()) break;
    }
    return x;
  }

 private:
  /// With the factors alone (F1 and F5 as in calc_motion, on the kept rows).
  Kkt solve_once(const VectorXd& P, const VectorXd& b_kept) const {
    const MatrixXd& V = f_.rows.V1;
    const MatrixXd& R = f_.rows.R11;
    VectorXd scaled(b_kept.size());
    for (Index i = 0; i < scaled.size(); ++i) scaled(i) = f_.rows.D(kept_[i]) * b_kept(i);
    const VectorXd y_p = V * solve_upper_transposed(R, scaled);
    const VectorXd g = f_.to_metric(P);
    VectorXd y, u;
    if (f_.definite) {
      const VectorXd held = f_.rows.rank == f_.n() ? g : VectorXd(V * (V.transpose() * g));
      y = y_p + (g - held);
      u = y_p - held;
    } else {
      y = y_p + f_.V2 * f_.solve_Mhat(f_.V2.transpose() * (g - f_.M_scaled * y_p));
      u = f_.M_scaled * y - g;
    }
    Kkt x{f_.acceleration_of(y), solve_upper(R, VectorXd(V.transpose() * u))};
    for (Index i = 0; i < x.lambda.size(); ++i) x.lambda(i) *= f_.rows.D(kept_[i]);
    return x;
  }

  /// P + A_kᵀλ − M q̈
  VectorXd calc_force_residual(const VectorXd& P, const Kkt& x) const {
    VectorXd r(f_.n());
    for (Index i = 0; i < f_.n(); ++i) {
      long double sum = P(i);
      for (Index j = 0; j < x.lambda.size(); ++j) sum += static_cast<long double>(f_.A(kept_[j], i)) * x.lambda(j);
      for (Index j = 0; j < f_.n(); ++j) sum -= static_cast<long double>(f_.M(i, j)) * x.qdd(j);
      r(i) = static_cast<double>(sum);
    }
    return r;
  }

  /// b_k − A_k q̈
  VectorXd calc_row_residual(const VectorXd& b_kept, const Kkt& x) const {
    VectorXd r(b_kept.size());
    for (Index j = 0; j < r.size(); ++j) {
      long double sum = b_kept(j);
      for (Index i = 0; i < f_.n(); ++i) sum -= static_cast<long double>(f_.A(kept_[j], i)) * x.qdd(i);
      r(j) = static_cast<double>(sum);
    }
    return r;
  }

  static double relative_size(const Kkt& dx, const Kkt& x) {
    const double qdd = x.qdd.norm(), lambda = x.lambda.norm();
    return (qdd > 0 ? dx.qdd.norm() / qdd : 0.0) + (lambda > 0 ? dx.lambda.norm() / lambda : 0.0);
  }

  const Factorisation& f_;
  const std::vector<Index>& kept_;
};

}  // namespace

MotionForces calc_refined_motion(const Factorisation& f, const VectorXd& Q, const VectorXd& b, const VectorXd& C) {
  // The rows that the pivoting kept: the best conditioned choice. (The large rows of LeastNormMultipliers are not.)
  const Index k = f.rows.rank;
  const std::vector<Index> kept(f.rows.order.begin(), f.rows.order.begin() + k);
  VectorXd b_kept(k);
  MatrixXd A_kept(k, f.n());
  for (Index i = 0; i < k; ++i) {
    b_kept(i) = b(kept[i]);
    A_kept.row(i) = f.A.row(kept[i]);
  }
  const auto on_all_rows = [&](const VectorXd& lambda) {
    VectorXd all = VectorXd::Zero(f.m());
    for (Index i = 0; i < k; ++i) all(kept[i]) = lambda(i);
    return all;
  };
  const RefinedSolve refined(f, kept);
  MotionForces motion;
  const Kkt ideal = refined.solve(Q, b_kept);
  motion.lambda_ideal = motion.lambda_joint = on_all_rows(ideal.lambda);
  motion.qdd = ideal.qdd;
  motion.F_ideal = A_kept.transpose() * ideal.lambda;
  motion.F_nonideal = VectorXd::Zero(f.n());
  if (C.size() == 0 || C.isZero(0.0)) return motion;
  const Kkt joint = refined.solve(Q + C, b_kept);
  motion.lambda_joint = on_all_rows(joint.lambda);
  motion.qdd = joint.qdd;
  // Rows that leave no freedom take up all of C.
  if (k < f.n()) motion.F_nonideal = C + A_kept.transpose() * (joint.lambda - ideal.lambda);
  return motion;
}

}  // namespace mechanician
