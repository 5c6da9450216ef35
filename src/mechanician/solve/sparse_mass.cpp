#include "mechanician/solve/sparse_mass.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "mechanician/solve/coordinate_scale.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

struct SparseMass::Block {
  std::vector<Index> coordinates;
  MatrixXd L, L_inv;  // where dense and definite, beyond one coordinate
  std::unique_ptr<Eigen::SimplicialLLT<Sparse>> sparse;
};

SparseMass::SparseMass(const SparseRows& M, const SparseRows& M_noise, const SparseRows& A) : M_(M) {
  const Index n = M.rows();
  check_.scale = VectorXd::Zero(n);
  find_blocks();
  if (find_asymmetry(M, M_noise)) {
    check_.kind = MassKind::not_symmetric;
  } else {
    for (Index i = 0; i < n && check_.kind != MassKind::indefinite; ++i)
      if (block_of_[static_cast<std::size_t>(i)] < 0) check_single(i, M_noise);
    for (std::size_t b = 0; b < blocks_.size() && check_.kind != MassKind::indefinite; ++b)
      check_block(*blocks_[b], M_noise);
  }
  const bool refused = check_.kind == MassKind::indefinite || check_.kind == MassKind::not_symmetric;
  s_ = coordinate_scale(refused ? VectorXd::Zero(n) : drop_drowning(check_.scale, A), A);
}

/// Coordinates that entries join, each block by increasing coordinate.
void SparseMass::find_blocks() {
  const auto n = static_cast<std::size_t>(M_.rows());
  std::vector<int> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (const SparseRows::Entry& e : M_.row(static_cast<Index>(i)))
      if (e.value != 0.0) parent[root(static_cast<int>(i))] = root(e.col);
  std::vector<int> count(n, 0), number(n, -1);
  for (std::size_t i = 0; i < n; ++i) ++count[root(static_cast<int>(i))];
  block_of_.assign(n, -1), place_.assign(n, 0);
  root_ = VectorXd::Ones(M_.rows());
  for (std::size_t i = 0; i < n; ++i) {
    const int r = root(static_cast<int>(i));
    if (count[r] == 1) continue;
    if (number[r] < 0) number[r] = static_cast<int>(blocks_.size()), blocks_.push_back(std::make_shared<Block>());
    block_of_[i] = number[r];
    Block& block = *blocks_[number[r]];
    place_[i] = static_cast<int>(block.coordinates.size());
    block.coordinates.push_back(static_cast<Index>(i));
  }
}

bool SparseMass::find_asymmetry(const SparseRows& M, const SparseRows& noise) {
  const auto noise_at = [&](Index i, Index j) { return noise.size() > 0 ? std::abs(noise(i, j)) : 0.0; };
  double worst = 1.0;
  for (Index i = 0; i < M.rows(); ++i) {
    for (const SparseRows::Entry& e : M.row(i)) {
      if (e.col == i) continue;
      const double other = M(e.col, i);
      if (e.value == other || (e.col > i && other != 0.0)) continue;  // seen from the other side
      const double size = std::max(
          {std::sqrt(std::abs(M(i, i))) * std::sqrt(std::abs(M(e.col, e.col))), std::abs(e.value), std::abs(other)});
      const double allowed = asymmetry_tolerance * size + noise_at(i, e.col) + noise_at(e.col, i);
      const double difference = std::abs(e.value - other);
      if (!(difference > worst * allowed)) continue;
      worst = allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity();
      check_.asymmetric_row = std::max<Index>(i, e.col);
      check_.asymmetric_column = std::min<Index>(i, e.col);
    }
  }
  return check_.asymmetric_row >= 0;
}

void SparseMass::set_negative(double eigenvalue, const std::vector<Index>& at, const VectorXd& direction) {
  check_.kind = MassKind::indefinite;
  check_.negative_eigenvalue = eigenvalue;
  check_.negative_direction = VectorXd::Zero(M_.rows());
  for (std::size_t k = 0; k < at.size(); ++k) check_.negative_direction(at[k]) = direction(static_cast<Index>(k));
}

