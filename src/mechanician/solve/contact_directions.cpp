// Modes in which contacts start to slide in a plane: the directions of the slip are unknown too.
#include <array>
#include <cmath>
#include <random>

#include "mechanician/solve/contact_modes.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;

namespace {

constexpr double two_pi = 6.283185307179586;

VectorXd direction_at(double angle) { return Vector2d(std::cos(angle), std::sin(angle)); }

double cross(const VectorXd& x, const VectorXd& y) { return x(0) * y(1) - x(1) * y(0); }

/// c₀ + c₁ cos θ + c₂ sin θ + c₃ cos 2θ + c₄ sin 2θ.
struct TrigonometricPolynomial {
  std::array<double, 5> c{};

  double operator()(double x) const {
    return c[0] + c[1] * std::cos(x) + c[2] * std::sin(x) + c[3] * std::cos(2 * x) + c[4] * std::sin(2 * x);
  }
  double slope(double x) const {
    return -c[1] * std::sin(x) + c[2] * std::cos(x) - 2 * c[3] * std::sin(2 * x) + 2 * c[4] * std::cos(2 * x);
  }
  double size() const {
    double sum = 0;
    for (const double x : c) sum += std::abs(x);
    return sum;
  }
  /// Root in [a, b], where `f` changes its sign.
  template <typename F>
  static double bisect(const F& f, double a, double b) {
    const bool up = f(a) < 0;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (a + b);
      ((f(middle) < 0) == up ? a : b) = middle;
    }
    return 0.5 * (a + b);
  }
  /// All roots in [0, 2π). Between two neighbouring extrema there is at most one.
  std::vector<double> roots() const {
    constexpr int num = 256;
    std::vector<double> ends;
    for (int i = 0; i < num; ++i) {
      const double a = two_pi * i / num, b = two_pi * (i + 1) / num;
      if ((slope(a) < 0) != (slope(b) < 0)) ends.push_back(bisect([&](double x) { return slope(x); }, a, b));
    }
    std::vector<double> list;
    const double zero = 1e-13 * size();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const double a = ends[i], b = i + 1 < ends.size() ? ends[i + 1] : ends.front() + two_pi;
      if (std::abs((*this)(a)) <= zero) list.push_back(a);
      if (std::abs((*this)(a)) > zero && std::abs((*this)(b)) > zero && ((*this)(a) < 0) != ((*this)(b) < 0)) {
        list.push_back(bisect(*this, a, b));
      }
    }
    return list;
  }
};

}  // namespace

/// All directions in which contact `free` may start to slide, the other contacts in the given mode.
std::vector<double> ContactGroup::directions(GroupMode mode, std::size_t free) const {
  // Unknowns that depend on others are left out, and as many equations: the determinant of the rest is affine in the
  // direction, determinant × slip too, and (slip × direction) · determinant a trigonometric polynomial of degree 2.
  std::vector<Index> rows, columns;
  for (const double offset : {0.1, 0.37, 0.71}) {
    mode[free].direction = direction_at(offset + 0.05);
    choose_independent(mode, rows, columns);
    TrigonometricPolynomial p;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (int j = 0; j < 5; ++j) {
      const double angle = offset + two_pi * j / 5;
      mode[free].direction = direction_at(angle);
      const SlipSample sample = sample_slip(mode, free, rows, columns);
      least = std::min(least, std::abs(sample.determinant));
      most = std::max(most, std::abs(sample.determinant));
      const double weighted = cross(sample.slip, mode[free].direction) * sample.determinant;
      p.c[0] += weighted / 5;
      p.c[1] += weighted * std::cos(angle) * 2 / 5;
      p.c[2] += weighted * std::sin(angle) * 2 / 5;
      p.c[3] += weighted * std::cos(2 * angle) * 2 / 5;
      p.c[4] += weighted * std::sin(2 * angle) * 2 / 5;
    }
    if (least > 1e-6 * most) return p.roots();
  }
  return {};
}

std::optional<VectorXd> ContactGroup::miss_directions(GroupMode& mode, const std::vector<std::size_t>& free,
                                                      const VectorXd& angles) const {
  for (std::size_t i = 0; i < free.size(); ++i) mode[free[i]].direction = direction_at(angles(static_cast<Index>(i)));
  const auto solved = solve(mode, {.enforce = false});
  if (!solved) return std::nullopt;
  VectorXd miss(angles.size());
  for (std::size_t i = 0; i < free.size(); ++i) {
    const VectorXd s = slip(*solved, free[i]);
    miss(static_cast<Index>(i)) = std::atan2(cross(mode[free[i]].direction, s), mode[free[i]].direction.dot(s));
  }
  return miss;
}

