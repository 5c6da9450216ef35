// All modes of a group, at little cost each: a tree with one level for each contact. Choosing what a contact does
// eliminates its unknowns from all that follows, so that modes that begin alike share the work; at a leaf only the last
// elimination, a back-substitution and the signs are left. What cannot be excluded by a wide margin, or where an
// elimination was on the edge, is handed on to be looked at properly.
#include <algorithm>
#include <cmath>
#include <functional>

#include "mechanician/solve/contact_modes.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;

constexpr double margin = 1e-6;     // signs missed by more than this fraction exclude a mode
constexpr double doubtful = 1e-4;   // pivots down to this fraction are used
constexpr double dependent = 1e-9;  // columns up to this depend on earlier ones

}  // namespace

/// Rows: accelerations w of the group's forces, then λ̂₀ + λ̂·f − λ̂ of two-sided contacts. Columns: forces, then λ̂.
class ModeTree {
 public:
  ModeTree(const ContactGroup& group, std::vector<std::vector<UnitMode>> choices,
           std::function<void(const GroupMode&)> visit)
      : g_(group), choices_(std::move(choices)), visit_(std::move(visit)) {
    const auto num = g_.units_.size();
    const Index p = g_.W_.rows();
    lambda_at_.assign(num, -1);
    Index size = p;
    for (std::size_t i = 0; i < num; ++i) {
      if (g_.unit(i).two_sided()) lambda_at_[i] = size++;
    }
    levels_.resize(num + 1);
    for (Level& level : levels_) {
      level.columns = MatrixXd::Zero(size, size);
      level.r = VectorXd::Zero(size);
    }
    Level& first = levels_.front();
    first.columns.topLeftCorner(p, p) = g_.W_;
    first.r.head(p) = g_.w0_;
    for (std::size_t i = 0; i < num; ++i) {
      if (lambda_at_[i] < 0) continue;
      first.columns.row(lambda_at_[i]).head(p) = g_.lambda_[i];
      first.columns(lambda_at_[i], lambda_at_[i]) = -1.0;
      first.r(lambda_at_[i]) = g_.unit(i).lambda0;
    }
    mode_.resize(num);
    values_ = VectorXd::Zero(size);
  }

  void run() { descend(0, {}); }

 private:
  struct Level {
    MatrixXd columns;  // of contacts not yet decided
    VectorXd r;
    VectorXd r_own;           // with the friction of the choice made here that has a limit of its own
    std::vector<Index> rows;  // equations of the choice made here
    MatrixXd minus_inverse;   // −(rows × unknowns)⁻¹
    bool loose = false;       // an unknown that depends on others was left out
  };
  struct Doubt {
    bool direct = false;  // an elimination was on the edge: leaves are looked at properly
    bool loose = false;
  };

  /// First columns of what contact i brings: normal or λ̂, then friction.
  Index normal_column(std::size_t i) const { return g_.unit(i).two_sided() ? lambda_at_[i] : g_.normal_[i]; }

  void descend(std::size_t i, Doubt doubt) {
    if (i == mode_.size()) {
      leaf(doubt);
      return;
    }
    for (const UnitMode& choice : choices_[i]) {
      mode_[i] = choice;
      Doubt here = doubt;
      if (!here.direct) eliminate(i, here);
      descend(i + 1, here);
    }
  }

  /// Columns of the unknowns of contact i, given its choice.
  MatrixXd unknowns(std::size_t i, const MatrixXd& columns) const {
    const ContactUnit& u = g_.unit(i);
    const UnitMode& choice = mode_[i];
    if (choice.choice == Choice::open) return MatrixXd(columns.rows(), 0);
    const bool sticks = choice.choice == Choice::sticking;
    MatrixXd C(columns.rows(), 1 + (sticks ? u.k : 0));
    C.col(0) = columns.col(normal_column(i));
    for (Index c = 0; c < u.k; ++c) {
      if (sticks) {
        C.col(1 + c) = columns.col(g_.tangent_[i] + c);
      } else {
        C.col(0) -= u.mu * choice.sign * choice.direction(c) * columns.col(g_.tangent_[i] + c);
      }
    }
    return C;
  }

