#include "mechanician/library/instant_answer.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/bodies_apart.hpp"
#include "mechanician/instant/joint_starts.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/check_output.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/plot/stored_state.hpp"
#include "mechanician/report/still_picture.hpp"

namespace mechanician {

namespace {

std::vector<std::string> render_all(const std::vector<Remark>& remarks, std::string_view severity,
                                    const System& system) {
  std::vector<std::string> texts;
  for (const Remark& r : remarks) texts.push_back(render(r, severity, system.source()));
  return texts;
}

void assign(const System& system, const Values& values, Eigen::VectorXd& x) {
  for (const auto& [name, value] : values) {
    const int i = system.find_coordinate(name);
    if (i < 0) throw std::invalid_argument(fmt::format("the model has no coordinate `{}`", name));
    x(i) = in_si(system.units(), name, value);
  }
}

}  // namespace

std::vector<double> linspace(double from, double to, std::size_t count) {
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k)
    values.push_back(k + 1 == count && count > 1
                         ? to
                         : from + (to - from) *
                                      (count > 1 ? static_cast<double>(k) / static_cast<double>(count - 1) : 0.0));
  return values;
}

InstantAnswer::InstantAnswer(System system, Instant instant)
    : system_(std::move(system)), instant_(std::move(instant)) {}

double InstantAnswer::entry(const Eigen::VectorXd& of, std::string_view coordinate) const {
  const int i = system_.find_coordinate(coordinate);
  if (i < 0) throw std::out_of_range(fmt::format("the model has no coordinate `{}`", coordinate));
  if (of.size() != system_.n()) throw std::logic_error("there is no acceleration at this instant");
  return of(i);
}

double InstantAnswer::acceleration(std::string_view coordinate) const {
  return entry(instant_.solution.qdd, coordinate);
}
double InstantAnswer::constraint_force(std::string_view coordinate) const {
  return entry(instant_.solution.Qc, coordinate);
}
double InstantAnswer::control_force(std::string_view coordinate) const {
  return entry(instant_.solution.Q_control, coordinate);
}

double InstantAnswer::multiplier(std::string_view constraint) const {
  const Eigen::VectorXd& lambda = instant_.solution.multipliers;
  for (int j = 0; j < system_.m(); ++j) {
    if (system_.row_name(j) != constraint) continue;
    if (j >= lambda.size()) throw std::logic_error("there is no acceleration at this instant");
    return lambda(j);
  }
  throw std::out_of_range(fmt::format("the model has no constraint `{}`", constraint));
}

std::string InstantAnswer::json() const { return accelerate_json(system_, instant_); }
std::string InstantAnswer::check_json() const { return mechanician::check_json(system_, instant_); }
std::string InstantAnswer::picture() const { return still_svg(system_, instant_.state); }

std::vector<std::string> InstantAnswer::refusals() const {
  return render_all(mechanician::refusals(system_, instant_), "error", system_);
}

std::vector<std::string> InstantAnswer::start_refusals() const {
  std::vector<Remark> reasons;
  if (!instant_.impact) reasons = mechanician::refusals(system_, instant_);  // an impact is how some motions begin
  for (Remark& r : mechanician::start_refusals(system_, instant_)) reasons.push_back(std::move(r));
  return render_all(reasons, "error", system_);
}

std::vector<std::string> InstantAnswer::notes() const {
  return render_all(warnings(system_, instant_), "note", system_);
}

State start_of(const System& system, const Values& position, const Values& velocity, std::optional<double> time) {
  // Joints that are constraints move bodies; the rest is put in its place.
  Values own_position = position, own_velocity = velocity;
  const std::optional<State> moved = start_with_joints(system, own_position, own_velocity);
  StoredState found = moved ? StoredState{.state = *moved, .remark = {}} : find_start(system);
  if (!found.begins_otherwise.empty())
    throw std::invalid_argument(fmt::format(
        "the result that the motion goes on from has {}: only `run` goes on with that", found.begins_otherwise));
  State state = std::move(found.state);
  assign(system, own_position, state.q);
  for (const StateRow& z : system.states())
    if (const std::string name = system.coordinate(z.coordinate); velocity.contains(name))
      throw std::invalid_argument(fmt::format("`{}` is a state, whose velocity is what its rate says", name));
  assign(system, own_velocity, state.qd);
  if (time) state.t = *time;
  system.set_state_rates(state);
  return state;
}

State accepted_start(const System& whole, const State& given, bool move) {
  const System system = system_at_start(whole);
  State state = given;
  Instant instant = accelerate(system, state);
  if ((move || system.start_rules().assemble) && !instant.not_finite &&
      (!instant.violations().empty() || begins_off(system, state))) {
    const Projection projection = project_start(system, state);
    if (!projection.converged)
      throw std::invalid_argument(render(projection_offer(system, state, projection), "error", system.source()));
    state = projection.state;
    instant = accelerate(system, state);
  }
  std::string why;
  for (const std::string& text : InstantAnswer(system, std::move(instant)).start_refusals())
    why += (why.empty() ? "" : "\n") + text;
  if (!why.empty()) throw std::invalid_argument(why);
  return state;
}

}  // namespace mechanician
