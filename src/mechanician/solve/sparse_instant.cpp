#include "mechanician/solve/sparse_instant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "mechanician/solve/assemble.hpp"
#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/rank.hpp"
#include "mechanician/solve/sparse_diagnosis.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr Index most_directions = 64;  // that are told one by one

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// M and A alone, on the pattern of `values`.
InstantValues matrices_of(const InstantValues& values, const SparseRows& A) {
  InstantValues v;
  v.M = values.M, v.A = A, v.b = VectorXd::Zero(values.b.size());
  v.pattern = values.pattern, v.pattern_rows = values.pattern_rows;
  return v;
}

}  // namespace

SparseInstant::SparseInstant(const InstantValues& values)
    : M_(values.M),
      A_(values.A.size() > 0 ? values.A : SparseRows(values.b.size(), values.M.rows())),
      mass_(values.M, values.M_noise, A_),
      zero_row_(static_cast<std::size_t>(values.b.size()), 0),
      D_(VectorXd::Ones(values.b.size())),
      measured_(values.measured),
      W_(values.W) {
  const Index m = values.b.size();
  if (mass_.check().kind == MassKind::indefinite) status_ = SolveStatus::mass_indefinite;
  if (mass_.check().kind == MassKind::not_symmetric) status_ = SolveStatus::mass_not_symmetric;
  const bool refused = status_ != SolveStatus::solved;

  // Rows within their own rounding error are none.
  std::span<SparseRows::Entry> entries = A_.entries();
  for (Index j = 0; j < m; ++j) {
    const double norm = mass_.row_norm(A_.row(j));
    const double noise = values.A_noise.size() > 0 ? mass_.row_norm(values.A_noise.row(j), true) : 0.0;
    const bool zero = norm == 0 || norm <= zero_row_factor * noise || !std::isfinite(1.0 / norm);
    zero_row_[static_cast<std::size_t>(j)] = zero;
    if (!zero) D_(j) = 1.0 / norm;
    const auto first = static_cast<std::size_t>(A_.row(j).data() - entries.data());
    for (std::size_t k = 0; zero && k < A_.row(j).size(); ++k) entries[first + k].value = 0.0;
  }

  InstantValues v = matrices_of(values, A_);
  const std::vector<char> all(static_cast<std::size_t>(m), 1);
  if (!refused) {
    solver_ = std::make_unique<RowSolver>(v, !mass_.definite());
    bool held = solver_->hold(all, RowSolver::Care::explain);
    if (!held && mass_.definite()) {
      solver_ = std::make_unique<RowSolver>(v, true);
      held = solver_->hold(all, RowSolver::Care::explain);
    }
    if (!mass_.definite()) find_free_space();
    trustworthy_ = held || !unique_;
  }
  if (refused || !unique_) {
    // Rows can be told apart whatever the masses are.
    v.M = SparseRows::diagonal(mass_.scale().cwiseAbs2().cwiseInverse());
    v.pattern = nullptr, v.pattern_rows.clear();
    solver_ = std::make_unique<RowSolver>(v, false);
    solver_->hold(all, RowSolver::Care::explain);
  }
  if (!values.measured.empty()) {
    const SparseMass weights(values.W, {}, {});
    if (weights.check().kind != MassKind::definite && status_ == SolveStatus::solved)
      status_ = SolveStatus::weights_not_definite;
  }
}

/// M ≥ 0: what neither mass nor row determines.
void SparseInstant::find_free_space() {
  space_ = std::make_unique<SparseFreeSpace>(solver_->pattern(), solver_->mass_values(), solver_->row_values());
  for (const int i : space_->directions().undetermined) undetermined_.push_back(i);
  unique_ = undetermined_.empty();
  if (unique_) return;
  free_ = space_->basis(most_directions);
  for (auto column : free_.colwise()) column = column.cwiseProduct(space_->scale()).cwiseQuotient(mass_.scale()).eval();
  for (auto column : free_.colwise()) column.normalize();
}

