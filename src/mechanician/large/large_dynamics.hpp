#pragma once

/// Accelerations and projections of a large system at one state, by sparse elimination.
///
///     M q̈ = Q + Aᵀλ,   A q̈ = b
///
/// Cost: linear in the size where the elimination is. After construction nothing is allocated.

#include <span>
#include <string>
#include <vector>

#include "mechanician/large/large_system.hpp"
#include "mechanician/solve/sparse_elimination.hpp"

namespace mechanician {

class LargeDynamics {
 public:
  explicit LargeDynamics(LargeSystem& system);

  LargeSystem& system() { return *system_; }
  /// q̈. False: why() says why.
  bool accelerate(double t, const double* q, const double* qd, double* qdd);
  /// At the state of the last accelerate().
  struct Powers {
    double given = 0.0, constraints = 0.0;
  };
  Powers calc_powers(double t, const double* q, const double* qd);
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

  /// Aᵀλ of the last accelerate().
  std::vector<double> calc_constraint_force() const;
  double calc_kinetic(const double* qd) const;  ///< ½ q̇ᵀM q̇ of the last accelerate()
  /// The change of energy that errors of relative size 1 would make, at the last accelerate().
  double calc_energy_scale(const double* q, const double* qd) const;
  /// Rows that depend on others, of the last accelerate().
  const std::vector<int>& dependent_rows() const { return solver_.masked_rows(); }

  /// False: the pivots of the elimination alone vouch for an answer, as for compiled programs; a third faster. The stages of a
  /// step do without: its error estimate and the checks at its end see what they do not.
  void set_check_residuals(bool check) { solver_.set_check_residual(check); }

  long evaluations = 0, projections = 0;
  double largest_growth = 0.0;  ///< P/s of all so far: 1/sin² of the angle between a row and the others

 private:
  bool judge(const SparseResult& result);
  std::span<const double> mass();
  bool mass_given_ = false;

  LargeSystem* system_;
  SparseElimination solver_;
  LargeSystem::Values values_;
  std::vector<double> lambda_, residual_, rate_, right_, zero_, step_, spare_;
  std::vector<char> on_positions_;
  SparseResult result_;
  std::string why_;
};

}  // namespace mechanician
