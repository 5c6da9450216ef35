#include "mechanician/instant/nearest_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace mechanician {

namespace {

using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
// Steps that shrink.
constexpr int most_shrinking_steps = 120;
constexpr double shrinks = 0.7;
/// Steps along the constraints of this size are rounding; where nothing comes nearer, the second is.
constexpr double rounding = 8.0 * eps, near_enough = 1e-12;
/// A step onto the constraints leaves about its square.
constexpr double nearly_there = 1e-9;
/// Changes of the squared distance that are clearly more than rounding.
constexpr double seen_in_distance = 1e4 * eps;
// Steps that are shortened.
constexpr int most_newton_steps = 60, most_halvings = 30, most_tangent_steps = 500, most_tries = 40;

double largest(const VectorXd& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

void NearestSearch::begin(const VectorXd& x0, const SparseRows& M, bool nearest) {
  x0_ = x_ = x0;
  M_ = M;
  nearest_ = nearest, off_ = false;
  last_step_ = std::numeric_limits<double>::infinity();
  num_shrinking_ = num_along_ = 0;
  length_ = 1.0;
  phase_ = Phase::shrinking;
  if (nearest) return;
  restoring_ = Restoring::at_first;
  begin_restoring(x0_);
}

double NearestSearch::calc_size(const VectorXd& x) const { return std::max({1e-290, largest(x), largest(x0_)}); }

double NearestSearch::calc_distance2(const VectorXd& x) {
  moved_ = x - x0_;
  return moved_.dot(M_ * moved_);
}

bool NearestSearch::look(bool finite, double far) {
  if (phase_ == Phase::shrinking) {
    if (finite) return true;
    restoring_ = Restoring::at_first;
    begin_restoring(x0_);
    return false;
  }
  const bool nearer = finite && (!has_base_ || far < base_far_);
  // Less than half of rounding is hardly to be had.
  if (has_base_ && base_far_ <= eps * calc_size(base_) && !(finite && far <= 0.5 * base_far_)) {
    end_restoring(true);
    return false;
  }
  if (!nearer) {
    // So near, rounding decides at once.
    const bool at_rounding = finite && has_base_ && base_far_ <= 64.0 * eps * calc_size(base_);
    if (has_base_ && !at_rounding && ++num_halved_ < most_halvings) {
      shorten_ *= 0.5;
      x_ = base_ + shorten_ * base_normal_;
    } else {
      end_restoring(is_near());
    }
    return false;
  }
  base_ = x_, base_far_ = far, has_base_ = true;
  if (far > 0.0 || nearest_) return true;
  end_restoring(true);
  return false;
}

/// No nearer: rounding, if it is near.
bool NearestSearch::is_near() const { return has_base_ && base_far_ <= near_enough * calc_size(base_); }

void NearestSearch::step(const VectorXd& normal, const VectorXd& tangent) {
  if (phase_ == Phase::shrinking) return shrink(normal, tangent);
  base_normal_ = normal, base_tangent_ = tangent;
  if (base_far_ == 0.0) return end_restoring(true);
  if (++num_newton_ > most_newton_steps) return end_restoring(is_near());
  shorten_ = 1.0, num_halved_ = 0;
  x_ = base_ + base_normal_;
}

void NearestSearch::shrink(const VectorXd& normal, const VectorXd& tangent) {
  moved_ = normal + tangent;
  const double size = calc_size(x_), now = largest(moved_), onto = largest(normal), along = largest(tangent);
  // Where rounding keeps steps from shrinking, they are small.
  const bool stalled = !(now <= shrinks * std::exchange(last_step_, now)) || ++num_shrinking_ > most_shrinking_steps;
  const bool settled = along <= (stalled ? near_enough : rounding) * size;
  if (settled && onto <= (stalled ? near_enough : nearly_there) * size) {
    x_ += normal;
    restoring_ = Restoring::after_shrinking;
    return begin_restoring(x_);
  }
  if (stalled) {
    restoring_ = Restoring::at_first;
    return begin_restoring(x0_);
  }
  x_ += settled ? normal : moved_;
}

void NearestSearch::begin_restoring(const VectorXd& from) {
  phase_ = Phase::restoring;
  if (&from != &x_) x_ = from;
  has_base_ = false;
  num_newton_ = num_halved_ = 0;
  shorten_ = 1.0;
}

void NearestSearch::end_restoring(bool restored) {
  if (restoring_ == Restoring::after_shrinking && !restored) {
    restoring_ = Restoring::at_first;
    return begin_restoring(x0_);
  }
  if (restoring_ != Restoring::along) {
    if (has_base_) x_ = base_;
    off_ = !restored;
    if (!restored || !nearest_) return end(restored);
    restoring_ = Restoring::along;
    on_ = base_, along_ = base_tangent_;
    return go_along();
  }
  if (restored && is_nearer()) {
    before_.swap(on_), along_before_.swap(along_);
    on_ = base_, along_ = base_tangent_;
    return go_along();
  }
  length_ *= 0.5;
  if (++num_tries_ < most_tries) return try_along();
  // No progress: rounding, if the step is small.
  x_ = on_;
  end(largest(along_) <= 1e-9 * calc_size(on_));
}

/// Whether the step along_ to base_ was a good one.
bool NearestSearch::is_nearer() {
  constexpr double enough = 1e-4;
  if (!(slope_ > 0.0)) return true;
  if (length_ * slope_ > seen_in_distance * distance2_)
    return calc_distance2(base_) <= distance2_ - enough * length_ * slope_;
  // The distance is the same to rounding. It falls until what is left along the step has changed its sign and grown to its size.
  return std::abs(along_.dot(M_ * base_tangent_)) <= (1.0 - enough) * slope_;
}

void NearestSearch::go_along() {
  const double size = calc_size(on_), far = largest(along_);
  // Small steps end it where they do not shrink, and after steps that did.
  const bool stalled = far <= near_enough * size && (num_along_ == 0 || far > shrinks * largest(along_before_));
  if (!(far > rounding * size) || stalled || num_along_ == most_tangent_steps) {
    x_ = on_;
    return end(far <= 1e-9 * size);
  }
  if (num_along_++ > 0) {
    // Barzilai and Borwein: the curvature along the last step sets the length of the next.
    moved_ = on_ - before_;
    const double sMs = moved_.dot(M_ * moved_), sMy = moved_.dot(M_ * along_before_) - moved_.dot(M_ * along_);
    length_ = sMy > 1e-3 * sMs ? std::min(sMs / sMy, 10.0) : 1.0;
  }
  distance2_ = calc_distance2(on_), slope_ = along_.dot(M_ * along_);
  num_tries_ = 0;
  try_along();
}

void NearestSearch::try_along() {
  x_ = on_ + length_ * along_;
  begin_restoring(x_);
}

void NearestSearch::end(bool good) { phase_ = good ? Phase::done : Phase::failed; }

}  // namespace mechanician
