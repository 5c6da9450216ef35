#include "mechanician/analysis/floquet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/ensemble/random.hpp"
#include "mechanician/motion/acceleration_derivatives.hpp"
#include "mechanician/motion/dop853.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
/// By how much, in parts of what is largest, A and ẋ may differ after a period that is one.
constexpr double periodic = 1e-5;
/// Entries of X count as at least this part of the largest one where errors of steps are measured.
constexpr double least_entry = 1e-3;
/// Uncertainty over errors of X from which on a multiplier is one that meets others, and changes of X that are tried.
constexpr double ill_conditioned = 300.0;
constexpr std::uint64_t num_changes = 6;
constexpr Index most_tried = 200;  ///< states up to which they are

/// Steps of the variation within one of the motion: where more are needed derivatives have no bound, as at singular configurations.
constexpr long most_in_a_step = 2000;

/// The derivatives of the motion at one of its states.
class Variation {
 public:
  Variation(const System& system, int columns)
      : dynamics_(system), derivatives_(dynamics_), n_(system.n()), columns_(columns) {}

  bool is_known() const { return AccelerationDerivatives::are_known(dynamics_); }
  const Dynamics& dynamics() const { return dynamics_; }
  /// X: columns of (δq, δq̇).
  bool rates(const Sample& at, const double* X, double* dX) {
    y_.assign(static_cast<std::size_t>(dynamics_.size()), 0.0);
    std::copy(at.q.begin(), at.q.end(), y_.begin());
    std::copy(at.qd.begin(), at.qd.end(), y_.begin() + n_);
    dynamics_.take_sides(at.t, y_.data());
    if (!dynamics_.choose_rows(at.t, y_.data())) return false;
    if (!derivatives_.linearise(at.t, y_, {}) || !derivatives_.factor(0.0)) return false;
    for (int c = 0; c < columns_; ++c, X += 2 * n_, dX += 2 * n_) {
      std::copy_n(X + n_, n_, dX);
      derivatives_.apply(X, X + n_, dX + n_);
    }
    return true;
  }

 private:
  Dynamics dynamics_;
  AccelerationDerivatives derivatives_;
  int n_, columns_;
  std::vector<double> y_;
};

/// Steps of the variation inside the last step of the motion.
class VariationSteps {
 public:
  VariationSteps(int size, double tolerance) : step_(size), tolerance_(tolerance), e5_(size), e3_(size) {}
  std::vector<double>& X() { return step_.y; }

  template <class F>
  bool go(F&& rates, double t, double end) {
    if (h_ == 0.0) h_ = end - t;
    for (long tried = 0; t < end; ++tried) {
      if (tried == most_in_a_step) return false;
      const double planned = h_;
      double h = std::min(h_, end - t);
      if (step_control::is_nothing(h, t, end - t) && h < end - t) return false;
      if (!rates(t, step_.y.data(), step_.k[0].data())) return false;
      double error = 0.0;
      const auto f = [&](double s, double* x, double* dx) { return rates(std::min(s, end), x, dx); };
      if (!step_.make_stages(f, t, h)) return false;
      const int size = step_.size();
      step_.calc_errors(h, size, e5_.data(), e3_.data());
      double five = 0.0, three = 0.0, largest = 0.0;
      for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(step_.y_new[static_cast<std::size_t>(i)]));
      for (int i = 0; i < size; ++i) {
        const double scale = tolerance_ * (std::abs(step_.y_new[static_cast<std::size_t>(i)]) + least_entry * largest);
        five = std::max(five, std::abs(e5_[static_cast<std::size_t>(i)]) / scale);
        three = std::max(three, std::abs(e3_[static_cast<std::size_t>(i)]) / scale);
      }
      error = step_control::error_norm(five, three);
      if (!(error <= 1.0)) {
        h_ = h * step_control::shrinkage(error);
        if (++rejected_ > 100000) return false;
        continue;
      }
      step_.y.swap(step_.y_new);
      t = h >= end - t ? end : t + h;
      h_ = step_control::next_step(h, planned, h * step_control::growth(error));
    }
    return true;
  }

 private:
  Dop853 step_;
  double tolerance_, h_ = 0.0;
  long rejected_ = 0;
  std::vector<double> e5_, e3_;
};

