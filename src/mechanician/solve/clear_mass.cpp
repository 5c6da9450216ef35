#include "mechanician/solve/clear_mass.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "mechanician/solve/dense.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int largest_block = 64;

}  // namespace

bool is_clearly_definite(const MatrixXd& M, const MatrixXd& noise) {
  const Index n = M.rows();
  if (n == 0) return true;
  if (!M.allFinite() || !(M.diagonal().minCoeff() > 0)) return false;
  const VectorXd scale = M.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return false;
  double rounding = 32.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  if (noise.size() != 0) rounding += (scale.asDiagonal() * noise * scale.asDiagonal()).norm();
  const Cholesky cholesky = calc_cholesky(scale.asDiagonal() * M * scale.asDiagonal());
  return cholesky.definite && cholesky.rcond > std::max(clearly_definite, clearly_above_noise * rounding);
}

bool is_clearly_definite(const SparsePattern& pattern, std::span<const double> M) {
  const auto n = static_cast<std::size_t>(pattern.n);
  std::vector<std::size_t> parent(n);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const SparseEntry& e : pattern.M)
    parent[root(static_cast<std::size_t>(e.row))] = root(static_cast<std::size_t>(e.col));
  // Places in the blocks, and the entries of each block one after the other.
  std::vector<int> size(n, 0), place(n);
  for (std::size_t i = 0; i < n; ++i) place[i] = size[root(i)]++;
  std::vector<std::size_t> order(pattern.M.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto block_of = [&](std::size_t k) { return root(static_cast<std::size_t>(pattern.M[k].row)); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return block_of(a) < block_of(b); });
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    const std::size_t block = block_of(order[begin]);
    for (end = begin; end < order.size() && block_of(order[end]) == block;) ++end;
    if (size[block] == 1 || size[block] > largest_block) continue;
    MatrixXd dense = MatrixXd::Zero(size[block], size[block]);
    for (std::size_t l = begin; l < end; ++l) {
      const SparseEntry& e = pattern.M[order[l]];
      const int i = place[static_cast<std::size_t>(e.row)], j = place[static_cast<std::size_t>(e.col)];
      dense(i, j) = dense(j, i) = M[order[l]];
    }
    if (!is_clearly_definite(dense)) return false;
  }
  return true;
}

}  // namespace mechanician
