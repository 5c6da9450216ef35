#pragma once

/// One instant, the motion near a state, and states of rest, by name.
///
///     auto near = linearise(system, {.inputs = {"F"}, .outputs = {"x"}});      // δẋ = A δx + B δu, δy = C δx + D δu
///     near.A, near.states, near.eigenvalues
///     for (const RestPoint& rest : find_rest(system).states) rest.position.at("x"), rest.stable

#include <complex>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/library/requests.hpp"

namespace mechanician {

class InstantAnswer {
 public:
  InstantAnswer(System system, Instant instant);

  /// Whether there is an acceleration; `refusals` say why not.
  bool solved() const { return instant_.has_acceleration(); }
  /// By coordinate and by constraint. Throw std::out_of_range for a name that is none, std::logic_error where nothing is solved.
  double acceleration(std::string_view coordinate) const;
  double constraint_force(std::string_view coordinate) const;
  double control_force(std::string_view coordinate) const;
  double multiplier(std::string_view constraint) const;

  /// Everything there is.
  const Instant& details() const { return instant_; }
  const System& system() const { return system_; }
  /// As `accelerate --json` and `check --json` print it.
  std::string json() const;
  std::string check_json() const;
  /// A picture of the instant, SVG; empty where there is nothing to draw.
  std::string picture() const;
  /// Why there is no acceleration; why a motion cannot begin here; what else is to be known. As the command line says it.
  std::vector<std::string> refusals() const, start_refusals() const, notes() const;

 private:
  double entry(const Eigen::VectorXd& of, std::string_view coordinate) const;

  System system_;
  Instant instant_;
};

/// The model's start with what was asked for. Throws std::invalid_argument for a name that is no coordinate.
State start_of(const System& system, const Values& position, const Values& velocity, std::optional<double> time);
/// The same as a run begins with it: on the constraints, moved there where `project` says so. Throws std::invalid_argument with
/// what the command line would say.
State accepted_start(const System& system, const State& given, bool project);

struct LineariseRequest {
  std::vector<std::string> inputs = {};   ///< parameters and inputs of the model
  std::vector<std::string> outputs = {};  ///< outputs of the model, coordinates, velocities x' and accelerations x''
  std::vector<std::string> states = {};   ///< coordinates and velocities that are to be independent; the rest is chosen
  Values position = {}, velocity = {};
  std::optional<double> time = {};
  bool project = false;  ///< a state that is off the constraints is moved onto them
};

struct LinearAnswer {
  std::vector<std::string> states, inputs, outputs;  ///< names
  Eigen::MatrixXd A, B, C, D;
  Eigen::VectorXd drift;  ///< ẋ at the state itself: zero at rest
  std::vector<std::complex<double>> eigenvalues;
  std::string at;  ///< "rest", "steady", "moving": only at the first two eigenvalues say whether deviations grow
  bool stable = false;
  std::vector<std::string> notes;
  std::string json;  ///< as `linearise --json` prints it
};

/// Throws std::invalid_argument for names that are none, and where there is no linearisation.
LinearAnswer linearise(const System& system, const LineariseRequest& request = {});

struct RestRequest {
  int starts = 50;         ///< of the search, the model's own among them
  unsigned long seed = 0;  ///< of the others
  Values position = {};    ///< where it begins
  std::optional<double> time = {};
  std::string vary = {};        ///< a parameter with which rest is followed; empty: none
  double from = 0.0, to = 1.0;  ///< its range
  /// Called some ten times a second: what it throws ends the search.
  std::function<void()> progress = {};
};

struct RestPoint {
  Values position;
  std::vector<std::complex<double>> eigenvalues;
  bool stable = false, isolated = true;
};

struct RestAnswer {
  std::vector<RestPoint> states;
  std::vector<std::string> notes;
  std::string json;  ///< as `equilibrium --json` prints it, with branches where a parameter varies
};

/// Throws std::invalid_argument for names that are none, and where friction leaves ranges of rest.
RestAnswer find_rest(const System& system, const RestRequest& request = {});

}  // namespace mechanician
