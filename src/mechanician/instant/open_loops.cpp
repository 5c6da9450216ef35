#include "mechanician/instant/open_loops.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "mechanician/instant/family_numbers.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Coordinates up to which loops are cut: matrices are dense here.
constexpr int most_coordinates = 300;
constexpr std::size_t most_cuts = 8;
/// Rows that are off by less are met; gaps that change by less, of themselves, are as small as they get.
constexpr double met = 1e-10, settled = 1e-9;

constexpr std::array<std::string_view, 8> lengths = {"x", "y", "z", "across1", "across2", "along", "length", "lead"};
constexpr std::array<std::string_view, 4> angles = {"tilt1", "tilt2", "turn", "square"};

/// The rows of each joint that says where its bodies meet.
std::map<std::string, std::vector<int>> rows_of_joints(const System& system) {
  std::map<std::string, std::vector<int>> joints;
  const auto& definitions = system.model().definitions;
  for (int j = 0; j < system.m(); ++j) {
    const std::string name = system.row_name(j);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || system.row(j).level != Level::position) continue;
    const std::string_view part = std::string_view(name).substr(dot + 1);
    if (std::find(lengths.begin(), lengths.end(), part) == lengths.end() &&
        std::find(angles.begin(), angles.end(), part) == angles.end())
      continue;
    // A constraint of the file may be called like that; the points of a joint have names.
    const std::string point = name.substr(0, dot) + ".first.x";
    if (std::any_of(definitions.begin(), definitions.end(), [&](const Named& d) { return d.name == point; }))
      joints[name.substr(0, dot)].push_back(j);
  }
  return joints;
}

struct Cut {
  VectorXd q;
  bool rest_is_met = false;
};

/// The least of `open` beside the rows that are to hold, from a position.
Cut cut(const System& system, const State& from, const std::vector<int>& open, const std::vector<char>& is_held) {
  std::vector<int> others;
  for (int j = 0; j < system.m(); ++j) {
    const RowTraits& row = system.row(j);
    if (row.kind == RowKind::constraint && row.level == Level::position && !row.one_sided && !row.measured &&
        !row.bare && std::find(open.begin(), open.end(), j) == open.end())
      others.push_back(j);
  }
  const Index n = system.n();
  struct At {
    bool ok = false;
    VectorXd c, r;
    MatrixXd c_q, r_q;
    double merit = 0.0;
  };
  const auto look = [&](const VectorXd& q) {
    At at;
    const Evaluation now = system.evaluate({from.t, q, VectorXd::Zero(n)});
    if (now.not_finite) return at;
    const auto take = [&](const std::vector<int>& rows, VectorXd& r, MatrixXd& r_q) {
      r.resize(static_cast<Index>(rows.size())), r_q = MatrixXd::Zero(r.size(), n);
      for (Index k = 0; k < r.size(); ++k) {
        r(k) = now.residual(rows[static_cast<std::size_t>(k)]);
        for (const auto& e : now.values.A.row(rows[static_cast<std::size_t>(k)]))
          if (!is_held[static_cast<std::size_t>(e.col)]) r_q(k, e.col) = e.value;
      }
    };
    take(open, at.c, at.c_q), take(others, at.r, at.r_q);
    at.merit = at.c.norm() + 10.0 * at.r.norm();
    at.ok = std::isfinite(at.merit);
    return at;
  };
  Cut found{from.q, false};
  At now = look(found.q);
  double mu = 1e-3;
  for (int round = 0; now.ok && round < 300; ++round) {
    VectorXd onto = VectorXd::Zero(n);
    MatrixXd Z = MatrixXd::Identity(n, n);
    if (now.r.size() > 0) {
      Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod;
      cod.setThreshold(1e-10);
      cod.compute(now.r_q);
      onto = -cod.solve(now.r);
      // The last rows of Zᵀ span what r_q does not see.
      const MatrixXd Q = cod.matrixZ().transpose();
      const MatrixXd permuted = cod.colsPermutation() * Q;
      Z = permuted.rightCols(n - cod.rank());
    }
    const VectorXd left = now.c + now.c_q * onto;
    VectorXd along = VectorXd::Zero(n);
    if (Z.cols() > 0) {
      const MatrixXd J = now.c_q * Z;
      MatrixXd normal = J.transpose() * J;
      normal.diagonal().array() += mu * (normal.diagonal().maxCoeff() + 1e-12);
      const VectorXd right = -(J.transpose() * left);
      along = Z * normal.ldlt().solve(right);
    }
    const At next = look(found.q + onto + along);
    if (next.ok && (next.merit < now.merit || next.r.norm() < 0.5 * now.r.norm())) {
      const bool small = std::abs(next.c.norm() - now.c.norm()) <= settled * now.c.norm() && next.r.norm() <= met;
      found.q += onto + along, now = next, mu = std::max(0.2 * mu, 1e-12);
      if (small && along.norm() <= 1e-7 * (1.0 + found.q.norm())) break;
    } else {
      mu *= 8.0;
      if (mu > 1e12) break;
    }
  }
  found.rest_is_met = now.ok && now.r.norm() <= 100.0 * met;
  return found;
}

