// The programme of control against all sets of what may act, in extended precision, and against points at random.
#include "mechanician/solve/control.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/limit_pulls.hpp"
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
  for (std::uint64_t seed = 0; seed < num_trials(400); ++seed) {
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
  EXPECT_GT(compared, static_cast<int>(num_trials(150)));
  EXPECT_GT(limited, static_cast<int>(num_trials(50)));
}

/// Stage after stage by all sets of what may act: bounds, rows of stages before, one-sided rows that are missed or not; in extended precision. What a stage comes to at best is
/// kept by those that follow, and the shortest of all such y is taken.
class ByAllSets {
 public:
  using Real = long double;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  explicit ByAllSets(const ControlProgramme& p) : p_(p), a_(p.G.cols()) {}

  Vector run() {
    for (int priority = 1; priority <= 3; ++priority)
      for (const bool weighted : {false, true}) {
        std::vector<Index> rows;
        for (std::size_t j = 0; j < p_.rows.size(); ++j)
          if (p_.rows[j].priority == priority && (p_.rows[j].weight > 0.0) == weighted)
            rows.push_back(static_cast<Index>(j));
        if (rows.empty()) continue;
        const Vector y = best(rows, false);
        for (const Index j : rows) {
          const bool sided = p_.rows[static_cast<std::size_t>(j)].one_sided;
          const Real reached = row(j).dot(y);
          kept_.push_back({j, sided ? std::min<Real>(reached, p_.r(j)) : reached, sided});
        }
      }
    return best({}, true);
  }

 private:
  struct Kept {
    Index row;
    Real value;
    bool sided;
  };
  Vector row(Index j) const { return p_.G.row(j).transpose().cast<Real>(); }
  Real weight(Index j) const {
    const double w = p_.rows[static_cast<std::size_t>(j)].weight;
    return w > 0.0 ? w : 1.0;
  }

  Vector best(const std::vector<Index>& rows, bool shortest) const {
    std::vector<Index> sided;
    for (const Index j : rows)
      if (p_.rows[static_cast<std::size_t>(j)].one_sided) sided.push_back(j);
    long total = 1;
    for (Index i = 0; i < a_; ++i) total *= 3;
    for (const Kept& k : kept_) total *= k.sided ? 2 : 1;
    for (std::size_t i = 0; i < sided.size(); ++i) total *= 2;
    Vector found;
    Real least = -1;
    for (long code = 0; code < total; ++code) {
      long rest = code;
      std::vector<Vector> equal;
      std::vector<Real> to;
      bool possible = true;
      for (Index i = 0; i < a_; ++i, rest /= 3) {
        if (rest % 3 == 0) continue;
        const double limit = rest % 3 == 1 ? p_.low(i) : p_.high(i);
        possible = possible && std::isfinite(limit);
        equal.push_back(Vector::Unit(a_, i)), to.push_back(limit);
      }
      for (const Kept& k : kept_) {
        const bool acts = !k.sided || rest % 2 == 1;
        if (k.sided) rest /= 2;
        if (acts) equal.push_back(row(k.row)), to.push_back(k.value);
      }
      if (!possible) continue;
      std::vector<Index> counted;
      for (const Index j : rows) {
        bool counts = true;
        if (p_.rows[static_cast<std::size_t>(j)].one_sided) counts = rest % 2 == 1, rest /= 2;
        if (counts) counted.push_back(j);
      }
      const auto y = minimise(equal, to, counted);
      if (!y || !allowed(*y)) continue;
      const Real value = shortest ? y->squaredNorm() : objective(rows, *y);
      if (least < 0 || value < least) least = value, found = *y;
    }
    return found;
  }

