#include "mechanician/solve/assemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/refined_motion.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Facts about M and A alone.
void describe_factorisation(const Factorisation& f, Solution& solution) {
  solution.mass = f.mass;
  solution.rank = f.rows.rank;
  solution.num_rows = f.m();
  solution.rank_gap = f.rows.gap;
  solution.rank_doubtful = f.rows.doubtful;
  solution.unique = f.unique;
  solution.undetermined = f.undetermined;
  for (Index j = 0; j < f.m(); ++j) {
    if (f.multipliers.undetermined[j]) solution.multipliers_undetermined.push_back(j);
  }
  solution.multipliers_unique = solution.multipliers_undetermined.empty();
  if (!f.unique) {
    solution.undetermined_directions = f.s.asDiagonal() * f.undetermined_scaled;
    scale_to_largest(solution.undetermined_directions);
  }
}

/// Is the force in the undetermined directions zero (U23 eq. 14, 17)? There neither mass nor constraints can take it
/// up.
bool is_solvable(const Factorisation& f, const InstantValues& values) {
  if (f.unique) return true;
  VectorXd force = values.Q;
  VectorXd size = values.Q.cwiseAbs();
  if (values.C.size() > 0) {
    force += values.C;
    size += values.C.cwiseAbs();
  }
  return is_force_balanced(f.undetermined_scaled, f.s, force, size, values.Q_noise);
}

/// Right-hand side that the measured rows can attain; sets the status where the exact rows contradict each other.
VectorXd replace_measured(const Factorisation& f, const InstantValues& values, const AccelerationOf& to_qdd,
                          SolveStatus& status) {
  const WeightedRows& weighted = *f.weighted;
  const Consistency exact = check_consistency(weighted.exact_rows, values, weighted.exact, to_qdd);
  if (!exact.consistent) status = SolveStatus::inconsistent;
  const VectorXd attained = calc_weighted_b(weighted, f.rows, values.b, exact.y_ls);
  VectorXd b = values.b;
  for (std::size_t i = 0; i < weighted.measured.size(); ++i) b(weighted.measured[i]) = attained(static_cast<Index>(i));
  for (std::size_t i = 0; i < weighted.exact.size(); ++i) b(weighted.exact[i]) = exact.b(static_cast<Index>(i));
  return b;
}

LeastSquaresMotion calc_least_squares(const Factorisation& f, const InstantValues& values, const MotionOf& motion_of) {
  const Index m = f.m();
  MatrixXd Z_given = f.rows.Z;
  for (Index j = 0; j < m; ++j) Z_given.col(j) /= f.rows.D(j);
  const WeightedRows equal = prepare_weighted(Z_given, {}, all_rows(m), MatrixXd::Identity(m, m), f.rows.rank);
  LeastSquaresMotion result;
  result.b = calc_weighted_b(equal, f.rows, values.b, VectorXd::Zero(f.n()));
  result.residual = values.b - result.b;
  if (f.unique) result.qdd = motion_of(values.Q, result.b, values.C).qdd;
  return result;
}

}  // namespace

void scale_to_largest(MatrixXd& directions) {
  for (auto column : directions.colwise()) {
    Index largest = 0;
    column.cwiseAbs().maxCoeff(&largest);
    column /= column(largest);
  }
}

bool is_force_balanced(const MatrixXd& directions, const VectorXd& scale, const VectorXd& force, const VectorXd& size,
                       const VectorXd& noise) {
  // A direction is known to rounding: it sees a little of every force.
  const double rounding = 64.0 * static_cast<double>(force.size()) * std::numeric_limits<double>::epsilon() *
                          scale.cwiseProduct(size).maxCoeff();
  for (const auto direction : directions.colwise()) {
    const double work = direction.dot(scale.cwiseProduct(force));
    const VectorXd weight = direction.cwiseAbs().cwiseProduct(scale);
    const double noise_here = noise.size() > 0 ? weight.dot(noise) : 0.0;
    if (std::abs(work) > consistency_tolerance * weight.dot(size) + 8.0 * noise_here + rounding) return false;
  }
  return true;
}

void attribute_forces(const MotionForces& motion, const VectorXd& lambda, Solution& solution) {
  solution.qdd = motion.qdd;
  solution.multipliers = lambda;
  solution.Qc_i = motion.F_ideal;
  solution.Qc_ni = motion.F_nonideal;
  solution.Qc = motion.F_ideal + motion.F_nonideal;
  solution.Q_control = VectorXd::Zero(motion.qdd.size());
}

void clear_motion(Solution& solution) {
  for (VectorXd* vector :
       {&solution.qdd, &solution.Qc, &solution.Qc_i, &solution.Qc_ni, &solution.Q_control, &solution.multipliers}) {
    vector->resize(0);
  }
  solution.gaussian.reset();
}