void SparseMass::check_single(Index i, const SparseRows& noise) {
  check_.tolerance = std::max(check_.tolerance, 1e-13 * static_cast<double>(M_.rows()));
  const double mass = M_(i, i);
  if (std::abs(mass) <= (noise.size() > 0 ? std::abs(noise(i, i)) : 0.0)) {
    check_.kind = MassKind::semidefinite;
  } else if (mass < 0) {
    set_negative(mass, {i}, VectorXd::Ones(1));
  } else {
    root_(i) = std::sqrt(mass);
    check_.scale(i) = 1.0 / root_(i);
  }
}

void SparseMass::check_block(Block& block, const SparseRows& noise) {
  const auto size = static_cast<Index>(block.coordinates.size());
  const auto n = static_cast<double>(M_.rows());
  if (size > largest_dense) return check_large(block);
  MatrixXd M = MatrixXd::Zero(size, size), N = noise.size() > 0 ? M : MatrixXd();
  for (Index i = 0; i < size; ++i) {
    for (const SparseRows::Entry& e : M_.row(block.coordinates[i]))
      if (block_of_[e.col] == block_of_[block.coordinates[i]]) M(i, place_[e.col]) = e.value;
    for (Index k = 0; k < size && N.size() > 0; ++k) N(i, k) = noise(block.coordinates[i], block.coordinates[k]);
  }
  M = (0.5 * (M + M.transpose())).eval();
  const MassCheck here = check_mass(M, N);
  check_.tolerance = std::max({check_.tolerance, here.tolerance, 1e-13 * n});
  for (Index i = 0; i < here.scale.size(); ++i) check_.scale(block.coordinates[i]) = here.scale(i);
  if (here.kind == MassKind::indefinite)
    return set_negative(here.negative_eigenvalue, block.coordinates, here.negative_direction);
  Cholesky cholesky = calc_cholesky(M);
  if (here.kind == MassKind::semidefinite || !cholesky.definite) {
    check_.kind = MassKind::semidefinite;
    return;
  }
  block.L = std::move(cholesky.L);
  block.L_inv = solve_lower(block.L, MatrixXd(MatrixXd::Identity(size, size)));
}

/// As check_mass(), by factors with a shift: what is below it is no mass.
void SparseMass::check_large(Block& block) {
  const auto size = static_cast<Index>(block.coordinates.size());
  VectorXd scale = VectorXd::Ones(size);
  for (Index i = 0; i < size; ++i) {
    const double mass = M_(block.coordinates[i], block.coordinates[i]);
    if (mass > 0) scale(i) = check_.scale(block.coordinates[i]) = 1.0 / std::sqrt(mass);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < size; ++i)
    for (const SparseRows::Entry& e : M_.row(block.coordinates[i]))
      if (e.value != 0.0 && block_of_[e.col] == block_of_[block.coordinates[i]]) {
        const int j = place_[e.col];
        const double half = 0.5 * e.value * scale(i) * scale(j);
        entries.emplace_back(static_cast<int>(i), j, half), entries.emplace_back(j, static_cast<int>(i), half);
      }
  Sparse scaled(size, size);
  scaled.setFromTriplets(entries.begin(), entries.end());
  const double tolerance = 1e-13 * static_cast<double>(M_.rows());
  check_.tolerance = std::max(check_.tolerance, tolerance);
  Eigen::SimplicialLDLT<Sparse> ldlt;
  ldlt.setShift(1e-11);
  ldlt.compute(scaled);
  if (ldlt.info() != Eigen::Success || ldlt.vectorD().minCoeff() < 0) {
    // M = L D Lᵀ with D_k < 0: x = L⁻ᵀe_k has xᵀM x = D_k.
    check_.kind = MassKind::indefinite;
    check_.negative_direction = VectorXd::Zero(M_.rows());
    if (ldlt.info() != Eigen::Success) return;
    Index k = 0;
    ldlt.vectorD().minCoeff(&k);
    VectorXd x = ldlt.matrixU().solve(VectorXd::Unit(size, k));
    x = scale.cwiseProduct(ldlt.permutationPinv() * x).normalized();
    for (Index i = 0; i < size; ++i) check_.negative_direction(block.coordinates[i]) = x(i);
    check_.negative_eigenvalue = check_.negative_direction.dot(M_ * check_.negative_direction);
    return;
  }
  // δ(M + δ)⁻¹ leaves of random numbers what has no mass.
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  VectorXd z(size);
  for (double& value : z) value = normal(random);
  for (int power = 0; power < 3; ++power) z = 1e-11 * ldlt.solve(z);
  if (z.cwiseAbs().maxCoeff() > 1e-6) {
    check_.kind = MassKind::semidefinite;
    return;
  }
  for (Index k = 0; k < scaled.outerSize(); ++k)
    for (Sparse::InnerIterator it(scaled, k); it; ++it) it.valueRef() /= scale(it.row()) * scale(it.col());
  block.sparse = std::make_unique<Eigen::SimplicialLLT<Sparse>>(scaled);
  if (block.sparse->info() != Eigen::Success) check_.kind = MassKind::semidefinite;
}

