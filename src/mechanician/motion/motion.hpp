#pragma once

/// A whole motion in memory, to be sampled at any time.
///
///     const Motion motion = integrate(system, start, {.to = 10.0, .tolerance = 1e-9});
///     const Sample s = motion.sample(3.2);
///
/// Memory: a checkpoint for each step (positions, velocities, works and about 50 numbers); long runs use Integrator
/// instead. sample() may be called from several threads, one at a time.

#include <functional>
#include <memory>
#include <vector>

#include "mechanician/motion/integrator.hpp"

namespace mechanician {

/// After each accepted step; return false to stop the run there.
using StepCallback = std::function<bool(Integrator&)>;

class Motion {
 public:
  double begin() const;
  double end() const;
  /// At any time in [begin(), end()]; throws std::out_of_range elsewhere.
  Sample sample(double t) const;
  /// Ends of the accepted steps, the start first.
  const std::vector<double>& times() const;

  const Stop& stop() const;
  const std::vector<MotionEvent>& events() const;
  const Statistics& statistics() const;
  const Certificate& certificate() const;
  const std::vector<std::string>& notes() const;
  /// [summary] of the model.
  const std::vector<SummaryValue>& summary() const;

  struct Data;
  explicit Motion(std::shared_ptr<Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<Data> data_;
};

Motion integrate(const System& system, const State& start, const MotionOptions& options,
                 const StepCallback& on_step = {});

}  // namespace mechanician
