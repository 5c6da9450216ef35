#include "mechanician/solve/one_sided_sparse.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/solve/assemble.hpp"
#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/least_distance.hpp"
#include "mechanician/solve/non_negative.hpp"
#include "mechanician/solve/row_selection.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double zero_fraction = 1e-12;
constexpr double largest_zero_fraction = 1e-9;  // of multipliers of nearly dependent rows
constexpr double noise_factor = 8.0;
constexpr double search_zero = 1e-9;   // signs in the search
constexpr double good_enough = 1e-11;  // of the certificate
constexpr int most_rounds = 6;         // of the final set

class SparseProgramme {
 public:
  SparseProgramme(const InstantValues& v, const std::vector<bool>& one_sided, const SparseMass& mass)
      : v_(v), one_sided_(one_sided), mass_(mass), m_(v.b.size()), solver_(v, !mass.definite()) {
    force_ = v.Q;
    if (v.C.size() > 0) force_ += v.C;
    force_size_ = mass.force_norm(force_);
    if (v.Q_noise.size() > 0) force_noise_ = mass.force_norm(v.Q_noise);
    D_ = VectorXd::Ones(m_);
    for (Index j = 0; j < m_; ++j)
      if (const double norm = mass.row_norm(v.A.row(j)); norm > 0) D_(j) = 1.0 / norm;
  }

  std::optional<OneSidedSolution> run(const std::vector<Index>& guess) {
    // The guess as it is, then the search.
    if (auto result = finish(guess)) return result;
    if (wrong_equalities_) return std::nullopt;
    std::vector<Index> held = guess;
    if (search(held))
      if (auto result = finish(held)) return result;
    return reduce();
  }
  bool wrong_equalities() const { return wrong_equalities_; }

 private:
  std::vector<char> flags(const std::vector<Index>& held) const {
    std::vector<char> in(static_cast<std::size_t>(m_), 0);
    for (const Index j : held) in[static_cast<std::size_t>(j)] = 1;
    for (Index j = 0; j < m_; ++j)
      if (!one_sided_[j]) in[static_cast<std::size_t>(j)] = 1;
    return in;
  }

  bool search(std::vector<Index>& held);
  struct Measured {
    VectorXd slack, scaled, zero;  // by row: A q̈ − b, with unit rows, and what counts as zero there
    double scale = 0;              // of accelerations and forces in the metric
    double lambda_zero = 0;        // of multipliers of unit rows
  };
  Measured measure(const VectorXd& qdd) const;
  struct Dependent {
    std::vector<Index> rows;  // that take part
    DependentRows table;      // by position in `rows`
    MatrixXd N;
  };
  std::optional<Dependent> find_dependent() const;
  bool choose(VectorXd& lambda, const Dependent& dependent, const std::vector<char>& in, double lambda_zero) const;
  bool strongly_unique(const std::vector<Index>& held, const VectorXd& lambda, double lambda_zero);
  std::optional<OneSidedSolution> finish(std::vector<Index> held);
  std::optional<OneSidedSolution> report(const std::vector<Index>& held, const std::vector<char>& in,
                                         const RowSolver::Answer& motion, const Dependent& dependent,
                                         const Measured& measured);
  std::optional<OneSidedSolution> reduce();
  OneSidedSolution report_conflict(const LeastDistance& found, const std::vector<Index>& rows, const VectorXd& size,
                                   const MatrixXd& Lambda) const;

  const InstantValues& v_;
  const std::vector<bool>& one_sided_;
  const SparseMass& mass_;
  Index m_;
  RowSolver solver_;
  VectorXd force_, D_;
  double force_size_ = 0, force_noise_ = 0;
  int iterations_ = 0;
  bool wrong_equalities_ = false;
};

