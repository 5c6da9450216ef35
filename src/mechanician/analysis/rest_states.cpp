#include "mechanician/analysis/rest_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/ensemble/random.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
/// Accelerations of rest over the terms that they are the difference of.
constexpr double rounding = 1e-11;
/// The same over those of deviations of a typical size, or of forces one by one.
constexpr double still = 1e-8;
/// Positions that differ by less, in typical sizes, are the same.
constexpr double same_position = 1e-6;
constexpr int most_iterations = 120, most_falls = 40;

LineariseOptions options_for(const std::string& varied) {
  LineariseOptions options;
  if (!varied.empty()) options.inputs = {varied};
  options.quasi_static = true;
  return options;
}

/// −S⁺r of least size in units, and whether S has full rank.
Eigen::VectorXd solve_least(const Eigen::MatrixXd& S, const Eigen::VectorXd& r, const Eigen::VectorXd& units,
                            bool& full) {
  full = true;
  if (r.size() == 0) return r;  // nothing can move; Eigen decomposes no matrices of nothing
  Eigen::MatrixXd scaled = S * units.asDiagonal();
  Eigen::VectorXd right = -r;
  for (Index i = 0; i < scaled.rows(); ++i) {
    const double size = scaled.row(i).norm();
    if (size == 0.0) continue;
    scaled.row(i) /= size, right(i) /= size;
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> cod;
  cod.setThreshold(1e-10);
  cod.compute(scaled);
  full = cod.rank() == scaled.cols();
  const Eigen::VectorXd x = cod.solve(right);
  return units.cwiseProduct(x);
}

}  // namespace

bool RestSearch::Equations::balances() const { return (r.cwiseAbs().array() <= rounding * r_size.array()).all(); }

namespace {

/// Rates of what the equations of rest say vanishes, by independent coordinate.
Eigen::VectorXd rates_of(const RestSearch::Equations& at) {
  return at.linear.M.size() > 0 ? Eigen::VectorXd(at.linear.drift.tail(at.r.size())) : at.r;
}

}  // namespace

double RestSearch::size_of(const Equations& at) const {
  double sum = 0.0;
  const Eigen::VectorXd rates = rates_of(at);
  for (Index k = 0; k < rates.size(); ++k)
    sum += std::pow(rates(k) / scale_(at.linear.positions[static_cast<std::size_t>(k)]), 2);
  return std::sqrt(sum);
}

RestSearch::RestSearch(const System& system, const State& start, const std::string& varied,
                       ParameterOverrides overrides, const System* whole)
    : lineariser_(system, options_for(varied)), start_(start), varied_(varied), overrides_(std::move(overrides)) {
  start_.qd.setZero();
  if (!varied.empty())
    parameter_ =
        lineariser_.system().parameters()[static_cast<std::size_t>(find_parameter(lineariser_.system(), varied))];
  find_scale();
  find_quaternions();
  find_periodic(this->system());
  wraps_ = periodic_;
  if (!whole) return;
  const std::vector<char> periodic = periodic_;
  find_periodic(*whole);  // what a gap depends on is not absent
  wraps_ = periodic_, periodic_ = periodic;
}

void RestSearch::set_parameter(double value) {
  parameter_ = value;
  overrides_[varied_] = value;
  lineariser_.set_parameters(evaluate_parameters(lineariser_.system().model(), overrides_).values);
}

/// Given, or as large as the start; where that is zero as large as the largest other coordinate, or 1.
void RestSearch::find_scale() {
  const std::vector<double> given = system().scale();
  scale_ = start_.q.cwiseAbs();
  const double largest = scale_.size() > 0 && scale_.maxCoeff() > 0.0 ? scale_.maxCoeff() : 1.0;
  for (Index i = 0; i < scale_.size(); ++i) {
    if (!given.empty() && given[static_cast<std::size_t>(i)] > 0.0) scale_(i) = given[static_cast<std::size_t>(i)];
    if (scale_(i) < 1e-6 * largest) scale_(i) = largest;
  }
}

