#include "mechanician/motion/roots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace mechanician {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Function = std::function<double(double)>;

/// One function on one step, begin as it is.
struct Search {
  double t0 = 0.0, t1 = 1.0;
  double floor = 0.0;
  double time_tolerance = 0.0;
  double begin = nan;  ///< instead of the value at t0
  int samples = 8;
};
struct Found {
  std::vector<Root> roots;
  long evaluations;
  double end;
  std::vector<double> times() const {
    std::vector<double> ts;
    for (const Root& r : roots) ts.push_back(r.t);
    return ts;
  }
};
Found find(const Function& g, const Search& s = {}) {
  RootFinder finder(1, s.samples);
  const std::vector<double> begin{std::isnan(s.begin) ? g(s.t0) : s.begin}, floor{s.floor};
  const auto roots =
      finder.find_all({.t0 = s.t0, .t1 = s.t1, .begin = begin, .floor = floor, .time_tolerance = s.time_tolerance},
                      [&](double t, std::span<double> values) { values[0] = g(t); });
  return {{roots.begin(), roots.end()}, finder.evaluations(), finder.end()[0]};
}

/// Π (t − r), scaled to stay of order one.
Function polynomial(std::vector<double> roots, double factor = 1.0) {
  return [roots, factor](double t) {
    double p = factor;
    for (const double r : roots) p *= 2 * (t - r);
    return p;
  };
}

/// Sign and place of every root: new or zero at t, old just before.
void expect_turns(const Function& g, const Found& found, double within) {
  for (const Root& r : found.roots) {
    EXPECT_GE(r.direction * g(r.t), 0) << r.t;
    EXPECT_LT(r.direction * g(r.t - within), 0) << r.t;
  }
  for (std::size_t i = 1; i < found.roots.size(); ++i)
    EXPECT_EQ(found.roots[i].direction, -found.roots[i - 1].direction);
}

void expect_roots(const Function& g, const std::vector<double>& exact, const Search& s = {}) {
  const Found found = find(g, s);
  ASSERT_EQ(found.roots.size(), exact.size()) << testing::PrintToString(found.times());
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found.roots[i].t, exact[i], 8 * eps) << i;
  expect_turns(g, found, 8 * eps);
}

TEST(Roots, OfPolynomialsAreFoundToTheLastDigits) {
  expect_roots(polynomial({0.3}), {0.3});
  expect_roots(polynomial({0.3}, -1), {0.3});
  expect_roots(polynomial({0.1, 0.35, 0.8}), {0.1, 0.35, 0.8});
  expect_roots(polynomial({0.05, 0.1, 0.2, 0.4, 0.6, 0.9, 0.99}), {0.05, 0.1, 0.2, 0.4, 0.6, 0.9, 0.99});
  expect_roots(polynomial({-0.2, 1.1}), {});
}

TEST(Roots, AreFoundOnStepsOfAnySizeAndPlace) {
  for (const double scale : {1e-12, 1e-3, 1.0, 1e6})
    for (const double shift : {0.0, 1.0, -1e3, 1e5}) {
      const double ulp = eps * (std::abs(shift) + scale);
      if (scale < 100 * ulp) continue;
      const Function g = [=](double t) { return ((t - shift) / scale - 0.3) * ((t - shift) / scale - 0.7); };
      const Found found = find(g, {.t0 = shift, .t1 = shift + scale});
      ASSERT_EQ(found.roots.size(), 2u) << scale << " " << shift;
      EXPECT_NEAR(found.roots[0].t, shift + 0.3 * scale, 8 * ulp);
      EXPECT_NEAR(found.roots[1].t, shift + 0.7 * scale, 8 * ulp);
    }
}

