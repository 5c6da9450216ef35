#include "mechanician/motion/narrow_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician {

namespace {

using step_control::eps;

/// Changes of velocities over a step that it need not have seen, in tolerances: dense output is less exact than the step.
constexpr double most_missed = 10.0;
/// The part of it that a piece may add without being looked at.
constexpr double of_piece = 0.01;
constexpr int most_pieces = 300;
/// Of the run: where a step this short has too much in it to be looked at, the verdict says so.
constexpr double shortest = 1e-9;

}  // namespace

void NarrowWatch::set_allowed() {
  const Dynamics& d = view_.dynamics;
  const LastStep& step = view_.step;
  const Sizes& sizes = d.sizes;
  const auto n = static_cast<std::size_t>(d.n());
  allowed_.resize(n), effect_.resize(n), in_piece_.resize(n);
  missed_.assign(n, 0.0);
  const double speed = std::max(sizes.reach.speed, step.h * acceleration_);
  const double noise = step_control::velocity_noise(
      step.h, std::max(acceleration_, step_control::forces_round * sizes.reach.force), d.condition());
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::abs(step.rk.y_new[n + i]);
    double scale = 0.0;
    step_control::make_scale(view_.motion.options.tolerance, sizes.of_qd(i, size, speed), size, noise * sizes.unit(i),
                             scale);
    allowed_[i] = most_missed * scale;
  }
  if (step.implicit) allow_stiffness();
}

/// Where forces are stiff, errors of the size of the tolerance change accelerations by more than their sizes tell: tried out.
void NarrowWatch::allow_stiffness() {
  Dynamics& d = view_.dynamics;
  const auto n = static_cast<std::size_t>(d.n());
  rate_.resize(a_.y.size());
  for (const double sign : {1.0, -1.0}) {
    m_.y = a_.y;
    for (std::size_t i = 0; i < 2 * n; ++i)
      m_.y[i] += (i % 2 == 0 ? 1.0 : sign) * view_.motion.options.tolerance * d.sizes.of(i, m_.y[i]);
    if (!d.rhs(a_.t, m_.y.data(), rate_.data())) continue;
    for (std::size_t i = 0; i < n; ++i)
      allowed_[i] += most_missed * view_.step.h * std::abs(rate_[n + i] - a_.rate[n + i]);
  }
}

bool NarrowWatch::is_nothing(const StateBox& box, SeenBy shown) {
  if (!any_) return true;
  const double length = box.t.high - box.t.low;
  view_.dynamics.values().calc_unseen(box, shown, unseen_);
  const EquationFacts& facts = view_.dynamics.facts();
  const Sizes& sizes = view_.dynamics.sizes;
  const double force = std::max(sizes.reach.force, acceleration_);
  double by_rows = unseen_.friction * force;
  for (int j = 0; j < facts.m; ++j) {
    if (view_.dynamics.values().is_absent(j)) continue;
    double varies = 0.0, size = 0.0;
    for (const int* slot = facts.row_slots.first(j); slot != facts.row_slots.last(j); ++slot) {
      const auto s = static_cast<std::size_t>(*slot);
      const double unit = sizes.unit(static_cast<std::size_t>(facts.pattern.A[s].col));
      varies += unseen_.A[s] * unit, size += unseen_.size_of_A[s] * unit;
    }
    const double b = unseen_.b[static_cast<std::size_t>(j)];
    if (varies > 0.0 || b > 0.0) by_rows = std::max(by_rows, (b + varies * (acceleration_ + force)) / size);
  }
  for (std::size_t i = 0; i < effect_.size(); ++i) effect_[i] = by_rows + sizes.unit(i) * unseen_.Q[i];
  for (std::size_t s = 0; s < unseen_.M.size(); ++s) {
    const auto row = static_cast<std::size_t>(facts.pattern.M[s].row),
               col = static_cast<std::size_t>(facts.pattern.M[s].col);
    const double by_mass = unseen_.M[s] * sizes.unit(row) * sizes.unit(col) * acceleration_;
    effect_[row] += by_mass;
    if (row != col) effect_[col] += by_mass;
  }
  for (std::size_t i = 0; i < effect_.size(); ++i)
    if (!(effect_[i] * sizes.unit(i) * length <= of_piece * allowed_[i])) return false;
  return true;
}

