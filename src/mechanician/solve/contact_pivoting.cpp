// Groups of contacts with too many modes to try them all, as a linear complementarity problem: with unknowns λ̂ ≥ 0, shares
// β_j ≥ 0 of directions d_j and the speed γ ≥ 0 of the slip,
//
//   0 ≤ λ̂ ⟂ w_n ≥ 0,   0 ≤ β_j ⟂ d_j·w_t + γ ≥ 0,   0 ≤ γ ⟂ μ σ λ̂ − Σ β_j ≥ 0,   f = Σ β_j d_j.
//
// Of a slip along a line the two directions are exact. In a plane a polygon stands for the cone; its corners gather around the
// directions that are found, then Newton's method takes these to the end. The mode is read off, and its own equations decide.
#include <algorithm>
#include <cmath>

#include "mechanician/solve/complementarity.hpp"
#include "mechanician/solve/contact_modes.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;

namespace {

constexpr Index most_unknowns = 1200;
constexpr int most_sign_changes = 4, most_polygons = 12;
constexpr double pi = 3.141592653589793, first_angle = pi / 4;

}  // namespace

/// The problem of one choice of polygons and signs.
struct ContactGroup::Pivoting {
  struct Unit {
    std::vector<VectorXd> corners;  // d_j; none where there is no friction, or where its direction is given
    int sign = 1;
    Index lambda = 0, beta = 0;  // positions of the unknowns; γ stands after the β
  };
  std::vector<Unit> units;
  Index size = 0;
};

void ContactGroup::place(Pivoting& p) const {
  p.size = 0;
  for (Pivoting::Unit& u : p.units) {
    u.lambda = p.size++;
    u.beta = p.size;
    if (!u.corners.empty()) p.size += static_cast<Index>(u.corners.size()) + 1;
  }
}

/// The mode that the signs of the unknowns tell, directions of slips near those of the corners.
std::optional<GroupMode> ContactGroup::pivot(const Pivoting& p) const {
  const Index num = W_.rows();
  MatrixXd B = MatrixXd::Zero(num, p.size);  // f = B z + given
  VectorXd given = VectorXd::Zero(num);
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const Pivoting::Unit& u = p.units[i];
    if (normal_[i] >= 0) B(normal_[i], u.lambda) = 1.0;
    if (unit(i).direction.size() > 0) given.segment(tangent_[i], unit(i).k) = -unit(i).limit * unit(i).direction;
    if (unit(i).direction.size() > 0)
      B.block(tangent_[i], u.lambda, unit(i).k, 1) = -unit(i).mu * u.sign * unit(i).direction;
    for (std::size_t j = 0; j < u.corners.size(); ++j)
      B.block(tangent_[i], u.beta + static_cast<Index>(j), unit(i).k, 1) = u.corners[j];
  }
  const MatrixXd WB = W_ * B;
  const VectorXd start = w0_ + W_ * given;
  MatrixXd M = MatrixXd::Zero(p.size, p.size);
  VectorXd q = VectorXd::Zero(p.size);
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const Pivoting::Unit& u = p.units[i];
    if (unit(i).two_sided()) {
      // σλ̂ = σ(λ̂₀ + λ̂·f) is what friction feels: ⟂ 0 = σλ̂ − …, by a row that is zero where it holds.
      M.row(u.lambda) = -u.sign * (lambda_[i] * B);
      M(u.lambda, u.lambda) += 1.0;
      q(u.lambda) = -u.sign * (unit(i).lambda0 + lambda_[i].dot(given));
    } else {
      M.row(u.lambda) = WB.row(normal_[i]);
      q(u.lambda) = start(normal_[i]);
    }
    if (u.corners.empty()) continue;
    const Index gamma = u.beta + static_cast<Index>(u.corners.size());
    for (Index j = u.beta; j < gamma; ++j) {
      const VectorXd& d = u.corners[static_cast<std::size_t>(j - u.beta)];
      M.row(j) = d.transpose() * WB.middleRows(tangent_[i], unit(i).k);
      M(j, gamma) += 1.0;
      q(j) = d.dot(start.segment(tangent_[i], unit(i).k));
      M(gamma, j) = -1.0;
    }
    M(gamma, u.lambda) = unit(i).mu, q(gamma) = unit(i).limit;
  }
  const auto found = solve_complementarity(M, q);
  if (!found) return std::nullopt;
  const VectorXd w = start + W_ * (B * found->z);
  GroupMode mode(units_.size());
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const Pivoting::Unit& u = p.units[i];
    mode[i].sign = u.sign;
    if (!unit(i).two_sided() && !found->positive[u.lambda]) continue;
    mode[i].choice = unit(i).k == 0 ? Choice::held : Choice::sticking;
    if (unit(i).direction.size() > 0) mode[i].choice = Choice::sliding, mode[i].direction = unit(i).direction;
    if (u.corners.empty() || !found->positive[u.beta + static_cast<Index>(u.corners.size())]) continue;
    mode[i].choice = Choice::sliding;
    const VectorXd slip = w.segment(tangent_[i], unit(i).k);
    if (unit(i).k == 1) {
      mode[i].direction = found->positive[u.beta] ? VectorXd(-u.corners[0]) : VectorXd(-u.corners[1]);
    } else {
      VectorXd f = VectorXd::Zero(2);
      for (std::size_t j = 0; j < u.corners.size(); ++j) f += found->z(u.beta + static_cast<Index>(j)) * u.corners[j];
      mode[i].direction = f.norm() > 0.0 ? VectorXd(-f.normalized()) : VectorXd(slip.normalized());
    }
  }
  return mode;
}

