// What ends the smooth part of a motion, or is looked for: zeros of switches, events and gaps along a step.
//
// Each function is sampled at the ends of the step and at three places in between. Of a piece between two samples its
// second differences tell how far the function can bend: where it cannot reach zero nothing happens, where it falls or
// rises through zero once that is one zero, and where it might be anything the single run looks closer.

#include <algorithm>
#include <cmath>

#include "mechanician/ensemble/adaptive_pack.hpp"
#include "mechanician/ensemble/lane_kernels.hpp"

namespace mechanician {

/// Inner switches come first, so a few rounds settle all that are away from zero.
void AdaptivePack::settle_sides(const std::vector<Entry>& entries) {
  const int count = code_->num_switches;
  for (int round = 0; round <= count && count > 0; ++round) {
    std::copy(parameters_.begin(), parameters_.end(), inputs_.begin() + (1 + 2 * n_) * L_);
    code_->guards(inputs_.data(), guards_.data());
    bool turned = false;
    for (int l = 0; l < L_; ++l) {
      if (entries[static_cast<std::size_t>(l)].handed) continue;
      for (int i = 0; i < count; ++i) {
        double& side = of(parameters_, num_varied_ + i, l);
        if (!(side * of(guards_, i, l) < 0.0)) continue;
        side = -side, turned = true;
      }
    }
    if (!turned) return;
  }
}

/// At a start nothing may be at zero, where it is not clear what comes: that is for the single run.
void AdaptivePack::begin_guards(const std::vector<Entry>& entries) {
  constexpr double clear_gap = 1e-6;
  if (!code_->guards) return;
  code_->guards(inputs_.data(), guards_.data());
  const int events = static_cast<int>(code_->events.size()), at_gaps = code_->num_switches + events;
  for (int l = 0; l < L_; ++l) {
    const HandedMotion* const handed = entries[static_cast<std::size_t>(l)].handed;
    bool clear = true;
    for (int i = 0; i < code_->num_switches; ++i) clear &= side_of(i, l) * of(guards_, i, l) > 0.0;
    for (int i = at_gaps; i < code_->num_guards(); ++i) clear &= of(guards_, i, l) > (handed ? 0.0 : clear_gap);
    if (!clear) of(good_, 0, l) = 0.0;
    for (int i = 0; handed && i < events; ++i)
      of(guards_, code_->num_switches + i, l) = handed->events[static_cast<std::size_t>(i)];
  }
}

void AdaptivePack::look_for_zeros() {
  if (!code_->guards) return;
  for (int k = 0; k < 3; ++k) {
    const double theta = 0.25 * (k + 1);
    for (int l = 0; l < L_; ++l)
      inputs_[static_cast<std::size_t>(l)] = lanes[static_cast<std::size_t>(l)].t + theta * of(h_, 0, l);
    lanes::between(2 * n_ * L_, L_, theta, h_.data(), y.data(), y_new_.data(), k_[0].data(), k_[12].data(),
                   inputs_.data() + L_);
    code_->guards(inputs_.data(), guards_along_.data() + k * code_->num_guards() * L_);
  }
  for (int l = 0; l < L_; ++l)
    if (of(h_, 0, l) > 0.0 && of(errors_, 0, l) <= 1.0 && of(good_, 0, l) > 0.0) look_for_zeros(l);
}

void AdaptivePack::look_for_zeros(int l) {
  constexpr int pieces = 4;
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  int& seen = events_seen_[static_cast<std::size_t>(l)] = 0;
  const int count = code_->num_guards(), at_events = code_->num_switches,
            at_gaps = at_events + static_cast<int>(code_->events.size());
  for (int i = 0; i < count; ++i) {
    const double v[pieces + 1] = {of(guards_, i, l), of(guards_along_, i, l), of(guards_along_, count + i, l),
                                  of(guards_along_, 2 * count + i, l), of(guards_new_, i, l)};
    double bend[pieces + 1] = {};
    for (int k = 1; k < pieces; ++k) bend[k] = 2.0 * std::abs(v[k + 1] - 2.0 * v[k] + v[k - 1]);
    for (int k = 0; k < pieces; ++k) {
      const double most = std::max(bend[k], bend[k + 1]), change = v[k + 1] - v[k];
      const bool one_way = std::abs(change) > 2.0 * most;
      if (v[k] * v[k + 1] > 0.0 && (one_way || std::min(std::abs(v[k]), std::abs(v[k + 1])) > most)) continue;
      // What is so small may be zero up to what is known of it: the single run tells.
      const double largest = *std::max_element(v, v + pieces + 1), least = *std::min_element(v, v + pieces + 1);
      const bool clear = std::max(largest, -least) > 1e3 * options_.tolerance;
      const bool passes = v[k] * v[k + 1] < 0.0 && one_way && clear;
      if (i < at_events || i >= at_gaps || !passes) {
        lane.fate = Fate::left;
        return;
      }
      const AdaptiveCode::LookedFor& event = code_->events[static_cast<std::size_t>(i - at_events)];
      if ((event.direction == EventDirection::up && change < 0.0) ||
          (event.direction == EventDirection::down && change > 0.0))
        continue;
      if (event.stops) {
        lane.fate = Fate::left;
        return;
      }
      ++seen;
    }
    // On the right side.
    const bool wrong = (i < at_events && side_of(i, l) * v[0] <= 0.0) || (i >= at_gaps && !(v[0] > 0.0));
    if (wrong) {
      lane.fate = Fate::left;
      return;
    }
  }
}

}  // namespace mechanician
