#pragma once

/// The motion, step by step.
///
///     Integrator integrator(system, start, {.to = 10.0, .tolerance = 1e-9});
///     while (integrator.advance())
///       for (double t : times in (integrator.step_begin(), integrator.t()]) use(integrator.sample(t));
///     integrator.stop(), integrator.certificate(), integrator.events()
///
/// The start must be on the constraints (accelerate.hpp, violations()); what is off by less is projected.
/// Deterministic: restoring a checkpoint and going on gives the same bits as not having stopped.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

/// Where sampled control stands: it goes on from one motion to the next.
struct HeldControl {
  std::optional<double> from{};   ///< the time that samples count from; nothing: the start
  std::vector<double> efforts{};  ///< found at the last one, of actuators or else forces by coordinate; empty: none was
};

struct MotionOptions {
  double to = 0.0;           ///< later than the start
  double tolerance = 1e-10;  ///< of the local error, relative to the typical size of each component (sizes.hpp)
  Method method = Method::automatic;
  double first_step = 0.0;      ///< 0: chosen
  double largest_step = 0.0;    ///< 0: no limit
  std::vector<double> scale{};  ///< typical sizes of coordinates, 0: found from the motion; empty: all are
  HeldControl sampled{};
  bool summarise = true;               ///< follow what [summary] asks for, where the model has one
  std::vector<char> summarise_only{};  ///< by item of [summary]: those that are followed; empty: all
};

class MotionSteps;
class SummaryLook;
struct HandedMotion;
class Sizes;
class MotionFamily;

class Integrator {
 public:
  /// Throws std::invalid_argument for options that make no sense. Keeps what it needs of the system alive.
  Integrator(const System& system, State start, MotionOptions options);
  /// Of a family that stays where it is, with the parameters that it has now.
  Integrator(MotionFamily& family, State start, MotionOptions options);
  ~Integrator();
  Integrator(Integrator&&) noexcept;
  Integrator& operator=(Integrator&&) noexcept;

  /// Why the motion cannot begin (a start at rest in a bifurcation, …); nothing where it can.
  const std::optional<Stop>& refusal() const;

  /// One accepted step. False when the motion is over, see stop(); then nothing was done.
  bool advance();
  /// The last accepted step is [step_begin(), t()]; before the first step both are the start.
  double step_begin() const;
  double t() const;
  /// At a time in the last accepted step, from dense output, projected onto the constraints.
  Sample sample(double t);
  /// The same in two parts, for those who may never look at accelerations and forces: [q | q̇ | works] now, the rest whenever it is asked for, also when
  /// the motion is over, with the same bits. Empty: not possible there; else it holds until the next call.
  std::span<const double> sample_later(double t);
  Sample complete_sample(double t, std::span<const double> state);

  /// Of the motion so far.
  const Sizes& sizes() const;
  /// From t() on an input of the model has another value (Model::add_input, [inputs]): the motion goes on from where it is, and
  /// nothing is compiled again. Positions and velocities stay; constraints that depend on the input must still hold there, else
  /// the motion ends with a contradiction. Checkpoints do not know the values of inputs: before restore() they are to be set again.
  /// Throws std::invalid_argument where the model has no such input, where the value is not finite, and in a family.
  void set_input(std::string_view name, double value);
  /// Its value now.
  double input(std::string_view name) const;

  /// Ends the motion after this step.
  void request_stop(std::string why);
  const Stop& stop() const;
  bool over() const;

  const std::vector<MotionEvent>& events() const;
  const Statistics& statistics() const;
  /// Of the motion so far.
  Certificate certificate() const;
  /// [summary] of the motion so far; none where it is not followed.
  std::vector<SummaryValue> summary() const;
  /// What the user should know, as it comes up (method changed, crossing noise-limited, …).
  const std::vector<std::string>& notes() const;

  /// Whether the motion can be taken up again from here. The explicit method: after every step. The implicit one, which
  /// remembers past steps, begins afresh every so many steps in every run, and only there.
  bool at_checkpoint() const;
  /// Everything that the rest of the motion depends on, as numbers; events and notes of the past are kept apart.
  /// Only where at_checkpoint().
  std::vector<double> checkpoint() const;
  /// On a fresh integrator with the same system, start and options. Throws std::invalid_argument if it does not fit.
  void restore(std::span<const double> checkpoint, std::vector<MotionEvent> past_events,
               std::vector<std::string> past_notes);

  /// Whether the motion is smooth from here on, so that somebody else may make steps: no singular configuration near, no
  /// contact closed, the method explicit.
  bool can_hand_over() const;
  HandedMotion hand_over() const;
  /// Where the other has brought it; at the end of the run the motion is over. Only where it was handed over, or after the
  /// start where it could have been.
  void take_back(const HandedMotion& motion);

  const System& system() const;
  const MotionOptions& options() const;

 private:
  std::size_t find_input(std::string_view name) const;
  void note_gaps(const Sample& sample);

  std::unique_ptr<MotionFamily> family_;  ///< of a model with inputs, which vary
  std::shared_ptr<const System> system_;
  std::unique_ptr<MotionSteps> steps_;
  std::unique_ptr<SummaryLook> summary_;
};

}  // namespace mechanician
