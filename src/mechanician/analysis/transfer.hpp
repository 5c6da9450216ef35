#pragma once

/// From an input to an output of a linearised motion: G(s) = C (s − A)⁻¹ B + D = gain · Π(s − zeros) / Π(s − poles).
///
/// States that the input does not reach, or that do not reach the output, are left out: their poles are not those of G. With the relative
/// degree r, the first k with c Aᵏ⁻¹ b ≠ 0 (0 where D ≠ 0), that number is the gain, and zeros are eigenvalues of
/// A − b c Aʳ/gain on the states with c x = c A x = … = c Aʳ⁻¹ x = 0: what moves unseen.
///
/// Motions that no single state is (a sum of states that the input does not move, one that the output does not see) are found by numbers:
/// orthogonal vectors b, A b, A² b, … end where the next is rounding. The eigenvalues beside them are poles and zeros of what is left of A, and no
/// poles of G: they are taken from both.

#include "mechanician/analysis/eigenvalues.hpp"

namespace mechanician {

struct TransferFunction {
  int input = 0, output = 0;
  double gain = 0.0;  ///< of the highest powers of s; 0: G = 0
  std::vector<Eigenvalue> zeros, poles;
  double at_zero = 0.0;  ///< G(0); infinite where 0 is a pole
};

/// Of all inputs and outputs, output by output.
std::vector<TransferFunction> find_transfer_functions(const Linearisation& linear);

}  // namespace mechanician
