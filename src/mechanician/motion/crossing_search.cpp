#include "mechanician/motion/crossing_search.hpp"

#include <algorithm>
#include <cmath>

#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
/// Singular vectors are followed where they are cheap.
constexpr std::size_t few_rows = 16;
}  // namespace

CrossingSearch::CrossingSearch(const MotionView& view) : predictor(view.dynamics), view_(view) {
  y_.assign(static_cast<std::size_t>(view.dynamics.size()), 0.0);
}

StepPlan CrossingSearch::plan(double h, double remaining) {
  const double t = view_.motion.t;
  const Dop853& rk = view_.step.rk;
  ahead_ = predictor.predict(t, rk.y.data(), rk.k[0].data() + view_.dynamics.n(), h);
  std::erase_if(ahead_, [&](const SingularRoot& root) { return t + root.tau < none_before_; });
  StepPlan made = plan_step(ahead_, h, remaining);
  if (!made.crossing) made.h = std::min(made.h, remaining);
  return made;
}

double CrossingSearch::to_next() const {
  return ahead_.empty() ? std::numeric_limits<double>::infinity() : ahead_.front().tau;
}

bool CrossingSearch::is_near(double h) const {
  return (to_next() < 12.0 * h && predictor.smallest() < 0.35) || view_.motion.t - last_ < 12.0 * h;
}

bool CrossingSearch::is_clear(double h) const {
  constexpr double far = 4.0;
  const double t = view_.motion.t;
  return !(t - last_ < far * h) && (ahead_.empty() || view_.step.t + ahead_.front().tau - t > far * h);
}

bool CrossingSearch::is_of_many() const { return view_.dynamics.rows_of_sines().size() > few_rows; }

const double* CrossingSearch::state_of(double theta) {
  view_.step.state_at(time_of(theta), y_.data(), nullptr);
  return y_.data();
}

/// What is left of the weak rows where branches meet.
bool CrossingSearch::is_small(double left, double largest) const {
  double size = 1.0;
  for (int i = 0; i < view_.dynamics.n(); ++i) size = std::max(size, std::abs(y_[i]));
  const double error = view_.motion.options.tolerance * size;
  return left <= largest * (1e-11 * size + error * error);
}

/// At a crossing the weak rows have no gradient, so after the strong ones have been met what is left of them is a constant,
/// up to the square of the error: zero if the branches meet.
bool CrossingSearch::is_true(const StepPlan& plan) {
  Dynamics& d = view_.dynamics;
  split_time_ = std::numeric_limits<double>::quiet_NaN();
  for (const int j : d.rows_of_sines())
    if (const RowFacts& row = d.facts().rows[j]; row.level != Level::position || row.kind == RowKind::control)
      return true;
  if (!view_.step.make_dense()) return true;
  if (is_of_many()) return is_true_of_many(plan);
  const int n = d.n();
  double place = plan.at / view_.step.h;
  CrossingPredictor::Spectrum s;
  if (!find_zero(place, s, {})) return true;
  const double time = time_of(place);
  state_of(place);
  const Eigen::Index r = s.sigma.size();
  Eigen::Index strong = 0;
  while (strong < r && s.sigma(strong) > std::max(0.05 * s.sigma(0), 4.0 * s.sigma(r - 1))) ++strong;
  Eigen::VectorXd residual(r), units(n);
  d.factors().calc_units(d.matrices(), units.data());
  for (int k = 0; k < 4; ++k) {
    if (!d.evaluate_rows(time, y_.data(), y_.data() + n)) return true;
    for (Eigen::Index j = 0; j < r; ++j) residual(j) = d.residual_of(d.rows_of_sines()[j]) * s.D(j);
    if (k == 3) break;
    Eigen::VectorXd newton = Eigen::VectorXd::Zero(n);
    for (Eigen::Index i = 0; i < strong; ++i) newton -= s.U.col(i) * (s.V.col(i).dot(residual) / s.sigma(i));
    d.factors().from_metric(newton.data());
    for (int i = 0; i < n; ++i) y_[i] += newton(i);
  }
  double left = 0.0;
  for (Eigen::Index i = strong; i < r; ++i) left = std::max(left, std::abs(s.V.col(i).dot(residual)));
  return is_small(left, 1.0 / units.minCoeff());
}

