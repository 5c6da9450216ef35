#include "mechanician/solve/coulomb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Count = CoulombSolution::Count;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;
using testing::random_int;
using testing::random_real;

constexpr double g = 9.81;

VectorXd vec(std::initializer_list<double> list) {
  VectorXd x(static_cast<Index>(list.size()));
  std::copy(list.begin(), list.end(), x.begin());
  return x;
}

MatrixXd rows(std::initializer_list<std::initializer_list<double>> list) {
  MatrixXd X(static_cast<Index>(list.size()), static_cast<Index>(list.begin()->size()));
  Index i = 0;
  for (const auto& row : list) X.row(i++) = vec(row).transpose();
  return X;
}

testing::DenseValues system(const MatrixXd& M, const VectorXd& Q, const MatrixXd& A, const VectorXd& b) {
  testing::DenseValues v;
  v.M = M;
  v.Q = Q;
  v.A = A;
  v.b = b;
  return v;
}

FrictionContact contact(Index row, double mu, const MatrixXd& T, const VectorXd& slip_b,
                        const VectorXd& direction = {}) {
  FrictionContact c;
  c.row = row;
  c.mu = mu;
  c.T = T;
  c.slip_b = slip_b;
  c.direction = direction;
  return c;
}

FrictionContact contact(Index row, double mu, const MatrixXd& T) {
  return contact(row, mu, T, VectorXd::Zero(T.rows()));
}

/// Coulomb's law and the equations of motion, looked at afresh.
void expect_law(const testing::DenseValues& v, const std::vector<Index>& one_sided,
                const std::vector<FrictionContact>& contacts, const CoulombAnswer& a, double tolerance) {
  VectorXd rest = v.M * a.qdd - v.Q - v.A.transpose() * a.multipliers;
  if (v.C.size() > 0) rest -= v.C;
  double size = 1 + v.Q.cwiseAbs().maxCoeff() + a.multipliers.cwiseAbs().sum() + a.qdd.cwiseAbs().sum();
  for (std::size_t i = 0; i < contacts.size(); ++i) rest -= contacts[i].T.transposed_times(a.friction[i]);
  EXPECT_LE(rest.cwiseAbs().maxCoeff(), tolerance * size);
  const VectorXd slack = v.A * a.qdd - v.b;
  for (Index j = 0; j < v.b.size(); ++j) {
    if (std::find(one_sided.begin(), one_sided.end(), j) == one_sided.end()) {
      EXPECT_NEAR(slack(j), 0.0, tolerance * size);
    } else {
      EXPECT_GE(slack(j), -tolerance * size);
      EXPECT_GE(a.multipliers(j), 0.0);
      EXPECT_LE(std::min(std::abs(slack(j)), a.multipliers(j)), tolerance * size);
    }
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const FrictionContact& c = contacts[i];
    const double room = c.mu * std::abs(a.multipliers(c.row));
    const VectorXd slip = c.T * a.qdd - c.slip_b;
    EXPECT_LE(a.friction[i].norm(), room + tolerance * size);
    if (c.direction.size() > 0) {
      EXPECT_LE((a.friction[i] + room * c.direction).norm(), tolerance * size);
    } else if (slip.norm() > tolerance * size && std::abs(a.multipliers(c.row)) > tolerance * size) {
      EXPECT_LE((a.friction[i] + room * slip.normalized()).norm(), std::sqrt(tolerance) * size);
    }
  }
}

// A block on an incline: coordinates along and across the plane.
CoulombSolution block_on_incline(double angle, double mu, const VectorXd& direction) {
  const testing::DenseValues v =
      system(2.0 * MatrixXd::Identity(2, 2), vec({2 * g * std::sin(angle), -2 * g * std::cos(angle)}), rows({{0, 1}}),
             VectorXd::Zero(1));
  return solve_coulomb(v, {0}, {contact(0, mu, rows({{1, 0}}), VectorXd::Zero(1), direction)});
}