TEST(Roots, PairsBetweenNodesAreFoundWhereverTheyAre) {
  std::mt19937_64 random(1);
  for (const double gap : {0.1, 1e-2, 1e-3, 3e-4})
    for (int k = 0; k < 300; ++k) {
      const double a = std::uniform_real_distribution<double>(0, 1 - gap)(random);
      SCOPED_TRACE(testing::Message() << a << ", " << gap);
      // Next to a double root the place of a root is only as good as rounding over slope.
      const Function g = polynomial({a, a + gap}, k % 2 == 0 ? 1 : -1);
      const Found found = find(g);
      ASSERT_EQ(found.roots.size(), 2u);
      EXPECT_NEAR(found.roots[0].t, a, 8 * eps);
      EXPECT_NEAR(found.roots[1].t, a + gap, 8 * eps);
      expect_turns(g, found, 8 * eps);
    }
}

TEST(Roots, ClustersAreSeparated) {
  for (const double d : {0.05, 0.01, 2e-3}) {
    expect_roots(polynomial({0.4 - d, 0.4, 0.4 + d}), {0.4 - d, 0.4, 0.4 + d});
    expect_roots(polynomial({0.7 - d, 0.7, 0.7 + d, 0.7 + 2 * d}), {0.7 - d, 0.7, 0.7 + d, 0.7 + 2 * d});
  }
  // What cannot be told apart still changes sign once.
  const Found triple = find([](double t) { return std::pow(t - 0.4, 3); });
  ASSERT_EQ(triple.roots.size(), 1u);
  EXPECT_NEAR(triple.roots[0].t, 0.4, 8 * eps);
}

TEST(Roots, TouchesAreNone) {
  std::mt19937_64 random(2);
  for (int k = 0; k < 300; ++k) {
    const double a = std::uniform_real_distribution<double>(0, 1)(random);
    SCOPED_TRACE(a);
    EXPECT_TRUE(find([=](double t) { return (t - a) * (t - a); }).roots.empty());
    EXPECT_TRUE(find([=](double t) { return -std::pow(t - a, 4); }).roots.empty());
    EXPECT_TRUE(find([=](double t) { return 1 - std::cos(5 * (t - a)); }).roots.empty());
    EXPECT_TRUE(find([=](double t) { return (t - a) * (t - a) + 1e-12; }).roots.empty());
    EXPECT_TRUE(find([=](double t) { return std::abs(t - a); }).roots.empty());
  }
  EXPECT_TRUE(find([](double) { return 0.0; }).roots.empty());
}

TEST(Roots, DipsOfFunctionsThatArePoorlyResolvedAreFound) {
  // A narrow well, barely through zero; a kink.
  for (double a = 0.1; a < 0.9; a += 0.01) {
    SCOPED_TRACE(a);
    const Function well = [=](double t) { return 1 - 1.1 * std::exp(-std::pow((t - a) / 0.15, 2)); };
    EXPECT_EQ(find(well).roots.size(), 2u);
    const Function kink = [=](double t) { return std::abs(t - a) - 0.02; };
    const Found found = find(kink);
    ASSERT_EQ(found.roots.size(), 2u);
    EXPECT_NEAR(found.roots[0].t, a - 0.02, 8 * eps);
    EXPECT_NEAR(found.roots[1].t, a + 0.02, 8 * eps);
    EXPECT_LE(found.evaluations, 60);
  }
}

TEST(Roots, AtTheBeginAreNotReportedAgain) {
  const Function g = [](double t) { return t * (t - 0.5); };
  EXPECT_EQ(find(g).times().size(), 1u);                   // begin is zero: on no side
  EXPECT_EQ(find(g, {.begin = -1e-17}).roots.size(), 1u);  // on its new side
  // On the side that it leaves: this is the root.
  const Found found = find(g, {.begin = 1e-17});
  ASSERT_EQ(found.roots.size(), 2u);
  EXPECT_GT(found.roots[0].t, 0.0);
  EXPECT_LE(found.roots[0].t, 8 * eps);
  EXPECT_EQ(found.roots[0].direction, -1);
}

