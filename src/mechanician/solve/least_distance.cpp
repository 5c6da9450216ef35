#include "mechanician/solve/least_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/rank.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();

class DualActiveSet {
 public:
  explicit DualActiveSet(const LeastDistanceProblem& problem) : p_(problem), n_(problem.Z.rows()) {
    start_from_equalities();
  }

  LeastDistance run() {
    const int most = 50 * (static_cast<int>(p_.inequality.size()) + 2);
    while (true) {
      const Index row = most_violated();
      if (row < 0) break;
      if (!add(row, most)) break;
    }
    result_.y = y_;
    result_.active.assign(members_.begin() + num_equality_, members_.end());
    result_.multipliers = Eigen::Map<VectorXd>(u_.data(), static_cast<Index>(u_.size())).tail(size() - num_equality_);
    return std::move(result_);
  }

 private:
  Index size() const { return static_cast<Index>(members_.size()); }
  auto V() const { return V_.leftCols(size()); }
  auto R() const { return R_.topLeftCorner(size(), size()); }

  void start_from_equalities() {
    const auto num_given = static_cast<Index>(p_.equality.size());
    const RowFactor rows = factor_rows(p_.Z(Eigen::all, p_.equality));
    num_equality_ = rows.rank;
    const Index most = std::min(n_, rows.rank + static_cast<Index>(p_.inequality.size()));
    V_.resize(n_, most);
    R_ = MatrixXd::Zero(most, most);
    V_.leftCols(rows.rank) = rows.V1;
    R_.topLeftCorner(rows.rank, rows.rank) = rows.R11;
    for (Index i = 0; i < rows.rank; ++i) members_.push_back(p_.equality[rows.order[i]]);
    u_.assign(members_.size(), 0.0);
    VectorXd b(num_given);
    for (Index i = 0; i < num_given; ++i) b(i) = p_.b(p_.equality[i]);
    y_ = p_.g - rows.V1 * (rows.V1.transpose() * p_.g);
    y_ += rows.calc_least_norm(rows.project_consistent(b));
    settled_.assign(static_cast<std::size_t>(p_.Z.cols()), false);
  }

  Index most_violated() const {
    Index worst = -1;
    double most = 0;
    const double rounding = p_.relative * y_.norm();
    for (const Index j : p_.inequality) {
      if (settled_[j]) continue;
      const double miss = p_.b(j) - p_.Z.col(j).dot(y_);
      if (miss > p_.tolerance(j) + rounding && miss > most) {
        most = miss;
        worst = j;
      }
    }
    return worst;
  }

  /// Brings row j into the set. False: there is no answer, or this has taken too long.
  bool add(Index j, int most) {
    double u_new = 0;
    while (true) {
      if (++result_.iterations > most) {
        result_.outcome = LeastDistance::Outcome::gave_up;
        return false;
      }
      // z: the part of the row across the set; r: the row in terms of the set.
      VectorXd z = p_.Z.col(j);
      VectorXd d = V().transpose() * z;
      z -= V() * d;
      const VectorXd again = V().transpose() * z;
      z -= V() * again;
      d += again;
      const double across = z.norm();
      const bool dependent = size() >= n_ || across <= p_.independent;
      const VectorXd r = R().triangularView<Eigen::Upper>().solve(d);

      // How far the multipliers of the set can give way, and how far the row wants to go.
      const double r_zero = 1e-12 * (1.0 + (r.size() > 0 ? r.cwiseAbs().maxCoeff() : 0.0));
      double t_dual = infinity;
      Index leaving = -1;
      for (Index i = num_equality_; i < size(); ++i) {
        if (r(i) <= r_zero) continue;
        const double t = u_[i] / r(i);
        if (t < t_dual) {
          t_dual = t;
          leaving = i;
        }
      }
      const double miss = p_.b(j) - p_.Z.col(j).dot(y_);
      const double t_primal = dependent ? infinity : std::max(0.0, miss) / (across * across);
      if (dependent && leaving < 0) return contradiction(j, r, r_zero);

      const double t = std::min(t_dual, t_primal);
      for (Index i = 0; i < size(); ++i) u_[i] -= t * r(i);
      u_new += t;
      if (!dependent) y_ += t * z;
      if (t_primal <= t_dual) {
        V_.col(size()) = z / across;
        R_.col(size()).head(size()) = d;
        R_(size(), size()) = across;
        members_.push_back(j);
        u_.push_back(u_new);
        settled_[j] = true;
        return true;
      }
      remove(leaving);
    }
  }

  void remove(Index i) {
    const Index q = size();
    settled_.assign(settled_.size(), false);
    members_.erase(members_.begin() + i);
    u_.erase(u_.begin() + i);
    for (const Index member : members_) settled_[member] = true;
    for (Index c = i; c + 1 < q; ++c) {
      R_.col(c).head(c + 2) = R_.col(c + 1).head(c + 2);
      // Rotates rows c and c + 1 so that R is triangular again.
      const double a = R_(c, c), b = R_(c + 1, c);
      const double h = std::hypot(a, b);
      const double cosine = h > 0 ? a / h : 1.0, sine = h > 0 ? b / h : 0.0;
      R_(c, c) = h;
      R_(c + 1, c) = 0;
      const VectorXd upper = V_.col(c);
      V_.col(c) = cosine * upper + sine * V_.col(c + 1);
      V_.col(c + 1) = cosine * V_.col(c + 1) - sine * upper;
      for (Index later = c + 2; later < q; ++later) {
        const double x = R_(c, later), w = R_(c + 1, later);
        R_(c, later) = cosine * x + sine * w;
        R_(c + 1, later) = cosine * w - sine * x;
      }
    }
  }

  /// Row j = Σ r_i row_i with r_i ≤ 0 on inequalities: either the rows contradict, or the miss is rounding.
  bool contradiction(Index j, const VectorXd& r, double r_zero) {
    const double rounding = p_.relative_contradiction * y_.norm();
    double miss = p_.b(j), allowed = p_.contradiction(j) + rounding;
    for (Index i = 0; i < size(); ++i) {
      miss -= r(i) * p_.b(members_[i]);
      allowed += std::abs(r(i)) * (p_.contradiction(members_[i]) + rounding);
    }
    settled_[j] = true;
    if (miss <= allowed) return true;
    result_.outcome = LeastDistance::Outcome::infeasible;
    std::vector<double> coefficients;
    for (Index i = 0; i < size(); ++i) {
      if (std::abs(r(i)) <= r_zero) continue;
      result_.conflict.push_back(members_[i]);
      coefficients.push_back(-r(i));
    }
    result_.conflict.push_back(j);
    coefficients.push_back(1.0);
    result_.coefficients = Eigen::Map<VectorXd>(coefficients.data(), static_cast<Index>(coefficients.size()));
    return false;
  }

  const LeastDistanceProblem& p_;
  Index n_;
  Index num_equality_ = 0;
  MatrixXd V_, R_;              // of the set, in the leading columns
  std::vector<Index> members_;  // equalities first
  std::vector<double> u_;       // their multipliers; of equalities not looked at
  std::vector<bool> settled_;   // in the set, or dependent on it and met within what dependent rows may miss
  VectorXd y_;
  LeastDistance result_;
};

}  // namespace

LeastDistance find_least_distance(const LeastDistanceProblem& problem) { return DualActiveSet(problem).run(); }

}  // namespace mechanician
