#pragma once

/// Backward differentiation formulas of order 1 to 5 for stiff motions: SUNDIALS' CVODES.
///
///     y′ = f(t, y),   y = (q, q̇, quadratures),   with y held on the constraints after every step.
///
/// The formula of order k takes y_n from  y_n = Σ_{j=1..k} α_j y_{n−j} + h β f(t_n, y_n),  solved by Newton with the
/// matrix I − hβ J (newton_system.hpp). J is kept for as long as Newton converges with it. After Newton `project` moves
/// y_n onto the constraints; the polynomial through the past values is moved along, so interpolation passes through the
/// projected values. Quadratures need no iteration: the formula is put in once for them.
///
/// Error: the estimate of the local error is at most tolerance · max(1, |y_i|) in every component (largest component,
/// not a mean over them). Quadratures count a hundredth, over the largest of them: they follow the motion and must not shorten its steps, unless nothing else moves. The estimate is that of the unprojected step; the larger of predictor minus corrector and (I − hβ J)⁻¹ times it counts.
/// Where rounding of state and time alone does more than the tolerance to a step or to its projection, that is what is asked for.
///
/// Cost of a step: two to three evaluations of f, one more where there are quadratures; a Jacobian every 10 to 50 steps;
/// a factorisation whenever h changes.
///
/// Deterministic: after start() everything depends on the state given there, and on the stop times, bit for bit.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/motion/newton_system.hpp"

namespace mechanician {

/// What the stepper asks of a system. A callback that returns false (value not finite, no solution) makes the stepper
/// try again with a shorter step.
struct BdfProblem {
  int size = 0;           ///< of y
  int num_dynamic = 0;    ///< the first so many components enter f; the rest are quadratures
  int num_positions = 0;  ///< the first so many are q, the next so many are q̇ = q′ exactly; 0: nothing is known of f
  /// Of the positions, those of first order: f gives their rates, and in the place of their q̇ y and f are zero.
  std::vector<int> by_rates = {};
  bool depends_on_time = true;  ///< f does, apart from y
  /// y: the first num_dynamic components; dy: all.
  std::function<bool(double t, std::span<const double> y, std::span<double> dy)> rhs = {};
  /// Moves y, the first num_dynamic components, onto the constraints; may be empty.
  std::function<bool(double t, std::span<double> y)> project = {};
  /// What errors of its components count against; empty: max(1, |y_i|).
  std::function<void(std::span<const double> y, std::span<double> sizes)> typical = {};
  /// How much rounding of y may come to in each component once it is projected; may be empty.
  std::function<void(double t, std::span<const double> y, std::span<double> noise)> noise = {};
  std::shared_ptr<NewtonSystem> newton = {};  ///< null: dense, with J by differences of f
};

struct BdfOptions {
  double tolerance = 1e-10;   ///< of the local error, relative to typical sizes
  double largest_step = 0.0;  ///< 0: no limit
  double first_step = 0.0;    ///< after each start; 0: chosen
  int largest_order = 5;      ///< 2: stable also for fast oscillations that are hardly damped, at looser tolerances
};

/// Since the object was made, over all starts.
struct BdfStatistics {
  long steps = 0;
  long evaluations = 0;  ///< of f, those for Jacobians included
  long jacobians = 0;
  long factorisations = 0;        ///< of the Newton matrix
  long error_failures = 0;        ///< steps repeated because the error was too large
  long convergence_failures = 0;  ///< steps repeated because Newton did not converge or f was not finite
  long projections = 0;
  long projection_failures = 0;  ///< steps repeated because `project` found no solution
};

class Bdf {
 public:
  /// Throws std::invalid_argument for a problem or options that make no sense.
  Bdf(BdfProblem problem, BdfOptions options);
  ~Bdf();
  Bdf(Bdf&&) noexcept;
  Bdf& operator=(Bdf&&) noexcept;

  /// Begins at order 1. y should be on the constraints.
  /// `quadrature_size`: typical, of the quadratures.
  void start(double t, std::span<const double> y, double quadrature_size = 1.0);

  enum class Outcome { stepped, failed };
  /// One step, not beyond t_stop > t(); ends exactly there if it comes near. A step that failed leaves t() and y() as
  /// they were; only start() helps then. What a callback throws comes through.
  Outcome step(double t_stop);

  /// The last step is [step_begin(), t()]; after start() both are its time.
  double step_begin() const;
  double t() const;
  std::span<const double> y() const;
  /// f at t() and y(), where the last evaluation of the step was there: with quadratures. Else empty.
  std::span<const double> rates() const;

  /// From the polynomial of the last step, not projected. False for times outside it.
  bool interpolate(double t, std::span<double> y) const;
  /// Its derivative, the first or a higher one. False also before the first step.
  bool interpolate_rate(double t, std::span<double> dy, int derivative = 1) const;

  double last_step() const;  ///< size; 0 before the first step
  double next_step() const;  ///< what will be tried next; 0 before the first step
  int order() const;         ///< of the last step; 0 before the first step
  BdfStatistics statistics() const;

  enum class Failure {
    none,
    not_finite,      ///< f has no finite value, however short the step
    step_too_small,  ///< the error test or Newton's iteration fails however short the step
    projection,      ///< the constraints could not be reached
  };
  Failure failure() const;
  const std::string& reason() const;  ///< of the failure, in words, with the time; empty if there is none

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mechanician
