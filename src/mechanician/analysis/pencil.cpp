#include "mechanician/analysis/pencil.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
/// A factor with less than this of its size left tells nothing about what is small.
constexpr double least_condition = 1e-11;
/// Parts of κ that are few enough digits lost to leave the second route out.
constexpr double exact = 1e-11;

struct Route {
  VectorXd mu, bound;
  MatrixXd X;  ///< XᵀPX = 1
};

/// Q x = μ P x by a factor of P.
std::optional<Route> solve(const Eigen::LLT<MatrixXd>& llt, const MatrixXd& P, const MatrixXd& Q,
                           const MatrixXd& P_noise, const MatrixXd& Q_noise) {
  MatrixXd S = llt.matrixL().solve(Q);
  S = llt.matrixL().solve(S.transpose()).transpose();
  S = (0.5 * (S + S.transpose())).eval();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(S);
  if (solver.info() != Eigen::Success) return std::nullopt;
  Route found;
  found.mu = solver.eigenvalues();
  found.X = llt.matrixU().solve(solver.eigenvectors());
  const MatrixXd X_abs = found.X.cwiseAbs(), PX = P * found.X, QX = Q * found.X;
  MatrixXd residual = QX - PX * found.mu.asDiagonal();
  residual = llt.matrixL().solve(residual).eval();
  const MatrixXd P_wrong = (P_noise + 2.0 * eps * P.cwiseAbs()) * X_abs,
                 Q_wrong = (Q_noise + 2.0 * eps * Q.cwiseAbs()) * X_abs;
  found.bound.resize(found.mu.size());
  for (Index k = 0; k < found.mu.size(); ++k)
    found.bound(k) = residual.col(k).norm() + X_abs.col(k).dot(Q_wrong.col(k) + std::abs(found.mu(k)) * P_wrong.col(k));
  return found;
}

}  // namespace

std::optional<PencilModes> solve_pencil(const Pencil& given) {
  const Index p = given.K.rows();
  // In units in which masses on the diagonal are 1.
  const VectorXd unit = given.M.diagonal().cwiseSqrt().cwiseInverse();
  if (!unit.allFinite()) return std::nullopt;
  const auto in_units = [&](const MatrixXd& X) { return MatrixXd(unit.asDiagonal() * X * unit.asDiagonal()); };
  const MatrixXd M = in_units(given.M), K = in_units(given.K), M_noise = in_units(given.M_noise),
                 K_noise = in_units(given.K_noise);
  PencilModes found;
  found.kappa = VectorXd::Zero(p), found.bound = VectorXd::Constant(p, infinity), found.shapes.resize(p, p);
  const auto take = [&](Index k, double kappa, double bound, const auto& x) {
    if (!(bound < found.bound(k))) return;
    found.kappa(k) = kappa, found.bound(k) = bound, found.shapes.col(k) = x / x.cwiseAbs().maxCoeff();
  };

  const double size = K.cwiseAbs().maxCoeff();
  double sigma = 0.0;
  for (int tries = 0; tries < 20 && size > 0.0; ++tries, sigma = sigma > 0.0 ? 8.0 * sigma : 1e-10 * size) {
    const MatrixXd P = K + sigma * M;
    const Eigen::LLT<MatrixXd> llt(P);
    if (llt.info() != Eigen::Success || !(llt.rcond() > least_condition)) continue;
    const MatrixXd P_noise = K_noise + sigma * M_noise + eps * P.cwiseAbs();
    if (const auto route = solve(llt, P, M, P_noise, M_noise))
      for (Index k = 0; k < p; ++k) {  // the largest μ is the lowest κ
        const double mu = route->mu(p - 1 - k), wrong = route->bound(p - 1 - k);
        if (mu > wrong)
          take(k, 1.0 / mu - sigma, wrong / (mu * (mu - wrong)) + eps * (1.0 / mu + sigma), route->X.col(p - 1 - k));
      }
    break;
  }
  if ((found.bound.array() > exact * found.kappa.array().abs()).any()) {
    const Eigen::LLT<MatrixXd> llt(M);
    if (llt.info() == Eigen::Success)
      if (const auto route = solve(llt, M, K, M_noise, K_noise))
        for (Index k = 0; k < p; ++k) take(k, route->mu(k), route->bound(k), route->X.col(k));
  }
  if (!found.bound.allFinite()) return std::nullopt;
  found.shapes = (unit.asDiagonal() * found.shapes).eval();
  return found;
}

}  // namespace mechanician
