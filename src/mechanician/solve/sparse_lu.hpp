#pragma once

/// K x = r for a matrix without symmetry on a pattern that stays, by KLU: LU with the columns in an order that is found
/// once and rows exchanged where pivots ask for it.
///
/// The first factor chooses the pivots. Later ones keep them, for a third of the cost, and choose anew where entries have
/// grown by much more than in the first. After forget() the next factor does not depend on those before. With kept
/// pivots nothing is allocated.

#include <memory>
#include <span>
#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

class SparseLu {
 public:
  /// What the order of columns is good for: a matrix with a diagonal to take pivots from and a pattern that is nearly
  /// symmetric, or any other.
  enum class Kind { diagonal, general };
  /// Entries may come more than once: they share a place.
  SparseLu(int size, std::span<const SparseEntry> entries, Kind kind);
  ~SparseLu();
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;

  /// Where each entry lies among the values.
  std::span<const int> places() const;
  /// To be set before factor().
  std::span<double> values();
  /// False where K is singular or not finite.
  bool factor();
  void forget();
  /// x in the place of r. Of the last factor() that was true.
  void solve(double* r);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mechanician
