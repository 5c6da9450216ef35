#include "mechanician/motion/crossing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "mechanician/motion/rank_limits.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Sines that cannot come below this within reach, at several times the speed they have now, are left alone.
constexpr double far_enough = 0.05, speed_factor = 2.5;
constexpr int probes = 4;
/// Seen from afar: a minimum counts where the sine falls below this part of what it is now.
constexpr double must_fall_to = 0.5;
/// A root of (τ − x)² + y²: beyond this y/x it only comes near zero.
constexpr double turning_beyond = 0.1;

/// The minimum of the parabola through three equally spaced values of sin².
struct Parabola {
  double place;  ///< from the middle, in units of the spacing
  double least;  ///< value there
  double curve;  ///< half the second derivative
};
Parabola fit(double left, double middle, double right) {
  const double slope = 0.5 * (right - left), curve = 0.5 * (right + left) - middle;
  if (!(curve > 0.0)) return {std::numeric_limits<double>::infinity(), middle, 0.0};
  const double place = -0.5 * slope / curve;
  return {place, middle - curve * place * place, curve};
}
}  // namespace

CrossingPredictor::CrossingPredictor(Dynamics& dynamics)
    : dynamics_(&dynamics),
      before_(dynamics.all.candidates.size(), 1.0),
      now_(dynamics.all.candidates.size(), 1.0),
      t_before_(-std::numeric_limits<double>::infinity()),
      t_now_(-std::numeric_limits<double>::infinity()),
      ahead_(probes * dynamics.all.candidates.size(), 1.0),
      t_ahead_(probes),
      y_ahead_(probes * 2 * static_cast<std::size_t>(dynamics.n())) {}

/// Rows in the metric, scaled.
void CrossingPredictor::calc_columns(const VectorXd& D, MatrixXd& Z) const {
  const auto& rows = dynamics_->rows_of_sines();
  Z.resize(dynamics_->n(), static_cast<Index>(rows.size()));
  for (Index k = 0; k < Z.cols(); ++k) {
    dynamics_->copy_row(rows[k], Z.col(k).data());
    dynamics_->factors().to_metric(Z.col(k).data());
    if (D.size() > 0) Z.col(k) *= D(k);
  }
}

bool CrossingPredictor::calc_spectrum(double t, const double* y, Spectrum& s) {
  const int n = dynamics_->n();
  const auto r = static_cast<Index>(dynamics_->rows_of_sines().size());
  if (!dynamics_->evaluate_rows(t, y, y + n) || !dynamics_->factors().make_metric(dynamics_->matrices())) return false;
  MatrixXd& Z = s.Z;
  calc_columns({}, Z);
  s.D.resize(r);
  for (Index k = 0; k < r; ++k) {
    const double size = std::max(Z.col(k).norm(), std::sqrt(dynamics_->row_sizes()[k]));
    s.D(k) = size > 0.0 ? 1.0 / size : 0.0;
    Z.col(k) *= s.D(k);
  }
  auto [U, sigma, V] = calc_thin_svd(Z);
  s.U = std::move(U), s.sigma = std::move(sigma), s.V = std::move(V);
  return s.sigma.allFinite();
}

bool CrossingPredictor::calc_split(double t, const double* y, Split& s) {
  const int n = dynamics_->n();
  const auto& rows = dynamics_->rows_of_sines();
  const auto sines = dynamics_->calc_sines(t, y);
  if (sines.empty()) return false;
  s.weak.clear(), s.strong.kept.clear();
  s.weakest = 1.0;
  for (std::size_t k = 0; k < sines.size(); ++k) {
    if (sines[k] < rank_limits::weak)
      s.weak.push_back(static_cast<int>(k));
    else
      s.strong.kept.push_back(rows[k]);
    s.weakest = std::min(s.weakest, sines[k]);
  }
  s.strong.candidates = s.strong.kept;
  if (!dynamics_->evaluate_rows(t, y, y + n)) return false;
  s.units.resize(static_cast<std::size_t>(n)), s.x.resize(s.units.size()), s.D.resize(rows.size());
  s.right.assign(dynamics_->facts().rows.size(), 0.0), s.lambda = s.right;
  dynamics_->factors().calc_units(dynamics_->matrices(), s.units.data());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double squared = 0.0;
    dynamics_->each_entry(rows[k], [&](int c, double a) { squared += a * s.units[c] * a * s.units[c]; });
    const double size = std::sqrt(std::max(squared, dynamics_->row_sizes()[k]));
    s.D[k] = size > 0.0 ? 1.0 / size : 0.0;
  }
  return true;
}

