#include "mechanician/solve/contact_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "mechanician/solve/row_selection.hpp"
#include "mechanician/solve/sized_factorisation.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double no_coupling = 1e-13;

void check(const InstantValues& values, const std::vector<Index>& one_sided,
           const std::vector<FrictionContact>& contacts) {
  check_sizes(values);
  const Index n = values.M.rows(), num_constraint = values.b.size();
  std::vector<int> seen(static_cast<std::size_t>(num_constraint), 0), rubbing = seen;
  for (const Index row : one_sided) {
    if (row < 0 || row >= num_constraint) throw std::invalid_argument("a one-sided row must be a constraint row");
    if (seen[row]++ > 0) throw std::invalid_argument("a row is named twice as one-sided");
  }
  for (const Index row : values.measured) {
    if (row < num_constraint && seen[row] > 0) throw std::invalid_argument("a one-sided row cannot be a measured one");
  }
  for (const FrictionContact& c : contacts) {
    const Index k = c.T.rows();
    if (c.row < -1 || c.row >= num_constraint) throw std::invalid_argument("friction needs a constraint row");
    if (c.row < 0 && c.mu != 0) throw std::invalid_argument("a coefficient of friction needs a normal force");
    if (c.row >= 0 && rubbing[c.row]++ > 0) throw std::invalid_argument("a row carries friction twice");
    if (k < 1 || k > 2 || c.T.cols() != n || c.slip_b.size() != k) {
      throw std::invalid_argument("a contact has one or two slip directions over all coordinates");
    }
    if (c.direction.size() != 0 && c.direction.size() != k) {
      throw std::invalid_argument("the direction of a slip has as many entries as there are slip directions");
    }
    if (!(c.mu >= 0 && c.limit >= 0)) throw std::invalid_argument("friction must not be negative");
  }
}

/// Acceleration and two-sided multipliers that a force causes.
struct Response {
  VectorXd qdd, lambda;
};
Response respond(const Factorisation& f, const VectorXd& force) {
  if (f.sparse) {
    RowSolver::Answer answer = f.sparse->respond(force, VectorXd::Zero(f.m()));
    return {std::move(answer.x), std::move(answer.lambda)};
  }
  const MatrixXd& V1 = f.rows.V1;
  const VectorXd g = f.to_metric(force);
  VectorXd y, u;
  if (!f.definite) {
    y = f.V2 * f.solve_Mhat(f.V2.transpose() * g);
    u = V1 * (V1.transpose() * (f.M_scaled * y - g));
  } else if (f.rows.rank == f.n()) {
    y = VectorXd::Zero(f.n()), u = -g;
  } else {
    VectorXd held = V1 * (V1.transpose() * g);
    const VectorXd rest = g - held;
    held += V1 * (V1.transpose() * rest);
    y = g - held, u = -held;
  }
  return {f.acceleration_of(y), f.m() > 0 ? f.multipliers.calc_lambda(f.rows, u) : VectorXd()};
}

double force_norm(const Factorisation& f, const VectorXd& force) {
  return f.sparse ? f.sparse->mass().force_norm(force) : f.to_metric(force).norm();
}

}  // namespace

