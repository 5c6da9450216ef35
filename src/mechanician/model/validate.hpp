#pragma once

/// The checks that every model passes before it is used, whether it comes from a file or is built in C++.

#include <vector>

#include "mechanician/model/model.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

inline constexpr int most_coordinates = 100'000;
inline constexpr int most_coordinates_with_mass = 2'000;  ///< the matrix is kept with its zeros

/// All that is wrong with a model; empty if it can be used.
///
/// Names are valid and distinct, every symbol belongs to the model, there is one of kinetic energy and mass matrix, no
/// expression contains what it may not, T is quadratic in the velocities, equations are linear in the accelerations,
/// one-sided constraints and slips are what they may be, and what validate_values checks holds for the parameters as they are given.
std::vector<Problem> validate(const Model& model);

/// What depends on the values of the parameters, and so is checked again when they are changed: the mass matrix is
/// symmetric; weights are symmetric and positive; frequency, damping and friction are not negative; restitution lies
/// between 0 and 1; start values are finite.
std::vector<Problem> validate_values(const Model& model, const ParameterValues& parameters);

}  // namespace mechanician
