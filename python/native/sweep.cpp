#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/ensemble/make_runner.hpp"
#include "mechanician/ensemble/sweep.hpp"

namespace mechanician::python {

namespace {

EnsembleOptions options_of(const System& system, double begin, const SweepWishes& wishes) {
  const RunSettings& stated = system.run_settings();
  EnsembleOptions options;
  if (!wishes.to && !stated.to)
    throw std::invalid_argument("nothing says how long the motions are to be: give `to`, or write it in [run]");
  options.to = wishes.to ? *wishes.to : *stated.to;
  if (!(options.to > begin))
    throw std::invalid_argument(fmt::format("the motions would end at t = {}, but they start at t = {}",
                                            short_number(options.to), short_number(begin)));
  options.tolerance = wishes.tolerance.value_or(stated.tolerance);
  if (!(options.tolerance >= 1e-15 && options.tolerance <= 0.1))
    throw std::invalid_argument("tolerance: it is from 1e-15 to 0.1");
  const std::string method = wishes.method.value_or(stated.method);
  if (method == "rk4") {
    options.method = EnsembleMethod::rk4;
    if (!wishes.step || !(*wishes.step > 0.0)) throw std::invalid_argument("method rk4 needs a step that is positive");
    options.step = *wishes.step;
    return options;
  }
  if (wishes.step) throw std::invalid_argument("step is for rk4: adaptive methods choose their steps");
  const std::optional<Method> known = method_of(method);
  if (!known) throw std::invalid_argument(fmt::format("method is `{}`: it is rk4, auto, dop853 or bdf", method));
  options.adaptive = *known;
  return options;
}

Device device_of(const std::string& name) {
  for (const Device device : {Device::automatic, Device::cpu, Device::gpu})
    if (name == name_of(device)) return device;
  throw std::invalid_argument(fmt::format("device is `{}`: it is auto, cpu or gpu", name));
}

/// Motions per block, as the command line takes them.
std::int64_t block_size(const MotionRunner& runner, std::int64_t motions) {
  if (runner.device() == "gpu") return runner.preferred_batch();
  const std::int64_t lanes = std::max(1, runner.lanes()), share = (motions + 31) / 32;
  return std::min<std::int64_t>(runner.preferred_batch(), (share + lanes - 1) / lanes * lanes);
}

}  // namespace

NativeSweep run_sweep_of(const NativeModel& model, const Start& start, const SweepWishes& wishes,
                         const std::function<bool(std::int64_t, std::int64_t)>& go_on) {
  const System system(model.system().model(), model.system().parameters());
  const State nominal = model.state(start);
  const EnsembleOptions options = options_of(system, nominal.t, wishes);
  auto plan = std::make_shared<const SamplePlan>(SampleTable{wishes.names, wishes.samples});
  SampleStarts starts(system, plan->names(),
                      {.parameters = ParameterOverrides(model.set().begin(), model.set().end()),
                       .position = start.position,
                       .velocity = start.velocity,
                       .time = start.time,
                       .as_given = wishes.as_given});
  auto runner = make_runner(
      system, nominal, options,
      {.device = device_of(wishes.device), .varied = starts.changing(), .motions = plan->count()});
  const BlockMaker maker(system, plan, std::move(starts), wishes.keep, std::move(runner));

  NativeSweep sweep;
  for (const std::string& name : plan->names()) {
    const bool is_start = system.find_coordinate(name.ends_with('\'') ? name.substr(0, name.size() - 1) : name) >= 0;
    sweep.names.push_back(is_start ? fmt::format("start({})", name) : name);
  }
  const std::size_t num_samples = sweep.names.size(), num_kept = maker.kept_names().size();
  const auto n = static_cast<std::size_t>(system.n());
  sweep.names.emplace_back("t");
  for (std::size_t i = 0; i < n; ++i) sweep.names.push_back(system.coordinate(static_cast<int>(i)));
  for (std::size_t i = 0; i < n; ++i) sweep.names.push_back(system.coordinate(static_cast<int>(i)) + "'");
  for (const std::string& name : maker.kept_names()) sweep.names.push_back(name);
  for (const char* name : {"steps", "violation", "balance"}) sweep.names.emplace_back(name);
  const std::size_t width = sweep.names.size();
  sweep.values.assign(width * static_cast<std::size_t>(plan->count()), std::numeric_limits<double>::quiet_NaN());
  sweep.outcomes.assign(static_cast<std::size_t>(plan->count()), "not computed");

  Work work(plan->count(), {}, block_size(maker.runner(), plan->count()));
  const auto take = [&](const SweepBlock& block) {
    for (int k = 0; k < block.result.count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const auto motion = static_cast<std::size_t>(block.first) + i;
      double* to = sweep.values.data() + motion * width;
      to = std::copy_n(block.samples.data() + i * num_samples, num_samples, to);
      *to++ = block.result.t[i];
      to = std::copy_n(block.result.q.data() + i * n, n, to);
      to = std::copy_n(block.result.qd.data() + i * n, n, to);
      to = std::copy_n(block.kept.data() + i * num_kept, num_kept, to);
      *to++ = static_cast<double>(block.result.steps[i]);
      *to++ = block.result.violation[i];
      *to++ = block.result.balance[i];
      sweep.outcomes[motion] = describe(block.result.outcome[i]);
      if (!block.result.reason[i].empty())
        sweep.reasons.emplace_back(static_cast<std::int64_t>(motion), block.result.reason[i]);
    }
    sweep.computed += block.result.count;
  };
  run_sweep(maker, work, {.threads = wishes.threads, .motions = plan->count()}, take,
            [&](const SweepProgress& progress) { return go_on(progress.now.motions, progress.motions); });
  std::sort(sweep.reasons.begin(), sweep.reasons.end());
  return sweep;
}

}  // namespace mechanician::python