TEST(Coulomb, a_block_on_an_incline_sticks_up_to_the_angle_of_friction) {
  const double mu = 0.3, limit = std::atan(mu);
  for (const double angle : {0.0, 0.5 * limit, 0.999 * limit}) {
    const auto s = block_on_incline(angle, mu, {});
    ASSERT_EQ(s.count, Count::one);
    EXPECT_EQ(s.answer->mode.states[0], ContactState::sticking);
    EXPECT_LE(s.answer->qdd.norm(), 1e-14);
    EXPECT_NEAR(s.answer->friction[0](0), -2 * g * std::sin(angle), 1e-13);
  }
  for (const double angle : {1.001 * limit, 2 * limit}) {
    const auto s = block_on_incline(angle, mu, {});
    ASSERT_EQ(s.count, Count::one);
    EXPECT_EQ(s.answer->mode.states[0], ContactState::sliding);
    EXPECT_EQ(s.answer->mode.directions[0](0), 1.0);
    EXPECT_NEAR(s.answer->qdd(0), g * (std::sin(angle) - mu * std::cos(angle)), 1e-13);
  }
  // At the limit sticking and sliding are the same acceleration.
  EXPECT_EQ(block_on_incline(limit, mu, {}).count, Count::one);
  EXPECT_NEAR(block_on_incline(limit, mu, {}).answer->qdd(0), 0.0, 1e-10);
}

TEST(Coulomb, friction_opposes_a_slip_that_is_there) {
  const double mu = 0.3, angle = 0.1;
  for (const double side : {1.0, -1.0}) {
    const auto s = block_on_incline(angle, mu, vec({side}));
    ASSERT_EQ(s.count, Count::one);
    EXPECT_NEAR(s.answer->qdd(0), g * (std::sin(angle) - side * mu * std::cos(angle)), 1e-13);
    EXPECT_NEAR(s.answer->friction_force(0), -side * mu * 2 * g * std::cos(angle), 1e-13);
  }
}

TEST(Coulomb, a_lifted_block_has_no_friction) {
  const testing::DenseValues v = system(MatrixXd::Identity(2, 2), vec({1.0, 2.0}), rows({{0, 1}}), VectorXd::Zero(1));
  const auto s = solve_coulomb(v, {0}, {contact(0, 0.5, rows({{1, 0}}))});
  ASSERT_EQ(s.count, Count::one);
  EXPECT_EQ(s.answer->mode.states[0], ContactState::open);
  EXPECT_EQ(s.answer->friction[0](0), 0.0);
  EXPECT_DOUBLE_EQ(s.answer->slack(0), 2.0);
  EXPECT_DOUBLE_EQ(s.answer->qdd(0), 1.0);
}

// A rod of mass 1 and half length l, its lower end on the floor, sliding: x, y of the middle and the inclination.
struct Rod {
  double l = 1.0, theta = 2.2, spin = 0.0, mu = 0.4, side = 1.0;
  double p() const { return 1 + 3 * std::cos(theta) * (std::cos(theta) + side * mu * std::sin(theta)); }
  double q() const { return -g + l * std::sin(theta) * spin * spin; }
  CoulombSolution solve() const {
    const testing::DenseValues v =
        system(vec({1, 1, l * l / 3}).asDiagonal(), vec({0, -g, 0}), rows({{0, 1, -l * std::cos(theta)}}),
               vec({-l * std::sin(theta) * spin * spin}));
    const FrictionContact c =
        contact(0, mu, rows({{1, 0, l * std::sin(theta)}}), vec({-l * std::cos(theta) * spin * spin}), vec({side}));
    const auto s = solve_coulomb(v, {0}, {c});
    if (s.answer) expect_law(v, {0}, {c}, *s.answer, 1e-13);
    for (const auto& a : s.alternatives) expect_law(v, {0}, {c}, a, 1e-13);
    return s;
  }
};

TEST(Coulomb, a_sliding_rod_has_none_one_or_two_answers_as_painleve_found) {
  int num_none = 0, num_several = 0;
  for (double theta = 0.3; theta < 3.0; theta += 0.1) {
    for (const double mu : {0.2, 1.0, 1.5, 2.5}) {
      for (const double spin : {0.0, 5.0}) {
        for (const double side : {1.0, -1.0}) {
          const Rod rod{.theta = theta, .spin = spin, .mu = mu, .side = side};
          const double p = rod.p(), q = rod.q();
          if (std::abs(p) < 1e-3 || std::abs(q) < 1e-3) continue;
          SCOPED_TRACE(::testing::Message() << theta << ' ' << mu << ' ' << spin << " p " << p << " q " << q);
          const auto s = rod.solve();
          if (p > 0) {
            ASSERT_EQ(s.count, Count::one);
            EXPECT_NEAR(s.answer->multipliers(0), q < 0 ? -q / p : 0.0, 1e-12 * std::abs(q / p));
          } else if (q < 0) {
            ASSERT_EQ(s.count, Count::none);
            EXPECT_FALSE(s.answer);
            ++num_none;
          } else {
            ASSERT_EQ(s.count, Count::several);
            ASSERT_EQ(s.alternatives.size(), 1u);
            const double sum = s.answer->multipliers(0) + s.alternatives[0].multipliers(0);
            EXPECT_NEAR(sum, -q / p, 1e-12 * std::abs(q / p));
            EXPECT_NE(s.answer->mode.states[0], s.alternatives[0].mode.states[0]);
            ++num_several;
          }
        }
      }
    }
  }
  EXPECT_GT(num_none, 5);
  EXPECT_GT(num_several, 5);
}

