// What is to be seen along a step: rows that come within reach of being dependent, and divisors that come near zero.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mechanician/ensemble/adaptive_pack.hpp"
#include "mechanician/ensemble/lane_kernels.hpp"
#include "mechanician/motion/step_box.hpp"

namespace mechanician {

double AdaptivePack::calc_turn(int l) const {
  const std::vector<int>& begin = code_->watched.row_begin;
  double turned = 0.0;
  for (std::size_t j = 0; j + 1 < begin.size(); ++j) {
    double change = 0.0, now = 0.0, before = 0.0;
    for (int e = begin[j]; e < begin[j + 1]; ++e) {
      const double a = of(seen_, WatchProgram::at_rows + e, l), b = of(A_, e, l);
      change += (a - b) * (a - b), now += a * a, before += b * b;
    }
    const double size = std::max(now, before);
    if (size > 0.0) turned = std::max(turned, change / size);
  }
  return std::sqrt(turned);
}

/// Sines along the step: where one of them comes within reach of zero, the single run looks closer.
void AdaptivePack::look_along() {
  constexpr double much = 0.5, within_reach = 0.3, fine = 0.3, speed_factor = 2.5;
  constexpr int most_pieces = 16;
  const int r = code_->num_rows;
  if (r == 0) return;
  int wanted = 0;
  for (int l = 0; l < L_; ++l) {
    pieces_[static_cast<std::size_t>(l)] = 0;
    if (!(of(h_, 0, l) > 0.0) || !(of(errors_, 0, l) <= 1.0) || !(of(good_, 0, l) > 0.0)) continue;
    const double turned = calc_turn(l),
                 near = std::min(calc_weakest(sines_.data(), l), calc_weakest(sines_new_.data(), l));
    if (!(turned > much || turned > within_reach * near)) continue;
    wanted = std::max(wanted, pieces_[static_cast<std::size_t>(l)] = turned > 1.2 ? 16 : turned > 0.6 ? 8 : 4);
  }
  const auto sines_at = [&](double theta, double* out) {
    for (int l = 0; l < L_; ++l)
      inputs_[static_cast<std::size_t>(l)] = lanes[static_cast<std::size_t>(l)].t + theta * of(h_, 0, l);
    lanes::between(2 * n_ * L_, L_, theta, h_.data(), y.data(), y_new_.data(), k_[0].data(), k_[12].data(),
                   inputs_.data() + L_);
    calc_sines(out);
  };
  bool ends_wanted = false;
  AlignedNumbers beside(2 * sines_.size());
  std::vector<std::pair<int, int>> at_ends;  // lane, row; row ≥ r: at the end
  for (int pieces = 4; pieces <= wanted && pieces <= most_pieces; pieces *= 2) {
    if (std::find(pieces_.begin(), pieces_.end(), pieces) == pieces_.end()) continue;
    const std::size_t width = sines_.size();
    std::copy(sines_.begin(), sines_.end(), look_.begin());
    for (int k = 1; k < pieces; ++k)
      sines_at(static_cast<double>(k) / pieces, look_.data() + static_cast<std::size_t>(k) * width);
    std::copy(sines_new_.begin(), sines_new_.end(),
              look_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(pieces) * width));
    for (int l = 0; l < L_; ++l) {
      if (pieces_[static_cast<std::size_t>(l)] != pieces) continue;
      const auto sine = [&](int k, int j) {
        return look_[static_cast<std::size_t>(k) * width + static_cast<std::size_t>(j * L_ + l)];
      };
      double change = 0.0;
      for (int k = 1; k <= pieces; ++k)
        for (int j = 0; j < r; ++j) change = std::max(change, std::abs(sine(k, j) - sine(k - 1, j)));
      Lane& lane = lanes[static_cast<std::size_t>(l)];
      if (!(change < fine)) {
        if (pieces == most_pieces)
          lane.fate = Fate::left;
        else
          wanted = std::max(wanted, pieces_[static_cast<std::size_t>(l)] = 2 * pieces);
        continue;
      }
      for (int j = 0; j < r; ++j) {
        double fastest = 0.0;
        for (int k = 1; k <= pieces; ++k) fastest = std::max(fastest, std::abs(sine(k, j) - sine(k - 1, j)));
        for (int k = 0; k <= pieces; ++k) {
          const double here = sine(k, j), before = k > 0 ? sine(k - 1, j) : here,
                       after = k < pieces ? sine(k + 1, j) : here;
          const bool lowest = (k == 0 || here < before) && (k == pieces || here <= after);
          // At the ends the difference to the next sample says little: a zero may lie between.
          const bool inside = k > 0 && k < pieces;
          const double falls = inside ? std::max(before - here, after - here) : fastest;
          if (!lowest || here > speed_factor * falls) continue;
          if (inside)
            lane.fate = Fate::left;
          else if (here < 0.1 * falls)
            lane.fate = Fate::left;
          else
            at_ends.emplace_back(l, k == 0 ? j : r + j), ends_wanted = true;
        }
      }
    }
  }
  if (!ends_wanted) return;
  // At the begin a sine that rises has nothing ahead; at the end one that still falls is for the next step to see.
  constexpr double a_little = 1.0 / 64.0;
  sines_at(a_little, beside.data());
  sines_at(1.0 - a_little, beside.data() + sines_.size());
  for (const auto& [l, j] : at_ends) {
    const bool end = j >= r;
    const int row = end ? j - r : j;
    const double
        here = of(end ? sines_new_ : sines_, row, l),
        next = beside[static_cast<std::size_t>(end ? 1 : 0) * sines_.size() + static_cast<std::size_t>(row * L_ + l)];
    if (next < here) lanes[static_cast<std::size_t>(l)].fate = Fate::left;
  }
}

