#include "mechanician/solve/eigen_decompositions.hpp"

namespace Eigen {

template class JacobiSVD<MatrixXd>;
template class BDCSVD<MatrixXd>;

}  // namespace Eigen
