// All but the singular values, which are in eigen_singular_values.cpp: they take as long as all the others.
#include "mechanician/solve/eigen_decompositions.hpp"

namespace Eigen {

template class HouseholderQR<MatrixXd>;
template class ColPivHouseholderQR<MatrixXd>;
template class CompleteOrthogonalDecomposition<MatrixXd>;
template void CompleteOrthogonalDecomposition<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
template class PartialPivLU<MatrixXd>;
template class FullPivLU<MatrixXd>;
template class LLT<MatrixXd>;
template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
template class LDLT<MatrixXd>;
template LDLT<MatrixXd>& LDLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
template class SelfAdjointEigenSolver<MatrixXd>;
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, int);

}  // namespace Eigen