RowSolver::Answer SparseInstant::respond(const VectorXd& f, const VectorXd& g) {
  RowSolver::Answer answer = solver_->solve(f, g);
  answer.lambda = spread(answer.lambda);
  return answer;
}

/// Of least norm, with the same force.
VectorXd SparseInstant::spread(const VectorXd& lambda) const {
  const SparseRobustSolution& robust = solver_->robust();
  if (robust.dependences.empty()) return lambda;
  std::vector<SparseDependence> basis = robust.dependences;
  for (SparseDependence& d : basis) {
    d.row = solver_->row_of(d.row);
    for (int& row : d.rows) row = solver_->row_of(row);
  }
  const std::vector<double> least =
      calc_least_norm_multipliers({lambda.data(), static_cast<std::size_t>(lambda.size())}, basis);
  return Eigen::Map<const VectorXd>(least.data(), lambda.size());
}

VectorXd SparseInstant::project_consistent(const VectorXd& b) {
  if (solver_->dependent().empty()) return b;
  const SparseRobustSolution& robust = solver_->robust();
  if (!robust.explained) {
    VectorXd result = b;
    const VectorXd x = solver_->solve(VectorXd::Zero(A_.cols()), b).x;
    for (const int row : solver_->dependent()) result(row) = A_.dot(row, x);
    return result;
  }
  std::vector<SparseDependence> basis = robust.dependences;  // of scaled rows
  for (SparseDependence& d : basis) {
    d.row = solver_->row_of(d.row);
    for (std::size_t k = 0; k < d.rows.size(); ++k) {
      d.rows[k] = solver_->row_of(d.rows[k]);
      d.coefficients[k] *= D_(d.row) / D_(d.rows[k]);
    }
  }
  const VectorXd scaled = D_.cwiseProduct(b);
  const std::vector<double> nearest =
      calc_least_norm_multipliers({scaled.data(), static_cast<std::size_t>(b.size())}, basis);
  return Eigen::Map<const VectorXd>(nearest.data(), b.size()).cwiseQuotient(D_);
}

/// Do rows that depend on others agree with them? As check_consistency().
SparseInstant::RowCheck SparseInstant::check_rows(const InstantValues& values) {
  const Index m = values.b.size();
  RowCheck check;
  check.b = values.b, check.residual = VectorXd::Zero(m), check.tolerance = VectorXd::Zero(m);
  if (solver_->dependent().empty()) return check;
  const VectorXd least = solver_->solve(VectorXd::Zero(values.M.rows()), values.b).x;
  check.tolerance = calc_row_tolerances(values, all_rows(m), least.cwiseAbs(), D_, 1.0 / solver_->least_sine());
  const SparseRobustSolution& robust = solver_->robust();
  for (const SparseDependence& d : robust.dependences) {
    const Index row = solver_->row_of(d.row);
    long double miss = values.b(row);
    double allowed = check.tolerance(row);
    for (std::size_t k = 0; k < d.rows.size(); ++k) {
      const Index other = solver_->row_of(d.rows[k]);
      miss -= static_cast<long double>(d.coefficients[k]) * values.b(other);
      allowed += std::abs(d.coefficients[k]) * check.tolerance(other);
    }
    if (std::abs(static_cast<double>(miss)) > allowed) check.consistent = false;
  }
  for (const int row : solver_->dependent())
    if (!robust.explained && std::abs(A_.dot(row, least) - values.b(row)) > 10.0 * check.tolerance(row))
      check.consistent = false;
  check.b = project_consistent(values.b);
  check.residual = values.b - check.b;
  return check;
}

bool SparseInstant::is_solvable(const InstantValues& values) const {
  if (unique_) return true;
  VectorXd force = values.Q, size = values.Q.cwiseAbs();
  if (values.C.size() > 0) force += values.C, size += values.C.cwiseAbs();
  if (free_.cols() == 0) return space_->is_solvable({force.data(), static_cast<std::size_t>(force.size())});
  return is_force_balanced(free_, mass_.scale(), force, size, values.Q_noise);
}

