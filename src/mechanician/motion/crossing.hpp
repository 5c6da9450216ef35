#pragma once

/// Singular configurations ahead: when does the rank of A drop?
///
/// With L Lᵀ = M, Z = L⁻¹A_keptᵀD (unit columns, but for rows that have shrunk since the start) = U S Vᵀ and the weak
/// directions σ_i < 0.7 σ_1 (all, where there are few), the rank drops where
///
///     det S(τ) = 0,   S(τ) = Uᵀ L⁻¹ A(q + q̇τ + q̈τ²/2)ᵀ D V ≈ S₀ + τ S₁ + τ² S₂
///
/// (S is interpolated over the span of the next step and not expanded at its begin: what matters is where the root lies,
/// not how steep S is here). The roots τ = 1/μ are the eigenvalues μ of a companion matrix of twice the number of weak
/// directions. Cost: an SVD of R, two evaluations of A for each pass, one eigenvalue problem.
///
/// Where a root lies within the next step, the step is chosen so that the root falls at 0.4667 of it, the middle of the
/// widest gap between the nodes of DOP853 (1/3 and 0.6): no stage is then nearer to the singular state than 0.13 h, and
/// the smooth motion is carried across. See plan_step.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

/// A zero of a singular value ahead: after `tau`; `turning` if it only comes near zero and turns back.
struct SingularRoot {
  double tau = 0.0;
  bool turning = false;
};

/// Where in a crossing step the singular state is placed.
inline constexpr double crossing_place = 0.466667;

class CrossingPredictor {
 public:
  explicit CrossingPredictor(Dynamics& dynamics);

  /// Sizes of the rows at the start of the motion: a row that has shrunk is weak.
  void set_reference(double t, const double* y);

  /// Roots with 0 < τ ≤ 3 h, sorted. y: state at t, qdd its acceleration.
  const std::vector<SingularRoot>& predict(double t, const double* y, const double* qdd, double h);
  std::vector<double>& reference() { return reference_; }
  double smallest() const { return sigma_min_; }  ///< σ_r/σ_1 of the last prediction

  /// Singular values of unit columns of Z at a state, decreasing, with V; false where A has no value.
  struct Spectrum {
    Eigen::VectorXd sigma;
    Eigen::MatrixXd U, V;  ///< n×r, r×r
    Eigen::VectorXd D;     ///< r
    Eigen::MatrixXd Z;     ///< n×r, scaled
  };
  bool calc_spectrum(double t, const double* y, Spectrum& s);
  /// uᵀ Z(t, y) v with the vectors and scales of `s` and the metric of the last calc_spectrum: signed through a crossing.
  bool calc_signed(double t, const double* y, const Spectrum& s, Eigen::Index weak, double& value);
  /// Seen in the singular vectors of an earlier state `s`, with its scales and metric: how many singular values have
  /// passed zero since, and by how much the rows have turned (in parts of their size).
  struct Passed {
    int count = 0;
    double turned = 0.0;
  };
  Passed count_passed(double t, const double* y, const Spectrum& s);
  /// Whether a step that ended in this state may have passed a singular one: the rows have turned, or are near it. To be
  /// asked once a step.
  bool is_worth_a_look(double t, const double* y, bool implicit);

 private:
  bool fit(double t, const double* y, const double* qdd, double reach, const Eigen::MatrixXd& LtU,
           const Eigen::MatrixXd& DV, const Eigen::VectorXd& sigma);

  void drop_false_roots(double t, const double* y, const double* qdd, double horizon, const Spectrum& now);

  Dynamics* dynamics_;
  std::vector<double> reference_;  ///< by row
  std::vector<bool> grows_;        ///< has none from the start
  Eigen::MatrixXd rows_before_;    ///< kept rows at the end of the step before, unit size
  std::vector<int> kept_before_;
  std::vector<SingularRoot> roots_;
  double sigma_min_ = 1.0;
  Eigen::VectorXd q_, qd_, row_;
};

struct StepPlan {
  double h = 0.0;
  bool crossing = false;
  bool turning = false;  ///< all roots of the group only come near zero
  double at = 0.0;       ///< of the crossing, after the begin of the step
  bool hold_stages = false;  ///< every stage is projected, as in a crossing
};

/// The step to take where a step h is wanted and the roots ahead are known. `remaining`: to the end of the run, which a
/// crossing step may pass (the end then comes from dense output).
StepPlan plan_step(const std::vector<SingularRoot>& roots, double h, double remaining);

}  // namespace mechanician
