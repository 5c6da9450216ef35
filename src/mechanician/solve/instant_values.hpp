// What is known at one instant: the numbers of M q̈ = Q + Qᶜ and A q̈ = b, and the prescribed work C of the
// constraint forces (U02 eq. 1–5, U05 eq. 3–6). Everything of this folder is a function of these numbers alone.
#pragma once

#include <memory>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/sparse_rows.hpp"

namespace mechanician {

class InstantPattern;

/// Who answers. The answers are the same, up to rounding.
enum class SolvePath {
  automatic,  // by size and sparsity (factorisation.hpp)
  dense,      // orthogonal factorisations
  sparse,     // elimination, with sparse_robust.hpp behind it
};

struct InstantValues {
  SparseRows M;       // n×n, symmetric, positive definite or semidefinite
  Eigen::VectorXd Q;  // n, given force
  SparseRows A;       // m×n
  Eigen::VectorXd b;  // m
  Eigen::VectorXd C;  // n; empty means zero

  std::vector<Eigen::Index> measured;  // rows that carry weights and may contradict; any order, no row twice
  Eigen::MatrixXd W;                   // their weights, in the order of `measured`: symmetric, positive definite

  // Rounding error bounds of the numbers above, entry by entry, where known; empty means zero. They decide what
  // "counts as zero": a row within its own rounding error is no constraint.
  SparseRows M_noise;
  Eigen::VectorXd Q_noise;
  SparseRows A_noise;
  Eigen::VectorXd b_noise;
  Eigen::VectorXd b_size;  // m, size of the terms that b was summed from (≥ |b|); empty: |b|

  SolvePath path = SolvePath::automatic;
  // The system that these numbers are of, and which of its rows the rows are (empty: all, in order): what depends on where
  // entries may be is worked out once for a system. Without one the numbers are by themselves.
  std::shared_ptr<const InstantPattern> pattern = {};
  std::vector<Eigen::Index> pattern_rows = {};
};

/// Throws std::invalid_argument where the sizes disagree or `measured` names a row that is not there.
void check_sizes(const InstantValues& values);

/// Whether every number that factor() needs (M, A, W and the error bounds of M and A) is finite.
bool matrices_finite(const InstantValues& values);

/// Whether the remaining numbers (Q, b, C and what belongs to b) are finite.
bool vectors_finite(const InstantValues& values);

}  // namespace mechanician
