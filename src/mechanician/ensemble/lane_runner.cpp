#include "mechanician/ensemble/lane_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/compile/violation_program.hpp"
#include "mechanician/ensemble/robust_step.hpp"

namespace mechanician {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool all_finite(const double* x, int count) {
  return std::all_of(x, x + count, [](double v) { return std::isfinite(v); });
}

}  // namespace

/// Motions side by side.
struct LaneRunner::Pack {
  const MotionBatch& batch;
  BatchResult& result;
  int begin = 0, used = 0;
  AlignedNumbers block;
  std::vector<double> before, vouched;
  std::vector<char> alive;                          ///< by lane
  std::vector<std::unique_ptr<RobustStep>> robust;  ///< by lane, where it was needed
};

LaneRunner::LaneRunner(const System& system, StepProgram step, VariedParameters parameters,
                       const EnsembleOptions& options, const LaneOptions& lanes)
    : system_(std::make_shared<const System>(system)),
      step_(std::move(step), lanes.code),
      parameters_(std::move(parameters)),
      violation_(make_violation_program(system.equations())),
      options_(options),
      steps_of_a_block_(lanes.steps_of_a_block) {}

void LaneRunner::run(const MotionBatch& batch, BatchResult& result) {
  parameters_.check(batch);
  const StepCount steps = options_.to > batch.t ? count_steps(batch.t, options_.to, options_.step) : StepCount{};
  const int lanes = step_.lanes(), n = batch.n;
  const auto w = at(lanes);
  Pack pack{batch, result, 0, 0, AlignedNumbers(step_.block_size()), {}, std::vector<double>(w), {}, {}};
  std::vector<double> inputs(1 + 2 * at(n) + at(batch.num_parameters));
  for (pack.begin = 0; pack.begin < batch.count; pack.begin += lanes) {
    pack.used = std::min(lanes, batch.count - pack.begin);
    pack.alive.assign(w, 1);
    pack.robust.clear(), pack.robust.resize(w);
    for (int k = 0; k < lanes; ++k) {
      // Lanes that are left over repeat the last motion.
      const std::size_t motion = at(pack.begin + std::min(k, pack.used - 1));
      const auto set = [&](int i, double x) { pack.block[at(i) * w + at(k)] = x; };
      set(0, batch.t), set(1, options_.step);
      for (int i = 0; i < n; ++i)
        set(2 + i, batch.q[motion * at(n) + at(i)]), set(2 + n + i, batch.qd[motion * at(n) + at(i)]);
      int next = 2 + 2 * n;
      for (const int p : parameters_.varied()) set(next++, batch.parameters[motion * at(batch.num_parameters) + at(p)]);
    }
    for (std::int64_t first = 0; first < steps.whole; batch.go_on(), first += steps_of_a_block_)
      advance(pack, first, std::min<std::int64_t>(steps_of_a_block_, steps.whole - first));
    if (steps.rest > 0.0) {
      std::fill_n(pack.block.begin(), w, std::fma(static_cast<double>(steps.whole), options_.step, batch.t));
      std::fill_n(pack.block.begin() + static_cast<std::ptrdiff_t>(w), w, steps.rest);
      advance(pack, 0, 1);
    }
    for (int k = 0; k < pack.used; ++k) {
      const std::size_t motion = at(pack.begin + k);
      for (int i = 0; i < n; ++i) {
        result.q[motion * at(n) + at(i)] = pack.block[at(2 + i) * w + at(k)];
        result.qd[motion * at(n) + at(i)] = pack.block[at(2 + n + i) * w + at(k)];
      }
      if (pack.alive[at(k)]) result.outcome[motion] = Outcome::done, result.t[motion] = std::max(batch.t, options_.to);
      inputs[0] = result.t[motion];
      std::copy_n(result.q.begin() + static_cast<std::ptrdiff_t>(motion * at(n)), n, inputs.begin() + 1);
      std::copy_n(result.qd.begin() + static_cast<std::ptrdiff_t>(motion * at(n)), n, inputs.begin() + 1 + n);
      std::copy_n(batch.parameters.begin() + static_cast<std::ptrdiff_t>(motion * at(batch.num_parameters)),
                  batch.num_parameters, inputs.begin() + 1 + 2 * n);
      violation_(inputs.data(), &result.violation[motion]);
      judge_fixed_steps(result, pack.begin + k);
    }
  }
}

/// Whether all lanes are alive, vouched for and finite: what is almost always so, told quickly.
bool LaneRunner::all_good(const Pack& pack, int size) const {
  const auto w = at(step_.lanes()), end = at(2 + size) * w;
  // 0·x is not a number where x is infinite or none. Several sums, which do not wait for each other.
  double zeros[8] = {}, vouched = 1.0;
  std::size_t i = 2 * w;
  for (; i + 8 <= end; i += 8)
    for (std::size_t k = 0; k < 8; ++k) zeros[k] += 0.0 * pack.block[i + k];
  for (; i < end; ++i) zeros[0] += 0.0 * pack.block[i];
  for (const double v : pack.vouched) vouched = std::min(vouched, v);
  return vouched > 0.0 && std::all_of(zeros, zeros + 8, [](double z) { return z == 0.0; }) &&
         std::find(pack.alive.begin(), pack.alive.end(), 0) == pack.alive.end();
}