bool CrossingPredictor::approach(double t, double* y, Split& s) {
  const int n = dynamics_->n();
  if (!dynamics_->evaluate_rows(t, y, y + n)) return false;
  for (const int j : s.strong.kept) s.right[static_cast<std::size_t>(j)] = -dynamics_->residual_of(j);
  KktFactors& factors = dynamics_->factors();
  if (!factors.factor(dynamics_->matrices(), s.strong, KktFactors::Mass::loose) ||
      !factors.solve(nullptr, s.right.data(), s.x.data(), nullptr))
    return false;
  for (int i = 0; i < n; ++i) y[i] += s.x[i];
  return true;
}

/// A weak row is made of the strong ones: a_w + A_strongᵀλ = what is left of it, next to nothing.
std::vector<double> CrossingPredictor::calc_involved(double t, const double* y, Split& s) {
  constexpr std::size_t most_alone = 16, sums = 6;
  const int n = dynamics_->n();
  const auto& rows = dynamics_->rows_of_sines();
  std::vector<double> involved(rows.size(), 0.0), force(static_cast<std::size_t>(n));
  for (const int w : s.weak) involved[w] = 1.0;
  if (s.strong.kept.empty() || !dynamics_->evaluate_rows(t, y, y + n)) return involved;
  KktFactors& factors = dynamics_->factors();
  if (!factors.factor(dynamics_->matrices(), s.strong, KktFactors::Mass::loose)) return involved;
  // One by one, or where there are many a few sums of all, with signs by chance: what takes part in one does so in most.
  const bool alone = s.weak.size() <= most_alone;
  std::uint64_t chance = 0x9E3779B97F4A7C15u;
  for (std::size_t k = 0; k < (alone ? s.weak.size() : sums); ++k) {
    std::fill(force.begin(), force.end(), 0.0);
    for (std::size_t i = 0; i < s.weak.size(); ++i) {
      if (alone && i != k) continue;
      chance = chance * 6364136223846793005u + 1442695040888963407u;
      const double factor = s.D[s.weak[i]] * (chance >> 63 ? 1.0 : -1.0);
      dynamics_->each_entry(rows[s.weak[i]], [&](int c, double a) { force[c] += factor * a; });
    }
    if (!factors.solve(force.data(), nullptr, s.x.data(), s.lambda.data())) return involved;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double part = s.D[i] > 0.0 ? std::abs(s.lambda[rows[i]]) / s.D[i] : 0.0;
      involved[i] = std::max(involved[i], alone ? part : std::min(part, 1.0));
    }
  }
  return involved;
}

bool CrossingPredictor::calc_signed(double t, const double* y, const Spectrum& s, Index weak, double& value) {
  const auto& kept = dynamics_->rows_of_sines();
  // The metric of the state where the vectors were taken is still there: evaluate_rows does not touch it.
  VectorXd u = s.U.col(weak);
  dynamics_->factors().from_metric(u.data());
  if (!dynamics_->evaluate_rows(t, y, y + dynamics_->n())) return false;
  value = 0.0;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const double factor = s.D(static_cast<Index>(k)) * s.V(static_cast<Index>(k), weak);
    dynamics_->each_entry(kept[k], [&](int c, double a) { value += factor * u(c) * a; });
  }
  return std::isfinite(value);
}

CrossingPredictor::Passed CrossingPredictor::count_passed(double t, const double* y, const Spectrum& s) {
  const Index r = s.sigma.size();
  if (!dynamics_->evaluate_rows(t, y, y + dynamics_->n())) return {};
  MatrixXd Z;
  calc_columns(s.D, Z);
  Passed passed;
  for (Index k = 0; k < r; ++k) {
    const double size = std::max(Z.col(k).norm(), s.Z.col(k).norm());
    if (size > 0.0) passed.turned = std::max(passed.turned, (Z.col(k) - s.Z.col(k)).norm() / size);
  }
  const MatrixXd S = s.U.transpose() * Z * s.V;
  // det S vanishes exactly where Z loses rank; each time one more eigenvalue passes zero.
  if (r == 1) {
    passed.count = S(0, 0) < 0.0;
  } else {
    const Eigen::EigenSolver<MatrixXd> eigen(S, false);
    for (Index k = 0; k < r; ++k) passed.count += eigen.eigenvalues()(k).real() < 0.0;
  }
  return passed;
}

