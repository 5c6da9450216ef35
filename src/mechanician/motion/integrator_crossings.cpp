// Singular configurations of a step: whether branches meet there, when, and which constraints are involved.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
/// Singular vectors are followed where they are cheap.
constexpr std::size_t few_rows = 16;
}  // namespace

/// Whether branches meet where a crossing step passes. At a crossing the weak rows have no gradient, so after the strong
/// ones have been met what is left of them is a constant, up to the square of the error: zero if the branches meet.
bool SmoothMotion::is_true_crossing(double h, const StepPlan& plan) {
  split_time_ = std::numeric_limits<double>::quiet_NaN();
  for (const int j : dynamics_.rows_of_sines())
    if (const RowFacts& row = dynamics_.facts().rows[j]; row.level != Level::position || row.kind == RowKind::control)
      return true;
  if (!make_dense()) return true;
  if (dynamics_.rows_of_sines().size() > few_rows) return is_true_crossing_of_many(h, plan);
  const int n = dynamics_.n();
  double place = plan.at / h;
  CrossingPredictor::Spectrum s;
  if (!find_crossing(h, place, s, {})) return true;
  const double time = step_t_ + place * h;
  state_at(time, y_sample_.data(), nullptr);
  const Eigen::Index r = s.sigma.size();
  Eigen::Index strong = 0;
  while (strong < r && s.sigma(strong) > std::max(0.05 * s.sigma(0), 4.0 * s.sigma(r - 1))) ++strong;
  Eigen::VectorXd residual(r), units(n);
  dynamics_.factors().calc_units(dynamics_.matrices(), units.data());
  const double largest = 1.0 / units.minCoeff();
  double size = 1.0;
  for (int i = 0; i < n; ++i) size = std::max(size, std::abs(y_sample_[i]));
  for (int k = 0; k < 4; ++k) {
    if (!dynamics_.evaluate_rows(time, y_sample_.data(), y_sample_.data() + n)) return true;
    for (Eigen::Index j = 0; j < r; ++j) residual(j) = dynamics_.residual_of(dynamics_.rows_of_sines()[j]) * s.D(j);
    if (k == 3) break;
    Eigen::VectorXd step = Eigen::VectorXd::Zero(n);
    for (Eigen::Index i = 0; i < strong; ++i) step -= s.U.col(i) * (s.V.col(i).dot(residual) / s.sigma(i));
    dynamics_.factors().from_metric(step.data());
    for (int i = 0; i < n; ++i) y_sample_[i] += step(i);
  }
  double left = 0.0;
  for (Eigen::Index i = strong; i < r; ++i) left = std::max(left, std::abs(s.V.col(i).dot(residual)));
  const double error = options.tolerance * size;
  return left <= largest * (1e-11 * size + error * error);
}

/// The same with many rows: the weak ones are those with small sines.
bool SmoothMotion::is_true_crossing_of_many(double h, const StepPlan& plan) {
  const int n = dynamics_.n();
  const auto& rows = dynamics_.rows_of_sines();
  const double place = find_least_sine(h, plan.at / h, {}), time = step_t_ + place * h;
  state_at(time, y_sample_.data(), nullptr);
  CrossingPredictor::Split& s = split_;
  split_time_ = time;
  if (!predictor_.calc_split(time, y_sample_.data(), s)) return true;
  double size = 1.0, left = 0.0;
  const double largest = 1.0 / *std::min_element(s.units.begin(), s.units.end());
  for (int i = 0; i < n; ++i) size = std::max(size, std::abs(y_sample_[i]));
  for (int k = 0; k < 3; ++k)
    if (!predictor_.approach(time, y_sample_.data(), s)) return true;
  if (!dynamics_.evaluate_rows(time, y_sample_.data(), y_sample_.data() + n)) return true;
  for (const int j : s.weak) left = std::max(left, std::abs(dynamics_.residual_of(rows[j]) * s.D[j]));
  const double error = options.tolerance * size;
  return left <= largest * (1e-11 * size + error * error);
}

