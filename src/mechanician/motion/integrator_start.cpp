// The begin of a motion: rank of the constraints, sides of the switches, first step.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/rank_limits.hpp"
#include "mechanician/motion/step_control.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// How the rank of a set of rows at a state would change along directions there.
struct RankAhead {
  int now = 0;           ///< rank at the state
  int along_motion = 0;  ///< gained by moving with the velocity (and time)
  int along_any = 0;     ///< gained by moving in a random direction that the constraints allow
};

/// The rank at a state is that of a choice of rows. Rows that were left out are sums of those kept, a_j + A_keptᵀλ_j = 0 with
/// λ_j the multipliers of f = a_j, g = 0; so e_j + λ_j span the left null space V₀, and where such sums have a rate ȧᵀv
/// that the rows do not hold already (the x of f = ȧᵀv, g = 0 is not zero), the rank grows:
///   gained = rank of U₀ᵀ L⁻¹ Ȧᵀ V₀, whose Gram matrix is (ȧᵀv_k)·x_l.
class LookAhead {
 public:
  LookAhead(Dynamics& d, const RowSet& set, double t, double span, const VectorXd& y, double rounding)
      : d_(d), n_(d.n()), t_(t), span_(span), y_(y), rows_{.candidates = set.candidates} {
    if (set.candidates.empty() || !d.evaluate_rows(t, y.data(), y.data() + n_)) return;
    const EquationFacts& f = d.facts();
    const KktFactors::Matrices at = d.matrices();
    std::vector<char> off(static_cast<std::size_t>(f.m));
    for (const int j : set.candidates) off[j] = d.is_zero_row(j);
    if (!d.factors().choose(at, rows_, off, KktFactors::Mass::exact, rounding)) return;
    ahead_.now = static_cast<int>(rows_.kept.size());
    clear_ = rows_.kept.size() == set.candidates.size() && 1.0 > rank_limits::clearly_independent * rows_.condition();
    if (rows_.kept.size() == set.candidates.size() || ahead_.now == n_) return;
    M_.assign(at.M, at.M + f.pattern.M.size()), A_.assign(at.A, at.A + f.pattern.A.size());
    measure();
    find_null_space();
    if (V_.cols() == 0) return;
    ahead_.along_motion = gained(held_velocity(), 1.0);
    std::mt19937_64 random(20251115);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 3; ++trial) {
      const VectorXd force = VectorXd::NullaryExpr(n_, [&] { return normal(random); }).cwiseQuotient(units_);
      VectorXd w(n_);
      if (!factor() || !d.factors().solve(force.data(), nullptr, w.data(), nullptr)) continue;
      ahead_.along_any = std::max(ahead_.along_any, gained(w / std::max(w.cwiseAbs().maxCoeff(), 1e-300), 0.0));
    }
    d.evaluate_rows(t, y.data(), y.data() + n_);
  }
  const RankAhead& result() const { return ahead_; }
  bool clear() const { return clear_; }  ///< nothing to be looked at more closely

 private:
  bool factor() { return d_.factors().factor({M_.data(), A_.data()}, rows_, KktFactors::Mass::exact); }

  /// Units of coordinates, and of rows: their size in these, or where they vanish that of their own terms.
  void measure() {
    const EquationFacts& f = d_.facts();
    units_.resize(n_), D_ = VectorXd::Zero(f.m);
    d_.factors().calc_units({M_.data(), A_.data()}, units_.data());
    for (const int j : rows_.candidates) {
      double squared = 0.0;
      for (const int* s = f.row_slots.first(j); s != f.row_slots.last(j); ++s)
        squared += std::pow(A_[*s] * units_(f.pattern.A[*s].col), 2);
      const double own = d_.start_size(j);
      D_(j) = d_.is_zero_row(j) || squared == 0.0 ? (own > 0.0 ? 1.0 / own : 1.0) : 1.0 / std::sqrt(squared);
    }
  }

  /// An orthonormal basis of V₀, of scaled rows; where it is large, as much of it as sums by chance give.
  void find_null_space() {
    constexpr std::size_t most = 48;
    const EquationFacts& f = d_.facts();
    std::vector<int> dropped;
    for (const int j : rows_.candidates)
      if (!std::binary_search(rows_.kept.begin(), rows_.kept.end(), j)) dropped.push_back(j);
    const bool alone = dropped.size() <= most;
    std::mt19937_64 random(20251116);
    std::normal_distribution<double> normal;
    if (!factor()) return;
    MatrixXd V = MatrixXd::Zero(f.m, static_cast<Index>(std::min(dropped.size(), most)));
    VectorXd force(n_), x(n_), lambda(f.m);
    for (Index k = 0; k < V.cols(); ++k) {
      force.setZero();
      for (std::size_t i = 0; i < dropped.size(); ++i) {
        if (alone && static_cast<Index>(i) != k) continue;
        const int j = dropped[i];
        V(j, k) = alone ? 1.0 : normal(random);
        if (d_.is_zero_row(j)) continue;
        for (const int* s = f.row_slots.first(j); s != f.row_slots.last(j); ++s)
          force(f.pattern.A[*s].col) += V(j, k) * D_(j) * A_[*s];
      }
      if (!d_.factors().solve(force.data(), nullptr, x.data(), lambda.data())) return;
      for (const int j : rows_.kept) V(j, k) += lambda(j) / D_(j);
    }
    V_ = Eigen::HouseholderQR<MatrixXd>(V).householderQ() * MatrixXd::Identity(f.m, V.cols());
  }

  /// The velocity as the rows hold it: what it is off by, as after an impact that counts as one of them, is no motion.
  VectorXd held_velocity() {
    const VectorXd v = y_.segment(n_, n_);
    if (!d_.evaluate_rows(t_, y_.data(), y_.data() + n_)) return v;
    const EquationValues::RowNumbers now = d_.values().row_numbers();
    VectorXd off = VectorXd::Zero(d_.facts().m), x(n_);
    for (const int j : rows_.kept) {
      const Level level = d_.facts().rows[static_cast<std::size_t>(j)].level;
      if (level != Level::acceleration) off(j) = level == Level::position ? now.rate[j] : now.residual[j];
    }
    if (!factor() || !d_.factors().solve(nullptr, off.data(), x.data(), nullptr)) return v;
    return v - x;
  }

  /// Along q + wτ, t + clock·τ, by central differences.
  int gained(const VectorXd& w, double clock) {
    const EquationFacts& f = d_.facts();
    if (clock == 0.0 && w.isZero(0.0)) return 0;
    const double length = d_.sizes.reach.length(), extent = length > Reach::tiny ? length : 1.0,
                 fast = d_.sizes.in_units(w.data());
    // As long as the motion takes for its own size, or as is left; but not so short that rounding is all there is to see.
    const double own = fast > 0.0 ? extent / fast : span_;
    const double tau = 1e-5 * (clock > 0.0 ? std::min(own, std::max(span_, 1e-2 * own)) : own);
    std::vector<double> rate(f.pattern.A.size(), 0.0);
    for (const double s : {-tau, tau}) {
      const VectorXd q = y_.head(n_) + s * w;
      if (!d_.evaluate_rows(t_ + clock * s, q.data(), y_.data() + n_)) return 0;
      for (std::size_t k = 0; k < rate.size(); ++k) rate[k] += d_.matrices().A[k] / (2.0 * s);
    }
    double squared = 0.0;
    for (std::size_t k = 0; k < rate.size(); ++k) {
      const auto [j, i] = f.pattern.A[k];
      rate[k] *= D_(j);
      squared += std::pow(rate[k] * units_(i), 2);
    }
    const double scale = std::sqrt(squared);
    if (!(scale * tau > 1e-14) || !factor()) return 0;
    MatrixXd R = MatrixXd::Zero(n_, V_.cols()), X(n_, V_.cols());
    for (std::size_t k = 0; k < rate.size(); ++k) {
      const auto [j, i] = f.pattern.A[k];
      R.row(i) += rate[k] * V_.row(j);
    }
    for (Index k = 0; k < R.cols(); ++k)
      if (!d_.factors().solve(R.col(k).data(), nullptr, X.col(k).data(), nullptr)) return 0;
    const MatrixXd G = R.transpose() * X;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (G + G.transpose()), Eigen::EigenvaluesOnly);
    const double least =
        std::max(rank_limits::of_rate * scale, rank_limits::roundings_of_rate * step_control::eps / tau);
    int rank = 0;
    for (Index k = 0; k < G.cols(); ++k) rank += eigen.eigenvalues()(k) > least * least;
    return rank;
  }

  Dynamics& d_;
  int n_;
  double t_, span_;
  const VectorXd& y_;
  RowSet rows_;
  RankAhead ahead_;
  bool clear_ = false;
  std::vector<double> M_, A_;
  VectorXd units_, D_;
  MatrixXd V_;
};

}  // namespace