/// The same with many rows: the weak ones are those with small sines.
bool CrossingSearch::is_true_of_many(const StepPlan& plan) {
  Dynamics& d = view_.dynamics;
  const double place = find_least_sine(plan.at / view_.step.h, {}), time = time_of(place);
  state_of(place);
  split_time_ = time;
  if (!predictor.calc_split(time, y_.data(), split_)) return true;
  for (int k = 0; k < 3; ++k)
    if (!predictor.approach(time, y_.data(), split_)) return true;
  if (!d.evaluate_rows(time, y_.data(), y_.data() + d.n())) return true;
  double left = 0.0;
  for (const int j : split_.weak) left = std::max(left, std::abs(d.residual_of(d.rows_of_sines()[j]) * split_.D[j]));
  return is_small(left, 1.0 / *std::min_element(split_.units.begin(), split_.units.end()));
}

void CrossingSearch::report(const StepPlan& plan, bool is_noise_limited) {
  const double h = view_.step.h;
  last_ = view_.step.t + plan.at;
  if (plan.turning) split_time_ = std::numeric_limits<double>::quiet_NaN();
  reach_ = 0.13 * h;
  time_ = time_of(crossing_place);
  std::vector<double> places;
  for (const SingularRoot& root : ahead_)
    if (root.tau < 0.75 * h && (places.empty() || root.tau / h - places.back() > 0.01)) places.push_back(root.tau / h);
  if (places.empty()) places.push_back(plan.at / h);
  bool any = false;
  for (const double place : places) any |= report_one(place, plan.turning, is_noise_limited, {});
  if (!any) reach_ = 0.0;  // a near miss
  noise_limited += any && is_noise_limited;
}

bool CrossingSearch::locate(double place, const Near& near, Found& found) {
  if (!is_of_many()) {
    CrossingPredictor::Spectrum& s = found.spectrum;
    if (!find_zero(place, s, near)) return false;
    found.place = place, found.relative = s.sigma(s.sigma.size() - 1) / std::max(1.0, s.sigma(0));
    return true;
  }
  // Whether branches meet there has just been asked: then it is known where.
  const double known = (split_time_ - view_.step.t) / view_.step.h;
  found.place = near.row < 0 && std::abs(place - known) < 0.01 ? known : find_least_sine(place, near);
  const double at = time_of(found.place);
  if (!(std::abs(at - split_time_) <= 1e-9 * view_.step.h)) {
    split_time_ = at;
    if (!predictor.calc_split(at, state_of(found.place), split_)) return false;
  }
  found.relative = split_.weakest;
  return true;
}

/// For each row of sines how much it takes part; dimension: by how much the rank drops.
std::vector<double> CrossingSearch::calc_involved(const Found& found, double zero, int& dimension) {
  if (is_of_many()) {
    dimension = static_cast<int>(split_.weak.size());
    return predictor.calc_involved(time_of(found.place), state_of(found.place), split_);
  }
  const CrossingPredictor::Spectrum& s = found.spectrum;
  std::vector<double> involved(view_.dynamics.rows_of_sines().size(), 0.0);
  for (Eigen::Index i = 0; i < s.sigma.size(); ++i)
    if (s.sigma(i) <= std::max(zero, 10.0 * found.relative) * std::max(1.0, s.sigma(0))) {
      ++dimension;
      for (std::size_t j = 0; j < involved.size(); ++j)
        involved[j] = std::max(involved[j], std::abs(s.V(static_cast<Eigen::Index>(j), i)));
    }
  return involved;
}

