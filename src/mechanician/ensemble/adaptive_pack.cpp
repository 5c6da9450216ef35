#include "mechanician/ensemble/adaptive_pack.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/ensemble/lane_kernels.hpp"
#include "mechanician/motion/certificate_limits.hpp"
#include "mechanician/motion/dop853_tableau.hpp"
#include "mechanician/motion/step_control.hpp"
#include "mechanician/motion/tolerances.hpp"

namespace mechanician {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using step_control::eps;

/// Attempts at one step before the single run takes over, and how many of them may be for want of a vouch.
constexpr int most_tries = 60, most_not_vouched = 4;
/// Rows are clearly independent at the start of a motion, and stay so: a single run that takes over must find its way past what is near,
/// and from too near it would not. It hands motions over where they are as far from it (SmoothMotion::can_hand_over).
constexpr double clearly_independent = 0.02;
// Projections (dynamics.hpp): what Newton steps of this size leave is their square.
constexpr int most_newton_steps = 8;
const double nearly_there = std::sqrt(0.1 * 1e-17);

/// One stage: the weights that are not zero, and what they belong to.
struct Weights {
  std::array<double, 13> w{};
  std::array<const double*, 13> from{};
  int count = 0;

  Weights(const double* all, int stages, const std::array<AlignedNumbers, 13>& k) {
    for (int j = 0; j < stages; ++j)
      if (all[j] != 0.0)
        w[static_cast<std::size_t>(count)] = all[j],
        from[static_cast<std::size_t>(count++)] = k[static_cast<std::size_t>(j)].data();
  }
};

}  // namespace

AdaptivePack::AdaptivePack(AdaptiveCode& code, const EnsembleOptions& options)
    : code_(&code),
      options_(options),
      n_(code.n),
      L_(code.lanes),
      size_(2 * code.n + 4),
      num_parameters_(code.acceleration.num_inputs() - 1 - 2 * code.n),
      num_varied_(num_parameters_ - code.num_switches) {
  options_.tolerance = tolerance_of_steps(options.tolerance);
  const auto sized = [&](int count) { return AlignedNumbers(static_cast<std::size_t>(count * L_)); };
  const int num_rows = code.num_rows, num_entries = code.watched.row_begin.back(),
            num_divisors = code.watched.num_divisors;
  lanes.resize(static_cast<std::size_t>(L_));
  for (const double u : code.units) per_unit_.push_back(1.0 / u);
  sizes_ = sized(2 * n_);
  y = y_new_ = sized(size_), scale_ = sized(2 * n_), last_stage_ = sized(2 * n_);
  parameters_ = sized(num_parameters_), inputs_ = sized(1 + 2 * n_ + num_parameters_);
  sines_ = row_sizes_ = sines_new_ = sized(num_rows), pivots_ = sized(2 * num_rows), look_ = sized(17 * num_rows);
  A_ = sized(num_entries), divisors_ = divisors_before_ = divisors_largest_ = sized(num_divisors),
  below_ = sized(3 * num_divisors);
  guards_ = guards_new_ = sized(code.num_guards()), guards_along_ = sized(3 * code.num_guards());
  events_seen_.resize(static_cast<std::size_t>(L_));
  outputs_ = sized(code.acceleration.num_outputs()), seen_ = sized(code.watch.num_outputs());
  projection_ = sized(std::max(code.positions.step ? code.positions.step.num_outputs() : 0,
                               code.velocities.step ? code.velocities.step.num_outputs() : 0));
  for (auto& k : k_) k = sized(size_);
  errors_ = extra_ = good_ = h_ = times_ = sized(1);
  pieces_.resize(static_cast<std::size_t>(L_));
}

void AdaptivePack::set_inputs(const double* time, const double* state) {
  std::copy_n(time, L_, inputs_.begin());
  std::copy_n(state, 2 * n_ * L_, inputs_.begin() + L_);
}