bool CrossingPredictor::calc_ahead(double t, const double* y, const double* qdd, std::span<const double> taus) {
  const int n = dynamics_->n();
  for (std::size_t k = 0; k < taus.size(); ++k) {
    const double tau = taus[k];
    double* const ahead = y_ahead_.data() + k * 2 * static_cast<std::size_t>(n);
    t_ahead_[k] = t + tau;
    for (int i = 0; i < n; ++i) {
      ahead[i] = y[i] + tau * (y[n + i] + 0.5 * tau * qdd[i]);
      ahead[n + i] = y[n + i] + tau * qdd[i];
    }
  }
  return dynamics_->calc_sines_of({t_ahead_.data(), taus.size()}, y_ahead_.data(), ahead_.data());
}

void CrossingPredictor::forget() { t_before_ = t_now_ = -std::numeric_limits<double>::infinity(); }

bool CrossingPredictor::may_vanish(double t, double h) const {
  const double passed = t - t_before_;
  if (!(passed > 0.0) || !std::isfinite(passed)) return true;
  const double stretch = speed_factor * 1.4 * h / passed;
  for (std::size_t k = 0; k < dynamics_->rows_of_sines().size(); ++k)
    if (now_[k] - stretch * std::abs(before_[k] - now_[k]) < far_enough) return true;
  return false;
}

const std::vector<SingularRoot>& CrossingPredictor::predict(double t, const double* y, const double* qdd, double h) {
  roots_.clear();
  smallest_ = 1.0;
  const std::size_t r = dynamics_->rows_of_sines().size();
  if (r == 0) return roots_;
  const auto found = dynamics_->calc_sines(t, y);
  if (found.empty()) return roots_;
  if (t != t_now_) before_ = now_, t_before_ = t_now_, t_now_ = t;
  std::copy(found.begin(), found.end(), now_.begin());
  for (const double sine : found) smallest_ = std::min(smallest_, sine);
  if (!may_vanish(t, h)) return roots_;

  const double reach = 1.4 * h;
  std::array<double, probes> taus;
  for (int k = 0; k < probes; ++k) taus[k] = reach * (k + 1) / probes;
  if (!calc_ahead(t, y, qdd, taus)) return roots_;
  for (std::size_t j = 0; j < r; ++j) {
    const auto squared = [&](int k) {
      const double sine = k == 0 ? now_[j] : ahead_[(k - 1) * r + j];
      return sine * sine;
    };
    double x = -1.0, wide = 0.0, least = 0.0;
    for (int k = 1; k < probes; ++k) {
      if (squared(k) > squared(k - 1) || squared(k) > squared(k + 1)) {
        // Still falling at the end: where it leads to.
        if (k + 1 < probes || squared(probes) >= squared(probes - 1)) continue;
      }
      const Parabola p = fit(squared(k - 1), squared(k), squared(k + 1));
      if (!(p.curve > 0.0) || (k < probes - 1 && std::abs(p.place) > 1.0)) continue;
      x = k + p.place, least = std::max(p.least, 0.0), wide = std::sqrt(least / p.curve);
      break;
    }
    // A sine that is about to vanish between here and the first probe.
    if (x < 0.0 && squared(1) > squared(0)) {
      const Parabola p = fit(squared(0), squared(1), squared(2));
      if (p.curve > 0.0 && p.place > -1.0 && p.place < 0.0)
        x = 1.0 + p.place, least = std::max(p.least, 0.0), wide = std::sqrt(least / p.curve);
    }
    if (!(x > 0.0) || x > 48.0 || least > must_fall_to * must_fall_to * squared(0) || wide > 0.6 * x) continue;
    roots_.push_back({x * reach / probes, wide > turning_beyond * x, j});
  }
  const auto sort = [&] {
    std::sort(roots_.begin(), roots_.end(), [](const SingularRoot& a, const SingularRoot& b) { return a.tau < b.tau; });
  };
  sort();
  // What lies within the next step is looked at more closely; rows that go together are looked at together.
  constexpr double together = 0.02;
  for (std::size_t k = 0; k < roots_.size() && roots_[k].tau < 1.5 * h;) {
    const SingularRoot coarse = roots_[k];
    SingularRoot fine = coarse;
    refine(t, y, qdd, fine);
    for (; k < roots_.size() && roots_[k].tau <= (1.0 + together) * coarse.tau; ++k) {
      roots_[k].tau = fine.tau > 0.0 ? roots_[k].tau * (fine.tau / coarse.tau) : -1.0;
      roots_[k].turning = fine.turning;
    }
  }
  std::erase_if(roots_, [](const SingularRoot& root) { return !(root.tau > 0.0); });
  sort();
  return roots_;
}

