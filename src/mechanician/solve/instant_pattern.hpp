// Where M and A of a system may have entries, and the eliminations that were planned for it. Which unknown is eliminated when
// depends on the pattern alone and costs more than an elimination: a system plans once, for all its rows, and what is not
// there at an instant has values of zero.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mechanician/solve/sparse_elimination.hpp"
#include "mechanician/solve/sparse_pattern.hpp"
#include "mechanician/solve/sparse_rows.hpp"

namespace mechanician {

class InstantPattern {
 public:
  /// Of these matrices, whatever their values are. M: both triangles or one.
  InstantPattern(const SparseRows& M, const SparseRows& A);
  InstantPattern(const InstantPattern&) = delete;
  InstantPattern& operator=(const InstantPattern&) = delete;

  const SparsePattern& sparse() const { return pattern_; }
  int n() const { return pattern_.n; }
  int m() const { return pattern_.m; }
  /// Slots of a row of A: first_slot(row) … first_slot(row + 1) − 1.
  int first_slot(int row) const { return begin_[static_cast<std::size_t>(row)]; }

  /// Values of M by slot, symmetrised; nothing where it has an entry that is not in the pattern.
  std::optional<std::vector<double>> values_of_mass(const SparseRows& M) const;
  /// Values of A by slot, its row k being row rows[k] here (empty: k); zero in all others.
  std::optional<std::vector<double>> values_of_rows(const SparseRows& A, const std::vector<Eigen::Index>& rows) const;

  /// An elimination for one user at a time, made or one that was given back. Without checks of residuals.
  std::shared_ptr<SparseElimination> elimination(bool augment_all) const;

 private:
  struct Kept;
  SparsePattern pattern_;
  std::vector<int> begin_, mass_begin_;
  std::shared_ptr<Kept> kept_;
};

}  // namespace mechanician
