#pragma once

/// A model made ready for numbers, whatever its size: what instants, motions, results and commands see of it.
///
///     System system(read_family_model("four_bar.toml"));
///     const Evaluation now = system.evaluate({t, q, qd});     // M Q A b, residuals, with rounding error bounds
///     const Solution ideal = solve(now.values);               // C = 0
///     const Eigen::VectorXd C = …system.calc_C(state, ideal)  // may depend on the ideal forces
///
/// Numbers come from the equations written out, as flat programs, or from kernels that run over the members of families
/// (large/large_system.hpp); which, is decided here (Numbers). Copies are cheap, share what is derived, and keep it alive.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/not_finite.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/family_model.hpp"
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

/// Numbers in the order of the entries, as a matrix.
SparseRows fill_rows(const SparseExprMatrix& pattern, std::span<const double> values);

class LargeSystem;
class FamilyNumbers;
struct InstantRequest;
struct MotionRequest;
struct SweepRequest;
class InstantAnswer;
class MotionAnswer;
struct SweepAnswer;
class Acceleration;

/// The requirements and what can be done about them, in numbers (ControlEquations).
struct ControlValues {
  SparseRows A;                                     ///< p×n: rows of the requirements
  Eigen::VectorXd b, b_size;                        ///< p, and sizes of the terms that b was summed from
  std::vector<ControlEquations::Requirement> rows;  ///< p
  Eigen::MatrixXd E;                                ///< n×a; no columns: every coordinate can be forced
  Eigen::VectorXd low, high;                        ///< a, may be infinite
  Eigen::MatrixXd R;                                ///< a×a
  Eigen::VectorXd weights;                          ///< p, 0 where there is none
  Eigen::VectorXd free;                             ///< n; empty: none
};

struct Evaluation {
  InstantValues values;   ///< of the constraints; C is empty
  ControlValues control;  ///< no rows without requirements
  Eigen::VectorXd
      residual;          ///< of all rows, constraints and then requirements: φ or ψ; zero for acceleration-level rows
  Eigen::VectorXd rate;  ///< φ̇ of position-level rows, else zero
  Eigen::VectorXd residual_noise, rate_noise;
  std::optional<NotFinite> not_finite;
};

/// From the numbers of ControlEquations, in their order: all but rows and b.
void fill_control(const ControlEquations& control, int n, std::span<const double> numbers, ControlValues& to);

/// What a constraint that is one-sided or has friction says beyond its row of A q̈ = b (ContactRow), in numbers.
struct ContactValues {
  int row = 0;
  bool one_sided = false;
  Level level = Level::position;
  double restitution = 0.0;
  bool has_friction = false;
  double mu = 0.0;         ///< coefficient of friction
  double limit = 0.0;      ///< largest friction besides μ|λ|
  bool bare = false;       ///< there is no row
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
  /// Where the numbers of a stated model come from. `automatic`: kernels from `least_for_kernels` coordinates on, as far as they
  /// can say what the model says; what they cannot is written out.
  enum class Numbers { automatic, written_out, kernels };
  /// With the parameters that it was read with. Throws ModelError, as above, and where neither way is open: for
  /// `kernels` what they cannot do, for the others what is too large to be written out.
  explicit System(FamilyModel stated, Numbers numbers = Numbers::automatic);

  /// The model of a file or a text, with these values of parameters. Throw ModelError, FileError, and std::invalid_argument for a
  /// name that is no parameter. These and the next are for programs that include mechanician.hpp (folder `library`).
  static System from_file(const std::string& file, const std::map<std::string, double>& set = {});
  static System from_text(std::string_view text, const std::map<std::string, double>& set = {},
                          std::string name = "model.toml");
  /// Throw std::invalid_argument for names that are none and for what cannot begin.
  InstantAnswer instant() const;
  InstantAnswer instant(const InstantRequest& request) const;
  MotionAnswer integrate(const MotionRequest& request) const;
  SweepAnswer sweep(const SweepRequest& request) const;
  Acceleration compiled() const;
  /// "text", "json" or "latex".
  std::string equations_as(const std::string& format) const;

  /// A ladder of 82 coordinates takes 42 ms by kernels, from its file to its motion, and 52 written out; a chain of 998 takes
  /// 19 ms and 500. Below, code that is made of the whole model is the quicker one.
  static constexpr long least_for_kernels = 64;

  /// The model member by member, and its equations. Where numbers come from kernels both are made when they are asked for
  /// first: for closed forms and compiled programs. Throws ModelError where the model is too large for that (expand).
  const Model& model() const;
  const Equations& equations() const;
  /// Where numbers come from kernels; else null.
  const std::shared_ptr<LargeSystem>& kernels() const;

