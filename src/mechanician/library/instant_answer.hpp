#pragma once

/// One instant, by name.

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

}  // namespace mechanician
