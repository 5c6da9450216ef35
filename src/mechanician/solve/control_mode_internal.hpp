#pragma once

/// What acts of control as it is: limits, then rows stage after stage, by orthogonal factorisations. Shared by those who search for it, solve with
/// it and ask how long it will act.

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "mechanician/solve/control.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician::control_mode {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Sines below this are those of dependent rows.
inline constexpr double dependent = 1e-9;
/// Parts of what an effort does that are rounding.
inline constexpr double unfelt = 1e-14;
/// What may be missing of a row that is met, over the sizes of its terms.
inline constexpr double met_tolerance = 1e-9;

struct Stage {
  int priority = 1;
  bool weighted = false;
  std::vector<Index> rows;
};

inline std::vector<Stage> stages_of(const ControlProgramme& p) {
  std::set<std::pair<int, bool>> keys;
  for (const auto& row : p.rows) keys.insert({row.priority, row.weight > 0.0});
  std::vector<Stage> stages;
  for (const auto& [priority, weighted] : keys) {
    Stage stage{priority, weighted, {}};
    for (std::size_t j = 0; j < p.rows.size(); ++j)
      if (p.rows[j].priority == priority && (p.rows[j].weight > 0.0) == weighted)
        stage.rows.push_back(static_cast<Index>(j));
    stages.push_back(std::move(stage));
  }
  return stages;
}

inline double root_weight(const ControlProgramme& p, Index j) {
  const double w = p.rows[static_cast<std::size_t>(j)].weight;
  return w > 0.0 ? std::sqrt(w) : 1.0;
}

/// The points y + Z w that are left, Z orthonormal.
struct Affine {
  VectorXd y;
  MatrixXd Z;
  bool is_clear = true;  // what counted as nothing is rounding, or nothing is missed

  /// Least squares of rows A y = b among them; what is left of them then. `size`: of the rows if nothing cancelled.
  void reduce(const MatrixXd& A, const VectorXd& b, const VectorXd& size) {
    if (A.rows() == 0 || Z.cols() == 0) return;
    MatrixXd P = A * Z;
    // A row that what came before leaves no room for is rounding here.
    double neglected = 0.0;
    for (Index j = 0; j < P.rows(); ++j)
      if (const double norm = P.row(j).norm(); norm <= dependent * size(j)) {
        if (norm > 0.0) neglected = std::max(neglected, norm / size(j));
        P.row(j).setZero();
      }
    const VectorXd missing = b - A * y;
    // Rows may be of very different sizes: unit rows have their rank, and tell whether all can be met. Where they cannot, it is the rows
    // as they are whose squares are least.
    MatrixXd unit = P;
    VectorXd of_unit = missing;
    for (Index j = 0; j < unit.rows(); ++j)
      if (const double norm = unit.row(j).norm(); norm > 0.0) unit.row(j) /= norm, of_unit(j) /= norm;
    Eigen::ColPivHouseholderQR<MatrixXd> qr(unit);
    qr.setThreshold(dependent);
    if (const Index rank = qr.rank(); rank < std::min(unit.rows(), unit.cols()) && rank > 0)
      neglected = std::max(neglected, std::abs(qr.matrixR()(rank, rank) / qr.matrixR()(0, 0)));
    const auto solve = [&](const MatrixXd& rows, const VectorXd& right, MatrixXd& rest) {
      const Eigen::JacobiSVD<MatrixXd> svd(rows, Eigen::ComputeThinU | Eigen::ComputeFullV);
      const Index rank = std::min<Index>(qr.rank(), svd.singularValues().size());
      VectorXd w = VectorXd::Zero(Z.cols());
      for (Index i = 0; i < rank; ++i)
        if (const double s = svd.singularValues()(i); s > 0.0)
          w += svd.matrixV().col(i) * (svd.matrixU().col(i).dot(right) / s);
      rest = svd.matrixV().rightCols(Z.cols() - rank);
      return w;
    };
    MatrixXd rest;
    VectorXd w = solve(unit, of_unit, rest);
    const VectorXd left = of_unit - unit * w;
    for (Index j = 0; j < left.size(); ++j)
      if (std::abs(left(j)) > met_tolerance * (std::abs(of_unit(j)) + w.norm())) {
        w = solve(P, missing, rest);
        is_clear &= neglected <= 10.0 * unfelt;
        break;
      }
    y += Z * w;
    Z = MatrixXd(Z * rest);
  }
};

struct Rows {
  MatrixXd A;
  VectorXd b, size;
};

inline Rows take(const ControlProgramme& p, const std::vector<Index>& rows) {
  Rows taken{MatrixXd(static_cast<Index>(rows.size()), p.G.cols()), VectorXd(static_cast<Index>(rows.size())), {}};
  taken.size.resize(taken.b.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const double w = root_weight(p, rows[i]);
    taken.A.row(at) = w * p.G.row(rows[i]);
    taken.b(at) = w * p.r(rows[i]);
    taken.size(at) = w * p.size(rows[i]);
  }
  return taken;
}

/// What acts as it is: limits, then stage after stage. `take_stage` sees rows, the directions that were left for them, and what they miss.
class ModeSolver {
 public:
  ModeSolver(const ControlProgramme& p, const ControlMode& mode)
      : p_(p), mode_(mode), left_{VectorXd::Zero(p.G.cols()), MatrixXd::Identity(p.G.cols(), p.G.cols()), true} {
    for (std::size_t i = 0; i < mode.at_limit.size(); ++i)
      if (mode.at_limit[i] != 0) fixed_.push_back(static_cast<Index>(i));
    if (fixed_.empty()) return;
    MatrixXd A(std::ssize(fixed_), p.G.cols());
    VectorXd b(A.rows()), size(A.rows());
    for (Index at = 0; at < A.rows(); ++at) {
      const Index i = fixed_[static_cast<std::size_t>(at)];
      A.row(at) = p.T.row(i);
      b(at) = mode.at_limit[static_cast<std::size_t>(i)] > 0 ? p.high(i) : p.low(i);
      size(at) = A.row(at).norm();
    }
    left_.reduce(A, b, size);
  }

  const std::vector<Index>& fixed() const { return fixed_; }

  template <class TakeStage>
  VectorXd solve(TakeStage&& take_stage) {
    for (const Stage& stage : stages_of(p_)) {
      std::vector<Index> rows;
      for (const Index j : stage.rows)
        if (!p_.rows[static_cast<std::size_t>(j)].one_sided || mode_.held[static_cast<std::size_t>(j)])
          rows.push_back(j);
      const Rows taken = take(p_, rows);
      const MatrixXd Z = left_.Z;
      left_.reduce(taken.A, taken.b, taken.size);
      take_stage(taken, Z, VectorXd(taken.b - taken.A * left_.y));
    }
    return left_.y - left_.Z * (left_.Z.transpose() * left_.y);
  }
  const MatrixXd& rest() const { return left_.Z; }
  bool is_clear() const { return left_.is_clear; }

 private:
  const ControlProgramme& p_;
  const ControlMode& mode_;
  Affine left_;
  std::vector<Index> fixed_;
};

}  // namespace mechanician::control_mode
