#include "mechanician/solve/limit_pulls.hpp"

#include <cmath>

#include "mechanician/solve/control_mode_internal.hpp"

namespace mechanician {

using namespace control_mode;

LimitPulls calc_limit_pulls(const ControlProgramme& p, const ControlMode& mode) {
  VectorXd pulls = VectorXd::Zero(std::ssize(mode.at_limit));
  ModeSolver solver(p, mode);
  const std::vector<Index>& fixed = solver.fixed();
  // Directions, one for each: its effort grows by one. Squares of their lengths: its own cost.
  MatrixXd efforts;
  if (!fixed.empty()) efforts = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(p.T).pseudoInverse();
  MatrixXd d(p.G.cols(), std::ssize(fixed));
  for (std::size_t i = 0; i < fixed.size(); ++i) d.col(static_cast<Index>(i)) = efforts.col(fixed[i]);
  std::vector<char> decided(fixed.size(), 0);
  const VectorXd y = solver.solve([&](const Rows& taken, const MatrixXd& Z, const VectorXd& missing) {
    if (taken.A.rows() == 0) return;
    MatrixXd P = taken.A * Z;
    for (Index j = 0; j < P.rows(); ++j)
      if (P.row(j).norm() <= dependent * taken.size(j)) P.row(j).setZero();
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod;
    cod.setThreshold(dependent);
    if (P.cols() > 0) cod.compute(P);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      if (decided[i]) continue;
      const auto at = static_cast<Index>(i);
      const VectorXd q = taken.A * d.col(at);
      VectorXd w = VectorXd::Zero(P.cols());
      if (P.cols() > 0) w = cod.solve(q);
      VectorXd own = q - P * w;
      // Only what is rounding counts as nothing: a pull goes through zero where an effort comes to change nothing, and nothing else may
      // decide on the way.
      const VectorXd rounding = unfelt * (q.cwiseAbs() + P.cwiseAbs() * w.cwiseAbs() + taken.size * d.col(at).norm());
      for (Index j = 0; j < own.size(); ++j)
        if (std::abs(own(j)) <= rounding(j)) own(j) = 0.0;
      if (own.squaredNorm() > 0.0) {
        decided[i] = 1;
        const double range = p.high(fixed[i]) - p.low(fixed[i]), size = q.norm();
        pulls(fixed[i]) = own.dot(missing) / (size * (size + missing.norm() / range));
      } else {
        d.col(at) -= Z * w;
      }
    }
  });
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (decided[i]) continue;
    const VectorXd along = d.col(static_cast<Index>(i));
    const VectorXd own = along - solver.rest() * (solver.rest().transpose() * along);
    pulls(fixed[i]) = -own.dot(y) / efforts.col(fixed[i]).squaredNorm();
  }
  return {std::move(pulls), solver.is_clear()};
}

}  // namespace mechanician
