#pragma once

/// Adaptive motions side by side: the state of each lane, one attempt at a step for all, and what the certificate of
/// each says. See adaptive_runner.hpp.

#include <array>
#include <string>
#include <vector>

#include "mechanician/compile/aligned.hpp"
#include "mechanician/ensemble/adaptive_code.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/motion/handed_motion.hpp"

namespace mechanician {

class AdaptivePack {
 public:
  AdaptivePack(AdaptiveCode& code, const EnsembleOptions& options);

  enum class Fate : std::uint8_t {
    running,
    done,  ///< at the end
    left,  ///< to the single run, from the state that it has
  };
  /// A motion: where it is, and what was seen of it. Numbers of lane l of the vectors are at [i·lanes + l].
  struct Lane {
    int motion = -1;  ///< −1: none
    double t = 0.0, h = 0.0;
    Fate fate = Fate::running;
    bool rejected = false, stiff = false;
    int tries = 0, not_vouched = 0, stiff_hits = 0, not_stiff_hits = 0;
    std::int64_t steps = 0, begun_with = 0;  ///< begun_with: when it came into the lane
    std::int64_t events = 0;                 ///< that were seen in lanes, since then
    Progress progress{};
    double weakest = 1.0;  ///< smallest sine at t
    Reach reach{};
    EnergyLedger ledger{};
    double violation = 0.0, distance = 0.0, acceleration_integral = 0.0;
  };
  std::vector<Lane> lanes;
  AlignedNumbers y;  ///< [q | q̇ | works]

  /// A motion that is to come into a lane: at its start, as a single run would begin, or where a single run has brought it.
  struct Entry {
    int motion = -1;  ///< none
    const HandedMotion* handed = nullptr;
    const std::vector<double>* row_sizes = nullptr;  ///< with `handed`: of its start, or empty
  };
  /// Brings motions of a batch into all lanes at once: lanes without one stay empty.
  void begin(const MotionBatch& batch, const std::vector<int>& varied, const std::vector<Entry>& entries);
  /// Takes over a lane of another pack.
  void take(int lane, const AdaptivePack& from, int other);
  /// One attempt at a step for every lane.
  void advance();
  /// The motion of a lane where it is, for a single run.
  HandedMotion hand_over(int lane) const;
  /// Sizes that its rows had at its start.
  std::vector<double> row_sizes(int lane) const;
  /// Whether the certificate of a lane holds.
  bool holds(int lane) const;

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
  void look_for_narrow(int l);
  void settle_sides(const std::vector<Entry>& entries);
  void begin_guards(const std::vector<Entry>& entries);
  void look_for_zeros();
  void look_for_zeros(int l);
  double side_of(int i, int l) const { return of(parameters_, num_varied_ + i, l); }
  void decide(int l);
  void accept(int l);
  void watch(int l);
  bool is_stiff(int l);
  /// What the motions are like so far (Sizes), where y has come to.
  void see();
  void see_forces(int l);
  void begin_sizes(const std::vector<Entry>& entries);
  /// At seen_: the change of energy that errors of relative size 1 would make, and the distance to constraints.
  double energy_scale(const AlignedNumbers& state, int l) const;
  double distance(int l) const;
  double& of(AlignedNumbers& x, int i, int l) { return x[static_cast<std::size_t>(i * L_ + l)]; }
  double of(const AlignedNumbers& x, int i, int l) const { return x[static_cast<std::size_t>(i * L_ + l)]; }

  AdaptiveCode* code_;
  EnsembleOptions options_;
  double t0_ = 0.0;
  int n_, L_, size_, num_parameters_, num_varied_;
  AlignedNumbers parameters_;  ///< inputs that do not change: parameters that vary, sides
  std::vector<double> per_unit_;
  AlignedNumbers sizes_;  ///< of motions so far: [q | q̇]
  AlignedNumbers sines_, row_sizes_, A_, divisors_, divisors_before_, divisors_largest_;  ///< at t; of the start; …

  // Of the attempt.
  std::array<AlignedNumbers, 13> k_;
  AlignedNumbers inputs_, outputs_, projection_, pivots_, seen_, y_new_, last_stage_, errors_, scale_, extra_, good_,
      h_, times_;
  AlignedNumbers sines_new_, look_, below_;
  AlignedNumbers guards_, guards_new_, guards_along_;  ///< at t, at the end of the step, inside
  std::vector<int> events_seen_;                       ///< in the step, by lane
  std::vector<int> pieces_;
  std::vector<Interval> box_;
  BoxRoom box_room_;
};

}  // namespace mechanician
