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
//
// Rows may be set apart by the thousands, where rods are there twice or a truss has more than it needs. That nothing is
// left of any of them one solution tells: of a sum with random factors nothing is left only if nothing is of each. And
// where the rows that explain one do not touch those that explain another, one solution explains both: rows are
// explained in groups, and only those that do not come apart one by one. Before that, each by rows of its neighbourhood
// (sparse_local_dependence.hpp), where that explains all: then also by rows that depend on others themselves.
// Cost: some two solutions with the factors to know the rank, and for each row about which something is left one more;
// to explain, as many as rows have to do with each other, within `most_work`. Allocates.
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
  int most_apart = 256;     // more rows of which something, but little, is left: doubtful
  double most_work = 5e9;   // numbers that are read to explain rows; what is left then stays unexplained
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

enum class SparseExplain {
  nothing,  // the rank, and which rows depend on others
  all,
};

struct SparseRobustSolution {
  SparseStatus status = SparseStatus::vouched;
  std::vector<double> x, lambda;  // where the status is vouched or doubtful; with contradictions those of the kept rows
  std::vector<int> dependent;     // rows that depend on the others, increasing; λ = 0
  std::vector<int> unmet;         // those of them that x does not meet
  // Contradictions first. As many as dependent rows, and independent of each other, but not always about these rows.
  std::vector<SparseDependence> dependences;
  bool explained = true;         // all of them
  std::vector<double> row_size;  // of the terms of A x = g, row by row
  int rank = 0;
  double least_sine = 1;  // of the kept rows, of those that were set apart
  double row_growth = 0;  // 1/sin² of the kept rows, at most
  int num_solutions = 0;  // with the factors
  bool near_decision = false;
  double residual = 0;  // of the kept rows, against its terms
};

class SparseRobust {
 public:
  explicit SparseRobust(const SparsePattern& pattern, const SparseRobustOptions& options = {});

  SparseRobustSolution solve(std::span<const double> M, std::span<const double> A, std::span<const double> f,
                             std::span<const double> g, SparseExplain explain = SparseExplain::all);
  const SparseRobustOptions& options() const { return options_; }

 private:
  struct Left;
  void measure_rows();
  double refine(std::span<const double> f, std::span<const double> g, std::span<double> x, std::span<double> lambda);
  double calc_residual(std::span<const double> f, std::span<const double> g, std::span<const double> x,
                       std::span<const double> lambda);
  void add_rounding(std::span<const double> f, std::span<const double> x);
  enum class Care { measure, tell };  // exactly; or as far as it takes to see that something is left
  Left calc_left(std::span<const int> rows, Care care = Care::measure);
  void measure_left(const std::vector<double>& a, std::span<const int> rows, Left& left) const;
  void sift(std::span<const int> rows, std::vector<int>& nothing, std::vector<int>& something);
  void explain_group(const std::vector<int>& group, std::vector<std::vector<int>>& next,
                     std::vector<SparseDependence>& explained);
  bool explain_locally(const std::vector<int>& rows, std::vector<SparseDependence>& explained) const;
  void judge(SparseDependence& dependence, std::span<const double> g) const;

  SparsePattern pattern_;
  SparseRobustOptions options_;
  SparseElimination elimination_;
  std::span<const double> M_, A_;
  std::vector<char> is_apart_;
  std::vector<double> f_left_, g_left_, dx_, dlambda_;
  std::vector<double> weight_, size_, size_g_;  // 1/mass by coordinate; of rows in that metric; of their terms
  std::vector<int> parent_;                     // of coordinates, for explain_group
  long num_solutions_ = 0;
};

}  // namespace mechanician
