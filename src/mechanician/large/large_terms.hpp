#pragma once

/// From a model as it is stated to terms that kernels can be made of: parameters as numbers, energies, forces and start
/// values as sums of terms, each with the members that it mentions.
///
///     kinetic = "2*sum(i = 1..N, m/2*x[i]'^2) + a'^2"    →    Σᵢ 2·m/2·x[i]'²,  a'²
///
/// What kernels cannot do yet is refused here and nowhere else.

#include "mechanician/model/family_model.hpp"

namespace mechanician {

/// A model that went through this before comes out as it was. Throws ModelError that names all that is not supported, and where.
FamilyModel kernel_terms(FamilyModel stated);

/// The members that a term mentions, noted in it.
void complete_term(const FamilyModel& model, Term& term);

}  // namespace mechanician
