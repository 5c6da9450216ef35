// Motions along surfaces where expressions switch (Filippov 1988).
//
// Where the fields of both sides drive a motion to g = 0, it goes on along g = 0 with the mean of both that is tangent to it:
//
//     q̈ = (1 − α) q̈₁ + α q̈₂,   dg/dt = 0,   0 < α < 1
//
// With several surfaces at once there are as many fields as there are corners of a cube, and the mean is unique where each surface
// adds its own jump Δ_i to q̈, whatever the others do: q̈ = q̈₁ + Σ α_i Δ_i. dg/dt is linear in q̈, so that the α follow from
// Σ (∂g_j/∂q̇ · Δ_i) α_i = −dg_j/dt. Powers and multipliers are means with the same shares.
//
// Rates of states of first order jump themselves, as accelerations do: z' is the mean of the rates of both sides, whatever y has
// as its velocity.
//
// Of few surfaces the fields are evaluated one by one. Of many that would cost as many evaluations: where a side that lies in
// between, 1 − 2α, gives the mean (sign does; it is tried), one evaluation gives that of all, and Newton's method with the jumps
// of an earlier state the shares.

#include <algorithm>
#include <cmath>
#include <utility>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
constexpr std::size_t many_surfaces = 4;
}  // namespace

void Dynamics::set_surfaces(std::vector<Surface> surfaces) {
  surfaces_ = std::move(surfaces);
  between_ = false;
}

/// Sides of all surfaces in between, as the shares are; do something; sides as they were.
template <class Do>
bool Dynamics::with_sides_between(const VectorXd& shares, Do&& something) {
  const std::vector<double> kept = sides();
  for (std::size_t i = 0; i < surfaces_.size(); ++i)
    for (const int k : surfaces_[i].switches)
      sides()[static_cast<std::size_t>(k)] *= 1.0 - 2.0 * shares(static_cast<Index>(i));
  const bool done = something();
  sides() = kept;
  return done;
}

/// Jumps of all rates at surfaces that are new; those of others are of the state at which they were.
bool Dynamics::prepare_many(double t, const double* y, bool afresh) {
  if (afresh) jumps_by_switch_.clear();
  Corner base, turned, middle;
  const auto count = static_cast<Index>(surfaces_.size());
  surface_jumps_.resize(count, count);
  for (Index i = 0; i < count; ++i) {
    const Surface& s = surfaces_[static_cast<std::size_t>(i)];
    std::vector<double>& jump = jumps_by_switch_[s.switches.front()];
    // Turned from the other side, the jump has the other sign.
    const double side = sides()[static_cast<std::size_t>(s.switches.front())];
    if (jump.empty()) {
      if (base.dy.empty() && !calc_corner(t, y, false, base)) return false;
      turn(s);
      const bool found = calc_corner(t, y, false, turned);
      for (const int k : s.switches) sides()[static_cast<std::size_t>(k)] = 0.0;
      const bool halved = found && calc_corner(t, y, false, middle);
      for (const int k : s.switches) sides()[static_cast<std::size_t>(k)] = side;
      if (!halved) return false;
      double largest = 0.0, off = 0.0;
      for (std::size_t k = 0; k < base.qdd.size(); ++k) {
        largest = std::max({largest, std::abs(base.qdd[k]), std::abs(turned.qdd[k])});
        off = std::max(off, std::abs(base.qdd[k] + turned.qdd[k] - 2.0 * middle.qdd[k]));
      }
      if (off > 1e-9 * std::min(condition(), 1e4) * largest) return false;
      for (const StateRow& z : facts().states) {
        const auto k = static_cast<std::size_t>(z.coordinate);
        if (std::abs(base.dy[k] + turned.dy[k] - 2.0 * middle.dy[k]) >
            1e-9 * std::max(std::abs(base.dy[k]), std::abs(turned.dy[k])))
          return false;
      }
      jump.resize(base.rates.size());
      for (std::size_t k = 0; k < jump.size(); ++k) jump[k] = side * (turned.rates[k] - base.rates[k]);
    }
    for (Index j = 0; j < count; ++j)
      surface_jumps_(j, i) =
          side * jump[static_cast<std::size_t>(surfaces_[static_cast<std::size_t>(j)].switches.front())];
  }
  // Surfaces that do not act on each other need no elimination.
  const VectorXd own = surface_jumps_.diagonal();
  MatrixXd others = surface_jumps_;
  others.diagonal().setZero();
  surfaces_alone_ = others.cwiseAbs().maxCoeff() <= 1e-14 * own.cwiseAbs().minCoeff();
  if (!surfaces_alone_) surface_lu_.compute(surface_jumps_);
  between_ = surfaces_alone_ || surface_lu_.rcond() > 1e-12;
  return between_;
}

