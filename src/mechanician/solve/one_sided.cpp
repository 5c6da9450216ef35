#include "mechanician/solve/one_sided.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "mechanician/solve/assemble.hpp"
#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/least_distance.hpp"
#include "mechanician/solve/non_negative.hpp"
#include "mechanician/solve/one_sided_sparse.hpp"
#include "mechanician/solve/row_selection.hpp"
#include "mechanician/solve/sized_factorisation.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
// Slacks and multipliers up to this fraction of the sizes in the metric are zero …
constexpr double zero_fraction = 1e-12;
// … and multipliers of nearly dependent rows up to this at most.
constexpr double largest_zero_fraction = 1e-9;
constexpr double noise_factor = 8.0;
constexpr double proximal_weight = 1e-4;
constexpr int most_proximal_steps = 60;

bool is_zero(const VectorXd& x) { return x.size() == 0 || x.isZero(0.0); }

/// The rows that are equalities and those that are one-sided.
struct Kinds {
  std::vector<bool> one_sided;    // m
  std::vector<Index> equality;    // increasing
  std::vector<Index> increasing;  // one-sided rows
};

Kinds tell_apart(const InstantValues& values, const std::vector<Index>& one_sided) {
  const Index m = values.b.size();
  Kinds kinds;
  kinds.one_sided.assign(static_cast<std::size_t>(m), false);
  for (const Index row : one_sided) {
    if (row < 0 || row >= m) throw std::invalid_argument("a one-sided row must be a row");
    if (kinds.one_sided[row]) throw std::invalid_argument("a row is named twice as one-sided");
    kinds.one_sided[row] = true;
  }
  for (const Index row : values.measured) {
    if (kinds.one_sided[row]) throw std::invalid_argument("a one-sided row cannot be a measured one");
  }
  for (Index row = 0; row < m; ++row) (kinds.one_sided[row] ? kinds.increasing : kinds.equality).push_back(row);
  return kinds;
}

/// The two-sided answer with a set of holding rows, and what the conditions of optimality need.
struct Candidate {
  Factorisation f;              // of the rows below
  std::vector<Index> rows;      // equalities and holding rows, increasing
  Solution solution;            // rows numbered within `rows`
  VectorXd joint;               // λ̃ of `rows`
  VectorXd scaled_joint;        // the same as forces in the metric
  VectorXd slack;               // m, A q̈ − b
  VectorXd slack_scaled;        // m, with rows of unit norm in the metric
  VectorXd tolerance_scaled;    // m, what counts as zero there
  double scale = 0;             // size of accelerations and forces in the metric
  double multiplier_zero = 0;   // scaled multipliers up to this count as zero
  bool multipliers_fit = true;  // ≥ 0 on one-sided rows
};

class Programme {
 public:
  Programme(const InstantValues& values, Kinds kinds) : v_(values), kinds_(std::move(kinds)) {}

  OneSidedSolution run(const OneSidedOptions& options);

 private:
  Index n() const { return v_.M.rows(); }
  Index m() const { return v_.b.size(); }

  std::vector<Index> with_equalities(std::vector<Index> holding) const {
    holding.insert(holding.end(), kinds_.equality.begin(), kinds_.equality.end());
    std::sort(holding.begin(), holding.end());
    return holding;
  }
  std::vector<Index> held_of(const std::vector<Index>& rows) const {
    std::vector<Index> held;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(held), [&](Index row) { return kinds_.one_sided[row]; });
    return held;
  }

  Candidate try_rows(const std::vector<Index>& rows) const;
  void measure(Candidate& c) const;
  void choose_multipliers(Candidate& c) const;
  std::optional<VectorXd> non_negative(const Candidate& c, const VectorXd& lambda) const;
  std::vector<Index> touching(const Candidate& c) const;
  bool optimal(const Candidate& c) const;
  bool unique(const Candidate& c) const;
  std::optional<Candidate> settle(std::vector<Index> holding) const;
  OneSidedSolution search(const Candidate& equalities);
  OneSidedSolution search_singular(const Candidate& equalities);
  LeastDistanceProblem make_problem(const MatrixXd& Z_given, const MatrixXd& noise, const VectorXd& g) const;
  OneSidedSolution report(Candidate c) const;
  OneSidedSolution report_conflict(const LeastDistance& found, const VectorXd& D, const Candidate& equalities) const;
  Optimality certify(const Candidate& c) const;

  InstantValues v_;  // b of measured rows replaced by what they can attain
  Kinds kinds_;
  int iterations_ = 0;
  bool given_consistent_ = true;
};

