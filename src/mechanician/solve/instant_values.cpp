#include "mechanician/solve/instant_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace mechanician {
namespace {

using Eigen::Index;

void expect_shape(const char* name, Index rows, Index cols, Index want_rows, Index want_cols) {
  if (rows == want_rows && cols == want_cols) return;
  throw std::invalid_argument(
      fmt::format("{} is {}×{}, but {}×{} is needed here", name, rows, cols, want_rows, want_cols));
}

void expect_shape_or_empty(const char* name, const SparseRows& x, Index want_rows, Index want_cols) {
  if (x.size() != 0) expect_shape(name, x.rows(), x.cols(), want_rows, want_cols);
}

void expect_length_or_empty(const char* name, const Eigen::VectorXd& x, Index want) {
  if (x.size() != 0) expect_shape(name, x.size(), 1, want, 1);
}

}  // namespace

void check_sizes(const InstantValues& v) {
  const Index n = v.M.rows();
  const Index m = v.b.size();
  expect_shape("M", v.M.rows(), v.M.cols(), n, n);
  expect_shape("Q", v.Q.size(), 1, n, 1);
  // A system without constraints may leave A empty altogether.
  if (m > 0 || v.A.size() > 0) expect_shape("A", v.A.rows(), v.A.cols(), m, n);
  expect_length_or_empty("C", v.C, n);
  expect_shape_or_empty("M_noise", v.M_noise, n, n);
  expect_length_or_empty("Q_noise", v.Q_noise, n);
  expect_shape_or_empty("A_noise", v.A_noise, m, n);
  expect_length_or_empty("b_noise", v.b_noise, m);
  expect_length_or_empty("b_size", v.b_size, m);
  const auto num_measured = static_cast<Index>(v.measured.size());
  expect_shape("W", v.W.rows(), v.W.cols(), num_measured, num_measured);
  auto sorted = v.measured;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= m) {
      throw std::invalid_argument(fmt::format("measured names row {}, but A has {} rows", sorted[i], m));
    }
    if (i > 0 && sorted[i] == sorted[i - 1]) {
      throw std::invalid_argument(fmt::format("measured names row {} twice", sorted[i]));
    }
  }
}

bool matrices_finite(const InstantValues& v) {
  return v.M.all_finite() && v.A.all_finite() && v.W.allFinite() && v.M_noise.all_finite() && v.A_noise.all_finite();
}

bool vectors_finite(const InstantValues& v) {
  return v.Q.allFinite() && v.b.allFinite() && v.C.allFinite() && v.Q_noise.allFinite() && v.b_noise.allFinite() &&
         v.b_size.allFinite();
}

}  // namespace mechanician