/// Where a function goes through more turns than stages show, the single run looks closer (motion/narrow_watch.hpp).
void AdaptivePack::look_for_narrow(int l) {
  if (!code_->narrow.any()) return;
  const Tape& tape = code_->narrow_arguments;
  const double h = of(h_, 0, l), t = lanes[static_cast<std::size_t>(l)].t;
  box_.clear();
  box_.emplace_back(t, t + h);
  for (int i = 0; i < 2 * n_; ++i)
    box_.push_back(bound_step(h, of(y, i, l), of(y_new_, i, l), of(k_[0], i, l), of(k_[12], i, l)));
  for (int i = 0; i < num_parameters_; ++i) box_.emplace_back(of(parameters_, i, l));
  if (code_->narrow.vary_fast(box_room_.evaluate<Interval>(tape, box_)))
    lanes[static_cast<std::size_t>(l)].fate = Fate::left;
}

/// What stands below fraction lines, along the step.
void AdaptivePack::look_for_poles() {
  const int count = code_->watched.num_divisors;
  if (count == 0) return;
  constexpr double small = 0.2;
  for (int k = 0; k < 3; ++k) {
    const double theta = 0.25 * (k + 1);
    for (int l = 0; l < L_; ++l)
      inputs_[static_cast<std::size_t>(l)] = lanes[static_cast<std::size_t>(l)].t + theta * of(h_, 0, l);
    lanes::between(2 * n_ * L_, L_, theta, h_.data(), y.data(), y_new_.data(), k_[0].data(), k_[12].data(),
                   inputs_.data() + L_);
    code_->divisors(inputs_.data(), below_.data() + k * count * L_);
  }
  for (int l = 0; l < L_; ++l) {
    if (!(of(h_, 0, l) > 0.0) || !(of(errors_, 0, l) <= 1.0) || !(of(good_, 0, l) > 0.0)) continue;
    for (int i = 0; i < count; ++i) {
      const double v[] = {
          of(divisors_before_, i, l), of(divisors_, i, l),          of(below_, i, l),
          of(below_, count + i, l),   of(below_, 2 * count + i, l), of(seen_, code_->watched.at_divisors + i, l)};
      double largest = of(divisors_largest_, i, l);
      for (int k = 1; k < 6; ++k) largest = std::max(largest, std::abs(v[k]));
      bool near = false;
      for (int k = 1; k < 6; ++k) {
        if (k > 1) near |= !(v[k] * v[k - 1] > 0.0);
        const double here = std::abs(v[k]);
        if (k < 5 && here < small * largest && here < std::abs(v[k - 1]) && here <= std::abs(v[k + 1])) near = true;
      }
      if (near) lanes[static_cast<std::size_t>(l)].fate = Fate::left;
    }
  }
}

}  // namespace mechanician
