#include "mechanician/instant/project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "mechanician/instant/bodies_apart.hpp"
#include "mechanician/instant/held_quantities.hpp"
#include "mechanician/instant/nearest_search.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// r(x) = 0 with its Jacobian, where they are to be satisfied.
struct ConstraintValues {
  VectorXd r, r_noise;
  SparseRows J, J_noise;
  std::shared_ptr<const InstantPattern> pattern;
  std::vector<Eigen::Index> pattern_rows;
  std::optional<NotFinite> not_finite;

  ConstraintValues select(const std::vector<Eigen::Index>& rows) const {
    ConstraintValues some{r(rows), r_noise(rows), J.select(rows), J_noise.select(rows), pattern, {}, {}};
    for (const Eigen::Index i : rows) some.pattern_rows.push_back(pattern_rows[static_cast<std::size_t>(i)]);
    return some;
  }
};

/// Which coordinates, or velocities, do not move: one flag for each; none where all do.
using HeldFlags = std::vector<char>;

HeldFlags flags_of(const std::vector<int>& held, int n) {
  HeldFlags flags(held.empty() ? 0 : static_cast<std::size_t>(n), 0);
  for (const int i : held) flags[static_cast<std::size_t>(i)] = 1;
  return flags;
}

/// Rows as those see them who do not move the held coordinates. Places of entries stay.
SparseRows without_held(const SparseRows& rows, const HeldFlags& held) {
  if (held.empty()) return rows;
  SparseRows result(0, rows.cols());
  for (Eigen::Index j = 0; j < rows.rows(); ++j) {
    for (const SparseRows::Entry& e : rows.row(j))
      result.add(e.col, held[static_cast<std::size_t>(e.col)] ? 0.0 : e.value);
    result.end_row();
  }
  return result;
}

/// A metric in which what is held has nothing to do with the rest: then the least step leaves it alone, exactly.
SparseRows metric_of(const SparseRows& M, const HeldFlags& held) {
  if (held.empty()) return M;
  double most = 0.0;
  for (Eigen::Index i = 0; i < M.rows(); ++i)
    for (const SparseRows::Entry& e : M.row(i)) most = std::max(most, std::abs(e.value));
  const double alone = most > 0.0 ? most : 1.0;
  SparseRows result(0, M.cols());
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    const bool is_held = held[static_cast<std::size_t>(i)] != 0;
    bool there = !is_held;
    for (const SparseRows::Entry& e : M.row(i)) {
      if (!there && e.col > i) result.add(i, alone), there = true;
      if (e.col == i && is_held)
        result.add(i, alone), there = true;
      else
        result.add(e.col, is_held || held[static_cast<std::size_t>(e.col)] ? 0.0 : e.value);
    }
    if (!there) result.add(i, alone);
    result.end_row();
  }
  return result;
}

/// d of least mass norm with J d = r, in the least-squares sense where the rows contradict (redundant rows away from
/// the constraint do, to second order).
class LeastStep {
 public:
  LeastStep(const SparseRows& M, const ConstraintValues& at) : M_(M) {
    InstantValues values;
    values.M = M;
    values.Q = VectorXd::Zero(M.rows());
    values.A = at.J;
    values.A_noise = at.J_noise;
    values.b = VectorXd::Zero(at.J.rows());
    values.pattern = at.pattern, values.pattern_rows = at.pattern_rows;
    f_ = factor(values);
    if (f_.definite) return;
    // M ≥ 0: the mass norm first, the Euclidean norm in what it leaves open.
    if (f_.sparse) {
      constexpr double little = 1e-9;  // of a mass
      const VectorXd mass = f_.sparse->mass().scale().cwiseAbs2().cwiseInverse();
      values.M = with_diagonal(M, little * mass);
      f_ = factor(values);
      if (f_.sparse) return;
    }
    V2_ = calc_orthonormal_complement(euclidean().V1);
    Mhat_pinv_ = MatrixXd::Zero(V2_.cols(), V2_.cols());
    if (V2_.cols() == 0) return;  // the constraints say everything
    const auto [values_of, vectors] = calc_symmetric_eigen(V2_.transpose() * f_.M * V2_);
    const double floor = values_of.cwiseAbs().maxCoeff() * 1e-12;
    for (Eigen::Index i = 0; i < values_of.size(); ++i) {
      const VectorXd v = vectors.col(i);
      if (values_of(i) > floor)
        Mhat_pinv_ += v * v.transpose() / values_of(i);
      else
        free_.conservativeResize(M_.rows(), free_.cols() + 1), free_.col(free_.cols() - 1) = V2_ * v;
    }
  }