TEST(Coulomb, on_a_rough_wire_friction_changes_the_normal_force_that_it_follows) {
  // Oblique coordinates: friction along the first presses against the second.
  const MatrixXd M = rows({{2, 0.5}, {0.5, 1}});
  for (const double Q2 : {-3.0, 3.0}) {
    for (const double side : {1.0, -1.0}) {
      const double mu = 0.7, Q1 = 1.3;
      const testing::DenseValues v = system(M, vec({Q1, Q2}), rows({{0, 1}}), VectorXd::Zero(1));
      const FrictionContact c = contact(0, mu, rows({{1, 0}}), VectorXd::Zero(1), vec({side}));
      const auto s = solve_coulomb(v, {}, {c});
      ASSERT_EQ(s.count, Count::one);
      expect_law(v, {}, {c}, *s.answer, 1e-14);
      const double sign = s.answer->multipliers(0) < 0 ? -1 : 1;
      EXPECT_NEAR(s.answer->multipliers(0), (0.5 * Q1 / 2 - Q2) / (1 + mu * sign * side * 0.5 / 2), 1e-13);
      EXPECT_EQ(s.answer->mode.sign[0], static_cast<int>(sign));
    }
  }
}

TEST(Coulomb, a_bead_on_a_rough_wire_sticks_whatever_the_side_of_the_force) {
  const testing::DenseValues v = system(MatrixXd::Identity(2, 2), vec({0.5, 2.0}), rows({{0, 1}}), VectorXd::Zero(1));
  const auto s = solve_coulomb(v, {}, {contact(0, 0.3, rows({{1, 0}}))});
  ASSERT_EQ(s.count, Count::one);
  EXPECT_EQ(s.answer->mode.states[0], ContactState::sticking);
  EXPECT_NEAR(s.answer->multipliers(0), -2.0, 1e-14);
  const auto slides = solve_coulomb(v, {}, {contact(0, 0.2, rows({{1, 0}}))});
  ASSERT_EQ(slides.count, Count::one);
  EXPECT_NEAR(slides.answer->qdd(0), 0.5 - 0.2 * 2.0, 1e-14);
}

// A box of mass 1, width 2a, height 2h on two feet: x, y, angle.
struct Box {
  double a = 0.5, h = 1.0, mu = 0.4;
  std::vector<FrictionContact> contacts() const {
    return {contact(0, mu, rows({{1, 0, h}})), contact(1, mu, rows({{1, 0, h}}))};
  }
  testing::DenseValues values(double push) const {  // at the centre
    const double J = (a * a + h * h) / 3;
    return system(vec({1, 1, J}).asDiagonal(), vec({push, -g, 0}), rows({{0, 1, -a}, {0, 1, a}}), VectorXd::Zero(2));
  }
  CoulombSolution solve(double push) const {
    const auto s = solve_coulomb(values(push), {0, 1}, contacts());
    if (s.answer) expect_law(values(push), {0, 1}, contacts(), *s.answer, 1e-12);
    return s;
  }
};

TEST(Coulomb, a_box_on_two_feet_sticks_although_its_friction_is_not_unique) {
  const Box box;
  const auto s = box.solve(0.3 * g);
  ASSERT_EQ(s.count, Count::one);
  EXPECT_LE(s.answer->qdd.norm(), 1e-13);
  EXPECT_EQ(s.answer->mode.states, std::vector<ContactState>(2, ContactState::sticking));
  EXPECT_NEAR(s.answer->friction[0](0) + s.answer->friction[1](0), -0.3 * g, 1e-13);
  // One foot is nearly free of load: the distribution must respect it. N = g/2 ∓ F h/(2a).
  EXPECT_NEAR(s.answer->multipliers(0), g / 2 - 0.3 * g, 1e-12);
  EXPECT_LE(std::abs(s.answer->friction[0](0)), box.mu * s.answer->multipliers(0) + 1e-11);
}