TEST(Roots, AtTheEndAreReportedOnceTheSignHasChanged) {
  const Function g = [](double t) { return t - 1; };
  const Found at_end = find(g);
  EXPECT_TRUE(at_end.roots.empty());
  EXPECT_LT(at_end.end, 0);  // still on its side
  EXPECT_GT(at_end.end, -1e-300);
  const Found next = find(g, {.t0 = 1, .t1 = 2, .begin = at_end.end});
  ASSERT_EQ(next.roots.size(), 1u);
  EXPECT_NEAR(next.roots[0].t, 1, 8 * eps);
  EXPECT_EQ(find(g, {.t1 = std::nextafter(1.0, 2.0)}).roots.size(), 1u);
}

TEST(Roots, OfSuccessiveStepsAreEachFoundOnce) {
  // sin(t) and cos(t) with steps of all sizes, some of which end exactly on a root.
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    RootFinder finder(2);
    const auto g = [](double t, std::span<double> v) {
      v[0] = std::sin(t);
      v[1] = std::cos(t);
    };
    std::vector<double> begin(2), floor{1e-15, 1e-15};
    double t = 0.25;
    g(t, begin);
    std::vector<Root> all;
    while (t < 40) {
      double next = t + std::uniform_real_distribution<double>(0.01, 5)(random);
      if (random() % 3 == 0) next = std::ceil(next / std::numbers::pi * 2) * std::numbers::pi / 2;
      const auto roots = finder.find_all({.t0 = t, .t1 = next, .begin = begin, .floor = floor}, g);
      all.insert(all.end(), roots.begin(), roots.end());
      begin.assign(finder.end().begin(), finder.end().end());
      t = next;
    }
    // cos at π/2, sin at π, cos at 3π/2, …
    ASSERT_GE(all.size(), 24u);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].function, i % 2 == 0 ? 1 : 0);
      EXPECT_EQ(all[i].direction, i % 4 < 2 ? -1 : 1);
      EXPECT_NEAR(all[i].t, static_cast<double>(i + 1) * std::numbers::pi / 2, 16 * eps * 45);
    }
  }
}

TEST(Roots, JumpsAreClosedInOn) {
  for (const double a : {0.123456789, 0.5, 1e-9, 1 - 1e-9}) {
    const Function g = [=](double t) { return t < a ? -1e-3 : 1e3; };
    const Found exact = find(g);
    ASSERT_EQ(exact.roots.size(), 1u);
    EXPECT_NEAR(exact.roots[0].t, a, 4 * eps);
    EXPECT_GE(exact.roots[0].t, a);
    EXPECT_LE(exact.evaluations, 80);
    const Found rough = find(g, {.time_tolerance = 1e-6});
    ASSERT_EQ(rough.roots.size(), 1u);
    EXPECT_GE(rough.roots[0].t, a);
    EXPECT_LE(rough.roots[0].t, a + 1e-6);
    EXPECT_LE(rough.evaluations, 40);
  }
  // A pole, and a value that is infinite beyond.
  EXPECT_EQ(find([](double t) { return 1 / (t - 0.3141); }).roots.size(), 1u);
  EXPECT_EQ(find([](double t) { return t < 0.3 ? -1 : std::numeric_limits<double>::infinity(); }).roots.size(), 1u);
}

TEST(Roots, AcrossUndefinedValuesAreWhereTheNewSignAppears) {
  const Function g = [](double t) { return t < 0.3 ? -1 : t < 0.6 ? nan : 1.0; };
  const Found found = find(g);
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_NEAR(found.roots[0].t, 0.6, 4 * eps);
  // Undefined at first: taking a side is no root; undefined at the end: the side is kept.
  EXPECT_TRUE(find([](double t) { return std::sqrt(t - 0.5); }).roots.empty());
  EXPECT_GT(find([](double t) { return std::sqrt(0.5 - t); }).end, 0);
}

