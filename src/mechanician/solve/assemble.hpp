// What surrounds the acceleration, whatever form computes it: checks of b, weights, and the attribution of forces to
// constraint rows, control rows, ideal and non-ideal part (theory: U05 section 3 for control).
#pragma once

#include <functional>

#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

/// Computes the motion for a consistent b; C empty or n.
using MotionOf =
    std::function<MotionForces(const Eigen::VectorXd& Q, const Eigen::VectorXd& b, const Eigen::VectorXd& C)>;

/// Takes acceleration, forces and multipliers out again.
void clear_motion(Solution& solution);

/// `values` must have the sizes that were factored, else std::invalid_argument.
Solution solve_with(const Factorisation& f, const InstantValues& values, const MotionOf& motion_of);

}  // namespace mechanician
