// Multipliers of rows that depend on each other: dropped row d = Σ_i T_id · kept row i, rows as given, so that
//
//   λ + N ζ,  N an orthonormal basis of the span of (−T; I),
//
// is the same force for any ζ. Of these the one of least norm that is ≥ 0 on one-sided rows: a least-distance problem
// in ζ, as many unknowns as there are dropped rows.
#pragma once

#include <optional>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

struct DependentRows {
  std::vector<Eigen::Index> kept, dropped;  // positions in λ
  Eigen::MatrixXd T;                        // kept × dropped
};

/// `one_sided`, `zero`: by entry of λ; entries down to −zero are none below zero. Nothing where there is no such λ.
std::optional<Eigen::VectorXd> choose_non_negative(const Eigen::VectorXd& lambda, const DependentRows& rows,
                                                   const std::vector<bool>& one_sided, const Eigen::VectorXd& zero);

}  // namespace mechanician
