#pragma once

/// One step of DOP853 and its continuous extension of order 7, on plain arrays. Nothing is allocated after construction.
///
///     Dop853 step(size);
///     step.y = …; step.k[0] = f(t, y);
///     step.make_stages(f, t, h) && step.calc_error(…) ≤ 1    → step.y_new, accepted
///     step.k[12] = f(t + h, y_new)                           // y_new may have been projected before
///     step.make_dense(f, t, h); step.sample(θ, y)
///
/// f(t, y, dy) returns false where it has no value. It may move y (onto the constraints) before it evaluates.

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "mechanician/motion/dop853_tableau.hpp"

namespace mechanician {

class Dop853 {
 public:
  explicit Dop853(int size);

  int size() const { return size_; }
  std::array<std::vector<double>, 16> k;
  std::vector<double> y, y_new;

  /// Stages 1 to 11 and y_new, from y and k[0].
  template <class F>
  bool make_stages(F&& f, double t, double h) {
    for (int i = 1; i < 12; ++i) {
      combine(dop853::a[i], i, h, stage_);
      if (!f(t + dop853::c[i] * h, stage_.data(), k[static_cast<std::size_t>(i)].data())) return false;
    }
    last_ = stage_;
    combine(dop853::a[12], 12, h, y_new);
    return true;
  }

  /// Error estimate of the first `count` components, h included, component by component; the estimators of order 5 and 3
  /// are combined by component.
  void calc_errors(double h, int count, double* e5, double* e3) const;

  /// An estimate of h·|largest eigenvalue of ∂f/∂y|, of the first components, each times its weight (Hairer & Wanner IV.2).
  /// Differences that are rounding of `least`, weighed too, or of these components say nothing.
  double calc_stiffness(double h, std::span<const double> weights, double least) const;
  /// h·|Δf|/|Δy| over the step: the same for the motion itself. Far smaller than the above: stiff.
  double calc_variation(double h, std::span<const double> weights) const;

  /// Coefficients of the continuous extension: needs k[0…12] and y_new.
  template <class F>
  bool make_dense(F&& f, double t, double h) {
    for (int i = 13; i < 16; ++i) {
      combine(dop853::a[i], i, h, stage_);
      if (!f(t + dop853::c[i] * h, stage_.data(), k[static_cast<std::size_t>(i)].data())) return false;
    }
    finish_dense(h);
    return true;
  }
  /// y at t + θh; rate: h·dy/dt there. Either may be null.
  void sample(double theta, double* out, double* rate) const;
  const std::array<std::vector<double>, 7>& dense() const { return dense_; }

 private:
  void combine(const double* a, int count, double h, std::vector<double>& out) const;
  void finish_dense(double h);

  int size_;
  std::vector<double> stage_, last_, dense_y_;
  std::array<std::vector<double>, 7> dense_;
};

/// The continuous extension by itself: y + θ(F₀ + (1−θ)(F₁ + θ(F₂ + …))).
void sample_dense(const double* y, const std::array<const double*, 7>& F, int size, double theta, double* out,
                  double* rate);

}  // namespace mechanician
