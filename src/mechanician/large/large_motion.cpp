#include "mechanician/large/large_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/checkpoint_numbers.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double start_tolerance = 1e-8;  ///< of residuals at the start
constexpr double too_near = 1e6;          ///< 1/sin² of the angle between a row and the others at the end of a step

constexpr double checkpoint_version = 2.0;

/// From 1/sin².
double angle_of(double growth) { return growth > 1.0 ? std::asin(1.0 / std::sqrt(growth)) : 1.0; }

}  // namespace

LargeMotion::LargeMotion(LargeSystem& system, const LargeSystem::Start& start, const LargeRunOptions& options)
    : dynamics_(system),
      options_(options),
      n_(static_cast<std::size_t>(system.n())),
      rk_(2 * system.n() + 2 + (options.works_by_constraint ? system.m() : 0)),
      t_(start.t),
      step_t_(start.t) {
  for (auto* x : {&e5_, &e3_}) x->assign(2 * n_, 0.0);
  y_.assign(rk_.y_new.size(), 0.0), sampled_works_.assign(num_works(), 0.0);
  std::copy(start.q.begin(), start.q.end(), rk_.y_new.begin());
  std::copy(start.qd.begin(), start.qd.end(), rk_.y_new.begin() + static_cast<std::ptrdiff_t>(n_));
  double* const y = rk_.y_new.data();
  const LargeDynamics::Violation off = dynamics_.calc_violation(t_, y, y + n_);
  if (const RowDistance far = dynamics_.calc_distance_at(t_, y, y + n_);
      far.largest > start_tolerance && std::isfinite(far.largest))
    throw ModelError(
        {{{},
          fmt::format("the start is off the constraints by {} in positions and {} in velocities, most of all off `{}`",
                      short_number(off.position), short_number(off.velocity), system.row_name(far.worst)),
          {}}},
        system.model().source);
  dynamics_.set_explain(true);
  if (!dynamics_.has_values(t_, y, y + n_) || !dynamics_.project(t_, y, y + n_) ||
      !dynamics_.hold_rows(t_, y, y + n_) || !rate_of(t_, y, rk_.k[12].data())) {
    fail(dynamics_.why());
    return;
  }
  dynamics_.set_explain(false);
  certificate_.kinetic_start = certificate_.kinetic_end = dynamics_.calc_kinetic(y + n_);
  certificate_.dependent_rows = static_cast<int>(dynamics_.dependent_rows().size());
  certificate_.robust_answers = dynamics_.robust_answers;
  certificate_.angle_at_start = certificate_.smallest_angle = angle_of(dynamics_.largest_growth);
  // Hairer's first guess: a step in which the state changes by a hundredth of its size, or the rate by as much as it is large.
  double size = 1e-3, change = 1e-6;
  for (std::size_t i = 0; i < 2 * n_; ++i)
    size = std::max(size, std::abs(y[i])), change = std::max(change, std::abs(rk_.k[12][i]));
  h_ = std::min(0.01 * size / change * std::pow(options_.tolerance / 1e-10, 1.0 / 8.0), options_.to - t_);
  if (options_.first_step > 0.0) h_ = std::min(options_.first_step, options_.to - t_);
}

bool LargeMotion::fail(std::string why) {
  message_ = fmt::format("at t = {}: {}", short_number(t_), why);
  return false;
}

bool LargeMotion::rate_of(double t, double* y, double* dy) {
  std::copy(y + n_, y + 2 * n_, dy);
  if (!dynamics_.accelerate(t, y, y + n_, dy + n_)) return false;
  const LargeDynamics::Powers powers = dynamics_.calc_powers(t, y, y + n_);
  dy[2 * n_] = powers.given, dy[2 * n_ + 1] = powers.constraints;
  if (num_works() > 2) dynamics_.calc_row_powers(y + n_, {dy + 2 * n_ + 2, num_works() - 2});
  return true;
}

