// What can be said about the rows of a large sparse system, in the terms of diagnosis.hpp: which rows depend on rows
// before them and how, which sets of rows contradict, which multipliers are not determined.
//
// SparseRobust says of each dependent row f how it consists of a basis of its own choice, a_f = Σ c_k a_k. The vectors
// e_f − c span the left null space of A. Reduced from the last row upwards (among those that end at the same row, the one
// with the largest entry there is the pivot) each ends at a row of its own: these are the rows that depend on rows before
// them, whatever the basis was. Reduced from the first downwards as well, none has another such row in it: these are the
// coefficients.
//
// Multipliers of least norm: λ − N (NᵀN)⁻¹Nᵀλ with these vectors as columns of N.
//
// Conflicts: linked dependences (those with rows in common) are taken together. Up to `dense_conflicts` rows they are
// found as conflicts.hpp does; beyond, the sets of single dependences, and for rows that these leave out the set that
// comes out when a dependence which holds takes the place of a row it has in common with one which does not.
// Cost: that of the reductions, linear where dependences are short.
#pragma once

#include <span>
#include <vector>

#include "mechanician/solve/sparse_robust.hpp"

namespace mechanician {

struct SparseDiagnosis {
  int rank = 0;
  bool decided = true;         // no row is so near to depending on others that it might or might not
  bool explained = true;       // false: rows of `redundant` may come before those they depend on, `depends` lacks some
  std::vector<int> redundant;  // increasing
  std::vector<SparseDependence> depends;      // in that order, on rows before that are not redundant
  std::vector<SparseDependence> basis;        // the same space with less to write, as it was found; for multipliers
  std::vector<int> multipliers_undetermined;  // increasing
  bool consistent = true;
  std::vector<std::vector<int>> conflicts;                 // each increasing; smallest first
  std::vector<std::vector<double>> conflict_coefficients;  // of these rows: their sum vanishes
};

struct SparseDiagnosisOptions {
  double negligible = 1e-9;     // share of a row that a coefficient must contribute to be named
  double contradiction = 1e-9;  // of the terms of the rows
  int dense_conflicts = 200;    // rows
  double most_entries = 3e7;    // of all vectors together; beyond they are not brought into the order of the file
};

/// `solution` of a SparseRobust that was asked to explain; M and A as given to it.
SparseDiagnosis diagnose_sparse(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A,
                                std::span<const double> g, const SparseRobustSolution& solution,
                                const SparseDiagnosisOptions& options = {});

/// The multipliers of least norm that give the same force; `basis` as in SparseDiagnosis.
std::vector<double> calc_least_norm_multipliers(std::span<const double> lambda,
                                                const std::vector<SparseDependence>& basis);

}  // namespace mechanician
