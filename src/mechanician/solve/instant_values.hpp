// What is known at one instant: the numbers of M q̈ = Q + Qᶜ and A q̈ = b, and the prescribed work C of the
// constraint forces (U02 eq. 1–5, U05 eq. 3–6). Everything of this folder is a function of these numbers alone.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

struct InstantValues {
  Eigen::MatrixXd M;  // n×n, symmetric, positive definite or semidefinite
  Eigen::VectorXd Q;  // n, given force
  Eigen::MatrixXd A;  // m×n, constraint rows first, then the rows of the control requirements
  Eigen::VectorXd b;  // m
  Eigen::VectorXd C;  // n; empty means zero

  Eigen::Index num_control = 0;        // so many last rows of A are control requirements
  std::vector<Eigen::Index> measured;  // rows that carry weights and may contradict; any order, no row twice
  Eigen::MatrixXd W;                   // their weights, in the order of `measured`: symmetric, positive definite

  // Rounding error bounds of the numbers above, entry by entry, where known; empty means zero. They decide what
  // "counts as zero": a row within its own rounding error is no constraint.
  Eigen::MatrixXd M_noise;
  Eigen::VectorXd Q_noise;
  Eigen::MatrixXd A_noise;
  Eigen::VectorXd b_noise;
  Eigen::VectorXd b_size;  // m, size of the terms that b was summed from (≥ |b|); empty: |b|
};

/// Throws std::invalid_argument where the sizes disagree or `measured` names a row that is not there.
void check_sizes(const InstantValues& values);

/// Whether every number that factor() needs (M, A, W and the error bounds of M and A) is finite.
bool matrices_finite(const InstantValues& values);

/// Whether the remaining numbers (Q, b, C and what belongs to b) are finite.
bool vectors_finite(const InstantValues& values);

}  // namespace mechanician
