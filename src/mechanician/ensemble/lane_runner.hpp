#pragma once

/// Motions of fixed steps in vector lanes: as many side by side as the processor has lanes (step_function.hpp), each
/// with its own parameters.
///
/// A lane for which compiled code does not vouch somewhere in a block of steps is set back to the begin of the block
/// and goes through it step by step; the steps that are not vouched for are taken by the robust path (robust_step.hpp).
/// Then it is back in its pack. What becomes of a motion does not depend on the others, nor on the number of lanes, nor
/// on blocks: the same bits.
///
/// Constraints are differentiated, not held: what drifts is told by BatchResult::violation.

#include <memory>
#include <string>
#include <vector>

#include "mechanician/compile/step_function.hpp"
#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct LaneOptions {
  Varied varied;
  StepFunctionOptions code = {};
  int steps_of_a_block = 128;
};

class LaneRunner : public MotionRunner {
 public:
  LaneRunner(const System& system, StepProgram step, VariedParameters parameters, const EnsembleOptions& options,
             const LaneOptions& lanes);

  void run(const MotionBatch& batch, BatchResult& result) override;
  std::unique_ptr<MotionRunner> clone() const override { return std::make_unique<LaneRunner>(*this); }
  int lanes() const override { return step_.lanes(); }
  int preferred_batch() const override { return 32 * step_.lanes(); }
  std::string_view device() const override { return "cpu"; }
  StepFunction& code() { return step_; }

 private:
  struct Pack;
  /// Steps first, first + 1, … of all lanes.
  void advance(Pack& pack, std::int64_t first, std::int64_t count);
  bool all_good(const Pack& pack, int size) const;
  void serve(Pack& pack, int lane, const double* state, std::int64_t first, std::int64_t count);

  std::shared_ptr<const System> system_;
  StepFunction step_;
  VariedParameters parameters_;
  CompiledFunction violation_;  ///< of all parameters
  EnsembleOptions options_;
  int steps_of_a_block_;
};

struct LaneRunnerResult {
  std::unique_ptr<MotionRunner> made;
  std::string reason;  ///< why not, in words
};

/// For options.method == rk4. None for models with contacts or events that stop, and where there is no compiled code
/// that vouches for the nominal start.
LaneRunnerResult make_lane_runner(const System& system, const State& nominal, const EnsembleOptions& options,
                                  const LaneOptions& lanes = {});

}  // namespace mechanician
