#pragma once

/// States of rest beside one-sided constraints φ ≥ 0: forces press, and nothing is passed,
///
///     φ ≥ 0,   λ ≥ 0,   φλ = 0.
///
/// Which of them hold (the mode) is part of what is looked for, by an active set. Those that hold are equations, the others are absent
/// (motion/phase_model.hpp), and rest is looked for among what is left (rest_states.hpp). A step that passes a gap ends where it does:
/// that one is closed. Where rest is found with forces that pull, the programme of one-sided constraints at that state
/// (instant/contacts.hpp) says which of them stay; the others are opened. What is found counts where that programme has no acceleration, so
/// that the search is never believed on its own word.
///
/// Stability is that of the freedom which the closed ones leave. A system without one-sided constraints has one mode.

#include <map>
#include <memory>

#include "mechanician/analysis/rest_states.hpp"
#include "mechanician/motion/phase_model.hpp"

namespace mechanician {

class RestModes {
 public:
  /// By contact: whether it holds.
  using Closed = std::vector<char>;

  /// As RestSearch. There must be no friction.
  RestModes(const System& system, const State& start, const std::string& varied = {},
            ParameterOverrides overrides = {});

  const System& system() const { return *whole_; }
  const std::string& varied() const { return varied_; }
  void set_parameter(double value);
  /// The search in a mode, with the parameter and the sizes of now.
  RestSearch& of(const Closed& closed);
  /// The mode in which nothing holds.
  RestSearch& open() { return of(Closed(whole_->has_contacts() ? whole_->equations().contacts.size() : 0, 0)); }
  void see(const Eigen::VectorXd& q);

  std::vector<RestState> find_all(const RestOptions& options, std::string* trouble = nullptr);

  /// By contact: its gap, or where it holds its force, over what these are small against; ≥ 0 is what is asked for. `linear`: at rest in the
  /// mode.
  std::vector<double> guards(const Closed& closed, const Linearisation& linear);
  std::string name(std::size_t contact) const;
  /// Contacts at a state of rest that hold without a force.
  std::vector<std::size_t> idle(const RestState& s) const;

 private:
  struct Mode;
  Mode& mode_of(const Closed& closed);
  bool is_gap(std::size_t contact) const;
  /// φ by contact over Σ|∂φ/∂q_i| s_i with the typical sizes s; 0 for those of velocities.
  std::vector<double> gaps(const Eigen::VectorXd& q);
  /// What holds at a position, by its accelerations; nothing: they vanish.
  std::optional<Closed> holding(const Linearisation& linear, Eigen::VectorXd& multipliers);
  std::optional<RestState> settle(const Eigen::VectorXd& q, bool watch);
  /// Multipliers by row of the whole system.
  Eigen::VectorXd multipliers(const Mode& mode, const Linearisation& linear) const;

  std::shared_ptr<System> whole_;
  State start_;
  std::string varied_;
  std::optional<double> parameter_;
  ParameterOverrides overrides_;
  Eigen::VectorXd seen_;
  std::map<Closed, std::shared_ptr<Mode>> modes_;
};

}  // namespace mechanician