TEST(Coulomb, a_box_on_two_feet_slides_or_tips) {
  const auto slides = Box{}.solve(0.45 * g);
  ASSERT_EQ(slides.count, Count::one);
  EXPECT_NEAR(slides.answer->qdd(0), 0.05 * g, 1e-12);
  EXPECT_NEAR(slides.answer->qdd(2), 0.0, 1e-12);
  const Box tall{.a = 0.3, .h = 1.0, .mu = 0.8};
  const auto tips = tall.solve(0.5 * g);
  ASSERT_EQ(tips.count, Count::one);
  EXPECT_EQ(tips.answer->mode.states[0], ContactState::open);
  EXPECT_EQ(tips.answer->mode.states[1], ContactState::sticking);
  EXPECT_LT(tips.answer->qdd(2), 0.0);
}

TEST(Coulomb, a_pushed_disc_rolls_or_slides) {
  // x, y, angle; the slip is ẋ − r φ̇ for a disc that rolls towards +x when φ grows.
  const double r = 0.5, J = 0.5 * r * r;
  const auto solved = [&](double push, double mu, const VectorXd& direction) {
    const testing::DenseValues v =
        system(vec({1, 1, J}).asDiagonal(), vec({push, -g, 0}), rows({{0, 1, 0}}), VectorXd::Zero(1));
    return solve_coulomb(v, {0}, {contact(0, mu, rows({{1, 0, -r}}), VectorXd::Zero(1), direction)});
  };
  const auto rolls = solved(1.0, 0.2, {});
  ASSERT_EQ(rolls.count, Count::one);
  EXPECT_EQ(rolls.answer->mode.states[0], ContactState::sticking);
  EXPECT_NEAR(rolls.answer->qdd(0), 1.0 / 1.5, 1e-14);
  EXPECT_NEAR(rolls.answer->friction[0](0), -1.0 / 3, 1e-14);
  const auto slides = solved(8.0, 0.2, {});
  ASSERT_EQ(slides.count, Count::one);
  EXPECT_EQ(slides.answer->mode.states[0], ContactState::sliding);
  EXPECT_NEAR(slides.answer->qdd(0), 8 - 0.2 * g, 1e-13);
  const auto thrown = solved(0.0, 0.2, vec({1.0}));
  EXPECT_NEAR(thrown.answer->qdd(0), -0.2 * g, 1e-13);
  EXPECT_NEAR(thrown.answer->qdd(2), 0.2 * g * r / J, 1e-12);
}

TEST(Coulomb, an_impact_with_friction_sticks_or_slides_by_the_same_equations) {
  // A ball falls obliquely: M v⁻ for Q, no rebound. Tangential speed 3, normal −1.
  const double r = 1.0, J = 0.4;
  const auto hit = [&](double mu) {
    const testing::DenseValues v =
        system(vec({1, 1, J}).asDiagonal(), vec({3, -1, 0}), rows({{0, 1, 0}}), VectorXd::Zero(1));
    return solve_coulomb(v, {0}, {contact(0, mu, rows({{1, 0, -r}}))});
  };
  EXPECT_NEAR(hit(0.2).answer->qdd(0), 3 - 0.2, 1e-14);
  EXPECT_NEAR(hit(2.0).answer->qdd(0), 3 / 1.4, 1e-14);
  EXPECT_NEAR(hit(2.0).answer->qdd(2) * r, 3 / 1.4, 1e-14);
}

TEST(Coulomb, in_the_plane_a_block_starts_down_the_slope_whatever_the_directions_of_slip_are_called) {
  const double mu = 0.3, slope = 0.6;
  for (const double turn : {0.0, 0.3, 1.1, 2.9, -2.0}) {
    const double c = std::cos(turn), s = std::sin(turn);
    const testing::DenseValues v = system(
        MatrixXd::Identity(3, 3), vec({g * std::sin(slope) * 0.6, g * std::sin(slope) * 0.8, -g * std::cos(slope)}),
        rows({{0, 0, 1}}), VectorXd::Zero(1));
    const FrictionContact rough = contact(0, mu, rows({{c, s, 0}, {-s, c, 0}}));
    const auto solution = solve_coulomb(v, {0}, {rough});
    ASSERT_EQ(solution.count, Count::one);
    expect_law(v, {0}, {rough}, *solution.answer, 1e-13);
    const double a = g * (std::sin(slope) - mu * std::cos(slope));
    EXPECT_NEAR(solution.answer->qdd(0), 0.6 * a, 1e-12);
    EXPECT_NEAR(solution.answer->qdd(1), 0.8 * a, 1e-12);
    EXPECT_EQ(solution.answer->mode.states[0], ContactState::sliding);
    // A little less steep and it stays.
    FrictionContact rougher = rough;
    rougher.mu = 1.01 * std::tan(slope);
    EXPECT_EQ(solve_coulomb(v, {0}, {rougher}).answer->mode.states[0], ContactState::sticking);
  }
}

