#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/ensemble/kept_values.hpp"
#include "mechanician/ensemble/make_runner.hpp"
#include "mechanician/ensemble/sweep.hpp"
#include "mechanician/instant/joint_starts.hpp"
#include "mechanician/library/instant_answer.hpp"
#include "mechanician/library/motion_answer.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

namespace {

EnsembleOptions options_of(const System& system, double begin, const SweepRequest& request) {
  const RunSettings& stated = system.run_settings();
  EnsembleOptions options;
  if (!request.to && !stated.to)
    throw std::invalid_argument("nothing says how long the motions are to be: give `to`, or write it in [run]");
  options.to = request.to ? *request.to : *stated.to;
  if (!(options.to > begin))
    throw std::invalid_argument(fmt::format("the motions would end at t = {}, but they start at t = {}",
                                            short_number(options.to), short_number(begin)));
  options.tolerance = request.tolerance.value_or(stated.tolerance);
  if (!(options.tolerance >= 1e-15 && options.tolerance <= 0.1))
    throw std::invalid_argument("tolerance: it is from 1e-15 to 0.1");
  const std::string method = request.method.value_or(stated.method);
  if (method == "rk4") {
    options.method = EnsembleMethod::rk4;
    if (!request.step || !(*request.step > 0.0))
      throw std::invalid_argument("method rk4 needs a step that is positive");
    options.step = *request.step;
    return options;
  }
  if (request.step) throw std::invalid_argument("step is for rk4: adaptive methods choose their steps");
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

std::shared_ptr<const SamplePlan> plan_of(const SweepRequest& request) {
  std::vector<Variation> variations;
  SampleTable table;
  for (const auto& [name, values] : request.vary) {
    if (values.empty()) throw std::invalid_argument(fmt::format("vary: `{}` has no values", name));
    variations.push_back({.name = name, .kind = Variation::Kind::list, .values = values});
    table.names.push_back(name);
    if (request.pairs && values.size() != request.vary.front().second.size())
      throw std::invalid_argument("vary: pairs have as many values of each name");
  }
  if (!request.pairs) return std::make_shared<const SamplePlan>(std::move(variations), SampleOptions{});
  for (std::size_t k = 0; k < request.vary.front().second.size(); ++k)
    for (const auto& [name, values] : request.vary) table.values.push_back(values[k]);
  return std::make_shared<const SamplePlan>(std::move(table));
}

void take(const SweepBlock& block, std::size_t num_samples, std::size_t n, std::size_t num_kept, SweepAnswer& to) {
  const std::size_t width = to.columns.size();
  for (std::size_t i = 0; i < static_cast<std::size_t>(block.result.count); ++i) {
    const std::size_t motion = static_cast<std::size_t>(block.first) + i;
    double* at = to.rows.data() + motion * width;
    at = std::copy_n(block.samples.data() + i * num_samples, num_samples, at);
    *at++ = block.result.t[i];
    at = std::copy_n(block.result.q.data() + i * n, n, at);
    at = std::copy_n(block.result.qd.data() + i * n, n, at);
    at = std::copy_n(block.kept.data() + i * num_kept, num_kept, at);
    *at++ = static_cast<double>(block.result.steps[i]);
    *at++ = block.result.violation[i];
    *at++ = block.result.balance[i];
    to.outcomes[motion] = describe(block.result.outcome[i]);
    if (!block.result.reason[i].empty())
      to.reasons.emplace_back(static_cast<std::int64_t>(motion), block.result.reason[i]);
  }
  to.computed += block.result.count;
}

}  // namespace

std::vector<double> SweepAnswer::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) throw std::out_of_range(fmt::format("there is no column `{}`", name));
  std::vector<double> values;
  for (auto k = static_cast<std::size_t>(found - columns.begin()); k < rows.size(); k += columns.size())
    values.push_back(rows[k]);
  return values;
}

SweepAnswer System::sweep(const SweepRequest& request) const {
  if (request.vary.empty()) throw std::invalid_argument("nothing is varied");
  const System system(model(), parameters());
  const State nominal = start_of(system, request.position, request.velocity, request.time);
  EnsembleOptions options = options_of(system, nominal.t, request);
  const KeptValues kept(system, request.keep);
  options.summarise = kept.keeps_summary(), options.summarise_only = kept.summary_kept(system.summary().size());
  const auto plan = plan_of(request);
  // A motion begins where its parameters put the bodies; joints that are constraints follow.
  Values position = request.position, velocity = request.velocity;
  if (start_with_joints(system, position, velocity))
    throw std::invalid_argument(
        "starts of joints that are constraints stand in [start] of the model, made of parameters");
  for (const std::string& name : plan->names())
    if (name.find('.') != std::string::npos && ties_bodies(model().places) &&
        find_coordinate(name.ends_with('\'') ? name.substr(0, name.size() - 1) : name) >= 0)
      throw std::invalid_argument(
          fmt::format("`{}` is tied to bodies that begin elsewhere: vary a parameter that [start] gives it by", name));
  SampleStarts starts(system_at_start(system), plan->names(),
                      {.parameters = ParameterOverrides(given_.begin(), given_.end()),
                       .position = request.position,
                       .velocity = request.velocity,
                       .time = request.time,
                       .as_given = request.as_given});
  auto runner =
      make_runner(system, nominal, options,
                  {.device = device_of(request.device), .varied = starts.changing(), .motions = plan->count()});
  const BlockMaker maker(system, plan, std::move(starts), request.keep, std::move(runner));

  SweepAnswer answer;
  for (const std::string& name : plan->names()) {
    const bool is_start = system.find_coordinate(name.ends_with('\'') ? name.substr(0, name.size() - 1) : name) >= 0;
    answer.columns.push_back(is_start ? fmt::format("start({})", name) : name);
  }
  const std::size_t num_samples = answer.columns.size();
  answer.columns.emplace_back("t");
  for (int i = 0; i < system.n(); ++i) answer.columns.push_back(system.coordinate(i));
  for (int i = 0; i < system.n(); ++i) answer.columns.push_back(system.coordinate(i) + "'");
  answer.columns.insert(answer.columns.end(), maker.kept_names().begin(), maker.kept_names().end());
  answer.columns.insert(answer.columns.end(), {"steps", "violation", "balance"});
  const auto motions = static_cast<std::size_t>(plan->count());
  answer.rows.assign(answer.columns.size() * motions, std::numeric_limits<double>::quiet_NaN());
  answer.outcomes.assign(motions, "not computed");

  Work work(plan->count(), {}, preferred_block(maker.runner(), plan->count()));
  run_sweep(
      maker, work, {.threads = request.threads, .motions = plan->count()},
      [&](const SweepBlock& block) {
        take(block, num_samples, static_cast<std::size_t>(system.n()), maker.kept_names().size(), answer);
      },
      [&](const SweepProgress& progress) {
        return !request.progress || request.progress(progress.now.motions, progress.motions);
      });
  std::sort(answer.reasons.begin(), answer.reasons.end());
  return answer;
}

}  // namespace mechanician