bool SparseProgramme::search(std::vector<Index>& held) {
  Index fewest = m_ + 1;
  int patience = 3;
  const int most = 20 + 2 * static_cast<int>(std::count(one_sided_.begin(), one_sided_.end(), true));
  std::vector<char> in = flags(held);
  while (++iterations_ < most) {
    if (!solver_.hold(in, RowSolver::Care::search)) return false;
    const RowSolver::Answer motion = solver_.solve(force_, v_.b);
    if (!motion.vouched) return false;
    const double size = force_size_ + mass_.motion_norm(motion.x);
    std::vector<char> depends(static_cast<std::size_t>(m_), 0);
    for (const int row : solver_.dependent()) depends[static_cast<std::size_t>(row)] = 1;
    std::vector<Index> wrong;
    for (Index j = 0; j < m_; ++j) {
      if (!one_sided_[j]) continue;
      const auto at = static_cast<std::size_t>(j);
      const double slack = D_(j) * (v_.A.dot(j, motion.x) - v_.b(j)),
                   zero = search_zero * (size + D_(j) * std::abs(v_.b(j)));
      if (in[at] && depends[at]) {
        if (slack < -zero) return false;  // one of those it depends on would have to make room
        if (slack > zero) wrong.push_back(j);
      } else if (in[at] ? motion.lambda(j) / D_(j) < -zero : slack < -zero) {
        wrong.push_back(j);
      }
    }
    if (wrong.empty()) {
      held.clear();
      for (Index j = 0; j < m_; ++j)
        if (one_sided_[j] && in[static_cast<std::size_t>(j)]) held.push_back(j);
      return true;
    }
    const auto num = static_cast<Index>(wrong.size());
    if (num < fewest) {
      fewest = num;
      patience = 3;
    } else if (patience > 0) {
      --patience;
    } else {
      wrong = {wrong.back()};
    }
    for (const Index j : wrong) in[static_cast<std::size_t>(j)] = !in[static_cast<std::size_t>(j)];
  }
  return false;
}

SparseProgramme::Measured SparseProgramme::measure(const VectorXd& qdd) const {
  Measured x;
  x.scale = force_size_ + mass_.motion_norm(qdd);
  x.slack.resize(m_), x.scaled.resize(m_), x.zero.resize(m_);
  for (Index j = 0; j < m_; ++j) {
    long double sum = -static_cast<long double>(v_.b(j));
    for (const SparseRows::Entry& e : v_.A.row(j)) sum += static_cast<long double>(e.value) * qdd(e.col);
    double noise = v_.b_noise.size() > 0 ? v_.b_noise(j) : 0.0;
    if (v_.A_noise.size() > 0) noise += v_.A_noise.abs_dot(j, qdd);
    x.slack(j) = static_cast<double>(sum);
    x.scaled(j) = D_(j) * x.slack(j);
    x.zero(j) = zero_fraction * (x.scale + D_(j) * std::abs(v_.b(j))) + noise_factor * (D_(j) * noise + force_noise_);
  }
  const double factor = std::min(zero_fraction / solver_.least_sine(), largest_zero_fraction);
  x.lambda_zero = std::max(zero_fraction, factor) * x.scale + noise_factor * force_noise_;
  return x;
}

/// Rows that depend on others, with those they consist of; nothing where they are not all explained.
std::optional<SparseProgramme::Dependent> SparseProgramme::find_dependent() const {
  Dependent d;
  if (solver_.dependent().empty()) return d;
  if (!solver_.robust().explained) return std::nullopt;
  const auto& found = solver_.robust().dependences;
  std::vector<Index> place(static_cast<std::size_t>(m_), -1);
  const auto add = [&](int pattern_row) {
    const Index row = solver_.row_of(pattern_row);
    if (place[static_cast<std::size_t>(row)] >= 0) return;
    place[static_cast<std::size_t>(row)] = static_cast<Index>(d.rows.size());
    d.rows.push_back(row);
  };
  for (const SparseDependence& dependence : found) {
    add(dependence.row);
    for (const int row : dependence.rows) add(row);
  }
  // Rows may be explained by rows that depend on others themselves: any basis of the vectors will do.
  const auto num = static_cast<Index>(d.rows.size()), count = static_cast<Index>(found.size());
  MatrixXd N = MatrixXd::Zero(num, count);
  for (Index c = 0; c < count; ++c) {
    const SparseDependence& dependence = found[static_cast<std::size_t>(c)];
    N(place[static_cast<std::size_t>(solver_.row_of(dependence.row))], c) = 1.0;
    for (std::size_t k = 0; k < dependence.rows.size(); ++k)
      N(place[static_cast<std::size_t>(solver_.row_of(dependence.rows[k]))], c) = -dependence.coefficients[k];
  }
  // As a table: dropped rows in terms of the others.
  const PivotedQr qr = calc_pivoted_qr(MatrixXd(N.transpose()));
  std::vector<Index> dropped(qr.order.begin(), qr.order.begin() + count),
      kept(qr.order.begin() + count, qr.order.end());
  std::sort(dropped.begin(), dropped.end()), std::sort(kept.begin(), kept.end());
  const MatrixXd inverse = MatrixXd(N(dropped, Eigen::all)).inverse();
  d.table.kept = kept, d.table.dropped = dropped;
  d.table.T = -N(kept, Eigen::all) * inverse;
  d.N = orthonormalised(N);
  return d;
}

