// Large sparse systems at one instant, on a pattern that never changes (K93 eq. 16 as a linear system, λ as in
// NOTATION.md):
//
//     M x − Aᵀλ = f,   A x = g          [H Gᵀ; G −T] = L D Lᵀ, rows after their coordinates, no pivoting
//
// The mathematics is that of compile/elimination.hpp: for a row, s = P − R with P what its coordinates give it and R
// what earlier rows take away; s/P is the squared sine of the angle between the row and the earlier ones. Here it runs
// in loops over lists made once (sparse_plan.hpp), in time and memory proportional to the entries of the factor: for
// chains, trees and ladders to the number of bodies, for k×k nets to k³ and k² log k.
//
//   s ≤ dependent·P   the row is masked: it counts as depending on earlier ones, λ = 0, and is listed
//   s < grey·P        too near to tell by elimination: the answer is `doubtful`
//   Singular M        rows that touch coordinates without mass enter as M + AᵀWA with f + AᵀWg: same x, same λ
//
// Nothing is ever silently wrong: what comes back is `vouched` only if all pivots are good and the residuals of both
// equations, A x = g of masked rows included, are small against the terms they consist of.
// factor(), solve() and factor_and_solve() allocate nothing, and throw std::invalid_argument where sizes disagree. One
// object serves one caller at a time. Where an elimination is worth it (nets from some 60×60 on), threads share it, part
// by part of the elimination tree (sparse_parts.hpp); and the loops around it, as those of long chains.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/solve/sparse_memory.hpp"
#include "mechanician/solve/sparse_plan.hpp"
#include "mechanician/solve/sparse_threads.hpp"

namespace mechanician {

struct SparseOptions {
  double dependent = 1e-13;     // squared sine up to which a row is masked
  double grey = 1e-10;          // squared sine below which the answer is doubtful
  double indefinite = 1e-12;    // share of its mass below which a pivot of a coordinate is none
  double grey_mass = 1e-10;     // and below which the answer is doubtful
  double accuracy = 1e-12;      // of residuals, against the sizes of their terms
  double contradiction = 1e-9;  // residual of a masked row, likewise, that counts as contradiction
  int most_refinements = 2;
  bool check_residual = true;  // false: vouch by the pivots alone, as compiled programs do
  SparseOrdering ordering = SparseOrdering::automatic;
  bool augment_all = false;  // M may be singular anywhere: all rows enter H
  int most_lanes = 8;        // doubles in a vector: 8, 4 or 2, as far as the processor has them; last bits differ
  int num_threads = 0;       // for large systems; 0: all cores that the process may use. The same bits for every number
  double least_products = 4e6;  // of an elimination that threads share
};

enum class SparseStatus {
  vouched,
  doubtful,           // ask a robust method: pivots in the grey zone, or residuals that refinement did not mend
  contradiction,      // a masked row is not met: rows contradict, or lie at an angle that elimination cannot see
  mass_not_definite,  // M is singular or indefinite: try augment_all
  not_finite,
};
const char* describe(SparseStatus status);

struct SparseResult {
  SparseStatus status = SparseStatus::vouched;
  double row_growth = 0, mass_growth = 0;  // largest P/s and H/d: 1/sin² of angles
  int num_masked = 0, num_grey = 0;
  double residual = 0;         // largest of both equations, kept rows, against its terms
  double masked_residual = 0;  // of masked rows
  int worst_row = -1;          // where A x = g is met worst, masked rows first; −1 if everywhere exact
  int num_refinements = 0;

  bool vouched() const { return status == SparseStatus::vouched; }
};
/// One sentence.
std::string describe(const SparseResult& result);

class SparseElimination {
 public:
  explicit SparseElimination(const SparsePattern& pattern, const SparseOptions& options = {});