Candidate Programme::try_rows(const std::vector<Index>& rows) const {
  Candidate c;
  c.rows = rows;
  const InstantValues selected = take_rows(v_, rows);
  c.f = factor_dense(selected, v_.A);
  c.solution = solve(c.f, selected);
  if (!c.solution.has_acceleration()) return c;
  if (is_zero(v_.C)) {
    c.joint = c.solution.multipliers;
  } else {
    InstantValues with_C = selected;
    with_C.Q += v_.C;
    with_C.C.resize(0);
    c.joint = solve(c.f, with_C).multipliers;
  }
  measure(c);
  choose_multipliers(c);
  return c;
}

void Programme::measure(Candidate& c) const {
  const Factorisation& f = c.f;
  const VectorXd& qdd = c.solution.qdd;
  VectorXd force = v_.Q;
  if (v_.C.size() > 0) force += v_.C;
  const double force_size = f.to_metric(force).norm();
  const double motion_size = f.definite ? (f.L.transpose() * qdd).norm() : qdd.cwiseQuotient(f.s).norm();
  c.scale = force_size + motion_size;
  double noise = 0;
  if (v_.Q_noise.size() > 0) noise = f.to_metric(v_.Q_noise).norm();

  c.slack = v_.A * qdd - v_.b;
  c.slack_scaled.resize(m());
  c.tolerance_scaled.resize(m());
  const MatrixXd Z = f.definite ? solve_lower(f.L, MatrixXd(v_.A.to_dense().transpose()))
                                : MatrixXd(f.s.asDiagonal() * v_.A.to_dense().transpose());
  for (Index j = 0; j < m(); ++j) {
    const double norm = Z.col(j).norm();
    const double D = norm > 0 ? 1.0 / norm : 1.0;
    double row_noise = 0;
    if (v_.b_noise.size() > 0) row_noise += v_.b_noise(j);
    if (v_.A_noise.size() > 0) row_noise += v_.A_noise.abs_dot(j, qdd);
    c.slack_scaled(j) = D * c.slack(j);
    c.tolerance_scaled(j) = zero_fraction * (c.scale + D * std::abs(v_.b(j))) + noise_factor * (D * row_noise + noise);
  }
  c.scaled_joint = c.joint.cwiseQuotient(f.rows.D);
  const double factor = std::min(zero_fraction * std::max(1.0, f.rows.condition), largest_zero_fraction);
  c.multiplier_zero = factor * c.scale + noise_factor * noise;
}

/// λ of least norm with the same force and λ_j ≥ 0 on one-sided rows, if there is one.
std::optional<VectorXd> Programme::non_negative(const Candidate& c, const VectorXd& lambda) const {
  const LeastNormMultipliers& basis = c.f.multipliers;
  std::vector<bool> one_sided;
  for (const Index row : c.rows) one_sided.push_back(kinds_.one_sided[row]);
  return choose_non_negative(lambda, {basis.kept, basis.dropped, basis.T}, one_sided, c.f.rows.D * c.multiplier_zero);
}

/// Multipliers ≥ 0 on one-sided rows, where dependent rows leave a choice.
void Programme::choose_multipliers(Candidate& c) const {
  const auto zero = [&](std::size_t j) { return c.multiplier_zero * c.f.rows.D(static_cast<Index>(j)); };
  const auto fits = [&](const VectorXd& lambda) {
    for (std::size_t j = 0; j < c.rows.size(); ++j) {
      if (kinds_.one_sided[c.rows[j]] && lambda(static_cast<Index>(j)) < -zero(j)) return false;
    }
    return true;
  };
  const auto clamp = [&](VectorXd& lambda) {
    for (std::size_t j = 0; j < c.rows.size(); ++j) {
      double& x = lambda(static_cast<Index>(j));
      if (kinds_.one_sided[c.rows[j]] && x < 0 && x >= -zero(j)) x = 0;
    }
  };
  const bool has_C = !is_zero(v_.C);
  if (!fits(c.joint)) {
    std::optional<VectorXd> other;
    if (!c.solution.multipliers_unique) other = non_negative(c, c.joint);
    if (!other) {
      c.multipliers_fit = false;
      return;
    }
    c.joint = std::move(*other);
  }
  clamp(c.joint);
  c.scaled_joint = c.joint.cwiseQuotient(c.f.rows.D);

  // The same for the ideal multipliers, where it can be done.
  Solution& s = c.solution;
  VectorXd ideal = c.joint;
  if (has_C) {
    ideal = s.multipliers;
    if (!s.multipliers_unique && !fits(ideal)) {
      if (auto other = non_negative(c, ideal)) ideal = std::move(*other);
    }
    clamp(ideal);
  }
  s.multipliers = std::move(ideal);
}