/// One event for each singular state of the step: what was foreseen as one group may be several, one after the other.
void SmoothMotion::report_crossings(double h, const StepPlan& plan, bool noise_limited) {
  if (plan.turning) split_time_ = std::numeric_limits<double>::quiet_NaN();
  crossing_reach_ = 0.13 * h;
  crossing_time_ = step_t_ + crossing_place * h;
  std::vector<double> places;
  for (const SingularRoot& root : roots_ahead_)
    if (root.tau < 0.75 * h && (places.empty() || root.tau / h - places.back() > 0.01)) places.push_back(root.tau / h);
  if (places.empty()) places.push_back(plan.at / h);
  bool any = false;
  for (const double place : places) any |= report_crossing(h, place, plan, noise_limited, {});
  if (!any) crossing_reach_ = 0.0;  // a near miss
  noise_limited_ += any && noise_limited;
}

bool SmoothMotion::report_crossing(double h, double place, const StepPlan& plan, bool noise_limited, const Near& near) {
  const int n = dynamics_.n();
  const bool many = dynamics_.rows_of_sines().size() > few_rows;
  CrossingPredictor::Spectrum s;
  CrossingPredictor::Split& split = split_;
  double relative = 0.0;
  if (many) {
    // Whether branches meet there has just been asked: then it is known where.
    const double known = (split_time_ - step_t_) / h;
    place = near.row < 0 && std::abs(place - known) < 0.01 ? known : find_least_sine(h, place, near);
    const double at = step_t_ + place * h;
    if (!(std::abs(at - split_time_) <= 1e-9 * h)) {
      state_at(at, y_sample_.data(), nullptr);
      split_time_ = at;
      if (!predictor_.calc_split(at, y_sample_.data(), split)) return false;
    }
    relative = split.weakest;
  } else {
    if (!find_crossing(h, place, s, near)) return false;
    relative = s.sigma(s.sigma.size() - 1) / std::max(1.0, s.sigma(0));
  }
  const double time = std::max(step_t_ + place * h, start.t);
  // A near miss is not a singular configuration.
  const double zero = std::max(1e-6, 100.0 * options.tolerance);
  if (relative > zero) return false;
  if (dynamics_.rows_of_sines().size() < dynamics_.all.candidates.size()) {
    // Rows that were left out may stand in for those that have become dependent: then the rank stays what it was.
    state_at(step_t_ + place * h, y_sample_.data(), nullptr);
    if (dynamics_.calc_weakest_of_all(step_t_ + place * h, y_sample_.data()) > 1e3 * zero) return false;
  }
  crossing_time_ = time;
  if (time > t) return true;  // beyond the end of the run
  for (auto e = events.rbegin(); e != events.rend() && e->time >= step_begin; ++e)
    if (e->kind == EventKind::singular &&
        std::abs(e->time - time) < std::clamp(10.0 * options.tolerance, 1e-5, 1e-2) * h)
      return true;
  MotionEvent event;
  event.time = time;
  event.kind = EventKind::singular;
  event.sigma = relative;
  event.turning = plan.turning;
  event.noise_limited = noise_limited;
  const std::size_t r = dynamics_.rows_of_sines().size();
  std::vector<double> involved(r, 0.0);
  if (many) {
    event.dimension = static_cast<int>(split.weak.size());
    state_at(step_t_ + place * h, y_sample_.data(), nullptr);
    involved = predictor_.calc_involved(step_t_ + place * h, y_sample_.data(), split);
  } else {
    for (Eigen::Index i = 0; i < s.sigma.size(); ++i)
      if (s.sigma(i) <= std::max(zero, 10.0 * relative) * std::max(1.0, s.sigma(0))) {
        ++event.dimension;
        for (std::size_t j = 0; j < r; ++j)
          involved[j] = std::max(involved[j], std::abs(s.V(static_cast<Eigen::Index>(j), i)));
      }
  }
  const double most = *std::max_element(involved.begin(), involved.end());
  for (std::size_t j = 0; j < r; ++j)
    if (involved[j] > 0.1 * most)
      event.constraints.push_back(dynamics_.values().row_name(dynamics_.rows_of_sines()[j]));
  // Several weak directions at once, drawn apart by the error of the step: one state.
  for (auto e = events.rbegin(); event.dimension > 1 && e != events.rend() && e->time >= step_begin; ++e)
    if (e->kind == EventKind::singular && e->dimension == event.dimension && e->constraints == event.constraints)
      return true;
  ++statistics_.crossings;
  state_at(event.time, y_sample_.data(), nullptr);
  event.q = Eigen::Map<const Eigen::VectorXd>(y_sample_.data(), n);
  event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y_sample_.data() + n, n);
  events.push_back(std::move(event));
  return true;
}