/// Least norm, then ≥ 0 on one-sided rows. True: it is.
bool SparseProgramme::choose(VectorXd& all, const Dependent& dependent, const std::vector<char>& in,
                             double lambda_zero) const {
  const auto fits = [&](const VectorXd& lambda) {
    for (Index j = 0; j < m_; ++j)
      if (one_sided_[j] && in[static_cast<std::size_t>(j)] && lambda(j) < -lambda_zero * D_(j)) return false;
    return true;
  };
  if (!dependent.rows.empty()) {
    VectorXd part = all(dependent.rows);
    part -= dependent.N * (dependent.N.transpose() * part);
    all(dependent.rows) = part;
    // A multiplier that is determined and pulls is not mended by any choice of the others.
    std::vector<char> takes_part(static_cast<std::size_t>(m_), 0);
    for (const Index j : dependent.rows) takes_part[static_cast<std::size_t>(j)] = 1;
    bool hopeless = false;
    for (Index j = 0; j < m_; ++j)
      hopeless = hopeless || (one_sided_[j] && in[static_cast<std::size_t>(j)] &&
                              !takes_part[static_cast<std::size_t>(j)] && all(j) < -lambda_zero * D_(j));
    if (!hopeless && !fits(all)) {
      std::vector<bool> sided;
      VectorXd zero(part.size());
      for (std::size_t i = 0; i < dependent.rows.size(); ++i) {
        sided.push_back(one_sided_[dependent.rows[i]]);
        zero(static_cast<Index>(i)) = lambda_zero * D_(dependent.rows[i]);
      }
      if (const auto other = choose_non_negative(part, dependent.table, sided, zero)) all(dependent.rows) = *other;
    }
  }
  const bool good = fits(all);
  for (Index j = 0; j < m_; ++j)
    if (one_sided_[j] && all(j) < 0 && all(j) >= -lambda_zero * D_(j)) all(j) = 0;
  return good;
}

/// Singular masses: whether equalities and rows that carry something determine the acceleration.
bool SparseProgramme::strongly_unique(const std::vector<Index>& held, const VectorXd& lambda, double lambda_zero) {
  if (mass_.definite()) return true;
  std::vector<Index> strong;
  for (const Index j : held)
    if (lambda(j) > lambda_zero * D_(j)) strong.push_back(j);
  InstantValues v;
  v.M = v_.M, v.b = VectorXd::Zero(m_), v.A = v_.A;
  const std::vector<char> in = flags(strong);
  std::span<SparseRows::Entry> entries = v.A.entries();
  for (Index j = 0; j < m_; ++j) {
    const auto first = static_cast<std::size_t>(v.A.row(j).data() - entries.data());
    for (std::size_t k = 0; !in[static_cast<std::size_t>(j)] && k < v.A.row(j).size(); ++k)
      entries[first + k].value = 0.0;
  }
  const InstantPattern pattern(v.M, v.A);
  const SparseFreeSpace space(pattern.sparse(), *pattern.values_of_mass(v.M), *pattern.values_of_rows(v.A, {}));
  return !space.directions().mass_is_indefinite && space.directions().undetermined.empty();
}

