#pragma once

/// Sizes by which states and answers of a large system are judged. Linear in the size; they allocate.

#include <span>

#include "mechanician/large/large_system.hpp"
#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

bool all_finite(const LargeSystem::Values& values);

/// How far a state is off the constraints: |φ|/‖φ_q‖ is the distance to a row, to first order, measured against max(1, |q|) or
/// max(1, |q̇|). Where a row has no gradient, φ itself.
struct RowDistance {
  double largest = 0.0;
  int worst = -1;  ///< row
};
/// residual, rate: of evaluate_rows(), A of evaluate() at the same state.
RowDistance calc_row_distance(const LargeSystem& system, std::span<const double> A, std::span<const double> residual,
                              std::span<const double> rate, std::span<const double> q, std::span<const double> qd);
/// ‖A_j‖ of every row.
std::vector<double> calc_row_sizes(const LargeSystem& system, std::span<const double> A);

/// The largest part of its terms that is missing in a row of M x = f + Aᵀλ and of A x = g; infinite where it has no value. Rows that
/// depend on others may be left out. A coordinate without mass has no acceleration in its row that could bear the rounding of λ:
/// where no force acts on it, λ is zero up to some 10⁻¹³ of what acts on the others. Where there are such coordinates all rows are
/// granted that much: behind a joint without mass may be nothing but rounding.
struct SolutionResidual {
  double force = 0.0, row = 0.0;
  double largest() const { return force > row ? force : row; }
};
struct SolutionParts {
  std::span<const double> M, A, f, g, x, lambda;
  std::span<const int> left_out = {};  ///< rows
};
SolutionResidual calc_solution_residual(const SparsePattern& pattern, const SolutionParts& parts);

}  // namespace mechanician