/// The zero of the weakest singular value on dense output, near `place`: its vectors are followed and make it signed.
bool SmoothMotion::find_crossing(double h, double& place, CrossingPredictor::Spectrum& s, const Near& near) {
  const auto at = [&](double theta) {
    state_at(step_t_ + theta * h, y_sample_.data(), nullptr);
    return y_sample_.data();
  };
  bool ok = true;
  for (int k = 0; k < 6 && ok; ++k) {
    ok = predictor_.calc_spectrum(step_t_ + place * h, at(place), s);
    if (!ok || s.sigma.size() == 0) break;
    const Eigen::Index weak = s.sigma.size() - 1;
    // On the zero itself the vectors are rounding and would lead away from it.
    if (s.sigma(weak) <= 1e-13 * s.sigma(0)) break;
    double left = 0.0, right = 0.0;
    const double width = (k == 0 ? 1.0 : 0.2) * near.width;
    ok = predictor_.calc_signed(step_t_ + (place - width) * h, at(place - width), s, weak, left) &&
         predictor_.calc_signed(step_t_ + (place + width) * h, at(place + width), s, weak, right);
    const double slope = (right - left) / (2.0 * width);
    if (!ok || slope == 0.0) break;
    const double move = std::clamp(-s.sigma(weak) / slope, -2.0 * near.width, 2.0 * near.width);
    place = std::clamp(place + move, near.low, near.high);
    if (std::abs(move) < 1e-12) break;
  }
  return ok && predictor_.calc_spectrum(step_t_ + place * h, at(place), s);
}

/// Where a sine is least on dense output, near `place`: its square is a parabola there.
double SmoothMotion::find_least_sine(double h, double place, const Near& near) {
  state_at(step_t_ + place * h, y_sample_.data(), nullptr);
  const auto here = dynamics_.calc_sines(step_t_ + place * h, y_sample_.data());
  if (here.empty()) return place;
  const std::size_t row = near.row >= 0
                              ? static_cast<std::size_t>(near.row)
                              : static_cast<std::size_t>(std::min_element(here.begin(), here.end()) - here.begin());
  constexpr double narrowest = 1e-4;
  double width = near.width;
  for (int k = 0; k < 8; ++k) {
    const double thetas[3] = {place - width, place, place + width};
    if (!calc_sines_along(h, thetas, false)) break;
    const auto squared = [&](std::size_t at) {
      return sines_along_[at * here.size() + row] * sines_along_[at * here.size() + row];
    };
    const double left = squared(0), middle = squared(1), right = squared(2), curve = 0.5 * (left + right) - middle;
    if (!(curve > 0.0)) break;
    const double move = std::clamp(0.25 * (left - right) / curve, -2.0, 2.0) * width;
    place = std::clamp(place + move, near.low, near.high);
    if (std::abs(move) > 0.3 * width) continue;
    if (width <= narrowest) break;  // nearer by, rounding decides
    width = std::max(0.1 * width, narrowest);
  }
  return place;
}

