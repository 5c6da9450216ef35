#include "mechanician/solve/control.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "mechanician/solve/control_mode_internal.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

namespace {

using namespace control_mode;

/// Minimises ‖P z − p‖² over rows of C z ≥ d, some of them equalities, from a feasible z. Primal active set; ties by the least index.
class LeastSquares {
 public:
  LeastSquares(MatrixXd C, VectorXd d, std::vector<char> equality)
      : C_(std::move(C)), d_(std::move(d)), working_(std::move(equality)), fixed_(working_) {}

  void minimise(const MatrixXd& P, const VectorXd& p, VectorXd& z) {
    const Index most = 50 + 10 * C_.rows();
    double longest = 0.0;  // of steps
    for (Index iteration = 0; iteration < most; ++iteration) {
      const MatrixXd W = working_rows();
      // Directions along the working set.
      MatrixXd Z = MatrixXd::Identity(z.size(), z.size());
      Index rank = 0;
      Eigen::ColPivHouseholderQR<MatrixXd> qr;
      if (W.rows() > 0) {
        qr.compute(MatrixXd(W.transpose()));
        qr.setThreshold(dependent);
        rank = qr.rank();
        const MatrixXd full = qr.householderQ();
        Z = full.rightCols(z.size() - rank);
      }
      const VectorXd missing = p - P * z;
      VectorXd step = VectorXd::Zero(z.size());
      if (Z.cols() > 0) {
        // A row that what is held leaves no room for is rounding here.
        MatrixXd PZ = P * Z;
        for (Index j = 0; j < PZ.rows(); ++j)
          if (PZ.row(j).norm() <= dependent * P.row(j).norm()) PZ.row(j).setZero();
        Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod;
        cod.setThreshold(1e-12);
        cod.compute(PZ);
        step = Z * cod.solve(missing);
      }
      longest = std::max(longest, step.norm());
      if (step.norm() > 1e-13 * (longest + z.norm())) {
        double length = 1.0;
        Index blocking = -1;
        for (Index i = 0; i < C_.rows(); ++i) {
          if (working_[static_cast<std::size_t>(i)]) continue;
          const double rate = C_.row(i).dot(step);
          if (!(rate < -1e-14 * C_.row(i).norm() * step.norm())) continue;
          const double room = std::max(0.0, C_.row(i).dot(z) - d_(i));
          if (room < -rate * length) length = room / -rate, blocking = i;
        }
        z += length * step;
        if (blocking >= 0) {
          working_[static_cast<std::size_t>(blocking)] = 1;
          continue;
        }
      }
      // At the minimum of the working set: multipliers of Wᵀλ = Pᵀ(P z − p).
      const VectorXd gradient = P.transpose() * (P * z - p);
      Index worst = -1;
      if (W.rows() > 0) {
        Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod;
        cod.setThreshold(dependent);
        cod.compute(MatrixXd(W.transpose()));
        const VectorXd lambda = cod.solve(gradient);
        double least = -1e-10 * P.norm() * (P.norm() * z.norm() + p.norm());
        Index at = 0;
        for (Index i = 0; i < C_.rows(); ++i) {
          if (!working_[static_cast<std::size_t>(i)]) continue;
          const double l = lambda(at++) * C_.row(i).norm();
          if (!fixed_[static_cast<std::size_t>(i)] && l < least) {
            least = l, worst = i;
            if (iteration > most / 2) break;
          }
        }
      }
      if (worst < 0) return;
      working_[static_cast<std::size_t>(worst)] = 0;
    }
  }

 private:
  MatrixXd working_rows() const {
    Index count = 0;
    for (const char w : working_) count += w != 0;
    MatrixXd W(count, C_.cols());
    Index at = 0;
    for (Index i = 0; i < C_.rows(); ++i)
      if (working_[static_cast<std::size_t>(i)]) W.row(at++) = C_.row(i);
    return W;
  }

