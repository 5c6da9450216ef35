#pragma once

/// How large coordinates are beside each other where M is singular, or nearly so.

#include <Eigen/Core>

#include "mechanician/solve/sparse_rows.hpp"

namespace mechanician {

/// 1/sqrt(M_ii) (`mass_scale`, zero without mass) with zeros also for coordinates that have next to none, as the scalar part of a
/// quaternion near 1 has: they would drown all others in the rows that tie them to these. What they weigh is nothing
/// beside those, and their rows say better how large they are. `drowns`: by this factor, in a row.
Eigen::VectorXd drop_drowning(const Eigen::VectorXd& mass_scale, const SparseRows& A, double drowns = 1e8);

/// Coordinate scale: that of the mass; where there is none (zero), such that the entries of A with rows and
/// columns scaled are of size 1 in the geometric mean (rows and columns in turns), whatever the scale of the rows as given.
Eigen::VectorXd coordinate_scale(const Eigen::VectorXd& of_mass, const SparseRows& A);

}  // namespace mechanician
