#pragma once

/// Singular configurations ahead: when does the rank of A drop?
///
/// It drops where, and only where, the sine of the angle between some row and the rows before it vanishes (in the mass
/// metric; Dynamics::calc_sines). Along a smooth motion such a sine passes zero at a finite speed, so its square is a
/// parabola there. Squares are taken at a few states ahead, q + q̇τ + q̈τ²/2, and parabolas through three of them say
/// where they lead to; what lies within the next step is looked at more closely. Far from singular states, for the
/// speed at which the sines change, nothing is looked at. Cost: one evaluation of the sines, near a singular state about
/// a dozen.
///
/// Where a root lies within the next step, the step is chosen so that the root falls at 0.4667 of it, the middle of the
/// widest gap between the nodes of DOP853 (1/3 and 0.6): no stage is then nearer to the singular state than 0.13 h, and
/// the smooth motion is carried across. See plan_step.

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

/// A zero of a singular value ahead: after `tau`; `turning` if it only comes near zero and turns back.
struct SingularRoot {
  double tau = 0.0;
  bool turning = false;
  std::size_t row = 0;  ///< among the rows of sines
};

/// Where in a crossing step the singular state is placed.
inline constexpr double crossing_place = 0.466667;

class CrossingPredictor {
 public:
  explicit CrossingPredictor(Dynamics& dynamics);

  /// Roots with 0 < τ ≤ 3 h, sorted. y: state at t, qdd its acceleration. Where the sines (Dynamics::calc_sines) are far
  /// from zero for the speed at which they change, this costs one evaluation of them, which is kept for the next step.
  const std::vector<SingularRoot>& predict(double t, const double* y, const double* qdd, double h);
  double smallest() const { return smallest_; }  ///< sine of the last prediction

  /// Whether a step may have passed a singular state that was not foreseen: the rows have turned by much, or by as much as
  /// the sines at its begin and end are away from zero.
  bool is_worth_a_look(double turned, std::span<const double> end) const;

  /// Singular values of unit columns of Z at a state, decreasing, with vectors; false where A has no value. For few rows.
  struct Spectrum {
    Eigen::VectorXd sigma;
    Eigen::MatrixXd U, V;  ///< n×r, r×r
    Eigen::VectorXd D;     ///< r
    Eigen::MatrixXd Z;     ///< n×r, scaled
  };
  bool calc_spectrum(double t, const double* y, Spectrum& s);
  /// With many rows, in place of singular values: rows whose sines are small, apart from the others, which are well apart
  /// from each other. What depends on what is the same in all metrics: units are those of the diagonal of M.
  struct Split {
    std::vector<int> weak;  ///< positions among the rows of sines
    RowSet strong;
    double weakest = 1.0;                  ///< sine
    std::vector<double> units, D;          ///< by coordinate; scales of all rows of sines
    std::vector<double> right, x, lambda;  ///< by row, coordinate, row: work space
  };
  bool calc_split(double t, const double* y, Split& s);
  /// A Newton step of y towards the strong rows. False where there is none.
  bool approach(double t, double* y, Split& s);
  /// For each row of sines how much it takes part in what degenerates: 1 for weak rows.
  std::vector<double> calc_involved(double t, const double* y, Split& s);
  /// uᵀ Z(t, y) v with the vectors and scales of `s` and the metric of the last calc_spectrum: signed through a crossing.
  bool calc_signed(double t, const double* y, const Spectrum& s, Eigen::Index weak, double& value);
  /// Seen in the singular vectors of an earlier state `s`, with its scales and metric: how many singular values have
  /// passed zero since, and by how much the rows have turned (in parts of their size).
  struct Passed {
    int count = 0;
    double turned = 0.0;
  };
  Passed count_passed(double t, const double* y, const Spectrum& s);

  /// As at the start: the motion has gone on unseen.
  void forget();

  /// What the next prediction depends on besides the state.
  template <class Do>
  void each_number(Do&& number) {
    number(t_before_), number(t_now_);
    for (double& x : before_) number(x);
    for (double& x : now_) number(x);
  }

 private:
  using Sines = std::vector<double>;
  /// Sines at the states so far ahead, into ahead_.
  bool calc_ahead(double t, const double* y, const double* qdd, std::span<const double> taus);
  void calc_columns(const Eigen::VectorXd& D, Eigen::MatrixXd& Z) const;
  bool may_vanish(double t, double h) const;
  void refine(double t, const double* y, const double* qdd, SingularRoot& root);

  Dynamics* dynamics_;
  std::vector<SingularRoot> roots_;
  double smallest_ = 1.0;
  Sines before_, now_;  ///< at the begins of the last step and of this one
  double t_before_, t_now_;
  Sines ahead_;  ///< of each state of calc_ahead, one after the other
  std::vector<double> t_ahead_, y_ahead_;
};

struct StepPlan {
  double h = 0.0;
  bool crossing = false;
  bool turning = false;      ///< all roots of the group only come near zero
  double at = 0.0;           ///< of the crossing, after the begin of the step
  bool hold_stages = false;  ///< every stage is projected, as in a crossing
};

/// The step to take where a step h is wanted and the roots ahead are known. `remaining`: to the end of the run, which a
/// crossing step may pass (the end then comes from dense output).
StepPlan plan_step(const std::vector<SingularRoot>& roots, double h, double remaining);

}  // namespace mechanician