bool LargeMotion::advance() {
  if (failed() || ended_ || t_ >= options_.to) return false;
  rk_.y = rk_.y_new, rk_.k[0] = rk_.k[12];
  const auto f = [this](double t, double* y, double* dy) { return rate_of(t, y, dy); };
  bool rejected = false;
  double not_made = 0.0;  // the last step whose stages could not be made
  for (int tries = 0; tries < 200; ++tries) {
    const double remaining = options_.to - t_;
    if (options_.largest_step > 0.0) h_ = std::min(h_, options_.largest_step);
    const bool last = h_ >= remaining * (1.0 - 1e-12);
    const double h = last ? remaining : h_;
    if (!(h > 4.0 * eps * std::max(std::abs(t_), 1e-6 * remaining))) break;
    double error = std::numeric_limits<double>::infinity();
    dynamics_.set_check_residuals(false);
    const bool made = rk_.make_stages(f, t_, h);
    dynamics_.set_check_residuals(true);
    if (!made) not_made = h;
    if (made) {
      rk_.calc_errors(h, static_cast<int>(2 * n_), e5_.data(), e3_.data());
      double s5 = 0.0, s3 = 0.0;
      for (std::size_t i = 0; i < 2 * n_; ++i) {
        const double scale = options_.tolerance * std::max({1.0, std::abs(rk_.y[i]), std::abs(rk_.y_new[i])});
        s5 = std::max(s5, std::abs(e5_[i]) / scale), s3 = std::max(s3, std::abs(e3_[i]) / scale);
      }
      error = s5 == 0.0 ? 0.0 : s5 / std::sqrt(1.0 + 0.01 * (s3 / s5) * (s3 / s5));
    }
    const double factor = error == 0.0           ? 10.0
                          : std::isfinite(error) ? std::clamp(0.9 * std::pow(error, -1.0 / 8.0), 0.2, 10.0)
                                                 : 0.25;
    double* const y = rk_.y_new.data();
    bool good = error <= 1.0 && dynamics_.project(t_ + h, y, y + n_) && rate_of(t_ + h, y, rk_.k[12].data());
    // A step does not end where rows are nearly dependent: rounding there would choose the way on.
    if (good && !last && dynamics_.result().row_growth > too_near && tries < 20) good = false;
    if (good) {
      step_t_ = t_, step_h_ = h, dense_ = false;
      t_ = step_end_ = last ? options_.to : t_ + h;
      h_ = h * (rejected ? std::min(1.0, factor) : factor);
      ++certificate_.steps;
      watch();
      return true;
    }
    ++certificate_.rejected;
    rejected = true;
    h_ = h * (error <= 1.0 ? 0.7 : factor);
  }
  if (not_made > 0.0) {
    dynamics_.set_explain(true);
    rk_.make_stages(f, t_, not_made);
  }
  return fail(dynamics_.why().empty() ? "the step size has come down to nothing" : dynamics_.why());
}

void LargeMotion::watch() {
  const double* y = rk_.y_new.data();
  Certificate& c = certificate_;
  c.evaluations = dynamics_.evaluations, c.projections = dynamics_.projections,
  c.robust_answers = dynamics_.robust_answers;
  c.kinetic_end = dynamics_.calc_kinetic(y + n_);
  c.work_given = y[2 * n_], c.work_constraints = y[2 * n_ + 1];
  c.balance = c.kinetic_end - c.kinetic_start - c.work_given - c.work_constraints;
  c.balance_largest = std::max(c.balance_largest, std::abs(c.balance));
  // Local errors of the size of the tolerance in every component at every step explain this much.
  c.balance_allowed += 5.0 * (options_.tolerance + 4.0 * eps) * dynamics_.calc_energy_scale(y, y + n_) +
                       2.0 * eps * (std::abs(c.kinetic_end) + std::abs(c.work_given) + std::abs(c.work_constraints));
  const LargeDynamics::Violation now = dynamics_.calc_violation(t_, y, y + n_);
  c.position_violation = std::max(c.position_violation, now.position),
  c.velocity_violation = std::max(c.velocity_violation, now.velocity);
  c.distance = std::max(c.distance, dynamics_.calc_distance(y, y + n_).largest);
  if (const double angle = angle_of(dynamics_.largest_growth); angle < c.smallest_angle)
    c.smallest_angle = angle, c.smallest_angle_at = t_;
  c.dependent_rows = std::max(c.dependent_rows, static_cast<int>(dynamics_.dependent_rows().size()));
}