  /// Values in the order of the pattern; they must stay where they are as long as solve() is called.
  SparseResult factor(std::span<const double> M, std::span<const double> A);
  /// M as at the last call.
  SparseResult factor(std::span<const double> A);
  SparseResult solve(std::span<const double> f, std::span<const double> g, std::span<double> x,
                     std::span<double> lambda);
  /// Both in one pass, with less to read: the fastest way to one acceleration. An empty M: as at the last call.
  SparseResult factor_and_solve(std::span<const double> M, std::span<const double> A, std::span<const double> f,
                                std::span<const double> g, std::span<double> x, std::span<double> lambda);

  /// A promise: numbers given as f that begin where these do are these. Where they are the same along a family, they are
  /// not read again.
  void hold_force(std::span<const double> f);

  /// Of the last factorisation, increasing.
  const std::vector<int>& masked_rows() const { return masked_; }
  /// Of the last factorisation, by row: P, and 1/s, infinite where the row is masked.
  void calc_row_pivots(std::span<double> inverse_pivots, std::span<double> sizes) const;
  /// Masked rows that the last solution does not meet, at most 64 of them.
  const std::vector<int>& unmet_rows() const { return unmet_; }
  const SparsePlan& plan() const { return plan_; }
  const SparseOptions& options() const { return options_; }
  /// SparseOptions::check_residual from now on.
  void set_check_residual(bool check) { options_.check_residual = check; }

 private:
  void set_mass(std::span<const double> M);
  void check_sizes(std::span<const double> f, std::span<const double> g, std::span<const double> x,
                   std::span<const double> lambda) const;
  void cut_bands();
  template <class Body>
  void each_range(sparse::Index size, Body&& body);
  template <class Body>
  void each_band(Body&& body);
  template <class Body>
  void each_part_up(Body&& body);
  template <class Body>
  void each_part_down(Body&& body);
  void form_core();
  void form_masses();
  void form_part(const sparse::Part& part, const double* f, const double* g);
  void start_rows(sparse::Index from, sparse::Index to, const double* f, const double* g);
  void eliminate(const double* f, const double* g);
  void list_masked();
  void start(const double* f, const double* g);
  void forward(const double* f, const double* g);
  void backward(const double* f, double* x, double* lambda);
  void solve_once(const double* f, const double* g, double* x, double* lambda);
  SparseResult judge_pivots() const;
  struct Residual {
    double kept = 0, masked = 0;
    int worst_kept = -1, worst_masked = -1;
  };
  double calc_force_residual(const double* f, const double* x, const double* lambda);
  Residual calc_residual(const double* f, const double* g, const double* x, const double* lambda);
  SparseResult finish(const double* f, const double* g, double* x, double* lambda);

  SparseOptions options_;
  SparsePlan plan_;
  const sparse::Kernels* kernels_;
  sparse::Lists lists_;
  LargeVector values_, P_, y_, work_;
  LargeVector W_, B_, row_weight_;
  LargeVector mass_values_, mass_P_;  // of the core, from M alone: for as long as M stays the same
  int num_formed_ = 0;                // times since M was set
  LargeVector f_left_, g_left_, size_, dx_, dlambda_;
  std::vector<int> masked_, unmet_;
  std::vector<char> is_masked_;
  sparse::PivotCount count_;
  // Threads: parts without children, parts by depth, and what each part or range found.
  SparseThreads threads_;
  bool wide_ = false;      // worth their while
  bool by_parts_ = false;  // what a part consists of is formed right before it is eliminated
  struct Forming {
    sparse::Index diagonals[2], entries[2], rows[2];  // of a stretch: of form_target, of loose_rows
  };
  std::vector<Forming> forming_;
  std::vector<int> leaves_;
  SparseLists depths_;
  std::unique_ptr<std::atomic<int>[]> pending_;  // children of a part that are not done
  std::vector<sparse::PivotCount> part_counts_;
  std::vector<sparse::RowResidual> row_residuals_;
  std::vector<sparse::Band>
      bands_;                     // of the plan, in pieces: those of x, y and z that read the same multipliers together
  std::vector<int> band_groups_;  // where groups of these begin that are worth a thread
  std::span<const double> M_, A_;
  const double* held_force_ = nullptr;
  int num_not_positive_ = 0;  // masses of uncoupled coordinates
  double finite_ = 0;
};

}  // namespace mechanician