TEST(Coulomb, random_contacts_in_space_obey_the_law_and_do_not_see_the_basis_of_the_slip) {
  int num_sliding = 0, num_sticking = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Index n = random_int(random, 3, 6);
    const MatrixXd F = testing::random_matrix(random, n, n);
    const bool wire = random_int(random, 0, 2) == 0;
    MatrixXd A = testing::random_matrix(random, 2, n);
    const testing::DenseValues v = system(F.transpose() * F + 0.5 * MatrixXd::Identity(n, n),
                                          5 * testing::random_vector(random, n), A, testing::random_vector(random, 2));
    const std::vector<Index> one_sided = wire ? std::vector<Index>{} : std::vector<Index>{1};
    const FrictionContact c = contact(1, random_real(random, 0.0, 1.0), testing::random_matrix(random, 2, n),
                                      testing::random_vector(random, 2));
    const auto s = solve_coulomb(v, one_sided, {c});
    if (!s.answer) continue;
    expect_law(v, one_sided, {c}, *s.answer, 1e-11);
    for (const auto& a : s.alternatives) expect_law(v, one_sided, {c}, a, 1e-11);
    num_sliding += s.answer->mode.states[0] == ContactState::sliding;
    num_sticking += s.answer->mode.states[0] == ContactState::sticking;
    const double turn = random_real(random, 0.0, 6.0);
    Eigen::Matrix2d rotation;
    rotation << std::cos(turn), -std::sin(turn), std::sin(turn), std::cos(turn);
    FrictionContact turned = c;
    turned.T = rotation * c.T.to_dense();
    turned.slip_b = rotation * c.slip_b;
    const auto t = solve_coulomb(v, one_sided, {turned});
    ASSERT_TRUE(t.answer);
    EXPECT_EQ(s.count, t.count);
    EXPECT_EQ(s.alternatives.size(), t.alternatives.size());
    if (s.count != Count::one) continue;
    EXPECT_LE((s.answer->qdd - t.answer->qdd).norm(), 1e-10 * (1 + s.answer->qdd.norm()));
  }
  EXPECT_GT(num_sliding, 50);
  EXPECT_GT(num_sticking, 20);
}

