#pragma once

/// Random programs for tests: seeded, with every action, not through the builder (nothing is simplified away).

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "mechanician/compile/program.hpp"
#include "mechanician/expression/table.hpp"

namespace mechanician {

struct RandomProgramOptions {
  int num_inputs = 4;
  int num_steps = 60;
  int num_outputs = 8;
  bool tables = false;  ///< lookups too, which not every device has
};

/// Keys of some tables that live as long as the test.
inline std::vector<double> keys_for_test() {
  static const std::vector<Expr> lookups = [] {
    const std::vector<double> x{-2.0, -1.0, 0.5, 1.0, 2.5}, v{1.0, -2.0, 0.5, 3.0, 1.0};
    const Expr a = parameter("a"), side = parameter("side");
    std::vector<Expr> made;
    for (const Interpolation i : {Interpolation::linear, Interpolation::cubic, Interpolation::steps})
      for (const Outside o : {Outside::error, Outside::hold, Outside::periodic}) {
        const Table table({.name = "f", .arguments = {x}, .values = v, .interpolation = i, .outside = o});
        made.push_back(table(a));
        if (i == Interpolation::cubic) made.push_back(table(a, 2));
      }
    const Table map({.name = "g",
                     .arguments = {x, {-1.0, 1.0}},
                     .values = {1, 2, 3, 0, 1, 4, 2, 2, 0, 1},
                     .outside = Outside::hold});
    made.push_back(map(a, side));
    return made;
  }();
  std::vector<double> keys;
  for (const Expr& f : lookups) {
    const Expr leaf = f.arg(2);
    keys.push_back(Tape(std::span(&leaf, 1), {})(std::span<const double>()).front());
  }
  return keys;
}

inline Program random_program(std::mt19937_64& random, const RandomProgramOptions& options = {}) {
  const auto pick = [&](int size) { return std::uniform_int_distribution<int>(0, size - 1)(random); };
  Program program;
  program.num_inputs = options.num_inputs;
  program.constants = {0.0, -0.0, 1.0, -1.5, 0.3, 1e-3};
  const std::vector<double> keys = options.tables ? keys_for_test() : std::vector<double>();
  const int first_key = program.num_inputs + static_cast<int>(program.constants.size());
  program.constants.insert(program.constants.end(), keys.begin(), keys.end());
  const int first = program.num_inputs + static_cast<int>(program.constants.size());
  for (int i = 0; i < options.num_steps; ++i) {
    // Mostly what is near, so that values do not all cross from part to part; arithmetic more often than functions.
    const auto operand = [&] { return pick(3) == 0 ? pick(first + i) : std::max(0, first + i - 1 - pick(12)); };
    constexpr Action frequent[] = {action_of(Op::add), action_of(Op::sub), action_of(Op::mul), action_of(Op::mul),
                                   Action::fma,        Action::fms,        Action::fnma,       action_of(Op::sin),
                                   action_of(Op::cos), action_of(Op::neg)};
    constexpr int first_op = static_cast<int>(Op::add), last_action = static_cast<int>(Action::fnma);
    Action action = pick(3) > 0 ? frequent[pick(static_cast<int>(std::size(frequent)))]
                                : static_cast<Action>(first_op + pick(last_action - first_op + 1));
    if (action == action_of(Op::lookup) && keys.empty()) action = action_of(Op::mul);
    const int arity = is_op(action) ? row_of(static_cast<Op>(action)).arity : 3;
    const int a = operand(), b = arity > 1 ? operand() : a;
    int c = arity > 2 ? operand() : a;
    if (action == action_of(Op::lookup) && pick(8) > 0) c = first_key + pick(static_cast<int>(keys.size()));
    program.steps.push_back({action, a, b, c});
  }
  for (int i = 0; i < options.num_outputs; ++i)
    program.outputs.push_back(pick(4) == 0 ? pick(program.num_registers())
                                           : program.num_registers() - 1 - pick(options.num_steps));
  return program;
}

inline std::vector<double> random_inputs(std::mt19937_64& random, int count) {
  constexpr double special[] = {0.0,
                                -0.0,
                                1.0,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(),
                                1e-310,
                                -1e300};
  std::uniform_real_distribution<double> number(-3, 3);
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(random() % 5 == 0 ? special[random() % std::size(special)] : number(random));
  return values;
}

inline std::vector<double> interpret(const Program& program, const std::vector<double>& inputs) {
  std::vector<double> registers(static_cast<std::size_t>(program.num_registers())), values(program.outputs.size());
  program.evaluate(inputs.data(), registers.data(), values.data());
  return values;
}

/// Which of the values that are not numbers it is does not count.
inline bool same_bits(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

inline bool same_bits(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!same_bits(x[i], y[i])) return false;
  return true;
}

}  // namespace mechanician