VectorXd SparseMass::solve(const VectorXd& f) const {
  VectorXd x(f.size());
  for (Index i = 0; i < f.size(); ++i)
    if (block_of_[static_cast<std::size_t>(i)] < 0) x(i) = f(i) / root_(i) / root_(i);
  for (const auto& block : blocks_) {
    const auto& at = block->coordinates;
    if (block->sparse) {
      x(at) = block->sparse->solve(VectorXd(f(at)));
    } else {
      x(at) = solve_lower_transposed(block->L, solve_lower(block->L, VectorXd(f(at))));
    }
  }
  return x;
}

VectorXd SparseMass::inverse_root(const VectorXd& f) const {
  VectorXd x(f.size());
  for (Index i = 0; i < f.size(); ++i)
    if (block_of_[static_cast<std::size_t>(i)] < 0) x(i) = f(i) / root_(i);
  for (const auto& block : blocks_) {
    if (block->sparse) return {};
    const auto& at = block->coordinates;
    x(at) = calc_mass_roots(block->L * block->L.transpose()).inv_root * f(at);
  }
  return x;
}

double SparseMass::force_norm(const VectorXd& f) const {
  if (!definite()) return s_.cwiseProduct(f).norm();
  double squares = 0;
  for (Index i = 0; i < f.size(); ++i)
    if (block_of_[static_cast<std::size_t>(i)] < 0) squares += (f(i) / root_(i)) * (f(i) / root_(i));
  for (const auto& block : blocks_) {
    const auto& at = block->coordinates;
    if (block->sparse) {
      squares += f(at).dot(block->sparse->solve(VectorXd(f(at))));
    } else {
      squares += solve_lower(block->L, VectorXd(f(at))).squaredNorm();
    }
  }
  return std::sqrt(std::max(0.0, squares));
}

double SparseMass::motion_norm(const VectorXd& x) const {
  if (!definite()) return x.cwiseQuotient(s_).norm();
  return std::sqrt(std::max(0.0, x.dot(M_ * x)));
}

double SparseMass::row_norm(std::span<const SparseRows::Entry> row, bool noise) const {
  double squares = 0;
  std::vector<int> joined;  // blocks of several coordinates
  for (const SparseRows::Entry& e : row) {
    if (!definite() || block_of_[e.col] < 0 || blocks_[block_of_[e.col]]->sparse) {
      squares += (e.value * s_(e.col)) * (e.value * s_(e.col));
    } else if (std::find(joined.begin(), joined.end(), block_of_[e.col]) == joined.end()) {
      joined.push_back(block_of_[e.col]);
    }
  }
  for (const int b : joined) {
    const Block& block = *blocks_[b];
    VectorXd f = VectorXd::Zero(static_cast<Index>(block.coordinates.size()));
    for (const SparseRows::Entry& e : row)
      if (block_of_[e.col] == b) f(place_[e.col]) = e.value;
    squares += (noise ? VectorXd(block.L_inv.cwiseAbs() * f.cwiseAbs()) : solve_lower(block.L, f)).squaredNorm();
  }
  return std::sqrt(squares);
}

}  // namespace mechanician
