// What surrounds the acceleration, whatever form computes it: checks of b, weights, and the ideal and non-ideal part of the force.
#pragma once

#include <functional>

#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

/// Computes the motion for a consistent b; C empty or n.
using MotionOf =
    std::function<MotionForces(const Eigen::VectorXd& Q, const Eigen::VectorXd& b, const Eigen::VectorXd& C)>;

/// Takes acceleration, forces and multipliers out again.
void clear_motion(Solution& solution);

/// Where the acceleration is not unique: that of the coordinates which are determined, NaN for the others, and the forces. (M
/// and A do not see the directions that are free, so that these decide nothing else.) Not where they are very many.
void add_determined(const InstantValues& values, Solution& solution);

/// Acceleration and forces of a motion. lambda: multipliers of the ideal problem, of least norm where they are not unique.
void attribute_forces(const MotionForces& motion, const Eigen::VectorXd& lambda, Solution& solution);

/// Is the force in these directions (unit in the coordinates over their scale) zero (U23 eq. 14, 17)? `size`: of its terms;
/// noise: may be empty.
bool is_force_balanced(const Eigen::MatrixXd& directions, const Eigen::VectorXd& scale, const Eigen::VectorXd& force,
                       const Eigen::VectorXd& size, const Eigen::VectorXd& noise);

/// Each column such that its largest entry is 1.
void scale_to_largest(Eigen::MatrixXd& directions);

/// `values` must have the sizes that were factored, else std::invalid_argument.
Solution solve_with(const Factorisation& f, const InstantValues& values, const MotionOf& motion_of);

}  // namespace mechanician
