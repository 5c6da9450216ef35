#pragma once

// What an Integrator drives, step by step: a smooth motion (SmoothMotion) or one with contacts (PhasedMotion).

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/motion/handed_motion.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {

class MotionSteps {
 public:
  MotionSteps(const System* system_given, State start_given, MotionOptions options_given)
      : system(system_given), start(std::move(start_given)), options(options_given), t(start.t), step_begin(start.t) {}
  virtual ~MotionSteps() = default;

  virtual bool advance() = 0;
  virtual Sample sample(double t) = 0;
  /// [q | q̇ | works] of the last step at a time, as sample() has them, where everything else follows from these alone, whatever becomes of the
  /// motion meanwhile: complete_sample() finds it. Empty: sample() has to be asked, now.
  virtual std::span<const double> sample_later(double) { return {}; }
  virtual Sample complete_sample(double, std::span<const double>) { return {}; }
  /// [q | q̇] of the last step at a time, as sample() has them; null: only that knows.
  virtual const double* state_at(double) { return nullptr; }
  virtual Certificate certificate() const = 0;
  virtual const Statistics& statistics() = 0;
  virtual bool at_checkpoint() const = 0;
  virtual std::vector<double> checkpoint() const = 0;
  virtual void restore(std::span<const double> from) = 0;
  virtual bool can_hand_over() const { return false; }
  virtual const Sizes& sizes() const = 0;
  virtual HandedMotion hand_over() const { return {}; }
  virtual void take_back(const HandedMotion&) {}
  /// The system has got other values of parameters; the motion is at t.
  virtual void take_parameters() = 0;
  /// Where it has ended, and what another motion that goes on from there has to know.
  virtual State end_state() const = 0;
  virtual EnergyLedger ledger() const = 0;
  virtual std::vector<double> event_signs() const = 0;
  /// By event, +1 or −1: it happens where another one has ended the motion, and was not reported yet; else 0.
  virtual std::vector<double> pending_events() const = 0;
  /// What sampled control holds at t; no efforts where a sample is due there.
  virtual HeldControl held_control() const { return options.sampled; }

  void finish(StopReason reason, std::string message = {}, Place place = {}) {
    over = true;
    stop = {reason, std::move(message), place};
  }

  const System* system = nullptr;
  State start;
  MotionOptions options;
  std::optional<Stop> refusal;
  Stop stop;
  bool over = false;
  std::string stop_requested;
  std::vector<MotionEvent> events;
  std::vector<std::string> notes;
  double t = 0.0, step_begin = 0.0;
  int stopped_by = -1;  ///< the event of the model that has ended it
};

/// Why a motion cannot go on from a state under values of parameters that were set there; nothing where it can.
std::optional<Stop> find_wrong_parameters(const System& system, const State& state);

}  // namespace mechanician