void NarrowWatch::begin() {
  Dynamics& d = view_.dynamics;
  gap_begin_.assign(d.num_gaps(), 0.0), gap_floor_ = gap_end_ = gap_begin_;
  // Anywhere: whether there is a function that samples may not show.
  const std::vector<Interval> anywhere(2 * static_cast<std::size_t>(d.n()), Interval::everything());
  any_gaps_ = !d.gaps_are_seen({Interval::everything(), anywhere.data(), anywhere.data() + d.n()},
                               SeenBy::but_kinks_by_piece, gap_floor_);
}

std::optional<NarrowWatch::Place> NarrowWatch::find() {
  LastStep& step = view_.step;
  Dynamics& d = view_.dynamics;
  if (!(any_ || any_gaps_) || !(step.h > 0.0)) return {};
  const StateBox box = box_.make(step);
  std::fill(gap_floor_.begin(), gap_floor_.end(), 0.0);
  // PhaseGuards takes no more samples of a step than are taken of a piece here.
  const bool fast = any_ && d.values().varies_fast(box), hidden = !sees_gaps(box, SeenBy::but_kinks_by_piece);
  if (!fast && !hidden) return {};
  const int n = d.n();
  if (step.implicit) {
    a_.set(step, step.t, true), b_.set(step, step.end(), true);
    acceleration_ = std::max(d.sizes.in_units(a_.rate.data() + n), d.sizes.in_units(b_.rate.data() + n));
  } else {
    acceleration_ = std::max(d.sizes.in_units(step.rk.k[0].data() + n), d.sizes.in_units(step.rk.k[12].data() + n));
  }
  set_allowed();
  if ((!fast || is_nothing(box, SeenBy::by_step)) && !hidden) return {};
  if (!step.make_dense()) return {};
  const long evaluations = d.evaluations, projections = d.projections, robust = d.robust_evaluations;
  if (any_gaps_) {
    a_.set(step, step.t, false), b_.set(step, step.end(), false);
    d.calc_guards(step.t, a_.y.data(), gap_begin_, {}), d.calc_guards(step.end(), b_.y.data(), gap_end_, {});
    for (std::size_t i = 0; i < gap_end_.size(); ++i)
      gap_floor_[i] =
          -most_missed * view_.motion.options.tolerance * std::max(std::abs(gap_begin_[i]), std::abs(gap_end_[i]));
  }
  const std::optional<Place> found = look();
  d.evaluations = evaluations, d.projections = projections, d.robust_evaluations = robust;
  return found;
}

std::optional<NarrowWatch::Place> NarrowWatch::look() {
  LastStep& step = view_.step;
  const MotionSteps& motion = view_.motion;
  const auto doubt = [&](double at) {
    if (std::exchange(doubted_, true)) return;
    view_.doubts.push_back(fmt::format(
        "near t = {} forces, masses or constraints may vary faster than any step can follow", short_number(at)));
  };
  pieces_.assign(1, {step.t, step.end()});
  for (int count = 0; !pieces_.empty(); ++count) {
    const auto [from, to] = pieces_.back();
    pieces_.pop_back();
    const double length = to - from, middle = 0.5 * (from + to);
    if (count == most_pieces) {
      if (step.h > shortest * (motion.options.to - motion.start.t)) return Place{from, 0.25 * (to - step.t)};
      if (!is_at_pole(from, to)) doubt(from);
      return {};
    }
    a_.set(step, from, true), m_.set(step, middle, true), b_.set(step, to, true);
    const StateBox box = box_.make(a_, m_, b_, false);
    const bool gaps_open = sees_gaps(box, SeenBy::by_nothing) &&
                           std::find(gap_floor_.begin(), gap_floor_.end(), closed) == gap_floor_.end();
    if (is_nothing(box, SeenBy::by_nothing) && gaps_open) continue;
    const Gaps gaps = gaps_open ? Gaps::open : look_at_gaps();
    if (gaps == Gaps::close_for_a_moment) return Place{from, length};
    const bool forces_hide = !is_nothing(box, SeenBy::by_piece);
    if ((forces_hide || gaps == Gaps::unclear || !sees_gaps(box, SeenBy::but_kinks_by_piece)) &&
        length > 1e3 * eps * std::max(std::abs(from), std::abs(to))) {
      pieces_.push_back({middle, to}), pieces_.push_back({from, middle});
      continue;
    }
    if (!compare()) return Place{from, length};
    if (forces_hide && !is_at_pole(from, to)) doubt(from);
  }
  return {};
}