SmoothMotion::SmoothMotion(const System& system_given, State start_given, MotionOptions options_given)
    : SmoothMotion(Dynamics(system_given), std::move(start_given), options_given, Phase()) {}

SmoothMotion::SmoothMotion(Dynamics dynamics, State start_given, MotionOptions options_given, Phase phase)
    : MotionSteps(nullptr, std::move(start_given), options_given),
      dynamics_(std::move(dynamics)),
      phase_(std::move(phase)),
      step_(dynamics_, options.tolerance),
      crossings_(view_),
      switches_(view_),
      events_inside_(view_),
      guards_(view_, phase_.may_go_on, phase_.grazes),
      poles_(view_),
      narrow_(view_) {
  system = &dynamics_.values().system();
  dynamics_.take_parameters();
  dynamics_.control_may_miss = phase_.control_may_miss;
  dynamics_.set_carried(phase_.carried);
  dynamics_.believes = phase_.believes;
  samples_from_ = options.sampled.from.value_or(start.t);
  dynamics_.hold_control(options.sampled.efforts);
  const auto size = static_cast<std::size_t>(dynamics_.size());
  for (auto* x : {&y_sample_, &rate_sample_, &e5_, &e3_, &scale_}) x->assign(size, 0.0);
  if (!phase_.sliding.empty()) dynamics_.set_sliding(phase_.sliding);
  dynamics_.set_guards(phase_.guards);
  dynamics_.set_force_source(phase_.forces);
  narrow_.begin();
  begin();
  if (refusal) {
    stop = *refusal;
    over = true;
  }
}