bool CrossingSearch::report_one(double place, bool turning, bool is_noise_limited, const Near& near) {
  Dynamics& d = view_.dynamics;
  MotionSteps& motion = view_.motion;
  Found found;
  if (!locate(place, near, found)) return false;
  const double time = std::max(time_of(found.place), motion.start.t), tolerance = motion.options.tolerance;
  // A near miss is not a singular configuration.
  const double zero = std::max(1e-6, 100.0 * tolerance);
  if (found.relative > zero) return false;
  // Rows that were left out may stand in for those that have become dependent: then the rank stays what it was.
  if (d.rows_of_sines().size() < d.all.candidates.size() &&
      d.calc_weakest_of_all(time_of(found.place), state_of(found.place)) > 1e3 * zero)
    return false;
  time_ = time;
  if (time > motion.t) return true;  // beyond the end of the run
  const auto of_step = [&](const MotionEvent& e) { return e.kind == EventKind::singular; };
  for (auto e = motion.events.rbegin(); e != motion.events.rend() && e->time >= motion.step_begin; ++e)
    if (of_step(*e) && std::abs(e->time - time) < std::clamp(10.0 * tolerance, 1e-5, 1e-2) * view_.step.h) return true;
  MotionEvent event;
  event.time = time;
  event.kind = EventKind::singular;
  event.sigma = found.relative;
  event.turning = turning;
  event.noise_limited = is_noise_limited;
  const std::vector<double> involved = calc_involved(found, zero, event.dimension);
  const double most = *std::max_element(involved.begin(), involved.end());
  for (std::size_t j = 0; j < involved.size(); ++j)
    if (involved[j] > 0.1 * most) event.constraints.push_back(d.values().row_name(d.rows_of_sines()[j]));
  // Several weak directions at once, drawn apart by the error of the step: one state.
  for (auto e = motion.events.rbegin();
       event.dimension > 1 && e != motion.events.rend() && e->time >= motion.step_begin; ++e)
    if (of_step(*e) && e->dimension == event.dimension && e->constraints == event.constraints) return true;
  ++view_.statistics.crossings;
  view_.step.state_at(event.time, y_.data(), nullptr);
  event.q = Eigen::Map<const Eigen::VectorXd>(y_.data(), d.n());
  event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y_.data() + d.n(), d.n());
  motion.events.push_back(std::move(event));
  return true;
}

std::optional<CrossingSearch::Tip> CrossingSearch::find_tip() {
  constexpr double gone = 1e-3;
  Dynamics& d = view_.dynamics;
  const MotionSteps& motion = view_.motion;
  for (auto at = motion.events.rbegin(); at != motion.events.rend() && at->time >= motion.step_begin; ++at) {
    const MotionEvent& e = *at;
    if (e.kind != EventKind::singular || e.time > motion.t) continue;
    view_.step.state_at(e.time, y_.data(), nullptr);
    if (!d.evaluate_rows(e.time, y_.data(), y_.data() + d.n())) continue;
    for (const int j : d.velocities.candidates) {
      const RowFacts& row = d.facts().rows[static_cast<std::size_t>(j)];
      if (row.level != Level::velocity || row.linear || d.inert[static_cast<std::size_t>(j)]) continue;
      double squared = 0.0;
      d.each_entry(j, [&](int, double a) { squared += a * a; });
      if (std::sqrt(squared) <= gone * d.start_size(j)) return Tip{e.time, j};
    }
  }
  return {};
}

/// The zero of the weakest singular value on dense output, near `place`: its vectors are followed and make it signed.
bool CrossingSearch::find_zero(double& place, CrossingPredictor::Spectrum& s, const Near& near) {
  bool ok = true;
  for (int k = 0; k < 6 && ok; ++k) {
    ok = predictor.calc_spectrum(time_of(place), state_of(place), s);
    if (!ok || s.sigma.size() == 0) break;
    const Eigen::Index weak = s.sigma.size() - 1;
    // On the zero itself the vectors are rounding and would lead away from it.
    if (s.sigma(weak) <= 1e-13 * s.sigma(0)) break;
    double left = 0.0, right = 0.0;
    const double width = (k == 0 ? 1.0 : 0.2) * near.width;
    ok = predictor.calc_signed(time_of(place - width), state_of(place - width), s, weak, left) &&
         predictor.calc_signed(time_of(place + width), state_of(place + width), s, weak, right);
    const double slope = (right - left) / (2.0 * width);
    if (!ok || slope == 0.0) break;
    const double move = std::clamp(-s.sigma(weak) / slope, -2.0 * near.width, 2.0 * near.width);
    place = std::clamp(place + move, near.low, near.high);
    if (std::abs(move) < 1e-12) break;
  }
  return ok && predictor.calc_spectrum(time_of(place), state_of(place), s);
}