  VectorXd operator()(const VectorXd& r) const {
    if (f_.m() == 0) return VectorXd::Zero(M_.rows());
    if (f_.sparse) return f_.sparse->respond(VectorXd::Zero(M_.rows()), f_.sparse->project_consistent(r)).x;
    if (f_.definite) {
      const RowFactor& rows = f_.rows;
      return f_.acceleration_of(rows.calc_least_norm(rows.project_consistent(rows.D.cwiseProduct(r))));
    }
    const VectorXd y = euclidean_.calc_least_norm(euclidean_.project_consistent(euclidean_.D.cwiseProduct(r)));
    VectorXd d = y - V2_ * (Mhat_pinv_ * (V2_.transpose() * (M_ * y)));
    if (free_.cols() > 0) d -= free_ * (free_.transpose() * d);
    return d;
  }

  /// The part of d that stays on the constraints.
  VectorXd tangential(const VectorXd& d, const ConstraintValues& at) const { return d - (*this)(at.J * d); }

  /// Rows that are clearly independent, by their pivots; none where sparse, which has no such order.
  std::vector<Eigen::Index> clear_rows() const {
    constexpr double clear = 0.3;
    std::vector<Eigen::Index> result;
    if (f_.sparse) return result;
    const RowFactor& rows = f_.definite ? f_.rows : euclidean_;
    for (Eigen::Index i = 0; i < rows.rank && std::abs(rows.R11(i, i)) >= clear * std::abs(rows.R11(0, 0)); ++i)
      result.push_back(rows.order[static_cast<std::size_t>(i)]);
    return result;
  }

 private:
  static SparseRows with_diagonal(const SparseRows& M, const VectorXd& more) {
    SparseRows result(0, M.cols());
    for (Eigen::Index i = 0; i < M.rows(); ++i) {
      bool there = false;
      for (const SparseRows::Entry& e : M.row(i)) {
        if (!there && e.col > i) result.add(i, more(i)), there = true;
        result.add(e.col, e.value + (e.col == i ? more(i) : 0.0));
        there = there || e.col == i;
      }
      if (!there) result.add(i, more(i));
      result.end_row();
    }
    return result;
  }

  const RowFactor& euclidean() {
    euclidean_ = factor_rows(f_.A.transpose());
    return euclidean_;
  }

  const SparseRows& M_;
  Factorisation f_;
  RowFactor euclidean_;
  MatrixXd V2_, Mhat_pinv_, free_{MatrixXd(M_.rows(), 0)};
};

/// Residuals as distances: |r_j|/‖J_j‖, zero where they are rounding.
double distance_to(const ConstraintValues& at) {
  double most = 0.0;
  for (Eigen::Index j = 0; j < at.r.size(); ++j) {
    if (std::abs(at.r(j)) <= at.r_noise(j)) continue;
    const double slope = at.J.norm(j);
    most = std::max(most, slope > 0.0 ? std::abs(at.r(j)) / slope : std::numeric_limits<double>::infinity());
  }
  return most;
}

struct Steps {
  VectorXd normal, tangent;
};