ContactSystem make_contact_system(const InstantValues& values, const std::vector<Index>& one_sided,
                                  const std::vector<FrictionContact>& contacts) {
  check(values, one_sided, contacts);
  ContactSystem s;
  s.values = values;
  s.one_sided = one_sided;
  const Index n = values.M.rows(), m = values.b.size();
  std::vector<Index> normal_of(static_cast<std::size_t>(m), -1), unit_of = normal_of, equality_of = normal_of;
  for (std::size_t i = 0; i < one_sided.size(); ++i) normal_of[one_sided[i]] = static_cast<Index>(i);
  for (Index row = 0; row < m; ++row) {
    if (normal_of[row] >= 0) continue;
    equality_of[row] = static_cast<Index>(s.equality.size());
    s.equality.push_back(row);
  }

  // The two-sided rows alone, as if nothing touched.
  const InstantValues selected = take_rows(values, s.equality);
  s.f = factor(selected, values.A);
  Solution base = solve(s.f, selected);
  const bool open = base.status == SolveStatus::unsolvable || base.status == SolveStatus::not_unique;
  if (open && s.f.sparse) {
    // What is left open is for the null space method.
    s.f = factor_dense(selected, values.A);
    base = solve(s.f, selected);
  }
  if (!base.has_acceleration() && !open) {
    s.status = base.status;
    return s;
  }
  s.open_status = base.status;
  for (std::size_t i = 0; i < s.equality.size(); ++i) s.values.b(s.equality[i]) = base.b_used(static_cast<Index>(i));
  s.values.measured.clear();
  s.values.W.resize(0, 0);
  VectorXd force = values.Q;
  if (values.C.size() > 0) force += values.C;
  if (s.f.sparse) {
    RowSolver::Answer motion = s.f.sparse->respond(force, base.b_used);
    s.qdd0 = base.qdd, s.lambda0 = std::move(motion.lambda);
  } else {
    const MotionForces motion = calc_motion(s.f, force, base.b_used, {});
    s.qdd0 = open ? motion.qdd : base.qdd;
    s.lambda0 = s.f.multipliers.calc_lambda(s.f.rows, s.f.to_metric(motion.F_ideal));
  }
  s.U = open ? MatrixXd(s.f.s.asDiagonal() * s.f.undetermined_scaled) : MatrixXd(n, 0);
  s.U_force = s.U.transpose() * force;

  // Forces.
  Index p = static_cast<Index>(one_sided.size());
  for (const FrictionContact& c : contacts) p += c.T.rows();
  s.G_transposed = SparseRows(0, n);
  VectorXd& right = s.slip_b;
  right.resize(p);
  for (std::size_t i = 0; i < one_sided.size(); ++i) {
    const auto column = static_cast<Index>(i);
    for (const SparseRows::Entry& e : values.A.row(one_sided[i])) s.G_transposed.add(e.col, e.value);
    s.G_transposed.end_row();
    right(column) = values.b(one_sided[i]);
    unit_of[one_sided[i]] = column;
    ContactUnit unit;
    unit.row = one_sided[i];
    unit.normal = column;
    s.units.push_back(unit);
  }
  Index column = static_cast<Index>(one_sided.size());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const FrictionContact& c = contacts[i];
    Index at = c.row < 0 ? -1 : unit_of[c.row];
    if (at < 0) {
      at = static_cast<Index>(s.units.size());
      if (c.row >= 0) unit_of[c.row] = at;
      s.units.emplace_back();
      s.units.back().row = c.row;
    }
    ContactUnit& unit = s.units[at];
    unit.contact = static_cast<Index>(i);
    unit.tangent = column;
    unit.k = c.T.rows();
    if (c.direction.size() > 0) unit.direction = c.direction.normalized();
    s.G_transposed.add_rows(c.T);
    right.segment(column, unit.k) = c.slip_b;
    column += unit.k;
  }
  s.D = VectorXd::Ones(p);
  const auto unit_force = [&](Index k) { return s.G_transposed.select({k}).transposed_times(VectorXd::Ones(1)); };
  const auto scale_columns = [&](Index first, Index count) {
    double squares = 0;
    for (Index k = first; k < first + count; ++k) squares += std::pow(force_norm(s.f, unit_force(k)), 2);
    const double norm = std::sqrt(squares / static_cast<double>(count));
    if (norm == 0 || !std::isfinite(1.0 / norm)) return;
    s.D.segment(first, count).setConstant(1.0 / norm);
  };
  for (ContactUnit& unit : s.units) {
    if (unit.normal >= 0) scale_columns(unit.normal, 1);
    if (unit.k > 0) scale_columns(unit.tangent, unit.k);
  }

  // Responses.
  s.X.resize(n, p);
  s.Lambda.resize(static_cast<Index>(s.equality.size()), p);
  s.W.resize(p, p);
  for (Index j = 0; j < p; ++j) {
    const Response r = respond(s.f, s.D(j) * unit_force(j));
    s.X.col(j) = r.qdd;
    if (!s.equality.empty()) s.Lambda.col(j) = r.lambda;
    s.W.col(j) = s.D.cwiseProduct(s.G_transposed * r.qdd);
  }
  s.w0 = s.D.cwiseProduct(s.G_transposed * s.qdd0 - right);
  s.UG.resize(s.U.cols(), p);
  for (Index u = 0; u < s.U.cols(); ++u)
    s.UG.row(u) = s.D.cwiseProduct(s.G_transposed * VectorXd(s.U.col(u))).transpose();
  for (ContactUnit& unit : s.units) {
    double normal_scale = unit.normal >= 0 ? s.D(unit.normal) : 1.0;
    if (unit.row < 0) {
      unit.lambda = Eigen::RowVectorXd::Zero(p);
    } else if (unit.two_sided()) {
      const Index at = equality_of[unit.row];
      normal_scale = s.f.sparse ? s.f.sparse->row_scale()(at) : s.f.rows.D(at);
      unit.lambda_scale = normal_scale;
      unit.lambda0 = s.lambda0(at) / normal_scale;
      unit.lambda = s.Lambda.row(at) / normal_scale;
    }
    if (unit.k > 0) {
      unit.mu = contacts[unit.contact].mu * normal_scale / s.D(unit.tangent);
      unit.limit = contacts[unit.contact].limit / s.D(unit.tangent);
    }
  }
  s.scale = force_norm(s.f, force) + s.motion_norm(s.qdd0);
  for (const ContactUnit& unit : s.units) s.scale += unit.limit;
  if (p > 0) s.scale += s.D.cwiseProduct(right).cwiseMax(0.0).maxCoeff();
  return s;
}

