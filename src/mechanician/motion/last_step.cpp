#include "mechanician/motion/last_step.hpp"

#include <algorithm>

namespace mechanician {

void LastStep::set(double begin, double length, const Kind& kind) {
  t = begin, h = length, dense_made_ = false;
  crossing = kind.crossing, held = kind.held, robust = kind.robust, implicit = kind.implicit;
}

bool LastStep::make_dense() {
  if (dense_made_ || implicit) return true;
  const auto f = [&](double time, double* y, double* dy) { return calc_stage(held, time, y, dy); };
  const bool preferred = dynamics_.prefer_robust;
  dynamics_.prefer_robust |= held && robust;
  const long evaluated = dynamics_.robust_evaluations;
  dense_made_ = rk.make_dense(f, t, h);
  dynamics_.robust_evaluations = evaluated;  // whoever asks for samples
  dynamics_.prefer_robust = preferred;
  return dense_made_;
}

void LastStep::rough_state(double theta, double* y) {
  if (implicit) return state_at(t + theta * h, y, nullptr);
  const double s = 1.0 - theta, h0 = (1.0 + 2.0 * theta) * s * s, h1 = theta * theta * (3.0 - 2.0 * theta),
               g0 = h * theta * s * s, g1 = -h * theta * theta * s;
  for (int i = 0; i < 2 * dynamics_.n(); ++i)
    y[i] = h0 * rk.y[i] + h1 * rk.y_new[i] + g0 * rk.k[0][i] + g1 * rk.k[12][i];
}

void LastStep::state_at(double time, double* y, double* rate) {
  if (implicit) {
    const auto size = static_cast<std::size_t>(dynamics_.size());
    const int n = dynamics_.n();
    bdf->interpolate(time, {y, size});
    if (rate) bdf->interpolate_rate(time, {rate, size});
    if (by_rates.empty()) return;
    slope_.resize(size);
    if (bdf->interpolate_rate(time, slope_))
      for (const int i : by_rates) y[n + i] = slope_[i];
    if (rate && bdf->interpolate_rate(time, slope_, 2))
      for (const int i : by_rates) rate[n + i] = slope_[i];
    return;
  }
  if (time == end() && !rate) {
    std::copy(rk.y_new.begin(), rk.y_new.end(), y);
    return;
  }
  make_dense();
  rk.sample((time - t) / h, y, rate);
  if (rate)
    for (int i = 0; i < dynamics_.size(); ++i) rate[i] /= h;
}

}  // namespace mechanician