void ContactGroup::follow_directions(const GroupMode& given, const std::vector<std::size_t>& free, VectorXd angles,
                                     std::vector<ModeSolution>& found) const {
  constexpr double step = 1e-6;
  const auto c = static_cast<Index>(free.size());
  GroupMode mode = given;
  auto miss = miss_directions(mode, free, angles);
  for (int round = 0; round < 30 && miss; ++round) {
    if (miss->cwiseAbs().maxCoeff() < 1e-13) break;
    MatrixXd J(c, c);
    for (Index j = 0; j < c; ++j) {
      VectorXd beside = angles;
      beside(j) += step;
      const auto there = miss_directions(mode, free, beside);
      if (!there) return;
      J.col(j) = (*there - *miss) / step;
    }
    const VectorXd move = -J.fullPivLu().solve(*miss);
    if (!move.allFinite()) return;
    double length = std::min(1.0, 1.0 / std::max(1e-300, move.cwiseAbs().maxCoeff()));
    const double before = miss->norm();
    std::optional<VectorXd> next;
    for (int half = 0; half < 12; ++half, length *= 0.5) {
      next = miss_directions(mode, free, angles + length * move);
      if (next && next->norm() < (1.0 - 1e-3 * length) * before) break;
      next.reset();
    }
    if (!next) break;
    angles += length * move;
    miss = next;
  }
  if (!miss || miss->cwiseAbs().maxCoeff() >= 1e-9) return;
  for (Index i = 0; i < c; ++i) mode[free[i]].direction = direction_at(angles(i));
  auto solved = solve(mode, {.enforce = true});
  if (solved && solved->violation <= mode_tolerance) found.push_back(std::move(*solved));
}

void ContactGroup::search_directions(const GroupMode& given, const std::vector<std::size_t>& free,
                                     std::vector<ModeSolution>& found) const {
  const auto c = static_cast<Index>(free.size());
  GroupMode mode = given;
  // Starts: the slip without friction at these contacts, followed for a few steps; then angles at random.
  std::vector<VectorXd> starts;
  VectorXd natural(c);
  GroupMode smooth = given;
  for (const std::size_t i : free) smooth[i].direction = VectorXd::Zero(2);
  if (const auto solved = solve(smooth, {.enforce = false})) {
    for (Index i = 0; i < c; ++i) {
      const VectorXd s = slip(*solved, free[i]);
      natural(i) = std::atan2(s(1), s(0));
    }
    starts.push_back(natural);
    for (int step = 0; step < 20; ++step) {
      const auto miss = miss_directions(mode, free, natural);
      if (!miss) break;
      natural += 0.5 * *miss;
    }
    starts.push_back(natural);
  }
  std::mt19937_64 random(20240229);
  std::uniform_real_distribution<double> anywhere(0.0, two_pi);
  const int num_random = c <= 3 ? 24 : 12;
  for (int i = 0; i < num_random; ++i) {
    VectorXd angles(c);
    for (double& angle : angles) angle = anywhere(random);
    starts.push_back(angles);
  }
  for (const VectorXd& start : starts) follow_directions(given, free, start, found);
}

std::vector<ModeSolution> ContactGroup::find(const GroupMode& given, bool& complete) const {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].choice == Choice::sliding && given[i].direction.size() == 0) free.push_back(i);
  }
  std::vector<ModeSolution> found;
  GroupMode mode = given;
  if (free.empty()) {
    auto solved = solve(mode, {.enforce = true});
    if (solved && solved->violation <= mode_tolerance) found.push_back(std::move(*solved));
  } else if (free.size() == 1) {
    for (const double angle : directions(mode, free[0])) {
      mode[free[0]].direction = direction_at(angle);
      auto solved = solve(mode, {.enforce = true});
      if (solved && solved->violation <= mode_tolerance) found.push_back(std::move(*solved));
    }
  } else {
    complete = false;
    search_directions(mode, free, found);
  }
  return found;
}

}  // namespace mechanician