/// Which multipliers meet others, as far as changes of X within its errors tell. Uncertainties become what these do, where that is more.
std::vector<char> find_meeting(const Eigen::MatrixXd& X, const Eigen::MatrixXd& noise, Spectrum& multipliers,
                               double tolerance) {
  auto& values = multipliers.eigenvalues;
  const Index s = X.rows();
  for (std::uint64_t k = 0; s <= most_tried && k < num_changes; ++k) {
    Eigen::MatrixXd changed = X;
    for (Index j = 0; j < s; ++j)
      for (Index i = 0; i < s; ++i) {
        const bool up = random_bits(11, k, static_cast<std::uint32_t>(s * j + i), RandomUse::value) & 1u;
        changed(i, j) += up ? noise(i, j) : -noise(i, j);
      }
    const Eigen::VectorXcd others = Eigen::EigenSolver<Eigen::MatrixXd>(changed, false).eigenvalues();
    for (Eigenvalue& e : values) e.uncertainty = std::max(e.uncertainty, (others.array() - e.value).abs().minCoeff());
  }
  std::vector<char> meets(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].uncertainty <= ill_conditioned * 10.0 * tolerance * std::max(1.0, std::abs(values[i].value)))
      continue;
    for (std::size_t j = 0; j < values.size(); ++j)
      meets[i] |= j != i && std::abs(values[i].value - values[j].value) <=
                                2.0 * std::max(values[i].uncertainty, values[j].uncertainty);
  }
  return meets;
}

/// What of a motion a variation cannot follow: velocities or accelerations that jump.
std::string find_jump(const Integrator& motion, const Dynamics& dynamics, double until) {
  for (const MotionEvent& e : motion.events()) {
    if (e.kind == EventKind::user || e.time > until) continue;
    return fmt::format("{} at t = {}{}", name_of(e.kind), short_number(e.time),
                       e.name.empty() ? "" : fmt::format(" ({})", e.name));
  }
  if (motion.statistics().switches > 0)
    for (const SwitchFacts& s : dynamics.switches())
      if (s.is_discontinuous) return fmt::format("{} switches", s.text);
  return {};
}

}  // namespace

double Floquet::largest() const {
  double most = 0.0;
  for (const Eigenvalue& e : multipliers.eigenvalues) most = std::max(most, std::abs(e.value));
  return most;
}

Floquet::Verdict Floquet::verdict() const {
  Verdict verdict = Verdict::stable;
  for (std::size_t k = 0; k < multipliers.eigenvalues.size(); ++k) {
    const Eigenvalue& e = multipliers.eigenvalues[k];
    if (std::abs(e.value) > 1.0 + e.uncertainty) return Verdict::unstable;
    if (meets[k] && std::abs(e.value) >= 1.0 - e.uncertainty) verdict = Verdict::undecided;
  }
  return verdict;
}

