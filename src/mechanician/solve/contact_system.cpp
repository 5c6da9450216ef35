#include "mechanician/solve/contact_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "mechanician/solve/row_selection.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double no_coupling = 1e-13;

void check(const InstantValues& values, const std::vector<Index>& one_sided,
           const std::vector<FrictionContact>& contacts) {
  check_sizes(values);
  const Index n = values.M.rows(), num_constraint = values.b.size() - values.num_control;
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
    if (c.row < 0 || c.row >= num_constraint) throw std::invalid_argument("friction needs a constraint row");
    if (rubbing[c.row]++ > 0) throw std::invalid_argument("a row carries friction twice");
    if (k < 1 || k > 2 || c.T.cols() != n || c.slip_b.size() != k) {
      throw std::invalid_argument("a contact has one or two slip directions over all coordinates");
    }
    if (c.direction.size() != 0 && c.direction.size() != k) {
      throw std::invalid_argument("the direction of a slip has as many entries as there are slip directions");
    }
    if (!(c.mu >= 0)) throw std::invalid_argument("a coefficient of friction must not be negative");
  }
}

MatrixXd to_metric(const Factorisation& f, const MatrixXd& forces) {
  MatrixXd result(forces.rows(), forces.cols());
  for (Index j = 0; j < forces.cols(); ++j) result.col(j) = f.to_metric(VectorXd(forces.col(j)));
  return result;
}

/// Acceleration and two-sided force, in the metric, that a force in the metric causes.
struct Response {
  VectorXd y, u;
};
Response respond(const Factorisation& f, const VectorXd& g) {
  const MatrixXd& V1 = f.rows.V1;
  if (f.definite) {
    if (f.rows.rank == f.n()) return {VectorXd::Zero(f.n()), -g};
    VectorXd held = V1 * (V1.transpose() * g);
    const VectorXd rest = g - held;
    held += V1 * (V1.transpose() * rest);
    return {g - held, -held};
  }
  const VectorXd y = f.V2 * f.solve_Mhat(f.V2.transpose() * g);
  return {y, V1 * (V1.transpose() * (f.M_scaled * y - g))};
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
  const InstantValues selected = select_rows(values, s.equality);
  s.f = factor(selected);
  const Solution base = solve(s.f, selected);
  const bool open = base.status == SolveStatus::unsolvable || base.status == SolveStatus::not_unique;
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
  const VectorXd g = s.f.to_metric(force);
  const MotionForces motion = calc_motion(s.f, force, base.b_used, {});
  const VectorXd qdd0 = open ? motion.qdd : base.qdd;
  s.y0 = s.f.definite ? VectorXd(s.f.L.transpose() * qdd0) : VectorXd(qdd0.cwiseQuotient(s.f.s));
  s.lambda0 = s.f.multipliers.calc_lambda(s.f.rows, s.f.to_metric(motion.F_ideal));
  if (open) {
    s.U = s.f.undetermined_scaled;
    s.U_force = s.U.transpose() * g;
  } else {
    s.U.resize(n, 0);
    s.U_force.resize(0);
  }

  // Forces.
  Index p = static_cast<Index>(one_sided.size());
  for (const FrictionContact& c : contacts) p += c.T.rows();
  s.G.resize(n, p);
  VectorXd& right = s.slip_b;
  right.resize(p);
  for (std::size_t i = 0; i < one_sided.size(); ++i) {
    const auto column = static_cast<Index>(i);
    s.G.col(column) = values.A.row(one_sided[i]).transpose();
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
    if (unit_of[c.row] < 0) {
      unit_of[c.row] = static_cast<Index>(s.units.size());
      s.units.emplace_back();
      s.units.back().row = c.row;
    }
    ContactUnit& unit = s.units[unit_of[c.row]];
    unit.contact = static_cast<Index>(i);
    unit.tangent = column;
    unit.k = c.T.rows();
    if (c.direction.size() > 0) unit.direction = c.direction.normalized();
    s.G.middleCols(column, unit.k) = c.T.transpose();
    right.segment(column, unit.k) = c.slip_b;
    column += unit.k;
  }
  s.Z = to_metric(s.f, s.G);
  s.D = VectorXd::Ones(p);
  const auto scale_columns = [&](Index first, Index count) {
    const double norm = s.Z.middleCols(first, count).norm() / std::sqrt(static_cast<double>(count));
    if (norm == 0 || !std::isfinite(1.0 / norm)) return;
    s.Z.middleCols(first, count) /= norm;
    s.D.segment(first, count).setConstant(1.0 / norm);
  };
  for (ContactUnit& unit : s.units) {
    if (unit.normal >= 0) scale_columns(unit.normal, 1);
    if (unit.k > 0) scale_columns(unit.tangent, unit.k);
  }

  // Responses.
  s.Y.resize(n, p);
  s.Lambda.resize(static_cast<Index>(s.equality.size()), p);
  const bool needs_multipliers = !s.equality.empty();
  for (Index j = 0; j < p; ++j) {
    const Response r = respond(s.f, s.Z.col(j));
    s.Y.col(j) = r.y;
    if (needs_multipliers) s.Lambda.col(j) = s.f.multipliers.calc_lambda(s.f.rows, r.u);
  }
  s.W = s.Z.transpose() * s.Y;
  s.w0 = s.Z.transpose() * s.y0 - s.D.cwiseProduct(right);
  s.UZ = s.U.transpose() * s.Z;
  for (ContactUnit& unit : s.units) {
    double normal_scale = unit.normal >= 0 ? s.D(unit.normal) : 1.0;
    if (unit.two_sided()) {
      const Index at = equality_of[unit.row];
      normal_scale = s.f.rows.D(at);
      unit.lambda_scale = normal_scale;
      unit.lambda0 = s.lambda0(at) / normal_scale;
      unit.lambda = s.Lambda.row(at) / normal_scale;
    }
    if (unit.k > 0) unit.mu = contacts[unit.contact].mu * normal_scale / s.D(unit.tangent);
  }
  s.scale = g.norm() + s.y0.norm();
  if (p > 0) s.scale += s.D.cwiseProduct(right).cwiseMax(0.0).maxCoeff();
  return s;
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
