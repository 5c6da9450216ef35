#include "mechanician/solve/contact_modes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/least_distance.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;

namespace {

constexpr double dependent = 1e-10;         // pivots up to this fraction of the largest count as zero
constexpr double solvable_residual = 1e-9;  // of a singular system, as a fraction
constexpr int most_cuts = 60;
constexpr Index large_mode = 40;  // unknowns from which on a plain elimination is tried first

}  // namespace

/// K x = r; forces of the group f = B x + given; inequalities `rows` x + offset ≥ 0.
struct ContactGroup::Equations {
  MatrixXd K, B;
  VectorXd r, given;                   // given: of sliding friction with a limit of its own
  std::vector<Index> lambda_at, f_at;  // by unit, −1 where not unknown
  Index z_at = 0;
  std::vector<RowVectorXd> rows;
  std::vector<double> offset;
  std::vector<std::size_t> cones;  // units that stick with k = 2
};

ContactGroup::ContactGroup(const ContactSystem& system, std::vector<std::size_t> units)
    : s_(system), units_(std::move(units)) {
  for (const std::size_t i : units_) {
    const ContactUnit& u = s_.units[i];
    normal_.push_back(u.normal >= 0 ? static_cast<Index>(columns_.size()) : -1);
    if (u.normal >= 0) columns_.push_back(u.normal);
    tangent_.push_back(static_cast<Index>(columns_.size()));
    for (Index c = 0; c < u.k; ++c) columns_.push_back(u.tangent + c);
  }
  W_ = s_.W(columns_, columns_);
  X_ = s_.X(Eigen::all, columns_);
  UG_ = s_.UG(Eigen::all, columns_);
  w0_ = s_.w0(columns_);
  for (const std::size_t i : units_) {
    lambda_.push_back(s_.units[i].two_sided() ? RowVectorXd(s_.units[i].lambda(columns_)) : RowVectorXd());
  }
}

std::vector<std::vector<UnitMode>> ContactGroup::options() const {
  std::vector<std::vector<UnitMode>> all;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const ContactUnit& u = unit(i);
    std::vector<UnitMode> list;
    const auto add = [&](Choice choice, const VectorXd& direction) {
      list.push_back({choice, 1, direction});
      if (u.two_sided() && u.mu > 0) list.push_back({choice, -1, direction});
    };
    if (u.k == 0) {
      list = {{Choice::held}, {Choice::open}};
    } else if (u.direction.size() > 0) {
      add(Choice::sliding, u.direction);
    } else {
      add(Choice::sticking, {});
      if (u.k == 1) {
        add(Choice::sliding, VectorXd::Ones(1));
        add(Choice::sliding, -VectorXd::Ones(1));
      } else {
        add(Choice::sliding, {});
      }
    }
    if (u.k > 0 && !u.two_sided()) list.push_back({Choice::open});
    all.push_back(std::move(list));
  }
  return all;
}