std::vector<Index> Programme::touching(const Candidate& c) const {
  std::vector<Index> rows;
  for (const Index row : kinds_.increasing) {
    if (c.slack_scaled(row) <= c.tolerance_scaled(row)) rows.push_back(row);
  }
  return rows;
}

bool Programme::optimal(const Candidate& c) const {
  if (!c.solution.has_acceleration() || !c.multipliers_fit) return false;
  for (const Index row : kinds_.increasing) {
    if (c.slack_scaled(row) < -c.tolerance_scaled(row)) return false;
  }
  return unique(c);
}

/// Whether no v ≠ 0 in the null spaces of M, of the equalities and of the rows with λ̃ > 0 has A v ≥ 0 on the rest.
bool Programme::unique(const Candidate& c) const {
  if (c.f.definite) return true;
  std::vector<Index> strong, weak;
  for (std::size_t j = 0; j < c.rows.size(); ++j) {
    const auto column = static_cast<Index>(j);
    const bool is_weak = kinds_.one_sided[c.rows[j]] && c.scaled_joint(column) <= c.multiplier_zero;
    (is_weak ? weak : strong).push_back(column);
  }
  if (weak.empty()) return true;
  const MatrixXd F = calc_mass_root(c.f.M_scaled, c.f.mass.tolerance);
  MatrixXd stacked(n(), F.rows() + static_cast<Index>(strong.size()));
  stacked.leftCols(F.rows()) = F.transpose();
  for (std::size_t i = 0; i < strong.size(); ++i)
    stacked.col(F.rows() + static_cast<Index>(i)) = c.f.rows.Z.col(strong[i]);
  const MatrixXd free = calc_orthonormal_complement(factor_rows(stacked).V1);
  const Index p = free.cols();
  if (p == 0) return true;
  // The cone {x: B x ≥ 0} is {0} iff B has rank p and −B_i lies in the cone of the rows of B for every i.
  const MatrixXd B = free.transpose() * c.f.rows.Z(Eigen::all, weak);
  if (factor_rows(B).rank < p) return false;
  LeastDistanceProblem problem;
  problem.Z = B;
  for (Index i = 0; i < B.cols(); ++i) {
    const double norm = B.col(i).norm();
    if (norm <= 1e-10) {
      problem.Z.col(i).setZero();
      continue;
    }
    problem.Z.col(i) /= norm;
    problem.inequality.push_back(i);
  }
  problem.b = VectorXd::Zero(B.cols());
  problem.tolerance = problem.contradiction = VectorXd::Constant(B.cols(), 1e-9);
  for (const Index i : problem.inequality) {
    problem.g = problem.Z.col(i);  // the nearest point of the cone to B_i is 0 iff −B_i lies in the dual cone
    const LeastDistance nearest = find_least_distance(problem);
    if (nearest.y.norm() > 1e-8) return false;
  }
  return true;
}

/// From a set that a search found to the answer: rows with slack 0 join, rows that would pull leave.
std::optional<Candidate> Programme::settle(std::vector<Index> holding) const {
  Candidate c = try_rows(with_equalities(holding));
  for (int guard = 0; guard < 4 && c.solution.has_acceleration(); ++guard) {
    const std::vector<Index> touched = touching(c);
    if (c.multipliers_fit && touched == held_of(c.rows)) return c;
    std::vector<Index> next = touched;
    if (!c.multipliers_fit) {
      next.clear();
      for (std::size_t j = 0; j < c.rows.size(); ++j) {
        const auto column = static_cast<Index>(j);
        const bool pulls = c.joint(column) < -c.multiplier_zero * c.f.rows.D(column);
        if (kinds_.one_sided[c.rows[j]] && !pulls) next.push_back(c.rows[j]);
      }
    }
    Candidate other = try_rows(with_equalities(next));
    if (c.multipliers_fit && !other.multipliers_fit) return c;  // rounding: rows that carry nothing stay out
    c = std::move(other);
  }
  if (!c.solution.has_acceleration()) return std::nullopt;
  return c;
}

