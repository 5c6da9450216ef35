#include "mechanician/solve/eigen_kernels.hpp"

namespace Eigen::internal {

MECHANICIAN_EIGEN_KERNELS()

}  // namespace Eigen::internal
