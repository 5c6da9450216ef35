#include "mechanician/instant/generic_rows.hpp"

#include <algorithm>
#include <random>
#include <span>

#include "mechanician/instant/project.hpp"
#include "mechanician/solve/diagnosis.hpp"

namespace mechanician {

namespace {

constexpr int num_samples = 6;
constexpr unsigned seed = 1993;

/// Rows that are not redundant, from A alone.
GenericRows independent_rows(const SparseRows& A, const SparseRows& A_noise) {
  InstantValues values;
  values.M = SparseRows::diagonal(Eigen::VectorXd::Ones(A.cols()));
  values.Q = Eigen::VectorXd::Zero(A.cols());
  values.A = A;
  values.A_noise = A_noise;
  values.b = Eigen::VectorXd::Zero(A.rows());
  const Diagnosis d = diagnose(values);
  GenericRows result{{}, d.rank_doubtful};
  for (int i = 0; i < static_cast<int>(A.rows()); ++i)
    if (!std::binary_search(d.redundant.begin(), d.redundant.end(), i)) result.rows.push_back(i);
  return result;
}

void keep_larger(std::vector<int>& best, std::vector<int> found) {
  if (found.size() > best.size()) best = std::move(found);
}

}  // namespace

GenericRows find_generic_rows(const System& system, const State& start, const std::vector<char>& absent) {
  std::vector<Eigen::Index> present;
  std::vector<char> flags(static_cast<std::size_t>(system.m()), 1);
  for (int j = 0; j < system.m(); ++j) {
    if (!absent.empty() && absent[static_cast<std::size_t>(j)])
      flags[static_cast<std::size_t>(j)] = 0;
    else
      present.push_back(j);
  }
  const auto independent = [&](const InstantValues& values) {
    GenericRows found = independent_rows(values.A.select(present), values.A_noise.select(present));
    for (int& row : found.rows) row = static_cast<int>(present[static_cast<std::size_t>(row)]);
    return found;
  };
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> spread(-0.1, 0.1);
  GenericRows best;
  bool any = false;
  for (int k = 0; k < num_samples; ++k) {
    State near = start;
    for (int i = 0; i < system.n(); ++i) near.q(i) += spread(random), near.qd(i) += spread(random);
    const Projection p = absent.empty() ? project(system, near, ProjectionGoal::any)
                                        : project_onto(system, near, flags, ProjectionGoal::any);
    if (!p.converged) continue;
    const Evaluation now = system.evaluate(p.state);
    if (now.not_finite) continue;
    GenericRows found = independent(now.values);
    best.doubtful = found.doubtful && (best.doubtful || !any);
    any = true;
    keep_larger(best.rows, std::move(found.rows));
  }
  if (any) return best;
  const Evaluation now = system.evaluate(start);
  return now.not_finite ? GenericRows{} : independent(now.values);
}

std::vector<int> generic_rows_of_unknowns(const Equations& eqs) {
  std::vector<Expr> inputs{eqs.t}, outputs;
  const auto append = [&](const std::vector<Expr>& more) { inputs.insert(inputs.end(), more.begin(), more.end()); };
  append(eqs.q), append(eqs.qd), append(eqs.parameters), append(eqs.unknowns);
  for (const auto& e : eqs.A.entries) outputs.push_back(e.value);
  const Tape tape(outputs, inputs);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> spread(0.3, 1.7);
  std::vector<int> best;
  for (int k = 0; k < num_samples; ++k) {
    std::vector<double> x(inputs.size());
    for (double& xi : x) xi = spread(random);
    std::vector<double> values(outputs.size()), bounds(outputs.size());
    tape.evaluate_with_bounds(x, values, bounds);
    const SparseRows A = fill_rows(eqs.A, values), A_noise = fill_rows(eqs.A, bounds);
    if (A.all_finite()) keep_larger(best, independent_rows(A, A_noise).rows);
  }
  return best;
}

}  // namespace mechanician
