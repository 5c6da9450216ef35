#include "mechanician/ensemble/robust_step.hpp"

#include <algorithm>
#include <cmath>

namespace mechanician {

RobustStep::RobustStep(const System& system, std::vector<double> parameters)
    : system_(system.model(), std::move(parameters), System::Checked::already),
      dynamics_(system_),
      y_(static_cast<std::size_t>(dynamics_.size())),
      dy_(y_.size()),
      g_(dynamics_.switches().size()) {}

bool RobustStep::accelerate(double t, const double* x, double* dx) {
  const int size = 2 * dynamics_.n();
  std::copy_n(x, size, y_.begin());
  // Inner switches come first: a few rounds settle all of them.
  for (std::size_t round = 0; round <= g_.size() && !g_.empty(); ++round)
    if (!dynamics_.calc_switches(t, y_.data(), g_) || !update_sides(g_, dynamics_.sides())) break;
  if (!dynamics_.choose_rows(t, y_.data()) || !dynamics_.rhs_by_factors(t, y_.data(), dy_.data())) return false;
  // Rows that are left out have to hold by themselves: where they do not, the constraints contradict each other.
  if (dynamics_.last_mismatch() > 1e-6) return false;
  std::copy_n(dy_.begin(), size, dx);
  return std::all_of(dx, dx + size, [](double v) { return std::isfinite(v); });
}

bool RobustStep::advance(double t, double h, double* x) {
  const auto size = 2 * static_cast<std::size_t>(dynamics_.n());
  std::vector<double> k[4], stage(size);
  const double where[] = {0.0, 0.5, 0.5, 1.0};
  for (std::size_t s = 0; s < 4; ++s) {
    k[s].resize(size);
    for (std::size_t i = 0; i < size; ++i) stage[i] = s == 0 ? x[i] : x[i] + where[s] * h * k[s - 1][i];
    if (!accelerate(t + where[s] * h, stage.data(), k[s].data())) return false;
  }
  for (std::size_t i = 0; i < size; ++i) {
    stage[i] = x[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    if (!std::isfinite(stage[i])) return false;
  }
  std::copy(stage.begin(), stage.end(), x);
  return true;
}

}  // namespace mechanician
