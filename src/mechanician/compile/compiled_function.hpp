#pragma once

/// A program as a function that gets faster while it is used.
///
///     CompiledFunction f(program);
///     f(inputs, outputs);          // allocates nothing
///
/// Tiers: the interpreter at once; machine code made in one pass (x86_code.hpp) from the first evaluations on; code
/// optimised by LLVM, made in a background thread and swapped in between two evaluations when a run has lasted so long
/// that it pays, or at once when the disk has it from an earlier run (code_cache.hpp). All give the same bits, so
/// results do not depend on when a tier changes.
///
/// One object is for one thread. Copies share the code and have registers of their own: one per thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "mechanician/compile/aligned.hpp"
#include "mechanician/compile/machine_code.hpp"
#include "mechanician/compile/program.hpp"

namespace mechanician {

enum class Tier : std::uint8_t { interpreter, quick, optimised };
std::string_view describe(Tier tier);

/// Which tiers may be used.
enum class TierPolicy : std::uint8_t {
  automatic,    ///< what pays
  interpreter,  ///< no machine code
  quick,        ///< quick code from the start, nothing more
  optimised,    ///< optimised code as soon as possible
};

struct CompileOptions {
  TierPolicy tier = TierPolicy::automatic;
  bool background = true;  ///< false: whoever evaluates waits for code, and no thread is started
  bool cache = true;       ///< optimised code is looked for and kept on the disk
  /// Milliseconds of evaluations before LLVM is started; < 0: what was measured to pay, by the size of the program.
  double after_ms = -1.0;
  /// Instances per call, side by side: input i of instance k is inputs[i·lanes + k], outputs alike.
  int lanes = 1;
};

/// What became of a function so far.
struct CompileReport {
  Tier tier = Tier::interpreter;
  double quick_ms = 0.0;      ///< to make the quick code
  double optimised_ms = 0.0;  ///< to make the optimised code, or to read it
  bool from_cache = false;    ///< it was read from the disk
};

class CompiledFunction {
 public:
  CompiledFunction() = default;
  explicit CompiledFunction(Program program, const CompileOptions& options = {});
  CompiledFunction(const CompiledFunction& other);
  CompiledFunction& operator=(const CompiledFunction& other);
  CompiledFunction(CompiledFunction&&) noexcept = default;
  CompiledFunction& operator=(CompiledFunction&&) noexcept = default;
  ~CompiledFunction();

  explicit operator bool() const { return shared_ != nullptr; }
  const Program& program() const;
  int num_inputs() const { return program().num_inputs; }
  int num_outputs() const { return program().num_outputs(); }

  /// Inputs and outputs must not overlap.
  void operator()(const double* inputs, double* outputs) {
    if (--countdown_ > 0) [[likely]] {
      if (const MachineCode* code = code_->load(std::memory_order_acquire)) [[likely]] {
        code->run(inputs, outputs, registers_.data());
        return;
      }
    }
    evaluate_and_watch(inputs, outputs);
  }

  /// `count` evaluations, inputs and outputs so many numbers apart.
  void evaluate_all(const double* inputs, std::int64_t inputs_apart, double* outputs, std::int64_t outputs_apart,
                    std::int64_t count) {
    if (countdown_ > count) [[likely]] {
      if (const MachineCode* code = code_->load(std::memory_order_acquire)) [[likely]] {
        countdown_ -= count;
        code->run(inputs, inputs_apart, outputs, outputs_apart, registers_.data(), count);
        return;
      }
    }
    for (; count > 0; --count, inputs += inputs_apart, outputs += outputs_apart) (*this)(inputs, outputs);
  }

  Tier tier() const { return report().tier; }
  /// Milliseconds spent on making the code that is in use.
  double compile_ms() const;
  CompileReport report() const;
  /// Quick code at once, for a function that is known to be evaluated often; where tiers may not be made, nothing.
  void make_quick_code();
  /// Until the best code there will be is in use. Starts LLVM where it was not started yet.
  void wait();

 private:
  struct Shared;
  void evaluate_and_watch(const double* inputs, double* outputs);
  void interpret(const double* inputs, double* outputs);

  std::shared_ptr<Shared> shared_;
  const std::atomic<const MachineCode*>* code_ = nullptr;  ///< of shared_
  AlignedNumbers registers_;
  std::int64_t countdown_ = 0;  ///< evaluations until the next look at the clock
  std::int64_t batch_ = 0;      ///< evaluations that the next look stands for
  double num_evaluations_ = 0.0;
  double one_ns_ = 0.0;  ///< the quickest evaluation in this tier that was seen: others may have been interrupted
  double spent_ns_ = 0.0;
};

}  // namespace mechanician