TEST(Roots, RoundingBelowTheFloorIsNone) {
  const Function noisy = [](double t) { return t - 0.5 + 1e-9 * std::sin(1e12 * t); };
  const Found found = find(noisy, {.floor = 1e-8});
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_NEAR(found.roots[0].t, 0.5, 2e-9);
  EXPECT_TRUE(find([](double t) { return 1e-9 * std::sin(20 * t); }, {.floor = 1e-8}).roots.empty());
  EXPECT_TRUE(find([](double t) { return (t - 0.31) * (t - 0.31) - 1e-9; }, {.floor = 1e-8}).roots.empty());
  // Noise around zero, then away: one root, and none where it comes back to the side it left.
  EXPECT_TRUE(
      find([](double t) { return 1e-9 * std::sin(1e5 * t) + 3 * t * t; }, {.floor = 1e-8, .begin = 1}).roots.empty());
}

TEST(Roots, OfWildFunctionsAreChangesOfSign) {
  for (const double t0 : {0.01, 0.03, 0.1, 0.2}) {
    const Function g = [](double t) { return std::sin(1 / t); };
    const Found found = find(g, {.t0 = t0, .t1 = 1});
    expect_turns(g, found, 8 * eps);
    // An odd number where the signs at the ends differ.
    EXPECT_EQ(found.roots.size() % 2 == 1, g(t0) * g(1) < 0);
    EXPECT_LE(found.evaluations, 150);
  }
  // On steps that follow the function, all of them: 1/(kπ).
  std::vector<double> times;
  RootFinder finder(1);
  double t = 0.01;
  std::vector<double> begin{std::sin(1 / t)};
  while (t < 1) {
    const double next = std::min(1.0, t + 4 * t * t);
    for (const Root& r : finder.find_all({.t0 = t, .t1 = next, .begin = begin},
                                         [](double s, std::span<double> v) { v[0] = std::sin(1 / s); }))
      times.push_back(r.t);
    begin.assign(finder.end().begin(), finder.end().end());
    t = next;
  }
  ASSERT_EQ(times.size(), 31u);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(times[i], 1 / (static_cast<double>(31 - i) * std::numbers::pi), 8 * eps);
}

/// Σ c_k T_k(2t − 1)
struct Chebyshev {
  std::vector<double> c;
  double operator()(double t) const {
    const double x = 2 * t - 1;
    double b1 = 0, b2 = 0;  // Clenshaw
    for (std::size_t k = c.size(); k-- > 1;) b2 = std::exchange(b1, 2 * x * b1 - b2 + c[k]);
    return c[0] + x * b1 - b2;
  }
};
Chebyshev random_chebyshev(std::mt19937_64& random, std::size_t degree, double decay) {
  Chebyshev p;
  double size = 1;
  for (std::size_t k = 0; k <= degree; ++k, size *= decay)
    p.c.push_back(size * std::normal_distribution<double>()(random));
  return p;
}

/// Intervals of a fine grid in which the sign changes.
std::vector<double> dense_sampling(const Function& g, int points) {
  std::vector<double> times;
  double before = g(0);
  for (int k = 1; k <= points; ++k) {
    const double t = static_cast<double>(k) / points, now = g(t);
    if ((before < 0) != (now < 0)) times.push_back(t);
    before = now;
  }
  return times;
}

TEST(Roots, OfRandomFunctionsAreThoseOfDenseSampling) {
  constexpr int points = 1 << 13;
  long roots = 0, evaluations = 0, functions = 0, worst = 0, unclear = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    // Up to degree 9 the samples determine the polynomial; beyond, higher terms are as small as on a step with error
    // control.
    const bool rough = seed % 3 == 2;
    const Chebyshev g = rough ? random_chebyshev(random, 16, 0.4) : random_chebyshev(random, 1 + random() % 9, 1.0);
    const std::vector<double> oracle = dense_sampling(g, points);
    bool close = false;
    for (std::size_t i = 1; i < oracle.size(); ++i) close |= oracle[i] - oracle[i - 1] < 8.0 / points;
    const Found found = find(g, {.floor = 1e-14});
    for (std::size_t i = 1; i < found.roots.size(); ++i)
      close |= found.roots[i].t - found.roots[i - 1].t < 8.0 / points;
    unclear += close;
    if (close) continue;
    ASSERT_EQ(found.roots.size(), oracle.size());
    for (std::size_t i = 0; i < oracle.size(); ++i) EXPECT_NEAR(found.roots[i].t, oracle[i], 1.01 / points);
    ++functions;
    roots += static_cast<long>(oracle.size());
    evaluations += found.evaluations;
    worst = std::max(worst, found.evaluations - 9 - 14 * static_cast<long>(oracle.size()));
  }
  EXPECT_GT(functions, 2900);
  EXPECT_LT(unclear, 100);
  EXPECT_GT(roots, 5000);
  const double per_root = static_cast<double>(evaluations - 9 * functions) / static_cast<double>(roots);
  RecordProperty("evaluations_per_root", std::to_string(per_root));
  EXPECT_LT(per_root, 10.0);
  EXPECT_LE(worst, 20);
}