Floquet find_multipliers(Lineariser& lineariser, const State& start, const FloquetOptions& options) {
  Floquet found;
  found.period = options.period;
  const System& system = lineariser.system();
  const auto refuse = [&](std::string text, Place place = {}) {
    found.refusal = std::move(text), found.place = place;
    return found;
  };
  if (system.has_contacts())
    return refuse(
        "multipliers of motions with contacts: what impacts and changes of contact do to deviations is not known here");
  found.begin = lineariser.at(start);
  if (!found.begin.refusal.empty()) return refuse(found.begin.refusal, found.begin.place);
  const Linearisation& begin = found.begin;
  const Index s = begin.A.rows(), n = system.n();
  if (s == 0)
    return refuse(
        "nothing can deviate: the constraints determine the motion wholly, so that there are no multipliers; "
        "it is as periodic as what drives it");
  Variation variation(system, static_cast<int>(s));
  if (!variation.is_known())
    return refuse(
        "multipliers where C depends on reactions or measured constraints are weighed: derivatives along the motion "
        "are not known");

  Integrator motion(system, begin.state,
                    {.to = begin.state.t + options.period,
                     .tolerance = options.tolerance,
                     .method = options.method,
                     .scale = options.scale});
  if (motion.refusal()) return refuse(motion.refusal()->message, motion.refusal()->place);
  VariationSteps steps(static_cast<int>(2 * n * s), options.tolerance);
  for (Index c = 0; c < s; ++c) {
    std::copy_n(begin.q.col(c).data(), n, steps.X().data() + 2 * n * c);
    std::copy_n(begin.qd.col(c).data(), n, steps.X().data() + 2 * n * c + n);
  }
  std::vector<double> largest(steps.X().size());  // of X on the way
  const auto see = [&] {
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], std::abs(steps.X()[i]));
  };
  see();
  double f_size[2] = {};  // largest velocity and acceleration of states on the way
  while (motion.advance()) {
    const Sample now = motion.sample(motion.t());
    for (const int i : begin.positions) f_size[0] = std::max(f_size[0], std::abs(now.qd(i)));
    for (const int i : begin.velocities) f_size[1] = std::max(f_size[1], std::abs(now.qdd(i)));
    const auto rates = [&](double t, const double* X, double* dX) { return variation.rates(motion.sample(t), X, dX); };
    if (!steps.go(rates, motion.step_begin(), motion.t()))
      return refuse(fmt::format(
          "at t = {}: derivatives of the motion by its state have no value, or no bound as next to singular "
          "configurations",
          short_number(motion.t())));
    see();
    if (const std::string jump = find_jump(motion, variation.dynamics(), motion.t()); !jump.empty())
      return refuse(fmt::format(
          "{}: what such a jump does to deviations is not known here; multipliers are of smooth motions", jump));
  }
  if (motion.stop().failed()) {
    found.stopped = true;
    return refuse(motion.stop().message, motion.stop().place);
  }

  // In the same states as at the begin.
  LineariseOptions same;
  for (const int i : begin.positions) same.states.push_back(system.coordinate(i));
  const Sample last = motion.sample(motion.t());
  const Linearisation end = Lineariser(system, same).at({last.t, last.q, last.qd});
  if (!end.refusal.empty()) return refuse(end.refusal, end.place);
  if (end.velocities != begin.velocities || end.positions != begin.positions)
    return refuse("other velocities are independent after the period than before it");
  double A_size = 0.0, A_off = 0.0, f_off = 0.0;
  for (Index i = 0; i < s; ++i)
    for (Index j = 0; j < s; ++j) {
      A_size = std::max(A_size, std::abs(begin.A(i, j)));
      A_off = std::max(A_off, std::abs(end.A(i, j) - begin.A(i, j)));
    }
  const Index p = static_cast<Index>(begin.positions.size());
  for (Index i = 0; i < s; ++i)
    f_size[i >= p] = std::max({f_size[i >= p], std::abs(begin.drift(i)), std::abs(end.drift(i))});
  for (Index i = 0; i < s; ++i)
    if (f_size[i >= p] > 0.0) f_off = std::max(f_off, std::abs(end.drift(i) - begin.drift(i)) / f_size[i >= p]);
  // What rests, or runs steadily, does not change by more than rounding.
  const bool still = begin.at != Linearisation::At::moving && end.at != Linearisation::At::moving;
  if (A_off > periodic * A_size || (!still && f_off > periodic))
    return refuse(
        fmt::format("the motion does not have the period {}: after it A differs by {} (of {}) and the rates of "
                    "the states by {} of their size",
                    short_number(options.period), short_number(A_off), short_number(A_size), short_number(f_off)));

  found.monodromy.resize(s, s);
  for (Index c = 0; c < s; ++c) {
    const double* X = steps.X().data() + 2 * n * c;
    for (Index r = 0; r < s; ++r)
      found.monodromy(r, c) = r < p ? X[begin.positions[static_cast<std::size_t>(r)]]
                                    : X[n + begin.velocities[static_cast<std::size_t>(r - p)]];
  }
  // As exact as the steps are.
  Eigen::MatrixXd noise(s, s);
  const double all = *std::max_element(largest.begin(), largest.end());
  for (Index c = 0; c < s; ++c)
    for (Index r = 0; r < s; ++r) {
      const Index i =
          r < p ? begin.positions[static_cast<std::size_t>(r)] : n + begin.velocities[static_cast<std::size_t>(r - p)];
      const double most = largest[static_cast<std::size_t>(2 * n * c + i)];
      noise(r, c) = most > 0.0 ? 10.0 * options.tolerance * (most + least_entry * all) : 0.0;
    }
  found.multipliers = find_spectrum(found.monodromy, noise, {.drop_rounding = false});
  found.meets = find_meeting(found.monodromy, noise, found.multipliers, options.tolerance);
  std::vector<std::size_t> order(found.multipliers.eigenvalues.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(found.multipliers.eigenvalues[a].value) > std::abs(found.multipliers.eigenvalues[b].value);
  });
  Spectrum sorted = found.multipliers;
  const std::vector<char> meets = found.meets;
  for (std::size_t k = 0; k < order.size(); ++k) {
    sorted.eigenvalues[k] = found.multipliers.eigenvalues[order[k]];
    found.meets[k] = meets[order[k]];
    sorted.vectors.col(static_cast<Index>(k)) = found.multipliers.vectors.col(static_cast<Index>(order[k]));
  }
  found.multipliers = std::move(sorted);
  return found;
}

}  // namespace mechanician