void SmoothMotion::begin() {
  const int n = dynamics_.n();
  std::vector<double>& y = step_.rk.y_new;
  system->set_state_rates(start);
  for (int i = 0; i < n; ++i) y[i] = start.q(i), y[n + i] = start.qd(i);
  if (phase_.sizes) dynamics_.sizes = *phase_.sizes;  // rows of results need them also where the phase is refused
  EquationValues::Verdict verdict;
  verdict.may_accelerate = true;
  if (!phase_.judged) verdict = dynamics_.values().judge(start, false);
  // What control misses because of contacts was decided upon where the phase begins.
  if ((phase_.control_may_miss || !options.sampled.efforts.empty()) &&
      verdict.status == SolveStatus::requirements_not_met)
    verdict.may_accelerate = true;
  const auto refuse = [&](StopReason reason, std::string message, Place place = {}) {
    refusal = Stop{reason, std::move(message), place};
  };
  if (!verdict.not_finite.empty()) return refuse(StopReason::not_finite, verdict.not_finite, verdict.place);
  if (!verdict.has_acceleration())
    return refuse(verdict.status == SolveStatus::inconsistent ? StopReason::contradiction : StopReason::not_unique,
                  fmt::format("at the start: {}", verdict.why.empty() ? describe(verdict.status) : verdict.why));
  if (!verdict.off.empty())
    return refuse(
        StopReason::projection,
        fmt::format("the start violates constraint `{}` by {}", dynamics_.values().row_name(verdict.off.front().row),
                    number_text(verdict.off.front().value)),
        dynamics_.facts().rows[verdict.off.front().row].place);

  t = step_begin = step_.t = progress_.mark = start.t;
  refusal = switches_.set_first_sides();
  if (refusal) return;
  if (!dynamics_.set_state_rates(t, y.data())) return refuse(StopReason::not_finite, "the start cannot be evaluated");
  if (!phase_.ready && !dynamics_.choose_rows(t, y.data()))
    return refuse(StopReason::not_finite, "the start cannot be evaluated");
  if (phase_.sizes) {
    dynamics_.sizes = *phase_.sizes;  // the choice of rows has begun with sizes of its own
    dynamics_.sizes.see(y.data());
  } else {
    dynamics_.sizes.begin(dynamics_.factors().typical_units(), options.scale, options.to - start.t,
                          dynamics_.state_groups());
    dynamics_.size_forces(t, y.data());
  }
  if (!find_rank() || refusal) return;
  if (guards_.any() && !start_singular_ && switches_.is_start_broken()) broken = true, beyond = switches_.beyond();
  if (!start_singular_ && !phase_.ready) {
    if (!dynamics_.choose_rows(t, y.data())) return refuse(StopReason::not_finite, "the start cannot be evaluated");
    const auto moved = broken ? Dynamics::Projected{.ok = true} : dynamics_.project(t, y.data());
    if (!moved.ok) return refuse(StopReason::projection, "the start could not be brought onto the constraints");
    dynamics_.sizes.see(y.data());
    if (!phase_.sizes && (moved.moved_q > 1e-13 || moved.moved_qd > 1e-13))
      notes.push_back(fmt::format("the start was moved onto the constraints, by {:.1e} at most",
                                  std::max(moved.moved_q, moved.moved_qd)));
  }
  if (!phase_.ready && !dynamics_.rhs(t, y.data(), step_.rk.k[12].data()))
    return refuse(StopReason::not_finite, "the start cannot be evaluated");
  if (start_singular_) {
    // Which rows are dependent for good shows beside the singular state.
    const double tau =
        std::min(1e-2 * dynamics_.sizes.reach.length() / dynamics_.sizes.reach.speed, 1e-2 * (options.to - t));
    y_sample_ = y;
    for (int i = 0; i < dynamics_.n(); ++i) y_sample_[i] += tau * y[dynamics_.n() + i];
    if (dynamics_.choose_rows(t + tau, y_sample_.data())) dynamics_.compile(t + tau, y_sample_.data(), true);
  } else {
    dynamics_.compile(t, y.data());
  }
  // As it is after every step, and where a motion is taken up again.
  dynamics_.choose_rows(t, y.data());
  if (!dynamics_.rhs(t, y.data(), step_.rk.k[12].data()))
    return refuse(StopReason::not_finite, "the start cannot be evaluated");
  dynamics_.sizes.set_rates(step_.rk.k[12].data() + dynamics_.n());
  if (!dynamics_.facts().states.empty()) dynamics_.sizes.see(y.data());
  dynamics_.calc_turn(t, y.data());
  ledger_.begin(dynamics_.last_kinetic(y.data()), dynamics_.last_energy_scale(y.data()));
  ledger_.set_in_play(phase_.energy_in_play);
  events_inside_.begin(phase_.event_signs, phase_.pending_events, phase_.fired), guards_.begin();
  note_forces();
  h_ = options.first_step > 0.0 ? options.first_step : choose_first_step();
  if (options.method == Method::bdf && dynamics_.control_every())
    notes.push_back("control is sampled: steps end at its samples, by dop853");
  else if (options.method == Method::bdf)
    begin_implicit();
  // Contacts were decided upon with the sides that the numbers are on at the start itself.
  if (!broken && !phase_.passes && !start_singular_ && guards_.begin_negative()) beyond = switches_.find_start_beyond();
  if (beyond > 0.0) finish(StopReason::callback);
}

