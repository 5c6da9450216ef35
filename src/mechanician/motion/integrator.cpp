#include "mechanician/motion/integrator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/inputs.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/motion_family.hpp"
#include "mechanician/motion/phased_motion.hpp"
#include "mechanician/motion/staged_motion.hpp"
#include "mechanician/motion/summary_look.hpp"
#include "mechanician/motion/tolerances.hpp"

namespace mechanician {

namespace {

void check(const System& system, const State& start, const MotionOptions& options) {
  if (start.q.size() != system.n() || start.qd.size() != system.n())
    throw std::invalid_argument(fmt::format("the start has {} positions and {} velocities, the system {} coordinates",
                                            start.q.size(), start.qd.size(), system.n()));
  if (!(options.to > start.t) || !std::isfinite(options.to))
    throw std::invalid_argument(fmt::format("the end {} must be later than the start {}", options.to, start.t));
  if (!(options.tolerance >= smallest_tolerance && options.tolerance <= largest_tolerance))
    throw std::invalid_argument(fmt::format("the tolerance {} must lie between {} and {}", options.tolerance,
                                            smallest_tolerance, largest_tolerance));
  if (!(options.first_step >= 0.0) || !(options.largest_step >= 0.0))
    throw std::invalid_argument("step sizes must not be negative");
  if (!options.scale.empty() && std::ssize(options.scale) != system.n())
    throw std::invalid_argument(
        fmt::format("there are {} typical sizes, the system has {} coordinates", options.scale.size(), system.n()));
  for (const double scale : options.scale)
    if (scale != 0.0)
      if (const std::string wrong = wrong_scale(scale); !wrong.empty())
        throw std::invalid_argument(fmt::format("{}, not {}", wrong, scale));
}

std::unique_ptr<MotionSteps> make_steps(MotionFamily& family, State start, MotionOptions options) {
  options.tolerance = tolerance_of_steps(options.tolerance);
  if (family.system().is_staged())
    return std::make_unique<StagedMotion>(family.system(), std::move(start), options, family.stages());
  if (family.system().has_contacts())
    return std::make_unique<PhasedMotion>(family.system(), std::move(start), options, family.phases());
  return std::make_unique<SmoothMotion>(family.dynamics(), std::move(start), options, SmoothMotion::Phase());
}

}  // namespace

Integrator::Integrator(const System& system, State start, MotionOptions options) {
  check(system, start, options);
  if (has_open_inputs(system)) {
    family_ = std::make_unique<MotionFamily>(system, start, system.inputs_from_outside());
    system_ = std::shared_ptr<const System>(std::shared_ptr<const System>(), &family_->system());
    steps_ = make_steps(*family_, std::move(start), options);
    summary_ = SummaryLook::make(*system_, options, steps_->start.t);
    return;
  }
  system_ = std::make_shared<const System>(system);
  options.tolerance = tolerance_of_steps(options.tolerance);
  if (system.is_staged())
    steps_ = std::make_unique<StagedMotion>(*system_, std::move(start), options);
  else if (system.has_contacts())
    steps_ = std::make_unique<PhasedMotion>(*system_, std::move(start), options);
  else
    steps_ = std::make_unique<SmoothMotion>(*system_, std::move(start), options);
  summary_ = SummaryLook::make(*system_, options, steps_->start.t);
}
Integrator::Integrator(MotionFamily& family, State start, MotionOptions options)
    : system_(std::shared_ptr<const System>(), &family.system()) {
  check(family.system(), start, options);
  steps_ = make_steps(family, std::move(start), options);
  summary_ = SummaryLook::make(*system_, options, steps_->start.t);
}
Integrator::~Integrator() = default;
Integrator::Integrator(Integrator&&) noexcept = default;
Integrator& Integrator::operator=(Integrator&&) noexcept = default;

const std::optional<Stop>& Integrator::refusal() const { return steps_->refusal; }
bool Integrator::advance() {
  if (!steps_->advance()) return false;
  if (summary_) summary_->look(*steps_);
  return true;
}
double Integrator::step_begin() const { return steps_->step_begin; }
double Integrator::t() const { return steps_->t; }
Sample Integrator::sample(double t) {
  Sample sample = steps_->sample(t);
  note_gaps(sample);
  return sample;
}

std::span<const double> Integrator::sample_later(double t) { return steps_->sample_later(t); }
Sample Integrator::complete_sample(double t, std::span<const double> state) {
  return steps_->complete_sample(t, state);
}

/// An output without a value, as a table beyond its points, is said once. That a row has none at all, SmoothMotion says.
void Integrator::note_gaps(const Sample& sample) {
  if (sample.outputs.allFinite() || !sample.qdd.allFinite()) return;
  const std::vector<std::string> names = system_->output_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::isfinite(sample.outputs(static_cast<Eigen::Index>(i)))) continue;
    const std::string what = fmt::format("output `{}` has no value", names[i]);
    if (std::any_of(steps_->notes.begin(), steps_->notes.end(),
                    [&](const auto& note) { return note.starts_with(what); }))
      continue;
    steps_->notes.push_back(fmt::format("{} at t = {}: its column has gaps", what, short_number(sample.t)));
  }
}
std::size_t Integrator::find_input(std::string_view name) const { return mechanician::find_input(*system_, name); }

