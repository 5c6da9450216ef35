#pragma once

/// Weights W that make M + AᵀWA well conditioned where M is singular and A q̈ = b settles the rest.
///
///     w_j = 1/Σᵢ a_ji²/m_i,   m_i what coordinate i weighs
///
/// makes every row as heavy as what it acts on, so that nothing depends on units: rows of unit norm in coordinates that are
/// in units of their own mass. Any weights give the same accelerations; weights that are off by a factor cost that factor in
/// accuracy.
///
/// What a coordinate weighs cannot be read from one state. A body that stands as its quaternion (1, 0, 0, 0) says has no mass in
/// the direction of the first of the four numbers, and has it as soon as it turns: typical sizes are means over states
/// around the one that is given.

#include <span>
#include <utility>
#include <vector>

namespace mechanician {

/// Coordinates of row j: cols[begin[j]], …, cols[begin[j + 1] − 1].
struct RowPattern {
  std::vector<int> begin{0}, cols;
};

/// q itself and states around it, on the constraints or not. Coordinates are changed by up to half their size, where those that share
/// a row and a mass count as one, as the four of a quaternion; zeros by the size of others in their rows. Always the same.
/// `coupled`: pairs between which M has an entry.
std::vector<std::vector<double>> states_around(std::span<const double> q, const RowPattern& rows,
                                               std::vector<std::pair<int, int>> coupled);

struct TypicalSizes {
  std::vector<double> masses;   ///< means of M_ii
  std::vector<double> squares;  ///< means of a_ji², in the order of the pattern
  int count = 0;
  /// States of first order that no other row mentions. Any weight gives the same; the smaller it is, the less of the rounding of their
  /// rows comes to the coordinates that these mention. Set by the caller.
  std::vector<int> unfelt = {};

  /// Of one state more: M_ii, and a_ji in the order of the pattern. What is not finite does not count.
  void add(std::span<const double> diagonal, std::span<const double> entries);
  /// What each coordinate weighs: its mass; without any, what its heaviest row acts on, seen from it.
  std::vector<double> weigh_coordinates(const RowPattern& rows) const;
  std::vector<double> weigh_rows(const RowPattern& rows) const;
};

}  // namespace mechanician
