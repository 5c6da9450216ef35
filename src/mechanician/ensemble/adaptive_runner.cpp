#include "mechanician/ensemble/adaptive_runner.hpp"

#include <algorithm>
#include <utility>

#include "mechanician/ensemble/adaptive_pack.hpp"

namespace mechanician {

namespace {

class AdaptiveRunner : public MotionRunner {
 public:
  AdaptiveRunner(AdaptiveCode code, std::optional<AdaptiveCode> wider, VariedParameters parameters,
                 const EnsembleOptions& options, std::unique_ptr<MotionRunner> single)
      : code_(std::move(code)),
        wider_(std::move(wider)),
        parameters_(std::move(parameters)),
        options_(options),
        single_(std::move(single)) {}

  std::unique_ptr<MotionRunner> clone() const override {
    return std::make_unique<AdaptiveRunner>(code_, wider_, parameters_, options_, single_->clone());
  }
  int lanes() const override { return wider_ ? wider_->lanes : code_.lanes; }
  int preferred_batch() const override { return 32 * lanes(); }
  std::string_view device() const override { return "cpu"; }

  void run(const MotionBatch& batch, BatchResult& result) override {
    parameters_.check(batch);
    std::vector<int> left;
    if (options_.to > batch.t) {
      run_lanes(wider_ && is_ready(*wider_) ? *wider_ : code_, batch, result, left);
    } else {
      for (int i = 0; i < batch.count; ++i) left.push_back(i);
    }
    std::sort(left.begin(), left.end());
    finish_single(batch, left, result);
  }

 private:
  /// Any code gives the same bits.
  void run_lanes(AdaptiveCode& code, const MotionBatch& batch, BatchResult& result, std::vector<int>& left) {
    AdaptivePack pack(code, options_), waiting(code, options_);
    const int count = code.lanes;
    std::vector<int> motions(static_cast<std::size_t>(count), -1);
    int next = 0, ready = count;  // waiting lanes before `ready` are gone
    const auto refill = [&](int l) {
      for (;;) {
        for (; ready < count; ++ready) {
          const AdaptivePack::Lane& lane = waiting.lanes[static_cast<std::size_t>(ready)];
          if (lane.motion < 0) continue;
          if (lane.fate != AdaptivePack::Fate::running) {
            left.push_back(lane.motion);
            continue;
          }
          pack.take(l, waiting, ready++);
          return true;
        }
        if (next >= batch.count) return false;
        for (int& motion : motions) motion = next < batch.count ? next++ : -1;
        waiting.begin(batch, parameters_.varied(), motions);
        ready = 0;
      }
    };
    int running = 0;
    for (int l = 0; l < count; ++l) running += refill(l) ? 1 : 0;
    while (running > 0) {
      pack.advance();
      for (int l = 0; l < count; ++l) {
        AdaptivePack::Lane& lane = pack.lanes[static_cast<std::size_t>(l)];
        if (lane.motion < 0 || lane.fate == AdaptivePack::Fate::running) continue;
        if (lane.fate == AdaptivePack::Fate::done)
          keep(pack, l, result);
        else
          left.push_back(lane.motion);
        lane.motion = -1;
        if (!refill(l)) --running;
      }
    }
  }

  void keep(const AdaptivePack& pack, int l, BatchResult& result) const {
    const AdaptivePack::Lane& lane = pack.lanes[static_cast<std::size_t>(l)];
    const auto motion = static_cast<std::size_t>(lane.motion), n = static_cast<std::size_t>(result.n),
               count = pack.lanes.size();
    for (std::size_t i = 0; i < n; ++i) {
      result.q[motion * n + i] = pack.y[i * count + static_cast<std::size_t>(l)];
      result.qd[motion * n + i] = pack.y[(n + i) * count + static_cast<std::size_t>(l)];
    }
    result.t[motion] = lane.t;
    result.outcome[motion] = Outcome::done;
    result.steps[motion] = lane.steps;
    result.violation[motion] = lane.violation;
    result.balance[motion] = lane.balance_largest / lane.balance_allowed;
  }

  void finish_single(const MotionBatch& batch, const std::vector<int>& left, BatchResult& result) {
    const auto n = static_cast<std::ptrdiff_t>(batch.n), p = static_cast<std::ptrdiff_t>(batch.num_parameters);
    for (const int i : left) {
      MotionBatch one;
      one.count = 1, one.n = batch.n, one.num_parameters = batch.num_parameters, one.t = batch.t;
      one.q.assign(batch.q.begin() + i * n, batch.q.begin() + (i + 1) * n);
      one.qd.assign(batch.qd.begin() + i * n, batch.qd.begin() + (i + 1) * n);
      one.parameters.assign(batch.parameters.begin() + i * p, batch.parameters.begin() + (i + 1) * p);
      BatchResult of_one(one);
      single_->run(one, of_one);
      const auto at = static_cast<std::size_t>(i);
      std::copy(of_one.q.begin(), of_one.q.end(), result.q.begin() + i * n);
      std::copy(of_one.qd.begin(), of_one.qd.end(), result.qd.begin() + i * n);
      result.t[at] = of_one.t[0], result.outcome[at] = of_one.outcome[0], result.reason[at] = of_one.reason[0];
      result.steps[at] = of_one.steps[0], result.served[at] = of_one.steps[0];
      result.violation[at] = of_one.violation[0], result.balance[at] = of_one.balance[0];
    }
  }

  AdaptiveCode code_;
  std::optional<AdaptiveCode> wider_;
  VariedParameters parameters_;
  EnsembleOptions options_;
  std::unique_ptr<MotionRunner> single_;
};

}  // namespace

LaneRunnerResult make_adaptive_runner(const System& system, const State& nominal, const EnsembleOptions& options,
                                      std::unique_ptr<MotionRunner> single, const LaneOptions& lanes) {
  if (options.adaptive == Method::bdf) return {nullptr, "the implicit method"};
  if (system.has_contacts()) return {nullptr, "contacts"};
  const RowsLeftOut dependent = find_dependent_rows(system, nominal);
  const ProgramOptions programs = make_lane_options(system, nominal, dependent, lanes.varied);
  AdaptiveCodeResult code = make_adaptive_code(system, programs, dependent, lanes.code.lanes);
  if (!code.made) return {nullptr, code.reason};
  return {std::make_unique<AdaptiveRunner>(std::move(*code.made), std::move(code.wider),
                                           VariedParameters(system, programs), options, std::move(single)),
          {}};
}

}  // namespace mechanician