VectorXd Dynamics::solve_many(const VectorXd& right) const {
  if (surfaces_alone_) return right.cwiseQuotient(surface_jumps_.diagonal());
  return surface_lu_.solve(right);
}

/// Shares by Newton's method from those that are there; the last evaluation is that of the mean.
bool Dynamics::calc_shares_of_many(double t, const double* y, bool by_factors) {
  if (!between_ && !prepare_many(t, y, false)) return false;
  const auto count = static_cast<Index>(surfaces_.size());
  VectorXd shares(count), rates(count);
  for (Index i = 0; i < count; ++i) shares(i) = surfaces_[static_cast<std::size_t>(i)].share;
  corners_.resize(1);
  Corner& mean = corners_[0];
  const double size = surface_jumps_.cwiseAbs().maxCoeff();
  for (int round = 0; round < 16; ++round) {
    if (round == 8 && !prepare_many(t, y, true)) return false;
    if (!with_sides_between(shares, [&] { return calc_corner(t, y, by_factors, mean); })) return false;
    double off = 0.0, noise = 0.0;
    for (Index j = 0; j < count; ++j) {
      const auto g = static_cast<std::size_t>(surfaces_[static_cast<std::size_t>(j)].switches.front());
      rates(j) = mean.rates[g];
      off = std::max(off, std::abs(rates(j))), noise = std::max(noise, mean.noise[g]);
    }
    if (off <= noise + 1e-14 * size) {
      for (Index i = 0; i < count; ++i) surfaces_[static_cast<std::size_t>(i)].share = shares(i);
      return true;
    }
    shares -= solve_many(rates);
    if (!shares.allFinite()) return false;
  }
  return false;
}

void Dynamics::turn(const Surface& surface) {
  for (const int i : surface.switches) sides()[static_cast<std::size_t>(i)] *= -1.0;
}

/// f(t, y) on one corner: no surface turned, or one. What rhs_by_factors() leaves behind goes along with it.
bool Dynamics::calc_corner(double t, const double* y, bool by_factors, Corner& corner) {
  corner.dy.resize(static_cast<std::size_t>(size()));
  std::vector<double> with_rates;
  if (!facts().states.empty()) {
    with_rates.assign(y, y + size());
    y = with_rates.data();
    if (!set_state_rates(t, with_rates.data())) return false;
  }
  if (!(by_factors ? rhs_by_factors_aside(t, y, corner.dy.data()) : rhs_aside(t, y, corner.dy.data()))) return false;
  const std::size_t count = facts().switches.size();
  corner.rates.resize(count), corner.noise.resize(count);
  if (!calc_switch_rates(t, y, corner.dy.data(), corner.rates, corner.noise)) return false;
  corner.qdd = qdd_;
  if (by_factors) corner.lambda = lambda_, corner.full = full_, corner.joint = lambda_joint_;
  return true;
}

bool Dynamics::calc_corners(double t, const double* y, bool by_factors) {
  const std::size_t count = surfaces_.size();
  corners_.resize(count + 1);
  if (!calc_corner(t, y, by_factors, corners_[0])) return false;
  for (std::size_t i = 0; i < count; ++i) {
    turn(surfaces_[i]);
    const bool found = calc_corner(t, y, by_factors, corners_[i + 1]);
    turn(surfaces_[i]);
    if (!found) return false;
  }
  surface_jumps_.resize(static_cast<Index>(count), static_cast<Index>(count));
  for (std::size_t j = 0; j < count; ++j) {
    const int g = surfaces_[j].switches.front();
    for (std::size_t i = 0; i < count; ++i)
      surface_jumps_(static_cast<Index>(j), static_cast<Index>(i)) = corners_[i + 1].rates[g] - corners_[0].rates[g];
  }
  return true;
}

