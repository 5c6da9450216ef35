#pragma once

/// The motion near a state, and states of rest, by name.
///
///     auto near = linearise(system, {.inputs = {"F"}, .outputs = {"x"}});      // δẋ = A δx + B δu, δy = C δx + D δu
///     near.A, near.states, near.eigenvalues
///     for (const RestPoint& rest : find_rest(system).states) rest.position.at("x"), rest.stable

#include <Eigen/Dense>
#include <complex>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/library/requests.hpp"

namespace mechanician {

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