void LargeMotion::state_at(double t, std::span<double> q, std::span<double> qd, bool project) {
  const double* from = rk_.y_new.data();
  if (step_h_ > 0.0 && t < step_end_) {
    const auto f = [this](double time, double* y, double* dy) { return rate_of(time, y, dy); };
    if (!dense_) dense_ = rk_.make_dense(f, step_t_, step_h_);
    if (dense_) {
      rk_.sample((t - step_t_) / step_h_, y_.data(), nullptr);
      if (project) dynamics_.project(t, y_.data(), y_.data() + n_);
      from = y_.data();
    }
  }
  std::copy(from, from + n_, q.begin());
  std::copy(from + n_, from + 2 * n_, qd.begin());
  std::copy(from + 2 * n_, from + rk_.size(), sampled_works_.begin());
}

void LargeMotion::sample(double t, std::span<double> q, std::span<double> qd) { state_at(t, q, qd, true); }

void LargeMotion::end_at(double t) {
  std::vector<double> q(n_), qd(n_), qdd(n_);
  state_at(t, q, qd, true);
  t_ = t, ended_ = true, end_works_ = sampled_works_;
  if (!dynamics_.accelerate(t, q.data(), qd.data(), qdd.data())) return;
  Certificate& c = certificate_;
  c.kinetic_end = dynamics_.calc_kinetic(qd.data());
  c.work_given = end_works_[0], c.work_constraints = end_works_[1];
  c.balance = c.kinetic_end - c.kinetic_start - c.work_given - c.work_constraints;
}

// Everything that the rest of the motion depends on, in one order for both ways.
template <class Do>
void LargeMotion::each_number(Do&& number) {
  number(t_), number(h_);
  for (double& x : rk_.y_new) number(x);
  Certificate& c = certificate_;
  number(c.steps), number(c.rejected), number(c.evaluations), number(c.projections), number(c.position_violation),
      number(c.velocity_violation), number(c.distance);
  number(c.kinetic_start), number(c.kinetic_end), number(c.work_given), number(c.work_constraints);
  number(c.balance), number(c.balance_largest), number(c.balance_allowed), number(c.dependent_rows);
  number(c.smallest_angle), number(c.smallest_angle_at), number(c.angle_at_start);
  number(dynamics_.evaluations), number(dynamics_.projections), number(dynamics_.largest_growth);
}

std::vector<double> LargeMotion::checkpoint() const {
  return write_checkpoint({checkpoint_version, static_cast<double>(rk_.size())},
                          [this](auto&& visit) { const_cast<LargeMotion*>(this)->each_number(visit); });
}

void LargeMotion::restore(std::span<const double> from) {
  read_checkpoint({checkpoint_version, static_cast<double>(rk_.size())}, from,
                  [this](auto&& visit) { each_number(visit); });
  message_.clear(), ended_ = false;
  step_t_ = t_, step_h_ = 0.0, dense_ = false;
  const long evaluations = dynamics_.evaluations, projections = dynamics_.projections;
  const double growth = dynamics_.largest_growth;
  if (!rate_of(t_, rk_.y_new.data(), rk_.k[12].data())) fail(dynamics_.why());
  dynamics_.evaluations = evaluations, dynamics_.projections = projections, dynamics_.largest_growth = growth;
}

}  // namespace mechanician