/// All accelerations that satisfy the law with one slip direction a contact, by elimination of the whole system.
std::vector<VectorXd> brute_force(const testing::DenseValues& v, const std::vector<Index>& one_sided,
                                  const std::vector<FrictionContact>& contacts) {
  const Index n = v.M.rows(), m = v.b.size();
  const auto c = static_cast<Index>(contacts.size());
  std::vector<VectorXd> found;
  // Digits: of a one-sided row without friction open, held; of a contact stick, + and −, each for both signs of λ, open.
  long num = 1;
  for (Index j = 0; j < m; ++j) num *= 7;
  std::vector<Index> contact_of(static_cast<std::size_t>(m), -1);
  for (Index i = 0; i < c; ++i) contact_of[contacts[i].row] = i;
  for (long code = 0; code < num; ++code) {
    long rest = code;
    const Index N = n + m + c;
    MatrixXd K = MatrixXd::Zero(N, N);
    VectorXd r = VectorXd::Zero(N);
    K.topLeftCorner(n, n) = v.M;
    K.block(0, n, n, m) = -v.A.transpose();
    for (Index i = 0; i < c; ++i) K.block(0, n + m + i, n, 1) = -contacts[i].T.to_dense().transpose();
    r.head(n) = v.Q;
    bool possible = true;
    std::vector<int> digit(static_cast<std::size_t>(m));
    for (Index j = 0; j < m && possible; ++j) {
      const int d = digit[j] = static_cast<int>(rest % 7);
      rest /= 7;
      const bool sided = std::find(one_sided.begin(), one_sided.end(), j) != one_sided.end();
      const Index i = contact_of[j];
      const bool open = d == 6;
      if (i < 0) possible = d == 0 || (open && sided);
      if (open && !sided) possible = false;
      if (sided && d % 2 == 1) possible = false;
      if (i >= 0 && contacts[i].direction.size() > 0 && !open) {
        const int slides = contacts[i].direction(0) > 0 ? 1 : 2;
        if (d / 2 != slides) possible = false;
      }
      const Index at = n + j;
      if (open) {
        K(at, n + j) = 1;
      } else {
        K.row(at).head(n) = v.A.row(j);
        r(at) = v.b(j);
      }
      if (i < 0) continue;
      const Index slip = n + m + i;
      if (open) {
        K(slip, slip) = 1;
      } else if (d / 2 == 0) {
        K.row(slip).head(n) = contacts[i].T.to_dense();
        r(slip) = contacts[i].slip_b(0);
      } else {
        K(slip, slip) = 1;
        K(slip, n + j) = contacts[i].mu * (d % 2 == 0 ? 1 : -1) * (d / 2 == 1 ? 1 : -1);
      }
    }
    if (!possible) continue;
    const Eigen::FullPivLU<MatrixXd> lu(K);
    if (!lu.isInvertible()) continue;
    const VectorXd x = lu.solve(r);
    const VectorXd qdd = x.head(n);
    const double zero = 1e-10 * (1 + x.cwiseAbs().maxCoeff());
    for (Index j = 0; j < m && possible; ++j) {
      const Index i = contact_of[j];
      if (digit[j] == 6) {
        possible = v.A.row(j).dot(qdd) - v.b(j) >= -zero;
        continue;
      }
      const bool sided = std::find(one_sided.begin(), one_sided.end(), j) != one_sided.end();
      const double normal = (digit[j] % 2 == 0 ? 1 : -1) * x(n + j);
      if ((sided || i >= 0) && normal < -zero) possible = false;
      if (i < 0) continue;
      if (digit[j] / 2 == 0) {
        if (std::abs(x(n + m + i)) > contacts[i].mu * normal + zero) possible = false;
      } else if (contacts[i].direction.size() == 0) {
        const double slip = contacts[i].T.dot(0, qdd) - contacts[i].slip_b(0);
        if ((digit[j] / 2 == 1 ? slip : -slip) < -zero) possible = false;
      }
    }
    if (!possible) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const VectorXd& other) {
      return (other - qdd).norm() <= 1e-6 * (1 + qdd.norm() + other.norm());
    });
    if (!known) found.push_back(qdd);
  }
  return found;
}

TEST(Coulomb, random_contacts_agree_with_the_elimination_of_every_mode) {
  std::array<int, 3> seen{};
  for (unsigned seed = 1; seed <= num_trials(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Index m = random_int(random, 1, 3);
    const Index n = random_int(random, static_cast<int>(2 * m), 8);
    const MatrixXd F = testing::random_matrix(random, n, n);
    testing::DenseValues v =
        system(F.transpose() * F + 0.3 * MatrixXd::Identity(n, n), 5 * testing::random_vector(random, n),
               testing::random_matrix(random, m, n), testing::random_vector(random, m));
    std::vector<Index> one_sided;
    std::vector<FrictionContact> contacts;
    for (Index j = 0; j < m; ++j) {
      if (random_int(random, 0, 3) != 0) one_sided.push_back(j);
      if (random_int(random, 0, 3) == 0) continue;
      contacts.push_back(contact(j, random_real(random, 0.0, 2.0), testing::random_matrix(random, 1, n),
                                 testing::random_vector(random, 1)));
      if (random_int(random, 0, 1) == 0) contacts.back().direction = vec({random_int(random, 0, 1) == 0 ? 1.0 : -1.0});
    }
    const auto expected = brute_force(v, one_sided, contacts);
    const auto s = solve_coulomb(v, one_sided, contacts);
    const std::size_t num = s.answer ? 1 + s.alternatives.size() : 0;
    ASSERT_EQ(num, expected.size());
    EXPECT_EQ(s.count, num == 0 ? Count::none : num == 1 ? Count::one : Count::several);
    ++seen[std::min<std::size_t>(num, 2)];
    for (std::size_t i = 0; i < num; ++i) {
      const CoulombAnswer& a = i == 0 ? *s.answer : s.alternatives[i - 1];
      expect_law(v, one_sided, contacts, a, 1e-11);
      EXPECT_TRUE(std::any_of(expected.begin(), expected.end(),
                              [&](const VectorXd& qdd) { return (qdd - a.qdd).norm() <= 1e-9 * (1 + qdd.norm()); }));
      // The mode by itself gives the same.
      const auto again = solve_coulomb_mode(v, one_sided, contacts, a.mode);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->violation, 0.0);
      EXPECT_LE((again->qdd - a.qdd).norm(), 1e-12 * (1 + a.qdd.norm()));
    }
    // Relaxation, where it finds something, finds one of these.
    const auto relaxed = solve_coulomb(v, one_sided, contacts, {.most_modes = 1});
    if (relaxed.answer && relaxed.count == Count::unknown) {
      expect_law(v, one_sided, contacts, *relaxed.answer, 1e-11);
      EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), [&](const VectorXd& qdd) {
        return (qdd - relaxed.answer->qdd).norm() <= 1e-9 * (1 + qdd.norm());
      }));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(seen[1], static_cast<int>(num_trials(200)));
  if (!sanitized) {  // a tenth of the trials has hardly any
    EXPECT_GT(seen[0], 5);
    EXPECT_GT(seen[2], 5);
  }
}

