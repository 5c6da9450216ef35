#pragma once

/// From a sample to the start of a motion: values of all parameters, positions and velocities.
///
/// A varied parameter acts on the parameters and start values that are made of it. Varied starts are put in their place and the
/// whole is moved onto the constraints (project.hpp), least in the mass norm, unless it is to stay as given.

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/ensemble/varied_system.hpp"
#include "mechanician/expression/tape.hpp"

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
  /// Writes num_parameters, n and n numbers. Returns why the motion cannot begin; nothing where it can.
  std::string make(std::span<const double> sample, double* parameters, double* q, double* qd);

 private:
  struct Target {
    enum class Kind : std::uint8_t { parameter, position, velocity } kind;
    std::size_t index;
  };
  std::string set_parameters(std::span<const double> sample);
  std::string project_start();
  void prepare_velocities();
  bool project_velocities();
  bool is_on_constraints();

  VariedSystem system_;
  bool as_given_ = false, check_values_ = false;
  double time_ = 0.0;
  std::vector<Target> targets_;
  std::vector<int> changing_;
  std::vector<double> fixed_;                       ///< parameters that do not change
  std::vector<std::pair<std::size_t, Tape>> made_;  ///< parameters made of others that change, in order
  Tape rows_;                                       ///< φ, φ̇ and ψ of t, q, q̇ and the parameters
  std::vector<bool> one_sided_;                     ///< of them
  Tape start_;                                      ///< [q | q̇] of the parameters
  std::vector<std::pair<std::size_t, double>> given_q_, given_qd_;
  std::vector<double> parameters_, registers_, values_, row_inputs_, row_values_, row_bounds_;
  State state_;
  CompiledFunction velocities_;  ///< a Newton step of them onto the constraints; empty where there is none
  std::vector<double> velocity_outputs_;
};

/// The parameters that the members of a model's families depend on cannot vary from motion to motion; the first of `names` that
/// does, or nothing.
std::optional<std::string> find_size(const Model& model, const std::vector<std::string>& names,
                                     const ParameterOverrides& parameters);

}  // namespace mechanician