  MatrixXd C_;
  VectorXd d_;
  std::vector<char> working_, fixed_;
};

/// Stage after stage, with limits and one-sided rows.
class Search {
 public:
  Search(const ControlProgramme& p, bool limits) : p_(p), k_(p.G.cols()) {
    y_ = VectorXd::Zero(k_);
    if (!limits || p.low.size() == 0) return;
    for (Index i = 0; i < p.low.size(); ++i) {
      if (std::isfinite(p.low(i))) add(p.T.row(i), p.low(i), false);
      if (std::isfinite(p.high(i))) add(-p.T.row(i), -p.high(i), false);
    }
    // Within the limits: τ nearest to zero.
    VectorXd tau = VectorXd::Zero(p.low.size());
    for (Index i = 0; i < tau.size(); ++i) tau(i) = std::clamp(0.0, p.low(i), p.high(i));
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod;
    cod.compute(p.T);
    y_ = cod.solve(tau);
  }

  void run(const Stage& stage) {
    std::vector<Index> sided;
    for (const Index j : stage.rows)
      if (p_.rows[static_cast<std::size_t>(j)].one_sided) sided.push_back(j);
    const auto count = static_cast<Index>(stage.rows.size()), s = static_cast<Index>(sided.size());
    // Unknowns: y, and what one-sided rows miss.
    MatrixXd C = MatrixXd::Zero(static_cast<Index>(rows_.size()) + 2 * s, k_ + s);
    VectorXd d(C.rows());
    std::vector<char> equality(static_cast<std::size_t>(C.rows()), 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      C.row(static_cast<Index>(i)).head(k_) = rows_[i];
      d(static_cast<Index>(i)) = bounds_[i];
      equality[i] = equality_[i];
    }
    VectorXd z(k_ + s);
    z.head(k_) = y_;
    MatrixXd P = MatrixXd::Zero(count, k_ + s);
    VectorXd b = VectorXd::Zero(count);
    Index at = 0;
    for (Index i = 0; i < count; ++i) {
      const Index j = stage.rows[static_cast<std::size_t>(i)];
      const double w = root_weight(p_, j);
      if (!p_.rows[static_cast<std::size_t>(j)].one_sided) {
        if (p_.G.row(j).norm() <= dependent * p_.size(j)) continue;  // nothing influences it
        P.row(i).head(k_) = w * p_.G.row(j), b(i) = w * p_.r(j);
        continue;
      }
      const Index row = static_cast<Index>(rows_.size()) + 2 * at, slack = k_ + at++;
      C.row(row).head(k_) = p_.G.row(j), C(row, slack) = 1.0, d(row) = p_.r(j);
      C(row + 1, slack) = 1.0, d(row + 1) = 0.0;
      P(i, slack) = w;
      z(slack) = std::max(0.0, p_.r(j) - p_.G.row(j).dot(y_));
    }
    LeastSquares(std::move(C), std::move(d), std::move(equality)).minimise(P, b, z);
    y_ = z.head(k_);
    for (const Index j : stage.rows) {
      const bool one_sided = p_.rows[static_cast<std::size_t>(j)].one_sided;
      const double attained = p_.G.row(j).dot(y_);
      if (p_.G.row(j).norm() <= dependent * p_.size(j)) continue;
      add(p_.G.row(j), one_sided ? std::min(attained, p_.r(j)) : attained, !one_sided);
    }
  }

  /// What is left open: least cost.
  void finish() {
    MatrixXd C(static_cast<Index>(rows_.size()), k_);
    VectorXd d(C.rows());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      C.row(static_cast<Index>(i)) = rows_[i], d(static_cast<Index>(i)) = bounds_[i];
    LeastSquares(std::move(C), std::move(d), equality_).minimise(MatrixXd::Identity(k_, k_), VectorXd::Zero(k_), y_);
  }

  const VectorXd& y() const { return y_; }

 private:
  void add(const VectorXd& row, double bound, bool equality) {
    rows_.push_back(row.transpose()), bounds_.push_back(bound), equality_.push_back(equality);
  }

