// Directions in which a large system is free to accelerate in any way: what neither mass nor row sees,
//
//   null(M) ∩ null(A) = null(H),   H = D M D + D Aᵀ S² A D, D and S such that masses and rows are of size 1
//
// For a small δ, δ(H + δI)⁻¹ is the projection onto that space up to δ/σ, σ the smallest eigenvalue of H that is not zero.
// Applied to a vector of random numbers it shows every coordinate that has a part in a free direction; applied to the force
// it shows whether the force pushes there; applied to several vectors of random numbers it leaves a basis.
// Cost: one simplicial factorisation and some solutions. Allocates.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

struct SparseFreeDirections {
  bool mass_is_indefinite = false;  // M has a negative eigenvalue; then nothing else is said but
  std::vector<int> negative;        // coordinates of a direction x with xᵀM x < 0, increasing
  bool mass_is_definite = true;     // no direction without mass
  std::vector<int> undetermined;    // coordinates, increasing; empty: the acceleration is unique
  bool solvable = true;             // no force acts in a free direction
};

class SparseFreeSpace {
 public:
  SparseFreeSpace(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A);
  ~SparseFreeSpace();

  const SparseFreeDirections& directions() const { return found_; }
  bool is_solvable(std::span<const double> f) const;
  /// Orthonormal in the coordinates x/D; n×p. Nothing where there are more than `most` directions.
  Eigen::MatrixXd basis(Eigen::Index most) const;
  const Eigen::VectorXd& scale() const { return D_; }  ///< D

 private:
  struct Factor;
  SparseFreeDirections found_;
  Eigen::VectorXd D_;
  std::unique_ptr<Factor> factor_;
};

SparseFreeDirections find_free_directions(const SparsePattern& pattern, std::span<const double> M,
                                          std::span<const double> A, std::span<const double> f);

}  // namespace mechanician