/// crank.qw … crank.qz, of length 1 at the start.
void RestSearch::find_quaternions() {
  std::map<std::string, Index> numbers;
  for (int i = 0; i < system().n(); ++i) numbers.emplace(system().coordinate(i), i);
  for (const auto& [name, number] : numbers) {
    if (!name.ends_with(".qw")) continue;
    const std::string body = name.substr(0, name.size() - 1);
    std::array<Index, 4> q{number, -1, -1, -1};
    double square = start_.q(number) * start_.q(number);
    for (std::size_t k = 1; k < 4; ++k)
      if (const auto found = numbers.find(body + "wxyz"[k]); found != numbers.end())
        q[k] = found->second, square += start_.q(q[k]) * start_.q(q[k]);
    if (std::find(q.begin(), q.end(), Index{-1}) == q.end() && std::abs(square - 1.0) < 1e-6) quaternions_.push_back(q);
  }
}

/// Which coordinates the equations depend on modulo 2π, and which they do not depend on: by their numbers at random positions, shifted.
void RestSearch::find_periodic(const System& whole) {
  const int n = system().n();
  periodic_.assign(static_cast<std::size_t>(n), 1), absent_.assign(static_cast<std::size_t>(n), 1);
  const auto numbers = [&](const State& s) {
    const Evaluation e = whole.evaluate(s);
    std::vector<double> all(e.values.Q.begin(), e.values.Q.end());
    const auto add = [&](const auto& x) { all.insert(all.end(), x.begin(), x.end()); };
    add(e.residual), add(e.rate), add(e.values.b);
    for (const SparseRows::Entry& entry : e.values.A.entries()) all.push_back(entry.value);  // what rows hold back
    return all;
  };
  for (std::uint32_t trial = 0; trial < 3; ++trial) {
    State s = start_;
    for (int i = 0; i < n; ++i)
      s.q(i) += 0.3 * scale_(i) *
                (2.0 * unit_interval(random_bits(7, trial, static_cast<std::uint32_t>(i), RandomUse::value)) - 1.0);
    const std::vector<double> before = numbers(s);
    for (int i = 0; i < n; ++i) {
      const auto is_same_at = [&](double shift) {
        State moved = s;
        moved.q(i) += shift;
        const std::vector<double> after = numbers(moved);
        if (after.size() != before.size()) return false;
        double size = 0.0, off = 0.0;
        for (std::size_t k = 0; k < before.size(); ++k) {
          if (std::isfinite(before[k]) != std::isfinite(after[k])) return false;
          if (!std::isfinite(before[k])) continue;
          size = std::max(size, std::abs(before[k])), off = std::max(off, std::abs(after[k] - before[k]));
        }
        return off <= 1e-10 * size;
      };
      if (periodic_[static_cast<std::size_t>(i)] && !is_same_at(2.0 * std::numbers::pi))
        periodic_[static_cast<std::size_t>(i)] = 0;
      if (absent_[static_cast<std::size_t>(i)] && !is_same_at(1.2345)) absent_[static_cast<std::size_t>(i)] = 0;
    }
  }
}

RestSearch::Equations RestSearch::evaluate(const Eigen::VectorXd& q, bool quick) {
  Equations at;
  State state{start_.t, q, Eigen::VectorXd::Zero(q.size())};
  at.linear = lineariser_.at(state, quick);
  Linearisation& l = at.linear;
  if (!l.refusal.empty()) {
    at.refusal = l.refusal;
    return at;
  }
  const auto p = static_cast<Index>(l.positions.size());
  at.r.resize(p), at.r_size.resize(p), at.r_p.resize(p), at.S.resize(p, p);
  for (Index k = 0; k < p; ++k) {
    const int i = l.positions[static_cast<std::size_t>(k)];
    const auto found = std::lower_bound(l.velocities.begin(), l.velocities.end(), i);
    const bool has_velocity = found != l.velocities.end() && *found == i;
    const Index row = has_velocity ? p + (found - l.velocities.begin()) : k;
    at.r(k) = l.drift(row);
    // Rounding is zero: where nothing holds a coordinate it is to be seen.
    at.S.row(k) = (l.A.row(row).head(p).cwiseAbs().array() <= 4.0 * l.A_noise.row(row).head(p).array())
                      .select(Eigen::RowVectorXd::Zero(p), l.A.row(row).head(p));
    at.r_p(k) = l.B.cols() > 0 ? l.B(row, 0) : 0.0;
    // Rates of states are compared with what they would be for deviations as large as the states.
    at.r_size(k) = has_velocity ? l.qdd_size(i)
                                : (l.A.row(row).head(p).cwiseAbs() * l.state.q(l.positions).cwiseAbs()).value() +
                                      std::abs(l.drift(row));
  }
  // Forces instead of accelerations, where all coordinates have masses: these are sums of few terms and zero up to their rounding, however
  // badly masses are conditioned (relative angles of long chains).
  if (l.M.size() > 0) {
    at.r = (l.M * at.r).eval(), at.r_size = l.force_size, at.r_p = (l.M * at.r_p).eval();
    if (p == l.q.rows())
      at.S = (l.K.cwiseAbs().array() <= 4.0 * l.K_noise.array()).select(Eigen::MatrixXd::Zero(p, p), -l.K);
    else
      at.S = (l.M * at.S).eval();
  }
  at.q_p = l.q_inputs.cols() > 0 ? Eigen::VectorXd(l.q_inputs.col(0)) : Eigen::VectorXd::Zero(l.q.rows());
  at.ok = at.r.allFinite() && at.S.allFinite();
  return at;
}

