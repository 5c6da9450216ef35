#include "mechanician/analysis/transfer.hpp"

#include <cmath>
#include <limits>
#include <utility>

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

/// Orthonormal: b, A b, A² b, … as far as these go, as columns; the others behind them.
struct Staircase {
  Eigen::MatrixXd basis;
  Index size = 0;  ///< of the first part
};

/// `least`: vectors that are shorter, over the norm of A, are rounding whatever its bounds say.
Staircase find_staircase(const Eigen::MatrixXd& A, const Eigen::MatrixXd& noise, const Eigen::VectorXd& b,
                         double least) {
  const Index n = A.rows();
  const Eigen::MatrixXd sizes = A.cwiseAbs() * (static_cast<double>(n) * eps) + noise;
  Eigen::MatrixXd V(n, n);
  Index k = 0;
  Eigen::VectorXd next = b;
  double rounding = 0.0;
  const double norm = A.norm();
  for (; k < n; ++k) {
    for (int twice = 0; twice < 2; ++twice) {
      const Eigen::VectorXd along = V.leftCols(k).transpose() * next;
      next -= V.leftCols(k) * along;
    }
    const double length = next.norm();
    if (!(length > 100.0 * rounding && (k == 0 || length > least * norm))) break;
    V.col(k) = next / length;
    rounding = (sizes * V.col(k).cwiseAbs()).norm();
    next = A * V.col(k);
  }
  Staircase found{Eigen::MatrixXd::Identity(n, n), k};
  const Eigen::MatrixXd first = V.leftCols(k);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(first);
  found.basis.applyOnTheLeft(qr.householderQ());
  return found;
}

/// x = scale x̂ with rows and columns of the matrix about equally large.
Eigen::VectorXd find_balance(const Eigen::MatrixXd& A) {
  Eigen::VectorXd scale = Eigen::VectorXd::Ones(A.rows());
  for (int round = 0; round < 20; ++round)
    for (Index i = 0; i < A.rows(); ++i) {
      double row = 0.0, column = 0.0;
      for (Index j = 0; j < A.rows(); ++j)
        if (j != i) row += std::abs(A(i, j)) * scale(j) / scale(i), column += std::abs(A(j, i)) * scale(i) / scale(j);
      if (row > 0.0 && column > 0.0) scale(i) *= std::exp2(std::round(0.5 * std::log2(row / column)));
    }
  return scale;
}

/// Takes from a list what is nearest to each of the values; false where something is not there.
bool take_out(std::vector<Eigenvalue>& from, const std::vector<Eigenvalue>& values) {
  std::vector<Eigenvalue> left = from;
  for (const Eigenvalue& x : values) {
    std::size_t at = left.size();
    for (std::size_t k = 0; k < left.size(); ++k)
      if (at == left.size() || std::abs(left[k].value - x.value) < std::abs(left[at].value - x.value)) at = k;
    if (at == left.size()) return false;
    constexpr double near = 1e-9;
    if (std::abs(left[at].value - x.value) >
        near * (std::abs(left[at].value) + std::abs(x.value)) + 10.0 * (left[at].uncertainty + x.uncertainty))
      return false;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  from = std::move(left);
  return true;
}

/// What is left of a system without what the input does not move and the output does not see.
struct Minimal {
  Eigen::MatrixXd A;
  Eigen::VectorXd b, c;
  std::vector<Eigenvalue> beside;  ///< eigenvalues of what was taken away
};

Minimal find_minimal(const Eigen::MatrixXd& A, const Eigen::MatrixXd& noise, const Eigen::VectorXd& b,
                     const Eigen::VectorXd& c, double least) {
  const Eigen::VectorXd scale = find_balance(A);
  Minimal m{
      scale.cwiseInverse().asDiagonal() * A * scale.asDiagonal(), b.cwiseQuotient(scale), c.cwiseProduct(scale), {}};
  Eigen::MatrixXd bound = scale.cwiseInverse().asDiagonal() * noise * scale.asDiagonal();
  for (const bool seen : {false, true}) {
    const Eigen::MatrixXd turned = seen ? Eigen::MatrixXd(m.A.transpose()) : m.A;
    const Eigen::MatrixXd turned_bound = seen ? Eigen::MatrixXd(bound.transpose()) : bound;
    const Staircase stairs = find_staircase(turned, turned_bound, seen ? m.c : m.b, least);
    const Index k = stairs.size, rest = m.A.rows() - k;
    if (rest == 0) continue;
    const Eigen::MatrixXd AV = m.A * stairs.basis, all = stairs.basis.transpose() * AV;
    const double rounding = turned_bound.norm() + eps * m.A.norm();
    const Eigen::MatrixXd other = all.bottomRightCorner(rest, rest);
    const Spectrum left = find_spectrum(other, Eigen::MatrixXd::Constant(rest, rest, rounding), {.vectors = false});
    m.beside.insert(m.beside.end(), left.eigenvalues.begin(), left.eigenvalues.end());
    const Eigen::MatrixXd V = stairs.basis.leftCols(k);
    m.A = all.topLeftCorner(k, k);
    m.b = (V.transpose() * m.b).eval(), m.c = (V.transpose() * m.c).eval();
    bound = Eigen::MatrixXd::Constant(k, k, rounding);
  }
  return m;
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
  // Poles that are zeros too, since nothing goes through them. What is wrong with a vector of the staircase grows where the next is short, so that its
  // end is looked for on several levels: what ends too early or too late leaves eigenvalues that are not both, and is not believed.
  Minimal minimal{A, b, c, {}};
  const std::vector<Eigenvalue> all_zeros = found.zeros, all_poles = found.poles;
  for (const double least : {0.0, 1e-12, 1e-10, 1e-8}) {
    if (least > 0.0 && n > 300) break;  // each costs the cube of that
    Minimal less = find_minimal(A, noise, b, c, least);
    std::vector<Eigenvalue> zeros = all_zeros, poles = all_poles;
    if (less.beside.size() <= minimal.beside.size() || !take_out(poles, less.beside) || !take_out(zeros, less.beside))
      continue;
    found.poles = std::move(poles), found.zeros = std::move(zeros);
    minimal = std::move(less);
  }
  bool integrates = false;
  for (const Eigenvalue& p : found.poles) integrates |= p.value == 0.0;
  if (integrates) {
    found.at_zero = std::numeric_limits<double>::infinity();
  } else {
    const auto static_gain = [d](const Eigen::MatrixXd& M, const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
      return x.size() > 0 ? d - y.dot(Eigen::VectorXd(Eigen::PartialPivLU<Eigen::MatrixXd>(M).solve(x))) : d;
    };
    found.at_zero = static_gain(minimal.A, minimal.b, minimal.c);
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