// A square plate on four feet: x, y, z, three small angles; the feet at height −h.
struct Plate {
  double a = 1.0, h = 0.5;
  std::vector<FrictionContact> contacts(double mu) const {
    std::vector<FrictionContact> list;
    Index row = 0;
    for (const double x : {-a, a}) {
      for (const double y : {-a, a})
        list.push_back(contact(row++, mu, rows({{1, 0, 0, 0, -h, -y}, {0, 1, 0, h, 0, x}})));
    }
    return list;
  }
  testing::DenseValues values(const VectorXd& Q) const {
    MatrixXd A(4, 6);
    Index row = 0;
    for (const double x : {-a, a}) {
      for (const double y : {-a, a}) A.row(row++) << 0, 0, 1, y, -x, 0;
    }
    return system(vec({1, 1, 1, 0.4, 0.4, 0.6}).asDiagonal(), Q, A, VectorXd::Zero(4));
  }
};

TEST(Coulomb, a_plate_on_four_feet_stays_although_nothing_about_its_forces_is_unique) {
  const Plate plate;
  const VectorXd Q = vec({0.2 * g, 0.1 * g, -g, 0, 0, 0.5});
  const auto contacts = plate.contacts(0.5);
  const auto s = solve_coulomb(plate.values(Q), {0, 1, 2, 3}, contacts);
  ASSERT_TRUE(s.answer);
  EXPECT_NE(s.count, Count::several);
  EXPECT_LE(s.answer->qdd.norm(), 1e-12);
  expect_law(plate.values(Q), {0, 1, 2, 3}, contacts, *s.answer, 1e-10);
}

TEST(Coulomb, a_plate_pushed_harder_slides_as_a_whole) {
  const Plate plate;
  const double push = 0.5 * g, mu = 0.3;
  const VectorXd Q = vec({0.6 * push, 0.8 * push, -g, 0, 0, 0});
  const auto contacts = plate.contacts(mu);
  const auto s = solve_coulomb(plate.values(Q), {0, 1, 2, 3}, contacts);
  ASSERT_TRUE(s.answer);
  expect_law(plate.values(Q), {0, 1, 2, 3}, contacts, *s.answer, 1e-9);
  EXPECT_NEAR(s.answer->qdd(0), 0.6 * (push - mu * g), 1e-9);
  EXPECT_NEAR(s.answer->qdd(1), 0.8 * (push - mu * g), 1e-9);
}

TEST(Coulomb, many_blocks_apart_are_solved_one_by_one) {
  const Index num = 30;
  MatrixXd A = MatrixXd::Zero(num, 2 * num);
  VectorXd Q(2 * num);
  std::vector<FrictionContact> contacts;
  std::vector<Index> one_sided;
  for (Index i = 0; i < num; ++i) {
    A(i, 2 * i + 1) = 1;
    Q.segment(2 * i, 2) = vec({0.02 * g * static_cast<double>(i), -g});
    MatrixXd T = MatrixXd::Zero(1, 2 * num);
    T(0, 2 * i) = 1;
    contacts.push_back(contact(i, 0.305, T));
    one_sided.push_back(i);
  }
  const testing::DenseValues v = system(MatrixXd::Identity(2 * num, 2 * num), Q, A, VectorXd::Zero(num));
  const auto s = solve_coulomb(v, one_sided, contacts);
  ASSERT_EQ(s.count, Count::one);
  EXPECT_EQ(s.num_modes, 4 * num);
  for (Index i = 0; i < num; ++i) {
    EXPECT_NEAR(s.answer->qdd(2 * i), std::max(0.0, 0.02 * static_cast<double>(i) - 0.305) * g, 1e-12);
  }
}