void LaneRunner::advance(Pack& pack, std::int64_t first, std::int64_t count) {
  const int lanes = step_.lanes(), size = 2 * pack.batch.n;
  const auto w = at(lanes);
  pack.before.assign(pack.block.begin() + static_cast<std::ptrdiff_t>(2 * w),
                     pack.block.begin() + static_cast<std::ptrdiff_t>(at(2 + size) * w));
  step_.advance(pack.block.data(), first, count, pack.vouched.data());
  if (all_good(pack, size)) {
    for (int k = 0; k < pack.used; ++k) pack.result.steps[at(pack.begin + k)] += count;
    return;
  }
  std::vector<double> state(at(size));
  const auto gather = [&](const double* from, int k) {
    for (int i = 0; i < size; ++i) state[at(i)] = from[at(i) * w + at(k)];
  };
  // Whom to serve first: serving uses the block.
  std::vector<int> left;
  for (int k = 0; k < pack.used; ++k) {
    if (!pack.alive[at(k)]) {
      for (int i = 0; i < size; ++i) pack.block[at(2 + i) * w + at(k)] = pack.before[at(i) * w + at(k)];
      continue;
    }
    gather(pack.block.data() + 2 * w, k);
    if (pack.vouched[at(k)] > 0.0 && all_finite(state.data(), size))
      pack.result.steps[at(pack.begin + k)] += count;
    else
      left.push_back(k);
  }
  for (const int k : left) {
    gather(pack.before.data(), k);
    serve(pack, k, state.data(), first, count);
  }
}

void LaneRunner::serve(Pack& pack, int lane, const double* state, std::int64_t first, std::int64_t count) {
  const int size = 2 * pack.batch.n;
  const auto w = at(step_.lanes()), motion = at(pack.begin + lane);
  // The same code with this motion in every lane.
  AlignedNumbers alone(step_.block_size());
  std::vector<double> vouched(w), x(state, state + size), tried(at(size));
  for (std::size_t i = 0; i < alone.size() / w; ++i)
    std::fill_n(alone.begin() + static_cast<std::ptrdiff_t>(i * w), w, pack.block[i * w + at(lane)]);
  const double t0 = alone[0], h = alone[w];
  for (std::int64_t step = first; step < first + count && pack.alive[at(lane)]; ++step) {
    for (int i = 0; i < size; ++i) std::fill_n(alone.begin() + static_cast<std::ptrdiff_t>(at(2 + i) * w), w, x[at(i)]);
    step_.advance(alone.data(), step, 1, vouched.data());
    for (int i = 0; i < size; ++i) tried[at(i)] = alone[at(2 + i) * w];
    if (vouched[0] > 0.0 && all_finite(tried.data(), size)) {
      x = tried;
      ++pack.result.steps[motion];
      continue;
    }
    std::unique_ptr<RobustStep>& robust = pack.robust[at(lane)];
    const auto p = at(pack.batch.num_parameters);
    const auto parameters = pack.batch.parameters.begin() + static_cast<std::ptrdiff_t>(motion * p);
    const double t = std::fma(static_cast<double>(step), h, t0);
    std::string trouble = "the acceleration has no finite or no unique value";
    bool ok = false;
    try {
      if (!robust)
        robust = std::make_unique<RobustStep>(
            *system_, std::vector<double>(parameters, parameters + static_cast<std::ptrdiff_t>(p)));
      ok = robust->advance(t, h, x.data());
    } catch (const std::exception& e) {  // parameters that make no system: this motion's own affair
      trouble = e.what();
    }
    if (ok) {
      ++pack.result.steps[motion], ++pack.result.served[motion];
      continue;
    }
    pack.alive[at(lane)] = 0;
    pack.result.t[motion] = t;
    pack.result.outcome[motion] = Outcome::failed;
    pack.result.reason[motion] = fmt::format("at t = {}: {}", short_number(t), trouble);
  }
  for (int i = 0; i < size; ++i) pack.block[at(2 + i) * w + at(lane)] = x[at(i)];
}

LaneRunnerResult make_lane_runner(const System& system, const State& nominal, const EnsembleOptions& options,
                                  const LaneOptions& lanes) {
  if (system.has_contacts()) return {nullptr, "contacts need an adaptive method"};
  for (const Event& e : system.model().events)
    if (e.action == EventAction::stop) return {nullptr, "events that stop need an adaptive method"};
  const RowsLeftOut dependent = find_dependent_rows(system, nominal);
  if (dependent.doubtful) return {nullptr, nearly_dependent};
  const ProgramOptions programs = make_lane_options(system, nominal, dependent, lanes.varied);
  StepProgramResult step = make_step_program(system.equations(), programs);
  if (!step.made) return {nullptr, step.reason};
  // Where even the nominal start is not vouched for, nothing is gained.
  std::vector<double> inputs{nominal.t, options.step}, registers(at(step.made->program.num_registers())),
      outputs(step.made->program.outputs.size());
  inputs.insert(inputs.end(), programs.reference.begin() + 1, programs.reference.end());
  step.made->program.evaluate(inputs.data(), registers.data(), outputs.data());
  if (!(outputs.back() > 0.0)) return {nullptr, "compiled code does not vouch for the start of the model"};
  return {
      std::make_unique<LaneRunner>(system, std::move(*step.made), VariedParameters(system, programs), options, lanes),
      {}};
}

}  // namespace mechanician
