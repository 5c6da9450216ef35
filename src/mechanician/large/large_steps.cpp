#include "mechanician/large/large_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/large/large_events.hpp"
#include "mechanician/large/large_quantities.hpp"
#include "mechanician/motion/tolerances.hpp"

namespace mechanician {

namespace {

std::vector<double> numbers_of(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }
std::span<double> span_of(Eigen::VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }
Eigen::VectorXd vector_of(std::span<const double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

std::vector<const FamilyQuantity*> outputs_of(const FamilyModel& model) {
  std::vector<const FamilyQuantity*> result;
  for (const FamilyQuantity& output : model.outputs) result.push_back(&output);
  return result;
}

class LargeSteps final : public MotionSteps {
 public:
  LargeSteps(LargeSystem& system_given, const State& start_given, const MotionOptions& options_given,
             const LargeWants& wants)
      : MotionSteps(start_given, options_given),
        wants_(wants),
        motion_(system_given, {start.t, numbers_of(start.q), numbers_of(start.qd)},
                {options.to, options.tolerance, options.first_step, options.largest_step, wants.works}),
        events_(system_given.model()) {
    if (motion_.failed()) refusal = stop_of();
    note_dependent_rows();
    if (!refusal) events_.begin(motion_);
    if (wants.outputs) outputs_.emplace(system_given.model(), outputs_of(system_given.model()));
  }

  bool advance() override {
    if (over) return false;
    if (!stop_requested.empty()) return finish({StopReason::callback, stop_requested, {}});
    const bool made = motion_.advance();
    if (made) step_begin = motion_.step_begin(), t = motion_.t();
    if (motion_.failed()) return finish(stop_of());
    if (made) take_events();
    if (!over && t >= options.to) finish({});
    return made;
  }

  Sample sample(double time) override {
    Sample s;
    LargeDynamics& dynamics = motion_.dynamics();
    const Eigen::Index n = dynamics.system().n(), m = dynamics.system().m();
    s.t = time;
    s.q.resize(n), s.qd.resize(n);
    motion_.sample(time, span_of(s.q), span_of(s.qd));
    s.works.given = motion_.work_given(), s.works.ideal = motion_.work_constraints();
    if (wants_.works) s.works.constraints = vector_of(motion_.works_by_constraint());
    if (wants_.rates || (outputs_ && outputs_->has_accelerations())) {
      s.qdd.resize(n);
      dynamics.accelerate(time, s.q.data(), s.qd.data(), s.qdd.data());
      s.lambda = vector_of(dynamics.multipliers());
      s.power.resize(m);
      dynamics.calc_row_powers(s.qd.data(), span_of(s.power));
      s.Qc = s.Qc_i = vector_of(dynamics.calc_constraint_force());
      s.Qc_ni = Eigen::VectorXd::Zero(n);
    }
    if (outputs_) {
      s.outputs.resize(static_cast<Eigen::Index>(outputs_->size()));
      outputs_->evaluate(time, span_of(s.q), span_of(s.qd), span_of(s.qdd), span_of(s.outputs));
    }
    const auto off = dynamics.calc_violation(time, s.q.data(), s.qd.data());
    s.residual = std::max(off.position, off.velocity);
    return s;
  }

  Certificate certificate() const override {
    const LargeMotion::Certificate& own = motion_.certificate();
    Certificate c;
    c.position_violation = own.position_violation, c.velocity_violation = own.velocity_violation;
    c.kinetic_start = own.kinetic_start, c.kinetic_end = own.kinetic_end;
    c.works.given = own.work_given, c.works.ideal = own.work_constraints;
    if (wants_.works) c.works.constraints = vector_of(motion_.works_at_end());
    c.balance = own.balance, c.balance_largest = own.balance_largest, c.balance_allowed = own.balance_allowed;
    c.path = "sparse";
    const auto doubt = [&](std::string reason) {
      c.holds = false;
      c.reasons.push_back(std::move(reason));
    };
    if (!(own.distance <= held))
      doubt(fmt::format("the constraints are violated by up to {:.1e} of max(1, |value|)", own.distance));
    if (!(own.balance_largest <= own.balance_allowed))
      doubt(fmt::format("energy and work differ by up to {:.1e}, where the tolerance explains {:.1e}",
                        own.balance_largest, own.balance_allowed));
    c.notes = notes;
    return c;
  }

  const Statistics& statistics() override {
    const LargeMotion::Certificate& own = motion_.certificate();
    statistics_.steps = own.steps, statistics_.rejected = own.rejected;
    statistics_.evaluations = motion_.dynamics().evaluations, statistics_.projections = motion_.dynamics().projections;
    return statistics_;
  }

  bool at_checkpoint() const override { return true; }
  std::vector<double> checkpoint() const override {
    std::vector<double> all = motion_.checkpoint();
    for (const auto* list : {&events_.sides(), &events_.noted()}) all.insert(all.end(), list->begin(), list->end());
    return all;
  }
  void restore(std::span<const double> from) override {
    std::vector<double>&sides = events_.sides(), &noted = events_.noted();
    if (from.size() < 2 * sides.size()) throw std::invalid_argument("the checkpoint is cut off");
    const std::span<const double> own = from.first(from.size() - 2 * sides.size()), rest = from.subspan(own.size());
    motion_.restore(own);
    std::copy_n(rest.begin(), sides.size(), sides.begin());
    std::copy_n(rest.begin() + static_cast<std::ptrdiff_t>(sides.size()), noted.size(), noted.begin());
    over = false, stop = {}, refusal.reset();
    t = step_begin = motion_.t();
    if (motion_.failed())
      finish(stop_of());
    else if (t >= options.to)
      finish({});
  }

 private:
  static constexpr double held = 1e-8;

  bool finish(Stop why) {
    over = true, stop = std::move(why);
    // Said once, at the end: by then it is known how near the motion came.
    if (const LargeMotion::Certificate& c = motion_.certificate(); c.comes_near_singular())
      notes.push_back(
          fmt::format("constraints come within an angle of {:.1g} of depending on each other, near t = {}: the smooth "
                      "motion is followed; "
                      "other branches were not looked for",
                      c.smallest_angle, short_number(c.smallest_angle_at)));
    return false;
  }
  void take_events() {
    const std::vector<LargeEvents::Found> all = events_.find(motion_);
    for (std::string& note : events_.take_notes()) notes.push_back(std::move(note));
    for (const LargeEvents::Found& found : all) {
      MotionEvent event;
      event.time = found.time;
      event.name = found.name;
      if (wants_.states) {
        const Eigen::Index n = motion_.dynamics().system().n();
        event.q.resize(n), event.qd_before.resize(n);
        motion_.state_at(found.time, span_of(event.q), span_of(event.qd_before), true);
        event.qd_after = event.qd_before;
      }
      events.push_back(std::move(event));
      if (!found.stop) continue;
      t = found.time;
      motion_.end_at(t);
      finish({StopReason::event, fmt::format("event `{}` at t = {}", found.name, number_text(t)), {}});
      return;
    }
  }
  void note_dependent_rows() {
    if (const int count = motion_.certificate().dependent_rows; count > 0)
      notes.push_back(fmt::format("{} constraint {} on others", count, count == 1 ? "row depends" : "rows depend"));
  }
  Stop stop_of() {
    const SparseStatus status = motion_.dynamics().result().status;
    return {status == SparseStatus::contradiction ? StopReason::contradiction
            : status == SparseStatus::not_finite  ? StopReason::not_finite
                                                  : StopReason::step_too_small,
            motion_.message(),
            {}};
  }

  LargeWants wants_;
  LargeMotion motion_;
  LargeEvents events_;
  std::optional<LargeQuantities> outputs_;
  Statistics statistics_;
};

}  // namespace

std::vector<std::string> output_names(const FamilyModel& model) {
  return LargeQuantities(model, outputs_of(model)).names();
}

std::unique_ptr<MotionSteps> make_large_steps(LargeSystem& system, const State& start, const MotionOptions& options,
                                              const LargeWants& wants) {
  if (start.q.size() != system.n() || start.qd.size() != system.n())
    throw std::invalid_argument("the start does not fit the system");
  if (!(options.to > start.t) || !std::isfinite(options.to))
    throw std::invalid_argument("the end must be later than the start");
  if (!(options.tolerance >= smallest_tolerance && options.tolerance <= largest_tolerance))
    throw std::invalid_argument("the tolerance is below rounding, or too large to mean anything");
  if (options.method == Method::bdf)
    throw std::invalid_argument("the method bdf is not there for a model of this size");
  return std::make_unique<LargeSteps>(system, start, options, wants);
}

}  // namespace mechanician
