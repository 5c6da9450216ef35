#pragma once

/// Motions of fixed steps on a GPU: one in each thread, its state in registers.
///
/// The step is the program that also runs in lanes on the processor (step_program.hpp), so both agree to rounding. A motion whose
/// step the program cannot vouch for is done on the processor, from its start; `cpu` does it.

#include <memory>

#include "mechanician/compile/step_program.hpp"
#include "mechanician/ensemble/gpu.hpp"
#include "mechanician/ensemble/motion_batch.hpp"

namespace mechanician {

class GpuRunner : public MotionRunner {
 public:
  /// `violation` (violation_program.hpp) has the parameters that `step` has: all as inputs, or none. Throws GpuError.
  GpuRunner(std::shared_ptr<Gpu> gpu, const StepProgram& step, const Program& violation, const EnsembleOptions& options,
            std::unique_ptr<MotionRunner> cpu);

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
  int n_, num_parameters_;
  Gpu::Kernel step_, violation_;
  std::unique_ptr<MotionRunner> cpu_;
  double kernel_seconds_ = 0.0;
  std::vector<double> rows_;          ///< on this side
  std::vector<std::uint32_t> done_;
};

/// Whole steps from t to `to`, and the shorter one at the end: 0 where there is none.
struct StepCount {
  std::int64_t whole = 0;
  double rest = 0.0;
};
StepCount count_steps(double t, double to, double step);

}  // namespace mechanician
