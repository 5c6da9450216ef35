#include "mechanician/instant/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/controller_internal.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Directions that N feels by less than this, as the square of a sine, are those of rows that depend on constraints.
constexpr double zero_of_rows = 1e-13;
constexpr double zero_of_costs = 1e-14;

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

/// The instant with a force that was found elsewhere; what is met is what the system does.
Instant accelerate_with_force(const Evaluation& now, const AccelerateOptions& options, const Plant& plant,
                              const VectorXd& u, InstantControl control) {
  AccelerateOptions quick = options;
  quick.diagnose = quick.parts = false;
  const ControlValues& asked = now.control;
  Instant result = plant(u, options, nullptr);
  result.values.Q = now.values.Q;
  control.error = now.residual.tail(asked.b.size());
  control.error_rate = now.rate.tail(asked.b.size());
  if (result.solution.has_acceleration()) {
    Solution& s = result.solution;
    control.missing = asked.b - asked.A * s.qdd;
    control.met.resize(static_cast<std::size_t>(asked.b.size()));
    for (Index j = 0; j < asked.b.size(); ++j) {
      double size = asked.b_size(j);
      for (const SparseRows::Entry& e : asked.A.row(j)) size += std::abs(e.value * s.qdd(e.col));
      double& missing = control.missing(j);
      if (asked.rows[static_cast<std::size_t>(j)].one_sided) missing = std::max(missing, 0.0);
      control.met[static_cast<std::size_t>(j)] = std::abs(missing) <= 1e-9 * size;
    }
    s.Q_control = u;
    s.a = plant({}, quick, nullptr).solution.a;
    if (s.a) s.gaussian = (s.qdd - *s.a).dot(now.values.M * (s.qdd - *s.a));
  }
  result.control = std::move(control);
  return result;
}

}  // namespace

Instant accelerate_believed(const System& believed, const State& state, const std::vector<Contact>& contacts) {
  AccelerateOptions options{.diagnose = false};
  options.believed = true;
  const Evaluation now = believed.evaluate(state);
  if (now.not_finite) return accelerate(believed, state, options);
  std::optional<NotFinite> not_finite;
  std::vector<Contact> own = classify_contacts(believed, state, now, size_of(state, now), not_finite);
  if (not_finite) return accelerate(believed, state, options);
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (own[c].gap == contacts[c].gap && own[c].rate == contacts[c].rate) own[c].status = contacts[c].status;
    if (own[c].values.slip == contacts[c].values.slip) own[c].direction = contacts[c].direction;
  }
  return accelerate_with(believed, state, now, own, options);
}

Instant accelerate_with_control(const System& system, const Evaluation& now, const AccelerateOptions& options,
                                const std::vector<Contact>& contacts, const Plant& plant) {
  const bool actuators = now.control.E.cols() > 0;
  if (options.held) {
    // Sampled: actuators push along with the state.
    InstantControl control;
    if (actuators) control.tau = *options.held, control.cost = control.tau.dot(now.control.R * control.tau);
    control.influenced.assign(static_cast<std::size_t>(now.control.b.size()), 0);
    control.mode.at_limit.assign(static_cast<std::size_t>(now.control.E.cols()), 0);
    control.mode.held.assign(control.influenced.size(), 0);
    const VectorXd u = actuators ? VectorXd(now.control.E * control.tau) : *options.held;
    return accelerate_with_force(now, options, plant, u, std::move(control));
  }
  if (const std::shared_ptr<const System> believed = system.nominal(); believed && !options.believed) {
    // What the controller believes decides on the force, at the state as it is.
    AccelerateOptions quick = options;
    quick.diagnose = quick.parts = false, quick.believed = true;
    const State state = plant({}, quick, nullptr).state;
    Instant of_model =
        contacts.empty() ? accelerate(*believed, state, quick) : accelerate_believed(*believed, state, contacts);
    if (!of_model.has_acceleration()) return of_model;
    // Actuators do what they are told, within the limits that they have.
    VectorXd u = of_model.solution.Q_control;
    if (VectorXd& tau = of_model.control->tau; tau.size() > 0) {
      tau = tau.cwiseMax(now.control.low).cwiseMin(now.control.high);
      u = now.control.E * tau;
      of_model.control->cost = tau.dot(now.control.R * tau);
    }
    return accelerate_with_force(now, options, plant, u, std::move(*of_model.control));
  }
  return find_control(system, now, options, contacts, plant);
}

std::string describe_unmet(const System& system, const Instant& instant) {
  std::string text = describe(SolveStatus::requirements_not_met);
  const char* before = ": ";
  for (const ControlAnswer::Refusal& r : instant.control->refused) {
    std::vector<std::string> names;
    for (const Index j : r.rows) names.push_back(system.row_name(system.m() + static_cast<int>(j)));
    text += fmt::format("{}{} {} what is asked for by {}", before, quote_list(names),
                        names.size() == 1 ? "misses" : "together miss", short_number(std::abs(r.missing)));
    before = "; ";
  }
  return text;
}

}  // namespace mechanician
