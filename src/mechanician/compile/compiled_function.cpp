#include "mechanician/compile/compiled_function.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <limits>
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

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t evaluations_per_look = 64;

// Making quick code takes as long as some 25 evaluations by the interpreter.
constexpr double evaluations_before_quick = 16;
// LLVM takes 60 µs per step for code that is, where quick code is there, some 5 % better, and 20 times without.
constexpr double after_ms_with_quick = 1000.0, after_ms_without = 10.0;
// Reading code from the disk: some 0.3 ms.
constexpr double look_up_ms_with_quick = 20.0, look_up_ms_without = 1.0;

}  // namespace

std::string_view describe(Tier tier) {
  switch (tier) {
    case Tier::interpreter:
      return "interpreter";
    case Tier::quick:
      return "quick";
    case Tier::optimised:
      return "optimised";
  }
  return "";
}

/// What all copies of a function have in common.
struct CompiledFunction::Shared : std::enable_shared_from_this<CompiledFunction::Shared> {
  Shared(Program p, const CompileOptions& o)
      : program(std::move(p)), options(o), objects{.level = CodeLevel::optimised, .lanes = o.lanes} {}

  const Program program;  ///< as given: the interpreter does not mind the order
  const CompileOptions options;
  const ObjectOptions objects;
  const CodeCache cache;  ///< where the environment says now, not when some thread gets to it

  std::atomic<const MachineCode*> code{nullptr};  ///< what to run; null: the interpreter
  std::atomic<bool> quick_tried{false}, looked_up{false}, requested{false};

  mutable std::mutex mutex;  ///< of what follows
  std::condition_variable changed;
  bool done = false;                                    ///< nothing better will come
  std::shared_ptr<const MachineCode> quick, optimised;  ///< kept as long as this: somebody may be running them
  CompileReport report;

  /// In the order that is good for machine code; made when it is first needed.
  const Program& ordered() {
    std::call_once(ordered_once, [&] { in_order = with_long_chains_first(with_calls_first(program)); });
    return in_order;
  }
  std::once_flag ordered_once;
  Program in_order;

  bool has_quick() const {
    const std::lock_guard lock(mutex);
    return quick != nullptr;
  }

  void make_quick() {
    if (quick_tried.exchange(true)) return;
    const auto begin = Clock::now();
    std::shared_ptr<const MachineCode> made = make_x86_code(ordered(), options.lanes);
    if (!made && options.tier == TierPolicy::quick) {
      const ObjectOptions level{.level = CodeLevel::quick, .lanes = options.lanes};
      if (const auto compiled = compile_objects(ordered(), level)) made = load_objects(*compiled);
    }
    if (!made) return;
    const std::lock_guard lock(mutex);
    quick = std::move(made);
    report.quick_ms = ns_since(begin) * 1e-6;
    if (optimised) return;
    report.tier = Tier::quick;
    code.store(quick.get(), std::memory_order_release);
  }

  /// Takes over what LLVM made, if it is better.
  void install(std::shared_ptr<const MachineCode> made, Clock::time_point begin, bool from_cache) {
    const double ms = ns_since(begin) * 1e-6;
    std::shared_ptr<const MachineCode> other;
    {
      const std::lock_guard lock(mutex);
      other = quick;
    }
    const bool better = !other || options.tier == TierPolicy::optimised || is_faster(*made, *other);
    const std::lock_guard lock(mutex);
    report.optimised_ms = ms;
    report.from_cache = from_cache;
    if (!better) return;
    optimised = std::move(made);
    report.tier = Tier::optimised;
    code.store(optimised.get(), std::memory_order_release);
  }
  void finish() {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_all();
  }