/// Rows as given in some metric; `noise` of the same size or empty.
LeastDistanceProblem Programme::make_problem(const MatrixXd& Z_given, const MatrixXd& noise, const VectorXd& g) const {
  LeastDistanceProblem p;
  p.Z = Z_given;
  p.b = v_.b;
  p.g = g;
  p.equality = kinds_.equality;
  p.tolerance = p.contradiction = VectorXd::Zero(m());
  p.independent = rank_tolerance(m(), n());
  for (Index j = 0; j < m(); ++j) {
    const double norm = Z_given.col(j).norm();
    const double norm_noise = noise.size() > 0 ? noise.col(j).norm() : 0.0;
    if (norm <= noise_factor * norm_noise || norm == 0) {
      p.Z.col(j).setZero();
    } else {
      p.Z.col(j) /= norm;
      p.b(j) /= norm;
      p.independent = std::max(p.independent, std::min(norm_noise / norm, 1e-6));
    }
    if (kinds_.one_sided[j]) p.inequality.push_back(j);
  }
  return p;
}

OneSidedSolution Programme::search(const Candidate& equalities) {
  const Factorisation& f = equalities.f;
  VectorXd force = v_.Q;
  if (v_.C.size() > 0) force += v_.C;
  MatrixXd noise;
  if (v_.A_noise.size() > 0) noise = solve_lower(f.L, MatrixXd(v_.A_noise.to_dense().transpose()));
  const MatrixXd Z = solve_lower(f.L, MatrixXd(v_.A.to_dense().transpose()));
  LeastDistanceProblem p = make_problem(Z, noise, f.to_metric(force));
  VectorXd D(m());
  for (Index j = 0; j < m(); ++j) {
    const double norm = Z.col(j).norm();
    D(j) = norm > 0 ? 1.0 / norm : 1.0;
  }
  p.tolerance = equalities.tolerance_scaled;
  const VectorXd size = equalities.solution.qdd.cwiseAbs();
  for (Index j = 0; j < m(); ++j) {
    const double terms = v_.A.abs_dot(j, size) + std::abs(v_.b(j));
    p.contradiction(j) = std::max(p.tolerance(j), consistency_tolerance * D(j) * terms);
  }
  const LeastDistance found = find_least_distance(p);
  iterations_ += found.iterations;
  if (found.outcome == LeastDistance::Outcome::infeasible) return report_conflict(found, D, equalities);
  std::optional<Candidate> c = settle(found.active);
  if (!c) c = try_rows(with_equalities(found.active));
  return report(std::move(*c));
}

