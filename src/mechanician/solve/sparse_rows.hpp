// A matrix by its entries, row by row: M and A of an instant, and the bounds of their rounding errors. What is not
// stored is zero; what is stored may be.
//
// Everything here costs time in proportion to the entries that are looked at. Dense algorithms take to_dense().
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace mechanician {

class SparseRows {
 public:
  using Index = Eigen::Index;
  struct Entry {
    int col = 0;
    double value = 0;
  };

  SparseRows() = default;
  /// No entries.
  SparseRows(Index rows, Index cols) : begin_(static_cast<std::size_t>(rows) + 1, 0), cols_(cols) {}
  /// What is not zero.
  SparseRows(const Eigen::MatrixXd& dense);  // NOLINT: a matrix is a matrix
  template <class Derived>
  SparseRows(const Eigen::EigenBase<Derived>& dense) : SparseRows(Eigen::MatrixXd(dense.derived())) {}
  static SparseRows diagonal(const Eigen::VectorXd& values);

  Index rows() const { return static_cast<Index>(begin_.size()) - 1; }
  Index cols() const { return cols_; }
  Index size() const { return rows() * cols(); }
  Index num_entries() const { return static_cast<Index>(entries_.size()); }

  /// By increasing column.
  std::span<const Entry> row(Index i) const {
    return {entries_.data() + begin_[static_cast<std::size_t>(i)],
            entries_.data() + begin_[static_cast<std::size_t>(i) + 1]};
  }
  std::span<const Entry> entries() const { return entries_; }
  std::span<Entry> entries() { return entries_; }
  double operator()(Index i, Index j) const;

  /// Entries come row after row, within a row by increasing column; a row ends with end_row(). `cols` stays.
  void add(Index col, double value) { entries_.push_back({static_cast<int>(col), value}); }
  void end_row() { begin_.push_back(static_cast<int>(entries_.size())); }
  void add_rows(const SparseRows& more);

  double dot(Index i, const Eigen::VectorXd& x) const;
  double abs_dot(Index i, const Eigen::VectorXd& x) const;  ///< Σ |entry||x|
  double norm(Index i) const;
  double norm() const;  ///< of all entries
  Eigen::VectorXd operator*(const Eigen::VectorXd& x) const;
  Eigen::VectorXd abs_times(const Eigen::VectorXd& x) const;
  /// Xᵀy; a y that is shorter goes with the first rows.
  Eigen::VectorXd transposed_times(const Eigen::VectorXd& y) const;

  SparseRows select(const std::vector<Index>& rows) const;
  bool all_finite() const;
  Eigen::MatrixXd to_dense() const;

 private:
  std::vector<int> begin_ = {0};
  std::vector<Entry> entries_;
  Index cols_ = 0;
};

}  // namespace mechanician