std::vector<OpenJoint> measure(const System& system, const State& at,
                               const std::map<std::string, std::vector<int>>& joints) {
  const Evaluation now = system.evaluate(at);
  std::vector<OpenJoint> found;
  for (const auto& [name, rows] : joints) {
    OpenJoint joint{name, 0.0, 0.0};
    double tilt = 0.0;
    // Axes that are to be parallel, either way round, give the sine of the angle, others twice that of half of it.
    bool either_way = true;
    for (const int j : rows) either_way = either_way && system.row_name(j).find(".tilt") != std::string::npos;
    const auto angle_of = [&](double r) {
      return either_way ? std::asin(std::min(r, 1.0)) : 2.0 * std::asin(std::min(0.5 * r, 1.0));
    };
    for (const int j : rows) {
      const std::string row = system.row_name(j);
      const std::string_view part = std::string_view(row).substr(row.rfind('.') + 1);
      const double r = std::abs(now.residual(j));
      if (std::find(lengths.begin(), lengths.end(), part) != lengths.end())
        joint.length = std::hypot(joint.length, r);
      else if (part.starts_with("tilt"))
        tilt = std::hypot(tilt, r);
      else if (part == "turn")
        joint.angle = std::hypot(joint.angle, angle_of(r));
      else
        joint.angle = std::hypot(joint.angle, std::asin(std::min(r, 1.0)));
    }
    joint.angle = std::hypot(joint.angle, angle_of(tilt));
    if (joint.length > 1e-8 || joint.angle > 1e-8) found.push_back(joint);
  }
  return found;
}

}  // namespace

std::vector<OpenJoint> find_open_joints(const System& system, const Projection& ended) {
  if (ended.converged || ended.unmet_rates || ended.not_finite || stays_in_families(system) ||
      system.n() > most_coordinates)
    return {};
  const auto joints = rows_of_joints(system);
  const Evaluation now = system.evaluate(ended.state);
  if (now.not_finite) return {};
  std::vector<std::pair<double, std::string>> candidates;
  for (const auto& [name, rows] : joints) {
    double off = 0.0;
    for (const int j : rows)
      if (std::find(ended.unmet.begin(), ended.unmet.end(), j) != ended.unmet.end())
        off = std::hypot(off, now.residual(j));
    if (off > 0.0) candidates.emplace_back(off, name);
  }
  if (candidates.empty()) return {};
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<char> is_held(static_cast<std::size_t>(system.n()), 0);
  for (const int i : held_by(system.start_rules()).positions) is_held[static_cast<std::size_t>(i)] = 1;
  for (std::size_t k = 0; k < std::min(candidates.size(), most_cuts); ++k) {
    const std::string& name = candidates[k].second;
    const Cut one = cut(system, ended.state, joints.at(name), is_held);
    if (one.rest_is_met)
      return measure(system, {ended.state.t, one.q, VectorXd::Zero(system.n())}, {{name, joints.at(name)}});
  }
  std::vector<int> all;
  for (const auto& [name, rows] : joints) all.insert(all.end(), rows.begin(), rows.end());
  const Cut together = cut(system, ended.state, all, is_held);
  if (!together.rest_is_met) return {};
  return measure(system, {ended.state.t, together.q, VectorXd::Zero(system.n())}, joints);
}

}  // namespace mechanician
