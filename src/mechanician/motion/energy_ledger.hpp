#pragma once

/// Energies and works of a motion, step by step, and how far they may be apart.
///
/// Balance: ½ q̇ᵀM q̇ − its value at the start − ∫ q̇ᵀ(Q + Qᶜ + Q_control) + ½ q̇ᵀṀ q̇ dt (theory of U05, U23), both from
/// the same steps: it measures the errors that were made, not those of the model. Of a Runge–Kutta step with weights b, a
/// it is −½h² Σ (bᵢaᵢⱼ + bⱼaⱼᵢ − bᵢbⱼ) fᵢᵀM⁻¹fⱼ; the error of a potential energy is the same sum over stage velocities, and on
/// an oscillation both are equal. So the error of the energy is about twice the balance, with multistep methods too; where
/// several frequencies are in play up to ten times.
///
/// What is allowed: rounding; and what local errors of the size of the tolerance explain, whose sum grows with the number
/// of steps, but no more than a small part of the largest energy in play: a thousandth, and less at a small tolerance. In play is also what
/// given forces take out and put in again: where something drives against a damper, errors of the works add up that
/// the motion has long forgotten. A few steps are no
/// average: of these the estimated errors must be small themselves.

#include <array>
#include <string>

namespace mechanician {

class EnergyLedger {
 public:
  struct Step {
    double h = 0.0, tolerance = 0.0;
    double kinetic = 0.0;  ///< at its end
    double scale = 0.0;    ///< the change of energy that errors of relative size 1 in y would make there
    std::array<double, 4> works{}, powers{};  ///< since the start, and at its end: given, ideal, nonideal, control
    double rounding = 0.0;                    ///< more than there is in every step
    double error = 1.0;                       ///< as estimated, in tolerances
    double dissipated = 0.0;   ///< by given forces; asked for only where it may matter, see is_doubtful()
    double power_error = 0.0;  ///< that errors of the size of the tolerance make in stiff forces
  };

  void begin(double kinetic, double scale) { kinetic_start_ = kinetic_ = most_kinetic_ = kinetic, scale_ = scale; }
  void add(const Step& step);
  /// After a phase, of a motion that has several; the energies of the next one are to be seen against those before.
  void add_phase(const EnergyLedger& phase);
  void set_in_play(double energy) { in_play_ = energy; }
  void set_scale(double scale) { scale_ = scale; }

  double kinetic_start() const { return kinetic_start_; }
  double kinetic() const { return kinetic_; }
  double scale() const { return scale_; }
  double in_play() const { return in_play_; }  ///< the largest energy or work so far
  double balance() const { return balance_; }
  double largest() const { return largest_; }  ///< |balance|
  double allowed() const;
  bool holds() const { return largest_ <= allowed() && !is_coarse(); }  ///< not where it is not a number
  /// Whether the balance comes near what is allowed, so that it matters what was dissipated.
  bool is_doubtful() const;
  /// Why it does not hold, in words.
  std::string reason() const;
  bool is_at_rest() const;  ///< all along

  template <class Do>
  void each_number(Do&& number) {
    for (double* x : {&kinetic_start_, &kinetic_, &most_kinetic_, &in_play_, &dissipated_, &balance_, &largest_,
                      &explained_, &estimated_, &rounding_, &part_})
      number(*x);
    number(steps_);
  }

 private:
  bool is_coarse() const;

  double kinetic_start_ = 0.0, kinetic_ = 0.0, most_kinetic_ = 0.0, scale_ = 0.0, in_play_ = 0.0, dissipated_ = 0.0;
  double balance_ = 0.0, largest_ = 0.0;
  double explained_ = 0.0, estimated_ = 0.0, rounding_ = 0.0;
  double part_ = 0.0;  ///< of the energy in play that the balance may be
  long steps_ = 0;
};

}  // namespace mechanician
