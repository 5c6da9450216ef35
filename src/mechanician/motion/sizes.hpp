#pragma once

/// Typical sizes of coordinates and velocities, found from the motion: errors, distances and what counts as rest are seen
/// against these, so that nothing is small or large by its number alone.
///
/// Coordinates of different kinds are compared by what they weigh: with u_i = 1/√M_ii, typically (compile/row_weights.hpp), the
/// squares of q̇_i/u_i are energies. A model that is written in other units of length, mass and time has the same steps
/// and the same verdict.
///
/// States of first order weigh nothing, and are of kinds of their own: each counts against its own size, members of a family also
/// against a part of the largest of them. They say nothing about coordinates.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace mechanician {

/// What the largest of all coordinates is like, in units; one motion, or one lane of several.
struct Reach {
  /// Of what has no size.
  static constexpr double tiny = 1e-290;

  double soon = 0.0;                  ///< the length of the last step; before the first a small part of the run
  double extent = tiny, speed = 0.0;  ///< largest |q_i|/u_i and |q̇_i|/u_i so far
  double free = 0.0;                  ///< √ of twice the energy that the first forces could give over the extent
  double fall = 0.0;  ///< largest √(|q̈_i| |q_i|)/u_i at the begin: what a motion from rest comes to over its own size
  double force = 0.0;  ///< largest |Q_i| u_i now, an acceleration: rounding of accelerations is a part of that

  void begin(double span) { *this = {.soon = 1e-3 * span}; }
  void set_force(double now, double energy) {
    force = now;
    if (free == 0.0) free = std::sqrt(2.0 * energy);
  }
  /// What a length and a speed count against where all is at rest, or at zero: what it may come to soon. `rate`: of an
  /// acceleration that is known.
  double length(double rate = 0.0) const {
    return std::max({extent, soon * speed, soon * soon * std::max(force, rate)});
  }
  /// What the error of a velocity counts against, a part of it: so that the first steps from rest are no more exact than
  /// all others.
  double swiftness(double h, double rate) const { return std::max({speed, fall, h * rate}); }
  double pace(double rate = 0.0) const { return std::max({speed, free, soon * std::max(force, rate)}); }

  template <class Do>
  void each_number(Do&& number) {
    for (double* x : {&soon, &extent, &speed, &free, &fall, &force}) number(*x);
  }
};

class Sizes {
 public:
  /// Of the largest there is, that counts where something is smaller.
  static constexpr double part = 0.1;
  /// The same of what rests.
  static constexpr double rest = 1e-3;

  /// `units`: u_i; `given`: typical sizes of coordinates that are known, 0 where not; may be empty. These count alone, but for states, which
  /// count against what they are where that is more. `span`: of the run.
  /// `groups`: by coordinate the family that a state belongs to, −1 of what is no state; empty: nothing is.
  void begin(std::span<const double> units, std::span<const double> given, double span,
             std::span<const int> groups = {}) {
    reach.begin(span);
    begin_states(groups);
    units_.assign(units.begin(), units.end()), given_.assign(given.begin(), given.end());
    for (auto* x : {&q, &qd, &near_q, &near_qd}) x->assign(units_.size(), Reach::tiny);
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (given_[i] > 0.0) {
        q[i] = given_[i];
        if (!is_state(i)) reach.extent = std::max(reach.extent, given_[i] / units_[i]);
      }
  }