double ContactSystem::motion_norm(const VectorXd& qdd) const {
  if (f.sparse) return f.sparse->mass().motion_norm(qdd);
  return f.definite ? (f.L.transpose() * qdd).norm() : qdd.cwiseQuotient(f.s).norm();
}

MatrixXd ContactSystem::to_metric(const MatrixXd& qdd) const {
  if (f.definite && !f.sparse) return f.L.transpose() * qdd;
  return (f.sparse ? f.sparse->mass().scale() : f.s).cwiseInverse().asDiagonal() * qdd;
}

std::vector<std::vector<std::size_t>> find_groups(const ContactSystem& s) {
  const std::size_t num = s.units.size();
  std::vector<std::size_t> group(num);
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  const auto columns = [&](const ContactUnit& unit) {
    std::vector<Index> list;
    if (unit.normal >= 0) list.push_back(unit.normal);
    for (Index i = 0; i < unit.k; ++i) list.push_back(unit.tangent + i);
    return list;
  };
  const auto coupled = [&](const ContactUnit& x, const ContactUnit& y) {
    for (const Index i : columns(x)) {
      for (const Index j : columns(y)) {
        if (std::abs(s.W(i, j)) > no_coupling) return true;
      }
      if (y.two_sided() && std::abs(y.lambda(i)) > no_coupling) return true;
    }
    for (const Index j : columns(y)) {
      if (x.two_sided() && std::abs(x.lambda(j)) > no_coupling) return true;
    }
    return s.U.cols() > 0;
  };
  for (std::size_t i = 0; i < num; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (root(i) != root(j) && coupled(s.units[i], s.units[j])) group[root(i)] = root(j);
    }
  }
  std::vector<std::vector<std::size_t>> groups(num);
  for (std::size_t i = 0; i < num; ++i) groups[root(i)].push_back(i);
  std::erase_if(groups, [](const auto& g) { return g.empty(); });
  return groups;
}

}  // namespace mechanician