/// Sines at parts of the step, into sines_along_. `roughly`: on a cubic, which is good enough to see where to look, and costs
/// no evaluation.
bool SmoothMotion::calc_sines_along(double h, std::span<const double> thetas, bool roughly) {
  const std::size_t width = 2 * static_cast<std::size_t>(dynamics_.n());
  // Dense output writes works, too.
  along_t_.resize(thetas.size()),
      along_y_.resize(thetas.size() * width + static_cast<std::size_t>(dynamics_.num_works()));
  sines_along_.resize(thetas.size() * dynamics_.rows_of_sines().size());
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    along_t_[k] = step_t_ + thetas[k] * h;
    if (roughly)
      rough_state(thetas[k], along_y_.data() + k * width);
    else
      state_at(along_t_[k], along_y_.data() + k * width, nullptr);
  }
  return dynamics_.calc_sines_of(along_t_, along_y_.data(), sines_along_.data());
}

/// Singular states that the step has passed unforeseen: close behind another one, beside a switch, in a step of the
/// implicit method or in one that is long for the constraints. Every sine is looked at along the step.
void SmoothMotion::find_passed_crossings() {
  const std::size_t r = dynamics_.rows_of_sines().size();
  if (r == 0 || !(t > step_begin) || over) return;
  const double h = step_h_, end = std::min(1.0, (t - step_t_) / h), begin = std::max(0.0, (step_begin - step_t_) / h);
  const double turned = dynamics_.calc_turn(t, rk_.y_new.data());
  if (!last_was_crossing_ && !predictor_.is_worth_a_look(turned, dynamics_.calc_sines(t, rk_.y_new.data()))) return;
  // Twice as many looks until no row and no sine changes by much from one to the next.
  constexpr int most_pieces = 512;
  constexpr double much = 0.3;
  // Rows that have turned by little over a whole step of the explicit method have done so in its pieces.
  const bool turns_much = last_implicit_ || turned > 2.0 * much;
  int pieces = 8;
  for (bool fine = false; !fine; pieces *= 2) {
    thetas_.resize(static_cast<std::size_t>(pieces) + 1);
    for (int k = 0; k <= pieces; ++k) thetas_[k] = k == pieces ? end : begin + (end - begin) * k / pieces;
    // A cubic is good enough to see where to look; its end is the state itself.
    if (!calc_sines_along(h, thetas_, !last_was_crossing_ && !last_implicit_)) return;
    fine = true;
    for (int k = 0; k <= pieces; ++k) {
      if (turns_much) {
        const double turn = dynamics_.calc_turn(along_t_[k], along_y_.data() + k * 2 * dynamics_.n());
        fine &= k == 0 || turn < much;
      }
      if (k > 0)
        fine &= kernels::largest_change(std::ssize(dynamics_.rows_of_sines()), &sines_along_[(k - 1) * r],
                                        &sines_along_[k * r]) < much;
    }
    fine |= pieces >= most_pieces;
    if (fine) break;
  }
  const double width = (end - begin) / pieces;
  std::vector<double> looked_at;
  for (int k = 0; k <= pieces; ++k) {
    // Lowest of its neighbours, and within reach of zero at the speed it has. Right behind a zero, or before one, the neighbour
    // may lie as far on the other side: then it is the one after that tells the speed.
    const double* const here = &sines_along_[k * r];
    const double *const before = k > 0 ? here - r : here + r, *const after = k < pieces ? here + r : here - r;
    const double* const beyond = k == 0 ? here + 2 * r : k == pieces ? here - 2 * r : after;
    if (!kernels::any_may_vanish(std::ssize(dynamics_.rows_of_sines()), before, here, after, beyond)) continue;
    for (std::size_t j = 0; j < r; ++j) {
      const auto sine = [&](int at) { return sines_along_[at * r + j]; };
      if (!kernels::any_may_vanish(1, before + j, here + j, after + j, beyond + j)) continue;
      if (!last_implicit_ && !make_dense()) return;
      if (r <= few_rows) return find_passed_by_vectors(begin, end);
      // Where the parabola through the squares has its least value: inside the step, and near zero. Most rows share it with
      // one that was looked at.
      const int middle = std::clamp(k, 1, pieces - 1);
      const double l = sine(middle - 1) * sine(middle - 1), c = sine(middle) * sine(middle),
                   u = sine(middle + 1) * sine(middle + 1), curve = 0.5 * (l + u) - c;
      if (!(curve > 0.0)) continue;
      const double from_middle = 0.25 * (l - u) / curve, place = begin + width * (middle + from_middle);
      if (place < begin || place > end || c - curve * from_middle * from_middle > 0.1 * (l + u)) continue;
      bool known = false;
      for (const double other : looked_at) known |= std::abs(other - place) < 0.3 * width;
      for (auto e = events.rbegin(); e != events.rend() && e->time >= step_begin && !known; ++e)
        known = e->kind == EventKind::singular && std::abs(e->time - (step_t_ + place * h)) < 0.5 * width * h;
      if (known) continue;
      looked_at.push_back(place);
      report_crossing(h, place, StepPlan{}, false,
                      {.low = std::max(begin, place - 1.2 * width),
                       .high = std::min(end, place + 1.2 * width),
                       .width = 0.4 * width,
                       .row = static_cast<int>(j)});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const MotionEvent& a, const MotionEvent& b) { return a.time < b.time; });
}

