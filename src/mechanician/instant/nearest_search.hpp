#pragma once

/// The way from a point to the nearest one on the constraints, one evaluation after the other: the same for one state
/// (project.hpp) and for many in lanes of compiled code (ensemble/start_lanes.hpp).
///
///     NearestSearch search;
///     for (search.begin(x0, M, true); search.goes_on();)
///       if (search.look(finite, far)) search.step(normal, tangent);       // all at search.x()
///
///     far      the largest distance to a constraint, zero where it is rounding
///     normal   the step of least mass norm onto the constraints
///     tangent  what is left of x₀ − x along them
///
/// Steps x ← x + normal + tangent are taken as long as they shrink by a constant factor: then there is one nearest point near by,
/// and they come to it. Else Newton steps of least norm go onto the constraints, shortened while they do not come nearer,
/// and steps along the tangent, brought back onto the constraints, until none comes nearer to x₀.

#include "mechanician/solve/sparse_rows.hpp"

namespace mechanician {

class NearestSearch {
 public:
  /// `nearest`: not just some point of the constraints near by.
  void begin(const Eigen::VectorXd& x0, const SparseRows& M, bool nearest);

  bool goes_on() const { return phase_ != Phase::done && phase_ != Phase::failed; }
  bool found() const { return phase_ == Phase::done; }
  /// Where it goes on: where to evaluate next. Where it has ended: what was found, or where it ended.
  const Eigen::VectorXd& x() const { return x_; }
  const Eigen::VectorXd& x0() const { return x0_; }
  /// It ended for want of any point on the constraints.
  bool off_constraints() const { return off_; }

  /// What is at x(); true where step() has to follow.
  bool look(bool finite, double far);
  void step(const Eigen::VectorXd& normal, const Eigen::VectorXd& tangent);

 private:
  enum class Phase { shrinking, restoring, done, failed };

  void shrink(const Eigen::VectorXd& normal, const Eigen::VectorXd& tangent);
  void begin_restoring(const Eigen::VectorXd& from);
  bool is_near() const;
  void end_restoring(bool restored);
  bool is_nearer();
  void go_along();
  void try_along();
  void end(bool good);
  double calc_size(const Eigen::VectorXd& x) const;
  double calc_distance2(const Eigen::VectorXd& x);

  Phase phase_ = Phase::failed;
  bool nearest_ = true, off_ = false;
  Eigen::VectorXd x0_, x_, moved_;  ///< moved_: for products with M
  SparseRows M_;
  double last_step_ = 0.0;  ///< while they shrink
  int num_shrinking_ = 0;
  // Onto the constraints: from base_, the nearest so far.
  enum class Restoring { after_shrinking, at_first, along } restoring_ = Restoring::at_first;
  bool has_base_ = false;
  Eigen::VectorXd base_, base_normal_, base_tangent_;
  double base_far_ = 0.0, shorten_ = 1.0;
  int num_halved_ = 0, num_newton_ = 0;
  // Along them: from on_.
  Eigen::VectorXd on_, along_, before_, along_before_;
  double length_ = 1.0, distance2_ = 0.0, slope_ = 0.0;
  int num_along_ = 0, num_tries_ = 0;
};

}  // namespace mechanician