std::optional<OneSidedSolution> SparseProgramme::finish(std::vector<Index> held) {
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<char> in = flags(held);
    if (!solver_.hold(in, RowSolver::Care::explain) || solver_.near_decision()) return std::nullopt;
    const std::optional<Dependent> dependent = find_dependent();
    if (!dependent) return std::nullopt;
    RowSolver::Answer motion = solver_.solve(force_, v_.b);
    if (!motion.vouched || !motion.x.allFinite()) return std::nullopt;
    const Measured x = measure(motion.x);
    bool unmet = false;
    for (const int j : solver_.dependent()) {
      const double allowed =
          std::max(x.zero(j), consistency_tolerance * D_(j) * (std::abs(v_.b(j)) + v_.A.abs_dot(j, motion.x)));
      if (std::abs(x.scaled(j)) <= allowed) continue;
      unmet = true;
      // With the equalities alone?
      const auto& all = solver_.robust().dependences;
      const auto own = std::find_if(all.begin(), all.end(), [&](const auto& d) { return solver_.row_of(d.row) == j; });
      wrong_equalities_ = wrong_equalities_ || (!one_sided_[j] && own != all.end() &&
                                                std::all_of(own->rows.begin(), own->rows.end(),
                                                            [&](int row) { return !one_sided_[solver_.row_of(row)]; }));
    }
    if (unmet) return std::nullopt;
    const bool good = choose(motion.lambda, *dependent, in, x.lambda_zero);

    // The set once more: rows with slack 0 hold, rows that pull do not.
    std::vector<Index> next;
    bool violated = false;
    for (Index j = 0; j < m_; ++j) {
      if (!one_sided_[j]) continue;
      violated = violated || x.scaled(j) < -x.zero(j);
      if (x.scaled(j) > x.zero(j)) continue;
      const bool pulls = !good && motion.lambda(j) < -x.lambda_zero * D_(j);
      if (!pulls) next.push_back(j);
    }
    if (violated) return std::nullopt;
    if (good && next == held) {
      if (!strongly_unique(held, motion.lambda, x.lambda_zero)) return std::nullopt;
      return report(held, in, motion, *dependent, x);
    }
    if (next == held) return std::nullopt;
    ++iterations_;
    held = std::move(next);
  }
  return std::nullopt;
}