std::optional<RestState> RestSearch::settle(const Eigen::VectorXd& start, const TooFar& too_far) {
  Eigen::VectorXd q = start;
  Equations now = evaluate(q);
  if (!now.ok) {
    if (trouble_.empty()) trouble_ = now.refusal;
    return std::nullopt;
  }
  bool was_balanced = false;
  int falls = 0;
  for (int round = 0; round < most_iterations; ++round) {
    const Linearisation& l = now.linear;
    Eigen::VectorXd units(now.r.size());
    for (Index k = 0; k < units.size(); ++k) units(k) = scale_(l.positions[static_cast<std::size_t>(k)]);
    bool full = true;
    const Eigen::VectorXd step = solve_least(now.S, now.r, units, full);
    Eigen::VectorXd dq = l.q.leftCols(now.r.size()) * step;
    const double length = dq.size() > 0 ? dq.cwiseQuotient(scale_).cwiseAbs().maxCoeff() : 0.0;
    if (now.balances() && (was_balanced || length < 1e-15)) return examine(l.state.q);
    was_balanced = now.balances();
    // No further than positions are large.
    const double most = std::max(1.0, l.state.q.cwiseQuotient(scale_).cwiseAbs().maxCoeff());
    double part = length > most ? most / length : 1.0;
    const double before = size_of(now);
    bool moved = false;
    for (int tries = 0; tries < 12; ++tries, part *= 0.5) {
      Equations next = evaluate(l.state.q + part * dq);
      if (!next.ok || !(size_of(next) < before || (was_balanced && next.balances()))) continue;
      if (too_far && too_far(l.state.q, next.linear.state.q)) return std::nullopt;
      now = std::move(next), moved = true;
      break;
    }
    if (moved) continue;
    if (now.balances()) return examine(now.linear.state.q);
    // Newton's step leads nowhere: a little way along the accelerations, as things fall.
    if (falls++ >= most_falls) return std::nullopt;
    const Eigen::VectorXd way = l.q.leftCols(now.r.size()) * rates_of(now);
    const double down = way.cwiseQuotient(scale_).cwiseAbs().maxCoeff();
    if (!(down > 0.0)) return std::nullopt;
    Equations next = evaluate(l.state.q + 0.1 / down * way);
    if (!next.ok || (too_far && too_far(l.state.q, next.linear.state.q))) return std::nullopt;
    now = std::move(next);
  }
  return std::nullopt;
}

std::optional<RestState> RestSearch::examine(const Eigen::VectorXd& q) {
  Equations at = evaluate(q, false);
  if (!at.ok) {
    if (trouble_.empty()) trouble_ = at.refusal;
    return std::nullopt;
  }
  RestState found;
  Eigen::VectorXd units(at.r.size());
  for (Index k = 0; k < units.size(); ++k) units(k) = scale_(at.linear.positions[static_cast<std::size_t>(k)]);
  bool full = true;
  // Coordinates that nothing depends on are wherever they are.
  Eigen::MatrixXd S = at.S;
  for (Index k = 0; k < S.cols(); ++k)
    if (absent_[static_cast<std::size_t>(at.linear.positions[static_cast<std::size_t>(k)])]) S.col(k).setUnit(k);
  solve_least(S, at.r, units, full);
  found.isolated = full;
  at.linear.at = Linearisation::At::rest;
  for (Index i = 0; i < at.linear.state.q.size(); ++i)
    if (wraps_[static_cast<std::size_t>(i)] && !absent_[static_cast<std::size_t>(i)]) {
      double& x = at.linear.state.q(i);
      if (std::abs(x) > std::numbers::pi * (1.0 + 1e-12)) x = std::remainder(x, 2.0 * std::numbers::pi);
      if (x <= -std::numbers::pi * (1.0 - 1e-12)) x += 2.0 * std::numbers::pi;
    }
  found.linear = std::move(at.linear);
  found.spectrum = find_spectrum(found.linear);
  if (!stays(found)) return std::nullopt;
  return found;
}

