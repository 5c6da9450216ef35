#pragma once

/// Motions of fixed steps on a GPU: one in each thread, its state in registers.
///
/// The step is the program that also runs in lanes on the processor (step_program.hpp), so both agree to rounding. A motion whose
/// step the program cannot vouch for is done on the processor, from its start.

#include <memory>

#include "mechanician/compile/step_program.hpp"
#include "mechanician/ensemble/gpu.hpp"
#include "mechanician/ensemble/lane_runner.hpp"
#include "mechanician/ensemble/motion_batch.hpp"

namespace mechanician {

class GpuRunner : public MotionRunner {
 public:
  /// `violation` (violation_program.hpp) and `step` have `parameters` as inputs. Throws GpuError.
  GpuRunner(std::shared_ptr<Gpu> gpu, const StepProgram& step, const Program& violation, VariedParameters parameters,
            const EnsembleOptions& options, std::unique_ptr<MotionRunner> cpu);

  void run(const MotionBatch& batch, BatchResult& result) override;
  std::unique_ptr<MotionRunner> clone() const override;
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 1 << 20; }
  std::string_view device() const override { return "gpu"; }

  double kernel_seconds() const { return kernel_seconds_; }  ///< of all runs

 private:
  GpuRunner(const GpuRunner& other, std::unique_ptr<MotionRunner> cpu);
  void run_part(const MotionBatch& batch, int first, int count, BatchResult& result, std::vector<int>& left);
  void finish_on_cpu(const MotionBatch& batch, const std::vector<int>& left, BatchResult& result);

  std::shared_ptr<Gpu> gpu_;
  EnsembleOptions options_;
  VariedParameters parameters_;
  int n_;
  Gpu::Kernel step_, violation_;
  std::unique_ptr<MotionRunner> cpu_;
  double kernel_seconds_ = 0.0;
  std::vector<double> rows_;  ///< on this side
  std::vector<std::uint32_t> done_;
};

struct GpuRunnerResult {
  std::unique_ptr<MotionRunner> made;
  std::string reason;  ///< why not, in words
};

/// Where make_lane_runner() makes one, which then does what is left over. Throws GpuError.
GpuRunnerResult make_gpu_runner(std::shared_ptr<Gpu> gpu, const System& system, const State& nominal,
                                const EnsembleOptions& options, const LaneOptions& lanes = {});

}  // namespace mechanician