  const ControlProgramme& p_;
  Index k_;
  VectorXd y_;
  std::vector<Eigen::RowVectorXd> rows_;
  std::vector<double> bounds_;
  std::vector<char> equality_;
};

VectorXd calc_missing(const ControlProgramme& p, const VectorXd& y) {
  VectorXd missing = p.r - p.G * y;
  for (Index j = 0; j < missing.size(); ++j)
    if (p.rows[static_cast<std::size_t>(j)].one_sided) missing(j) = std::max(0.0, missing(j));
  return missing;
}

double allowed(const ControlProgramme& p, Index j, const VectorXd& y) {
  return met_tolerance * (p.r_size(j) + p.size(j) * y.norm());
}

/// Limits and one-sided rows.
bool is_within(const ControlProgramme& p, const VectorXd& y) {
  const VectorXd tau = p.T * y;
  for (Index i = 0; i < p.low.size(); ++i)
    if (!(tau(i) <= p.high(i) && tau(i) >= p.low(i))) return false;
  for (std::size_t j = 0; j < p.rows.size(); ++j)
    if (const auto row = static_cast<Index>(j); p.rows[j].one_sided && !(p.G.row(row).dot(y) >= p.r(row))) return false;
  return true;
}

/// Rows of a stage that cannot be met by themselves.
void refuse(const ControlProgramme& p, const Stage& stage, std::vector<ControlAnswer::Refusal>& refused) {
  const auto meet = [&](const std::vector<Index>& rows) {
    const bool sided =
        std::any_of(rows.begin(), rows.end(), [&](Index j) { return p.rows[static_cast<std::size_t>(j)].one_sided; });
    if (!sided) {
      Affine all{VectorXd::Zero(p.G.cols()), MatrixXd::Identity(p.G.cols(), p.G.cols()), true};
      const Rows taken = take(p, rows);
      all.reduce(taken.A, taken.b, taken.size);
      return all.y;
    }
    Search search(p, false);
    search.run({stage.priority, stage.weighted, rows});
    return search.y();
  };
  const VectorXd alone = meet(stage.rows);
  const VectorXd missing = calc_missing(p, alone);
  std::vector<Index> open;
  for (const Index j : stage.rows)
    if (std::abs(missing(j)) > allowed(p, j, alone)) open.push_back(j);
  if (open.empty()) return;
  // What nothing influences; the others contradict each other. Of these a least set: rows are left out as long as the rest still does.
  std::vector<Index> others;
  for (const Index j : open) {
    if (p.G.row(j).norm() <= dependent * p.size(j))
      refused.push_back({{j}, missing(j)});
    else
      others.push_back(j);
  }
  if (others.empty()) return;
  const auto contradict = [&](const std::vector<Index>& rows) {
    const VectorXd some = meet(rows);
    const VectorXd left = calc_missing(p, some);
    double norm = 0.0;
    bool any = false;
    for (const Index j : rows) any |= std::abs(left(j)) > allowed(p, j, some), norm += left(j) * left(j);
    return any ? std::sqrt(norm) : 0.0;
  };
  double left = contradict(others);
  if (left == 0.0) others = stage.rows, left = contradict(others);
  for (std::size_t i = others.size(); i-- > 0 && others.size() > 1;) {
    std::vector<Index> fewer = others;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (const double still = contradict(fewer); still > 0.0) others = std::move(fewer), left = still;
  }
  refused.push_back({others, left});
}

}  // namespace

ControlSpace make_control_space(const MatrixXd& X, const MatrixXd& R, const VectorXd& scale, double zero) {
  const Index count = X.cols();
  ControlSpace space;
  if (count == 0) {
    space.D.resize(X.rows(), 0), space.T.resize(0, 0);
    return space;
  }
  const VectorXd inverse = scale.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
  const MatrixXd unit = inverse.asDiagonal() * (0.5 * (R + R.transpose())) * inverse.asDiagonal();
  const SymmetricEigen eigen = calc_symmetric_eigen(unit);
  Index first = 0;
  while (first < count && !(eigen.values(first) > zero)) ++first;
  const VectorXd root = eigen.values.tail(count - first).cwiseSqrt().cwiseInverse();
  space.T = inverse.asDiagonal() * eigen.vectors.rightCols(count - first) * root.asDiagonal();
  space.D = X * space.T;
  return space;
}