  /// The motion has come to y, by a step h.
  void see(double h, const double* y) { reach.soon = h, see(y); }
  void see(const double* y) {
    const std::size_t n = units_.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_given(i)) q[i] = std::max(q[i], std::abs(y[i]));
      qd[i] = std::max(qd[i], std::abs(y[n + i]));
      if (is_state(i)) continue;
      reach.extent = std::max(reach.extent, q[i] / units_[i]);
      reach.speed = std::max(reach.speed, qd[i] / units_[i]);
    }
    const double length = reach.length(), pace = reach.pace();
    for (std::size_t i = 0; i < n; ++i) {
      near_q[i] = is_given(i) ? given_[i] : units_[i] * length;
      near_qd[i] = is_given(i) ? of_given_qd(i) : units_[i] * pace;
    }
    see_states();
  }
  /// Given forces there, in equilibrium or not.
  void set_forces(const double* Q) {
    double force = 0.0, energy = 0.0;
    for (std::size_t i = 0; i < units_.size(); ++i)
      force = std::max(force, std::abs(Q[i]) * units_[i]), energy += std::abs(Q[i]) * q[i];
    reach.set_force(force, energy);
  }

  /// Accelerations at the begin.
  void set_rates(const double* qdd) {
    for (const std::size_t i : states_)
      if (least_[i] == 0.0) least_[i] = reach.soon * (qd[i] + reach.soon * std::abs(qdd[i]));
    if (reach.fall > 0.0) return;
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (!is_state(i)) reach.fall = std::max(reach.fall, std::sqrt(std::abs(qdd[i]) * q[i]) / units_[i]);
  }

  /// What the error of a step counts against: own sizes; and, where the motion is mostly somewhere else, a part of the largest
  /// speed, in the units of this coordinate.
  double of_q(std::size_t i, double value, double h, double speed) const {
    // The size of a state may fall by powers of ten: what is given is the least that counts.
    if (is_state(i)) return is_given(i) ? std::max(given_[i], value) : of_state(i, value);
    return is_given(i) ? given_[i] : std::max({q[i], value, part * units_[i] * h * speed});
  }
  double of_qd(std::size_t i, double value, double speed) const {
    // What a rate is wrong by counts for what it adds to the state.
    if (is_state(i)) return std::max({qd[i], value, is_given(i) ? of_given_qd(i) : of_state(i, q[i]) / reach.soon});
    return std::max({qd[i], value, is_given(i) ? of_given_qd(i) : part * units_[i] * speed});
  }
  /// The same of a component of [q | q̇] by itself.
  double of(std::size_t i, double value) const {
    const std::size_t n = units_.size();
    return i < n ? of_q(i, std::abs(value), 0.0, 0.0) : of_qd(i - n, std::abs(value), reach.speed);
  }
  /// What is known of it counts against: also where it rests, and only rounding is left of its own size.
  double of_known(std::size_t i, double value) const {
    const std::size_t n = units_.size();
    if (is_state(i < n ? i : i - n)) return of(i, value);
    return std::max(of(i, value), rest * (i < n ? near_q[i] : near_qd[i - n]));  // no more where a size is given
  }
  /// The largest of all, of a vector of velocities or the like.
  double in_units(const double* v) const {
    double most = 0.0;
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (!is_state(i)) most = std::max(most, std::abs(v[i]) / units_[i]);
    return most;
  }
  double unit(std::size_t i) const { return units_[i]; }
  bool is_state(std::size_t i) const { return !groups_.empty() && groups_[i] >= 0; }

  Reach reach;
  std::vector<double> q, qd;            ///< the largest so far of each, or what was given
  std::vector<double> near_q, near_qd;  ///< u_i times the length and the pace: what is small against that is small

  template <class Do>
  void each_number(Do&& number) {
    for (auto* x : {&units_, &q, &qd, &near_q, &near_qd, &least_, &largest_})
      for (double& value : *x) number(value);
    reach.each_number(number);
  }

 private:
  static constexpr double nowhere_near = 1e290;
  /// Of states that belong to no family, which may be of any kind: the largest of them matters that little.
  static constexpr double part_of_others = 1e-12;

  void begin_states(std::span<const int> groups) {
    groups_.assign(groups.begin(), groups.end()), states_.clear(), least_.assign(groups_.size(), 0.0);
    std::vector<int> count;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i] < 0) continue;
      states_.push_back(i);
      count.resize(std::max(count.size(), static_cast<std::size_t>(groups_[i]) + 1), 0);
      ++count[static_cast<std::size_t>(groups_[i])];
    }
    // Those that are alone share the last place.
    for (const std::size_t i : states_)
      if (count[static_cast<std::size_t>(groups_[i])] == 1) groups_[i] = static_cast<int>(count.size());
    largest_.assign(states_.empty() ? 0 : count.size() + 1, 0.0);
  }
  void see_states() {
    for (const std::size_t i : states_) {
      double& largest = largest_[static_cast<std::size_t>(groups_[i])];
      largest = std::max({largest, q[i], least_[i]});
    }
    for (const std::size_t i : states_) {
      if (is_given(i)) continue;
      near_q[i] = of_state(i, 0.0);
      near_qd[i] = std::max(qd[i], near_q[i] / reach.soon);
      if (!(near_q[i] > Reach::tiny))
        near_q[i] = near_qd[i] = nowhere_near;  // still at zero: it cannot say what is small
    }
  }
  double of_state(std::size_t i, double value) const {
    const auto group = static_cast<std::size_t>(groups_[i]);
    const double share = group + 1 == largest_.size() ? part_of_others : part;
    return std::max({q[i], value, least_[i], share * largest_[group]});
  }

  bool is_given(std::size_t i) const { return !given_.empty() && given_[i] > 0.0; }
  /// What the size of a coordinate says of its velocity: that it is not passed through in a step.
  double of_given_qd(std::size_t i) const { return given_[i] / reach.soon; }

  std::vector<double> units_, given_;
  std::vector<int> groups_;          ///< as in begin(); empty: there are no states
  std::vector<std::size_t> states_;  ///< coordinates
  std::vector<double> least_;        ///< by coordinate: what a state that begins at zero may come to soon
  std::vector<double> largest_;      ///< by group
};

}  // namespace mechanician
