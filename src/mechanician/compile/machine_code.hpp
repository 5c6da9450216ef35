#pragma once

/// Machine code of a program, in memory, ready to be called.
///
/// The code is a list of functions that are called one after the other; what one of them leaves for another is in
/// `scratch`. So the code of a large program is made, and may be abandoned, part by part.
///
/// Generated code calls the functions of the language (sin, pow, …) through a table of pointers to the very functions
/// that the interpreter calls: the bits are the same. Pages are writable or executable, never both.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mechanician/compile/program.hpp"

namespace mechanician {

/// Places in the table of functions: those of the operators are the numbers of the operators.
inline constexpr int function_fma = num_operators;         ///< double(double, double, double)
inline constexpr int function_sincos = num_operators + 1;  ///< sine_cosine of trigonometry.hpp: two registers
inline constexpr int function_sines = num_operators + 2;   ///< sines_and_cosines of trigonometry.hpp
inline constexpr int num_called_functions = num_operators + 3;

/// Whether generated code calls a function for it.
bool is_call(const Step& step);

/// Null where generated code has instructions for the operator.
const void* const* function_table();

/// Places of scratch that are enough for any machine code of a program.
std::size_t scratch_bound(const Program& program, int lanes = 1);

class MachineCode {
 public:
  using Function = void (*)(const double* inputs, double* outputs, double* scratch, const void* const* functions);

  /// A piece of code as it goes into memory: the functions start at `entries`.
  /// Null where the system refuses memory that can be executed.
  static std::shared_ptr<const MachineCode> make(std::span<const std::byte> image,
                                                 std::span<const std::size_t> entries);

  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;
  ~MachineCode();

  /// Inputs and outputs must not overlap.
  void run(const double* inputs, double* outputs, double* scratch) const {
    for (const Function f : functions_) f(inputs, outputs, scratch, table_);
  }
  /// `count` times, inputs and outputs so many numbers apart.
  void run(const double* inputs, std::int64_t inputs_apart, double* outputs, std::int64_t outputs_apart,
           double* scratch, std::int64_t count) const {
    const Function first = functions_.front();
    const bool alone = functions_.size() == 1;
    for (; count > 0; --count, inputs += inputs_apart, outputs += outputs_apart)
      alone ? first(inputs, outputs, scratch, table_) : run(inputs, outputs, scratch);
  }
  std::size_t num_parts() const { return functions_.size(); }
  std::size_t num_bytes() const { return size_; }

 private:
  MachineCode() = default;

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Function> functions_;
  const void* const* table_ = function_table();
};

}  // namespace mechanician
