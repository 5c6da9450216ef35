#pragma once

/// Conditions that have no truth value: log(x) < 0 where x < 0.
///
/// Arithmetic answers every comparison with not-a-number by "false", and if(log(x) < 0, a, b) would be b without a word.
/// Here it has no value either. Truth is three-valued: a condition is decided as soon as some part decides it, so that
/// if(x > 0 and log(x) < 1, a, b) is b where x ≤ 0.
///
///     if(c, a, b)  →  if(yes(c), a, if(no(c), b, unsure(c)))
///
/// yes and no are conditions of which at most one holds; unsure is a sum of operands, not a number where neither holds.
/// Only conditions with operands that may lack a value (Expr::is_total) are touched.

#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct Truth {
  Expr yes, no, unsure;
};
Truth truth_of(const Expr& condition);

std::vector<Expr> with_definite_conditions(std::span<const Expr> expressions);

}  // namespace mechanician
