#pragma once

/// Acceleration and forces in closed form, for systems that are small enough to read them.
///
/// With independent rows A q̈ = b, the constrained motion solves
///
///     [ M  −Aᵀ ] [q̈]   [Q + C]
///     [ A   0  ] [λ ] = [  b  ]         Qᶜ = C + Aᵀλ
///
/// whose matrix is nonsingular exactly where rank[M; A] = n and the rows are independent, so that a singular M needs no
/// care of its own (U23 lemma 3); for M > 0 its determinant is det M · det(A M⁻¹Aᵀ). Eliminating λ gives F1 of U02 (6)
/// and the examples K93 (38), (41), (42). The matrix falls apart into blocks of coordinates that share mass or rows;
/// each is solved by minors over polynomials (rational.hpp), common factors are cancelled, and the result is compared
/// with a numerical solution at random values before it is shown.
///
/// The printed form holds wherever `determinant` is not zero and M, Q, A, b, C are defined; cancelling may let it
/// continue to further points. Cost: exponential in the rows and in the size of dense blocks of M, limited by the caps.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/equations/equations.hpp"

namespace mechanician {

struct ClosedFormOptions {
  int max_rows = 3;  ///< independent rows, controls included
  int max_coordinates = 12;
  double max_size = 300;        ///< nodes of one component written out as a tree
  std::size_t max_terms = 600;  ///< of a polynomial on the way
  std::size_t max_work = 1'000'000;
};

struct ClosedForm {
  std::vector<Expr> qdd;        ///< n
  std::vector<Expr> Qc;         ///< n: constraint force; with the symbols of q̈ in it where it is too long without
  std::vector<Expr> Qc_ideal;   ///< n: with C = 0; empty where no C is given
  std::vector<Expr> Q_control;  ///< n: control force; empty without controls
  Expr determinant;             ///< the form holds where it is not zero
  std::vector<int> rows;        ///< independent rows that were used
  std::vector<int> left_out;    ///< rows that depend on them
  std::vector<std::string> notes;
};

/// `independent_rows`: a largest set of rows that are independent at general states *on* the constraints. Nothing where
/// the form would be too large to read, is singular everywhere, or is not unique (dependent rows with weights or beside
/// controls), and where rows contradict each other at every state.
std::optional<ClosedForm> closed_form(const Equations& eqs, std::span<const int> independent_rows,
                                      const ClosedFormOptions& options = {});

}  // namespace mechanician