  /// Of the least squares of some rows with others met the shortest.
  std::optional<Vector> minimise(const std::vector<Vector>& equal, const std::vector<Real>& to,
                                 const std::vector<Index>& counted) const {
    Matrix E(static_cast<Index>(equal.size()), a_);
    Vector f(E.rows());
    for (Index i = 0; i < E.rows(); ++i)
      E.row(i) = equal[static_cast<std::size_t>(i)].transpose(), f(i) = to[static_cast<std::size_t>(i)];
    Vector y = Vector::Zero(a_);
    Matrix Z = Matrix::Identity(a_, a_);
    if (E.rows() > 0) {
      const Eigen::JacobiSVD<Matrix> svd(E, Eigen::ComputeFullU | Eigen::ComputeFullV);
      Index rank = 0;
      for (Index i = 0; i < svd.singularValues().size(); ++i)
        if (svd.singularValues()(i) > 1e-12L)
          y += svd.matrixV().col(i) * (svd.matrixU().col(i).dot(f) / svd.singularValues()(i)), rank = i + 1;
      if ((E * y - f).norm() > 1e-13L * (1 + f.norm())) return {};
      Z = svd.matrixV().rightCols(a_ - rank);
    }
    if (counted.empty() || Z.cols() == 0) return y;
    Matrix P(static_cast<Index>(counted.size()), a_);
    Vector b(P.rows());
    for (Index i = 0; i < P.rows(); ++i) {
      const Index j = counted[static_cast<std::size_t>(i)];
      P.row(i) = std::sqrt(weight(j)) * row(j).transpose(), b(i) = std::sqrt(weight(j)) * p_.r(j);
    }
    const Eigen::JacobiSVD<Matrix> svd(P * Z, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Vector missing = b - P * y;
    for (Index i = 0; i < svd.singularValues().size(); ++i)
      if (svd.singularValues()(i) > 1e-12L)
        y += Z * svd.matrixV().col(i) * (svd.matrixU().col(i).dot(missing) / svd.singularValues()(i));
    return y;
  }

  bool allowed(const Vector& y) const {
    constexpr Real rounding = 1e-12L;
    for (Index i = 0; i < a_; ++i)
      if (y(i) < p_.low(i) - rounding || y(i) > p_.high(i) + rounding) return false;
    for (const Kept& k : kept_) {
      const Real off = row(k.row).dot(y) - k.value;
      if (k.sided ? off < -rounding : std::abs(off) > rounding) return false;
    }
    return true;
  }

  Real objective(const std::vector<Index>& rows, const Vector& y) const {
    Real sum = 0;
    for (const Index j : rows) {
      Real missing = p_.r(j) - row(j).dot(y);
      if (p_.rows[static_cast<std::size_t>(j)].one_sided) missing = std::max<Real>(0, missing);
      sum += weight(j) * missing * missing;
    }
    return sum;
  }

  const ControlProgramme& p_;
  Index a_;
  std::vector<Kept> kept_;
};

/// With limits, one-sided rows, weights and priorities, rows that nothing influences and rows that others leave no room for.
ControlProgramme draw_programme(std::mt19937_64& random) {
  const int a = random_int(random, 1, 3), m = random_int(random, 1, 3);
  ControlProgramme p = make(random, a, m);
  for (auto& row : p.rows) {
    row.one_sided = random_int(random, 0, 3) == 0;
    row.priority = random_int(random, 1, 3);
    if (random_int(random, 0, 2) == 0) row.weight = random_real(random, 0.2, 5.0);
  }
  for (Index i = 0; i < a; ++i) {
    if (random_int(random, 0, 3) > 0) p.high(i) = random_real(random, 0.1, 1.5);
    if (random_int(random, 0, 3) > 0) p.low(i) = -random_real(random, 0.1, 1.5);
  }
  if (m > 1 && random_int(random, 0, 4) == 0) p.G.row(1) = -2.0 * p.G.row(0);
  if (random_int(random, 0, 9) == 0) p.G.row(m - 1).setZero();
  p.size = p.size.cwiseMax(0.3);
  return p;
}

TEST(Control, is_that_of_all_sets_with_limits_weights_priorities_and_one_sided_rows) {
  int limited = 0, missed = 0, sided = 0;
  const unsigned trials = num_trials(3000);
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(500000 + seed);
    const ControlProgramme p = draw_programme(random);
    const VectorXd want = ByAllSets(p).run().cast<double>();
    ASSERT_EQ(want.size(), p.G.cols());
    const ControlAnswer answer = solve_control(p);
    EXPECT_LE((answer.y - want).norm(), 1e-7 * (1 + want.norm())) << answer.y.transpose() << "\n"
                                                                  << want.transpose() << "\n"
                                                                  << p.G;
    EXPECT_TRUE(is_within(p, answer.y, 1e-9));
    for (const int at : answer.mode.at_limit) limited += at != 0;
    for (const char met : answer.met) missed += !met;
    for (const char held : answer.mode.held) sided += held;
    if (HasFailure()) break;
  }
  for (const int seen : {limited, missed, sided}) EXPECT_GT(seen, static_cast<int>(trials) / 10);
}

