// The rank of a large sparse A by orthogonal factorisation, and its dependent rows in terms of the others.
//
//   S A M_d^(−1/2) = (Q R Eᵀ)ᵀ,  M_d the diagonal of M, S such that rows have unit norm
//
// SPQR's rank-revealing QR. A component of its own, which the library neither links nor needs: SPQR is under the GPL,
// and so is whatever is built with this. For cases in which more rows depend than SparseRobust sets apart, and as an
// oracle for it. Cost: that of a sparse QR, k³ with a large factor for nets; linear for chains. Allocates.
#pragma once

#include <span>
#include <vector>

#include "mechanician/solve/sparse_robust.hpp"

namespace mechanician {

struct SparseRank {
  int rank = 0;
  std::vector<SparseDependence> dependences;  // row, rows and coefficients; nothing about right-hand sides
};

/// Columns of R up to `tolerance` count as dependent; coefficients up to `negligible` of a row are left out.
/// std::runtime_error where SPQR runs out of memory.
SparseRank find_sparse_rank(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A,
                            double tolerance = 1e-10, double negligible = 1e-9);

}  // namespace mechanician