void SparseInstant::describe(Solution& s) const {
  const Index m = A_.rows();
  s.mass = mass_.check();
  s.rank = solver_->rank();
  s.num_rows = m;
  s.rank_gap = s.rank == 0 ? std::numeric_limits<double>::infinity()
                           : solver_->least_sine() / (static_cast<double>(std::max(m, A_.cols())) * eps);
  s.rank_doubtful = solver_->near_decision();
  s.unique = unique_;
  s.undetermined = undetermined_;
  std::vector<char> open(static_cast<std::size_t>(m), 0);
  for (const int row : solver_->dependent()) open[static_cast<std::size_t>(row)] = 1;
  for (const SparseDependence& d : solver_->robust().dependences) {
    open[static_cast<std::size_t>(solver_->row_of(d.row))] = 1;
    for (const int row : d.rows) open[static_cast<std::size_t>(solver_->row_of(row))] = 1;
  }
  for (Index j = 0; j < m; ++j)
    if (open[static_cast<std::size_t>(j)]) s.multipliers_undetermined.push_back(j);
  s.multipliers_unique = s.multipliers_undetermined.empty();
  if (unique_ || free_.cols() == 0) return;
  s.undetermined_directions = mass_.scale().asDiagonal() * free_;
  scale_to_largest(s.undetermined_directions);
}

/// A_w q̈* of the measured rows; nothing where the steps do not end.
std::optional<VectorXd> SparseInstant::attain(const InstantValues& values, const std::vector<Index>& exact,
                                              const std::vector<Index>& measured, const MatrixXd& W) const {
  constexpr double share = 1e-6;
  constexpr int most_steps = 60;
  const Index n = values.M.rows(), num_exact = static_cast<Index>(exact.size());
  const auto w = static_cast<Index>(measured.size());
  // Rows over their own sizes, weights likewise: units do not matter.
  InstantValues v;
  v.M = SparseRows(0, n + w), v.A = SparseRows(0, n + w);
  v.b.resize(num_exact + w);
  const VectorXd D = mass_.scale().cwiseAbs2().cwiseInverse();
  double size = 0;
  for (Index i = 0; i < w; ++i) size = std::max(size, W(i, i) / (D_(measured[i]) * D_(measured[i])));
  const VectorXd delta = share * size * D;
  for (Index i = 0; i < n; ++i) v.M.add(i, delta(i)), v.M.end_row();
  for (Index i = 0; i < w; ++i) {
    for (Index j = 0; j < w; ++j)
      if (W(i, j) != 0.0 || W(j, i) != 0.0 || i == j) v.M.add(n + j, 0.5 * (W(i, j) + W(j, i)));
    v.M.end_row();
  }
  for (Index k = 0; k < num_exact + w; ++k) {
    const Index row = k < num_exact ? exact[k] : measured[k - num_exact];
    for (const SparseRows::Entry& e : A_.row(row)) v.A.add(e.col, e.value);
    if (k >= num_exact) v.A.add(n + k - num_exact, -1.0);
    v.A.end_row();
    v.b(k) = values.b(row);
  }
  RowSolver kkt(v, false);
  if (!kkt.hold(std::vector<char>(static_cast<std::size_t>(num_exact + w), 1), RowSolver::Care::decide))
    return std::nullopt;
  VectorXd x = VectorXd::Zero(n), attained = VectorXd::Zero(w), f = VectorXd::Zero(n + w);
  for (int step = 0; step < most_steps; ++step) {
    f.head(n) = delta.cwiseProduct(x);
    const RowSolver::Answer answer = kkt.solve(f, v.b);
    if (!answer.vouched) return std::nullopt;
    x = answer.x.head(n);
    VectorXd now(w);
    double change = 0;
    for (Index i = 0; i < w; ++i) {
      now(i) = A_.dot(measured[i], x);
      const double terms = A_.abs_dot(measured[i], x) + std::abs(values.b(measured[i]));
      change = std::max(change, terms > 0 ? std::abs(now(i) - attained(i)) / terms : 0.0);
    }
    attained = std::move(now);
    if (change <= 4.0 * eps) return attained;
    if (step + 1 == most_steps && change <= 1e-12) return attained;
  }
  return std::nullopt;
}