ContactGroup::Equations ContactGroup::assemble(const GroupMode& mode) const {
  Equations e;
  Index N = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const bool closed = mode[i].choice != Choice::open;
    e.lambda_at.push_back(closed ? N : -1);
    if (closed) ++N;
    const bool sticks = mode[i].choice == Choice::sticking;
    e.f_at.push_back(sticks ? N : -1);
    if (sticks) N += unit(i).k;
  }
  e.z_at = N;
  const Index u = s_.U.cols();
  N += u;
  const Index p = W_.rows();
  e.B = MatrixXd::Zero(p, N);
  e.given = VectorXd::Zero(p);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (e.lambda_at[i] < 0) continue;
    if (normal_[i] >= 0) e.B(normal_[i], e.lambda_at[i]) = 1.0;
    for (Index c = 0; c < unit(i).k; ++c) {
      if (mode[i].choice == Choice::sticking) {
        e.B(tangent_[i] + c, e.f_at[i] + c) = 1.0;
      } else {
        e.B(tangent_[i] + c, e.lambda_at[i]) = -unit(i).mu * mode[i].sign * mode[i].direction(c);
        e.given(tangent_[i] + c) = -unit(i).limit * mode[i].direction(c);
      }
    }
  }
  // Accelerations at the contacts in terms of the unknowns.
  MatrixXd w = W_ * e.B;
  if (u > 0) w.rightCols(u) += UG_.transpose();
  const VectorXd start = w0_ + W_ * e.given;
  e.K = MatrixXd::Zero(N, N);
  e.r = VectorXd::Zero(N);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const ContactUnit& c = unit(i);
    const Index at = e.lambda_at[i];
    if (at < 0) {
      e.rows.push_back(N > 0 ? RowVectorXd(w.row(normal_[i])) : RowVectorXd(0));  // no unknowns, no numbers
      e.offset.push_back(start(normal_[i]));
      continue;
    }
    if (c.two_sided()) {
      e.K.row(at) = -lambda_[i] * e.B;
      e.K(at, at) += 1.0;
      e.r(at) = c.lambda0 + lambda_[i].dot(e.given);
    } else {
      e.K.row(at) = w.row(normal_[i]);
      e.r(at) = -start(normal_[i]);
    }
    RowVectorXd lambda = RowVectorXd::Zero(N);
    lambda(at) = mode[i].sign;
    // Where friction has a limit of its own, the sign of a two-sided multiplier does not matter.
    if (!c.two_sided() || c.mu > 0) {
      e.rows.push_back(lambda);
      e.offset.push_back(0.0);
    }
    if (mode[i].choice == Choice::sticking) {
      e.K.middleRows(e.f_at[i], c.k) = w.middleRows(tangent_[i], c.k);
      e.r.segment(e.f_at[i], c.k) = -start.segment(tangent_[i], c.k);
      if (c.k == 2) e.cones.push_back(i);
      if (c.k == 1) {
        for (const double side : {1.0, -1.0}) {
          RowVectorXd cone = c.mu * lambda;
          cone(e.f_at[i]) = side;
          e.rows.push_back(cone / std::max(1.0, c.mu));
          e.offset.push_back(c.limit / std::max(1.0, c.mu));
        }
      }
    } else if (mode[i].choice == Choice::sliding && c.direction.size() == 0) {
      e.rows.push_back(mode[i].direction.transpose() * w.middleRows(tangent_[i], c.k));
      e.offset.push_back(mode[i].direction.dot(start.segment(tangent_[i], c.k)));
    }
  }
  if (u > 0) {
    e.K.bottomRows(u) = UG_ * e.B;
    e.r.tail(u) = -s_.U_force - UG_ * e.given;
  }
  return e;
}

double ContactGroup::violation(const GroupMode& mode, const Equations& e, const VectorXd& x) const {
  double worst = 0;
  for (std::size_t i = 0; i < e.rows.size(); ++i) worst = std::max(worst, -(e.rows[i].dot(x) + e.offset[i]));
  for (const std::size_t i : e.cones) {
    const double room = unit(i).mu * mode[i].sign * x(e.lambda_at[i]) + unit(i).limit;
    worst = std::max(worst, (x.segment(e.f_at[i], 2).norm() - room) / std::max(1.0, unit(i).mu));
  }
  const double size = s_.scale + (x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0);
  return size > 0 ? worst / size : 0.0;
}