/// Onto the constraints, and what is left of `back` along them. Rows that depend on others on the constraints do so almost beside
/// them, and contradict the others to second order: to meet them all would take a long step. They are left out where
/// the clearly independent ones bring the state onto all of them by a short one.
Steps calc_steps(const SparseRows& M, const ConstraintValues& at, double far, const VectorXd& back) {
  constexpr double nearer = 0.1, shorter = 1.0 / 3.0;
  const LeastStep least(M, at);
  if (far == 0.0) return {VectorXd::Zero(M.rows()), least.tangential(back, at)};
  VectorXd normal = least(-at.r);
  const std::vector<Eigen::Index> clear = least.clear_rows();
  if (!clear.empty() && clear.size() < static_cast<std::size_t>(at.r.size())) {
    const ConstraintValues part = at.select(clear);
    const LeastStep few(M, part);
    VectorXd d = few(-part.r);
    ConstraintValues after = at;
    after.r += at.J * d;
    if (d.norm() <= shorter * normal.norm() && distance_to(after) <= nearer * far)
      return {std::move(d), few.tangential(back, part)};
  }
  return {std::move(normal), least.tangential(back, at)};
}

/// The rows that positions or velocities have to meet.
std::vector<int> rows_to_meet(const System& system, bool velocities, const std::vector<char>& meets) {
  std::vector<int> rows;
  for (int i = 0; i < system.m(); ++i) {
    const RowTraits& row = system.row(i);
    if (row.kind == RowKind::control || row.measured || row.bare) continue;
    if (!meets[static_cast<std::size_t>(i)]) continue;
    if (row.level == Level::position || (velocities && row.level == Level::velocity)) rows.push_back(i);
  }
  return rows;
}

ConstraintValues select(const System& system, const State& state, const std::vector<int>& rows, bool velocities,
                        const HeldFlags& held) {
  const Evaluation now = system.evaluate(state);
  ConstraintValues at;
  const auto size = static_cast<Eigen::Index>(rows.size());
  at.r.resize(size), at.r_noise.resize(size);
  const std::vector<Eigen::Index> selected(rows.begin(), rows.end());
  at.J = without_held(now.values.A.select(selected), held);
  at.J_noise = without_held(now.values.A_noise.select(selected), held);
  if (!selected.empty()) at.pattern = now.values.pattern, at.pattern_rows = selected;
  at.not_finite = now.not_finite;
  for (Eigen::Index k = 0; k < size; ++k) {
    const int i = rows[static_cast<std::size_t>(k)];
    const bool rate = velocities && system.row(i).level == Level::position;
    at.r(k) = rate ? now.rate(i) : now.residual(i);
    at.r_noise(k) = rate ? now.rate_noise(i) : now.residual_noise(i);
  }
  return at;
}