VectorXd SparseInstant::replace_measured(const InstantValues& values, SolveStatus& status) {
  // Rows that are all independent can all be met.
  if (solver_->dependent().empty()) return values.b;
  std::vector<char> is_measured(static_cast<std::size_t>(values.b.size()), 0);
  for (const Index row : measured_) is_measured[static_cast<std::size_t>(row)] = 1;
  std::vector<Index> exact;
  for (Index j = 0; j < values.b.size(); ++j)
    if (!is_measured[static_cast<std::size_t>(j)]) exact.push_back(j);
  InstantValues alone = matrices_of(values, A_.select(exact));
  alone.b.resize(static_cast<Index>(exact.size()));
  alone.pattern = nullptr, alone.pattern_rows.clear();
  for (std::size_t k = 0; k < exact.size(); ++k) alone.b(static_cast<Index>(k)) = values.b(exact[k]);
  if (values.b_noise.size() > 0) alone.b_noise = values.b_noise(exact);
  if (values.b_size.size() > 0) alone.b_size = values.b_size(exact);
  if (values.A_noise.size() > 0) alone.A_noise = values.A_noise.select(exact);
  alone.Q = values.Q;
  SparseInstant of_exact(alone);
  of_exact.D_ = D_(exact);  // coordinates without mass are as large as all rows together make them
  const RowCheck check = of_exact.check_rows(alone);
  if (!check.consistent) status = SolveStatus::inconsistent;
  std::vector<Index> kept;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const auto& dependent = of_exact.solver_->dependent();
    if (!std::binary_search(dependent.begin(), dependent.end(), static_cast<int>(k))) kept.push_back(exact[k]);
  }
  InstantValues settled = values;
  for (std::size_t k = 0; k < exact.size(); ++k) settled.b(exact[k]) = check.b(static_cast<Index>(k));
  const std::optional<VectorXd> attained = attain(settled, kept, measured_, W_);
  if (!attained) {
    // Weights of very different sizes are for orthogonal factorisations.
    InstantValues dense = values;
    dense.path = SolvePath::dense;
    const Solution solution = mechanician::solve(dense);
    status = solution.status == SolveStatus::inconsistent ? SolveStatus::inconsistent : status;
    return solution.b_used.size() == values.b.size() ? solution.b_used : settled.b;
  }
  for (std::size_t i = 0; i < measured_.size(); ++i) settled.b(measured_[i]) = (*attained)(static_cast<Index>(i));
  return settled.b;
}

MotionForces SparseInstant::calc_motion(const VectorXd& Q, const VectorXd& b, const VectorXd& C) {
  MotionForces motion;
  const RowSolver::Answer ideal = solver_->solve(Q, b);
  motion.qdd = ideal.x;
  motion.lambda_ideal = motion.lambda_joint = ideal.lambda;
  motion.F_ideal = A_.transposed_times(ideal.lambda);
  motion.F_nonideal = VectorXd::Zero(Q.size());
  if (C.size() == 0 || C.isZero(0.0)) return motion;
  const RowSolver::Answer joint = solver_->solve(Q + C, b);
  motion.lambda_joint = joint.lambda;
  motion.qdd = joint.x;
  // Rows that leave no freedom take up all of C.
  if (solver_->rank() < Q.size()) motion.F_nonideal = C + A_.transposed_times(joint.lambda - ideal.lambda);
  return motion;
}

LeastSquaresMotion SparseInstant::calc_least_squares(const InstantValues& values) {
  LeastSquaresMotion result;
  const Index m = values.b.size();
  const auto attained = attain(values, {}, all_rows(m), MatrixXd::Identity(m, m));
  if (!attained) return result;
  result.b = *attained;
  result.residual = values.b - result.b;
  if (unique_) result.qdd = calc_motion(values.Q, result.b, values.C).qdd;
  return result;
}