/// x with Σ jump_ji x_i = right_j. False where it is not unique.
bool Dynamics::solve_surfaces(const VectorXd& right, VectorXd& x) const {
  const Index count = surface_jumps_.rows();
  if (count == 1) {
    const double jump = surface_jumps_(0, 0);
    x = right / jump;
    return jump != 0.0 && std::isfinite(x(0));
  }
  const Eigen::PartialPivLU<MatrixXd> lu(surface_jumps_);
  x = lu.solve(right);
  return x.allFinite() && lu.rcond() > 1e-12;
}

bool Dynamics::calc_shares(double t, const double* y, bool by_factors) {
  if (surfaces_.size() > many_surfaces && calc_shares_of_many(t, y, by_factors)) return true;
  between_ = false;
  if (!calc_corners(t, y, by_factors)) return false;
  VectorXd right(static_cast<Index>(surfaces_.size())), x;
  for (std::size_t j = 0; j < surfaces_.size(); ++j)
    right(static_cast<Index>(j)) = -corners_[0].rates[surfaces_[j].switches.front()];
  if (!solve_surfaces(right, x)) return false;
  for (std::size_t j = 0; j < surfaces_.size(); ++j) surfaces_[j].share = x(static_cast<Index>(j));
  return true;
}

bool Dynamics::rhs_along(double t, const double* y, bool by_factors, double* dy) {
  if (!calc_shares(t, y, by_factors)) return false;
  if (between_) {
    std::copy(corners_[0].dy.begin(), corners_[0].dy.end(), dy);
    return true;
  }
  const auto mix = [&](std::vector<double> Corner::*part, double* mean) {
    const std::vector<double>& base = corners_[0].*part;
    std::copy(base.begin(), base.end(), mean);
    for (std::size_t i = 0; i < surfaces_.size(); ++i) {
      const std::vector<double>& turned = corners_[i + 1].*part;
      for (std::size_t k = 0; k < base.size(); ++k) mean[k] += surfaces_[i].share * (turned[k] - base[k]);
    }
  };
  mix(&Corner::dy, dy), mix(&Corner::qdd, qdd_.data());
  if (by_factors)
    mix(&Corner::lambda, lambda_.data()), mix(&Corner::full, full_.data()), mix(&Corner::joint, lambda_joint_.data());
  return true;
}

/// Velocities along the jump of the acceleration, states along that of their rates.
void Dynamics::move_along(double share, const Corner& from, const Corner& to, double* y) const {
  const auto jump = [&](int k) { return to.dy[static_cast<std::size_t>(k)] - from.dy[static_cast<std::size_t>(k)]; };
  for (int k = 0; k < n_; ++k)
    if (state_groups_.empty() || state_groups_[static_cast<std::size_t>(k)] < 0)
      y[n_ + k] += share * jump(n_ + k);
    else
      y[k] += share * jump(k);
}

bool Dynamics::hold_on_surfaces(double t, double* y) {
  if (surfaces_.empty()) return true;
  std::vector<double> g(facts().switches.size());
  if (surfaces_.size() > many_surfaces && calc_shares_of_many(t, y, false)) {
    if (!calc_switches(t, y, g)) return false;
    VectorXd right(static_cast<Index>(surfaces_.size()));
    for (std::size_t j = 0; j < surfaces_.size(); ++j)
      right(static_cast<Index>(j)) = -g[static_cast<std::size_t>(surfaces_[j].switches.front())];
    const VectorXd x = solve_many(right);
    const double most = x.cwiseAbs().maxCoeff();
    if (!(most > 0.0)) return most == 0.0;
    VectorXd shares(x.size());
    for (Index i = 0; i < x.size(); ++i) shares(i) = surfaces_[static_cast<std::size_t>(i)].share + x(i) / most;
    Corner moved;
    if (!with_sides_between(shares, [&] { return calc_corner(t, y, false, moved); })) return false;
    move_along(most, corners_[0], moved, y);
    return true;
  }
  for (int round = 0; round < 2; ++round) {
    if (!calc_corners(t, y, false) || !calc_switches(t, y, g)) return false;
    VectorXd right(static_cast<Index>(surfaces_.size())), x;
    for (std::size_t j = 0; j < surfaces_.size(); ++j)
      right(static_cast<Index>(j)) = -g[static_cast<std::size_t>(surfaces_[j].switches.front())];
    if (right.isZero(0.0)) break;
    if (!solve_surfaces(right, x)) return false;
    for (std::size_t i = 0; i < surfaces_.size(); ++i)
      move_along(x(static_cast<Index>(i)), corners_[0], corners_[i + 1], y);
  }
  return true;
}