Projection project_rows(const System& system, const State& given, ProjectionGoal goal,
                        const std::vector<char>& for_positions, const std::vector<char>& for_velocities,
                        const Held& held = {}) {
  Projection result;
  result.state = given;
  const Evaluation start = system.evaluate(given);
  if (start.not_finite) {
    result.not_finite = start.not_finite;
    return result;
  }
  SparseRows M = metric_of(start.values.M, flags_of(held.positions, system.n()));
  for (const bool velocities : {false, true}) {
    const HeldFlags stays = flags_of(velocities ? held.velocities : held.positions, system.n());
    // Velocities live where the positions have been moved to.
    if (velocities) {
      const Evaluation there = system.evaluate(result.state);
      if ((result.not_finite = there.not_finite)) return result;
      M = metric_of(there.values.M, stays);
      system.set_state_rates(result.state);  // which nobody gives
    }
    const std::vector<int> rows = rows_to_meet(system, velocities, velocities ? for_velocities : for_positions);
    VectorXd& x = velocities ? result.state.qd : result.state.q;
    const VectorXd x0 = x;
    State at = result.state;
    NearestSearch search;
    for (search.begin(x0, M, goal == ProjectionGoal::nearest); search.goes_on();) {
      (velocities ? at.qd : at.q) = search.x();
      const ConstraintValues values = select(system, at, rows, velocities, stays);
      const double far = values.not_finite ? 0.0 : distance_to(values);
      if (!search.look(!values.not_finite, far)) continue;
      Steps steps = calc_steps(M, values, far, x0 - search.x());
      for (std::size_t i = 0; i < stays.size(); ++i)  // where factors leave rounding
        if (stays[i]) steps.normal(static_cast<Eigen::Index>(i)) = steps.tangent(static_cast<Eigen::Index>(i)) = 0.0;
      search.step(steps.normal, steps.tangent);
    }
    const VectorXd& found = search.x();
    if (!search.found()) {
      if (!search.off_constraints()) return result;
      (velocities ? at.qd : at.q) = found;
      const ConstraintValues values = select(system, at, rows, velocities, stays);
      result.not_finite = values.not_finite;
      // Rows that nothing but what is held can meet are to blame before others, which were given up with them.
      const auto is_off = [&](Eigen::Index k) { return std::abs(values.r(k)) > std::max(1e-12, values.r_noise(k)); };
      bool all_held = false;
      for (Eigen::Index k = 0; k < values.r.size(); ++k) all_held |= is_off(k) && values.J.norm(k) == 0.0;
      for (Eigen::Index k = 0; k < values.r.size(); ++k)
        if (is_off(k) && (!all_held || values.J.norm(k) == 0.0))
          result.unmet.push_back(rows[static_cast<std::size_t>(k)]), result.off.push_back(values.r(k));
      result.unmet_rates = velocities;
      return result;
    }
    if (x0.size() > 0) result.moved = std::max(result.moved, (found - x0).cwiseAbs().maxCoeff());
    x = found;
  }
  result.converged = true;
  return result;
}

/// `of_positions_alone`: rows on positions whose rates are not met.
Projection project_beside(const System& system, const State& given, ProjectionGoal goal, const Held& held,
                          const std::vector<int>& of_positions_alone) {
  // One-sided constraints that are violated are met as equalities; those that this violates join them.
  // A rate below zero at a constraint on positions is an impact and no violation.
  std::vector<char> positions(static_cast<std::size_t>(system.m()), 1);
  for (int j = 0; j < system.m(); ++j) positions[static_cast<std::size_t>(j)] = !system.row(j).one_sided;
  std::vector<char> velocities = positions;
  for (const int j : of_positions_alone) velocities[static_cast<std::size_t>(j)] = 0;
  Projection result;
  for (int round = 0; round <= system.m(); ++round) {
    result = project_rows(system, given, goal, positions, velocities, held);
    if (!result.converged || !system.has_contacts()) return result;
    const Evaluation there = system.evaluate(result.state);
    bool more = false;
    for (int j = 0; j < system.m(); ++j) {
      const RowTraits& row = system.row(j);
      char& meets = positions[static_cast<std::size_t>(j)];
      if (!row.one_sided || meets || !(there.residual(j) < -4.0 * there.residual_noise(j))) continue;
      meets = more = true;
      velocities[static_cast<std::size_t>(j)] = row.level != Level::position;
    }
    if (!more) break;
  }
  return result;
}

/// With coordinates, velocities and quantities that are held.
Projection project_held(const System& system, const State& given, ProjectionGoal goal, const Held& held,
                        const std::vector<std::string>& quantities) {
  if (quantities.empty()) return project_beside(system, given, goal, held, {});
  const HoldingSystem holding = hold_quantities(system, given, quantities);
  Projection result;
  result.state = given;
  if ((result.not_finite = holding.not_finite)) return result;
  result = project_beside(*holding.system, given, goal, held, holding.of_positions);
  // Rows of the system itself: what is held is no constraint of it.
  Projection own = result;
  own.unmet.clear(), own.off.clear();
  for (std::size_t k = 0; k < result.unmet.size(); ++k) {
    const int j = result.unmet[k];
    if (j >= holding.first && j < holding.first + holding.count) continue;
    own.unmet.push_back(j < holding.first ? j : j - holding.count), own.off.push_back(result.off[k]);
  }
  return own;
}

}  // namespace