OneSidedSolution Programme::search_singular(const Candidate& equalities) {
  // K = M̄ + σI in scaled coordinates x = S⁻¹q̈, made definite by staying near the last x; y = L_Kᵀx.
  const InstantValues all = v_;
  const Factorisation f = factor_dense(all);  // for the scale of the coordinates only: all rows take part in it
  const VectorXd& s = f.s;
  MatrixXd M_scaled = s.asDiagonal() * f.M * s.asDiagonal();
  for (Index i = 0; i < n(); ++i) {
    if (f.mass.scale(i) > 0) continue;
    M_scaled.row(i).setZero();
    M_scaled.col(i).setZero();
  }
  VectorXd force = v_.Q;
  if (v_.C.size() > 0) force += v_.C;
  force = s.cwiseProduct(force);
  const MatrixXd Z = s.asDiagonal() * v_.A.to_dense().transpose();
  const MatrixXd L = calc_cholesky(M_scaled + proximal_weight * MatrixXd::Identity(n(), n())).L;
  const MatrixXd Z_K = solve_lower(L, Z);
  MatrixXd noise;
  if (v_.A_noise.size() > 0) noise = solve_lower(L, MatrixXd(s.asDiagonal() * v_.A_noise.to_dense().transpose()));
  VectorXd D(m());
  for (Index j = 0; j < m(); ++j) D(j) = Z_K.col(j).norm() > 0 ? 1.0 / Z_K.col(j).norm() : 1.0;
  LeastDistanceProblem p = make_problem(Z_K, noise, solve_lower(L, force));
  VectorXd x = VectorXd::Zero(n());
  std::vector<std::vector<Index>> tried;
  for (int step = 0; step < most_proximal_steps; ++step) {
    p.g = solve_lower(L, VectorXd(force + proximal_weight * x));
    p.tolerance = VectorXd::Constant(m(), 16.0 * eps * p.g.norm());
    p.contradiction = p.tolerance + consistency_tolerance * p.b.cwiseAbs();
    const LeastDistance found = find_least_distance(p);
    iterations_ += found.iterations;
    if (found.outcome == LeastDistance::Outcome::infeasible) return report_conflict(found, D, equalities);
    const VectorXd next = solve_lower_transposed(L, found.y);
    const VectorXd direction = next - x;
    x = next;

    // The set itself, and with the rows that touch as far as these steps can tell.
    std::vector<Index> active = found.active, touched;
    std::sort(active.begin(), active.end());
    const VectorXd miss = p.Z.transpose() * found.y - p.b;
    const double zero = 64.0 * eps * p.g.norm() + 1e-10 * found.y.norm();
    for (const Index j : kinds_.increasing) {
      if (miss(j) <= zero || std::binary_search(active.begin(), active.end(), j)) touched.push_back(j);
    }
    for (const auto* set : {&active, &touched}) {
      if (std::find(tried.begin(), tried.end(), *set) != tried.end()) continue;
      tried.push_back(*set);
      if (auto settled = settle(*set); settled && optimal(*settled)) return report(std::move(*settled));
    }
    // A direction in which nothing resists and something pushes: no acceleration exists.
    const double length = direction.norm();
    if (length <= 1e-9 * x.norm()) break;
    const VectorXd v = direction / length;
    const VectorXd along = Z.transpose() * v;
    bool free = (M_scaled * v).norm() <= 1e-8 && force.dot(v) > 1e-10 * force.norm();
    for (Index j = 0; j < m() && free; ++j) {
      const double tolerance = 1e-8 * Z.col(j).norm();
      free = kinds_.one_sided[j] ? along(j) >= -tolerance : std::abs(along(j)) <= tolerance;
    }
    if (!free) continue;
    OneSidedSolution result = report(equalities);
    result.solution.status = SolveStatus::unsolvable;
    result.solution.solvable = false;
    return result;
  }
  // The face of the optimum leaves the acceleration open.
  Candidate open = tried.empty() ? equalities : try_rows(with_equalities(tried.back()));
  if (open.solution.status == SolveStatus::inconsistent) open = equalities;
  OneSidedSolution result = report(std::move(open));
  clear_motion(result.solution);
  result.solution.status = SolveStatus::not_unique;
  result.solution.unique = false;
  result.solution.solvable = true;
  return result;
}

