// Groups of contacts that can begin to slip in a plane: friction made smooth, and less and less so. With W = B Bᵀ the accelerations at the
// contacts are w = w₀ + B z, z = Bᵀf, and of z and the normal forces N
//
//   z = Bᵀf,   f = [N | −(μ N + limit) s/√(s² + ε²)] by contact,   N + w = √(N² + w² + 2ε²)
//
// is followed by Newton's method from a large ε down to one at which it is plain what sticks, what slips and which way. For given N it is the
// one minimum of ½z² + Σ (μ N + limit)√(s² + ε²): contacts that share a load in many ways, as the corners of a box do, are no
// obstacle. The mode's own equations decide, as everywhere.
#include <algorithm>
#include <cmath>

#include "mechanician/solve/contact_modes.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;

namespace {

constexpr double largest_epsilon = 10.0, least_epsilon = 1e-11;  // of the scale
constexpr double shrinkage = 0.2;
constexpr int most_steps = 40;
constexpr double slips = 100.0;  // times ε: a slip that is one

}  // namespace

/// z and N at one ε, and what follows from them.
struct ContactGroup::Smoothed {
  const ContactGroup& group;
  MatrixXd B;
  VectorXd z, N;

  explicit Smoothed(const ContactGroup& of) : group(of) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(of.W_);
    const VectorXd& e = eigen.eigenvalues();
    const double zero = 1e-13 * std::max(e.size() > 0 ? e(e.size() - 1) : 0.0, 1e-300);
    const Index rank = (e.array() > zero).count();
    B = eigen.eigenvectors().rightCols(rank) * e.tail(rank).cwiseSqrt().asDiagonal();
    z = VectorXd::Zero(rank), N = VectorXd::Zero(static_cast<Index>(of.units_.size()));
  }

  VectorXd accelerations() const { return group.w0_ + B * z; }

  /// What is left of the equations; J: its derivatives.
  VectorXd miss(double epsilon, MatrixXd* J) const {
    const Index r = z.size(), c = N.size();
    const VectorXd w = accelerations();
    VectorXd F(r + c);
    F.head(r) = z;
    if (J) J->setZero(r + c, r + c), J->topLeftCorner(r, r).setIdentity();
    for (Index i = 0; i < c; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const ContactUnit& u = group.unit(at);
      const Index n = group.normal_[at];
      F.head(r) -= N(i) * B.row(n).transpose();
      const double root = std::sqrt(N(i) * N(i) + w(n) * w(n) + 2.0 * epsilon * epsilon);
      F(r + i) = N(i) + w(n) - root;
      if (J) {
        J->col(r + i).head(r) -= B.row(n).transpose();
        J->row(r + i).head(r) = (1.0 - w(n) / root) * B.row(n);
        (*J)(r + i, r + i) = 1.0 - N(i) / root;
      }
      if (u.k == 0) continue;
      const auto T = B.middleRows(group.tangent_[at], u.k);
      VectorXd d = u.direction;
      const double room = u.mu * N(i) + u.limit;
      if (d.size() == 0) {
        const VectorXd s = w.segment(group.tangent_[at], u.k);
        const double size = std::sqrt(s.squaredNorm() + epsilon * epsilon);
        d = s / size;
        if (J) {
          const MatrixXd turned = (MatrixXd::Identity(u.k, u.k) - d * d.transpose()) / size;
          J->topLeftCorner(r, r) += std::max(room, 0.0) * T.transpose() * turned * T;
        }
      }
      F.head(r) += room * (T.transpose() * d);
      if (J) J->col(r + i).head(r) += u.mu * (T.transpose() * d);
    }
    return F;
  }

  /// False where Newton's method comes to no end.
  bool follow(double epsilon, double enough) {
    const Index r = z.size(), c = N.size();
    MatrixXd J;
    VectorXd F = miss(epsilon, &J);
    for (int step = 0; step < most_steps; ++step) {
      if (F.norm() <= enough) return true;
      // Where a load can be shared in several ways: the shortest change.
      Eigen::CompleteOrthogonalDecomposition<MatrixXd> qr(r + c, r + c);
      qr.setThreshold(1e-14);
      qr.compute(J);
      const VectorXd move = -qr.solve(F);
      if (!move.allFinite()) return false;
      const VectorXd z_before = z, N_before = N;
      const double before = F.norm();
      double length = 1.0;
      for (int half = 0; half < 25; ++half, length *= 0.5) {
        z = z_before + length * move.head(r), N = N_before + length * move.tail(c);
        F = miss(epsilon, &J);
        if (F.norm() < (1.0 - 1e-4 * length) * before) break;
      }
      if (!(F.norm() < before)) return before <= 1e3 * enough;
    }
    return F.norm() <= 1e3 * enough;
  }
};

std::size_t ContactGroup::num_free() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) count += unit(i).k == 2 && unit(i).direction.size() == 0;
  return count;
}

std::optional<ModeSolution> ContactGroup::find_by_smoothing(long& num_modes) const {
  if (s_.U.cols() > 0) return std::nullopt;
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (unit(i).two_sided()) return std::nullopt;
  Smoothed now(*this);
  const double scale = s_.scale > 0.0 ? s_.scale : 1.0;
  for (double epsilon = largest_epsilon * scale; epsilon > least_epsilon * scale; epsilon *= shrinkage) {
    if (!now.follow(epsilon, 1e-15 * scale + 1e-6 * epsilon)) return std::nullopt;
    // What is plain now need not be plainer.
    const VectorXd w = now.accelerations();
    GroupMode mode(units_.size());
    bool plain = epsilon < 1e-4 * scale;
    for (std::size_t i = 0; i < units_.size() && plain; ++i) {
      const ContactUnit& u = unit(i);
      const double normal = now.N(static_cast<Index>(i)), opening = w(normal_[i]);
      if (opening > normal) {
        plain = opening > slips * epsilon;
        continue;
      }
      plain = normal > slips * epsilon || epsilon < 10.0 * least_epsilon * scale;
      mode[i].choice = u.k == 0 ? Choice::held : Choice::sticking;
      if (u.k == 0) continue;
      const VectorXd s = w.segment(tangent_[i], u.k);
      mode[i].direction = u.direction;
      if (u.direction.size() == 0 && s.norm() > slips * epsilon) mode[i].direction = s.normalized();
      if (mode[i].direction.size() > 0) mode[i].choice = Choice::sliding;
    }
    if (!plain) continue;
    ++num_modes;
    auto solved = solve(mode, {.enforce = true});
    if (!solved || solved->violation > mode_tolerance) continue;
    const double size = s_.scale + solved->f.cwiseAbs().maxCoeff();
    bool aligned = true;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (mode[i].choice != Choice::sliding || unit(i).direction.size() > 0 || unit(i).k < 2) continue;
      const VectorXd s = slip(*solved, i);
      aligned = aligned && (s - s.dot(mode[i].direction) * mode[i].direction).norm() <= mode_tolerance * size;
    }
    if (aligned) return solved;
  }
  return std::nullopt;
}

}  // namespace mechanician