/// Whether the general solver too finds no accelerations there, beside what deviations of a typical size would do: bounds of rounding are
/// no judges where they are as large as forces, next to singular configurations or where masses are lost in rounding.
bool RestSearch::stays(const RestState& s) const {
  const Linearisation& l = s.linear;
  if (l.M.size() == 0) return true;  // accelerations of what has no mass may not be determined
  const Instant instant = accelerate(system(), l.state, {.diagnose = false});
  if (!instant.has_acceleration() || !instant.violations().empty()) return false;
  double fastest = 0.0;
  for (const Eigenvalue& e : s.spectrum.eigenvalues) fastest = std::max(fastest, std::norm(e.value));
  for (Index i = 0; i < scale_.size(); ++i)
    if (const double mass = instant.values.M(i, i); mass > 0.0)
      fastest = std::max(fastest, std::abs(instant.values.Q(i)) / (mass * scale_(i)));
  const Eigen::VectorXd& qdd = instant.solution.qdd;
  for (Index i = 0; i < qdd.size(); ++i)
    if (std::abs(qdd(i)) > still * fastest * scale_(i) + 1e-14 * l.qdd_size(i)) return false;
  return true;
}

double RestSearch::distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
  double far = 0.0;
  Eigen::VectorXd sign = Eigen::VectorXd::Ones(a.size());
  for (const auto& q : quaternions_)  // q and −q are the same
    if (a(q).dot(b(q)) < 0.0) sign(q).setConstant(-1.0);
  for (Index i = 0; i < a.size(); ++i) {
    double d = a(i) - sign(i) * b(i);
    if (periodic_[static_cast<std::size_t>(i)]) d = std::remainder(d, 2.0 * std::numbers::pi);
    far = std::max(far, std::abs(d) / scale_(i));
  }
  return far;
}

/// Around the start: angles anywhere in a turn, others by a tenth of their typical size up to ten times, every second time up to a thousand
/// times.
Eigen::VectorXd RestSearch::random_start(const RestOptions& options, int which) const {
  const auto uniform = [&](std::uint32_t dimension) {
    return unit_interval(random_bits(options.seed, static_cast<std::uint64_t>(which), dimension, RandomUse::value));
  };
  const double reach = std::pow(10.0, (which % 2 == 0 ? 4.0 : 2.0) * uniform(0) - 1.0);
  Eigen::VectorXd q = start_.q;
  for (Index i = 0; i < q.size(); ++i) {
    if (absent_[static_cast<std::size_t>(i)]) continue;
    const double x = 2.0 * uniform(static_cast<std::uint32_t>(i) + 1) - 1.0;
    // Where gaps tell turns apart, those next to the start's too.
    const double turn = wraps_[static_cast<std::size_t>(i)] ? std::numbers::pi : 2.0 * std::numbers::pi;
    q(i) += x * (periodic_[static_cast<std::size_t>(i)] ? turn : reach * scale_(i));
  }
  return q;
}