std::optional<ModeSolution> ContactGroup::find_by_pivoting(long& num_modes) const {
  if (s_.U.cols() > 0) return std::nullopt;
  Pivoting p;
  p.units.resize(units_.size());
  std::vector<std::size_t> in_plane;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const ContactUnit& u = unit(i);
    if (u.two_sided()) p.units[i].sign = u.lambda0 < 0 ? -1 : 1;
    if (u.k == 0 || u.direction.size() > 0) continue;
    if (u.k == 1) {
      p.units[i].corners = {VectorXd::Ones(1), -VectorXd::Ones(1)};
    } else {
      in_plane.push_back(i);
      for (int j = 0; j < 8; ++j)
        p.units[i].corners.push_back(Vector2d(std::cos(first_angle * j), std::sin(first_angle * j)));
    }
  }
  place(p);
  if (p.size > most_unknowns) return std::nullopt;

  const auto decide = [&](GroupMode mode) -> std::optional<ModeSolution> {
    std::vector<std::size_t> free;
    for (const std::size_t i : in_plane)
      if (mode[i].choice == Choice::sliding) free.push_back(i);
    std::vector<ModeSolution> found;
    if (free.empty()) {
      auto solved = solve(mode, {.enforce = true});
      if (solved && solved->violation <= mode_tolerance) return solved;
    } else {
      VectorXd angles(static_cast<Index>(free.size()));
      for (std::size_t i = 0; i < free.size(); ++i)
        angles(static_cast<Index>(i)) = std::atan2(mode[free[i]].direction(1), mode[free[i]].direction(0));
      follow_directions(mode, free, angles, found);
      if (!found.empty()) return std::move(found.front());
    }
    return std::nullopt;
  };
  double spread = first_angle;
  for (int round = 0; round < (in_plane.empty() ? most_sign_changes : most_polygons); ++round) {
    ++num_modes;
    const auto mode = pivot(p);
    if (!mode) return std::nullopt;
    if (auto decided = decide(*mode)) return decided;
    // Normal forces that have the other sign, corners that are nearer to the slip.
    bool changed = false;
    if (const auto solved = solve(*mode, {.enforce = false}))
      for (std::size_t i = 0; i < units_.size(); ++i)
        if (unit(i).two_sided() && p.units[i].sign * solved->lambda(static_cast<Index>(i)) < 0)
          p.units[i].sign = -p.units[i].sign, changed = true;
    spread *= 0.3;
    for (const std::size_t i : in_plane) {
      if ((*mode)[i].choice != Choice::sliding) continue;
      const double to = std::atan2(-(*mode)[i].direction(1), -(*mode)[i].direction(0));
      p.units[i].corners.clear();
      for (const double turn : {0.0, spread, -spread, 3 * spread, -3 * spread, pi / 2, -pi / 2, pi})
        p.units[i].corners.push_back(Vector2d(std::cos(to + turn), std::sin(to + turn)));
      changed = true;
    }
    if (!changed) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace mechanician
