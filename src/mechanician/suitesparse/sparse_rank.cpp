#include "mechanician/suitesparse/sparse_rank.hpp"

#include <SuiteSparseQR.hpp>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

namespace mechanician {

namespace {

using Long = SuiteSparse_long;

struct Workspace {
  Workspace() { cholmod_l_start(&common); }
  ~Workspace() { cholmod_l_finish(&common); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  cholmod_common common;
};

}  // namespace

SparseRank find_sparse_rank(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A,
                            double tolerance, double negligible) {
  assert(M.size() == pattern.M.size() && A.size() == pattern.A.size());
  SparseRank result;
  if (pattern.m == 0 || pattern.n == 0) return result;
  std::vector<double> mass(pattern.n, 0.0), size(pattern.m, 0.0);
  double heaviest = 0;
  for (std::size_t k = 0; k < M.size(); ++k)
    if (pattern.M[k].row == pattern.M[k].col) mass[pattern.M[k].row] = M[k], heaviest = std::max(heaviest, M[k]);
  for (double& value : mass)
    if (!(value > 0)) value = heaviest > 0 ? heaviest : 1;
  for (std::size_t s = 0; s < A.size(); ++s) size[pattern.A[s].row] += A[s] * A[s] / mass[pattern.A[s].col];
  for (double& value : size) value = value > 0 ? std::sqrt(value) : 1;

  // Aᵀ: a column for each row of A.
  Workspace workspace;
  cholmod_common* common = &workspace.common;
  cholmod_triplet* triplet = cholmod_l_allocate_triplet(pattern.n, pattern.m, A.size(), 0, CHOLMOD_REAL, common);
  if (triplet == nullptr) throw std::runtime_error("no memory for the sparse QR");
  for (std::size_t s = 0; s < A.size(); ++s) {
    const auto [row, col] = pattern.A[s];
    static_cast<Long*>(triplet->i)[s] = col;
    static_cast<Long*>(triplet->j)[s] = row;
    static_cast<double*>(triplet->x)[s] = A[s] / (size[row] * std::sqrt(mass[col]));
  }
  triplet->nnz = A.size();
  cholmod_sparse* columns = cholmod_l_triplet_to_sparse(triplet, 0, common);
  cholmod_l_free_triplet(&triplet, common);
  cholmod_sparse* R = nullptr;
  Long* order = nullptr;
  const Long rank = SuiteSparseQR<double>(SPQR_ORDERING_DEFAULT, tolerance, pattern.n, columns, &R, &order, common);
  cholmod_l_free_sparse(&columns, common);
  if (rank < 0 || R == nullptr) throw std::runtime_error("no memory for the sparse QR");
  result.rank = static_cast<int>(rank);

  // R = [R1 R2]: R1 c = R2's column, from the last row up.
  const auto row_of = [&](Long k) { return static_cast<int>(order ? order[k] : k); };
  const Long *begin = static_cast<Long*>(R->p), *at = static_cast<Long*>(R->i);
  const double* value = static_cast<double*>(R->x);
  std::vector<double> c(rank);
  for (Long k = rank; k < pattern.m; ++k) {
    std::fill(c.begin(), c.end(), 0.0);
    for (Long p = begin[k]; p < begin[k + 1]; ++p)
      if (at[p] < rank) c[at[p]] = value[p];
    for (Long j = rank - 1; j >= 0; --j) {
      if (c[j] == 0) continue;
      double diagonal = 0;
      for (Long p = begin[j]; p < begin[j + 1]; ++p)
        if (at[p] == j) diagonal = value[p];
      c[j] /= diagonal;
      for (Long p = begin[j]; p < begin[j + 1]; ++p)
        if (at[p] < j) c[at[p]] -= value[p] * c[j];
    }
    SparseDependence dependence;
    dependence.row = row_of(k);
    std::vector<std::pair<int, double>> named;
    for (Long j = 0; j < rank; ++j)
      if (std::abs(c[j]) > negligible) named.emplace_back(row_of(j), c[j] * size[dependence.row] / size[row_of(j)]);
    std::sort(named.begin(), named.end());
    for (const auto& [row, coefficient] : named) {
      dependence.rows.push_back(row);
      dependence.coefficients.push_back(coefficient);
    }
    result.dependences.push_back(std::move(dependence));
  }
  cholmod_l_free_sparse(&R, common);
  cholmod_l_free(pattern.m, sizeof(Long), order, common);
  return result;
}

}  // namespace mechanician