Solution solve_with(const Factorisation& f, const InstantValues& values, const MotionOf& motion_of) {
  check_sizes(values);
  if (values.M.rows() != f.n() || values.b.size() != f.m()) {
    throw std::invalid_argument("solve() was given other sizes than factor()");
  }
  Solution solution;
  solution.status = f.status;
  const bool usable = f.status == SolveStatus::solved || f.status == SolveStatus::weights_not_definite;
  if (!usable || !vectors_finite(values)) {
    solution.mass = f.mass;
    if (usable) solution.status = SolveStatus::not_finite;
    return solution;
  }
  describe_factorisation(f, solution);
  if (f.definite) solution.a = f.acceleration_of(f.to_metric(values.Q));

  const AccelerationOf to_qdd = [&f](const VectorXd& y) { return f.acceleration_of(y); };
  const Consistency consistency = check_consistency(f.rows, values, all_rows(f.m()), to_qdd);
  solution.consistent = consistency.consistent;
  solution.residual = consistency.residual;
  solution.solvable = is_solvable(f, values);
  if (solution.status != SolveStatus::solved) return solution;

  solution.b_used = consistency.b;
  if (f.weighted) {
    solution.b_used = replace_measured(f, values, to_qdd, solution.status);
  } else if (!consistency.consistent) {
    solution.status = SolveStatus::inconsistent;
    solution.least_squares = calc_least_squares(f, values, motion_of);
  }
  if (solution.status == SolveStatus::solved && !solution.solvable) solution.status = SolveStatus::unsolvable;
  if (solution.status == SolveStatus::solved && !solution.unique) solution.status = SolveStatus::not_unique;
  if (solution.status != SolveStatus::solved) return solution;

  const MotionForces motion = motion_of(values.Q, solution.b_used, values.C);
  const bool refined = motion.lambda_ideal.size() > 0;
  const auto spread = [&](const VectorXd& multipliers, const VectorXd& force) {
    return refined ? f.multipliers.spread(f.rows, multipliers) : f.multipliers.calc_lambda(f.rows, f.to_metric(force));
  };
  const VectorXd total = motion.F_ideal + motion.F_nonideal;
  attribute_forces(motion, spread(motion.lambda_ideal, motion.F_ideal), solution);
  if (f.definite) solution.gaussian = f.to_metric(total).squaredNorm();
  if (!solution.qdd.allFinite()) {
    solution.status = SolveStatus::not_finite;
    clear_motion(solution);
  }
  return solution;
}

void add_determined(const InstantValues& values, Solution& solution) {
  constexpr std::size_t most = 300;
  const std::vector<Index>& open = solution.undetermined;
  const MatrixXd& V = solution.undetermined_directions;
  if (solution.status != SolveStatus::not_unique || open.size() > most || V.cols() == 0) return;
  // Any mass along the free directions, which no force drives: M + μ V Vᵀ.
  double mass = 0.0;
  for (const SparseRows::Entry& e : values.M.entries()) mass = std::max(mass, std::abs(e.value));
  if (mass == 0.0) mass = 1.0;
  InstantValues held = values;
  held.pattern.reset(), held.pattern_rows.clear();
  held.M = SparseRows(0, values.M.cols());
  std::vector<double> row(static_cast<std::size_t>(values.M.cols()), 0.0);
  for (Index i = 0; i < values.M.rows(); ++i) {
    std::vector<Index> cols;
    for (const SparseRows::Entry& e : values.M.row(i)) cols.push_back(e.col), row[e.col] = e.value;
    if (std::binary_search(open.begin(), open.end(), i))
      for (const Index j : open) cols.push_back(j), row[j] += mass * V.row(i).dot(V.row(j));
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    for (const Index j : cols) held.M.add(j, row[j]), row[j] = 0.0;
    held.M.end_row();
  }
  Solution found = solve(held);
  if (!found.has_acceleration()) return;
  for (const Index i : open) found.qdd(i) = std::numeric_limits<double>::quiet_NaN();
  solution.qdd = std::move(found.qdd);
  solution.Qc = std::move(found.Qc), solution.Qc_i = std::move(found.Qc_i), solution.Qc_ni = std::move(found.Qc_ni);
  solution.Q_control = std::move(found.Q_control);
  solution.multipliers = std::move(found.multipliers);
}

Solution solve(const Factorisation& f, const InstantValues& values) {
  if (f.sparse) {
    check_sizes(values);
    if (values.M.rows() != f.n() || values.b.size() != f.m())
      throw std::invalid_argument("solve() was given other sizes than factor()");
    return f.sparse->solve(values);
  }
  return solve_with(f, values, [&f](const VectorXd& Q, const VectorXd& b, const VectorXd& C) {
    return calc_refined_motion(f, Q, b, C);
  });
}

Solution solve(const InstantValues& values) { return solve(factor(values), values); }

const char* describe(SolveStatus status) {
  switch (status) {
    case SolveStatus::solved:
      return "solved";
    case SolveStatus::not_finite:
      return "a number is infinite or not a number";
    case SolveStatus::mass_not_symmetric:
      return "the mass matrix is not symmetric";
    case SolveStatus::mass_indefinite:
      return "the mass matrix has a negative eigenvalue";
    case SolveStatus::weights_not_definite:
      return "the weight matrix is not symmetric positive definite";
    case SolveStatus::inconsistent:
      return "the constraints contradict each other";
    case SolveStatus::unsolvable:
      return "no acceleration exists: a force acts where there is neither mass nor constraint";
    case SolveStatus::not_unique:
      return "mass and constraints do not determine the acceleration";
    case SolveStatus::form_not_applicable:
      return "this form needs a positive definite mass matrix";
    case SolveStatus::requirements_not_met:
      return "control requirements cannot be met";
  }
  return "";
}

}  // namespace mechanician
