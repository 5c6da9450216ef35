#pragma once

/// Accelerations and projections of a large system at one state.
///
///     M q̈ = Q + Aᵀλ,   A q̈ = b
///
/// By sparse elimination (sparse_elimination.hpp); where that cannot vouch for its answer, by the robust path (sparse_robust.hpp),
/// which costs some five times as much, allocates, and is counted.
///
/// Rows that depend on others do so on the constraints only: within a step, a little off them, a truss with more rods than it
/// needs has rows that are nearly dependent and ask for anything. A motion therefore holds to as many rows as are independent
/// at its start (hold_rows), and looks at the end of each step whether the others are met as well.
///
/// Cost: linear in the size where the elimination is. Nothing is allocated but by the robust path.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/large/large_measures.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/solve/sparse_robust.hpp"

namespace mechanician {

class LargeDynamics {
 public:
  explicit LargeDynamics(LargeSystem& system);
  ~LargeDynamics();

  LargeSystem& system() { return *system_; }
  /// q̈. False: why() says why.
  bool accelerate(double t, const double* q, const double* qd, double* qdd);
  /// At the state of the last accelerate().
  struct Powers {
    double given = 0.0, constraints = 0.0;
  };
  Powers calc_powers(double t, const double* q, const double* qd);
  /// λ_j (A q̇)_j of every row, at the state of the last accelerate().
  void calc_row_powers(const double* qd, std::span<double> power) const;
  std::span<const double> multipliers() const { return lambda_; }
  const SparseResult& result() const { return result_; }
  const std::string& why() const { return why_; }

  /// Onto the constraints, least in the mass norm: positions, then velocities.
  bool project(double t, double* q, double* qd);
  struct Violation {
    double position = 0.0, velocity = 0.0;
    int worst = -1;  ///< row
  };
  Violation calc_violation(double t, const double* q, const double* qd);
  /// The distance to the constraints in place of their residuals, of which a factor in an equation is no part: of the state of the
  /// last accelerate(), after calc_violation() of it.
  RowDistance calc_distance(const double* q, const double* qd) const;
  /// At any state.
  RowDistance calc_distance_at(double t, const double* q, const double* qd);

  /// Aᵀλ of the last accelerate().
  std::vector<double> calc_constraint_force() const;
  double calc_kinetic(const double* qd) const;  ///< ½ q̇ᵀM q̇ of the last accelerate()
  /// The change of energy that errors of relative size 1 would make, at the last accelerate().
  double calc_energy_scale(const double* q, const double* qd) const;
  /// Rows that depend on others, of the last accelerate(); those left out where rows are held.
  const std::vector<int>& dependent_rows() const { return dependent_; }
  /// From now on rows that depend on others at this state, which must lie on the constraints, are left out: λ = 0. Where the
  /// rank is found to be another one later, there is no answer. False: why() says why.
  bool hold_rows(double t, const double* q, const double* qd);
  /// Whether all numbers of the equations have a value there. False: why() says which has none, where explanations are asked for.
  bool has_values(double t, const double* q, const double* qd);

  /// False: the pivots of the elimination alone vouch for an answer, as for compiled programs; a third faster. The stages of a
  /// step do without: its error estimate and the checks at its end see what they do not.
  void set_check_residuals(bool check);

  /// From now on why() says which number has no value, where one has none: slow, for the last word before giving up.
  void set_explain(bool explain) { explain_ = explain; }

  long evaluations = 0, projections = 0;
  long robust_answers = 0;      ///< of these, those that elimination could not vouch for
  double largest_growth = 0.0;  ///< P/s of all so far: 1/sin² of the angle between a row and the others

 private:
  struct Held;
  enum class For { acceleration, projection };
  bool solve(std::span<const double> f, std::span<const double> g, std::span<double> x, For what);
  bool solve_held(std::span<const double> f, std::span<const double> g, std::span<double> x, For what);
  bool ask_robust(std::span<const double> f, std::span<const double> g, std::span<double> x, For what);
  bool meets_left_out(std::span<const double> f, std::span<const double> g, std::span<const double> x);
  bool judge(const SparseResult& result);
  void say_mass();
  bool say_not_finite(double t, const double* q, const double* qd);
  void say_contradiction(const SparseRobustSolution& solution, std::span<const double> g);
  std::span<const double> mass(bool& given);
  void make_solver();
  std::unique_ptr<Held> make_held() const;

  LargeSystem* system_;
  SparsePattern pattern_;
  std::unique_ptr<SparseElimination> solver_;
  LargeSystem::Values values_;
  std::vector<double> lambda_, residual_, rate_, right_, zero_, step_, spare_;
  std::vector<char> on_positions_;
  std::vector<int> dependent_;
  std::unique_ptr<SparseRobust> robust_;
  std::unique_ptr<Held> held_;
  int held_rank_ = -1;  ///< −1: any
  bool mass_given_ = false, check_residuals_ = true, explain_ = false;
  /// M is not clearly definite (solve/clear_mass.hpp): M + AᵀWA is what is eliminated. Decided at the first state; a definite M
  /// that comes near to being singular later on changes it.
  bool singular_mass_ = false, mass_judged_ = false;
  SparseResult result_;
  std::string why_;
};

/// Where its matrices have entries.
SparsePattern pattern_of(const LargeSystem& system);

}  // namespace mechanician