std::optional<Eigen::VectorXd> RestSearch::walk(const RestOptions& options, int which) {
  constexpr double stride = 0.15;  // in typical sizes
  constexpr int most_strides = 60;
  constexpr Index most_ways = 60;  // beyond these a line finds little
  const Index n = start_.q.size();
  const auto uniform = [&](Index dimension) {
    return unit_interval(random_bits(options.seed, static_cast<std::uint64_t>(which),
                                     static_cast<std::uint32_t>(dimension) + 1, RandomUse::value));
  };
  Equations now = evaluate(start_.q);
  if (!now.ok || now.r.size() == 0 || now.r.size() == n || now.r.size() > most_ways) return std::nullopt;
  Eigen::VectorXd direction(n);
  for (Index i = 0; i < n; ++i) direction(i) = 2.0 * uniform(i) - 1.0;
  const int strides = 1 + static_cast<int>(uniform(n) * most_strides);
  for (int k = 0; k < strides; ++k) {
    if (now.r.size() == 0) break;  // branches meet, and on this one nothing can move
    // What of the direction the constraints allow.
    const Eigen::MatrixXd ways = scale_.cwiseInverse().asDiagonal() * now.linear.q.leftCols(now.r.size());
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> cod;
    cod.compute(ways);
    const Eigen::VectorXd along = cod.solve(direction);
    direction = ways * along;
    const double length = direction.cwiseAbs().maxCoeff();
    if (!(length > 1e-12)) return std::nullopt;
    direction /= length;
    Equations next = evaluate(now.linear.state.q + stride * direction.cwiseProduct(scale_));
    if (!next.ok) break;
    direction = (next.linear.state.q - now.linear.state.q).cwiseQuotient(scale_);
    now = std::move(next);
  }
  return now.linear.state.q;
}

std::vector<std::string> RestSearch::jumps_at_rest() {
  std::vector<std::string> all = evaluate(start_.q).linear.jumps;
  for (std::uint32_t trial = 0; trial < 3 && !all.empty(); ++trial) {
    Eigen::VectorXd q = start_.q;
    for (Index i = 0; i < q.size(); ++i)
      q(i) += 0.3 * scale_(i) *
              (2.0 * unit_interval(random_bits(11, trial, static_cast<std::uint32_t>(i), RandomUse::value)) - 1.0);
    const Linearisation there = evaluate(q).linear;
    if (!there.refusal.empty()) continue;
    std::erase_if(all, [&](const std::string& text) {
      return std::find(there.jumps.begin(), there.jumps.end(), text) == there.jumps.end();
    });
  }
  return all;
}

std::vector<RestState> RestSearch::find_all(const RestOptions& options, std::string* trouble, const Settle& from) {
  std::vector<RestState> found;
  trouble_.clear();
  const auto onto_constraints = [&](const Eigen::VectorXd& q) -> std::optional<RestState> {
    const Projection on = project(system(), {start_.t, q, Eigen::VectorXd::Zero(q.size())}, ProjectionGoal::any);
    return on.converged ? settle(on.state.q) : std::nullopt;
  };
  for (int k = 0; k < options.starts; ++k) {
    if (options.between) options.between();
    const std::optional<Eigen::VectorXd> walked = k % 3 == 1 ? walk(options, k) : std::nullopt;
    const Eigen::VectorXd q = k == 0 ? start_.q : walked ? *walked : random_start(options, k);
    std::optional<RestState> one = from ? from(q) : onto_constraints(q);
    if (!one) continue;
    const auto is_known = [&](const RestState& other) {
      const Eigen::VectorXd apart = (one->linear.state.q - other.linear.state.q).cwiseQuotient(scale_);
      if (apart.size() == 0 || apart.cwiseAbs().maxCoeff() < same_position) return true;
      if (one->closed != other.closed) return false;
      if (distance(one->linear.state.q, other.linear.state.q) < same_position) return true;
      if (one->isolated || other.isolated || one->is_stable() != other.is_stable()) return false;
      // One of a continuum: the same where nothing tells them apart but where they are.
      const auto &a = one->spectrum.eigenvalues, &b = other.spectrum.eigenvalues;
      double size = 0.0, off = 0.0;
      for (std::size_t e = 0; e < std::min(a.size(), b.size()); ++e)
        size = std::max(size, std::abs(a[e].value)), off = std::max(off, std::abs(a[e].value - b[e].value));
      return a.size() == b.size() && off <= 1e-6 * size;
    };
    if (std::none_of(found.begin(), found.end(), is_known)) found.push_back(std::move(*one));
  }
  // Stable ones first, then by position.
  std::stable_sort(found.begin(), found.end(), [](const RestState& a, const RestState& b) {
    if (a.is_stable() != b.is_stable()) return a.is_stable();
    const Eigen::VectorXd &x = a.linear.state.q, &y = b.linear.state.q;
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  if (trouble) *trouble = trouble_;
  return found;
}

}  // namespace mechanician