  /// Of model().parameters, in their order.
  const std::vector<double>& parameters() const { return parameters_; }
  /// Their names, those of long lists left out: of the first so many parameters.
  std::vector<std::string> parameter_names() const;
  /// Parameters that may be set while a motion goes on, by number.
  std::vector<int> inputs_from_outside() const;
  /// Other values, as many; they are not checked (validate_values). Nothing is derived again. From then on numbers come
  /// from the equations written out.
  void set_parameters(std::span<const double> values);

  int n() const { return n_; }
  int m() const { return m_; }  ///< constraints
  int num_control() const { return num_control_; }
  int num_rows() const { return m_ + num_control_; }  ///< the requirements of control behind the constraints
  /// States of first order. Their rows come after those of the constraints and before those of control.
  const std::vector<StateRow>& states() const;
  int num_states() const { return static_cast<int>(states().size()); }
  /// Rows of constraints alone.
  int num_constraints() const { return m_ - num_states(); }
  /// Velocities of states become what their rates say there.
  void set_state_rates(State& state) const;
  const RowTraits& row(int i) const;
  /// Names are made when they are asked for.
  std::string row_name(int i) const;
  std::string coordinate(int i) const;
  /// −1: there is none of this name.
  int find_coordinate(std::string_view name) const;
  std::vector<std::string> output_names() const;
  /// What is asked of whole motions. Its quantities follow the outputs in Sample::outputs.
  std::vector<SummaryItem> summary() const;
  StartRules start_rules() const;
  const std::map<std::string, UnitOf>& units() const;
  const std::string& title() const;
  const SourceText& source() const;
  const RunSettings& run_settings() const;
  Place place_of(const std::string& key) const;
  /// Where mass, and what is said of it, comes from.
  Place place_of_mass() const;
  /// The start of the model. Throws ModelError for a value that is not finite.
  State start() const;
  /// Typical sizes of coordinates that the model gives ([run] scale), with the parameters of now; 0: not given; empty: none
  /// is. Throws ModelError for one that is not positive.
  std::vector<double> scale() const;
  /// Whether a given force depends on a coordinate or its velocity.
  bool forces_depend_on(int coordinate) const;
  /// Operations of one evaluation of M, Q, A and b.
  std::int64_t num_operations() const;

  Evaluation evaluate(const State& state) const;
  /// What the controller believes ([nominal]); null: it knows the system itself.
  std::shared_ptr<const System> nominal() const;

  /// Whether a constraint is one-sided or has friction.
  bool has_contacts() const { return has_contacts_; }
  /// Whether events may change the system while it moves (model.hpp).
  bool is_staged() const { return is_staged_; }
  /// Rows that are engaged as a motion begins, constraints, states and requirements, where that is not what the model says: it
  /// goes on from another one. Empty: as the model says.
  const std::vector<char>& engaged_instead() const { return engaged_instead_; }
  void set_engaged(std::vector<char> engaged) { engaged_instead_ = std::move(engaged); }
  /// For each of equations().contacts. What is not finite is named in `not_finite`, the first of several.
  std::vector<ContactValues> evaluate_contacts(const State& state, std::optional<NotFinite>& not_finite) const;

  struct Nonideal {
    Eigen::VectorXd C;
    std::optional<NotFinite> not_finite;
    /// multiplier(NAME) that C asks for and that are not unique.
    std::vector<std::string> not_unique;
  };
  bool has_C() const { return has_C_; }
  /// Whether C uses ideal() or multiplier(), so that it is known only after a solution with C = 0.
  bool needs_reactions() const { return needs_reactions_; }
  /// C at this state, given the solution with C = 0 (which may be empty where C needs no reactions).
  Nonideal calc_C(const State& state, const Solution& ideal) const;

 private:
  struct Written;
  struct Kept;
  void set_written(Model model);
  const Written& written() const;
  Evaluation evaluate_written(const State& state) const;
  std::vector<double> inputs(const State& state) const;
  NotFinite explain_dynamics(int output, std::span<const double> inputs) const;
  NotFinite explain_contacts(int output, std::span<const double> inputs) const;
  void evaluate_control(std::span<const double> inputs, Evaluation& to) const;

  int n_ = 0, m_ = 0, num_control_ = 0;
  bool has_contacts_ = false, has_C_ = false, needs_reactions_ = false, is_staged_ = false;
  std::vector<double> parameters_;
  std::vector<char> engaged_instead_;
  std::map<std::string, double> given_;            ///< parameters that were set when it was read
  std::shared_ptr<const FamilyNumbers> families_;  ///< where numbers come from kernels
  std::shared_ptr<Kept> kept_;                     ///< what is written out, as soon as it is
};

}  // namespace mechanician