  void eliminate(std::size_t i, Doubt& doubt) {
    Level& level = levels_[i];
    Level& next = levels_[i + 1];
    MatrixXd C = unknowns(i, level.columns);
    level.rows.clear();
    level.loose = false;
    if (C.cols() > 0) level.rows.push_back(normal_column(i));
    for (Index c = 1; c < C.cols(); ++c) level.rows.push_back(g_.tangent_[i] + c - 1);
    level.r_own = level.r;
    if (mode_[i].choice == Choice::sliding && g_.unit(i).limit > 0)
      for (Index c = 0; c < g_.unit(i).k; ++c)
        level.r_own -= g_.unit(i).limit * mode_[i].direction(c) * level.columns.col(g_.tangent_[i] + c);
    next.r = level.r_own;
    next.columns = level.columns;
    if (C.cols() == 0) return;
    MatrixXd block = C(level.rows, Eigen::all);
    const double size = C.cwiseAbs().maxCoeff();
    double smallest = block(0, 0);
    if (C.cols() > 1) smallest = block.fullPivLu().matrixLU().diagonal().cwiseAbs().minCoeff();
    if (std::abs(smallest) <= doubtful * std::max(size, 0.01)) {
      // Friction that depends on what other contacts do already can be left out; anything else needs a proper look.
      if (C.cols() == 1 || std::abs(block(0, 0)) <= doubtful) {
        doubt.direct = true;
        return;
      }
      const MatrixXd rest = C.rightCols(C.cols() - 1) - C.col(0) * (block.row(0).tail(C.cols() - 1) / block(0, 0));
      if (rest.cwiseAbs().maxCoeff() > dependent) {
        doubt.direct = true;
        return;
      }
      doubt.loose = level.loose = true;
      C = C.col(0).eval();
      block = block.topLeftCorner(1, 1).eval();
      level.rows.resize(1);
    }
    level.minus_inverse = -block.inverse();
    const MatrixXd substituted = C * level.minus_inverse;
    next.r += substituted * level.r_own(level.rows);
    for (std::size_t later = i + 1; later < mode_.size(); ++later) {
      if (g_.unit(later).two_sided()) update(level, next, substituted, lambda_at_[later]);
      if (g_.normal_[later] >= 0) update(level, next, substituted, g_.normal_[later]);
      for (Index c = 0; c < g_.unit(later).k; ++c) update(level, next, substituted, g_.tangent_[later] + c);
    }
  }

  static void update(const Level& level, Level& next, const MatrixXd& substituted, Index column) {
    for (std::size_t row = 0; row < level.rows.size(); ++row) {
      next.columns.col(column) += level.columns(level.rows[row], column) * substituted.col(static_cast<Index>(row));
    }
  }

  void leaf(const Doubt& doubt) {
    if (doubt.direct || possible(doubt)) visit_(mode_);
  }

  bool possible(const Doubt& doubt) {
    // Back-substitution: forces and λ̂ of contact after contact, the last one first.
    values_.setZero();
    double largest = 0;
    for (std::size_t i = mode_.size(); i-- > 0;) {
      const UnitMode& choice = mode_[i];
      if (choice.choice == Choice::open) continue;
      const Level& level = levels_[i];
      VectorXd x = level.r_own(level.rows);
      for (std::size_t later = i + 1; later < mode_.size(); ++later) {
        if (mode_[later].choice == Choice::open) continue;
        const auto add = [&](Index column) {
          if (values_(column) == 0) return;
          for (std::size_t row = 0; row < level.rows.size(); ++row) {
            x(static_cast<Index>(row)) += level.columns(level.rows[row], column) * values_(column);
          }
        };
        add(normal_column(later));
        for (Index c = 0; c < g_.unit(later).k; ++c) add(g_.tangent_[later] + c);
      }
      x = level.minus_inverse * x;
      const ContactUnit& u = g_.unit(i);
      values_(normal_column(i)) = x(0);
      for (Index c = 0; c < u.k; ++c) {
        const bool sticks = choice.choice == Choice::sticking;
        const double given =
            sticks ? (x.size() > 1 ? x(1 + c) : 0.0) : -(u.mu * choice.sign * x(0) + u.limit) * choice.direction(c);
        values_(g_.tangent_[i] + c) = given;
      }
      largest = std::max(largest, x.cwiseAbs().maxCoeff());
    }
    const VectorXd& r = levels_.back().r;
    const double zero = margin * (g_.s_.scale + largest);
    for (std::size_t i = 0; i < mode_.size(); ++i) {
      const UnitMode& choice = mode_[i];
      const ContactUnit& u = g_.unit(i);
      if (choice.choice == Choice::open) {
        if (r(g_.normal_[i]) < -zero) return false;
        continue;
      }
      const double lambda = choice.sign * values_(normal_column(i));
      if (lambda < -zero && (!u.two_sided() || u.mu > 0)) return false;
      if (choice.choice == Choice::sliding && u.direction.size() == 0) {
        if (choice.direction.dot(r.segment(g_.tangent_[i], u.k)) < -zero) return false;
      }
      if (choice.choice != Choice::sticking) continue;
      // Friction that was left out: its row must be met all the same; cones are for others to look at.
      if (levels_[i].loose && r.segment(g_.tangent_[i], u.k).norm() > zero) return false;
      if (doubt.loose) continue;
      if (values_.segment(g_.tangent_[i], u.k).norm() > u.mu * lambda + u.limit + zero * std::max(1.0, u.mu))
        return false;
    }
    return true;
  }

  const ContactGroup& g_;
  std::vector<std::vector<UnitMode>> choices_;
  std::function<void(const GroupMode&)> visit_;
  std::vector<Index> lambda_at_;
  std::vector<Level> levels_;
  GroupMode mode_;
  VectorXd values_;
};

void ContactGroup::visit_possible(const std::vector<std::vector<UnitMode>>& choices,
                                  const std::function<void(const GroupMode&)>& visit) const {
  ModeTree(*this, choices, visit).run();
}

}  // namespace mechanician