OneSidedSolution Programme::report_conflict(const LeastDistance& found, const VectorXd& D,
                                            const Candidate& equalities) const {
  OneSidedSolution result = report(equalities);
  clear_motion(result.solution);
  result.solution.status = SolveStatus::inconsistent;
  result.solution.consistent = false;
  result.holding.clear();
  result.slack.resize(0);
  result.optimality = {};
  std::vector<std::pair<Index, double>> entries;
  double largest = 0;
  for (std::size_t i = 0; i < found.conflict.size(); ++i) {
    entries.emplace_back(found.conflict[i], found.coefficients(static_cast<Index>(i)) * D(found.conflict[i]));
    largest = std::max(largest, std::abs(entries.back().second));
  }
  std::sort(entries.begin(), entries.end());
  result.conflict_coefficients.resize(static_cast<Index>(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    result.conflict.push_back(entries[i].first);
    result.conflict_coefficients(static_cast<Index>(i)) = entries[i].second / largest;
  }
  return result;
}

Optimality Programme::certify(const Candidate& c) const {
  Optimality o;
  VectorXd rest = v_.M * c.solution.qdd - v_.Q - c.f.A.transpose() * c.joint;
  if (v_.C.size() > 0) rest -= v_.C;
  const double forces = c.scaled_joint.size() > 0 ? c.scaled_joint.cwiseAbs().maxCoeff() : 0.0;
  const double scale = c.scale + forces;
  if (scale == 0) return o;
  o.stationarity = c.f.to_metric(rest).norm() / scale;
  VectorXd by_row = VectorXd::Zero(m());
  for (std::size_t j = 0; j < c.rows.size(); ++j) by_row(c.rows[j]) = c.scaled_joint(static_cast<Index>(j));
  for (Index j = 0; j < m(); ++j) {
    const double miss = c.slack_scaled(j) / scale;
    o.primal = std::max(o.primal, kinds_.one_sided[j] ? -miss : std::abs(miss));
    if (!kinds_.one_sided[j]) continue;
    const double force = by_row(j) / scale;
    o.dual = std::max(o.dual, -force);
    o.complementarity = std::max(o.complementarity, std::min(std::abs(miss), std::abs(force)));
  }
  return o;
}

OneSidedSolution Programme::report(Candidate c) const {
  OneSidedSolution result;
  result.iterations = iterations_;
  if (c.solution.has_acceleration()) {
    result.optimality = certify(c);
    result.multipliers_joint = VectorXd::Zero(m());
    for (std::size_t j = 0; j < c.rows.size(); ++j) {
      result.multipliers_joint(c.rows[j]) = c.joint(static_cast<Index>(j));
    }
    result.holding = held_of(c.rows);
    std::vector<bool> holds(static_cast<std::size_t>(m()), false);
    for (const Index row : result.holding) holds[row] = true;
    result.slack = VectorXd::Zero(m());
    for (Index j = 0; j < m(); ++j) result.slack(j) = holds[j] ? 0.0 : std::max(0.0, c.slack(j));
  }
  result.solution = std::move(c.solution);
  restore_rows(result.solution, c.rows, v_);
  result.solution.num_rows = m();
  if (!given_consistent_) result.solution.consistent = false;
  for (Index j = 0; j < m() && result.solution.b_used.size() == m(); ++j) {
    if (!std::binary_search(c.rows.begin(), c.rows.end(), j)) result.solution.b_used(j) = v_.b(j);
  }
  return result;
}

OneSidedSolution Programme::run(const OneSidedOptions& options) {
  if (!v_.measured.empty()) {
    // Measured rows settle among the equalities what they can attain; from there on it is exact.
    Candidate equalities;
    equalities.rows = kinds_.equality;
    equalities.solution = solve(take_rows(v_, kinds_.equality));
    const Solution& s = equalities.solution;
    if (!s.has_acceleration() && s.status != SolveStatus::not_unique && s.status != SolveStatus::unsolvable) {
      return report(std::move(equalities));
    }
    given_consistent_ = s.consistent;
    for (std::size_t i = 0; i < kinds_.equality.size(); ++i) v_.b(kinds_.equality[i]) = s.b_used(static_cast<Index>(i));
    v_.measured.clear();
    v_.W.resize(0, 0);
  }
  std::vector<Index> guess;
  if (!options.guess_none) {
    guess = options.warm_start.empty() ? kinds_.increasing : options.warm_start;
    std::sort(guess.begin(), guess.end());
    guess.erase(std::unique(guess.begin(), guess.end()), guess.end());
    for (const Index row : guess) {
      if (row < 0 || row >= m() || !kinds_.one_sided[row]) {
        throw std::invalid_argument("the warm start names a row that is not one-sided");
      }
    }
  }
  if (v_.b.size() > 0 && takes_sparse_path(v_)) {  // without rows there is nothing to choose
    if (auto result = try_solve_sparse(v_, kinds_.one_sided, guess)) {
      if (!given_consistent_) result->solution.consistent = false;
      return std::move(*result);
    }
  }
  Candidate guessed = try_rows(with_equalities(guess));
  const SolveStatus status = guessed.solution.status;
  const bool about_rows = status == SolveStatus::solved || status == SolveStatus::inconsistent ||
                          status == SolveStatus::unsolvable || status == SolveStatus::not_unique;
  if (!about_rows) return report(std::move(guessed));
  if (guessed.multipliers_fit && guessed.solution.has_acceleration()) {
    if (touching(guessed) == guess && optimal(guessed)) return report(std::move(guessed));
  }
  if (kinds_.increasing.empty()) return report(std::move(guessed));
  Candidate equalities = guess.empty() ? std::move(guessed) : try_rows(kinds_.equality);
  if (equalities.solution.status == SolveStatus::inconsistent) return report(std::move(equalities));
  return equalities.f.definite ? search(equalities) : search_singular(equalities);
}

}  // namespace

double Optimality::largest() const { return std::max({stationarity, primal, dual, complementarity}); }

OneSidedSolution solve_one_sided(const InstantValues& values, const std::vector<Index>& one_sided,
                                 const OneSidedOptions& options) {
  check_sizes(values);
  OneSidedSolution result = Programme(values, tell_apart(values, one_sided)).run(options);
  if (result.slack.size() > 0) result.slack = VectorXd(result.slack(one_sided));
  return result;
}

}  // namespace mechanician
