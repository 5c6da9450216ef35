#include "mechanician/solve/sparse_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mechanician {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SparseRows::SparseRows(const MatrixXd& dense) : cols_(dense.cols()) {
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j)
      if (dense(i, j) != 0.0) add(j, dense(i, j));
    end_row();
  }
}

SparseRows SparseRows::diagonal(const VectorXd& values) {
  SparseRows result(0, values.size());
  for (Index i = 0; i < values.size(); ++i) result.add(i, values(i)), result.end_row();
  return result;
}

double SparseRows::operator()(Index i, Index j) const {
  const std::span<const Entry> line = row(i);
  const auto found =
      std::lower_bound(line.begin(), line.end(), j, [](const Entry& e, Index col) { return e.col < col; });
  return found != line.end() && found->col == j ? found->value : 0.0;
}

void SparseRows::add_rows(const SparseRows& more) {
  assert(more.cols() == cols());
  for (Index i = 0; i < more.rows(); ++i) {
    const std::span<const Entry> line = more.row(i);
    entries_.insert(entries_.end(), line.begin(), line.end());
    end_row();
  }
}

double SparseRows::dot(Index i, const VectorXd& x) const {
  double sum = 0;
  for (const Entry& e : row(i)) sum += e.value * x(e.col);
  return sum;
}

double SparseRows::abs_dot(Index i, const VectorXd& x) const {
  double sum = 0;
  for (const Entry& e : row(i)) sum += std::abs(e.value * x(e.col));
  return sum;
}

namespace {

/// Neither overflow nor underflow on the way.
double norm_of(std::span<const SparseRows::Entry> entries) {
  double largest = 0, sum = 0;
  for (const SparseRows::Entry& e : entries) {
    if (std::isnan(e.value)) return e.value;
    largest = std::max(largest, std::abs(e.value));
  }
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  for (const SparseRows::Entry& e : entries) sum += (e.value / largest) * (e.value / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

double SparseRows::norm(Index i) const { return norm_of(row(i)); }

double SparseRows::norm() const { return norm_of(entries_); }

VectorXd SparseRows::operator*(const VectorXd& x) const {
  assert(x.size() == cols() || rows() == 0);
  VectorXd y(rows());
  for (Index i = 0; i < rows(); ++i) y(i) = dot(i, x);
  return y;
}

VectorXd SparseRows::abs_times(const VectorXd& x) const {
  VectorXd y(rows());
  for (Index i = 0; i < rows(); ++i) y(i) = abs_dot(i, x);
  return y;
}

VectorXd SparseRows::transposed_times(const VectorXd& y) const {
  assert(y.size() <= rows());
  VectorXd x = VectorXd::Zero(cols());
  for (Index i = 0; i < y.size(); ++i)
    for (const Entry& e : row(i)) x(e.col) += e.value * y(i);
  return x;
}

SparseRows SparseRows::select(const std::vector<Index>& rows) const {
  SparseRows result(0, cols());
  for (const Index i : rows) {
    const std::span<const Entry> line = row(i);
    result.entries_.insert(result.entries_.end(), line.begin(), line.end());
    result.end_row();
  }
  return result;
}

bool SparseRows::all_finite() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const Entry& e) { return std::isfinite(e.value); });
}

MatrixXd SparseRows::to_dense() const {
  MatrixXd dense = MatrixXd::Zero(rows(), cols());
  for (Index i = 0; i < rows(); ++i)
    for (const Entry& e : row(i)) dense(i, e.col) = e.value;
  return dense;
}

}  // namespace mechanician
