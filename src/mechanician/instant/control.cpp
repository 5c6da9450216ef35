#include "mechanician/instant/control.hpp"

#include <algorithm>
#include <cmath>

#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Directions that N feels by less than this, as the square of a sine, are those of rows that depend on constraints.
constexpr double zero_of_rows = 1e-13;
constexpr double zero_of_costs = 1e-14;

/// What control is up against: the accelerations that forces make, around a force that acts already.
class Response {
 public:
  explicit Response(const Instant& at) : values_(take_rows(at.values, at.acting)) {
    values_.C.resize(0);
    values_.b_noise.resize(0), values_.b_size.resize(0);
    // Slips of contacts that stick are constraints too.
    const Index rows = values_.A.rows();
    for (const Contact& c : at.contacts)
      if (c.status == ContactStatus::sticking) values_.A.add_rows(c.values.T);
    if (values_.A.rows() > rows) {
      values_.A_noise = SparseRows(0, values_.M.rows());
      values_.pattern.reset(), values_.pattern_rows.clear();
    }
    values_.b.setZero(values_.A.rows());
    factors_ = factor(values_);
  }

  /// N f.
  VectorXd operator()(const VectorXd& f) {
    values_.Q = f;
    Solution s = solve(factors_, values_);
    return s.has_acceleration() ? std::move(s.qdd) : VectorXd(VectorXd::Zero(f.size()));
  }

 private:
  InstantValues values_;
  Factorisation factors_;
};

MatrixXd dense_rows(const SparseRows& A) {
  MatrixXd rows = MatrixXd::Zero(A.rows(), A.cols());
  for (Index j = 0; j < A.rows(); ++j)
    for (const SparseRows::Entry& e : A.row(j)) rows(j, e.col) += e.value;
  return rows;
}

}  // namespace

void make_control_stage(const ControlValues& control, const MatrixXd& A, const MatrixXd& X, const VectorXd& qdd,
                        const VectorXd& terms, const VectorXd& units, ControlStage& to) {
  ControlProgramme& p = to.programme;
  const Index count = A.rows();
  p.rows.clear();
  p.size.resize(count);
  for (Index j = 0; j < count; ++j) {
    p.size(j) = A.row(j).transpose().cwiseProduct(units).norm();
    const ControlEquations::Requirement& row = control.rows[static_cast<std::size_t>(j)];
    p.rows.push_back({row.priority, row.one_sided, row.weighted ? control.weights(j) : 0.0});
  }
  if (control.E.cols() > 0) {
    to.space = make_control_space(X, control.R, control.R.diagonal().cwiseSqrt(), zero_of_costs);
    double felt = 0.0;
    for (Index k = 0; k < control.E.cols(); ++k)
      felt = std::hypot(felt, control.E.col(k).cwiseProduct(units).norm() / std::sqrt(control.R(k, k)));
    p.size *= felt;
    p.low = control.low, p.high = control.high;
  } else {
    to.space = make_control_space(X, A * X, p.size, zero_of_rows);
  }
  p.G = A * to.space.D, p.T = to.space.T;
  p.r = control.b - A * qdd;
  p.r_size = control.b_size + A.cwiseAbs() * terms;
}

namespace {

class Controller {
 public:
  Controller(const System& system, const Evaluation& now, const Plant& plant)
      : system_(system), now_(now), control_(now.control), plant_(plant), A_(dense_rows(now.control.A)) {
    has_actuators_ = control_.E.cols() > 0;
    F_ = has_actuators_ ? control_.E : MatrixXd(A_.transpose());
    units_ = calc_units(now.values);
    // Reactions, and friction, feel what actuators do.
    const std::vector<ContactRow>& contacts = system.equations().contacts;
    const bool friction =
        std::any_of(contacts.begin(), contacts.end(), [](const ContactRow& c) { return c.has_friction; });
    reacts_ = has_actuators_ && (system.needs_reactions() || friction);
    settles_at_once_ = !reacts_ && !system.has_contacts();
  }

  Instant run(const AccelerateOptions& options) {
    AccelerateOptions quick = options;
    quick.diagnose = quick.parts = false;
    Instant at = plant_({}, quick);
    const std::optional<VectorXd> a = at.solution.a;
    if (!at.has_acceleration()) return plant_({}, options);
    const double force = largest_force(at);
    VectorXd u = VectorXd::Zero(system_.n());
    tau_ = VectorXd::Zero(F_.cols());
    constexpr int most = 40;
    for (int round = 0; round < most; ++round) {
      const VectorXd next = improve(at, u, quick);
      const double change = (next - u).cwiseAbs().maxCoeff();
      u = next;
      at = plant_(u, quick);
      if (!at.has_acceleration()) return at;
      if (settles_at_once_ || change <= 1e-11 * (force + u.cwiseAbs().maxCoeff())) break;
      if (round + 1 == most) {
        at.contact_trouble = "control and contacts do not settle at this state: no force was found that both agree on";
        return at;
      }
    }
    Instant result = plant_(u, options);
    result.values.Q = now_.values.Q;
    report(u, a, result);
    return result;
  }

 private:
  static double largest_force(const Instant& at) {
    return std::max({at.values.Q.cwiseAbs().maxCoeff(),
                     at.solution.Qc.size() ? at.solution.Qc.cwiseAbs().maxCoeff() : 0.0, 1e-300});
  }

