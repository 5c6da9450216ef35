#include "mechanician/ensemble/single_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/equation_values.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {

namespace {

void fail(BatchResult& result, int i, std::string reason) {
  result.outcome[static_cast<std::size_t>(i)] = Outcome::failed;
  result.reason[static_cast<std::size_t>(i)] = std::move(reason);
}

/// Why the motion cannot begin at a state; empty where it can.
std::string refuse_start(const System& system, const State& start, bool must_be_on_constraints) {
  const Instant instant = accelerate(system, start, {.diagnose = false});
  if (instant.not_finite) return "the start cannot be evaluated: " + instant.not_finite->message();
  if (!instant.multiplier_not_unique.empty())
    return fmt::format("the multiplier of {} is not unique at the start", quote_list(instant.multiplier_not_unique));
  if (!instant.contact_trouble.empty()) return instant.contact_trouble;
  if (must_be_on_constraints)
    for (const RowResidual& r : instant.violations())
      return fmt::format("the start violates constraint `{}`: residual {}{}", system.row_name(r.row),
                         short_number(r.value), r.of_rate ? " in its rate" : "");
  if (instant.impact) return {};  // how some motions begin
  switch (instant.solution.status) {
    case SolveStatus::solved:
      break;
    case SolveStatus::inconsistent:
      return "the constraints contradict each other at the start";
    case SolveStatus::mass_indefinite:
    case SolveStatus::mass_not_symmetric:
      return "the mass matrix is no mass matrix at the start: not symmetric, or with a negative eigenvalue";
    case SolveStatus::weights_not_definite:
      return "the weights of the measured constraints are not positive definite at the start";
    case SolveStatus::unsolvable:
    case SolveStatus::not_unique:
      return "the acceleration is not unique at the start";
    case SolveStatus::requirements_not_met:
      return "control requirements cannot be met at the start";
    case SolveStatus::form_not_applicable:
    case SolveStatus::not_finite:
      return "the start cannot be evaluated";
  }
  return {};
}

}  // namespace

bool needs_single_runs(const System& system) {
  const bool searches = system.num_control() > 0 && !system.equations().control.is_direct();
  return searches || system.is_staged() || !list_forces_of_columns(system.model()).empty();
}

std::string refuse_fixed_steps(const Model& model) {
  for (const Constraint& c : model.constraints)
    if (c.is_contact())
      return fmt::format(
          "steps of fixed size cannot meet what constraint `{}` does, which is {}: use an adaptive method", c.name,
          c.one_sided ? "one-sided" : "with friction");
  if (model.is_staged())
    return "steps of fixed size do not find where events change the system: use an adaptive method";
  if (!list_forces_of_columns(model).empty())
    return "steps of fixed size do not keep the forces that [outputs] and [events] use: use an adaptive method";
  for (const Actuator& a : model.actuators)
    if (a.low || a.high)
      return fmt::format(
          "steps of fixed size do not find where actuator `{}` comes to its limit: use an adaptive method", a.name);
  for (const Control& c : model.controls)
    if (c.one_sided)
      return fmt::format(
          "steps of fixed size do not find where the one-sided requirement `{}` acts: use an adaptive method", c.name);
  if (model.control.every) return "steps of fixed size do not end at the samples of control: use an adaptive method";
  for (const Event& e : model.events)
    if (e.action == EventAction::stop)
      return fmt::format("steps of fixed size do not find where event `{}` stops the motion: use an adaptive method",
                         e.name);
  return {};
}

SingleRunner::SingleRunner(const System& system, const State& nominal, EnsembleOptions options, const Varied& varied)
    : family_(std::make_unique<MotionFamily>(system, nominal, varied_or_all(system, varied))),
      parameters_(system, family_->varied()),
      options_(options) {
  if (options_.method != EnsembleMethod::rk4) return;
  if (options_.summarise)
    throw std::invalid_argument(
        "what [summary] asks for is found inside steps of an adaptive method: --method rk4 has none");
  if (!(options_.step > 0.0) || !std::isfinite(options_.step)) throw std::invalid_argument("the step must be positive");
  if (const std::string why = refuse_fixed_steps(system.model()); !why.empty()) throw std::invalid_argument(why);
}

