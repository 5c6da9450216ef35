#pragma once

/// A flat program of arithmetic on doubles: what is interpreted, compiled to machine code, to lanes and to a GPU.
///
/// It differs from a Tape in where it comes from and in what may be in it: a program is built step by step (expressions
/// are only one source; the elimination of the constraints is another), has fused products, and knows nothing of
/// expressions. Registers: [inputs | constants | one per step]; the operands of a step come before it.
///
/// Every way of running a program gives the same bits: which products are fused with which sums is decided here
/// (fma rounds once everywhere), and the functions are the same: sin and cos of trigonometry.hpp, the others the
/// standard library's. So a run that changes from
/// the interpreter to machine code at some moment does not depend on when.

#include <cstdint>
#include <span>
#include <vector>

#include "mechanician/expression/operators.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

/// The operators of the language (same numbers as Op), and what only programs have.
enum class Action : std::uint8_t {
  fma = num_operators,  ///< a·b + c, rounded once
  fms,                  ///< a·b − c
  fnma,                 ///< c − a·b
};
constexpr Action action_of(Op op) { return static_cast<Action>(op); }
constexpr bool is_op(Action a) { return static_cast<int>(a) < num_operators; }

struct Step {
  Action action;
  std::int32_t a, b, c;  ///< operand registers; unused ones repeat a
  friend bool operator==(const Step&, const Step&) = default;
};

struct Program {
  int num_inputs = 0;
  std::vector<double> constants;
  std::vector<Step> steps;
  std::vector<std::int32_t> outputs;  ///< registers

  int num_outputs() const { return static_cast<int>(outputs.size()); }
  int num_registers() const { return num_inputs + static_cast<int>(constants.size() + steps.size()); }
  /// The interpreter. `registers` has num_registers() places and is overwritten. Allocates nothing.
  void evaluate(const double* inputs, double* registers, double* values) const;
};

/// Builds a program. Equal steps are made once; sums with 0, products with 0 and 1 and operations on constants are done
/// while building (0·x only where x is finite for all finite inputs).
class ProgramBuilder {
 public:
  using Value = std::int32_t;  ///< a number of the program; −1 is none

  explicit ProgramBuilder(int num_inputs);

  Value input(int i) const { return i; }
  Value constant(double x);
  bool is_constant(Value v, double x) const;

  /// pow with a constant exponent 2, 3, −1 becomes products (as evaluate_operator has it).
  Value apply(Op op, Value a, Value b = -1, Value c = -1);
  Value add(Value a, Value b) { return apply(Op::add, a, b); }
  Value sub(Value a, Value b) { return apply(Op::sub, a, b); }
  Value mul(Value a, Value b) { return apply(Op::mul, a, b); }
  Value div(Value a, Value b) { return apply(Op::div, a, b); }
  Value neg(Value a) { return apply(Op::neg, a); }
  Value select(Value condition, Value then, Value otherwise) { return apply(Op::select, condition, then, otherwise); }

  /// The outputs of a tape, its inputs taken from `inputs` (values of this program).
  std::vector<Value> append(const Tape& tape, std::span<const Value> inputs);
  /// The outputs of a program, alike. Its fused products stay fused: bits are those of the program by itself.
  std::vector<Value> append(const Program& program, std::span<const Value> inputs);
  /// Whether a value is above zero, as 1 or 0: the smallest of several is where all of them are, and nothing that is
  /// not a number is. Comparisons cost less than minima do.
  Value is_positive(Value v);

  /// Steps that no output needs are dropped; a product that is used once, in a sum or a difference, is fused with it.
  Program finish(std::span<const Value> outputs) const;

 private:
  /// Inputs, constants and steps in one order; a Value is an index. A constant keeps its bits in b and c.
  using Node = Step;

  bool is_constant(Value v) const { return at(v).action == action_of(Op::constant); }
  double number(Value v) const;
  const Node& at(Value v) const { return nodes_[static_cast<std::size_t>(v)]; }
  bool is(Value v, Op op) const { return at(v).action == action_of(op); }
  /// The node, made if there is none like it.
  Value find_or_make(Node node);
  void grow();
  Value simplified(Op op, Value a, Value b, Value c);  ///< −1 where there is nothing to simplify

  /// Finite wherever the inputs are (overflow apart).
  bool is_total(const Node& node) const;

  std::vector<Node> nodes_;
  std::vector<char> total_;   ///< by node
  std::vector<Value> table_;  ///< of nodes by hash, open addressing; −1 is free
  std::size_t num_known_ = 0;
};

}  // namespace mechanician