/// The same with few rows, more sharply: Z(t) is looked at in the singular vectors of a state before. With every singular
/// value that passes zero one more eigenvalue of Uᵀ Z V is negative.
void SmoothMotion::find_passed_by_vectors(double begin, double end) {
  const double h = step_h_;
  const auto at = [&](double theta) {
    if (theta == end && !last_was_crossing_) return rk_.y_new.data();
    state_at(step_t_ + theta * h, y_sample_.data(), nullptr);
    return y_sample_.data();
  };
  constexpr int most_looks = 2000;
  constexpr double turned = 0.5;
  int looks = 0;
  struct Piece {
    double from, to;
  };
  std::vector<Piece> pieces;
  for (int k = 3; k >= 0; --k)
    pieces.push_back({begin + (end - begin) * k / 4, k == 3 ? end : begin + (end - begin) * (k + 1) / 4});
  while (!pieces.empty() && looks++ < most_looks) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    CrossingPredictor::Spectrum s;
    double from = piece.from;
    if (!predictor_.calc_spectrum(step_t_ + from * h, at(from), s)) return;
    // On the singular state itself the vectors say nothing: a little later they do.
    if (s.sigma(s.sigma.size() - 1) < 1e-6 * s.sigma(0)) {
      from += 1e-3 * (piece.to - piece.from);
      if (!predictor_.calc_spectrum(step_t_ + from * h, at(from), s)) return;
    }
    const double width = piece.to - piece.from, middle = 0.5 * (piece.from + piece.to);
    const double turned_half = predictor_.count_passed(step_t_ + middle * h, at(middle), s).turned;
    const auto passed = predictor_.count_passed(step_t_ + piece.to * h, at(piece.to), s);
    if (std::max(passed.turned, turned_half) > turned && width > 1e-3) {
      pieces.push_back({middle, piece.to}), pieces.push_back({piece.from, middle});
      continue;
    }
    // By bisection to each of them in turn.
    const double vectors_at = from;
    for (int found = 0; found < passed.count; ++found) {
      double low = from, high = piece.to;
      while (high - low > 1e-8 && looks++ < most_looks) {
        const double place = 0.5 * (low + high);
        (predictor_.count_passed(step_t_ + place * h, at(place), s).count > found ? high : low) = place;
      }
      report_crossing(h, 0.5 * (low + high), StepPlan{}, false,
                      {.low = low - 1e-4, .high = high + 1e-4, .width = 1e-5});
      if (!predictor_.calc_spectrum(step_t_ + vectors_at * h, at(vectors_at), s)) return;  // the metric of the vectors
      from = low;
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const MotionEvent& a, const MotionEvent& b) { return a.time < b.time; });
}

}  // namespace mechanician