void AdaptivePack::accelerate(AlignedNumbers& rate) {
  code_->acceleration(inputs_.data(), outputs_.data());
  std::copy_n(inputs_.begin() + (1 + n_) * L_, n_ * L_, rate.begin());
  std::copy_n(outputs_.begin(), n_ * L_, rate.begin() + n_ * L_);
  std::copy_n(outputs_.begin() + code_->at_powers * L_, 4 * L_, rate.begin() + 2 * n_ * L_);
  for (int l = 0; l < L_; ++l)
    if (!(of(outputs_, code_->at_vouch, l) > 0.0)) of(good_, 0, l) = 0.0;
}

void AdaptivePack::converge(AdaptiveCode::Projection& projection, int offset, bool one_is_enough) {
  if (!projection.step) return;
  AlignedNumbers moving(static_cast<std::size_t>(L_)), last(static_cast<std::size_t>(L_), infinity),
      moved(static_cast<std::size_t>(L_)), near = moved;
  for (std::size_t l = 0; l < near.size(); ++l) near[l] = offset == 0 ? lanes[l].reach.length() : lanes[l].reach.pace();
  for (int l = 0; l < L_; ++l) moving[static_cast<std::size_t>(l)] = of(good_, 0, l);
  for (int step = 0; step < most_newton_steps; ++step) {
    projection.step(inputs_.data(), projection_.data());
    for (int l = 0; l < L_; ++l) {
      double& moves = moving[static_cast<std::size_t>(l)];
      if (moves > 0.0 && !(of(projection_, projection.at_vouch, l) > 0.0)) moves = of(good_, 0, l) = 0.0;
    }
    std::fill(moved.begin(), moved.end(), 0.0);
    lanes::add_and_measure(n_ * L_, L_, moving.data(), projection_.data(), code_->units.data(), near.data(),
                           inputs_.data() + (1 + offset) * L_, moved.data());
    bool any = false;
    for (std::size_t l = 0; l < moving.size(); ++l) {
      if (!(moving[l] > 0.0)) continue;
      if (moved[l] <= nearly_there || one_is_enough)
        moving[l] = 0.0;
      else if (step > 0 && moved[l] > 0.5 * last[l])
        moving[l] = good_[l] = 0.0;
      last[l] = moved[l];
      any |= moving[l] > 0.0;
    }
    if (!any) return;
  }
  for (std::size_t l = 0; l < moving.size(); ++l)
    if (moving[l] > 0.0 && !(last[l] <= 4.0 * eps)) good_[l] = 0.0;
}

void AdaptivePack::see() {
  lanes::see(2 * n_ * L_, L_, y.data(), sizes_.data());
  AlignedNumbers extent(static_cast<std::size_t>(L_)), speed = extent;
  lanes::largest_size(n_ * L_, L_, sizes_.data(), per_unit_.data(), extent.data());
  lanes::largest_size(n_ * L_, L_, sizes_.data() + n_ * L_, per_unit_.data(), speed.data());
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    Reach& reach = lanes[l].reach;
    reach.extent = std::max(reach.extent, extent[l]), reach.speed = std::max(reach.speed, speed[l]);
  }
}

void AdaptivePack::begin_sizes(const std::vector<Entry>& entries) {
  std::fill(sizes_.begin(), sizes_.end(), Reach::tiny);
  for (int l = 0; l < L_; ++l) {
    const auto at = static_cast<std::size_t>(l);
    lanes[at].reach.begin(options_.to - t0_);
    const HandedMotion* const handed = entries[at].handed;
    if (!handed) continue;
    lanes[at].reach = handed->sizes.reach;
    for (int i = 0; i < n_; ++i) of(sizes_, i, l) = handed->sizes.q[i], of(sizes_, n_ + i, l) = handed->sizes.qd[i];
  }
  see();
  for (int l = 0; l < L_; ++l) see_forces(l);
}

void AdaptivePack::see_forces(int l) {
  double force = 0.0, energy = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double Q = of(seen_, code_->watched.at_momenta + n_ + i, l);
    force = std::max(force, Q * code_->units[i]), energy += Q * of(sizes_, i, l);
  }
  lanes[static_cast<std::size_t>(l)].reach.set_force(force, energy);
}

