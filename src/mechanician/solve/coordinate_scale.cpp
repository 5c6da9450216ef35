#include "mechanician/solve/coordinate_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

using Eigen::Index;
using Eigen::VectorXd;

VectorXd drop_drowning(const VectorXd& mass_scale, const SparseRows& A, double drowns) {
  // Entries that are rounding tie nothing. A mass that is rounding beside what its rows act on is none, however small they are there.
  constexpr double ties = 1e-6, is_rounding = 1e13;
  VectorXd of_mass = mass_scale;
  for (Index j = 0; j < A.rows(); ++j) {
    SparseRows::Entry first{0, 0.0};
    double heaviest = std::numeric_limits<double>::infinity();
    for (const SparseRows::Entry& e : A.row(j)) {
      if (std::abs(e.value) * mass_scale(e.col) > std::abs(first.value) * mass_scale(first.col)) first = e;
      if (e.value != 0 && mass_scale(e.col) > 0) heaviest = std::min(heaviest, mass_scale(e.col));
    }
    double next = 0;
    for (const SparseRows::Entry& e : A.row(j)) {
      if (e.value != 0 && mass_scale(e.col) > is_rounding * heaviest) of_mass(e.col) = 0;
      if (e.col != first.col && std::abs(e.value) > ties * std::abs(first.value))
        next = std::max(next, std::abs(e.value) * mass_scale(e.col));
    }
    if (next > 0 && std::abs(first.value) * mass_scale(first.col) > drowns * next) of_mass(first.col) = 0;
  }
  return of_mass;
}

VectorXd coordinate_scale(const VectorXd& of_mass, const SparseRows& A) {
  constexpr int num_rounds = 8;
  constexpr double negligible = 1e-8;    // of its row, in the second pass: rounding, or nearly nothing
  constexpr double is_rounding = 1e-16;  // of its row as it is given
  const Index n = of_mass.size(), m = A.rows();
  VectorXd s = of_mass;
  for (Index i = 0; i < n; ++i) s(i) = s(i) > 0 ? s(i) : 1.0;
  if (n == 0 || of_mass.minCoeff() > 0) return s;
  VectorXd largest = VectorXd::Zero(m);
  for (Index j = 0; j < m; ++j)
    for (const SparseRows::Entry& e : A.row(j)) largest(j) = std::max(largest(j), std::abs(e.value));

  VectorXd row_scale = VectorXd::Ones(m), sum(n), count(n);
  const auto mean = [](double sum_of_logs, double number) {
    return number > 0 ? std::exp(-sum_of_logs / number) : 1.0;
  };
  for (int pass = 0; pass < 2; ++pass) {
    // Entries below do not count. What has mass is comparable from the beginning: beside it rounding, of whatever size, is none.
    VectorXd least = VectorXd::Zero(m);
    for (Index j = 0; j < m; ++j)
      for (const SparseRows::Entry& e : A.row(j))
        if (pass > 0 || of_mass(e.col) > 0) least(j) = std::max(least(j), negligible * std::abs(e.value) * s(e.col));
    const VectorXd s_before = s;
    const auto counts = [&](Index j, const SparseRows::Entry& e) {
      if (std::abs(e.value) <= is_rounding * largest(j)) return false;
      if (pass == 0 && !(of_mass(e.col) > 0)) return true;
      return !(std::abs(e.value) * s_before(e.col) < least(j));
    };
    for (int round = 0; round < num_rounds; ++round) {
      sum.setZero(), count.setZero();
      for (Index j = 0; j < m; ++j) {
        double row_sum = 0, row_count = 0;
        for (const SparseRows::Entry& e : A.row(j))
          if (counts(j, e)) row_sum += std::log(std::abs(e.value)) + std::log(s(e.col)), ++row_count;
        row_scale(j) = mean(row_sum, row_count);
        for (const SparseRows::Entry& e : A.row(j))
          if (counts(j, e)) sum(e.col) += std::log(std::abs(e.value)) + std::log(row_scale(j)), ++count(e.col);
      }
      for (Index i = 0; i < n; ++i)
        if (!(of_mass(i) > 0)) s(i) = mean(sum(i), count(i));
    }
  }
  return s;
}

}  // namespace mechanician
