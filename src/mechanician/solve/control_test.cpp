// The programme of control against all sets of what may act, in extended precision, and against points at random.
#include "mechanician/solve/control.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using namespace mechanician::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Unknowns are efforts, each of cost 1.
ControlProgramme make(std::mt19937_64& random, Index actuators, Index rows) {
  ControlProgramme p;
  p.G = random_matrix(random, rows, actuators);
  p.r = 2.0 * random_vector(random, rows);
  p.size = p.G.rowwise().norm();
  p.r_size = p.r.cwiseAbs();
  p.T = MatrixXd::Identity(actuators, actuators);
  p.rows.resize(static_cast<std::size_t>(rows));
  p.low = VectorXd::Constant(actuators, -infinite), p.high = VectorXd::Constant(actuators, infinite);
  return p;
}

/// What each stage misses, one after the other, and the cost.
std::vector<double> objectives(const ControlProgramme& p, const VectorXd& y) {
  std::vector<double> result;
  for (int priority = 1; priority <= 3; ++priority)
    for (const bool weighted : {false, true}) {
      double sum = 0.0;
      for (std::size_t j = 0; j < p.rows.size(); ++j) {
        if (p.rows[j].priority != priority || (p.rows[j].weight > 0.0) != weighted) continue;
        double missing = p.r(static_cast<Index>(j)) - p.G.row(static_cast<Index>(j)).dot(y);
        if (p.rows[j].one_sided) missing = std::max(0.0, missing);
        sum += (weighted ? p.rows[j].weight : 1.0) * missing * missing;
      }
      result.push_back(sum);
    }
  result.push_back(y.squaredNorm());
  return result;
}

bool is_within(const ControlProgramme& p, const VectorXd& y, double tolerance) {
  for (Index i = 0; i < y.size(); ++i)
    if (y(i) < p.low(i) - tolerance || y(i) > p.high(i) + tolerance) return false;
  return true;
}

/// Of `other` by more than rounding: it is better where the objectives first differ. What is least already changes by the square of a
/// distance only, so that rounding hides a distance of 1e-6 from it and with it as much of what comes after.
bool is_better(const std::vector<double>& other, const std::vector<double>& of) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    const double tolerance = 1e-4 * (1.0 + of[i]);
    if (other[i] < of[i] - tolerance) return true;
    if (other[i] > of[i] * (1.0 + 1e-13) + 1e-26) return false;
  }
  return false;
}

/// The least ‖y‖ with rows met and within limits, by all sets of limits and one-sided rows that may act.
std::optional<VectorXd> by_enumeration(const ControlProgramme& p) {
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  const Index a = p.G.cols(), m = p.G.rows();
  std::optional<VectorXd> best;
  long total = 1;
  for (Index i = 0; i < a; ++i) total *= 3;
  for (Index j = 0; j < m; ++j) total *= p.rows[static_cast<std::size_t>(j)].one_sided ? 2 : 1;
  for (long code = 0; code < total; ++code) {
    long rest = code;
    std::vector<std::pair<Eigen::RowVectorXd, double>> equal;
    bool possible = true;
    for (Index i = 0; i < a; ++i) {
      const long what = rest % 3;
      rest /= 3;
      if (what == 0) continue;
      const double limit = what == 1 ? p.low(i) : p.high(i);
      possible = possible && std::isfinite(limit);
      equal.emplace_back(Eigen::RowVectorXd::Unit(a, i), limit);
    }
    for (Index j = 0; j < m && possible; ++j) {
      if (p.rows[static_cast<std::size_t>(j)].one_sided) {
        const long what = rest % 2;
        rest /= 2;
        if (what == 0) continue;
      }
      equal.emplace_back(p.G.row(j), p.r(j));
    }
    if (!possible) continue;
    const auto count = static_cast<Index>(equal.size());
    Matrix E(count, a);
    Vector f(count);
    for (Index i = 0; i < count; ++i)
      E.row(i) = equal[static_cast<std::size_t>(i)].first.cast<long double>(),
      f(i) = equal[static_cast<std::size_t>(i)].second;
    Vector y = Vector::Zero(a);
    if (count > 0) {
      const Eigen::CompleteOrthogonalDecomposition<Matrix> cod(E);
      y = cod.solve(f);
      if ((E * y - f).norm() > 1e-12L * (1 + f.norm())) continue;
    }
    const VectorXd found = y.cast<double>();
    if (!is_within(p, found, 1e-11)) continue;
    bool met = true;
    for (Index j = 0; j < m; ++j) {
      const double missing = p.r(j) - p.G.row(j).dot(found);
      met = met && (p.rows[static_cast<std::size_t>(j)].one_sided ? missing <= 1e-10 : std::abs(missing) <= 1e-10);
    }
    if (met && (!best || found.squaredNorm() < best->squaredNorm())) best = found;
  }
  return best;
}

