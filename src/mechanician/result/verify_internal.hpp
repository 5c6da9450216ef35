#pragma once

/// The second motion of --verify: the same start at a hundredth of the tolerance, compared row by row.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "mechanician/motion/sizes.hpp"
#include "mechanician/motion/tolerances.hpp"
#include "mechanician/result/result_writer.hpp"

namespace mechanician {

class SecondRun {
  static constexpr double least_steps = 437.0;

 public:
  SecondRun(const System& system, const RunSetup& setup)
      : tolerance_(std::max(tolerance_of_steps(setup.motion.tolerance) / 100.0, 1e-14)),
        first_tolerance_(setup.motion.tolerance),
        span_(setup.motion.to - setup.start.t) {
    MotionOptions options = setup.motion;
    options.tolerance = tolerance_, options.summarise = false;
    // What the first run has stepped over the second must not step over at the same places.
    const double largest = (options.to - setup.start.t) / least_steps;
    options.largest_step = options.largest_step > 0.0 ? std::min(largest, 0.37 * options.largest_step) : largest;
    integrator_ = std::make_unique<Integrator>(system, setup.start, options);
    if (integrator_->refusal())
      ended_ = integrator_->refusal()->message;
    else
      before_ = integrator_->checkpoint();
  }

  /// `events`: of the first motion so far. It may be many steps behind: false where `goes_on` does not want to wait for it.
  bool compare(const Sample& first, std::span<const MotionEvent> events, const std::function<bool()>& goes_on) {
    if (!ended_.empty()) return true;
    for (long count = 1; integrator_->t() < first.t && !integrator_->over(); ++count) {
      if (count % 64 == 0 && !goes_on()) return false;
      if (integrator_->at_checkpoint()) before_ = integrator_->checkpoint();
      integrator_->advance();
    }
    const double t = std::min(first.t, integrator_->t());
    // Where an event ends both, they do not end at quite the same time; the difference in state shows by how much.
    if (first.t - t > std::sqrt(first_tolerance_) * std::max(span_, std::abs(first.t))) {
      ended_ = fmt::format("it ended at t = {:.10g}", t);
      if (!integrator_->stop().message.empty()) ended_ += ": " + integrator_->stop().message;
      return true;
    }
    const Sample second = integrator_->sample(t);
    const Sizes& sizes = integrator_->sizes();
    compare(first.q, second.q, sizes.q, sizes.near_q);
    // At an impact one motion may be before it and the other after it.
    if (!near_jump(first.t, events) && !near_jump(first.t, integrator_->events()))
      compare(first.qd, second.qd, sizes.qd, sizes.near_qd);
    return true;
  }

  /// Adds what the comparison says to the certificate of the first motion.
  void judge(Certificate& certificate, const Statistics& first, bool complete) const {
    const auto doubt = [&](std::string reason) {
      certificate.holds = false;
      certificate.reasons.push_back(std::move(reason));
    };
    certificate.global_error = error_;
    if (!ended_.empty()) doubt(fmt::format("a second run at tolerance {:.2g} does not agree: {}", tolerance_, ended_));
    // Also where it is not a number.
    if (!(error_ <= std::sqrt(first_tolerance_)))
      doubt(fmt::format("a second run at tolerance {:.2g} differs by {:.2g}", tolerance_, error_));
    const long crossings = integrator_->statistics().crossings;
    if (complete && ended_.empty() && crossings != first.crossings)
      doubt(fmt::format("a second run at tolerance {:.2g} finds {} singular configurations instead of {}", tolerance_,
                        crossings, first.crossings));
  }

  void save(RunCheckpoint& checkpoint) const {
    if (ended_.empty()) checkpoint.second = before_;
    checkpoint.second_ended = ended_;
    checkpoint.global_error = error_;
  }
  void restore(const RunCheckpoint& checkpoint) {
    ended_ = checkpoint.second_ended;
    error_ = checkpoint.global_error;
    before_ = checkpoint.second;
    if (ended_.empty()) integrator_->restore(before_, {}, {});
  }

 private:
  bool near_jump(double t, std::span<const MotionEvent> events) const {
    const double reach = std::max(1e-9, 1e3 * first_tolerance_) * std::max(span_, std::abs(t));
    for (auto e = events.rbegin(); e != events.rend() && e->time >= t - reach; ++e)
      if (e->kind == EventKind::impact && e->time <= t + reach) return true;
    return false;
  }

  /// Over the typical sizes of the motion. What is zero up to rounding has none of its own: a part of what the others have.
  void compare(const Eigen::VectorXd& first, const Eigen::VectorXd& second, const std::vector<double>& own,
               const std::vector<double>& near) {
    constexpr double part = 1e-3;
    for (Eigen::Index i = 0; i < first.size(); ++i) {
      const double off = std::abs(first(i) - second(i));
      const double relative = off == 0.0 ? 0.0 : off / std::max({own[i], part * near[i], std::abs(first(i))});
      if (!(relative <= error_)) error_ = relative;
    }
  }

  std::unique_ptr<Integrator> integrator_;
  /// Before its last step, or earlier: it is ahead of the first motion, and rows within that step are to be compared
  /// yet.
  std::vector<double> before_;
  double tolerance_, first_tolerance_, span_;
  double error_ = 0.0;
  std::string ended_;  ///< why there is nothing to compare with any more
};

}  // namespace mechanician