/// Among x + null·ζ the one of least norm that meets signs and cones; notes where the acceleration varies.
std::optional<VectorXd> ContactGroup::choose(const GroupMode& mode, const Equations& e, const VectorXd& x,
                                             const MatrixXd& null, ModeSolution& result) const {
  const Index d = null.cols();
  const double size = s_.scale + x.cwiseAbs().maxCoeff();
  std::vector<RowVectorXd> rows = e.rows;
  std::vector<double> offset = e.offset;
  const auto cut = [&](std::size_t i, const Eigen::Vector2d& direction) {
    RowVectorXd row = RowVectorXd::Zero(x.size());
    row(e.lambda_at[i]) = unit(i).mu * mode[i].sign;
    row.segment(e.f_at[i], 2) = -direction.transpose();
    rows.push_back(row / std::max(1.0, unit(i).mu));
    offset.push_back(unit(i).limit / std::max(1.0, unit(i).mu));
  };
  constexpr double eighth = 0.7853981633974483;
  for (const std::size_t i : e.cones) {
    for (int j = 0; j < 8; ++j) cut(i, {std::cos(eighth * j), std::sin(eighth * j)});
  }
  const auto nearest = [&](const VectorXd& target) -> std::optional<VectorXd> {
    for (int round = 0; round < most_cuts; ++round) {
      const auto num = static_cast<Index>(rows.size());
      LeastDistanceProblem p;
      p.Z = MatrixXd::Zero(d, num);
      p.b = VectorXd::Zero(num);
      p.g = target;
      p.tolerance = VectorXd::Constant(num, 0.1 * mode_tolerance * size);
      p.contradiction = VectorXd::Constant(num, mode_tolerance * size);
      p.relative_contradiction = mode_tolerance;
      for (Index j = 0; j < num; ++j) {
        const VectorXd along = null.transpose() * rows[j].transpose();
        const double value = rows[j].dot(x) + offset[j];
        const double norm = along.norm();
        if (norm <= dependent * (1.0 + rows[j].norm())) {
          if (value < -mode_tolerance * size) return std::nullopt;
          continue;
        }
        p.Z.col(j) = along / norm;
        p.b(j) = -value / norm;
        p.inequality.push_back(j);
      }
      const LeastDistance found = find_least_distance(p);
      if (found.outcome != LeastDistance::Outcome::found) return std::nullopt;
      const VectorXd candidate = x + null * found.y;
      bool met = true;
      for (const std::size_t i : e.cones) {
        const VectorXd f = candidate.segment(e.f_at[i], 2);
        const double over = f.norm() - unit(i).mu * mode[i].sign * candidate(e.lambda_at[i]) - unit(i).limit;
        if (over <= 0.5 * mode_tolerance * size * std::max(1.0, unit(i).mu)) continue;
        met = false;
        cut(i, f.normalized());
      }
      if (met) return candidate;
    }
    return std::nullopt;
  };
  auto chosen = nearest(VectorXd::Zero(d));
  if (!chosen) return std::nullopt;

  // Do the solutions of this mode differ in the acceleration?
  MatrixXd moved = X_ * e.B * null;
  if (s_.U.cols() > 0) moved += s_.U * null.bottomRows(s_.U.cols());
  const MatrixXd effect = s_.to_metric(moved);
  const Eigen::JacobiSVD<MatrixXd> svd(effect, Eigen::ComputeThinV);
  const VectorXd start = null.transpose() * (*chosen - x);
  for (Index j = 0; j < svd.singularValues().size(); ++j) {
    if (svd.singularValues()(j) <= 1e-9) break;
    for (const double side : {1.0, -1.0}) {
      const VectorXd target = start + side * (size / svd.singularValues()(j)) * svd.matrixV().col(j);
      const auto other = nearest(target);
      if (!other) continue;
      const VectorXd difference = effect * (null.transpose() * (*other - *chosen));
      VectorXd qdd = X_ * (e.B * *other + e.given);
      if (difference.norm() <= distinct_answers * (s_.scale + s_.motion_norm(qdd))) continue;
      if (s_.U.cols() > 0) qdd += s_.U * other->tail(s_.U.cols());
      result.others.push_back(qdd);
    }
  }
  return chosen;
}

std::optional<ModeSolution> ContactGroup::solve(const GroupMode& mode, Signs signs) const {
  const Equations e = assemble(mode);
  const Index N = e.K.rows();
  ModeSolution result;
  result.mode = mode;
  VectorXd x = VectorXd::Zero(N);
  bool solved = N == 0;
  if (N > large_mode) {
    const Eigen::PartialPivLU<MatrixXd> lu(e.K);
    if (lu.rcond() > 1e3 * dependent) {
      x = lu.solve(e.r);
      x += lu.solve(e.r - e.K * x);
      solved = true;
    }
  }
  if (!solved) {
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> qr(N, N);
    qr.setThreshold(dependent);
    qr.compute(e.K);
    x = qr.solve(e.r);
    x += qr.solve(e.r - e.K * x);
    const Index rank = qr.rank();
    if (rank < N) {
      const double size = s_.scale + x.cwiseAbs().maxCoeff();
      if ((e.r - e.K * x).cwiseAbs().maxCoeff() > solvable_residual * size) return std::nullopt;
      result.distributed = true;
      if (signs.enforce) {
        const MatrixXd Z_transposed = qr.matrixZ().transpose();
        const MatrixXd null = qr.colsPermutation() * Z_transposed.rightCols(N - rank);
        const auto chosen = choose(mode, e, x, null, result);
        if (!chosen) return std::nullopt;
        x = *chosen;
      }
    }
  }
  if (!x.allFinite()) return std::nullopt;
  result.violation = violation(mode, e, x);
  const VectorXd f = e.B * x + e.given;
  result.f = VectorXd::Zero(s_.p());
  for (std::size_t c = 0; c < columns_.size(); ++c) result.f(columns_[c]) = f(static_cast<Index>(c));
  result.z = x.tail(s_.U.cols());
  result.lambda = VectorXd::Zero(static_cast<Index>(units_.size()));
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (e.lambda_at[i] >= 0) result.lambda(static_cast<Index>(i)) = x(e.lambda_at[i]);
  }
  result.qdd = X_ * f;
  if (s_.U.cols() > 0) result.qdd += s_.U * result.z;
  return result;
}