TEST(Control, the_least_cost_within_limits_is_that_of_all_sets_that_may_act) {
  int compared = 0, limited = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int a = random_int(random, 1, 4), m = random_int(random, 1, 3);
    ControlProgramme p = make(random, a, m);
    for (auto& row : p.rows) row.one_sided = random_int(random, 0, 2) == 0;
    for (Index i = 0; i < a; ++i) {
      if (random_int(random, 0, 3) > 0) p.high(i) = random_real(random, 0.2, 2.0);
      if (random_int(random, 0, 3) > 0) p.low(i) = -random_real(random, 0.0, 2.0);
    }
    const auto want = by_enumeration(p);
    if (!want) continue;
    ++compared;
    const ControlAnswer answer = solve_control(p);
    EXPECT_TRUE(is_within(p, answer.y, 1e-9));
    EXPECT_LE((answer.y - *want).norm(), 1e-7 * (1 + want->norm()));
    for (const char met : answer.met) EXPECT_TRUE(met);
    for (const int at : answer.mode.at_limit) limited += at != 0;
    // With what acts as it was found, no search is needed.
    EXPECT_LE((solve_control_mode(p, answer.mode) - answer.y).norm(), 1e-9 * (1 + want->norm()));
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(limited, 50);
}

TEST(Control, priorities_and_weights_no_point_is_better) {
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(1000 + seed);
    const int a = random_int(random, 1, 5), m = random_int(random, 1, 5);
    ControlProgramme p = make(random, a, m);
    for (auto& row : p.rows) {
      row.one_sided = random_int(random, 0, 3) == 0;
      row.priority = random_int(random, 1, 3);
      if (random_int(random, 0, 1) == 0) row.weight = random_real(random, 0.2, 5.0);
    }
    for (Index i = 0; i < a; ++i)
      if (random_int(random, 0, 2) == 0) p.high(i) = random_real(random, 0.2, 1.5), p.low(i) = -p.high(i);
    const ControlAnswer answer = solve_control(p);
    ASSERT_TRUE(is_within(p, answer.y, 1e-9));
    const std::vector<double> of = objectives(p, answer.y);
    missed += of[0] + of[1] + of[2] > 1e-6;
    for (int k = 0; k < 400; ++k) {
      const double far = std::pow(10.0, -random_real(random, 0, 4));
      VectorXd other = answer.y + far * random_vector(random, a);
      for (Index i = 0; i < a; ++i) other(i) = std::clamp(other(i), p.low(i), p.high(i));
      ASSERT_FALSE(is_better(objectives(p, other), of)) << "at distance " << far;
    }
  }
  EXPECT_GT(missed, 30);
}

TEST(Control, what_nothing_influences_and_what_contradicts_is_named) {
  std::mt19937_64 random(7);
  ControlProgramme p = make(random, 2, 4);
  p.G.row(1).setZero();  // nothing influences it
  p.size(1) = 1.0;
  p.G.row(3) = 2.0 * p.G.row(0);  // contradicts row 0
  p.r << 1, 1, 0.5, 5;
  const ControlAnswer answer = solve_control(p);
  ASSERT_EQ(answer.refused.size(), 2u);
  EXPECT_EQ(answer.refused[0].rows, std::vector<Index>{1});
  EXPECT_NEAR(answer.refused[0].missing, 1.0, 1e-12);
  EXPECT_EQ(answer.refused[1].rows, (std::vector<Index>{0, 3}));
  // Soft, they are missed by their weights.
  for (auto& row : p.rows) row.weight = 1.0;
  EXPECT_TRUE(solve_control(p).refused.empty());
}

TEST(Control, a_weighted_compromise_in_closed_form) {
  // One actuator, y = 1 with weight 3 and y = 5 with weight 1: 2. Limited to 1.5.
  ControlProgramme p;
  p.G = MatrixXd::Ones(2, 1), p.r = Eigen::Vector2d(1, 5), p.size = p.r_size = VectorXd::Ones(2);
  p.T = MatrixXd::Identity(1, 1), p.rows = {{1, false, 3.0}, {1, false, 1.0}};
  p.low = VectorXd::Constant(1, -infinite), p.high = VectorXd::Constant(1, infinite);
  EXPECT_NEAR(solve_control(p).y(0), 2.0, 1e-12);
  p.high(0) = 1.5;
  const ControlAnswer limited = solve_control(p);
  EXPECT_NEAR(limited.y(0), 1.5, 1e-12);
  EXPECT_EQ(limited.mode.at_limit, std::vector<int>{1});
  // A row without weight comes first.
  p.high(0) = infinite, p.rows[0].weight = 0.0;
  const ControlAnswer first = solve_control(p);
  EXPECT_NEAR(first.y(0), 1.0, 1e-12);
  EXPECT_TRUE(first.met[0]);
  EXPECT_FALSE(first.met[1]);
}

}  // namespace
}  // namespace mechanician