SingleRunner::SingleRunner(const SingleRunner& other)
    : family_(other.family_->clone()), parameters_(other.parameters_), options_(other.options_) {}

std::unique_ptr<MotionRunner> SingleRunner::clone() const { return std::make_unique<SingleRunner>(*this); }

void SingleRunner::run(const MotionBatch& batch, BatchResult& result) {
  parameters_.check(batch);
  for (int i = 0; i < batch.count; ++i) run_one(batch, i, result);
}

namespace {

State start_of(const MotionBatch& batch, int i) {
  const auto at = static_cast<std::size_t>(i), n = static_cast<std::size_t>(batch.n);
  return {batch.t, Eigen::Map<const Eigen::VectorXd>(batch.q.data() + at * n, batch.n),
          Eigen::Map<const Eigen::VectorXd>(batch.qd.data() + at * n, batch.n)};
}

}  // namespace

void SingleRunner::set_parameters(const MotionBatch& batch, int i) {
  const auto num = static_cast<std::size_t>(batch.num_parameters);
  family_->set_parameters(std::span(batch.parameters).subspan(static_cast<std::size_t>(i) * num, num));
}

void SingleRunner::run_one(const MotionBatch& batch, int i, BatchResult& result) {
  if (options_.method == EnsembleMethod::adaptive) {
    const std::unique_ptr<Integrator> integrator = begin(batch, i, result);
    if (!integrator) return;
    while (integrator->advance()) batch.go_on();
    return finish(*integrator, i, result);
  }
  // What goes wrong is this motion's own affair.
  try {
    set_parameters(batch, i);
    const State start = start_of(batch, i);
    if (std::string why = refuse_start(family_->system(), start, false); !why.empty())
      fail(result, i, std::move(why));
    else
      run_fixed(batch, start, i, result);
  } catch (const ModelError& e) {
    fail(result, i, e.problems().empty() ? std::string(e.what()) : e.problems().front().message);
  }
}

std::unique_ptr<Integrator> SingleRunner::begin(const MotionBatch& batch, int i, BatchResult& result) {
  try {
    set_parameters(batch, i);
    State start = start_of(batch, i);
    if (std::string why = refuse_start(family_->system_at_start(), start, true); !why.empty()) {
      fail(result, i, std::move(why));
      return nullptr;
    }
    auto integrator = std::make_unique<Integrator>(*family_, std::move(start),
                                                   MotionOptions{.to = options_.to,
                                                                 .tolerance = options_.tolerance,
                                                                 .method = options_.adaptive,
                                                                 .scale = family_->system().scale(),
                                                                 .summarise = options_.summarise,
                                                                 .summarise_only = options_.summarise_only});
    if (!integrator->refusal()) return integrator;
    fail(result, i, integrator->refusal()->message);
  } catch (const ModelError& e) {
    fail(result, i, e.problems().empty() ? std::string(e.what()) : e.problems().front().message);
  }
  return nullptr;
}

void SingleRunner::finish(Integrator& integrator, int i, BatchResult& result) const {
  const auto at = static_cast<std::size_t>(i), n = static_cast<std::size_t>(result.n);
  const Sample end = integrator.sample(integrator.t());
  if (needs_single_runs(family_->system())) {
    result.ends.resize(result.t.size());
    result.ends[at] = end;
  }
  result.t[at] = end.t;
  std::copy(end.q.begin(), end.q.end(), result.q.begin() + static_cast<std::ptrdiff_t>(at * n));
  std::copy(end.qd.begin(), end.qd.end(), result.qd.begin() + static_cast<std::ptrdiff_t>(at * n));
  result.steps[at] = result.served[at] = integrator.statistics().steps;
  result.events[at] = static_cast<std::int64_t>(integrator.events().size());
  const Certificate certificate = integrator.certificate();
  result.violation[at] = std::max(certificate.position_violation, certificate.velocity_violation);
  if (certificate.balance_allowed > 0.0) result.balance[at] = certificate.balance_largest / certificate.balance_allowed;
  const Stop& stop = integrator.stop();
  if (stop.failed()) return fail(result, i, stop.message);
  if (result.num_summary > 0) {
    const std::vector<SummaryValue> values = integrator.summary();
    const auto count = static_cast<std::size_t>(result.num_summary);
    for (std::size_t k = 0, next = 0; k < count && next < values.size(); ++k)
      if (options_.summarise_only.empty() || options_.summarise_only[k])
        result.summary[at * count + k] = values[next++].value;
  }
  result.outcome[at] = !certificate.holds                 ? Outcome::suspect
                       : stop.reason == StopReason::event ? Outcome::stopped
                                                          : Outcome::done;
  if (!certificate.holds && !certificate.reasons.empty())
    result.reason[at] = certificate.reasons.front();
  else
    result.reason[at] = stop.message;
}

