#include "mechanician/compile/step_function.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "mechanician/compile/code_cache.hpp"
#include "mechanician/compile/compile_queue_internal.hpp"
#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/object_file.hpp"
#include "mechanician/compile/program_order.hpp"
#include "mechanician/compile/x86_code.hpp"

namespace mechanician {

namespace {

// Beyond this a step is many functions, and the state goes through memory: LLVM's time grows faster than the program.
constexpr std::size_t most_steps_of_a_loop = 2500;
// Up to this, two groups of lanes side by side fill the time that one waits.
constexpr std::size_t most_steps_of_two_groups = 1000;
constexpr int quick_lanes = 4;

}  // namespace

int widest_lanes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return 8;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 4;
#endif
  return 1;
}

struct StepFunction::Shared : std::enable_shared_from_this<StepFunction::Shared> {
  Shared(StepProgram s, const StepFunctionOptions& o) : step(std::move(s)), options(o) {
    const std::size_t size = step.program.steps.size();
    lanes = options.lanes;
    if (lanes == 0)
      lanes = size <= most_steps_of_two_groups ? 2 * widest_lanes() : std::max(quick_lanes, widest_lanes());
    looped = size <= most_steps_of_a_loop;
    objects = {.level = CodeLevel::optimised, .lanes = lanes, .carried = looped ? 2 * step.n : 0};
    ordered = with_calls_first(step.program);
  }

  StepProgram step;
  const StepFunctionOptions options;
  int lanes = 1;
  bool looped = false;
  ObjectOptions objects;
  Program ordered;
  const CodeCache cache;

  std::atomic<const MachineCode*> best{nullptr};        ///< LLVM's
  std::shared_ptr<const MachineCode> quick, optimised;  ///< of quick_lanes, one step; of all lanes, as `objects` says
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;

  bool take(const std::vector<std::string>& compiled) {
    std::shared_ptr<const MachineCode> made = load_objects(compiled);
    if (!made) return false;
    const std::lock_guard lock(mutex);
    optimised = std::move(made);
    best.store(optimised.get(), std::memory_order_release);
    return true;
  }
  bool look_up() {
    if (!options.cache) return false;
    const auto found = cache.find(code_key(ordered, objects));
    return found && take(*found);
  }
  void finish() {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_all();
  }
  void compile(const CompileQueue::Abandon& abandon) {
    if (const auto compiled = compile_objects(ordered, objects, abandon))
      if (take(*compiled) && options.cache) cache.keep(code_key(ordered, objects), *compiled);
    finish();
  }
  void start() {
    if (options.tier == TierPolicy::interpreter) return finish();
    if (options.tier != TierPolicy::quick && !compiler_version().empty() && look_up()) return finish();
    quick = make_x86_code(ordered, quick_lanes);
    if (options.tier == TierPolicy::quick || compiler_version().empty()) return finish();
    if (!options.background) return compile({});
    CompileQueue::instance().compile_later(shared_from_this());
  }
};

StepFunction::StepFunction(StepProgram step, const StepFunctionOptions& options)
    : shared_(std::make_shared<Shared>(std::move(step), options)) {
  CompileQueue::watch_this_thread();
  shared_->start();
  const Program& p = shared_->step.program;
  const auto lanes = static_cast<std::size_t>(std::max(shared_->lanes, quick_lanes));
  outputs_.resize(lanes * p.outputs.size());
  scratch_.resize(scratch_bound(p, static_cast<int>(lanes)));
  part_.resize(lanes * static_cast<std::size_t>(p.num_inputs));
}

StepFunction::StepFunction(const StepFunction& other)
    : shared_(other.shared_),
      outputs_(other.outputs_.size()),
      scratch_(other.scratch_.size()),
      part_(other.part_.size()) {}

StepFunction& StepFunction::operator=(const StepFunction& other) {
  StepFunction copy(other);
  return *this = std::move(copy);
}

StepFunction::~StepFunction() = default;

const StepProgram& StepFunction::step() const { return shared_->step; }
int StepFunction::lanes() const { return shared_->lanes; }
std::size_t StepFunction::block_size() const {
  return static_cast<std::size_t>(shared_->lanes) * (static_cast<std::size_t>(shared_->step.program.num_inputs) + 2);
}

void StepFunction::advance(double* block, std::int64_t first, std::int64_t count, double* vouched) {
  assert(shared_ && count >= 1);
  const Shared& s = *shared_;
  const MachineCode* const code = s.best.load(std::memory_order_acquire);
  if (code && s.looped) return advance_looped(*code, block, first, count, vouched);
  if (code) return advance_by_steps(code, s.lanes, block, first, count, vouched);
  advance_by_steps(s.quick.get(), s.quick ? quick_lanes : 1, block, first, count, vouched);
}

void StepFunction::advance_looped(const MachineCode& code, double* block, std::int64_t first, std::int64_t count,
                                  double* vouched) {
  const auto lanes = static_cast<std::size_t>(shared_->lanes),
             at = static_cast<std::size_t>(shared_->step.program.num_inputs) * lanes,
             size = 2 * static_cast<std::size_t>(shared_->step.n) * lanes;
  std::fill_n(block + at, lanes, static_cast<double>(first));
  block[at + lanes] = std::bit_cast<double>(count);
  code.run(block, outputs_.data(), scratch_.data());
  std::copy_n(outputs_.data(), size, block + 2 * lanes);
  std::copy_n(outputs_.data() + size, lanes, vouched);
}

/// `width` lanes at a time; no code: one at a time, interpreted.
void StepFunction::advance_by_steps(const MachineCode* code, int width, double* block, std::int64_t first,
                                    std::int64_t count, double* vouched) {
  const Program& p = shared_->step.program;
  const auto lanes = static_cast<std::size_t>(shared_->lanes), w = static_cast<std::size_t>(width),
             num_inputs = static_cast<std::size_t>(p.num_inputs), size = 2 * static_cast<std::size_t>(shared_->step.n);
  for (std::size_t begin = 0; begin < lanes; begin += w) {
    const std::size_t used = std::min(w, lanes - begin);  // the last lane once more where there are fewer
    for (std::size_t i = 0; i < num_inputs; ++i)
      for (std::size_t k = 0; k < w; ++k) part_[i * w + k] = block[i * lanes + begin + std::min(k, used - 1)];
    std::fill_n(vouched + begin, used, 1.0);
    for (std::int64_t step = first; step < first + count; ++step) {
      for (std::size_t k = 0; k < w; ++k)
        part_[k] = std::fma(static_cast<double>(step), part_[w + k], block[begin + std::min(k, used - 1)]);
      if (code)
        code->run(part_.data(), outputs_.data(), scratch_.data());
      else
        p.evaluate(part_.data(), scratch_.data(), outputs_.data());
      std::copy_n(outputs_.data(), size * w, part_.data() + 2 * w);
      for (std::size_t k = 0; k < used; ++k)
        if (!(outputs_[size * w + k] > 0.0)) vouched[begin + k] = 0.0;
    }
    for (std::size_t i = 2; i < 2 + size; ++i)
      for (std::size_t k = 0; k < used; ++k) block[i * lanes + begin + k] = part_[i * w + k];
  }
}

Tier StepFunction::tier() const {
  if (shared_->best.load(std::memory_order_acquire)) return Tier::optimised;
  return shared_->quick ? Tier::quick : Tier::interpreter;
}

void StepFunction::wait() {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->done; });
}

}  // namespace mechanician
