#include "mechanician/solve/dense.hpp"

#include <algorithm>

#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::Upper;
using Eigen::VectorXd;

ThinQr calc_thin_qr(const MatrixXd& X) {
  const Index q = X.cols();
  if (X.size() == 0) return {MatrixXd::Zero(X.rows(), q), MatrixXd::Zero(q, q)};
  const Eigen::HouseholderQR<MatrixXd> qr(X);
  ThinQr result;
  result.V = MatrixXd::Identity(X.rows(), q);
  result.V.applyOnTheLeft(qr.householderQ());
  result.R = qr.matrixQR().topRows(q).triangularView<Upper>();
  return result;
}

PivotedQr calc_pivoted_qr(const MatrixXd& X) {
  PivotedQr result;
  const Index r = std::min(X.rows(), X.cols());
  result.order.resize(static_cast<std::size_t>(X.cols()));
  for (Index j = 0; j < X.cols(); ++j) result.order[j] = j;
  result.V = MatrixXd::Identity(X.rows(), r);
  result.R = MatrixXd::Zero(r, X.cols());
  if (X.size() == 0) return result;
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(X);
  for (Index j = 0; j < X.cols(); ++j) result.order[j] = qr.colsPermutation().indices()(j);
  result.V.applyOnTheLeft(qr.householderQ());
  result.R = qr.matrixQR().topRows(r).triangularView<Upper>();
  return result;
}

Cholesky calc_cholesky(const MatrixXd& X) {
  if (X.size() == 0) return {true, X, 1.0};
  const Eigen::LLT<MatrixXd> llt(X);
  if (llt.info() != Eigen::Success) return {};
  return {true, llt.matrixL(), llt.rcond()};
}

VectorXd Cholesky::solve(const VectorXd& x) const { return solve_lower_transposed(L, solve_lower(L, x)); }

ThinSvd calc_thin_svd(const MatrixXd& X) {
  const Index q = X.cols();
  if (X.size() == 0) return {MatrixXd::Zero(X.rows(), q), VectorXd::Zero(q), MatrixXd::Identity(q, q)};
  const Eigen::HouseholderQR<MatrixXd> qr(X);
  const MatrixXd R = qr.matrixQR().topRows(q).triangularView<Upper>();
  ThinSvd result{MatrixXd::Zero(X.rows(), q), {}, {}};
  const auto take = [&](const auto& svd) {
    result.sigma = svd.singularValues(), result.V = svd.matrixV(), result.U.topRows(q) = svd.matrixU();
  };
  if (q <= 16)
    take(Eigen::JacobiSVD<MatrixXd>(R, Eigen::ComputeFullU | Eigen::ComputeFullV));
  else
    take(Eigen::BDCSVD<MatrixXd>(R, Eigen::ComputeFullU | Eigen::ComputeFullV));
  result.U.applyOnTheLeft(qr.householderQ());
  return result;
}

SymmetricEigen calc_symmetric_eigen(const MatrixXd& X) {
  if (X.size() == 0) return {VectorXd(0), X};
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(X);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

MatrixXd solve_lower(const MatrixXd& L, const MatrixXd& x) {
  MatrixXd result = x;
  if (x.size() > 0) L.triangularView<Lower>().solveInPlace(result);
  return result;
}

VectorXd solve_lower(const MatrixXd& L, const VectorXd& x) {
  VectorXd result = x;
  if (x.size() > 0) L.triangularView<Lower>().solveInPlace(result);
  return result;
}

MatrixXd solve_lower_transposed(const MatrixXd& L, const MatrixXd& x) {
  MatrixXd result = x;
  if (x.size() > 0) L.transpose().triangularView<Upper>().solveInPlace(result);
  return result;
}

VectorXd solve_lower_transposed(const MatrixXd& L, const VectorXd& x) {
  VectorXd result = x;
  if (x.size() > 0) L.transpose().triangularView<Upper>().solveInPlace(result);
  return result;
}

MatrixXd solve_upper(const MatrixXd& R, const MatrixXd& x) {
  MatrixXd result = x;
  if (x.size() > 0) R.triangularView<Upper>().solveInPlace(result);
  return result;
}

VectorXd solve_upper(const MatrixXd& R, const VectorXd& x) {
  VectorXd result = x;
  if (x.size() > 0) R.triangularView<Upper>().solveInPlace(result);
  return result;
}

MatrixXd solve_upper_transposed(const MatrixXd& R, const MatrixXd& x) {
  MatrixXd result = x;
  if (x.size() > 0) R.transpose().triangularView<Lower>().solveInPlace(result);
  return result;
}

VectorXd solve_upper_transposed(const MatrixXd& R, const VectorXd& x) {
  VectorXd result = x;
  if (x.size() > 0) R.transpose().triangularView<Lower>().solveInPlace(result);
  return result;
}

MatrixXd calc_orthonormal_complement(const MatrixXd& V) {
  const Index n = V.rows();
  const Index k = V.cols();
  if (k == 0) return MatrixXd::Identity(n, n);
  if (k == n) return MatrixXd::Zero(n, 0);
  const Eigen::HouseholderQR<MatrixXd> qr(V);
  MatrixXd complement = MatrixXd::Zero(n, n - k);
  complement.bottomRows(n - k).setIdentity();
  complement.applyOnTheLeft(qr.householderQ());
  return complement;
}

MatrixXd orthonormalised(const MatrixXd& X) { return calc_thin_qr(X).V; }

}  // namespace mechanician
