#pragma once

/// Exact derivatives along a direction, in C: of accelerations, forces, outputs and events by time, state and parameters.
///
///     R = Q + C − M a + Aᵀλ + Tᵀf,  S = b − A a,  U = slip_b − T a  vanish; with a direction ẋ
///     M ȧ − Aᵀλ̇ − Tᵀḟ = Ṙ,  A ȧ = Ṡ,  T ȧ = U̇,      dots: by x alone, a, λ and f held
///
/// and everything else follows with ȧ, λ̇ and ḟ. The matrix is that of the motion, eliminated with complete pivoting. Control by every coordinate
/// has the acceleration of all rows together; what it is without control, a₁ and λ, is differentiated likewise, and u = M(a − a₁).

#include <vector>

#include "mechanician/compile/program.hpp"
#include "mechanician/exports/c_facts.hpp"

namespace mechanician {

struct CTangent {
  Program rates;      ///< of states and derived parameters: inputs [x | ẋ]
  Program equations;  ///< Ṙ, Ṡ, U̇, of friction and slips: inputs [x | a | λ | f | ẋ]
  Program
      quantities;  ///< forces, outputs, energies, events: inputs [x | a | λ | f | ẋ | ȧ | λ̇ | ḟ], with control also [a₁ | ȧ₁]
  std::string text;  ///< NAME_tangent around them
};

/// `left_out`: rows that depend on others.
CTangent make_c_tangent(const CFacts& facts, const std::vector<int>& left_out);

}  // namespace mechanician
