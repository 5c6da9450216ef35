#pragma once

/// Many steps of many motions: a StepProgram as machine code over vector lanes, with the loop over steps inside and,
/// for small models, the state in registers all the while.
///
///     StepFunction step(program);
///     AlignedNumbers block(step.block_size());        // [t₀ | h | q | q̇ | parameters] × lanes(), filled in by the
///     caller step.advance(block.data(), 0, 100, vouched);    // q and q̇ a hundred steps later
///
/// Step k goes from t₀ + k·h to t₀ + (k + 1)·h. The result of a lane depends on its own numbers only: not on what the
/// other lanes hold, nor on how many of them there are, nor on how the steps are cut into calls, nor on the tier.
/// Tiers: the interpreter; code for four lanes made at once (x86_code.hpp); LLVM's, made in the background and taken up
/// between two calls, or from the disk.
///
/// One object is for one thread. Copies share the code.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/compile/step_program.hpp"

namespace mechanician {

struct StepFunctionOptions {
  TierPolicy tier = TierPolicy::automatic;  ///< automatic: quick code, and LLVM's as soon as it is there
  bool background = true;                   ///< false: the constructor waits for LLVM
  bool cache = true;
  int lanes = 0;  ///< 0: as many as the processor has in a vector, and twice that for small models, whose chains wait
                  ///< for each other
};

class StepFunction {
 public:
  StepFunction() = default;
  explicit StepFunction(StepProgram step, const StepFunctionOptions& options = {});
  StepFunction(const StepFunction& other);
  StepFunction& operator=(const StepFunction& other);
  StepFunction(StepFunction&&) noexcept = default;
  StepFunction& operator=(StepFunction&&) noexcept = default;
  ~StepFunction();

  explicit operator bool() const { return shared_ != nullptr; }
  const StepProgram& step() const;
  int lanes() const;
  std::size_t block_size() const;

  /// Number i of lane k is block[i·lanes() + k]. vouched[k] is 1 where every step of lane k is vouched for, else 0;
  /// then its state means nothing. count ≥ 1.
  void advance(double* block, std::int64_t first, std::int64_t count, double* vouched);

  Tier tier() const;
  /// Until the best code there will be is in use.
  void wait();

 private:
  struct Shared;
  void advance_looped(const MachineCode& code, double* block, std::int64_t first, std::int64_t count, double* vouched);
  void advance_by_steps(const MachineCode* code, int width, double* block, std::int64_t first, std::int64_t count,
                        double* vouched);

  std::shared_ptr<Shared> shared_;
  AlignedNumbers outputs_, scratch_, part_;
};

/// Lanes of the widest vectors that generated code has here: 8, 4, or 1.
int widest_lanes();

}  // namespace mechanician
