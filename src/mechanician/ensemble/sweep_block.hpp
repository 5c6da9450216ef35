#pragma once

/// A stretch of motions of a sweep: from samples to results. What is computed, distributed, written and taken up again in one piece.

#include <memory>
#include <vector>

#include "mechanician/ensemble/kept_values.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/ensemble/sample_starts.hpp"
#include "mechanician/ensemble/samples.hpp"

namespace mechanician {

/// Motions first … first + count − 1 of a sweep.
struct MotionRange {
  std::int64_t first = 0, count = 0;
};

struct SweepBlock {
  std::int64_t first = 0;
  std::vector<double> samples;  ///< count × names
  std::vector<double> kept;     ///< count × kept names
  BatchResult result;
};

/// One per thread. A motion that cannot begin is a failed one with a reason.
class BlockMaker {
 public:
  /// `starts`: of the names of the plan.
  BlockMaker(const System& system, std::shared_ptr<const SamplePlan> plan, SampleStarts starts,
             const std::vector<std::string>& keep, std::unique_ptr<MotionRunner> runner);
  BlockMaker(const BlockMaker& other);

  double time() const { return starts_.time(); }
  const MotionRunner& runner() const { return *runner_; }
  const std::vector<std::string>& kept_names() const { return kept_.names(); }
  SweepBlock make(MotionRange range, const std::atomic<bool>* abandon = nullptr);  ///< abandon: as in MotionBatch

 private:
  std::shared_ptr<const SamplePlan> plan_;
  SampleStarts starts_;
  KeptValues kept_;
  std::unique_ptr<MotionRunner> runner_;
  int n_ = 0, num_parameters_ = 0;
  std::size_t num_summary_ = 0;  ///< numbers of [summary] that are followed
  std::vector<double> factors_;  ///< of the names of the plan, to SI
};

}  // namespace mechanician
