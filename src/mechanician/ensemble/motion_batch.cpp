#include "mechanician/ensemble/motion_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"

namespace mechanician {

std::string_view describe(Outcome outcome) {
  switch (outcome) {
    case Outcome::done:
      return "done";
    case Outcome::suspect:
      return "suspect";
    case Outcome::stopped:
      return "stopped";
    case Outcome::failed:
      return "failed";
  }
  return "failed";
}

BatchResult::BatchResult(const MotionBatch& batch, int followed)
    : count(batch.count), n(batch.n), num_summary(followed) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto motions = static_cast<std::size_t>(count);
  t.assign(motions, batch.t);
  q = batch.q;
  qd = batch.qd;
  outcome.assign(motions, Outcome::failed);
  reason.resize(motions);
  steps.resize(motions);
  served.resize(motions);
  events.resize(motions);
  violation.assign(motions, none);
  balance.assign(motions, none);
  summary.assign(motions * static_cast<std::size_t>(num_summary), none);
}

StepCount count_steps(double t, double to, double step) {
  const double ratio = (to - t) / step;
  // A rest that is rounding of the ratio is none.
  const double whole = std::floor(ratio + 8 * std::numeric_limits<double>::epsilon() * std::max(1.0, ratio));
  if (whole == 0.0) return {0, to - t};  // a step that is longer than all of it
  const double rest = to - std::fma(whole, step, t);
  return {static_cast<std::int64_t>(whole),
          rest > 8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(to), step) ? rest : 0.0};
}

void judge_fixed_steps(BatchResult& result, int motion) {
  const auto k = static_cast<std::size_t>(motion), n = static_cast<std::size_t>(result.n);
  if (result.outcome[k] != Outcome::done) return;
  double size = 1.0;
  for (std::size_t i = k * n; i < (k + 1) * n; ++i) size = std::max(size, std::abs(result.q[i]));
  if (result.violation[k] <= 1e-3 * size) return;
  result.outcome[k] = Outcome::suspect;
  result.reason[k] = fmt::format("the constraints are off by {} at the end: smaller steps, or an adaptive method",
                                 short_number(result.violation[k]));
}

}  // namespace mechanician
