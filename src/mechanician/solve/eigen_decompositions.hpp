#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

/// The decompositions of Eigen, for matrices of doubles of any size, compiled once: each takes a compiler seconds, and a dozen
/// sources use them. A source that includes this in place of Eigen's own header is compiled without; what it computes is the
/// same. See eigen_decompositions.cpp.

namespace Eigen {

extern template class JacobiSVD<MatrixXd>;
extern template class BDCSVD<MatrixXd>;
extern template class HouseholderQR<MatrixXd>;
extern template class ColPivHouseholderQR<MatrixXd>;
extern template class CompleteOrthogonalDecomposition<MatrixXd>;
extern template class FullPivLU<MatrixXd>;
extern template class EigenSolver<MatrixXd>;
extern template EigenSolver<MatrixXd>& EigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, bool);
extern template class SelfAdjointEigenSolver<MatrixXd>;
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&,
                                                                                            int);

}  // namespace Eigen
