#pragma once

/// States of rest: q̇ = 0 and q̈ = 0 with all forces and constraints, at a time that stands still where they depend on it.
///
/// In the independent coordinates x of a state at rest (tangent.hpp) there is one equation for each: q̈_i(x) = 0 where its velocity is
/// independent too, and q̇_i(x) = 0 where it is not (a coordinate without mass whose row says its rate). Their derivatives are rows of A of
/// the linearisation, exact, so Newton's iteration converges quadratically; steps are of least size where equations do not
/// determine them (nothing holds a wheel where it is), and shortened until the accelerations decrease. After each the state is moved
/// back onto the constraints.
///
/// It is begun at the model's start and at random positions around it, which are moved onto the constraints first. Where these tie coordinates
/// together few such positions are far from the start on them: every third one is then come to along the constraints. Solutions that
/// are the same up to whole turns of angles, and up to the sign of quaternions, count once.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/analysis/eigenvalues.hpp"

namespace mechanician {

struct RestState {
  Linearisation linear = {};  ///< at the state; positions are linear.state.q
  Spectrum spectrum = {};
  bool isolated = true;  ///< no others next to it, as far as linear equations tell
  /// One-sided constraints that hold there, by contact of the system (rest_modes.hpp); empty: it has none.
  std::vector<char> closed = {};
  bool is_stable() const { return spectrum.is_stable(); }
};

struct RestOptions {
  int starts = 50;  ///< how many, the model's own among them
  std::uint64_t seed = 0;
  /// Called between starts, and between points of branches: what it throws ends the search.
  std::function<void()> between = {};
};

class RestSearch {
 public:
  /// `start`: of the model, where time stands still. `varied`: a parameter that may change, or nothing. `overrides`: what was set of
  /// parameters beside the model's text. `whole`: of which the system is a phase, whose gaps may tell whole turns apart. Throws
  /// std::invalid_argument where there is no such parameter.
  RestSearch(const System& system, const State& start, const std::string& varied = {},
             ParameterOverrides overrides = {}, const System* whole = nullptr);

  const System& system() const { return lineariser_.system(); }
  const std::string& varied() const { return varied_; }
  double parameter() const { return parameter_; }
  void set_parameter(double value);
  /// Typical sizes of coordinates.
  const Eigen::VectorXd& scale() const { return scale_; }
  /// At least as large as a position.
  void see(const Eigen::VectorXd& q) { scale_ = scale_.cwiseMax(q.cwiseAbs()); }
  /// Coordinates that count modulo 2π.
  const std::vector<char>& periodic() const { return periodic_; }

  /// The equations of rest at a position, moved onto the constraints.
  struct Equations {
    bool ok = false;
    std::string refusal = {};
    Linearisation linear = {};
    Eigen::VectorXd r = {};  ///< by independent coordinate
    Eigen::VectorXd r_size = {};
    Eigen::MatrixXd S = {};    ///< ∂r/∂x
    Eigen::VectorXd r_p = {};  ///< ∂r/∂p of the varied parameter
    Eigen::VectorXd q_p = {};  ///< ∂q/∂p: constraints that it moves
    bool balances() const;     ///< r is rounding
  };
  Equations evaluate(const Eigen::VectorXd& q, bool quick = true);
  /// Whether a step from one position to another is one too far: the iteration ends there.
  using TooFar = std::function<bool(const Eigen::VectorXd& from, const Eigen::VectorXd& to)>;
  /// A position as a start of Newton's iteration; nothing where it leads nowhere, or too far.
  std::optional<RestState> settle(const Eigen::VectorXd& q, const TooFar& too_far = {});
  /// What there is to say of a position that is known to be one of rest.
  std::optional<RestState> examine(const Eigen::VectorXd& q);
  using Settle = std::function<std::optional<RestState>(const Eigen::VectorXd& q)>;
  /// From several starts, distinct. `trouble`: what kept starts from coming anywhere, the first of it. `from`: the way from a start
  /// to rest; none: onto the constraints, and `settle`.
  std::vector<RestState> find_all(const RestOptions& options, std::string* trouble = nullptr, const Settle& from = {});
  /// Expressions that jump wherever there is rest, sign(x'), as text: rest fills ranges then, as with friction.
  std::vector<std::string> jumps_at_rest();
  /// What kept `settle` from coming anywhere, the first of it.
  const std::string& trouble() const { return trouble_; }
  /// Nearness of positions, in typical sizes and up to whole turns.
  double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const;

 private:
  double size_of(const Equations& at) const;
  bool stays(const RestState& s) const;
  void find_scale();
  void find_periodic(const System& whole);
  void find_quaternions();
  Eigen::VectorXd random_start(const RestOptions& options, int which) const;
  /// Along the constraints from the start, straight on in a random direction; nothing where they leave no way or tie nothing.
  std::optional<Eigen::VectorXd> walk(const RestOptions& options, int which);

  Lineariser lineariser_;
  State start_;
  std::string varied_;
  double parameter_ = 0.0;
  ParameterOverrides overrides_;
  Eigen::VectorXd scale_;
  std::vector<std::array<Eigen::Index, 4>> quaternions_;  ///< of bodies: w, x, y, z
  std::vector<char> periodic_, absent_, wraps_;           ///< wraps: whole turns may be taken off
  std::string trouble_;
};

}  // namespace mechanician