double AdaptivePack::energy_scale(const AlignedNumbers& state, int l) const {
  double scale = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double v = std::max({of(sizes_, n_ + i, l), std::abs(of(state, n_ + i, l)),
                               Sizes::part * code_->units[i] * lanes[static_cast<std::size_t>(l)].reach.speed}),
                 x = std::max(of(sizes_, i, l), std::abs(of(state, i, l)));
    scale += of(seen_, code_->watched.at_momenta + i, l) * v + of(seen_, code_->watched.at_momenta + n_ + i, l) * x;
  }
  return scale;
}

double AdaptivePack::distance(int l) const {
  const double off = of(seen_, WatchProgram::at_distance, l), rate = of(seen_, WatchProgram::at_rate_distance, l);
  const Reach& reach = lanes[static_cast<std::size_t>(l)].reach;
  // Not a number where one of them is none.
  return (off == 0.0 ? 0.0 : off / reach.length()) + (rate == 0.0 ? 0.0 : rate / reach.pace());
}

void AdaptivePack::project() {
  converge(code_->positions, 0, false);
  converge(code_->velocities, n_, code_->one_velocity_step);
}

void AdaptivePack::calc_sines(double* sines) {
  if (code_->num_rows == 0) return;
  code_->rank(inputs_.data(), pivots_.data());
  const int count = code_->num_rows * L_;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double size = std::max(pivots_[at + static_cast<std::size_t>(count)], row_sizes_[at]);
    const double squared = 1.0 / (pivots_[at] * size);
    sines[i] = squared > 0.0 ? std::sqrt(squared < 1.0 ? squared : 1.0) : 0.0;  // also where it is not a number
  }
}

double AdaptivePack::calc_weakest(const double* sines, int l) const {
  double weakest = 1.0;
  for (int j = 0; j < code_->num_rows; ++j) weakest = std::min(weakest, sines[j * L_ + l]);
  return weakest;
}