Solution SparseInstant::solve(const InstantValues& values) {
  Solution s;
  s.status = status_;
  const bool usable = status_ == SolveStatus::solved || status_ == SolveStatus::weights_not_definite;
  if (!usable || !vectors_finite(values)) {
    s.mass = mass_.check();
    if (usable) s.status = SolveStatus::not_finite;
    return s;
  }
  describe(s);
  if (mass_.definite()) s.a = mass_.solve(values.Q);
  const RowCheck check = check_rows(values);
  s.consistent = check.consistent;
  s.residual = check.residual;
  s.solvable = is_solvable(values);
  if (s.status != SolveStatus::solved) return s;
  s.b_used = check.b;
  if (!measured_.empty()) {
    s.b_used = replace_measured(values, s.status);
  } else if (!check.consistent) {
    s.status = SolveStatus::inconsistent;
    s.least_squares = calc_least_squares(values);
  }
  if (s.status == SolveStatus::solved && !s.solvable) s.status = SolveStatus::unsolvable;
  if (s.status == SolveStatus::solved && !s.unique) s.status = SolveStatus::not_unique;
  if (s.status != SolveStatus::solved) return s;

  const MotionForces motion = calc_motion(values.Q, s.b_used, values.C);
  attribute_forces(motion, spread(motion.lambda_ideal), s);
  if (mass_.definite()) {
    const double norm = mass_.force_norm(motion.F_ideal + motion.F_nonideal);
    s.gaussian = norm * norm;
  }
  if (!s.qdd.allFinite()) {
    s.status = SolveStatus::not_finite;
    clear_motion(s);
  }
  return s;
}

Diagnosis SparseInstant::diagnose(const InstantValues& values) {
  Diagnosis d;
  const Solution solution = solve(values);
  d.status = solution.status;
  const Index m = A_.rows();
  d.num_rows = m;
  Solution of_rows;
  describe(of_rows);
  d.rank = of_rows.rank, d.rank_gap = of_rows.rank_gap, d.rank_doubtful = of_rows.rank_doubtful;
  d.unique = unique_, d.undetermined = undetermined_, d.solvable = solution.solvable;
  d.multipliers_undetermined = of_rows.multipliers_undetermined;
  for (Index j = 0; j < m; ++j)
    if (zero_row_[static_cast<std::size_t>(j)]) d.zero_rows.push_back(j);
  if (solver_->dependent().empty()) return d;

  // What a residual may be in the terms of SparseDiagnosis: a share of sizes.
  const bool finite = vectors_finite(values);
  SparseRobustSolution robust = solver_->robust();
  robust.rank = solver_->rank();
  robust.status = SparseStatus::vouched;
  robust.dependent.clear();
  for (const int row : solver_->dependent()) robust.dependent.push_back(solver_->pattern_row(row));
  robust.row_size.assign(static_cast<std::size_t>(solver_->pattern().m), 0.0);
  std::vector<double> g(robust.row_size.size(), 0.0);
  const SparseDiagnosisOptions options;
  if (finite) {
    const RowCheck check = check_rows(values);
    for (Index j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(solver_->pattern_row(static_cast<int>(j)));
      robust.row_size[at] = check.tolerance(j) / options.contradiction;
      g[at] = values.b(j);
    }
    d.consistent = check.consistent;
  }
  const SparseDiagnosis rows =
      diagnose_sparse(solver_->pattern(), solver_->mass_values(), solver_->row_values(), g, robust, options);
  d.depends_complete = rows.explained;
  for (const int row : rows.redundant) d.redundant.push_back(solver_->row_of(row));
  for (const SparseDependence& found : rows.depends) {
    Dependence dependence;
    dependence.row = solver_->row_of(found.row);
    for (const int row : found.rows) dependence.on.push_back(solver_->row_of(row));
    dependence.coefficients = found.coefficients;
    d.depends.push_back(std::move(dependence));
  }
  if (d.consistent) return d;
  for (std::size_t k = 0; k < rows.conflicts.size(); ++k) {
    Conflict conflict;
    const std::vector<double>& y = rows.conflict_coefficients[k];
    conflict.coefficients = Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size()));
    Index largest = 0;
    conflict.coefficients.cwiseAbs().maxCoeff(&largest);
    conflict.coefficients /= conflict.coefficients(largest);
    double terms = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto at = static_cast<std::size_t>(rows.conflicts[k][i]);
      conflict.rows.push_back(solver_->row_of(rows.conflicts[k][i]));
      conflict.residual += conflict.coefficients(static_cast<Index>(i)) * g[at];
      terms += std::abs(conflict.coefficients(static_cast<Index>(i))) * robust.row_size[at];
    }
    if (terms > 0) conflict.relative_residual = std::abs(conflict.residual) / terms;
    d.conflicts.push_back(std::move(conflict));
  }
  return d;
}