TEST(Coulomb, a_stack_too_large_to_try_all_modes_is_solved_and_its_mode_verified) {
  // Twelve slabs on top of each other, pushed at the third: the friction below it is what gives way.
  const Index num = 12;
  MatrixXd A = MatrixXd::Zero(num, 2 * num);
  VectorXd Q(2 * num);
  std::vector<FrictionContact> contacts;
  std::vector<Index> one_sided;
  for (Index i = 0; i < num; ++i) {
    Q.segment(2 * i, 2) = vec({0.0, -g});
    MatrixXd T = MatrixXd::Zero(1, 2 * num);
    A(i, 2 * i + 1) = T(0, 2 * i) = 1;
    if (i > 0) A(i, 2 * i - 1) = T(0, 2 * i - 2) = -1;
    contacts.push_back(contact(i, i == 0 ? 0.6 : 0.3, T));
    one_sided.push_back(i);
  }
  Q(4) = 0.35 * g * 10;  // ten slabs from the third upwards
  const testing::DenseValues v = system(MatrixXd::Identity(2 * num, 2 * num), Q, A, VectorXd::Zero(num));
  const auto s = solve_coulomb(v, one_sided, contacts, {.most_modes = 1000});
  ASSERT_TRUE(s.answer);
  expect_law(v, one_sided, contacts, *s.answer, 1e-11);
  EXPECT_NEAR(s.answer->qdd(0), 0.0, 1e-11);
  EXPECT_NEAR(s.answer->qdd(4), 0.05 * g, 1e-11);
  EXPECT_NEAR(s.answer->qdd(2 * num - 2), 0.05 * g, 1e-11);
}

TEST(Coulomb, many_contacts_that_hit_at_once_always_find_a_way) {
  // b = 0: what hits with friction has an answer, however many contacts, sizes from 1 down to 1e-9 of each other.
  for (unsigned seed = 1; seed <= num_trials(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Index k = seed % 3 == 0 ? 2 : 1, m = random_int(random, 10, k == 1 ? 24 : 12),
                n = (1 + k) * m + random_int(random, 0, 5);
    MatrixXd F = testing::random_matrix(random, n, n);
    VectorXd Q = testing::random_vector(random, n);
    if (seed % 2 == 0) {  // neighbours feel each other, and what is far away hardly anything
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) F(i, j) *= std::pow(0.1, std::abs(i - j));
      for (Index i = 3; i < n; ++i) Q(i) = 0;
    }
    const testing::DenseValues v =
        system(F.transpose() * F + 0.3 * MatrixXd::Identity(n, n), Q, -MatrixXd::Identity(m, n), VectorXd::Zero(m));
    std::vector<Index> one_sided;
    std::vector<FrictionContact> contacts;
    for (Index j = 0; j < m; ++j) {
      one_sided.push_back(j);
      MatrixXd T = MatrixXd::Zero(k, n);
      for (Index c = 0; c < k; ++c) T(c, m + k * j + c) = 1;
      contacts.push_back(contact(j, random_real(random, 0.0, 1.5), T));
    }
    const auto s = solve_coulomb(v, one_sided, contacts, {.most_modes = 100});
    ASSERT_TRUE(s.answer) << s.description;
    expect_law(v, one_sided, contacts, *s.answer, 1e-10);
    if (HasFailure()) return;
  }
}

TEST(Coulomb, contradicting_rows_and_wrong_sizes_are_told_apart) {
  testing::DenseValues v = system(MatrixXd::Identity(1, 1), vec({0}), rows({{1}, {1}}), vec({0, 1}));
  EXPECT_EQ(solve_coulomb(v, {}, {}).status, SolveStatus::inconsistent);
  EXPECT_EQ(solve_coulomb(v, {1}, {}).count, Count::none);
  EXPECT_EQ(solve_coulomb(v, {1}, {}).status, SolveStatus::inconsistent);
  EXPECT_EQ(solve_coulomb(v, {1}, {}).conflict, (std::vector<Index>{0, 1}));
  EXPECT_EQ(solve_coulomb(v, {0}, {}).count, Count::one);
  EXPECT_THROW(solve_coulomb(v, {2}, {}), std::invalid_argument);
  EXPECT_THROW(solve_coulomb(v, {0}, {contact(1, -0.1, rows({{1}}))}), std::invalid_argument);
  EXPECT_THROW(solve_coulomb(v, {0}, {contact(5, 0.1, rows({{1}}))}), std::invalid_argument);
}

}  // namespace
}  // namespace mechanician