Held held_by(const StartRules& rules) { return {rules.held_positions, rules.held_velocities}; }

Projection project(const System& system, const State& given, ProjectionGoal goal, const Held& held) {
  return project_beside(system, given, goal, held, {});
}

Projection project_onto(const System& system, const State& given, const std::vector<char>& rows, ProjectionGoal goal) {
  return project_rows(system, given, goal, rows, rows);
}

Projection project_start(const System& system, const State& given) {
  const auto nearest = [](const System& on, const State& from) {
    return project_held(on, from, ProjectionGoal::nearest, held_by(on.start_rules()), held_quantities(on));
  };
  // Bodies on joints are moved by themselves.
  if (begins_off(system, given))
    if (std::optional<BodiesApart> apart = take_apart(system, given, Unmoved::in_file)) {
      const Projection there = nearest(apart->system, apart->state);
      const auto joints = there.converged ? JointsFound::make(system, apart->system) : std::nullopt;
      if (joints) {
        Projection result;
        result.state = (*joints)(there.state, apart->system.parameters()), result.converged = true;
        const State& found = result.state;
        result.moved = std::max((found.q - given.q).cwiseAbs().maxCoeff(), (found.qd - given.qd).cwiseAbs().maxCoeff());
        if (!is_off_constraints(system, found)) return result;
      }
    }
  return nearest(system, given);
}

InTheWay find_in_the_way(const System& system, const State& given, const Projection& ended) {
  constexpr std::size_t most_tried = 12;
  const Held held = held_by(system.start_rules());
  const std::vector<std::string> quantities = held_quantities(system);
  if ((held.empty() && quantities.empty()) || ended.converged) return {};
  // What the unmet rows depend on: of positions both that and, for rates, their velocities. Quantities may depend on anything.
  const Evaluation now = system.evaluate(ended.state);
  std::vector<char> touched(static_cast<std::size_t>(system.n()), 0);
  for (const int j : ended.unmet)
    for (const SparseRows::Entry& e : now.values.A.row(j))
      if (e.value != 0.0) touched[static_cast<std::size_t>(e.col)] = 1;
  std::vector<std::string> candidates, enough;
  for (const bool velocity : {false, true}) {
    if (velocity && !ended.unmet_rates) continue;
    for (const int i : velocity ? held.velocities : held.positions)
      if (touched[static_cast<std::size_t>(i)]) candidates.push_back(system.coordinate(i) + (velocity ? "'" : ""));
  }
  candidates.insert(candidates.end(), quantities.begin(), quantities.end());
  const auto helps = [&](std::span<const std::string> let_go) {
    Held less = held;
    std::vector<std::string> others = quantities;
    for (const std::string& name : let_go) {
      const bool velocity = name.ends_with('\'');
      const int i = system.find_coordinate(velocity ? name.substr(0, name.size() - 1) : name);
      if (i >= 0)
        std::erase(velocity ? less.velocities : less.positions, i);
      else
        std::erase(others, name);
    }
    return project_held(system, given, ProjectionGoal::any, less, others).converged;
  };
  for (std::size_t k = 0; k < std::min(candidates.size(), most_tried); ++k)
    if (helps(std::span(candidates).subspan(k, 1))) enough.push_back(candidates[k]);
  InTheWay result;
  result.each_is_enough = !enough.empty();
  // Letting go helps only where there is a state without all of them.
  if (enough.empty() && (candidates.empty() || !helps(candidates))) return result;
  result.names = enough.empty() ? candidates : enough;
  return result;
}

}  // namespace mechanician