  /// Both give the same numbers; which is quicker depends on the model, and is quickly measured.
  bool is_faster(const MachineCode& x, const MachineCode& y) const {
    const auto lanes = static_cast<std::size_t>(options.lanes);
    std::vector<double> inputs(static_cast<std::size_t>(program.num_inputs) * lanes, 0.4),
        outputs(program.outputs.size() * lanes), scratch(scratch_bound(program, options.lanes));
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] += 0.01 * static_cast<double>(i % 64);
    double least[2] = {1e300, 1e300};
    for (int round = 0; round < 40; ++round) {
      const MachineCode& code_now = round % 2 ? y : x;
      const auto begin = Clock::now();
      for (int k = 0; k < 4; ++k) code_now.run(inputs.data(), outputs.data(), scratch.data());
      least[round % 2] = std::min(least[round % 2], ns_since(begin));
    }
    return least[0] < least[1];
  }

  bool look_up() {
    if (looked_up.exchange(true) || !options.cache || compiler_version().empty()) return false;
    const auto begin = Clock::now();
    const auto found = cache.find(code_key(ordered(), objects));
    if (!found) return false;
    std::shared_ptr<const MachineCode> loaded = load_objects(*found);
    if (!loaded) return false;
    requested = true;
    install(std::move(loaded), begin, true);
    finish();
    return true;
  }

  void compile(const CompileQueue::Abandon& abandon) {
    if (look_up()) return;
    const auto begin = Clock::now();
    if (const auto compiled = compile_objects(ordered(), objects, abandon)) {
      if (std::shared_ptr<const MachineCode> loaded = load_objects(*compiled)) {
        install(std::move(loaded), begin, false);
        if (options.cache) cache.keep(code_key(ordered(), objects), *compiled);
      }
    }
    finish();
  }

  void request() {
    if (requested.exchange(true)) return;
    if (compiler_version().empty()) return finish();
    if (!options.background) return compile({});
    CompileQueue::instance().compile_later(shared_from_this());
  }

  /// What to do after so many evaluations that took so long. False: nothing more, whatever comes.
  bool consider(double num_evaluations, double spent_ms) {
    if (options.tier != TierPolicy::automatic) return false;
    if (num_evaluations >= evaluations_before_quick) make_quick();
    if (!quick_tried || requested) return !requested;
    const bool with_quick = has_quick();
    if (!looked_up && spent_ms >= (with_quick ? look_up_ms_with_quick : look_up_ms_without)) look_up();
    const double after = options.after_ms >= 0 ? options.after_ms : with_quick ? after_ms_with_quick : after_ms_without;
    if (spent_ms >= after) request();
    return !requested;
  }
};

CompiledFunction::CompiledFunction(Program program, const CompileOptions& options)
    : shared_(std::make_shared<Shared>(std::move(program), options)), code_(&shared_->code) {
  assert(options.lanes >= 1);
  CompileQueue::watch_this_thread();
  const Program& p = shared_->program;
  registers_.resize(scratch_bound(p, options.lanes) +
                    static_cast<std::size_t>(options.lanes > 1 ? p.num_inputs + p.num_outputs() : 0));
  if (options.tier == TierPolicy::quick || options.tier == TierPolicy::optimised) shared_->make_quick();
  if (options.tier == TierPolicy::optimised) shared_->request();
}

CompiledFunction::CompiledFunction(const CompiledFunction& other)
    : shared_(other.shared_), code_(other.code_), registers_(other.registers_.size()) {}

CompiledFunction& CompiledFunction::operator=(const CompiledFunction& other) {
  CompiledFunction copy(other);
  return *this = std::move(copy);
}

CompiledFunction::~CompiledFunction() = default;

const Program& CompiledFunction::program() const {
  assert(shared_);
  return shared_->program;
}

void CompiledFunction::interpret(const double* inputs, double* outputs) {
  const Program& p = shared_->program;
  const int lanes = shared_->options.lanes;
  if (lanes == 1) return p.evaluate(inputs, registers_.data(), outputs);
  double* const alone = registers_.data() + p.num_registers();
  double* const values = alone + p.num_inputs;
  for (int k = 0; k < lanes; ++k) {
    for (int i = 0; i < p.num_inputs; ++i) alone[i] = inputs[i * lanes + k];
    p.evaluate(alone, registers_.data(), values);
    for (int i = 0; i < p.num_outputs(); ++i) outputs[i * lanes + k] = values[i];
  }
}

void CompiledFunction::evaluate_and_watch(const double* inputs, double* outputs) {
  assert(shared_);
  if (shared_->options.tier == TierPolicy::interpreter) return interpret(inputs, outputs);
  const MachineCode* const code = code_->load(std::memory_order_acquire);
  const auto begin = Clock::now();
  if (code)
    code->run(inputs, outputs, registers_.data());
  else
    interpret(inputs, outputs);
  const double ns = ns_since(begin);

  const double covered = code ? static_cast<double>(std::max<std::int64_t>(batch_, 1)) : 1.0;
  one_ns_ = code && batch_ > 0 ? std::min(one_ns_, ns) : ns;
  spent_ns_ += covered * one_ns_;
  num_evaluations_ += covered;
  const bool watch = shared_->consider(num_evaluations_, spent_ns_ * 1e-6);
  // Without code each evaluation comes here: no countdown.
  batch_ = code ? evaluations_per_look : 0;
  countdown_ = !watch ? forever : code_->load(std::memory_order_relaxed) ? evaluations_per_look : 0;
}

CompileReport CompiledFunction::report() const {
  if (!shared_) return {};
  const std::lock_guard lock(shared_->mutex);
  return shared_->report;
}

double CompiledFunction::compile_ms() const {
  const CompileReport now = report();
  return now.tier == Tier::optimised ? now.optimised_ms : now.tier == Tier::quick ? now.quick_ms : 0.0;
}

void CompiledFunction::make_quick_code() {
  if (shared_ && shared_->options.tier != TierPolicy::interpreter) shared_->make_quick();
}

void CompiledFunction::wait() {
  if (!shared_ || shared_->options.tier == TierPolicy::interpreter || shared_->options.tier == TierPolicy::quick)
    return;
  shared_->make_quick();
  shared_->request();
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->done; });
}

}  // namespace mechanician
