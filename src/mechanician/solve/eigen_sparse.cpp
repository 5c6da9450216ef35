#include "mechanician/solve/eigen_sparse.hpp"

namespace Eigen {

template class SimplicialCholeskyBase<SimplicialLDLT<SparseMatrix<double>>>;
template void SimplicialCholeskyBase<SimplicialLDLT<SparseMatrix<double>>>::factorize_preordered<true>(
    const SparseMatrix<double>&);
template void internal::minimum_degree_ordering<double, int>(SparseMatrix<double>&,
                                                             PermutationMatrix<Dynamic, Dynamic, int>&);

}  // namespace Eigen
