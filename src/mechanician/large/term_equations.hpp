#pragma once

/// The equations of motion by term, with indices: what one member of each term gives. M, Q, A and b are the sums over all.
///
///     kinetic, i = 1..N:  m/2*x[i]'^2          M[x[i], x[i]] += m
///     rod[i], i = 2..N:                        A[x[i]] = 2*x[i] - 2*x[i-1], …   b = …
///
/// Cost: that of deriving each term once, whatever the size.

#include <string>
#include <vector>

#include "mechanician/model/family_model.hpp"

namespace mechanician {

struct TermEquations {
  Term term;  ///< parameters as numbers; its coordinates are what the entries below are about
  struct Entry {
    int row = 0, col = 0;  ///< coordinates of the term, by number; of Q and A one of them
    Expr value;
  };
  std::vector<Entry> M;  ///< both triangles
  std::vector<Entry> Q;  ///< row: −1: the coordinate that the force of the term acts on
  std::vector<Entry> A;  ///< of a constraint
  Expr b = 0.0;
};

/// Throws ModelError for what kernels cannot do (large_terms.hpp).
std::vector<TermEquations> derive_by_term(const FamilyModel& stated);

/// A term in the coordinates of one member, as a model of its own.
Model model_of(const FamilyModel& model, const Term& term);

}  // namespace mechanician