Index find_control_rank(const ControlProgramme& p, std::vector<char>& influenced) {
  influenced.clear();
  MatrixXd unit = p.G;
  for (Index j = 0; j < unit.rows(); ++j) {
    const double norm = unit.row(j).norm();
    influenced.push_back(norm > dependent * p.size(j));
    unit.row(j) *= influenced.back() ? 1.0 / norm : 0.0;
  }
  if (unit.size() == 0) return 0;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(unit);
  qr.setThreshold(dependent);
  return qr.rank();
}

VectorXd solve_control_mode(const ControlProgramme& p, const ControlMode& mode) {
  return ModeSolver(p, mode).solve([](const Rows&, const MatrixXd&, const VectorXd&) {});
}

ControlAnswer solve_control(const ControlProgramme& p) {
  ControlAnswer answer;
  const auto count = static_cast<Index>(p.rows.size());
  const std::vector<Stage> stages = stages_of(p);
  for (const Stage& stage : stages)
    if (!stage.weighted) refuse(p, stage, answer.refused);
  // What is best without bounds, and within them, is best.
  ControlMode free;
  free.at_limit.assign(static_cast<std::size_t>(p.low.size()), 0), free.held.assign(p.rows.size(), 0);
  answer.y = solve_control_mode(p, free);
  if (!is_within(p, answer.y)) {
    Search search(p, true);
    for (const Stage& stage : stages) search.run(stage);
    search.finish();
    answer.y = search.y();
  }
  // What acts, and the answer anew from that alone.
  const VectorXd tau = p.T * answer.y;
  answer.mode.at_limit.assign(static_cast<std::size_t>(p.low.size()), 0);
  for (Index i = 0; i < p.low.size(); ++i) {
    const double size = p.T.row(i).norm() * answer.y.norm();
    const auto is_at = [&](double limit) {
      return std::isfinite(limit) && std::abs(tau(i) - limit) <= 1e-9 * std::max(std::abs(limit), size);
    };
    if (is_at(p.high(i)))
      answer.mode.at_limit[static_cast<std::size_t>(i)] = 1;
    else if (is_at(p.low(i)))
      answer.mode.at_limit[static_cast<std::size_t>(i)] = -1;
  }
  answer.mode.held.assign(static_cast<std::size_t>(count), 0);
  for (Index j = 0; j < count; ++j)
    answer.mode.held[static_cast<std::size_t>(j)] = p.rows[static_cast<std::size_t>(j)].one_sided &&
                                                    p.G.row(j).norm() > dependent * p.size(j) &&
                                                    p.r(j) - p.G.row(j).dot(answer.y) > -allowed(p, j, answer.y);
  const auto far = [&](const VectorXd& y) {
    // Nothing may be passed by more than the search passes it.
    const VectorXd t = p.T * y;
    for (Index i = 0; i < p.low.size(); ++i) {
      const double size = 1e-8 * (p.T.row(i).norm() * y.norm() + std::abs(tau(i)));
      if (t(i) > p.high(i) + size || t(i) < p.low(i) - size) return true;
    }
    return (y - answer.y).norm() > 1e-6 * (1e-300 + answer.y.norm());
  };
  if (const VectorXd y = solve_control_mode(p, answer.mode); !far(y)) answer.y = y;
  answer.missing = calc_missing(p, answer.y);
  for (Index j = 0; j < count; ++j) answer.met.push_back(std::abs(answer.missing(j)) <= allowed(p, j, answer.y));
  return answer;
}

}  // namespace mechanician
