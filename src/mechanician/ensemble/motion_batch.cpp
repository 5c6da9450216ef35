#include "mechanician/ensemble/motion_batch.hpp"

#include <limits>

namespace mechanician {

std::string_view describe(Outcome outcome) {
  switch (outcome) {
    case Outcome::done: return "done";
    case Outcome::suspect: return "suspect";
    case Outcome::stopped: return "stopped";
    case Outcome::failed: return "failed";
  }
  return "failed";
}

BatchResult::BatchResult(const MotionBatch& batch) : count(batch.count), n(batch.n) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto motions = static_cast<std::size_t>(count);
  t.assign(motions, batch.t);
  q = batch.q;
  qd = batch.qd;
  outcome.assign(motions, Outcome::failed);
  reason.resize(motions);
  steps.resize(motions);
  served.resize(motions);
  violation.assign(motions, none);
  balance.assign(motions, none);
}

}  // namespace mechanician
