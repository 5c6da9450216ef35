#pragma once

/// Adaptive motions side by side: the state of each lane, one attempt at a step for all, and what the certificate of
/// each says. See adaptive_runner.hpp.

#include <array>
#include <string>
#include <vector>

#include "mechanician/compile/aligned.hpp"
#include "mechanician/ensemble/adaptive_code.hpp"
#include "mechanician/ensemble/motion_batch.hpp"

namespace mechanician {

class AdaptivePack {
 public:
  AdaptivePack(AdaptiveCode& code, const EnsembleOptions& options);

  enum class Fate : std::uint8_t {
    running,
    done,
    left,  ///< to the single run
  };
  /// A motion: where it is, and what was seen of it. Numbers of lane l of the vectors are at [i·lanes + l].
  struct Lane {
    int motion = -1;  ///< −1: none
    double t = 0.0, h = 0.0;
    Fate fate = Fate::running;
    bool rejected = false;
    int tries = 0, not_vouched = 0, stiff_hits = 0, not_stiff_hits = 0;
    std::int64_t steps = 0;
    double progress_mark = 0.0, most_progress = 0.0;
    double weakest = 1.0;  ///< smallest sine at t
    double kinetic_start = 0.0, kinetic = 0.0, scale = 0.0;
    double exchanged = 0.0, balance_largest = 0.0, balance_allowed = 1e-14;
    double violation = 0.0, distance = 0.0;
  };
  std::vector<Lane> lanes;
  AlignedNumbers y;  ///< [q | q̇ | works]

  /// Brings motions of a batch into all lanes at once, as a single run would begin: lanes without one (−1) stay empty.
  void begin(const MotionBatch& batch, const std::vector<int>& varied, const std::vector<int>& motions);
  /// Takes over a lane of another pack.
  void take(int lane, const AdaptivePack& from, int other);
  /// One attempt at a step for every lane.
  void advance();

 private:
  void set_inputs(const double* time, const double* state);
  /// rate = [q̇ | q̈ | powers] at inputs_; `good` of lanes that are not vouched for becomes 0.
  void accelerate(AlignedNumbers& rate);
  void project();
  void converge(AdaptiveCode::Projection& projection, int offset, bool one_is_enough);
  void calc_errors();
  void calc_sines(double* sines);
  double calc_weakest(const double* sines, int l) const;
  void choose_first_steps();
  double calc_turn(int l) const;
  void look_along();
  void look_for_poles();
  void decide(int l);
  void accept(int l);
  void watch(int l);
  bool is_stiff(int l);
  bool holds(int l) const;
  double& of(AlignedNumbers& x, int i, int l) { return x[static_cast<std::size_t>(i * L_ + l)]; }
  double of(const AlignedNumbers& x, int i, int l) const { return x[static_cast<std::size_t>(i * L_ + l)]; }

  AdaptiveCode* code_;
  EnsembleOptions options_;
  double t0_ = 0.0;
  int n_, L_, size_, num_parameters_;
  AlignedNumbers parameters_;                                                             ///< inputs that do not change
  AlignedNumbers sines_, row_sizes_, A_, divisors_, divisors_before_, divisors_largest_;  ///< at t; of the start; …

  // Of the attempt.
  std::array<AlignedNumbers, 13> k_;
  AlignedNumbers inputs_, outputs_, projection_, pivots_, seen_, y_new_, last_stage_, errors_, scale_, extra_, good_,
      h_, times_;
  AlignedNumbers sines_new_, look_, below_;
  std::vector<int> pieces_;
};

}  // namespace mechanician
