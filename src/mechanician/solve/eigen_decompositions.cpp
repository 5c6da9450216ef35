#include "mechanician/solve/eigen_decompositions.hpp"

namespace Eigen {

template class JacobiSVD<MatrixXd>;
template class BDCSVD<MatrixXd>;
template class HouseholderQR<MatrixXd>;
template class ColPivHouseholderQR<MatrixXd>;
template class CompleteOrthogonalDecomposition<MatrixXd>;
template class FullPivLU<MatrixXd>;
template class EigenSolver<MatrixXd>;
template EigenSolver<MatrixXd>& EigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, bool);
template class SelfAdjointEigenSolver<MatrixXd>;
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, int);

}  // namespace Eigen