void AdaptivePack::begin(const MotionBatch& batch, const std::vector<int>& varied, const std::vector<Entry>& entries) {
  t0_ = batch.t;
  Entry some;  // in lanes without a motion
  for (const Entry& entry : entries)
    if (entry.motion >= 0) some = entry;
  std::fill(row_sizes_.begin(), row_sizes_.end(), 0.0);
  for (int l = 0; l < L_; ++l) {
    const Entry& entry = entries[static_cast<std::size_t>(l)].motion >= 0 ? entries[static_cast<std::size_t>(l)] : some;
    const HandedMotion* const handed = entry.handed;
    const auto from = static_cast<std::size_t>(entry.motion), n = static_cast<std::size_t>(n_);
    for (int i = 0; i < n_; ++i) {
      of(y, i, l) = handed ? handed->y[static_cast<std::size_t>(i)] : batch.q[from * n + static_cast<std::size_t>(i)];
      of(y, n_ + i, l) =
          handed ? handed->y[static_cast<std::size_t>(n_ + i)] : batch.qd[from * n + static_cast<std::size_t>(i)];
    }
    for (int i = 2 * n_; i < size_; ++i) of(y, i, l) = handed ? handed->y[static_cast<std::size_t>(i)] : 0.0;
    for (int i = 0; i < num_varied_; ++i)
      of(parameters_, i, l) = batch.parameters[from * static_cast<std::size_t>(batch.num_parameters) +
                                               static_cast<std::size_t>(varied[static_cast<std::size_t>(i)])];
    for (int i = 0; i < code_->num_switches; ++i)
      of(parameters_, num_varied_ + i, l) = handed ? handed->sides[static_cast<std::size_t>(i)] : 1.0;
    if (handed && entry.row_sizes)
      for (std::size_t i = 0; i < entry.row_sizes->size(); ++i)
        of(row_sizes_, static_cast<int>(i), l) = (*entry.row_sizes)[i];
    of(times_, 0, l) = handed ? handed->t : batch.t;
  }
  std::fill(good_.begin(), good_.end(), 1.0);
  set_inputs(times_.data(), y.data());
  settle_sides(entries);
  std::copy(parameters_.begin(), parameters_.end(), inputs_.begin() + (1 + 2 * n_) * L_);
  code_->watch(inputs_.data(), seen_.data());
  begin_sizes(entries);
  for (int l = 0; l < L_; ++l) {
    if (!(distance(l) <= certificate_limits::on_constraints)) of(good_, 0, l) = 0.0;
  }
  project();
  accelerate(k_[0]);
  std::copy_n(inputs_.begin() + L_, 2 * n_ * L_, y.begin());
  see();
  calc_sines(sines_.data());
  for (int i = 0; i < code_->num_rows; ++i)
    for (int l = 0; l < L_; ++l)
      if (of(row_sizes_, i, l) == 0.0) of(row_sizes_, i, l) = of(pivots_, code_->num_rows + i, l);
  code_->watch(inputs_.data(), seen_.data());
  std::copy_n(seen_.begin() + WatchProgram::at_rows * L_, A_.size(), A_.begin());
  std::copy_n(seen_.begin() + code_->watched.at_divisors * L_, divisors_.size(), divisors_.begin());
  std::fill(divisors_before_.begin(), divisors_before_.end(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < divisors_.size(); ++i) divisors_largest_[i] = std::abs(divisors_[i]);
  begin_guards(entries);
  choose_first_steps();
  for (int l = 0; l < L_; ++l) {
    const Entry& entry = entries[static_cast<std::size_t>(l)];
    Lane& lane = lanes[static_cast<std::size_t>(l)];
    const double first_step = lane.h;
    const Reach reach = lane.reach;
    lane = {.motion = entry.motion, .t = batch.t, .h = first_step, .progress = {.mark = batch.t}, .reach = reach};
    lane.ledger.begin(of(seen_, WatchProgram::at_kinetic, l), energy_scale(y, l));
    if (entry.motion >= 0 && entry.handed) {
      const HandedMotion& from = *entry.handed;
      lane.t = from.t, lane.h = from.h, lane.steps = lane.begun_with = from.steps;
      lane.progress = from.progress;
      lane.ledger = from.ledger;
      lane.violation = from.violation, lane.distance = from.distance;
      lane.acceleration_integral = from.acceleration_integral;
      for (std::size_t i = 0; i < from.divisors.size(); ++i) {
        double& largest = of(divisors_largest_, static_cast<int>(i), l);
        largest = std::max(largest, from.divisors[i]);
      }
    }
    lane.weakest = calc_weakest(sines_.data(), l);
    if (!(of(good_, 0, l) > 0.0) || !(lane.weakest >= clearly_independent) || !std::isfinite(lane.h))
      lane.fate = Fate::left;
  }
}

HandedMotion AdaptivePack::hand_over(int l) const {
  const Lane& lane = lanes[static_cast<std::size_t>(l)];
  HandedMotion to{.t = lane.t, .h = lane.h, .y = {}, .sides = {}, .events = {}, .divisors = {}};
  std::vector<double> seen;
  for (int i = 0; i < 2 * n_; ++i) seen.push_back(of(sizes_, i, l));
  to.sizes.begin(code_->units, {}, 0.0);
  to.sizes.reach = lane.reach;
  to.sizes.see(seen.data());
  for (int i = 0; i < size_; ++i) to.y.push_back(of(y, i, l));
  for (int i = 0; i < code_->num_switches; ++i) to.sides.push_back(side_of(i, l));
  for (int i = 0; i < static_cast<int>(code_->events.size()); ++i)
    to.events.push_back(of(guards_, code_->num_switches + i, l));
  for (int i = 0; i < code_->watched.num_divisors; ++i) to.divisors.push_back(of(divisors_largest_, i, l));
  to.ledger = lane.ledger;
  to.violation = lane.violation, to.distance = lane.distance;
  to.acceleration_integral = lane.acceleration_integral;
  to.steps = lane.steps, to.progress = lane.progress;
  return to;
}

std::vector<double> AdaptivePack::row_sizes(int l) const {
  std::vector<double> sizes;
  for (int i = 0; i < code_->num_rows; ++i) sizes.push_back(of(row_sizes_, i, l));
  return sizes;
}

void AdaptivePack::choose_first_steps() {
  const int count = 2 * n_;
  const double span = options_.to - t0_;
  AlignedNumbers rates(static_cast<std::size_t>(L_));
  lanes::largest_size(n_ * L_, L_, k_[0].data() + n_ * L_, per_unit_.data(), rates.data());
  const auto scaled = [&](int l, auto&& value) {
    const Reach& reach = lanes[static_cast<std::size_t>(l)].reach;
    const double rate = rates[static_cast<std::size_t>(l)], length = Sizes::part * reach.length(rate),
                 pace = Sizes::part * reach.pace(rate);
    return step_control::calc_norm(
        count, options_.tolerance,
        [&](int i) { return std::max(of(sizes_, i, l), code_->units[i % n_] * (i < n_ ? length : pace)); }, value);
  };
  AlignedNumbers h0(static_cast<std::size_t>(L_)), d1 = h0, vouched = good_;
  for (int l = 0; l < L_; ++l) {
    const auto at = static_cast<std::size_t>(l);
    Reach& reach = lanes[at].reach;
    if (reach.fall == 0.0)
      for (int i = 0; i < n_; ++i)
        reach.fall =
            std::max(reach.fall, std::sqrt(std::abs(of(k_[0], n_ + i, l)) * of(sizes_, i, l)) / code_->units[i]);
    const double d0 = scaled(l, [&](int i) { return of(y, i, l); });
    d1[at] = scaled(l, [&](int i) { return of(k_[0], i, l); });
    h0[at] = step_control::trial_step(d0, d1[at], span);
    times_[at] += h0[at];
  }
  const double weight[] = {1.0};
  const double* from[] = {k_[0].data()};
  std::copy_n(times_.begin(), L_, inputs_.begin());
  lanes::add_weighted(count * L_, L_, 1, weight, from, y.data(), h0.data(), inputs_.data() + L_);
  accelerate(k_[1]);
  good_ = vouched;
  for (int l = 0; l < L_; ++l) {
    const auto at = static_cast<std::size_t>(l);
    double d2 = scaled(l, [&](int i) { return of(k_[1], i, l) - of(k_[0], i, l); }) / h0[at];
    if (!std::isfinite(d2)) d2 = 0.0;
    lanes[at].h = step_control::first_step(options_.tolerance, h0[at], d1[at], d2, t0_, span);
  }
}

void AdaptivePack::take(int lane, const AdaptivePack& from, int other) {
  t0_ = from.t0_;
  lanes[static_cast<std::size_t>(lane)] = from.lanes[static_cast<std::size_t>(other)];
  const auto copy = [&](AlignedNumbers& to, const AlignedNumbers& x) {
    for (std::size_t i = 0; i < to.size(); i += static_cast<std::size_t>(L_))
      to[i + static_cast<std::size_t>(lane)] = x[i + static_cast<std::size_t>(other)];
  };
  copy(sizes_, from.sizes_);
  copy(y, from.y), copy(k_[0], from.k_[0]), copy(parameters_, from.parameters_), copy(sines_, from.sines_),
      copy(row_sizes_, from.row_sizes_), copy(A_, from.A_), copy(guards_, from.guards_);
  copy(divisors_, from.divisors_), copy(divisors_before_, from.divisors_before_),
      copy(divisors_largest_, from.divisors_largest_);
  std::copy(parameters_.begin(), parameters_.end(), inputs_.begin() + (1 + 2 * n_) * L_);
}

void AdaptivePack::calc_errors() {
  // What rounding alone puts into the estimate: of the state, and of the acceleration, magnified by its condition.
  AlignedNumbers rate_q(static_cast<std::size_t>(L_)), rate_qd = rate_q, five = rate_q, three = rate_q;
  AlignedNumbers least_q = rate_q, least_qd = rate_q;
  lanes::largest_size(n_ * L_, L_, k_[0].data(), per_unit_.data(), rate_q.data());
  lanes::largest_size(n_ * L_, L_, k_[0].data() + n_ * L_, per_unit_.data(), rate_qd.data());
  for (int l = 0; l < L_; ++l) {
    const auto at = static_cast<std::size_t>(l);
    const Reach& reach = lanes[at].reach;
    const double h = of(h_, 0, l);
    least_qd[at] = Sizes::part * reach.swiftness(h, rate_qd[at]);
    least_q[at] = Sizes::part * h * std::max(reach.speed, h * rate_qd[at]);
    rate_qd[at] = step_control::velocity_noise(h, std::max(rate_qd[at], step_control::forces_round * reach.force),
                                               1.0 / lanes[at].weakest);
    rate_q[at] = step_control::position_noise(h, rate_q[at], rate_qd[at]);
  }
  const int v = n_ * L_;
  lanes::make_scale(v, L_, options_.tolerance, y.data(), y_new_.data(), sizes_.data(), code_->units.data(),
                    least_q.data(), rate_q.data(), scale_.data());
  lanes::make_scale(v, L_, options_.tolerance, y.data() + v, y_new_.data() + v, sizes_.data() + v, code_->units.data(),
                    least_qd.data(), rate_qd.data(), scale_.data() + v);
  std::array<double, 12> third;
  for (std::size_t j = 0; j < 12; ++j) third[j] = dop853::a[12][j];
  third[0] -= dop853::b3[0], third[8] -= dop853::b3[1], third[11] -= dop853::b3[2];
  const Weights e5(dop853::e5, 12, k_), e3(third.data(), 12, k_);
  lanes::largest_ratio(2 * n_ * L_, L_, e5.count, e5.w.data(), e5.from.data(), h_.data(), scale_.data(), five.data());
  lanes::largest_ratio(2 * n_ * L_, L_, e3.count, e3.w.data(), e3.from.data(), h_.data(), scale_.data(), three.data());
  for (std::size_t l = 0; l < five.size(); ++l) errors_[l] = step_control::error_norm(five[l], three[l]);
}

void AdaptivePack::advance() {
  const bool bounded = code_->depends_on_time || !code_->events.empty() || code_->num_gaps > 0;
  const double largest = (options_.to - t0_) / (bounded ? step_control::least_steps : step_control::least_steps_anyway);
  for (int l = 0; l < L_; ++l) {
    Lane& lane = lanes[static_cast<std::size_t>(l)];
    of(h_, 0, l) = 0.0;
    if (lane.motion < 0 || lane.fate != Fate::running) continue;
    lane.h = std::min(lane.h, largest / 1.02);
    const double remaining = options_.to - lane.t, h = (lane.t + std::min(lane.h, remaining)) - lane.t;
    if (!(h > 0.0) || (h < remaining && step_control::is_nothing(h, lane.t, options_.to - t0_)))
      lane.fate = Fate::left;
    else
      of(h_, 0, l) = h;
  }
  see();
  std::fill(good_.begin(), good_.end(), 1.0);
  for (int i = 1; i < 12; ++i) {
    const Weights stage(dop853::a[i], i, k_);
    for (int l = 0; l < L_; ++l)
      inputs_[static_cast<std::size_t>(l)] = lanes[static_cast<std::size_t>(l)].t + dop853::c[i] * of(h_, 0, l);
    lanes::add_weighted(2 * n_ * L_, L_, stage.count, stage.w.data(), stage.from.data(), y.data(), h_.data(),
                        inputs_.data() + L_);
    accelerate(k_[static_cast<std::size_t>(i)]);
  }
  std::copy_n(inputs_.begin() + L_, 2 * n_ * L_, last_stage_.begin());
  const Weights whole(dop853::a[12], 12, k_);
  lanes::add_weighted(size_ * L_, L_, whole.count, whole.w.data(), whole.from.data(), y.data(), h_.data(),
                      y_new_.data());
  calc_errors();
  for (int l = 0; l < L_; ++l)
    if (!(of(good_, 0, l) > 0.0)) of(errors_, 0, l) = std::numeric_limits<double>::quiet_NaN();

  // The end, on the constraints, and what is to be seen there.
  for (int l = 0; l < L_; ++l) of(times_, 0, l) = lanes[static_cast<std::size_t>(l)].t + of(h_, 0, l);
  set_inputs(times_.data(), y_new_.data());
  project();
  accelerate(k_[12]);
  std::copy_n(inputs_.begin() + L_, 2 * n_ * L_, y_new_.begin());
  code_->watch(inputs_.data(), seen_.data());
  if (code_->guards) code_->guards(inputs_.data(), guards_new_.data());
  calc_sines(sines_new_.data());
  look_along();
  look_for_poles();
  look_for_zeros();
  for (int l = 0; l < L_; ++l)
    if (of(h_, 0, l) > 0.0) decide(l);
}

void AdaptivePack::decide(int l) {
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  const double h = of(h_, 0, l), error = of(errors_, 0, l);
  if (lane.fate != Fate::running) return;
  if (++lane.tries > most_tries) {
    lane.fate = Fate::left;
    return;
  }
  const bool stages = std::isfinite(error);
  if (!stages || !(error <= 1.0) || !(of(good_, 0, l) > 0.0)) {
    lane.rejected = true;
    if ((!stages || error <= 1.0) && ++lane.not_vouched >= most_not_vouched) lane.fate = Fate::left;
    lane.h = h * (!stages        ? step_control::without_value
                  : error <= 1.0 ? step_control::without_end
                                 : step_control::shrinkage(error));
    return;
  }
  const double weakest = calc_weakest(sines_new_.data(), l);
  bool finite = true;
  for (int i = 0; i < size_; ++i) finite &= std::isfinite(of(y_new_, i, l));
  const bool on_constraints = distance(l) <= certificate_limits::on_constraints;  // not where it is not a number
  if (!finite || !on_constraints || weakest < clearly_independent || weakest < 0.02 * lane.weakest) {
    lane.fate = Fate::left;
    return;
  }
  look_for_narrow(l);
  if (lane.fate != Fate::running) return;
  lane.h = step_control::next_step(h, lane.h, step_control::grown(h, lane.h, error, lane.rejected));
  lane.weakest = weakest;
  accept(l);
}

void AdaptivePack::accept(int l) {
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  ++lane.steps;
  lane.rejected = false, lane.tries = lane.not_vouched = 0;
  lane.t = step_control::end_of(of(times_, 0, l), of(h_, 0, l), options_.to);
  // Whether it gets anywhere is for an integrator to say, in its next step.
  if ((lane.steps + 1) % Progress::steps == 0) lane.fate = Fate::left;
  watch(l);
  lane.events += events_seen_[static_cast<std::size_t>(l)];
  if (is_stiff(l)) lane.fate = Fate::left, lane.stiff = true;
  if (lane.ledger.is_doubtful()) lane.fate = Fate::left;
  const auto copy = [&](AlignedNumbers& to, const double* from, int count) {
    for (int i = 0; i < count; ++i) of(to, i, l) = from[i * L_ + l];
  };
  copy(y, y_new_.data(), size_), copy(k_[0], k_[12].data(), size_), copy(sines_, sines_new_.data(), code_->num_rows);
  copy(A_, seen_.data() + WatchProgram::at_rows * L_, code_->watched.row_begin.back());
  copy(guards_, guards_new_.data(), code_->num_guards());
  const int count = code_->watched.num_divisors;
  copy(divisors_, seen_.data() + code_->watched.at_divisors * L_, count),
      copy(divisors_before_, below_.data() + 2 * count * L_, count);
  for (int i = 0; i < count; ++i)
    for (const double x :
         {of(divisors_, i, l), of(below_, i, l), of(below_, count + i, l), of(below_, 2 * count + i, l)})
      of(divisors_largest_, i, l) = std::max(of(divisors_largest_, i, l), std::abs(x));
  if (lane.t >= options_.to) lane.fate = Fate::done;
}

}  // namespace mechanician
