/// Linear complementarity: w = M z + q, w ≥ 0, z ≥ 0, z·w = 0, by Lemke's method (Cottle, Pang, Stone, section 4.4).
///
/// Where zᵀM z ≥ 0 for all z ≥ 0, and qᵀz ≥ 0 for those z that make it zero, an answer is found if there is one: contacts that
/// hit with friction are such a problem (Stewart, Trinkle, 1996). Others may end on a ray, with nothing found.
#pragma once

#include <optional>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

struct Complementarity {
  Eigen::VectorXd z;
  std::vector<bool> positive;  ///< by position: z counts as positive, and w is zero; else the other way round
};

/// Cost: one elimination of the whole matrix for each of some n … 3 n pivots.
std::optional<Complementarity> solve_complementarity(const Eigen::MatrixXd& M, const Eigen::VectorXd& q);

}  // namespace mechanician