/// With all surfaces turned the field is the one that the jumps add up to.
bool Dynamics::surfaces_add_up(double t, const double* y) {
  if (surfaces_.size() < 2 || between_) return true;
  if (!calc_corners(t, y, false)) return false;
  Corner far;
  for (const Surface& s : surfaces_) turn(s);
  const bool found = calc_corner(t, y, false, far);
  for (const Surface& s : surfaces_) turn(s);
  if (!found) return false;
  const double enough = 1e-9 * std::min(condition(), 1e4);
  const auto adds_up = [&](std::span<const int> which) {
    double largest = 0.0, off = 0.0;
    for (const int at : which) {
      const auto k = static_cast<std::size_t>(at);
      double sum = corners_[0].dy[k];
      for (std::size_t i = 0; i < surfaces_.size(); ++i) {
        const double jump = corners_[i + 1].dy[k] - corners_[0].dy[k];
        sum += jump, largest = std::max(largest, std::abs(jump));
      }
      largest = std::max(largest, std::abs(far.dy[k])), off = std::max(off, std::abs(sum - far.dy[k]));
    }
    return off <= enough * largest;
  };
  std::vector<int> accelerations;
  for (int k = 0; k < n_; ++k) {
    const bool is_state = !state_groups_.empty() && state_groups_[static_cast<std::size_t>(k)] >= 0;
    if (!is_state) accelerations.push_back(n_ + k);
    if (is_state && !adds_up({&k, 1})) return false;
  }
  return adds_up(accelerations);
}

std::optional<Sample> Dynamics::calc_reactions_along(double t, const double* y) {
  if (!calc_shares(t, y, false)) return std::nullopt;
  std::optional<Sample> mean;
  if (between_) {
    VectorXd shares(static_cast<Index>(surfaces_.size()));
    for (Index i = 0; i < shares.size(); ++i) shares(i) = surfaces_[static_cast<std::size_t>(i)].share;
    with_sides_between(shares, [&] {
      const std::vector<Surface> along = std::exchange(surfaces_, {});
      std::vector<double> with_rates(y, y + size());
      set_state_rates(t, with_rates.data());
      mean = calc_reactions(t, with_rates.data(), nullptr);
      surfaces_ = along;
      return true;
    });
    return mean;
  }
  const std::vector<Surface> along = std::move(surfaces_);
  surfaces_.clear();
  std::vector<double> with_rates(y, y + size());
  set_state_rates(t, with_rates.data());
  mean = calc_reactions(t, with_rates.data(), nullptr);
  const std::optional<Sample> base = mean;
  for (const Surface& s : along) {
    turn(s);
    set_state_rates(t, with_rates.data());
    const std::optional<Sample> turned = calc_reactions(t, with_rates.data(), nullptr);
    turn(s);
    if (!turned || !base) {
      mean.reset();
      break;
    }
    for (auto part : {&Sample::qd, &Sample::qdd, &Sample::Qc, &Sample::Qc_i, &Sample::Qc_ni, &Sample::Q_control,
                      &Sample::tau, &Sample::lambda, &Sample::multipliers, &Sample::power})
      (*mean).*part += s.share * ((*turned).*part - (*base).*part);
  }
  surfaces_ = along;
  return mean;
}

}  // namespace mechanician