  /// N F; of reactions by differences, which are exact as long as contacts do what they do.
  MatrixXd respond(const Instant& at, const VectorXd& u, Response& N, const AccelerateOptions& quick) {
    MatrixXd X(system_.n(), F_.cols());
    for (Index k = 0; k < F_.cols(); ++k) {
      X.col(k) = N(F_.col(k));
      if (!reacts_) continue;
      const double step = 1e-3 * largest_force(at) / std::max(F_.col(k).cwiseAbs().maxCoeff(), 1e-300);
      const Instant moved = plant_(u + step * F_.col(k), quick);
      if (moved.has_acceleration() && moved.acting == at.acting)
        X.col(k) = (moved.solution.qdd - at.solution.qdd) / step;
    }
    return X;
  }

  /// The control force that is right where the response to it is that around u.
  VectorXd improve(const Instant& at, const VectorXd& u, const AccelerateOptions& quick) {
    Response N(at);
    const MatrixXd X = respond(at, u, N, quick);
    const VectorXd before = has_actuators_ ? VectorXd(X * tau_) : N(u);
    const VectorXd qdd = at.solution.qdd - before;
    make_control_stage(control_, A_, X, qdd, qdd.cwiseAbs() + before.cwiseAbs(), units_, stage_);
    const ControlSpace& space = stage_.space;
    answer_ = solve_control(stage_.programme);
    const VectorXd delta = space.D * answer_.y;
    tau_ = space.T * answer_.y;
    if (has_actuators_) {
      for (Index i = 0; i < tau_.size(); ++i) tau_(i) = std::clamp(tau_(i), control_.low(i), control_.high(i));
      return control_.E * tau_;
    }
    delta_ = delta;
    VectorXd next = now_.values.M * delta;
    if (control_.free.size() > 0) {
      // What the requirements would feel of it is taken off.
      const VectorXd felt = N(control_.free);
      const VectorXd across = space.D * (space.T.transpose() * (A_ * felt));
      next += control_.free - now_.values.M * across;
      delta_ += felt - across;
    }
    return next;
  }

  void report(const VectorXd& u, const std::optional<VectorXd>& a, Instant& to) const {
    InstantControl c;
    const Index count = A_.rows();
    const SparseRows& M = now_.values.M;
    if (has_actuators_) {
      c.tau = tau_;
      c.cost = tau_.dot(control_.R * tau_);
    } else {
      c.cost = delta_.dot(M * delta_);
    }
    c.error = now_.residual.tail(count), c.error_rate = now_.rate.tail(count);
    c.met = answer_.met, c.missing = answer_.missing, c.mode = answer_.mode, c.refused = answer_.refused;
    c.rank = static_cast<int>(find_control_rank(stage_.programme, c.influenced));
    Solution& s = to.solution;
    if (s.has_acceleration()) {
      s.Q_control = u;
      s.a = a;
      if (a) {
        const VectorXd moved = s.qdd - *a;
        s.gaussian = moved.dot(M * moved);
      }
      if (to.parts && to.parts->power) to.parts->power->control = to.state.qd.dot(u);
      if (!c.refused.empty()) s.status = SolveStatus::requirements_not_met;
    }
    to.control = std::move(c);
  }

  const System& system_;
  const Evaluation& now_;
  const ControlValues& control_;
  const Plant& plant_;
  MatrixXd A_, F_;  ///< requirements by row, forces by column
  VectorXd units_;
  bool has_actuators_ = false, reacts_ = false, settles_at_once_ = true;
  VectorXd tau_, delta_;
  ControlStage stage_;
  ControlAnswer answer_;
};

}  // namespace

Instant accelerate_with_control(const System& system, const Evaluation& now, const AccelerateOptions& options,
                                const Plant& plant) {
  if (const std::shared_ptr<const System> believed = system.nominal(); believed && !options.believed) {
    // What the controller believes decides on the force, at the state as it is.
    AccelerateOptions quick = options;
    quick.diagnose = quick.parts = false, quick.believed = true;
    Instant of_model = accelerate(*believed, plant({}, quick).state, quick);
    if (!of_model.has_acceleration()) return of_model;
    // Actuators do what they are told, within the limits that they have.
    VectorXd u = of_model.solution.Q_control;
    if (VectorXd& tau = of_model.control->tau; tau.size() > 0) {
      tau = tau.cwiseMax(now.control.low).cwiseMin(now.control.high);
      u = now.control.E * tau;
      of_model.control->cost = tau.dot(now.control.R * tau);
    }
    Instant result = plant(u, options);
    result.values.Q = now.values.Q;
    result.control = of_model.control;
    result.control->error = now.residual.tail(now.control.b.size());
    result.control->error_rate = now.rate.tail(now.control.b.size());
    if (result.solution.has_acceleration()) {
      Solution& s = result.solution;
      // What is met is what the system does, not what the controller believes.
      const ControlValues& asked = now.control;
      result.control->missing = asked.b - asked.A * s.qdd;
      for (Index j = 0; j < asked.b.size(); ++j) {
        double size = asked.b_size(j);
        for (const SparseRows::Entry& e : asked.A.row(j)) size += std::abs(e.value * s.qdd(e.col));
        double& missing = result.control->missing(j);
        if (asked.rows[static_cast<std::size_t>(j)].one_sided) missing = std::max(missing, 0.0);
        result.control->met[static_cast<std::size_t>(j)] = std::abs(missing) <= 1e-9 * size;
      }
      s.Q_control = u;
      s.a = plant({}, quick).solution.a;
      if (s.a) s.gaussian = (s.qdd - *s.a).dot(now.values.M * (s.qdd - *s.a));
    }
    return result;
  }
  return Controller(system, now, plant).run(options);
}

}  // namespace mechanician