std::optional<OneSidedSolution> SparseProgramme::report(const std::vector<Index>& held, const std::vector<char>& in,
                                                        const RowSolver::Answer& motion, const Dependent& dependent,
                                                        const Measured& x) {
  OneSidedSolution result;
  Solution& s = result.solution;
  const Index n = v_.M.rows();
  const bool has_C = v_.C.size() > 0 && !v_.C.isZero(0.0);
  VectorXd ideal = motion.lambda;
  if (has_C) {
    RowSolver::Answer without = solver_.solve(v_.Q, v_.b);
    if (!without.vouched) return std::nullopt;
    ideal = std::move(without.lambda);
    choose(ideal, dependent, in, x.lambda_zero);
  }
  MotionForces forces;
  forces.qdd = motion.x;
  forces.F_ideal = v_.A.transposed_times(ideal);
  forces.F_nonideal = VectorXd::Zero(n);
  // Rows that leave no freedom take up all of C.
  if (has_C && solver_.rank() < n) forces.F_nonideal = v_.C + v_.A.transposed_times(motion.lambda - ideal);
  attribute_forces(forces, ideal, s);
  result.multipliers_joint = motion.lambda;
  if (mass_.definite()) {
    const double norm = mass_.force_norm(forces.F_ideal + forces.F_nonideal);
    s.gaussian = norm * norm;
    s.a = mass_.solve(v_.Q);
  }
  s.b_used = v_.b;
  for (const int j : solver_.dependent()) s.b_used(j) = v_.b(j) + x.slack(j);
  s.residual = VectorXd::Zero(m_);
  s.mass = mass_.check();
  s.rank = solver_.rank();
  s.num_rows = m_;
  const double floor = static_cast<double>(std::max(m_, n)) * eps;
  s.rank_gap = s.rank == 0 ? std::numeric_limits<double>::infinity() : solver_.least_sine() / floor;
  s.multipliers_undetermined.assign(dependent.rows.begin(), dependent.rows.end());
  std::sort(s.multipliers_undetermined.begin(), s.multipliers_undetermined.end());
  s.multipliers_unique = s.multipliers_undetermined.empty();
  result.holding = held;
  result.slack = x.slack.cwiseMax(0.0);
  for (Index j = 0; j < m_; ++j)
    if (in[static_cast<std::size_t>(j)]) result.slack(j) = 0.0;
  result.iterations = iterations_;

  // Certificate.
  const VectorXd rest = v_.M * motion.x - force_ - v_.A.transposed_times(motion.lambda);
  const double size = x.scale + motion.lambda.cwiseQuotient(D_).cwiseAbs().maxCoeff();
  Optimality& o = result.optimality;
  if (size > 0) {
    o.stationarity = mass_.force_norm(rest) / size;
    for (Index j = 0; j < m_; ++j) {
      const double miss = x.scaled(j) / size, pull = motion.lambda(j) / D_(j) / size;
      o.primal = std::max(o.primal, one_sided_[j] ? -miss : std::abs(miss));
      if (!one_sided_[j]) continue;
      o.dual = std::max(o.dual, -pull);
      o.complementarity = std::max(o.complementarity, std::min(std::abs(miss), std::abs(pull)));
    }
  }
  if (!(o.largest() <= good_enough)) return std::nullopt;
  return result;
}

/// The programme in the forces of the one-sided rows.
std::optional<OneSidedSolution> SparseProgramme::reduce() {
  constexpr Index most = 1500;
  std::vector<Index> rows;
  for (Index j = 0; j < m_; ++j)
    if (one_sided_[j]) rows.push_back(j);
  const auto p = static_cast<Index>(rows.size());
  if (p == 0 || p > most || !solver_.hold(flags({}), RowSolver::Care::decide)) return std::nullopt;
  const RowSolver::Answer free = solver_.solve(force_, v_.b);
  if (!free.vouched) return std::nullopt;
  const SparseRows N = v_.A.select(rows);
  MatrixXd W(p, p), Lambda(m_, p);
  const VectorXd none = VectorXd::Zero(m_);
  for (Index j = 0; j < p; ++j) {
    const RowSolver::Answer moved =
        solver_.solve(D_(rows[j]) * N.select({j}).transposed_times(VectorXd::Ones(1)), none);
    if (!moved.vouched) return std::nullopt;
    W.col(j) = N * moved.x;
    Lambda.col(j) = moved.lambda;
  }
  for (Index j = 0; j < p; ++j) W.row(j) *= D_(rows[j]);
  // W = FᵀF.
  const SymmetricEigen eigen = calc_symmetric_eigen(0.5 * (W + W.transpose()));
  const double least = 1e-14 * static_cast<double>(p) * std::max(eigen.values(p - 1), 0.0);
  Index rank = p;
  while (rank > 0 && eigen.values(p - rank) <= least) --rank;
  LeastDistanceProblem problem;
  problem.Z = eigen.values.tail(rank).cwiseSqrt().asDiagonal() * eigen.vectors.rightCols(rank).transpose();
  problem.g = VectorXd::Zero(rank);
  problem.b.resize(p), problem.tolerance.resize(p), problem.contradiction.resize(p);
  VectorXd size(p);
  const Measured x = measure(free.x);
  for (Index j = 0; j < p; ++j) {
    const double norm = problem.Z.col(j).norm();
    size(j) = norm > 1e-10 ? norm : 0.0;
    if (size(j) > 0) problem.Z.col(j) /= norm;
    if (size(j) == 0) problem.Z.col(j).setZero();
    const double scale = size(j) > 0 ? size(j) : 1.0;
    problem.b(j) = -x.scaled(rows[j]) / scale;
    problem.tolerance(j) = x.zero(rows[j]) / scale;
    problem.contradiction(j) =
        std::max(problem.tolerance(j), consistency_tolerance * D_(rows[j]) *
                                           (v_.A.abs_dot(rows[j], free.x) + std::abs(v_.b(rows[j]))) / scale);
    // What the equalities decide can only be looked at.
    if (size(j) == 0 && problem.b(j) > problem.contradiction(j)) return std::nullopt;
    if (size(j) > 0) problem.inequality.push_back(j);
  }
  const LeastDistance found = find_least_distance(problem);
  iterations_ += found.iterations;
  if (found.outcome == LeastDistance::Outcome::infeasible) return report_conflict(found, rows, size, Lambda);
  if (found.outcome != LeastDistance::Outcome::found) return std::nullopt;
  std::vector<Index> held;
  for (const Index j : found.active) held.push_back(rows[j]);
  std::sort(held.begin(), held.end());
  return finish(held);
}

