// The motion refined: what factorisations in the mass metric lose, residuals in the coordinates as given win back.
//
//   M q̈ = P + A_kᵀλ_k,   A_k q̈ = b_k        (k independent rows, P = Q or Q + C)
//
// A force on a light coordinate is huge in the metric, L⁻¹P, and is cancelled again by the projection along the
// constraints; mixed units and nearly singular mass matrices lose digits there although q̈ is well determined. Each step
// solves for the residuals, computed in extended precision, with the factors that are there: the error falls by about
// eps·cond(M)·κ per step. Forces come from the multipliers, A_kᵀλ_k, not through L. Cost: O(n² + n m) a step.
#pragma once

#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

/// As calc_motion(), with the multipliers of the kept rows filled in.
MotionForces calc_refined_motion(const Factorisation& f, const Eigen::VectorXd& Q, const Eigen::VectorXd& b,
                                 const Eigen::VectorXd& C);

}  // namespace mechanician
