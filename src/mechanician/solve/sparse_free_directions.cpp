#include "mechanician/solve/sparse_free_directions.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/eigen_sparse.hpp"

namespace mechanician {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

constexpr double shift = 1e-11;  ///< δ, of matrices of size 1
constexpr int powers = 3;        ///< of the projection: what is not free goes with (δ/σ)³
constexpr double seen = 1e-6;    ///< share of the largest entry from which a coordinate counts

Matrix shifted(const Matrix& H) {
  Matrix I(H.rows(), H.cols());
  I.setIdentity();
  return H + shift * I;
}

VectorXd project(const Eigen::SimplicialLDLT<Matrix>& ldlt, VectorXd x) {
  for (int k = 0; k < powers; ++k) x = shift * ldlt.solve(x);
  return x;
}

std::vector<int> find_large_entries(const VectorXd& x, double from) {
  std::vector<int> found;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (std::abs(x(i)) > from) found.push_back(static_cast<int>(i));
  return found;
}

/// H = L D Lᵀ with D_k < 0: x = L⁻ᵀe_k has xᵀH x = D_k.
std::vector<int> find_negative(const Eigen::SimplicialLDLT<Matrix>& ldlt, Eigen::Index n) {
  if (ldlt.info() != Eigen::Success) return {};
  Eigen::Index k = 0;
  ldlt.vectorD().minCoeff(&k);
  VectorXd x = ldlt.matrixU().solve(VectorXd::Unit(n, k));
  x = ldlt.permutationPinv() * x;
  return find_large_entries(x, 1e-3 * x.cwiseAbs().maxCoeff());
}

VectorXd random_numbers(std::mt19937_64& random, Eigen::Index size) {
  std::normal_distribution<double> normal;
  VectorXd z(size);
  for (double& x : z) x = normal(random);
  return z;
}

}  // namespace

struct SparseFreeSpace::Factor {
  Eigen::SimplicialLDLT<Matrix> ldlt;
};

SparseFreeSpace::~SparseFreeSpace() = default;

SparseFreeSpace::SparseFreeSpace(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A) {
  SparseFreeDirections& result = found_;
  const Eigen::Index n = pattern.n, m = pattern.m;
  VectorXd& D = D_;
  D = VectorXd::Zero(n);
  double heaviest = 0;
  for (std::size_t k = 0; k < M.size(); ++k)
    if (pattern.M[k].row == pattern.M[k].col) D(pattern.M[k].row) = M[k], heaviest = std::max(heaviest, std::abs(M[k]));
  if (!(heaviest > 0)) heaviest = 1;
  for (Eigen::Index i = 0; i < n; ++i)
    D(i) = 1 / std::sqrt(std::abs(D(i)) > 1e-14 * heaviest ? std::abs(D(i)) : heaviest);
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t k = 0; k < M.size(); ++k) {
    const auto [i, j] = pattern.M[k];
    entries.emplace_back(i, j, M[k] * D(i) * D(j));
    if (i != j) entries.emplace_back(j, i, M[k] * D(i) * D(j));
  }
  Matrix mass(n, n);
  mass.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Matrix> of_mass(shifted(mass));
  if (of_mass.info() != Eigen::Success || of_mass.vectorD().minCoeff() < 0) {
    result.mass_is_indefinite = true;
    result.negative = find_negative(of_mass, n);
    return;
  }
  std::mt19937_64 random(1);
  const VectorXd z = random_numbers(random, n);
  result.mass_is_definite = project(of_mass, z).cwiseAbs().maxCoeff() <= seen;

  entries.clear();
  VectorXd size = VectorXd::Zero(m);
  for (std::size_t s = 0; s < A.size(); ++s)
    size(pattern.A[s].row) += A[s] * A[s] * D(pattern.A[s].col) * D(pattern.A[s].col);
  for (std::size_t s = 0; s < A.size(); ++s) {
    const auto [r, i] = pattern.A[s];
    if (size(r) > 0) entries.emplace_back(r, i, A[s] * D(i) / std::sqrt(size(r)));
  }
  Matrix rows(m, n);
  rows.setFromTriplets(entries.begin(), entries.end());
  const Matrix H = mass + Matrix(rows.transpose() * rows);
  factor_ = std::make_unique<Factor>();
  factor_->ldlt.compute(shifted(H));
  const VectorXd free = project(factor_->ldlt, z);
  const double largest = free.size() > 0 ? free.cwiseAbs().maxCoeff() : 0.0;
  if (largest > seen) result.undetermined = find_large_entries(free, seen * largest);
}

bool SparseFreeSpace::is_solvable(std::span<const double> f) const {
  if (found_.undetermined.empty() || !factor_) return true;
  const VectorXd force = D_.cwiseProduct(Eigen::Map<const VectorXd>(f.data(), D_.size()));
  return project(factor_->ldlt, force).norm() <= 1e-9 * force.norm();
}

MatrixXd SparseFreeSpace::basis(Eigen::Index most) const {
  if (found_.undetermined.empty() || !factor_) return MatrixXd(D_.size(), 0);
  std::mt19937_64 random(2);
  const Eigen::Index num = std::min(most + 1, D_.size());
  MatrixXd probes(D_.size(), num);
  for (Eigen::Index k = 0; k < num; ++k) probes.col(k) = project(factor_->ldlt, random_numbers(random, D_.size()));
  const PivotedQr qr = calc_pivoted_qr(probes);
  Eigen::Index rank = 0;
  while (rank < num && std::abs(qr.R(rank, rank)) > seen) ++rank;
  return rank > most ? MatrixXd() : MatrixXd(qr.V.leftCols(rank));
}

SparseFreeDirections find_free_directions(const SparsePattern& pattern, std::span<const double> M,
                                          std::span<const double> A, std::span<const double> f) {
  const SparseFreeSpace space(pattern, M, A);
  SparseFreeDirections result = space.directions();
  result.solvable = result.mass_is_indefinite || space.is_solvable(f);
  return result;
}

}  // namespace mechanician