/// Forces that outputs and events use, and that are not determined: columns of results have the least ones too.
void SmoothMotion::note_forces() {
  const EquationFacts& facts = dynamics_.facts();
  if (facts.forces.empty() || dynamics_.all.kept.size() == dynamics_.all.candidates.size()) return;
  AccelerateOptions with_rows{.diagnose = false, .contacts = false};
  with_rows.rows.emplace();
  for (const int j : dynamics_.all.candidates) with_rows.rows->push_back(j);
  const std::vector<Index> open =
      accelerate(dynamics_.values().system(), end_state(), with_rows).solution.multipliers_undetermined;
  std::vector<std::string> names;
  for (const ForceFacts& f : facts.forces)
    if ((f.kind == SymbolKind::multiplier || f.kind == SymbolKind::power || f.kind == SymbolKind::work) &&
        std::find(open.begin(), open.end(), f.at) != open.end()) {
      std::string name = dynamics_.values().row_name(f.at);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  if (!names.empty())
    notes.push_back(
        fmt::format("the multiplier of {} is not unique: other constraints do the same. [outputs] and [events] "
                    "use the one of least norm",
                    quote_list(names)));
}

bool SmoothMotion::find_rank() {
  const VectorXd y = Eigen::Map<const VectorXd>(step_.rk.y_new.data(), dynamics_.size());
  const int n = dynamics_.n();
  const RowSet* before = nullptr;
  for (RowSet* set : {&dynamics_.all, &dynamics_.velocities, &dynamics_.positions}) {
    if (before && before->candidates.size() == set->candidates.size()) {
      set->rank = before->rank;
      continue;
    }
    before = set;
    if (phase_.ready && 1.0 > rank_limits::clearly_independent * set->condition()) {
      set->rank = static_cast<int>(set->kept.size());
      continue;
    }
    const LookAhead look(dynamics_, *set, t, options.to - t, y, rank_limits::of_start);
    RankAhead ahead = look.result();
    // Rows that are almost dependent, and whose dependence the motion is about to end or has just ended.
    if (!look.clear() && ahead.along_motion == 0)
      if (const RankAhead almost = LookAhead(dynamics_, *set, t, options.to - t, y, rank_limits::almost).result();
          almost.now < ahead.now && almost.now + almost.along_motion == ahead.now) {
        ahead = almost;
        start_almost_ = true;
      }
    set->rank = ahead.now + ahead.along_motion;
    if (set != &dynamics_.all) continue;
    start_singular_ = ahead.along_motion > 0;
    if (!start_singular_)
      for (const int j : set->candidates) dynamics_.inert[j] = dynamics_.is_zero_row(j);
    if (!start_singular_ && !look.clear()) doubt_near_rows(*set);
    if (ahead.along_any <= ahead.along_motion) continue;
    // Directions that the rows allow here need not be motions: at states nearby that are on the constraints the question
    // is settled.
    if (dynamics_.values().find_generic_rank(start).rank.value_or(dynamics_.facts().m) <= set->rank) continue;
    const bool rest = y.segment(n, n).cwiseAbs().maxCoeff() == 0.0;
    std::vector<std::string> names;
    for (const int j : set->candidates)
      if (!std::binary_search(set->kept.begin(), set->kept.end(), j)) names.push_back(dynamics_.values().row_name(j));
    refusal =
        Stop{StopReason::not_unique,
             fmt::format("the start is a singular configuration where several motions branch off (the rank of the "
                         "constraints drops from {} to {}; dependent here: {}){}: no branch is determined",
                         ahead.now + ahead.along_any, ahead.now, quote_list(names),
                         rest ? ", and the system is at rest" : ", and the velocity does not choose between them"),
             {}};
    return false;
  }
  return true;
}

/// Rows that a start with ten digits cannot tell apart, and an instant can, decide nothing where they do so at the start
/// alone. Where they do everywhere, the motion has the rank that instants have, and is not to be trusted.
void SmoothMotion::doubt_near_rows(RowSet& set) {
  const Eigen::Map<const VectorXd> y(step_.rk.y_new.data(), dynamics_.size());
  const auto count = [&](double rounding) {
    return LookAhead(dynamics_, set, t, options.to - t, y, rounding).result().now;
  };
  if (count(rank_limits::of_instant) == count(rank_limits::of_start)) return;
  const EquationValues::GenericRank generic = dynamics_.values().find_generic_rank(start);
  const int rank = generic.rank.value_or(set.rank);
  if (rank <= set.rank && !generic.doubtful) return;
  set.rank = std::max(set.rank, rank);
  doubts.push_back(
      fmt::format("constraint rows are so nearly dependent that rounding decides whether they are (their rank "
                  "is taken as {}); `check` names them",
                  set.rank));
}

double SmoothMotion::choose_first_step() {
  const int count = 2 * dynamics_.n();
  const std::vector<double>&y = step_.rk.y_new, &f = step_.rk.k[12];
  std::vector<double>&there = y_sample_, &rate = rate_sample_;
  const int n = dynamics_.n();
  const Sizes& sizes = dynamics_.sizes;
  const double rate0 = sizes.in_units(f.data() + n), length = Sizes::part * sizes.reach.length(rate0),
               pace = Sizes::part * sizes.reach.pace(rate0);
  const auto scaled = [&](auto&& value) {
    return step_control::calc_norm(
        count, options.tolerance,
        [&](int i) {
          if (sizes.is_state(i < n ? i : i - n)) return sizes.of(i, y[i]);
          return i < n ? std::max(sizes.q[i], sizes.unit(i) * length)
                       : std::max(sizes.qd[i - n], sizes.unit(i - n) * pace);
        },
        value);
  };
  const double d0 = scaled([&](int i) { return y[i]; }), d1 = scaled([&](int i) { return f[i]; });
  const double span = options.to - t;
  double h0 = step_control::trial_step(d0, d1, span);
  double d2 = 0.0;
  for (int tries = 0; tries < 8; ++tries, h0 *= 0.1) {
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = y[i] + h0 * f[i];
    if (!dynamics_.rhs(t + h0, there.data(), rate.data())) continue;
    d2 = scaled([&](int i) { return rate[i] - f[i]; }) / h0;
    break;
  }
  return step_control::first_step(options.tolerance, h0, d1, d2, t,
                                  options.largest_step > 0.0 ? std::min(span, options.largest_step) : span);
}

/// The singular start is put where a crossing step has its singular state: a step from before it is sought whose dense
/// output passes through the start there. Only the velocity says which branch, and nothing is evaluated at the start.
bool SmoothMotion::start_on_singular() {
  const int n = dynamics_.n();
  const std::vector<double> y0 = step_.rk.y_new;
  const double to = options.to;
  const Sizes& sizes = dynamics_.sizes;
  double h = std::min(0.05 * sizes.reach.length() / std::max(sizes.reach.speed, 1e-300), to - start.t);
  if (options.largest_step > 0.0) h = std::min(h, options.largest_step);
  std::vector<double> pointwise = step_.rk.k[12];
  if (start_almost_) std::fill(pointwise.begin(), pointwise.end(), 0.0);
  double factor = 0.5;
  dynamics_.prefer_robust = true;
  for (int tries = 0; tries < 40; ++tries, h *= factor) {
    factor = 0.5;
    const double back = crossing_place * h, begin = start.t - back;
    std::vector<double>& y = step_.rk.y;
    for (int i = 0; i < n; ++i) {
      const auto q = static_cast<std::size_t>(i), v = static_cast<std::size_t>(n + i);
      y[q] = y0[q] - back * y0[v] + 0.5 * back * back * pointwise[v];
      y[v] = y0[v] - back * pointwise[v];
    }
    std::fill(y.begin() + 2 * n, y.end(), 0.0);
    const StepPlan plan{.h = h, .crossing = true, .at = back};
    double last = std::numeric_limits<double>::infinity();
    bool found = false;
    int stalled = 0;
    Attempt attempt;
    for (int round = 0; round < 60; ++round) {
      if (!dynamics_.choose_rows(begin, y.data()) || !dynamics_.project(begin, y.data(), {.most_iterations = 12}).ok ||
          !dynamics_.rhs(begin, y.data(), step_.rk.k[0].data()))
        break;
      crossings_.predictor.predict(begin, y.data(), step_.rk.k[0].data() + n, h);
      t = begin;
      attempt = try_step(h, plan);
      if (!attempt.finite || !finish_step(h)) break;
      if (attempt.error > 1.0 && round == 2) {
        found = true;
        break;
      }
      step_.set(begin, h, {.crossing = true, .held = true, .robust = true});
      if (!step_.make_dense()) break;
      step_.rk.sample(crossing_place, y_sample_.data(), nullptr);
      double off = 0.0;
      for (int i = 0; i < 2 * n; ++i) {
        const int at = i;
        const double d = y0[at] - y_sample_[at];
        off = std::max(off, std::abs(d) / std::max(i < n ? sizes.near_q[i] : sizes.near_qd[i - n], std::abs(y0[at])));
        y[at] += d;
      }
      // What does not shrink any more is normal to the constraints: the error of dense output.
      if (off < 1e-15 || (off > 0.5 * last && ++stalled > 2)) {
        found = off < 1e3 * options.tolerance;
        break;
      }
      if (off > 4.0 * last) break;
      last = off;
    }
    if (found && !attempt.branch_lost && attempt.error > 1.0)
      factor = std::min(step_control::growth(attempt.error), 0.9);
    if (!found || attempt.branch_lost || !(attempt.error <= 1.0)) continue;
    // Works count from the start, which lies inside this step.
    step_.rk.sample(crossing_place, y_sample_.data(), nullptr);
    for (int i = 2 * n; i < dynamics_.size(); ++i) {
      const int at = i;
      step_.rk.y[at] -= y_sample_[at], step_.rk.y_new[at] -= y_sample_[at];
    }
    step_.set(step_.t, h, {.crossing = true, .held = true, .robust = true});
    step_.make_dense();
    dynamics_.prefer_robust = false;
    t = start.t;
    accept(h, plan, attempt);
    step_begin = start.t;
    return true;
  }
  dynamics_.prefer_robust = false;
  finish(
      StopReason::not_unique,
      fmt::format("the motion cannot leave the singular configuration of the start: its velocity lies on no branch, or "
                  "branches touch there"));
  return false;
}

}  // namespace mechanician
