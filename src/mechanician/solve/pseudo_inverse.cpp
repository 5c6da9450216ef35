#include "mechanician/solve/pseudo_inverse.hpp"

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd pseudo_inverse(const MatrixXd& X, Index rank) {
  if (rank == 0 || X.size() == 0) return MatrixXd::Zero(X.cols(), X.rows());
  const Eigen::JacobiSVD<MatrixXd> svd(X, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return svd.matrixV().leftCols(rank) * svd.singularValues().head(rank).cwiseInverse().asDiagonal() *
         svd.matrixU().leftCols(rank).transpose();
}

MatrixXd null_space_basis(const MatrixXd& X, Index rank) {
  const Index n = X.cols();
  if (rank == 0 || X.size() == 0) return MatrixXd::Identity(n, n);
  const Eigen::JacobiSVD<MatrixXd> svd(X, Eigen::ComputeFullV);
  return svd.matrixV().rightCols(n - rank);
}

MassRoots calc_mass_roots(const MatrixXd& M) {
  const auto [values, vectors] = calc_symmetric_eigen(M);
  const Eigen::VectorXd roots = values.cwiseSqrt();
  return {vectors * roots.asDiagonal() * vectors.transpose(),
          vectors * roots.cwiseInverse().asDiagonal() * vectors.transpose()};
}

}  // namespace mechanician
