#pragma once

/// From a sample to the start of a motion: values of all parameters, positions and velocities.
///
/// A varied parameter acts on the parameters and start values that are made of it. Varied starts are put in their place and the
/// whole is moved onto the constraints (project.hpp), least in the mass norm, unless it is to stay as given.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/ensemble/start_lanes.hpp"
#include "mechanician/ensemble/varied_system.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/bodies_apart.hpp"

namespace mechanician {

/// What holds for all motions in the place of what the model says; a sample takes the place of both.
struct StartOverrides {
  ParameterOverrides parameters = {};
  std::map<std::string, double> position = {}, velocity = {};
  std::optional<double> time = {};
  bool as_given = false;  ///< nothing is moved onto the constraints
};

/// One per thread: it has a system of its own.
class SampleStarts {
 public:
  /// Throws std::invalid_argument for a name that is none of the model, and for what cannot vary: sizes of families, the start
  /// time. `system` is made of `model` as read with the parameters of `overrides`.
  SampleStarts(const System& system, const std::vector<std::string>& names, const StartOverrides& overrides);

  double time() const { return time_; }
  /// Parameters that differ from motion to motion: varied ones, and what is made of them.
  const std::vector<int>& changing() const { return changing_; }
  /// For `count` samples, one after the other, writes rows of num_parameters, n and n numbers. trouble[i] says why motion i cannot
  /// begin, and is empty where it can.
  void make(std::span<const double> samples, int count, double* parameters, double* q, double* qd,
            std::string* trouble);

 private:
  struct Target {
    enum class Kind : std::uint8_t { parameter, position, velocity } kind;
    std::size_t index;
  };
  std::string set_parameters(std::span<const double> sample, double* parameters);
  void place(const double* parameters, double* q, double* qd);
  void take_apart(const std::vector<std::string>& names, const StartOverrides& overrides);
  void move_apart(std::span<const double> samples, const double* parameters, double* q, double* qd);
  std::string project_start(std::span<const double> parameters, double* q, double* qd);

  VariedSystem system_;
  bool as_given_ = false, check_values_ = false, has_states_ = false;
  double time_ = 0.0;
  std::vector<Target> targets_;
  std::vector<int> changing_;
  std::vector<double> fixed_;                       ///< parameters that do not change
  std::vector<std::pair<std::size_t, Tape>> made_;  ///< parameters made of others that change, in order
  Tape start_;                                      ///< [q | q̇] of the parameters
  std::vector<std::pair<std::size_t, double>> given_q_, given_qd_;
  std::vector<double> registers_, values_;
  State state_;
  bool moved_ = false;               ///< onto the constraints
  std::optional<StartLanes> lanes_;  ///< by compiled code, where that can be made
  std::vector<int> left_;
  /// With every body by itself, as project_start() moves them: empty, or one.
  std::vector<SampleStarts> apart_;
  std::optional<JointsFound> joints_;
};

/// The parameters that the members of a model's families depend on cannot vary from motion to motion; the first of `names` that
/// does, or nothing.
std::optional<std::string> find_size(const Model& model, const std::vector<std::string>& names,
                                     const ParameterOverrides& parameters);

}  // namespace mechanician
