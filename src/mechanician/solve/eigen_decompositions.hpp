#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include "mechanician/solve/eigen_kernels.hpp"

/// The decompositions of Eigen, for matrices of doubles of any size, compiled once: each takes a compiler seconds, and a dozen
/// sources use them. A source that includes this in place of Eigen's own header is compiled without; what it computes is the
/// same. See eigen_decompositions.cpp. A matrix is to be given to them as such, not as a product: of that they would be compiled again.

namespace Eigen {

extern template class JacobiSVD<MatrixXd>;
extern template class BDCSVD<MatrixXd>;
extern template class HouseholderQR<MatrixXd>;
extern template class ColPivHouseholderQR<MatrixXd>;
extern template class CompleteOrthogonalDecomposition<MatrixXd>;
extern template void CompleteOrthogonalDecomposition<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
extern template class PartialPivLU<MatrixXd>;
extern template class FullPivLU<MatrixXd>;
extern template class LLT<MatrixXd>;
extern template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
extern template class LDLT<MatrixXd>;
extern template LDLT<MatrixXd>& LDLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
extern template class SelfAdjointEigenSolver<MatrixXd>;
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&,
                                                                                            int);

}  // namespace Eigen
