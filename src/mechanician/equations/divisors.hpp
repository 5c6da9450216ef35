#pragma once

/// Where expressions may be infinite: the functions whose zeros are poles.
///
/// A step can pass over a pole without any stage coming near it, and go on with numbers that mean nothing. So what
/// stands below a fraction line is looked at along every step: a zero of it at which the acceleration grows without
/// bound is a place that no motion passes.

#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// Factors of denominators, bases of negative powers, cosines of what a tangent is taken of; each once, only those that
/// change along a motion. Powers, roots, signs and products are taken apart: (t − 1)²·x gives t − 1 and x.
/// Cost: linear in the number of nodes.
std::vector<Expr> find_divisors(std::span<const Expr> expressions);

}  // namespace mechanician