void SingleRunner::run_fixed(const MotionBatch& batch, const State& start, int i, BatchResult& result) {
  const auto at = static_cast<std::size_t>(i);
  const int n = result.n;
  Dynamics dynamics = family_->dynamics();
  dynamics.take_parameters();
  const auto size = static_cast<std::size_t>(dynamics.size());
  std::vector<double> y(size), stage(size), k1(size), k2(size), k3(size), k4(size), g(dynamics.switches().size());
  std::copy(start.q.begin(), start.q.end(), y.begin());
  std::copy(start.qd.begin(), start.qd.end(), y.begin() + n);
  double t = start.t;
  if (!dynamics.choose_rows(t, y.data())) return fail(result, i, "the start cannot be evaluated");
  const auto hold_sides = [&] {
    for (std::size_t round = 0; round <= g.size() && !g.empty(); ++round) {
      if (!dynamics.calc_switches(t, y.data(), g)) return;
      bool changed = false;
      for (std::size_t k = 0; k < g.size(); ++k) {
        const double side = g[k] >= 0.0 ? 1.0 : -1.0;
        changed |= side != dynamics.sides()[k];
        dynamics.sides()[k] = side;
      }
      if (!changed) return;
    }
  };
  hold_sides();
  dynamics.compile(t, y.data());

  const StepCount count = count_steps(start.t, options_.to, options_.step);
  const std::int64_t steps = count.whole + (count.rest > 0.0);
  const auto add = [&](const std::vector<double>& k, double h) {
    for (std::size_t j = 0; j < size; ++j) stage[j] = y[j] + h * k[j];
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    batch.go_on();
    const double begin = start.t + static_cast<double>(step) * options_.step;
    const double h = step < count.whole ? options_.step : count.rest;
    hold_sides();
    bool ok = dynamics.choose_rows(t, y.data()) && dynamics.rhs(begin, y.data(), k1.data());
    if (ok) add(k1, h / 2), ok = dynamics.rhs(begin + h / 2, stage.data(), k2.data());
    if (ok) add(k2, h / 2), ok = dynamics.rhs(begin + h / 2, stage.data(), k3.data());
    if (ok) add(k3, h), ok = dynamics.rhs(begin + h, stage.data(), k4.data());
    bool finite = ok;
    if (ok)
      for (std::size_t j = 0; j < size; ++j) {
        stage[j] = y[j] + h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
        finite &= std::isfinite(stage[j]);
      }
    if (!finite) {
      fail(result, i, fmt::format("at t = {}: the acceleration has no finite value", short_number(begin)));
      break;
    }
    y.swap(stage);
    t = step + 1 == steps ? options_.to : begin + h;
    ++result.steps[at], ++result.served[at];
    if (step + 1 == steps) result.outcome[at] = Outcome::done;
  }
  result.t[at] = t;
  std::copy(y.begin(), y.begin() + n, result.q.begin() + static_cast<std::ptrdiff_t>(at) * n);
  std::copy(y.begin() + n, y.begin() + 2 * n, result.qd.begin() + static_cast<std::ptrdiff_t>(at) * n);
  const Dynamics::Violation violation = dynamics.calc_violation(t, y.data());
  result.violation[at] = std::max(violation.position, violation.velocity);
}

}  // namespace mechanician