TEST(Roots, WithoutRootsOnlyTheSamplesAreEvaluated) {
  for (const int samples : {1, 3, 8, 20}) {
    EXPECT_EQ(find([](double t) { return 2 + std::sin(3 * t); }, {.samples = samples}).evaluations, samples + 1);
    RootFinder finder(1, samples);
    const std::vector<double> begin{1.0}, end{2.0};
    EXPECT_FALSE(finder.find_first({.t0 = 0, .t1 = 1, .begin = begin, .end = end},
                                   [](double t, std::span<double> v) { v[0] = 1 + t; }));
    EXPECT_EQ(finder.evaluations(), samples);
  }
}

TEST(Roots, TheFirstIsTheFirstOfAll) {
  long first_evaluations = 0, all_evaluations = 0;
  int with_root = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<Chebyshev> gs;
    for (std::size_t i = 0; i < 1 + seed % 5; ++i) gs.push_back(random_chebyshev(random, 7, 0.8));
    if (seed % 7 == 0) gs.push_back(gs.front());  // two that turn at the same time
    const auto evaluate = [&](double t, std::span<double> v) {
      for (std::size_t i = 0; i < gs.size(); ++i) v[i] = gs[i](t);
    };
    std::vector<double> begin(gs.size());
    evaluate(0, begin);
    const std::vector<double> floor(gs.size(), 1e-14);
    RootFinder finder(static_cast<int>(gs.size()));
    const RootStep step{.t0 = 0, .t1 = 1, .begin = begin, .floor = floor};
    const auto first = finder.find_first(step, evaluate);
    first_evaluations += finder.evaluations();
    RootFinder other(static_cast<int>(gs.size()));
    const auto all = other.find_all(step, evaluate);
    all_evaluations += other.evaluations();
    ASSERT_EQ(first.has_value(), !all.empty());
    if (!first) continue;
    ++with_root;
    EXPECT_NEAR(first->t, all[0].t, 16 * eps / 1e-3);
    if (gs.size() == 1 + seed % 5) {
      EXPECT_EQ(first->function, all[0].function);
    }
    EXPECT_EQ(first->direction, all[0].direction);
    std::vector<double> values(gs.size());
    evaluate(first->t, values);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), finder.at_root().begin()));
  }
  EXPECT_GT(with_root, 1000);
  EXPECT_LT(first_evaluations, all_evaluations);
}

TEST(Roots, AToleranceSavesEvaluationsAndIsKept) {
  std::mt19937_64 random(3);
  long rough = 0, fine = 0;
  for (int k = 0; k < 200; ++k) {
    const double a = std::uniform_real_distribution<double>(0, 1)(random);
    const Function g = [=](double t) { return std::atan(50 * (t - a)) * (t < a ? 1.0 : 30.0); };
    const Found r = find(g, {.time_tolerance = 1e-4}), f = find(g);
    ASSERT_EQ(r.roots.size(), 1u);
    EXPECT_GE(r.roots[0].t, a);
    EXPECT_LE(r.roots[0].t, a + 1e-4);
    EXPECT_NEAR(f.roots.at(0).t, a, 8 * eps);
    rough += r.evaluations;
    fine += f.evaluations;
  }
  EXPECT_LE(rough, fine);
}

}  // namespace
}  // namespace mechanician
