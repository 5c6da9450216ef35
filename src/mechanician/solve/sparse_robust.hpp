// Large sparse systems where elimination alone cannot vouch for its answer: rows that are nearly dependent, dependent
// rows to be explained, contradictions to be named.
//
// Rows at an angle of less than 10⁻⁴ to earlier ones (squared sine `apart`) are set apart; the others, E, are
// eliminated (sparse_elimination.hpp) and are well conditioned. Of each row j that was set apart, what the others leave
// is computed as a vector, refined with residuals in extended precision:
//
//   M x_j − A_Eᵀλ_j = a_jᵀ,  A_E x_j = 0        r_j = a_jᵀ + A_Eᵀλ_j,   r_j·x_k = r_j M⁻¹r_kᵀ
//
// Nothing is squared in r_j, so that sines of 10⁻⁹ are told from dependence, as orthogonal methods do. The few rows
// that are left are a small dense system: with x_E, λ_E from the rows E alone,
//
//   G μ = g_F − A_F x_E,  G_jk = r_j·x_k        x = x_E + Σ μ_k x_k,   λ_E + Σ μ_k λ_k,  λ_F = μ
//
// and a row with nothing left is Σ c_k a_k of rows that were kept. These are independent, so c is unique and the set is
// minimal: with g_j ≠ Σ c_k g_k it is an irreducible conflict, else a redundancy (U23, A A⁺b = b).
// Cost: one or two solutions with the factors for each row that was set apart. Allocates.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mechanician/solve/sparse_elimination.hpp"

namespace mechanician {

struct SparseRobustOptions {
  double apart = 1e-8;       // squared sine below which a row is set apart
  double dependent = 1e-10;  // sine (not squared) up to which a row depends on others
  double gap = 1e2;          // factor around `dependent` in which the decision is called near
  double negligible = 1e-9;  // share of a row that a coefficient must contribute to be named
  double contradiction = 1e-9;
  double accuracy = 1e-12;  // as in SparseOptions
  int most_apart = 256;     // more rows than that: doubtful, none of them explained
  SparseOrdering ordering = SparseOrdering::automatic;
  bool augment_all = false;
};

/// a_row = Σ coefficients·a_rows, up to `sine` of its size.
struct SparseDependence {
  int row = 0;
  std::vector<int> rows;  // increasing, none can be left out
  std::vector<double> coefficients;
  double sine = 0;
  double mismatch = 0;           // g_row − Σ coefficients·g_rows
  double relative_mismatch = 0;  // against the terms of these rows
  bool contradicts = false;
};

struct SparseRobustSolution {
  SparseStatus status = SparseStatus::vouched;
  std::vector<double> x, lambda;  // where the status is vouched or doubtful; with contradictions those of the kept rows
  std::vector<SparseDependence> dependences;  // contradictions first
  int rank = 0;
  double least_sine = 1;  // of the kept rows, of those that were set apart
  bool near_decision = false;
  double residual = 0;  // of the kept rows, against its terms
};

class SparseRobust {
 public:
  explicit SparseRobust(const SparsePattern& pattern, const SparseRobustOptions& options = {});

  SparseRobustSolution solve(std::span<const double> M, std::span<const double> A, std::span<const double> f,
                             std::span<const double> g);

 private:
  struct Left;
  double refine(std::span<const double> f, std::span<const double> g, std::span<double> x, std::span<double> lambda);
  double calc_residual(std::span<const double> f, std::span<const double> g, std::span<const double> x,
                       std::span<const double> lambda);
  Left calc_left(int row);

  SparsePattern pattern_;
  SparseRobustOptions options_;
  SparseElimination elimination_;
  std::span<const double> M_, A_;
  std::vector<char> is_apart_;
  std::vector<double> f_left_, g_left_, dx_, dlambda_;
};

}  // namespace mechanician