TEST(Control, pulls_at_limits_are_where_efforts_go_if_let_go) {
  int inwards = 0, outwards = 0;
  const unsigned trials = num_trials(3000);
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(900000 + seed);
    const ControlProgramme p = draw_programme(random);
    ControlMode mode = solve_control(p).mode;
    // What acts at the answer is pressed against its limits; any other set of limits may be drawn either way.
    const VectorXd at_answer = calc_limit_pulls(p, mode).along;
    for (Index i = 0; i < at_answer.size(); ++i)
      EXPECT_GE(mode.at_limit[static_cast<std::size_t>(i)] * at_answer(i), -1e-9) << "effort " << i;
    for (std::size_t i = 0; i < mode.at_limit.size(); ++i) {
      const int at = random_int(random, -1, 1);
      const auto k = static_cast<Index>(i);
      mode.at_limit[i] = std::isfinite(at > 0 ? p.high(k) : p.low(k)) ? at : 0;
    }
    const VectorXd pulls = calc_limit_pulls(p, mode).along;
    for (std::size_t i = 0; i < mode.at_limit.size(); ++i) {
      const auto k = static_cast<Index>(i);
      if (mode.at_limit[i] == 0) {
        EXPECT_EQ(pulls(k), 0.0);
        continue;
      }
      ControlMode let_go = mode;
      let_go.at_limit[i] = 0;
      const double beyond = solve_control_mode(p, let_go)(k) - (mode.at_limit[i] > 0 ? p.high(k) : p.low(k));
      if (std::abs(beyond) < 1e-6 || std::abs(pulls(k)) < 1e-9) continue;
      EXPECT_GT(beyond * pulls(k), 0.0) << "effort " << i << "\n" << p.G;
      ++(mode.at_limit[i] * beyond > 0.0 ? outwards : inwards);
    }
    if (HasFailure()) break;
  }
  for (const int seen : {inwards, outwards}) EXPECT_GT(seen, static_cast<int>(trials) / 10);
}

TEST(Control, pulls_pass_zero_without_a_pole) {
  // Two rows, one effort free, the other at its limit; what they do comes to be the same at s = 0, where ρ is not zero.
  for (const double s : {-1e-2, -1e-5, -1e-8, 1e-8, 1e-5, 1e-2}) {
    ControlProgramme p;
    p.rows.resize(2);
    p.G.resize(2, 2), p.G << 1.0, 0.5, 0.0, s;
    p.r.resize(2), p.r << 0.3, 2.0;
    p.size = VectorXd::Ones(2), p.r_size = p.r.cwiseAbs(), p.T = MatrixXd::Identity(2, 2);
    p.low = VectorXd::Constant(2, -1.0), p.high = VectorXd::Constant(2, 1.0);
    const VectorXd pulls = calc_limit_pulls(p, {{0, 1}, {0, 0}}).along;
    const double size = std::hypot(0.5, s), missing = 2.0 - s;
    EXPECT_NEAR(pulls(1), s * missing / (size * (size + missing / 2.0)), 1e-12) << s;
    EXPECT_EQ(solve_control(p).mode.at_limit[1], s > 0.0 ? 1 : -1) << s;
  }
}

TEST(Control, priorities_and_weights_no_point_is_better) {
  int missed = 0;
  for (std::uint64_t seed = 0; seed < num_trials(300); ++seed) {
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
  EXPECT_GT(missed, static_cast<int>(num_trials(30)));
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
