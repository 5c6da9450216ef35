// Groups of contacts with too many modes to try them all: relaxation over the contacts (projected Gauss–Seidel), the
// mode read off now and then, and the mode's own equations solved and corrected where signs are missed.
#include <algorithm>
#include <cmath>

#include "mechanician/solve/contact_modes.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;

namespace {

constexpr int most_rounds = 60;
constexpr int sweeps_a_round = 25;
constexpr int most_corrections = 12;

}  // namespace

/// f, w: forces and accelerations of the group; multipliers up to `zero` are none.
GroupMode ContactGroup::read_mode(const VectorXd& f, const VectorXd& w, double zero) const {
  GroupMode mode(units_.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const ContactUnit& u = unit(i);
    const double lambda = u.two_sided() ? u.lambda0 + lambda_[i].dot(f) : f(normal_[i]);
    mode[i].sign = u.two_sided() && lambda < 0 ? -1 : 1;
    if (!u.two_sided() && lambda <= zero && w(normal_[i]) > zero) continue;
    mode[i].choice = u.k == 0 ? Choice::held : Choice::sticking;
    if (u.k == 0) continue;
    const VectorXd s = w.segment(tangent_[i], u.k), friction = f.segment(tangent_[i], u.k);
    if (u.direction.size() > 0) {
      mode[i].choice = Choice::sliding;
      mode[i].direction = u.direction;
    } else if (s.norm() > zero && friction.norm() >= (1.0 - 1e-6) * (u.mu * std::abs(lambda) + u.limit) - zero) {
      mode[i].choice = Choice::sliding;
      mode[i].direction = s.normalized();
    }
  }
  return mode;
}

std::optional<ModeSolution> ContactGroup::relax(long& num_modes) const {
  if (s_.U.cols() > 0) return std::nullopt;
  const Index p = W_.rows();
  VectorXd f = VectorXd::Zero(p), w = w0_;
  const auto change = [&](Index column, double difference) {
    if (difference == 0) return;
    f(column) += difference;
    w += difference * W_.col(column);
  };
  for (int round = 0; round < most_rounds; ++round) {
    for (int sweep = 0; sweep < sweeps_a_round; ++sweep) {
      for (std::size_t i = 0; i < units_.size(); ++i) {
        const ContactUnit& u = unit(i);
        double lambda = 0;
        if (u.two_sided()) {
          lambda = u.lambda0 + lambda_[i].dot(f);
        } else {
          const Index c = normal_[i];
          if (W_(c, c) > 1e-14) change(c, std::max(0.0, f(c) - w(c) / W_(c, c)) - f(c));
          lambda = f(c);
        }
        if (u.k == 0) continue;
        const double room = u.mu * std::abs(lambda) + u.limit;
        VectorXd target = f.segment(tangent_[i], u.k);
        if (u.direction.size() > 0) {
          target = -room * u.direction;
        } else {
          double stiffness = 0;
          for (Index c = 0; c < u.k; ++c) stiffness += W_(tangent_[i] + c, tangent_[i] + c);
          if (stiffness > 1e-14) target -= w.segment(tangent_[i], u.k) / stiffness;
          if (target.norm() > room) target *= room / target.norm();
        }
        for (Index c = 0; c < u.k; ++c) change(tangent_[i] + c, target(c) - f(tangent_[i] + c));
      }
    }
    w = w0_ + W_ * f;
    const double size = s_.scale + f.cwiseAbs().maxCoeff();
    GroupMode mode = read_mode(f, w, 1e-7 * size);
    // The mode's own equations; where their solution misses signs, the mode that it suggests.
    for (int correction = 0; correction < most_corrections; ++correction) {
      ++num_modes;
      auto solved = solve(mode, {.enforce = true});
      if (!solved) solved = solve(mode, {.enforce = false});
      if (!solved) break;
      bool aligned = true;
      const VectorXd forces = solved->f(columns_);
      const VectorXd there = w0_ + W_ * forces;
      for (std::size_t i = 0; i < units_.size(); ++i) {
        if (mode[i].choice != Choice::sliding || unit(i).direction.size() > 0 || unit(i).k < 2) continue;
        const VectorXd s = there.segment(tangent_[i], 2);
        aligned = aligned && (s - s.dot(mode[i].direction) * mode[i].direction).norm() <= mode_tolerance * size;
      }
      if (solved->violation <= mode_tolerance && aligned) return solved;
      GroupMode next = read_mode(forces, there, 1e-10 * size);
      for (std::size_t i = 0; i < units_.size(); ++i) {
        const ContactUnit& u = unit(i);
        if (u.k == 0 || u.direction.size() > 0 || next[i].choice == Choice::open) continue;
        const double lambda = solved->lambda(static_cast<Index>(i));
        const VectorXd friction = forces.segment(tangent_[i], u.k), s = there.segment(tangent_[i], u.k);
        if (mode[i].choice == Choice::sliding && s.dot(mode[i].direction) < 0) {
          next[i].choice = Choice::sticking;
        } else if (mode[i].choice == Choice::sticking && friction.norm() > u.mu * std::abs(lambda) + u.limit) {
          next[i].choice = Choice::sliding;
          next[i].direction = -friction.normalized();
        }
      }
      mode = std::move(next);
    }
  }
  return std::nullopt;
}

}  // namespace mechanician