/// Where a sine is least on dense output, near `place`: its square is a parabola there.
double CrossingSearch::find_least_sine(double place, const Near& near) {
  const auto here = view_.dynamics.calc_sines(time_of(place), state_of(place));
  if (here.empty()) return place;
  const std::size_t row = near.row >= 0
                              ? static_cast<std::size_t>(near.row)
                              : static_cast<std::size_t>(std::min_element(here.begin(), here.end()) - here.begin());
  constexpr double narrowest = 1e-4;
  double width = near.width;
  for (int k = 0; k < 8; ++k) {
    const double thetas[3] = {place - width, place, place + width};
    if (!calc_sines_along(thetas, false, near_sines_)) break;
    const auto squared = [&](std::size_t at) {
      return near_sines_[at * here.size() + row] * near_sines_[at * here.size() + row];
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

/// Sines at parts of the step. `roughly`: on a cubic, which is good enough to see where to look, and costs no
/// evaluation.
bool CrossingSearch::calc_sines_along(std::span<const double> thetas, bool roughly, std::vector<double>& sines) {
  const Dynamics& d = view_.dynamics;
  const std::size_t width = 2 * static_cast<std::size_t>(d.n());
  // Dense output writes works, too.
  along_t_.resize(thetas.size()), along_y_.resize(thetas.size() * width + static_cast<std::size_t>(d.num_works()));
  sines.resize(thetas.size() * d.rows_of_sines().size());
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    along_t_[k] = time_of(thetas[k]);
    if (roughly)
      view_.step.rough_state(thetas[k], along_y_.data() + k * width);
    else
      view_.step.state_at(along_t_[k], along_y_.data() + k * width, nullptr);
  }
  return view_.dynamics.calc_sines_of(along_t_, along_y_.data(), sines.data());
}

void CrossingSearch::sort_events() {
  std::stable_sort(view_.motion.events.begin(), view_.motion.events.end(),
                   [](const MotionEvent& a, const MotionEvent& b) { return a.time < b.time; });
}

void CrossingSearch::find_passed() {
  Dynamics& d = view_.dynamics;
  const MotionSteps& motion = view_.motion;
  const LastStep& step = view_.step;
  if (d.rows_of_sines().empty() || !(motion.t > motion.step_begin) || motion.over) return;
  const double end = std::min(1.0, (motion.t - step.t) / step.h),
               begin = std::max(0.0, (motion.step_begin - step.t) / step.h);
  const double turned = d.calc_turn(motion.t, step.rk.y_new.data());
  if (!step.crossing && !predictor.is_worth_a_look(turned, d.calc_sines(motion.t, step.rk.y_new.data()))) return;
  if (const int pieces = look_along(begin, end, turned); pieces > 0) find_passed_by_sines(begin, end, pieces);
}

/// Sines along the step, in twice as many pieces until no row and no sine changes by much from one to the next; so many.
int CrossingSearch::look_along(double begin, double end, double turned) {
  constexpr int most_pieces = 512;
  constexpr double much = 0.3;
  Dynamics& d = view_.dynamics;
  const std::size_t r = d.rows_of_sines().size();
  // Rows that have turned by little over a whole step of the explicit method have done so in its pieces.
  const bool turns_much = view_.step.implicit || turned > 2.0 * much;
  for (int pieces = 8;; pieces *= 2) {
    thetas_.resize(static_cast<std::size_t>(pieces) + 1);
    for (int k = 0; k <= pieces; ++k) thetas_[k] = k == pieces ? end : begin + (end - begin) * k / pieces;
    // A cubic is good enough to see where to look; its end is the state itself.
    if (!calc_sines_along(thetas_, !view_.step.crossing && !view_.step.implicit, sines_)) return 0;
    bool fine = true;
    for (int k = 0; k <= pieces; ++k) {
      if (turns_much) {
        const double turn = d.calc_turn(along_t_[k], along_y_.data() + k * 2 * d.n());
        fine &= k == 0 || turn < much;
      }
      if (k > 0)
        fine &= kernels::largest_change(std::ssize(d.rows_of_sines()), &sines_[(k - 1) * r], &sines_[k * r]) < much;
    }
    if (fine || pieces >= most_pieces) return pieces;
  }
}

bool CrossingSearch::is_known(double place, double width, const std::vector<double>& looked_at) const {
  for (const double other : looked_at)
    if (std::abs(other - place) < 0.3 * width) return true;
  const std::vector<MotionEvent>& events = view_.motion.events;
  for (auto e = events.rbegin(); e != events.rend() && e->time >= view_.motion.step_begin; ++e)
    if (e->kind == EventKind::singular && std::abs(e->time - time_of(place)) < 0.5 * width * view_.step.h) return true;
  return false;
}

void CrossingSearch::find_passed_by_sines(double begin, double end, int pieces) {
  const std::size_t r = view_.dynamics.rows_of_sines().size();
  const double width = (end - begin) / pieces;
  std::vector<double> looked_at;
  for (int k = 0; k <= pieces; ++k) {
    // Lowest of its neighbours, and within reach of zero at the speed it has. Right behind a zero, or before one, the neighbour
    // may lie as far on the other side: then it is the one after that tells the speed.
    const double* const here = &sines_[k * r];
    const double *const before = k > 0 ? here - r : here + r, *const after = k < pieces ? here + r : here - r;
    const double* const beyond = k == 0 ? here + 2 * r : k == pieces ? here - 2 * r : after;
    if (!kernels::any_may_vanish(static_cast<std::ptrdiff_t>(r), before, here, after, beyond)) continue;
    for (std::size_t j = 0; j < r; ++j) {
      const auto sine = [&](int at) { return sines_[at * r + j]; };
      if (!kernels::any_may_vanish(1, before + j, here + j, after + j, beyond + j)) continue;
      if (!view_.step.make_dense()) return;
      if (!is_of_many()) return find_passed_by_vectors(begin, end);
      // Where the parabola through the squares has its least value: inside the step, and near zero. Most rows share it with
      // one that was looked at.
      const int middle = std::clamp(k, 1, pieces - 1);
      const double l = sine(middle - 1) * sine(middle - 1), c = sine(middle) * sine(middle),
                   u = sine(middle + 1) * sine(middle + 1), curve = 0.5 * (l + u) - c;
      if (!(curve > 0.0)) continue;
      const double from_middle = 0.25 * (l - u) / curve, place = begin + width * (middle + from_middle);
      if (place < begin || place > end || c - curve * from_middle * from_middle > 0.1 * (l + u)) continue;
      if (is_known(place, width, looked_at)) continue;
      looked_at.push_back(place);
      report_one(place, false, false,
                 {.low = std::max(begin, place - 1.2 * width),
                  .high = std::min(end, place + 1.2 * width),
                  .width = 0.4 * width,
                  .row = static_cast<int>(j)});
    }
  }
  sort_events();
}

/// The same with few rows, more sharply: Z(t) is looked at in the singular vectors of a state before. With every singular
/// value that passes zero one more eigenvalue of Uᵀ Z V is negative.
void CrossingSearch::find_passed_by_vectors(double begin, double end) {
  const auto at = [&](double theta) {
    return theta == end && !view_.step.crossing ? view_.step.rk.y_new.data() : state_of(theta);
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
    if (!predictor.calc_spectrum(time_of(from), at(from), s)) return;
    // On the singular state itself the vectors say nothing: a little later they do.
    if (s.sigma(s.sigma.size() - 1) < 1e-6 * s.sigma(0)) {
      from += 1e-3 * (piece.to - piece.from);
      if (!predictor.calc_spectrum(time_of(from), at(from), s)) return;
    }
    const double width = piece.to - piece.from, middle = 0.5 * (piece.from + piece.to);
    const double turned_half = predictor.count_passed(time_of(middle), at(middle), s).turned;
    const auto passed = predictor.count_passed(time_of(piece.to), at(piece.to), s);
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
        (predictor.count_passed(time_of(place), at(place), s).count > found ? high : low) = place;
      }
      report_one(0.5 * (low + high), false, false, {.low = low - 1e-4, .high = high + 1e-4, .width = 1e-5});
      if (!predictor.calc_spectrum(time_of(vectors_at), at(vectors_at), s)) return;  // the metric of the vectors
      from = low;
    }
  }
  sort_events();
}

}  // namespace mechanician
