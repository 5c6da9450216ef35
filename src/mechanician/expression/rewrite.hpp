#pragma once

/// Expressions with other symbols put in, as often as wanted: what is written stays as it is written.
///
///     Rewriter rewrite({{f, g}}, {{x, y}});
///     rewrite({{a, 2.0}})[0];  // f with a in the place of x, and 2 in that of y
///
/// Cost: one node for each node that a symbol stands below; the rest is shared.

#include <array>
#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

class Rewriter {
 public:
  Rewriter() = default;
  Rewriter(std::span<const Expr> fs, std::span<const Expr> symbols);
  /// The results, until the next call.
  std::span<const Expr> operator()(std::span<const Expr> values);
  /// How many nodes a call makes.
  std::size_t num_steps() const { return steps_.size(); }

 private:
  struct Step {
    Op op;
    int num_args;
    std::array<int, 3> args;
  };
  std::size_t num_symbols_ = 0, first_step_ = 0;
  std::vector<Expr> made_;  ///< [values | what stays | one per step]
  std::vector<Step> steps_;
  std::vector<int> outputs_;
  std::vector<Expr> results_;
};

}  // namespace mechanician