OneSidedSolution SparseProgramme::report_conflict(const LeastDistance& found, const std::vector<Index>& rows,
                                                  const VectorXd& size, const MatrixXd& Lambda) const {
  OneSidedSolution result;
  result.solution.status = SolveStatus::inconsistent;
  result.solution.consistent = false;
  result.solution.mass = mass_.check();
  result.solution.num_rows = m_;
  result.iterations = iterations_;
  // Σ y_j A_j over one-sided rows is made zero by the equalities.
  VectorXd y = VectorXd::Zero(m_);
  for (std::size_t i = 0; i < found.conflict.size(); ++i) {
    const Index j = found.conflict[i];
    const double factor = found.coefficients(static_cast<Index>(i)) / size(j);
    y(rows[j]) += factor * D_(rows[j]);
    y += factor * Lambda.col(j);
  }
  const VectorXd share = y.cwiseQuotient(D_).cwiseAbs();
  const double least = 1e-9 * share.maxCoeff(), largest = y.cwiseAbs().maxCoeff();
  std::vector<double> coefficients;
  for (Index j = 0; j < m_; ++j) {
    if (!(share(j) > least)) continue;
    result.conflict.push_back(j);
    coefficients.push_back(y(j) / largest);
  }
  result.conflict_coefficients =
      Eigen::Map<const VectorXd>(coefficients.data(), static_cast<Index>(coefficients.size()));
  return result;
}

}  // namespace

std::optional<OneSidedSolution> try_solve_sparse(const InstantValues& values, const std::vector<bool>& one_sided,
                                                 const std::vector<Index>& guess) {
  if (!values.measured.empty() || !matrices_finite(values) || !vectors_finite(values)) return std::nullopt;
  const SparseMass mass(values.M, values.M_noise, values.A);
  if (mass.check().kind == MassKind::indefinite || mass.check().kind == MassKind::not_symmetric) return std::nullopt;
  for (Index j = 0; j < values.b.size(); ++j) {
    const double norm = mass.row_norm(values.A.row(j));
    const double noise = values.A_noise.size() > 0 ? mass.row_norm(values.A_noise.row(j), true) : 0.0;
    // Rows near their own rounding error need the care of the dense factorisation.
    if (norm == 0 || !std::isfinite(1.0 / norm) || noise > 1e-9 * norm) return std::nullopt;
  }
  SparseProgramme programme(values, one_sided, mass);
  if (auto result = programme.run(guess)) return result;
  if (!programme.wrong_equalities()) return std::nullopt;
  // Equalities that contradict each other: theirs is the answer.
  std::vector<Index> equality;
  for (Index j = 0; j < values.b.size(); ++j)
    if (!one_sided[j]) equality.push_back(j);
  OneSidedSolution result;
  result.solution = solve(take_rows(values, equality));
  restore_rows(result.solution, equality, values);
  result.solution.num_rows = values.b.size();
  if (result.solution.has_acceleration()) return std::nullopt;
  return result;
}

}  // namespace mechanician
