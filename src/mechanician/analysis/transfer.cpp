#include "mechanician/analysis/transfer.hpp"

#include <cmath>
#include <limits>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
using Eigen::Index;

/// States that can be reached from those where x is not zero.
std::vector<char> reach(const Eigen::MatrixXd& A, const Eigen::VectorXd& x) {
  std::vector<char> reached(static_cast<std::size_t>(A.rows()), 0);
  std::vector<Index> open;
  for (Index i = 0; i < x.size(); ++i)
    if (x(i) != 0.0) reached[static_cast<std::size_t>(i)] = 1, open.push_back(i);
  while (!open.empty()) {
    const Index j = open.back();
    open.pop_back();
    for (Index i = 0; i < A.rows(); ++i)
      if (A(i, j) != 0.0 && !reached[static_cast<std::size_t>(i)])
        reached[static_cast<std::size_t>(i)] = 1, open.push_back(i);
  }
  return reached;
}

TransferFunction find_one(const Eigen::MatrixXd& whole, const Eigen::MatrixXd& whole_noise, const Eigen::VectorXd& B,
                          const Eigen::VectorXd& C, double d) {
  TransferFunction found;
  const Eigen::MatrixXd transposed = whole.transpose();
  const std::vector<char> from = reach(whole, B), to = reach(transposed, C);
  std::vector<Index> states;
  for (Index i = 0; i < whole.rows(); ++i)
    if (from[static_cast<std::size_t>(i)] && to[static_cast<std::size_t>(i)]) states.push_back(i);
  const auto n = static_cast<Index>(states.size());
  Eigen::MatrixXd A(n, n), noise(n, n);
  Eigen::VectorXd b(n), c(n);
  for (Index i = 0; i < n; ++i) {
    b(i) = B(states[static_cast<std::size_t>(i)]), c(i) = C(states[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < n; ++j) {
      A(i, j) = whole(states[static_cast<std::size_t>(i)], states[static_cast<std::size_t>(j)]);
      noise(i, j) = whole_noise(states[static_cast<std::size_t>(i)], states[static_cast<std::size_t>(j)]);
    }
  }
  // c Aᵏ, with the size of the terms it is the sum of.
  Eigen::MatrixXd rows(0, n);
  Eigen::VectorXd row = c, size = c.cwiseAbs();
  const Eigen::MatrixXd A_abs = A.cwiseAbs();
  double gain = d;
  while (gain == 0.0 && rows.rows() < n) {
    rows.conservativeResize(rows.rows() + 1, n);
    rows.row(rows.rows() - 1) = row.transpose();
    if (const double g = row.dot(b); std::abs(g) > 1e3 * static_cast<double>(n) * eps * size.dot(b.cwiseAbs()))
      gain = g;
    row = (A.transpose() * row).eval();
    size = (A_abs.transpose() * size).eval();
  }
  if (gain == 0.0) return found;
  found.gain = gain;
  found.poles = find_spectrum(A, noise, {.vectors = false}).eigenvalues;
  const Index r = rows.rows();
  Eigen::MatrixXd closed = A - b * row.transpose() / gain;
  if (r > 0) {
    for (Index k = 0; k < r; ++k) rows.row(k) /= rows.row(k).norm();
    const Eigen::MatrixXd columns = rows.transpose();
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
    Eigen::MatrixXd V = Eigen::MatrixXd::Identity(n, n);
    V.applyOnTheLeft(qr.householderQ());
    const Eigen::MatrixXd N = V.rightCols(n - r), CN = closed * N;
    closed = N.transpose() * CN;
  }
  const Eigen::MatrixXd rounding = Eigen::MatrixXd::Constant(
      closed.rows(), closed.cols(), 2.0 * eps * (closed.size() > 0 ? closed.cwiseAbs().maxCoeff() : 0.0));
  if (closed.rows() > 0) found.zeros = find_spectrum(closed, rounding, {.vectors = false}).eigenvalues;
  bool integrates = false;
  for (const Eigenvalue& p : found.poles) integrates |= p.value == 0.0;
  if (integrates) {
    found.at_zero = std::numeric_limits<double>::infinity();
  } else {
    const Eigen::VectorXd x = n > 0 ? Eigen::VectorXd(Eigen::PartialPivLU<Eigen::MatrixXd>(A).solve(b)) : b;
    found.at_zero = d - c.dot(x);
  }
  return found;
}

}  // namespace

std::vector<TransferFunction> find_transfer_functions(const Linearisation& linear) {
  std::vector<TransferFunction> all;
  const Eigen::MatrixXd A = (linear.A.cwiseAbs().array() <= 4.0 * linear.A_noise.array())
                                .select(Eigen::MatrixXd::Zero(linear.A.rows(), linear.A.cols()), linear.A);
  for (Index y = 0; y < linear.C.rows(); ++y)
    for (Index u = 0; u < linear.B.cols(); ++u) {
      all.push_back(find_one(A, linear.A_noise, linear.B.col(u), linear.C.row(y).transpose(), linear.D(y, u)));
      all.back().input = static_cast<int>(u), all.back().output = static_cast<int>(y);
    }
  return all;
}

}  // namespace mechanician