void CrossingPredictor::refine(double t, const double* y, const double* qdd, SingularRoot& root) {
  const std::size_t row = root.row, r = dynamics_->rows_of_sines().size();
  double part = 0.25;
  for (int round = 0; round < 4; ++round, part = std::max(0.25 * part, 0.02)) {
    const double width = part * root.tau;
    const double taus[3] = {root.tau - width, root.tau, root.tau + width};
    if (!calc_ahead(t, y, qdd, taus)) return;
    double squared[3];
    for (std::size_t k = 0; k < 3; ++k) squared[k] = ahead_[k * r + row] * ahead_[k * r + row];
    const Parabola p = fit(squared[0], squared[1], squared[2]);
    if (!(p.curve > 0.0)) return;
    const double move = std::clamp(p.place, -2.0, 2.0) * width;
    root.tau += move;
    const double wide = std::sqrt(std::max(p.least, 0.0) / p.curve) * width;
    root.turning = wide > turning_beyond * root.tau;
    // It does not fall after all.
    if (std::max(p.least, 0.0) > must_fall_to * must_fall_to * now_[row] * now_[row]) {
      root.tau = -1.0;
      return;
    }
    if (!(root.tau > 0.0) || std::abs(move) < 1e-3 * root.tau) return;
  }
}

bool CrossingPredictor::is_worth_a_look(double turned, std::span<const double> end) const {
  constexpr double much = 0.5, within_reach = 0.3;
  double near = 1.0;
  for (std::size_t k = 0; k < end.size(); ++k) near = std::min({near, now_[k], end[k]});
  return turned > much || turned > within_reach * near;
}

StepPlan plan_step(const std::vector<SingularRoot>& roots, double h, double remaining) {
  StepPlan plan{.h = h};
  if (roots.empty() || roots.front().tau >= 1.35 * h) return plan;
  const double first = roots.front().tau, together = 0.1 * std::min(h, first / crossing_place);
  // A group: each root near the one before.
  double last = first, next = std::numeric_limits<double>::infinity();
  plan.turning = true;
  for (const SingularRoot& root : roots) {
    if (root.tau <= last + together) {
      last = root.tau;
      plan.turning &= root.turning;
    } else {
      next = std::min(next, root.tau);
    }
  }
  // Seen from afar one singular state with several weak directions is blurred: nearer by, it is sharp.
  if (last - first > together && first > 0.2 * h) return {.h = std::min({h, 0.6 * first, remaining})};
  const double middle = 0.5 * (first + last);
  // The end of the run comes well before the singular state: nothing to cross.
  if (remaining < 0.8 * first) return {.h = std::min(h, remaining)};
  const double room = std::min(h, 1.277 * (next - middle));
  plan.at = middle;
  if (middle / crossing_place <= 1.02 * room) {
    plan.h = middle / crossing_place, plan.crossing = true;
    return plan;
  }
  const double before = middle - crossing_place * 0.85 * room;
  if (before > 0.0) {
    plan.h = std::min(h, before);
    plan.at = 0.0, plan.turning = false;
  } else {
    plan.h = std::min(h, middle / crossing_place), plan.crossing = true;
    plan.at = crossing_place * plan.h;
  }
  return plan;
}

}  // namespace mechanician