/// Independent unknowns of a mode, and as many independent equations.
void ContactGroup::choose_independent(const GroupMode& mode, std::vector<Index>& rows,
                                      std::vector<Index>& columns) const {
  const Equations e = assemble(mode);
  rows.clear();
  columns.clear();
  if (e.K.size() == 0) return;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(e.K.rows(), e.K.cols());
  qr.setThreshold(dependent);
  qr.compute(e.K);
  const Index rank = qr.rank();
  for (Index i = 0; i < rank; ++i) columns.push_back(qr.colsPermutation().indices()(i));
  const MatrixXd chosen = e.K(Eigen::all, columns).transpose();
  const Eigen::ColPivHouseholderQR<MatrixXd> rows_qr(chosen);
  for (Index i = 0; i < rank; ++i) rows.push_back(rows_qr.colsPermutation().indices()(i));
}

ContactGroup::SlipSample ContactGroup::sample_slip(const GroupMode& mode, std::size_t i, const std::vector<Index>& rows,
                                                   const std::vector<Index>& columns) const {
  const Equations e = assemble(mode);
  VectorXd x = VectorXd::Zero(e.K.cols());
  SlipSample sample{1.0, {}};
  if (!rows.empty()) {
    const Eigen::PartialPivLU<MatrixXd> lu(MatrixXd(e.K(rows, columns)));
    sample.determinant = lu.determinant();
    const VectorXd solved = lu.solve(VectorXd(e.r(rows)));
    x(columns) = solved;
  }
  sample.slip = w0_.segment(tangent_[i], unit(i).k) + W_.middleRows(tangent_[i], unit(i).k) * (e.B * x + e.given);
  if (s_.U.cols() > 0) sample.slip += UG_.middleCols(tangent_[i], unit(i).k).transpose() * x.tail(s_.U.cols());
  return sample;
}

VectorXd ContactGroup::slip(const ModeSolution& solution, std::size_t i) const {
  VectorXd w = w0_.segment(tangent_[i], unit(i).k) + W_.middleRows(tangent_[i], unit(i).k) * solution.f(columns_);
  if (s_.U.cols() > 0) w += UG_.middleCols(tangent_[i], unit(i).k).transpose() * solution.z;
  return w;
}

bool ContactGroup::keeps_closed(const ModeSolution& solution, const GroupMode& mode) const {
  const VectorXd w = w0_ + W_ * solution.f(columns_);
  const double size = s_.scale + solution.f.cwiseAbs().maxCoeff();
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (mode[i].choice != Choice::open && normal_[i] >= 0 && std::abs(w(normal_[i])) > distinct_answers * size)
      return false;
  return s_.U.cols() == 0;
}

bool ContactGroup::surely_unique() const {
  double most_mu = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (unit(i).two_sided()) return false;
    most_mu = std::max(most_mu, unit(i).mu);
  }
  if (s_.U.cols() > 0) return false;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (Index i = 0; i < W_.rows(); ++i) {
    const double rest = W_.row(i).cwiseAbs().sum() - std::abs(W_(i, i));
    least = std::min(least, W_(i, i) - rest);
    most = std::max(most, W_(i, i) + rest);
  }
  return least > dependent && most_mu * most < 0.999 * least;
}

}  // namespace mechanician