double Integrator::input(std::string_view name) const { return system_->parameters()[find_input(name)]; }

void Integrator::set_input(std::string_view name, double value) {
  const std::vector<double> values = with_input(*system_, name, value);
  if (!family_)
    throw std::invalid_argument(
        fmt::format("the input `{}` cannot be set here: the motion belongs to a family, its model is so large that it "
                    "is computed by kernels, or events change it",
                    name));
  family_->set_parameters(values);
  steps_->take_parameters();
}

void Integrator::request_stop(std::string why) { steps_->stop_requested = why.empty() ? "stopped" : std::move(why); }
const Stop& Integrator::stop() const { return steps_->stop; }
bool Integrator::over() const { return steps_->over; }
const std::vector<MotionEvent>& Integrator::events() const { return steps_->events; }
const Statistics& Integrator::statistics() const { return steps_->statistics(); }
Certificate Integrator::certificate() const { return steps_->certificate(); }
const std::vector<std::string>& Integrator::notes() const { return steps_->notes; }
bool Integrator::at_checkpoint() const { return steps_->at_checkpoint(); }
std::vector<double> Integrator::checkpoint() const {
  std::vector<double> numbers = steps_->checkpoint();
  if (summary_) summary_->save(numbers);
  return numbers;
}
std::vector<SummaryValue> Integrator::summary() const {
  return summary_ ? summary_->values() : std::vector<SummaryValue>{};
}
void Integrator::restore(std::span<const double> checkpoint, std::vector<MotionEvent> past_events,
                         std::vector<std::string> past_notes) {
  if (summary_) {
    const std::size_t own = summary_->num_numbers();
    if (checkpoint.size() < own) throw std::invalid_argument("the checkpoint is cut off");
    summary_->restore(checkpoint.last(own));
    checkpoint = checkpoint.first(checkpoint.size() - own);
  }
  steps_->restore(checkpoint);
  steps_->events = std::move(past_events);
  steps_->notes = std::move(past_notes);
}
bool Integrator::can_hand_over() const { return !summary_ && steps_->can_hand_over(); }
const Sizes& Integrator::sizes() const { return steps_->sizes(); }
HandedMotion Integrator::hand_over() const { return steps_->hand_over(); }
void Integrator::take_back(const HandedMotion& motion) { steps_->take_back(motion); }
const System& Integrator::system() const { return *system_; }
const MotionOptions& Integrator::options() const { return steps_->options; }

}  // namespace mechanician
