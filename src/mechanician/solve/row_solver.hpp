// M x = f + Aᵀλ, A x = g for those rows of a sparse system that hold, by elimination on the pattern of all of them.
//
// Which rows depend on others is decided by elimination where it is beyond doubt, else by SparseRobust; those are left out
// (λ = 0), and the rest is eliminated anew. Answers are refined with residuals in extended precision. Where elimination cannot
// vouch for an answer (rows at angles below 10⁻⁵), SparseRobust gives it.
// Cost: a factorisation for each hold(), some three solutions for each solve().
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "mechanician/solve/instant_pattern.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/sparse_robust.hpp"

namespace mechanician {

class RowSolver {
 public:
  /// M and A of `values`. A coordinate without mass that rows hold needs `augment_all`, unless M has no entry for it.
  RowSolver(const InstantValues& values, bool augment_all);

  int n() const { return pattern_->n(); }
  int num_rows() const { return static_cast<int>(at_.size()); }

  /// How much is asked about rows that depend on others.
  enum class Care {
    search,   // what elimination says
    decide,   // which they are, beyond doubt
    explain,  // what they consist of
  };
  /// From now on these rows hold, one flag for each row. False: M has no positive pivot somewhere, see status().
  bool hold(const std::vector<char>& holds, Care care);

  SparseStatus status() const { return status_; }
  const std::vector<int>& dependent() const { return dependent_; }  ///< of the rows that hold; increasing
  int rank() const { return rank_; }
  double least_sine() const { return least_sine_; }  ///< of the angle between a row that was kept and others
  bool near_decision() const { return near_decision_; }
  /// With Care::explain; rows numbered as given.
  const SparseRobustSolution& robust() const { return robust_; }

  struct Answer {
    Eigen::VectorXd x, lambda;  // λ = 0 on rows that do not hold and on those that depend on others
    bool vouched = true;        // both equations hold up to rounding of their terms
  };
  Answer solve(const Eigen::VectorXd& f, const Eigen::VectorXd& g);

  /// As SparseDiagnosis wants them: rows numbered as in the pattern.
  const SparsePattern& pattern() const { return pattern_->sparse(); }
  const std::vector<double>& mass_values() const { return M_; }
  const std::vector<double>& row_values() const { return held_; }
  int pattern_row(int row) const { return at_[static_cast<std::size_t>(row)]; }
  int row_of(int pattern_row) const { return row_of_[static_cast<std::size_t>(pattern_row)]; }

 private:
  void keep(const std::vector<char>& left_out);
  double calc_residual(const Answer& answer, const std::vector<double>& f, const std::vector<double>& g);

  std::shared_ptr<const InstantPattern> pattern_;
  std::vector<int> at_, row_of_;  // rows of the pattern, and back (−1: not one of these)
  std::vector<double> M_, A_;     // by slot
  std::vector<double> held_, kept_;
  std::shared_ptr<SparseElimination> elimination_;
  bool augment_all_;
  SparseStatus status_ = SparseStatus::vouched;
  std::vector<int> dependent_;
  SparseRobustSolution robust_;
  std::unique_ptr<SparseRobust> asked_;
  int rank_ = 0;
  double least_sine_ = 1;
  bool near_decision_ = false, weak_ = false;
  std::vector<double> f_left_, g_left_, dx_, dlambda_;
};

}  // namespace mechanician
