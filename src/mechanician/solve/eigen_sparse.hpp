#pragma once

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "mechanician/solve/eigen_kernels.hpp"

/// Eigen's sparse Cholesky factorisation and its ordering, compiled once for the four sources that use them; see eigen_decompositions.hpp.

namespace Eigen {

extern template class SimplicialCholeskyBase<SimplicialLDLT<SparseMatrix<double>>>;
extern template void SimplicialCholeskyBase<SimplicialLDLT<SparseMatrix<double>>>::factorize_preordered<true>(
    const SparseMatrix<double>&);
extern template void internal::minimum_degree_ordering<double, int>(SparseMatrix<double>&,
                                                                    PermutationMatrix<Dynamic, Dynamic, int>&);

}  // namespace Eigen
