#include "mechanician/equations/closed_form_solve.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>

namespace mechanician {

namespace {

using Matrix = std::vector<std::vector<Polynomial>>;

bool is_odd(const std::vector<std::size_t>& permutation) {
  bool odd = false;
  for (std::size_t i = 0; i < permutation.size(); ++i)
    for (std::size_t j = i + 1; j < permutation.size(); ++j) odd ^= permutation[i] > permutation[j];
  return odd;
}

/// det K: after k rows there is one minor for each set of k columns that can be reached.
Polynomial determinant(PolynomialArithmetic& arithmetic, const Matrix& K) {
  // Rows with few entries first: they leave few sets.
  std::vector<std::size_t> order(K.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = [&](std::size_t i) {
    return std::count_if(K[i].begin(), K[i].end(), [](const Polynomial& p) { return !p.empty(); });
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return count(a) < count(b); });

  std::map<std::uint32_t, Polynomial> minors{{0u, constant_polynomial(is_odd(order) ? -1 : 1)}};
  for (const std::size_t i : order) {
    std::map<std::uint32_t, Polynomial> next;
    for (const auto& [columns, minor] : minors)
      for (std::size_t j = 0; j < K.size(); ++j) {
        const std::uint32_t bit = 1u << j;
        if ((columns & bit) != 0 || K[i][j].empty()) continue;
        // Columns behind j that are taken already change places with it.
        const bool odd = std::popcount(columns & ~((bit << 1) - 1)) % 2 == 1;
        Polynomial term = arithmetic.multiply(minor, K[i][j]);
        Polynomial& sum = next[columns | bit];
        sum = odd ? arithmetic.subtract(sum, term) : arithmetic.add(sum, term);
      }
    minors = std::move(next);
  }
  return minors.empty() ? Polynomial{} : minors.begin()->second;
}

}  // namespace

ExactSolution solve_exactly(RationalField& field, const std::vector<std::vector<RationalForm>>& K,
                            const std::vector<std::vector<RationalForm>>& right_sides) {
  PolynomialArithmetic& arithmetic = field.arithmetic();
  const std::size_t n = K.size();
  if (n > 24) throw TooLarge{};

  // Each row times its common denominator, so that the entries are polynomials.
  Matrix P(n, std::vector<Polynomial>(n));
  std::vector<Polynomial> scale(n);
  RationalForm all_scales = field.constant(1);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<RationalForm::Factor> common;
    for (const RationalForm& entry : K[i])
      for (const auto& factor : entry.den) {
        const auto same =
            std::find_if(common.begin(), common.end(), [&](const auto& f) { return f.base == factor.base; });
        if (same == common.end())
          common.push_back(factor);
        else
          same->exponent = std::max(same->exponent, factor.exponent);
      }
    const RationalForm lcm{field.denominator({{}, common}), {}};
    scale[i] = lcm.num;
    all_scales = field.multiply(all_scales, lcm);
    for (std::size_t j = 0; j < n; ++j) {
      const RationalForm scaled = field.multiply(K[i][j], lcm);
      if (!scaled.den.empty()) throw TooLarge{};
      P[i][j] = scaled.num;
    }
  }

  ExactSolution solution;
  const RationalForm det = field.of(determinant(arithmetic, P));
  solution.determinant = field.divide(det, all_scales);
  if (det.is_zero()) return solution;

  // Right-hand sides enter as placeholders: x_j = Σ_i cofactor_ij r_i / det, and the cofactors serve all of them.
  std::vector<int> place(n);
  for (std::size_t i = 0; i < n; ++i) place[i] = field.placeholder(static_cast<int>(i));
  solution.x.assign(right_sides.size(), std::vector<RationalForm>(n));
  for (std::size_t j = 0; j < n; ++j) {
    Matrix replaced = P;
    for (std::size_t i = 0; i < n; ++i) replaced[i][j] = variable_polynomial(place[i]);
    const Polynomial numerator = determinant(arithmetic, replaced);
    for (std::size_t k = 0; k < right_sides.size(); ++k) {
      RationalForm sum;
      for (std::size_t i = 0; i < n; ++i) {
        const RationalForm& r = right_sides[k][i];
        const std::vector<Polynomial> cofactor = coefficients_in(numerator, place[i]);
        if (r.is_zero() || cofactor.size() < 2) continue;
        sum = field.add(sum, field.multiply(field.of(arithmetic.multiply(cofactor[1], scale[i])), r));
      }
      solution.x[k][j] = field.cancelled(field.divide(sum, det));
    }
  }
  return solution;
}

}  // namespace mechanician
