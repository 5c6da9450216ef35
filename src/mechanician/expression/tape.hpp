#pragma once

/// A flat program that evaluates several expressions at once.
///
/// Registers: [inputs | constants | one per instruction]. Instructions stand in an order in which operands come first.
/// Equal subexpressions are computed once; sums and products that differ only in the order of their two operands too.
/// Evaluation allocates nothing and is linear in the number of instructions.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/expression/evaluate_operator.hpp"
#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct Instruction {
  Op op;
  std::int32_t a, b, c;  ///< operand registers; unused ones repeat a
};

class Tape {
 public:
  Tape() = default;
  /// Every symbol of `outputs` must be among `inputs`.
  Tape(std::span<const Expr> outputs, std::span<const Expr> inputs);

  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  int num_registers() const { return static_cast<int>(num_inputs_ + constants_.size() + code_.size()); }
  std::span<const Instruction> code() const { return code_; }

  /// values[i] = outputs[i](inputs). `registers` has num_registers() places and is overwritten.
  template <class T>
  void evaluate(std::span<const T> inputs, std::span<T> registers, std::span<T> values) const {
    run(inputs, registers);
    for (std::size_t i = 0; i < outputs_.size(); ++i) values[i] = registers[static_cast<std::size_t>(outputs_[i])];
  }
  /// The same with memory of its own; for tests and for code that is not hot.
  template <class T>
  std::vector<T> operator()(std::span<const T> inputs) const {
    std::vector<T> registers(static_cast<std::size_t>(num_registers())), values(outputs_.size());
    evaluate<T>(inputs, registers, values);
    return values;
  }

  /// Values with first-order bounds of their rounding errors (running error analysis): inputs count as rounded, every
  /// operation adds half a unit in the last place. bounds[i]/eps is the size of the terms that outputs[i] is made of.
  void evaluate_with_bounds(std::span<const double> inputs, std::span<double> values, std::span<double> bounds) const;

  /// Where a value stops being finite: the innermost subexpression whose operands still are.
  struct Culprit {
    Expr expression;
    std::vector<double> operands;
    double value;
  };
  /// Follows output i down to its culprit; nothing if the output is finite.
  std::optional<Culprit> find_culprit(int output, std::span<const double> inputs) const;

 private:
  template <class T>
  void run(std::span<const T> inputs, std::span<T> r) const {
    std::size_t k = 0;
    for (const T& x : inputs) r[k++] = x;
    for (const double x : constants_) r[k++] = T(x);
    for (const Instruction& i : code_) {
      const T value = evaluate_operator<T>(i.op, r[static_cast<std::size_t>(i.a)], r[static_cast<std::size_t>(i.b)],
                                           r[static_cast<std::size_t>(i.c)]);
      r[k++] = value;
    }
  }

  int num_inputs_ = 0;
  std::vector<double> constants_;
  std::vector<Instruction> code_;
  std::vector<Expr> sources_;  ///< of the instructions, for messages
  std::vector<std::int32_t> outputs_;
};

}  // namespace mechanician
