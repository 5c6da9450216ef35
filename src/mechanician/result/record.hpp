#pragma once

/// A run from its first row to its last word: drives the integrator, hands rows to a writer, sums up.
///
///     Recorder recorder(system, make_setup(system, start, {.to = 10.0}, 0.01, false));
///     if (recorder.refusal()) …
///     auto writer = make_writer("motion.h5", ResultFormat::hdf5, recorder.header());
///     const Summary summary = recorder.run(*writer);
///
/// Rows: the start, start + k·every, and last the end exactly (or where the run stopped); without `every` one for each
/// accepted step. With `verify` a second motion at a hundredth of the tolerance goes along; the largest difference of
/// positions and velocities at the rows, relative to the sizes that they have in the motion, is the global error.

#include <functional>
#include <optional>
#include <vector>

#include "mechanician/motion/integrator.hpp"
#include "mechanician/result/result_writer.hpp"
#include "mechanician/result/run_setup.hpp"

namespace mechanician {

struct RunProgress {
  double begin = 0.0, now = 0.0, end = 0.0;  ///< simulated time
  long steps = 0, rows = 0;
  double wall_time = 0.0;  ///< seconds
};
/// Called after every step and within long ones; false interrupts the run.
using ProgressCallback = std::function<bool(const RunProgress&)>;

class Recorder {
 public:
  /// Throws std::invalid_argument for options that make no sense.
  Recorder(const System& system, RunSetup setup);
  ~Recorder();

  /// Why the motion cannot begin; nothing where it can.
  const std::optional<Stop>& refusal() const;
  ResultHeader header() const;
  const Columns& columns() const;

  /// Before run(): goes on from there instead of from the start. Throws std::invalid_argument where it does not fit.
  void restore(const RunCheckpoint& checkpoint);

  /// Before run(): called at the start and after each accepted step, which can be sampled then.
  void watch(std::function<void(Integrator&)> on_step);
  Integrator& integrator();

  /// To the end. FileError where writing fails; the mathematics ends in a status.
  Summary run(ResultWriter& writer, const ProgressCallback& on_progress = {});

  const Integrator& integrator() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mechanician
