#pragma once

/// A model made ready for numbers: its equations as flat programs, its parameters with values.
///
///     System system(model, parameter_values);
///     const Evaluation now = system.evaluate({t, q, qd});     // M Q A b, residuals, with rounding error bounds
///     const Solution ideal = solve(now.values);               // C = 0
///     const Eigen::VectorXd C = …system.calc_C(state, ideal)  // may depend on the ideal forces

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

struct State {
  double t = 0.0;
  Eigen::VectorXd q, qd;
};

/// The start of a model as a state.
State state_of(const StartState& start);

/// A number that is infinite, undefined or out of its range: which, where it comes from, and at which state.
struct NotFinite {
  std::string quantity;      ///< "b of constraint `rod`"
  std::string expression;    ///< the innermost subexpression that fails
  std::string operands;      ///< "sqrt of -1"
  Place place;               ///< in the model file
  std::string problem = {};  ///< in the place of all that where the number is finite and may not be what it is
  std::string message() const;
};

/// Follows output `output` of the tape down to what has no value.
NotFinite explain_not_finite(const Tape& tape, int output, std::span<const double> inputs, std::string quantity,
                             Place place);

/// Numbers in the order of the entries, as a matrix.
SparseRows fill_rows(const SparseExprMatrix& pattern, std::span<const double> values);

struct Evaluation {
  InstantValues values;      ///< C is empty
  Eigen::VectorXd residual;  ///< m: φ or ψ; zero for acceleration-level rows
  Eigen::VectorXd rate;      ///< m: φ̇ of position-level rows, else zero
  Eigen::VectorXd residual_noise, rate_noise;
  std::optional<NotFinite> not_finite;
};

/// What a constraint that is one-sided or has friction says beyond its row of A q̈ = b (ContactRow), in numbers.
struct ContactValues {
  int row = 0;
  bool one_sided = false;
  Level level = Level::position;
  double restitution = 0.0;
  bool has_friction = false;
  double mu = 0.0;         ///< coefficient of friction
  Eigen::VectorXd slip;    ///< k: ψ, one or two; none without friction
  SparseRows T;            ///< k×n: ∂ψ/∂q̇
  Eigen::VectorXd slip_b;  ///< k: the slip accelerates by T q̈ − slip_b
};

class System {
 public:
  /// `parameters` are the values of model.parameters, in order. Throws ModelError where the model does not pass its
  /// checks (validate.hpp) or leaves a function unknown: then there is nothing to evaluate.
  System(Model model, std::vector<double> parameters);
  /// A part of a model that has passed its checks, with names that no file can have.
  enum class Checked { already };
  System(Model model, std::vector<double> parameters, Checked);

  const Model& model() const { return model_; }
  const Equations& equations() const { return eqs_; }
  const std::vector<double>& parameters() const { return parameters_; }
  /// Other values, as many; they are not checked (validate_values). Nothing is derived again.
  void set_parameters(std::span<const double> values);
  int n() const { return eqs_.n(); }
  int m() const { return eqs_.m(); }
  const Row& row(int i) const { return eqs_.rows[static_cast<std::size_t>(i)]; }
  const std::string& coordinate(int i) const { return eqs_.coordinates[static_cast<std::size_t>(i)]; }
  /// Operations of one evaluation of M, Q, A and b.
  int num_operations() const { return static_cast<int>(dynamics_.code().size()); }

  Evaluation evaluate(const State& state) const;

  /// Whether a constraint is one-sided or has friction.
  bool has_contacts() const { return !eqs_.contacts.empty(); }
  /// For each of equations().contacts. What is not finite is named in `not_finite`, the first of several.
  std::vector<ContactValues> evaluate_contacts(const State& state, std::optional<NotFinite>& not_finite) const;

  struct Nonideal {
    Eigen::VectorXd C;
    std::optional<NotFinite> not_finite;
    /// multiplier(NAME) that C asks for and that are not unique.
    std::vector<std::string> not_unique;
  };
  /// Whether C uses ideal() or multiplier(), so that it is known only after a solution with C = 0.
  bool needs_reactions() const { return needs_reactions_; }
  /// C at this state, given the solution with C = 0 (which may be empty where C needs no reactions).
  Nonideal calc_C(const State& state, const Solution& ideal) const;

 private:
  std::vector<double> inputs(const State& state) const;
  NotFinite explain_dynamics(int output, std::span<const double> inputs) const;
  NotFinite explain_contacts(int output, std::span<const double> inputs) const;

  Model model_;
  Equations eqs_;
  std::vector<double> parameters_;
  Tape dynamics_;  ///< M entries, Q, A entries, b, W, residuals, rates
  Tape contacts_;  ///< for each contact: restitution, coefficient of friction, slip, T entries, slip_b
  bool needs_reactions_ = false;
  std::shared_ptr<const InstantPattern> pattern_;
  Tape nonideal_;  ///< C; further inputs: ideal forces, multipliers
};

}  // namespace mechanician
