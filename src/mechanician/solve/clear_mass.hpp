// Whether M is factored by itself: only where it is clearly definite, and this is the one place where that is decided, for
// instants, motions with all their phases, sweeps and large systems.
//
// Everywhere else a form is taken that is right whether M is singular or not: M̂ (factorisation.hpp) or M + AᵀWA, of which q̈
// is the same and which is definite exactly where q̈ is unique (U23 lemma 3). So a wrong answer costs some time one way, and
// every digit the other: the masses of a rigid body with a quaternion have no inertia along it, at any state, and rounding
// makes a small positive number of that as often as not.
#pragma once

#include <Eigen/Core>
#include <span>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

/// Reciprocal condition above which M is clear, scaled to ones on the diagonal so that units do not matter. Rounding leaves
/// some 1e-16 in the place of a zero eigenvalue. Pivots are no measure of it: without interchanges two of 1e-8 can hide it, or
/// four of 1e-4. Masses that are definite by less than this are rare, and served as well by the other form.
constexpr double clearly_definite = 1e-9;
/// The same for entries with errors of their own, in units of these.
constexpr double clearly_above_noise = 1e3;

/// M square; M_noise, bounds of the errors of its entries, empty or of the same size. Not where something is not finite.
bool is_clearly_definite(const Eigen::MatrixXd& M, const Eigen::MatrixXd& M_noise = {});

/// Block by block of coordinates that M couples, as far as blocks are small; in large ones the pivots of the elimination have to
/// tell. Coordinates that have no mass by the pattern do not count: elimination knows them.
bool is_clearly_definite(const SparsePattern& pattern, std::span<const double> M);

}  // namespace mechanician
