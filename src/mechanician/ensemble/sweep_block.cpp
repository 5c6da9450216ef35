#include "mechanician/ensemble/sweep_block.hpp"

#include <algorithm>
#include <limits>

namespace mechanician {

BlockMaker::BlockMaker(const System& system, std::shared_ptr<const SamplePlan> plan, SampleStarts starts,
                       const std::vector<std::string>& keep, std::unique_ptr<MotionRunner> runner)
    : plan_(std::move(plan)),
      starts_(std::move(starts)),
      kept_(system, keep),
      runner_(std::move(runner)),
      n_(system.n()),
      num_parameters_(static_cast<int>(system.parameters().size())),
      num_summary_(kept_.keeps_summary() ? system.summary().size() : 0) {
  for (const std::string& name : plan_->names()) factors_.push_back(in_si(system.units(), name, 1.0));
}

BlockMaker::BlockMaker(const BlockMaker& other)
    : plan_(other.plan_),
      starts_(other.starts_),
      kept_(other.kept_),
      runner_(other.runner_->clone()),
      n_(other.n_),
      num_parameters_(other.num_parameters_),
      num_summary_(other.num_summary_),
      factors_(other.factors_) {}

SweepBlock BlockMaker::make(MotionRange range, const std::atomic<bool>* abandon) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<std::size_t>(range.count), n = static_cast<std::size_t>(n_),
             num = static_cast<std::size_t>(num_parameters_);
  const std::size_t names = plan_->names().size(), num_kept = kept_.names().size();
  SweepBlock block;
  block.first = range.first;
  block.samples.resize(count * names);
  block.kept.assign(count * num_kept, none);

  // Starts of all motions; those that can begin are handed on without gaps.
  MotionBatch all{.count = static_cast<int>(count),
                  .num_parameters = num_parameters_,
                  .n = n_,
                  .t = starts_.time(),
                  .parameters = {},
                  .q = {},
                  .qd = {}};
  all.abandon = abandon;
  all.parameters.resize(count * num), all.q.resize(count * n), all.qd.resize(count * n);
  std::vector<std::string> trouble(count);
  MotionBatch batch = all;
  std::vector<std::size_t> which;
  const auto copy_row = [](const std::vector<double>& from, std::size_t i, std::vector<double>& to, std::size_t j,
                           std::size_t size) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                to.begin() + static_cast<std::ptrdiff_t>(j * size));
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<double> sample(block.samples.data() + i * names, names);
    plan_->fill(range.first + static_cast<std::int64_t>(i), sample);
    for (std::size_t k = 0; k < names; ++k) sample[k] *= factors_[k];
  }
  starts_.make(block.samples, all.count, all.parameters.data(), all.q.data(), all.qd.data(), trouble.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (!trouble[i].empty()) continue;
    copy_row(all.parameters, i, batch.parameters, which.size(), num);
    copy_row(all.q, i, batch.q, which.size(), n);
    copy_row(all.qd, i, batch.qd, which.size(), n);
    which.push_back(i);
  }
  batch.count = static_cast<int>(which.size());
  batch.parameters.resize(which.size() * num), batch.q.resize(which.size() * n), batch.qd.resize(which.size() * n);
  const std::size_t num_summary = num_summary_;
  BatchResult made(batch, static_cast<int>(num_summary));
  if (batch.count > 0) runner_->run(batch, made);

  BatchResult& result = block.result;
  result = BatchResult(all);
  result.reason = std::move(trouble);
  for (std::size_t j = 0; j < which.size(); ++j) {
    const std::size_t i = which[j];
    result.t[i] = made.t[j];
    copy_row(made.q, j, result.q, i, n);
    copy_row(made.qd, j, result.qd, i, n);
    result.outcome[i] = made.outcome[j];
    result.reason[i] = std::move(made.reason[j]);
    result.steps[i] = made.steps[j], result.served[i] = made.served[j], result.events[i] = made.events[j];
    result.violation[i] = made.violation[j], result.balance[i] = made.balance[j];
    if (num_kept > 0 && result.outcome[i] != Outcome::failed && !made.ends.empty())
      kept_.take(made.ends[j], made.summary.data() + j * num_summary, block.kept.data() + i * num_kept);
    else if (num_kept > 0 && result.outcome[i] != Outcome::failed)
      kept_.calc(all.parameters.data() + i * num, result.t[i], result.q.data() + i * n, result.qd.data() + i * n,
                 made.summary.data() + j * num_summary, block.kept.data() + i * num_kept);
  }
  return block;
}

}  // namespace mechanician
