#include "mechanician/large/large_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr std::size_t most_events = 10'000;

std::vector<const FamilyQuantity*> whens(const FamilyModel& model) {
  std::vector<const FamilyQuantity*> result;
  for (const FamilyEvent& event : model.events) result.push_back(&event.when);
  return result;
}

}  // namespace

LargeEvents::LargeEvents(const FamilyModel& model)
    : model_(&model),
      when_(model, whens(model)),
      finder_(static_cast<int>(std::min(when_.size(), most_events))),
      names_(when_.names()) {
  if (when_.size() > most_events)
    throw ModelError({{model.events.front().when.term.place,
                       fmt::format("the model has {} events; {} are possible", when_.size(), most_events),
                       {}}},
                     model.source);
  sides_.assign(when_.size(), 0.0), noted_ = sides_;
}

void LargeEvents::evaluate(LargeMotion& motion, double t, std::span<double> values) {
  // Dense output is off the constraints by about the tolerance, and an event may be about just that.
  motion.state_at(t, q_, qd_, true);
  when_.evaluate(t, q_, qd_, {}, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) || noted_[i] != 0.0) continue;
    noted_[i] = 1.0;
    notes_.push_back(
        fmt::format("event `{}` has no value at t = {} and is not looked for there", names_[i], short_number(t)));
  }
}

void LargeEvents::begin(LargeMotion& motion) {
  q_.resize(static_cast<std::size_t>(motion.dynamics().system().n())), qd_.resize(q_.size());
  if (!empty()) evaluate(motion, motion.t(), sides_);
}

std::vector<LargeEvents::Found> LargeEvents::find(LargeMotion& motion) {
  if (empty()) return {};
  const double t0 = motion.step_begin(), t1 = motion.t();
  const std::size_t count = when_.size();
  const auto evaluate_at = [&](double time, std::span<double> values) { evaluate(motion, time, values); };
  // Far from zero for the little that they change: most steps end here.
  std::vector<double> low = sides_, high = sides_, now(count), noise(count);
  for (const double part : {0.31, 0.65, 1.0}) {
    evaluate_at(part == 1.0 ? t1 : t0 + part * (t1 - t0), now);
    for (std::size_t i = 0; i < count; ++i) low[i] = std::min(low[i], now[i]), high[i] = std::max(high[i], now[i]);
  }
  bool far = true;
  for (std::size_t i = 0; i < count; ++i)
    far &= std::min(std::abs(low[i]), std::abs(high[i])) > 3.0 * (high[i] - low[i]) && low[i] * high[i] > 0.0;
  if (far) {
    sides_ = now;
    return {};
  }
  // What rounding of the state does to them is no change of sign.
  for (std::size_t i = 0; i < q_.size(); ++i)
    q_[i] *= 1.0 + (i % 2 == 0 ? 8.0 : -8.0) * eps, qd_[i] *= 1.0 + (i % 3 == 0 ? 8.0 : -8.0) * eps;
  when_.evaluate(t1, q_, qd_, {}, noise);
  for (std::size_t i = 0; i < count; ++i) noise[i] = 4.0 * std::abs(noise[i] - now[i]);
  // A step may be long for the event though it is short for the motion: cut it until nothing more is found.
  std::vector<Root> roots;
  std::vector<double> side;
  for (int pieces = 1, last = -1, agreed = 0; pieces <= 243; pieces *= 3) {
    roots.clear();
    side = sides_;
    for (int k = 0; k < pieces; ++k) {
      const double from = t0 + (t1 - t0) * k / pieces, to = k + 1 == pieces ? t1 : t0 + (t1 - t0) * (k + 1) / pieces;
      if (!(to > from)) continue;
      const std::vector<double> begin = side;
      const auto found =
          finder_.find_all({.t0 = from, .t1 = to, .begin = begin, .floor = noise, .time_tolerance = 0.0}, evaluate_at);
      roots.insert(roots.end(), found.begin(), found.end());
      side.assign(finder_.end().begin(), finder_.end().end());
    }
    agreed = static_cast<int>(roots.size()) == last ? agreed + 1 : 0;
    if (agreed > 0 && (pieces >= 9 || roots.empty())) break;
    last = static_cast<int>(roots.size());
  }
  // A change of sign through infinity is no zero.
  std::vector<double> before(count), after(count);
  std::erase_if(roots, [&](const Root& root) {
    const auto i = static_cast<std::size_t>(root.function);
    evaluate_at(std::max(t0, root.t - 1e-7 * (t1 - t0)), before);
    evaluate_at(std::min(t1, root.t), after);
    return std::abs(after[i]) > 1e3 * std::abs(before[i]) && std::abs(after[i]) > 1e6 * noise[i];
  });
  sides_ = side;
  std::stable_sort(roots.begin(), roots.end(), [](const Root& a, const Root& b) { return a.t < b.t; });
  std::vector<Found> result;
  for (const Root& root : roots) {
    const auto i = static_cast<std::size_t>(root.function);
    const FamilyEvent& event = model_->events[when_.quantity_of(i)];
    if ((event.direction == EventDirection::up && root.direction < 0) ||
        (event.direction == EventDirection::down && root.direction > 0))
      continue;
    result.push_back({root.t, names_[i], event.action == EventAction::stop});
    if (result.back().stop) break;
  }
  return result;
}

}  // namespace mechanician
