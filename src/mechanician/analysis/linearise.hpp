#pragma once

/// The motion near a state, linear and exact: ẋ = f(x, u, t) in independent coordinates and velocities x of the constraints' own
/// manifold (tangent.hpp), and its derivatives
///
///     δẋ = A δx + B δu,   δy = C δx + D δu
///
/// by parameters u and for outputs y. A is ∂f/∂x at any state on the constraints: at rest, in a steady motion, along any motion. Rest
/// is f = 0, a steady motion ḟ = 0 of all states that something depends on (a bicycle that runs straight on); elsewhere eigenvalues of A say nothing about what becomes of
/// small deviations, and `at` says so.
///
/// Holonomic, nonholonomic and moving constraints, redundant rows, singular masses, control, friction of what slides and C that
/// depends on reactions are all in the derivatives. Contacts that hold at the state are equations, those that do not are absent. Kinks
/// have the derivative of the side that the state is on.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mechanician/analysis/tangent.hpp"
#include "mechanician/motion/phase_model.hpp"

namespace mechanician {

struct LineariseOptions {
  std::vector<std::string> inputs = {};   ///< parameters
  std::vector<std::string> outputs = {};  ///< outputs of the model, coordinates, velocities x' and accelerations x''
  std::vector<std::string> states =
      {};  ///< coordinates x and velocities x' that are to be independent; the rest is chosen
  /// Inputs stay as they are once they have changed: they may move constraints. For rest, and how it changes with parameters.
  bool quasi_static = false;
};

/// States (positions and velocities) up to which the matrices are made: A has as many rows and columns and is dense, as are its
/// eigenvectors; 6000 take a gigabyte.
inline constexpr int most_states = 6000;

struct Linearisation {
  /// Why there is none; empty where there is.
  std::string refusal = {};
  Place place = {};

  State state = {};                                  ///< where, on the constraints
  std::vector<int> positions = {}, velocities = {};  ///< which coordinates the states are
  std::vector<std::string> states = {};              ///< their names: x, y, x', y'
  Eigen::MatrixXd A = {}, B = {}, C = {}, D = {};
  Eigen::MatrixXd A_noise = {};     ///< bounds of what rounding has done to A
  Eigen::MatrixXd q = {}, qd = {};  ///< n×states: how all coordinates and velocities change with the states
  Eigen::MatrixXd q_inputs = {};    ///< n×inputs: how coordinates change with inputs that move constraints
  /// Masses of the states where every coordinate among them has its velocity among them too; else empty.
  Eigen::MatrixXd M = {};
  /// Where there is M: −∂/∂x of the forces along the states, with accelerations and multipliers as they are. At rest M ẍ = −K x, where
  /// nothing but accelerations of the states follows. With bounds of rounding of both.
  Eigen::MatrixXd K = {}, M_noise = {}, K_noise = {};
  Eigen::VectorXd force_size = {};  ///< where there is M: the terms that forces along the states are the sums of

  enum class At { rest, steady, moving };
  At at = At::rest;
  bool depends_on_time = false;      ///< the equations do, explicitly
  Eigen::VectorXd drift = {};        ///< ẋ = f
  Eigen::VectorXd qdd = {};          ///< of all coordinates
  Eigen::VectorXd qdd_size = {};     ///< what these are small or large against
  Eigen::VectorXd multipliers = {};  ///< by row of the system; of open contacts 0
  Eigen::VectorXd outputs = {};      ///< their values
  std::vector<std::string> notes = {};
  std::vector<std::string> jumps = {};  ///< expressions with a value that jumps at this very state, as text
};

class Lineariser {
 public:
  /// Keeps what it needs of the system alive. Throws std::invalid_argument for names that are none, and for what cannot be an input or
  /// an output.
  explicit Lineariser(const System& system, LineariseOptions options = {});
  ~Lineariser();

  /// The state is to be on the constraints. `quick`: a singular configuration is not looked for.
  Linearisation at(const State& state, bool quick = false);
  /// Values of all parameters.
  void set_parameters(std::span<const double> values);
  const System& system() const { return *system_; }
  const LineariseOptions& options() const { return options_; }

 private:
  struct Phase;
  Phase& phase_of(const State& state, Linearisation& to);
  bool choose_rows(Phase& phase, Linearisation& to, std::vector<double>& y, bool quick) const;
  bool refuse_inputs(const Phase& phase, const TangentSpace& space, Linearisation& to) const;
  void find_rates(Phase& phase, const std::vector<double>& y) const;
  void fill(const Phase& phase, const TangentSpace& space, Linearisation& to) const;
  void judge(const Phase& phase, const std::vector<double>& y, Linearisation& to) const;

  std::shared_ptr<System> system_;
  LineariseOptions options_;
  std::vector<int> inputs_, wanted_, wanted_v_;
  std::vector<Expr> outputs_;
  std::map<std::vector<ContactStatus>, std::unique_ptr<Phase>> phases_;
};

}  // namespace mechanician
