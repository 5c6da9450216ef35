// A mass matrix by the blocks that it falls into: coordinates that no entry joins have nothing to do with each other.
// mass.hpp for each block; blocks beyond `largest_dense` by a sparse Cholesky factorisation.
//
// The metric: with M = L Lᵀ, ‖f‖ = ‖L⁻¹f‖ = √(fᵀM⁻¹f) for forces and ‖x‖ = ‖Lᵀx‖ = √(xᵀM x) for accelerations; where M
// is not definite coordinates are scaled by s, ‖S f‖ and ‖S⁻¹x‖, as in factorisation.hpp.
// Cost: linear in the entries but for the cubes of the blocks.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "mechanician/solve/mass.hpp"
#include "mechanician/solve/sparse_rows.hpp"

namespace mechanician {

class SparseMass {
 public:
  static constexpr Eigen::Index largest_dense = 64;

  /// M square and finite. A: for the scale of coordinates without mass.
  SparseMass(const SparseRows& M, const SparseRows& M_noise, const SparseRows& A);

  const MassCheck& check() const { return check_; }
  bool definite() const { return check_.kind == MassKind::definite; }
  const Eigen::VectorXd& scale() const { return s_; }  ///< of coordinates, positive

  /// M⁻¹f, M^(−1/2)f; M > 0 only. The second is empty where a block is too large for it.
  Eigen::VectorXd solve(const Eigen::VectorXd& f) const;
  Eigen::VectorXd inverse_root(const Eigen::VectorXd& f) const;

  double force_norm(const Eigen::VectorXd& f) const;
  double motion_norm(const Eigen::VectorXd& x) const;
  /// The norm of a row as a force; in blocks beyond `largest_dense` by their diagonal alone. With `noise` (entries are
  /// bounds) no cancellation is counted on.
  double row_norm(std::span<const SparseRows::Entry> row, bool noise = false) const;

 private:
  struct Block;
  void find_blocks();
  bool find_asymmetry(const SparseRows& M, const SparseRows& noise);
  void check_single(Eigen::Index i, const SparseRows& noise);
  void set_negative(double eigenvalue, const std::vector<Eigen::Index>& at, const Eigen::VectorXd& direction);
  void check_block(Block& block, const SparseRows& noise);
  void check_large(Block& block);

  SparseRows M_;
  MassCheck check_;
  Eigen::VectorXd s_;
  std::vector<std::shared_ptr<Block>> blocks_;  // of several coordinates
  std::vector<int> block_of_, place_;           // of coordinates; −1 where one stands alone; place within the block
  Eigen::VectorXd root_;                        // √M_ii of those that stand alone
};

}  // namespace mechanician
