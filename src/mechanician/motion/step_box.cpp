#include "mechanician/motion/step_box.hpp"

namespace mechanician {

StateBox StepBox::at(const Interval& t, bool with_rates) const {
  return {t, box_.data(), box_.data() + n_, with_rates ? box_.data() + 2 * n_ : nullptr};
}

StateBox StepBox::make(const StateInStep& a, const StateInStep& m, const StateInStep& b, bool with_rates, double slack,
                       const Sizes* sizes) {
  box_.resize(3 * n_);
  const auto largest = [](double x, double y, double z) { return std::max({std::abs(x), std::abs(y), std::abs(z)}); };
  for (std::size_t i = 0; i < 2 * n_; ++i) {
    const double size = slack > 0.0 ? largest(a.y[i], m.y[i], b.y[i]) : 0.0;
    box_[i] = bound_between(a.y[i], m.y[i], b.y[i], slack * (sizes ? sizes->of(i, size) : size));
  }
  for (std::size_t i = n_; i < 2 * n_ && with_rates; ++i)
    box_[n_ + i] = bound_between(a.rate[i], m.rate[i], b.rate[i], slack * largest(a.rate[i], m.rate[i], b.rate[i]));
  return at({a.t, b.t}, with_rates);
}

StateBox StepBox::make(LastStep& step) {
  box_.resize(3 * n_);
  const Dop853& rk = step.rk;
  if (step.implicit) {
    begin_.set(step, step.t, false), middle_.set(step, step.t + 0.5 * step.h, false), end_.set(step, step.end(), false);
    return make(begin_, middle_, end_, false);
  }
  for (std::size_t i = 0; i < 2 * n_; ++i) box_[i] = bound_step(step.h, rk.y[i], rk.y_new[i], rk.k[0][i], rk.k[12][i]);
  return at({step.t, step.end()}, false);
}

}  // namespace mechanician
