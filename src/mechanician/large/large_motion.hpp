#pragma once

/// The motion of a large system: DOP853, every step brought onto the constraints, by sparse elimination throughout.
///
///     LargeMotion motion(system, system.start(), {.to = 10});
///     while (motion.advance()) …                                  // one accepted step each
///     motion.sample(t, q, qd)                                     // within the last step
///
/// Cost of a step: twelve accelerations, two projections; linear in the size where the elimination is. Memory: some 30
/// numbers for each coordinate, and the factor. After construction nothing is allocated. There are no events, no crossing
/// of singular configurations and no implicit method here: where the elimination cannot vouch for an answer, the motion stops
/// and says so.

#include <span>
#include <string>
#include <vector>

#include "mechanician/large/large_dynamics.hpp"
#include "mechanician/motion/dop853.hpp"

namespace mechanician {

struct LargeRunOptions {
  double to = 0.0;
  double tolerance = 1e-10;  ///< local error over max(1, |value|)
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
  /// Since the start, at the time of the last sample().
  double work_given() const { return sampled_works_[0]; }
  double work_constraints() const { return sampled_works_[1]; }

  struct Certificate {
    long steps = 0, rejected = 0, evaluations = 0, projections = 0;
    long robust_answers = 0;  ///< of evaluations and projections: those that elimination could not vouch for
    double position_violation = 0.0, velocity_violation = 0.0;  ///< largest at the ends of steps
    double kinetic_start = 0.0, kinetic_end = 0.0, work_given = 0.0, work_constraints = 0.0;
    double balance = 0.0, balance_largest = 0.0, balance_allowed = 0.0;
    int dependent_rows = 0;
    /// The smallest angle between a row and the others that was met, and about when. Near zero the motion has passed a singular
    /// configuration, or come near one: the smooth branch is followed, but others are not looked for.
    double smallest_angle = 1.0, smallest_angle_at = 0.0, angle_at_start = 1.0;
    bool comes_near_singular() const { return smallest_angle < 0.1 * angle_at_start; }
    bool holds() const { return balance_largest <= balance_allowed && position_violation <= 1e-8 && velocity_violation <= 1e-8; }
  };
  const Certificate& certificate() const { return certificate_; }
  LargeDynamics& dynamics() { return dynamics_; }

 private:
  bool rate_of(double t, double* y, double* dy);
  void watch();
  bool fail(std::string why);

  LargeDynamics dynamics_;
  LargeRunOptions options_;
  std::size_t n_;
  Dop853 rk_;
  double t_, step_t_, step_h_ = 0.0, h_ = 0.0;
  bool dense_ = false;
  std::vector<double> e5_, e3_, y_;
  double sampled_works_[2] = {};
  Certificate certificate_;
  std::string message_;
};

}  // namespace mechanician