/// Near a zero below a fraction line nothing is bounded: whether that is a pole is for PoleWatch to say.
bool NarrowWatch::is_at_pole(double from, double to) {
  LastStep& step = view_.step;
  // Steps often end where it was first met, and dense output goes on for so short a time; that of the implicit method does not.
  const double around = 16.0 * (to - from);
  const double begin = step.implicit ? std::max(step.t, from - around) : from - around,
               end = step.implicit ? std::min(step.end(), to + around) : to + around;
  a_.set(step, begin, false), m_.set(step, 0.5 * (begin + end), false), b_.set(step, end, false);
  if (is_nothing(box_.make(a_, m_, b_, false), SeenBy::by_piece)) return true;
  return !std::isfinite(*std::max_element(effect_.begin(), effect_.end()));
}

bool NarrowWatch::add_difference(const StateInStep& state) {
  Dynamics& d = view_.dynamics;
  rate_.resize(state.y.size());
  if (!d.rhs(state.t, state.y.data(), rate_.data())) return false;
  const auto n = static_cast<std::size_t>(d.n());
  for (std::size_t i = 0; i < n; ++i) in_piece_[i] = std::max(in_piece_[i], std::abs(rate_[n + i] - state.rate[n + i]));
  return true;
}

/// Of the piece between the states a_, m_ and b_. One that stays closed to the end of the step is found by PhaseGuards, and looked at no more.
NarrowWatch::Gaps NarrowWatch::look_at_gaps() {
  const std::size_t count = gap_end_.size();
  gaps_.resize(3 * count);
  for (std::size_t k = 0; k < 3; ++k) {
    const StateInStep& state = k == 0 ? a_ : k == 1 ? m_ : b_;
    if (!view_.dynamics.calc_guards(state.t, state.y.data(), std::span(gaps_).subspan(k * count, count), {}))
      return Gaps::close_for_a_moment;
  }
  Gaps found = Gaps::open;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = gaps_[i], m = gaps_[count + i], b = gaps_[2 * count + i], floor = gap_floor_[i];
    // Pieces come by time.
    if (gap_end_[i] < 0.0 && a <= -floor && (b < a || a < floor)) gap_floor_[i] = closed;
    const bool was_closed = floor == closed, is_closed = gap_floor_[i] == closed;
    if (was_closed ? std::max(m, b) > 0.0 : std::min({a, m, b}) < floor && !(gap_end_[i] < 0.0))
      return Gaps::close_for_a_moment;
    if (!is_closed && bound_between(a, m, b).low < floor) found = Gaps::unclear;
  }
  return found;
}

bool NarrowWatch::compare() {
  std::fill(in_piece_.begin(), in_piece_.end(), 0.0);
  for (const StateInStep* state : {&a_, &m_, &b_})
    if (any_ && !add_difference(*state)) return false;
  for (std::size_t i = 0; i < missed_.size(); ++i) {
    missed_[i] += in_piece_[i] * (b_.t - a_.t);
    if (!(missed_[i] <= allowed_[i])) return false;
  }
  return true;
}

}  // namespace mechanician
