#pragma once

/// The motion of a large system: DOP853, every step brought onto the constraints, by sparse elimination throughout.
///
///     LargeMotion motion(system, system.start(), {.to = 10});
///     while (motion.advance()) …                                  // one accepted step each
///     motion.sample(t, q, qd)                                     // within the last step
///
/// Cost of a step: twelve accelerations, two projections; linear in the size where the elimination is. Memory: some 30
/// numbers for each coordinate, and the factor. After construction nothing is allocated. There is no crossing of singular
/// configurations and no implicit method here: where the elimination cannot vouch for an answer, the motion stops and says so.
/// Events, outputs and samples are added by large_steps.hpp.

#include <span>
#include <string>
#include <vector>

#include "mechanician/large/large_dynamics.hpp"
#include "mechanician/motion/dop853.hpp"

namespace mechanician {

struct LargeRunOptions {
  double to = 0.0;
  double tolerance = 1e-10;          ///< local error over max(1, |value|)
  double first_step = 0.0;           ///< 0: chosen
  double largest_step = 0.0;         ///< 0: no limit
  bool works_by_constraint = false;  ///< integrates the work of every row, too
};

class LargeMotion {
 public:
  /// Throws ModelError where the start is off the constraints.
  LargeMotion(LargeSystem& system, const LargeSystem::Start& start, const LargeRunOptions& options);

  /// One accepted step. False: at the end, or stopped.
  bool advance();
  double t() const { return t_; }
  double step_begin() const { return step_t_; }
  bool failed() const { return !message_.empty(); }
  const std::string& message() const { return message_; }
  /// State within the last step, brought onto the constraints.
  void sample(double t, std::span<double> q, std::span<double> qd);
  /// The same without the projection, or with one that may fail and leave the state as it is.
  void state_at(double t, std::span<double> q, std::span<double> qd, bool project);
  /// Since the start, at the time of the last sample().
  double work_given() const { return sampled_works_[0]; }
  double work_constraints() const { return sampled_works_[1]; }
  /// Of every row, where that was asked for.
  std::span<const double> works_by_constraint() const { return std::span(sampled_works_).subspan(2); }
  /// The same at the end of the motion so far.
  std::span<const double> works_at_end() const {
    return ended_ ? std::span(end_works_).subspan(2) : std::span(rk_.y_new).subspan(2 * n_ + 2);
  }
  /// The motion is over at a time within its last step, and its certificate is about that time.
  void end_at(double t);

  /// Everything that the rest of the motion depends on.
  std::vector<double> checkpoint() const;
  /// On a fresh motion with the same system, start and options. Throws std::invalid_argument if it does not fit.
  void restore(std::span<const double> from);

  struct Certificate {
    long steps = 0, rejected = 0, evaluations = 0, projections = 0;
    long robust_answers = 0;  ///< of evaluations and projections: those that elimination could not vouch for
    double position_violation = 0.0, velocity_violation = 0.0;  ///< largest at the ends of steps
    double distance = 0.0;                                      ///< largest of RowDistance there
    double kinetic_start = 0.0, kinetic_end = 0.0, work_given = 0.0, work_constraints = 0.0;
    double balance = 0.0, balance_largest = 0.0, balance_allowed = 0.0;
    int dependent_rows = 0;
    /// The smallest angle between a row and the others that was met, and about when. Near zero the motion has passed a singular
    /// configuration, or come near one: the smooth branch is followed, but others are not looked for.
    double smallest_angle = 1.0, smallest_angle_at = 0.0, angle_at_start = 1.0;
    bool comes_near_singular() const { return smallest_angle < 0.1 * angle_at_start; }
    bool holds() const { return balance_largest <= balance_allowed && distance <= 1e-8; }
  };
  const Certificate& certificate() const { return certificate_; }
  LargeDynamics& dynamics() { return dynamics_; }

 private:
  bool rate_of(double t, double* y, double* dy);
  void watch();
  bool fail(std::string why);
  std::size_t num_works() const { return rk_.y_new.size() - 2 * n_; }
  template <class Do>
  void each_number(Do&& number);

  LargeDynamics dynamics_;
  LargeRunOptions options_;
  std::size_t n_;
  Dop853 rk_;
  double t_, step_t_, step_end_ = 0.0, step_h_ = 0.0, h_ = 0.0;
  bool dense_ = false;
  std::vector<double> e5_, e3_, y_;
  std::vector<double> sampled_works_, end_works_;
  bool ended_ = false;
  Certificate certificate_;
  std::string message_;
};

}  // namespace mechanician