Parts SparseInstant::calc_parts(const InstantValues& values, const Solution& solution, const VectorXd& qd) {
  const Index n = M_.rows(), m = A_.rows();
  const VectorXd C = values.C.size() > 0 ? values.C : VectorXd::Zero(n), zero = VectorXd::Zero(n);
  const VectorXd& b = solution.b_used;
  const MotionForces motion = calc_motion(values.Q, b, C);
  Parts parts;
  parts.c_acting = motion.F_nonideal;
  parts.c_absorbed = C - motion.F_nonideal;
  const bool with_matrices = n * std::max(n, m) <= largest_part_matrix;
  if (mass_.definite()) {
    parts.error_signal = b - A_ * *solution.a;
    parts.deviation_ideal = mass_.solve(motion.F_ideal);
    parts.deviation_nonideal = mass_.solve(motion.F_nonideal);
    parts.deviation = *parts.deviation_ideal + *parts.deviation_nonideal;
    if (VectorXd z = mass_.inverse_root(C); z.size() == n) parts.z = std::move(z);
    parts.reaction_to_forces = A_.transposed_times(solver_->solve(values.Q, VectorXd::Zero(m)).lambda);
    parts.reaction_to_motion = A_.transposed_times(solver_->solve(zero, b).lambda);
    if (with_matrices) {
      MatrixXd gain(n, m);
      for (Index j = 0; j < m; ++j)  // A A⁺e_j is what can be attained of e_j
        gain.col(j) = A_.transposed_times(solver_->solve(zero, spread(VectorXd::Unit(m, j))).lambda);
      parts.gain = std::move(gain);
    }
  }

  // Euclidean split of n-vectors by N(A): the same rows with unit masses.
  InstantValues unit;
  unit.M = SparseRows::diagonal(VectorXd::Ones(n)), unit.A = A_, unit.b = b;
  RowSolver euclidean(unit, false);
  std::vector<char> kept(static_cast<std::size_t>(m), 1);
  for (const int row : solver_->dependent()) kept[static_cast<std::size_t>(row)] = 0;
  euclidean.hold(kept, RowSolver::Care::decide);
  const VectorXd no_rows = VectorXd::Zero(m);
  const auto on_null = [&](const VectorXd& x) { return VectorXd(euclidean.solve(x, no_rows).x); };
  const VectorXd particular = euclidean.solve(zero, b).x;
  parts.acceleration_range = particular;
  parts.acceleration_null = on_null(solution.qdd);
  parts.force_null = on_null(solution.Qc);
  parts.force_range = solution.Qc - parts.force_null;
  if (with_matrices) {
    MatrixXd Ms(n, n);
    for (Index i = 0; i < n; ++i) Ms.col(i) = on_null(M_ * on_null(VectorXd::Unit(n, i)));
    parts.auxiliary.Ms = 0.5 * (Ms + Ms.transpose());
  }
  parts.auxiliary.Delta = values.Q + C - M_ * particular;
  parts.auxiliary.qdd_A = parts.acceleration_null;
  add_power(values, solution, qd, parts);
  return parts;
}

}  // namespace mechanician
