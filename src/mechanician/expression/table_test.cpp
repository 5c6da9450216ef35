#include "mechanician/expression/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <stdexcept>
#include <thread>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table_lookup.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/expression/variation.hpp"

namespace mechanician {
namespace {

using Numbers = std::vector<double>;

const Numbers points{-1.0, 0.0, 0.25, 1.0, 1.5, 3.0, 4.0}, values{2.0, -1.0, 0.5, 0.75, 0.75, -2.0, 1.0};
const Numbers places{-1.0, -0.9, -0.3, 0.0, 0.1, 0.25, 0.7, 1.0, 1.2, 1.5, 2.2, 2.999, 3.4, 4.0};

Table table(Interpolation interpolation, Outside outside = Outside::error, Numbers v = values) {
  return Table(
      {.name = "f", .arguments = {points}, .values = std::move(v), .interpolation = interpolation, .outside = outside});
}

double at(const Table& f, double x, int order = 0) {
  const Expr t = time_symbol(), e = f(t, order);
  return Tape(std::span(&e, 1), std::span(&t, 1))(std::span<const double>(&x, 1)).front();
}
double at(const Table& f, double x, double y, int dx, int dy) {
  const std::vector<Expr> inputs{coordinate("x"), coordinate("y")};
  const Expr e = f(inputs[0], inputs[1], dx, dy);
  const Numbers numbers{x, y};
  return Tape(std::span(&e, 1), inputs)(std::span<const double>(numbers)).front();
}

/// Values and three derivatives at `places`, by SciPy 1.17.1 (CubicSpline, CubicSpline(bc_type = "periodic") with the last value 2, PchipInterpolator).
const double not_a_knot[4][14] = {
    {2.0, -0.09860719999999958, -2.8960109333333297, -1.0, -0.32456986666666665, 0.5, 1.0323592000000006, 0.75,
     0.7299232, 0.75, -0.4511104000000004, -1.99933069000009, -1.790973866666667, 1.0},
    {-24.09622222222222, -17.98709155555555, 4.660300444444445, 6.979244444444444, 6.418188444444444, 4.325944444444445,
     -0.838867555555554, -0.5452888888888889, 0.19332799999999983, -0.3996666666666666, -2.465811555555555,
     -0.6718188441777766, 1.896833777777777, 7.822444444444445},
    {64.4264, 57.756213333333335, 17.735093333333346, -2.2754666666666665, -8.945653333333333, -18.95093333333333,
     -4.003786666666665, 5.960977777777778, 1.425191111111113, -5.378488888888889, -0.5247822222222212,
     5.015377244444444, 7.795857777777778, 11.956177777777778},
    {-66.70186666666666, -66.70186666666666, -66.70186666666666, -66.70186666666666, -66.70186666666666,
     33.21588148148148, 33.21588148148148, -22.678933333333333, -22.678933333333333, 6.933866666666665,
     6.933866666666665, 6.933866666666665, 6.933866666666667, 6.933866666666667}};
const double periodic[4][14] = {
    {2.0, 1.7915766666666666, -1.0458477777777784, -1.0, -0.4469511111111106, 0.5, 1.1146933333333335, 0.75,
     0.744871111111111, 0.75, -1.1722679835390948, -2.0029769825883115, -0.06031999999999804, 2.0},
    {-1.0622222222222222, -3.014218518518518, -3.130929629629634, 4.264814814814814, 6.415096296296298,
     5.353518518518519, -1.1584148148148143, -0.6225925925925927, 0.3393629629629631, -0.827037037037037,
     -3.3968839506172825, 2.9698936908642004, 5.741822222222222, -1.0622222222222222},
    {-22.28074074074074, -16.75918518518519, 16.370148148148147, 32.93481481481483, 10.0708148148148,
     -24.225185185185186, -4.716740740740743, 8.28888888888889, 1.3306666666666604, -9.106666666666666,
     1.7642469135802514, 14.17261827160494, -0.39940740740741987, -22.28074074074074},
    {55.21555555555555, 55.21555555555555, 55.21555555555555, -228.6400000000001, -228.6400000000001,
     43.352098765432096, 43.352098765432096, -34.79111111111111, -34.79111111111111, 15.529876543209877,
     15.529876543209877, 15.529876543209877, -36.46888888888889, 55.21555555555555}};
const double pchip[4][14] = {
    {2.0, 1.187, -0.9190000000000003, -1.0, -0.4898144329896905, 0.5, 0.7154432989690721, 0.75, 0.75, 0.75,
     -0.487703703703704, -1.9999963349629626, -1.4176000000000004, 1.0},
    {-9.0, -7.29, -0.8099999999999996, 0.0, 8.402474226804124, 0.7422680412371133, 0.24247422680412373, 0.0, 0.0, 0.0,
     -2.7377777777777768, -0.0073284444444432495, 2.741333333333333, 4.933333333333334},
    {18.0, 16.2, 5.400000000000002, 138.0618556701031, 29.98762886597939, -1.2920962199312713, -0.9292096219931273, 0.0,
     0.0, -7.333333333333332, -0.4888888888888854, 7.323555555555558, 5.573333333333334, 1.7333333333333343},
    {-18.0, -18.0, -18.0, -1080.7422680412371, -1080.7422680412371, 0.8064146620847645, 0.8064146620847645, 0.0, 0.0,
     9.777777777777777, 9.777777777777777, 9.777777777777777, -6.399999999999999, -6.399999999999999}};

void expect_all(const Table& f, const double (&expected)[4][14], const char* what) {
  const double size[4] = {3.0, 25.0, 140.0, 1100.0};
  for (int order = 0; order < 4; ++order)
    for (std::size_t i = 0; i < places.size(); ++i)
      EXPECT_NEAR(at(f, places[i], order), expected[order][i], 1e-13 * size[order])
          << what << order << " at " << places[i];
}

TEST(Table, CubicAndMonotoneAreThoseOfSciPy) {
  expect_all(table(Interpolation::cubic), not_a_knot, "cubic ");
  Numbers closed = values;
  closed.back() = closed.front();
  expect_all(table(Interpolation::cubic, Outside::periodic, closed), periodic, "periodic ");
  expect_all(table(Interpolation::monotone), pchip, "monotone ");
  const Table f = table(Interpolation::cubic, Outside::periodic, closed);
  EXPECT_NEAR(at(f, -6.3), 1.4801433333333338, 1e-13);
  EXPECT_NEAR(at(f, 7.7), -2.3266399999999994, 1e-13);
  EXPECT_NEAR(at(f, 104.2), 1.4155614814814688, 1e-12);
}

TEST(Table, GridsAreThoseOfSciPy) {
  // RectBivariateSpline(kx = 3, ky = 3, s = 0) of SciPy 1.17.1.
  const Numbers x{0.0, 1.0, 1.5, 3.0, 4.0}, y{-1.0, 0.5, 1.0, 2.0};
  const Numbers v{0.0,   0.0,   0.0,    0.0,    0.637,  0.955, 0.837,  0.364, 0.561,  0.948,
                  0.861, 0.458, -0.826, -0.496, -0.226, 0.483, -1.076, -0.63, -0.276, 0.65};
  const double place[7][2] = {{0.0, -1.0}, {0.3, -0.2}, {1.0, 0.5}, {1.2, 1.7}, {2.9, 0.9}, {4.0, 2.0}, {3.7, -0.8}};
  struct {
    int dx, dy;
    double expected[7];
  } const cases[] = {
      {0, 0, {0.0, 0.4078540693333335, 0.955, 0.5802180114285713, -0.20948475555555546, 0.65, -1.1883765066666667}},
      {1,
       0,
       {1.0668047619047618, 1.2002683949206352, 0.3483317460317456, 0.17583142857142836, -0.7929621439153437,
        0.3554269841269845, 0.0468888317460315}},
      {0,
       1,
       {0.0, 0.06191608888888897, -0.14050000000000007, -0.5324531504761905, 0.5270099999999994, 1.0413333333333337,
        -0.05690862222222127}},
      {1,
       1,
       {0.9155174603174606, 0.1941580105820106, 0.021041269841269597, 0.08887867936507993, 0.5443125608465605,
        -0.5593269841269831, 0.16158048677248654}},
      {2,
       0,
       {-0.7313492063492054, -1.1119824253968262, -1.370663492063492, -0.5883823492063491, 0.6672459682539676,
        0.47948888888888935, 1.9560561269841268}},
      {0,
       2,
       {0.0, -0.21270328888888884, -0.4039999999999999, -0.2545477079365077, 0.21227555555555552, 0.1906666666666673,
        0.6198568888888875}}};
  const Table f({.name = "map", .arguments = {x, y}, .values = v, .interpolation = Interpolation::cubic});
  for (const auto& c : cases)
    for (int i = 0; i < 7; ++i)
      EXPECT_NEAR(at(f, place[i][0], place[i][1], c.dx, c.dy), c.expected[i], 1e-13) << c.dx << c.dy << " " << i;
  // Bilinear, by its formula, and steps.
  const Table g({.name = "map", .arguments = {x, y}, .values = v});
  EXPECT_NEAR(at(g, 1.2, 0.8, 0, 0), 0.6 * (0.4 * 0.955 + 0.6 * 0.837) + 0.4 * (0.4 * 0.948 + 0.6 * 0.861), 1e-15);
  EXPECT_NEAR(at(g, 1.2, 0.8, 1, 1), ((0.861 - 0.948) - (0.837 - 0.955)) / 0.25, 1e-14);
  const Table s({.name = "map", .arguments = {x, y}, .values = v, .interpolation = Interpolation::steps});
  EXPECT_EQ(at(s, 1.49, 0.99, 0, 0), 0.955);
  EXPECT_EQ(at(s, 1.5, 1.0, 0, 0), 0.861);
  EXPECT_EQ(at(s, 4.0, 2.0, 0, 0), 0.65);
}

TEST(Table, LinearAndStepsAreWhatTheySay) {
  const Table f = table(Interpolation::linear), s = table(Interpolation::steps);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_DOUBLE_EQ(at(f, points[i]), values[i]);
    EXPECT_EQ(at(s, points[i]), values[i]);  // hold from their point on
    if (i + 1 == points.size()) break;
    const double middle = 0.5 * (points[i] + points[i + 1]);
    EXPECT_DOUBLE_EQ(at(f, middle), 0.5 * (values[i] + values[i + 1]));
    EXPECT_EQ(at(s, std::nextafter(points[i + 1], -9.0)), values[i]);
    EXPECT_DOUBLE_EQ(at(f, middle, 1), (values[i + 1] - values[i]) / (points[i + 1] - points[i]));
  }
}

TEST(Table, OutsideIsAsAsked) {
  for (const Interpolation i :
       {Interpolation::linear, Interpolation::cubic, Interpolation::monotone, Interpolation::steps}) {
    Numbers closed = values;
    closed.back() = closed.front();
    const Table error = table(i), hold = table(i, Outside::hold), zero = table(i, Outside::zero),
                again = table(i, Outside::periodic, closed);
    for (const double x : {-1.5, 4.5, -1e300, 1e300}) {
      EXPECT_TRUE(std::isnan(at(error, x)));
      EXPECT_NEAR(at(hold, x), x < 0 ? 2.0 : 1.0, 1e-15);
      EXPECT_EQ(at(zero, x), 0.0);
      if (i != Interpolation::steps) {
        EXPECT_EQ(at(hold, x, 1), 0.0);
      }
    }
    EXPECT_TRUE(std::isnan(at(error, std::nan("")))) << "not a number stays one";
    EXPECT_TRUE(std::isnan(at(hold, std::nan(""))));
    // An end is part of the table, also where rounding has gone a little too far.
    EXPECT_NEAR(at(error, std::nextafter(4.0, 5.0)), 1.0, 1e-14);
    for (const double x : places) {
      EXPECT_EQ(at(hold, x), at(error, x));
      EXPECT_EQ(at(zero, x), at(error, x));
      for (const double turns : {-3.0, 1.0, 20.0})
        EXPECT_NEAR(at(again, x + 1e-9 + 5.0 * turns), at(again, x + 1e-9), 1e-12);
    }
  }
}

TEST(Table, ASplineHasTwoContinuousDerivativesAndAMonotoneTableNoNewExtremes) {
  std::mt19937_64 random(20261117);
  std::uniform_real_distribution<double> step(0.05, 1.0), height(-1.0, 1.0);
  for (int trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial << " of seed 20261117");
    Numbers x{height(random)}, v{height(random)};
    for (int i = 0; i < 4 + trial % 20; ++i) x.push_back(x.back() + step(random)), v.push_back(height(random));
    for (const Outside outside : {Outside::error, Outside::periodic}) {
      if (outside == Outside::periodic) v.back() = v.front();
      const Table f(
          {.name = "f", .arguments = {x}, .values = v, .interpolation = Interpolation::cubic, .outside = outside});
      const Table m(
          {.name = "m", .arguments = {x}, .values = v, .interpolation = Interpolation::monotone, .outside = outside});
      for (std::size_t i = outside == Outside::periodic ? 0 : 1; i + 1 < x.size(); ++i) {
        for (int order = 0; order < 3; ++order) {
          const double h = 1e-7, size = 100.0 / std::pow(0.05, order);
          EXPECT_NEAR(at(f, x[i] - h, order) + h * at(f, x[i] - h, order + 1), at(f, x[i], order), 1e-9 * size);
        }
        EXPECT_NEAR(at(m, x[i] - 1e-9), at(m, x[i]), 1e-6);
        EXPECT_NEAR(at(m, x[i] - 1e-9, 1), at(m, x[i], 1), 1e-4);
      }
      if (outside == Outside::error) {
        // Not-a-knot: one cubic over the first two pieces, and over the last two.
        EXPECT_NEAR(at(f, x[1] - 1e-6, 3), at(f, x[1] + 1e-6, 3), 1e-7 * (1.0 + std::abs(at(f, x[1], 3))));
        EXPECT_NEAR(at(f, x[x.size() - 2] - 1e-6, 3), at(f, x[x.size() - 2] + 1e-6, 3),
                    1e-7 * (1.0 + std::abs(at(f, x[1], 3))));
      }
      for (std::size_t i = 0; i + 1 < x.size(); ++i)
        for (double u = 0.0; u <= 1.0; u += 0.0625) {
          const double y = at(m, x[i] + u * (x[i + 1] - x[i]) * (1.0 - 1e-15));
          EXPECT_GE(y, std::min(v[i], v[i + 1]) - 1e-14);
          EXPECT_LE(y, std::max(v[i], v[i + 1]) + 1e-14);
        }
    }
  }
}

TEST(Table, DerivativesAreThoseOfComplexSteps) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> place(-0.99, 3.99);
  const Expr x = coordinate("x"), y = coordinate("y");
  const Table f = table(Interpolation::cubic), m = table(Interpolation::monotone), l = table(Interpolation::linear);
  const Table g(
      {.name = "map",
       .arguments = {points, {-1.0, 0.5, 2.0, 4.0}},
       .values = Numbers{1, 2, 0, 1, -1, 2, 3, 1, 0.5, 0, 0, 1, 2, 2, -1, 1, 1, 0, 2, 1, 3, -2, 1, 0, 1, 1, 0, 2},
       .interpolation = Interpolation::cubic});
  const std::vector<Expr> expressions{f(x * sin(y)) * m(y), exp(l(x)) + f(y, 1) * x, g(x, y) * g(y, x),
                                      m(f(x) / 10 + 1, 1), g(x, y, 1, 0)};
  const std::vector<Expr> inputs{x, y};
  for (const Expr& e : expressions)
    for (int which = 0; which < 2; ++which) {
      const Expr d = derivative(e, inputs[static_cast<std::size_t>(which)]);
      const Tape tape(std::span(&e, 1), inputs), slope(std::span(&d, 1), inputs);
      for (int trial = 0; trial < 40; ++trial) {
        std::vector<std::complex<double>> z{place(random), place(random)};
        const Numbers at_z{z[0].real(), z[1].real()};
        constexpr double h = 1e-30;
        z[static_cast<std::size_t>(which)] += std::complex<double>(0.0, h);
        const double by_step = tape(std::span<const std::complex<double>>(z)).front().imag() / h,
                     by_rules = slope(std::span<const double>(at_z)).front();
        if (std::isnan(by_rules)) continue;
        EXPECT_NEAR(by_rules, by_step, 1e-11 * (1.0 + std::abs(by_step))) << print(e) << " seed 7, trial " << trial;
        // And by differences, which know nothing of either.
        Numbers up = at_z, down = at_z;
        up[static_cast<std::size_t>(which)] += 1e-6, down[static_cast<std::size_t>(which)] -= 1e-6;
        const double difference =
            (tape(std::span<const double>(up)).front() - tape(std::span<const double>(down)).front()) / 2e-6;
        if (std::isfinite(difference) && trial % 4 == 0) {
          EXPECT_NEAR(by_rules, difference, 2e-3 * (10.0 + std::abs(by_rules))) << print(e);
        }
      }
    }
}

TEST(Table, DerivativesBeyondTheDegreeAreZero) {
  const Expr x = coordinate("x");
  EXPECT_TRUE(derivative(table(Interpolation::steps)(x), x).is_zero());
  EXPECT_TRUE(derivative(derivative(table(Interpolation::linear)(x), x), x).is_zero());
  EXPECT_TRUE(derivative(table(Interpolation::cubic)(x, 3), x).is_zero());
  EXPECT_EQ(print(derivative(derivative(table(Interpolation::cubic)(sin(x)), x), x)),
            print(simplify(derivative(table(Interpolation::cubic)(sin(x), 1) * cos(x), x))));
}

TEST(Table, EqualTablesAreOneAndTheirExpressionsToo) {
  const Expr x = coordinate("x");
  EXPECT_TRUE(same(table(Interpolation::cubic)(x), table(Interpolation::cubic)(x)));
  EXPECT_FALSE(same(table(Interpolation::cubic)(x), table(Interpolation::linear)(x)));
  EXPECT_FALSE(same(table(Interpolation::cubic)(x), table(Interpolation::cubic)(x, 1)));
  EXPECT_TRUE((table(Interpolation::cubic)(x) - table(Interpolation::cubic)(x)).num_args() == 2);
  EXPECT_EQ(print(table(Interpolation::cubic)(x + 1, 2)), "f''(x + 1)");
  EXPECT_EQ(print(table(Interpolation::cubic)(x), {.format = PrintFormat::latex}), "\\operatorname{f}\\left(x\\right)");
  EXPECT_TRUE(proves_zero(table(Interpolation::cubic)(x + x) - table(Interpolation::cubic)(2 * x)));
}

TEST(Table, AKeyWithoutATableHasNoValue) {
  double key = 0.0;
  {
    const Table gone({.name = "gone", .arguments = {{0.0, 1.0}}, .values = {5.0, 5.0}, .outside = Outside::hold});
    const Expr e = gone(0.5);
    const Expr leaf = e.arg(2);
    key = Tape(std::span(&leaf, 1), {})(std::span<const double>()).front();
    EXPECT_EQ(calc_lookup(0.5, 0.0, key), 5.0);
  }
  EXPECT_TRUE(std::isnan(calc_lookup(0.5, 0.0, key)));
  // Others do not take its place.
  const Table other({.name = "other", .arguments = {{0.0, 1.0}}, .values = {7.0, 7.0}, .outside = Outside::hold});
  EXPECT_TRUE(std::isnan(calc_lookup(0.5, 0.0, key)));
  const Table again({.name = "gone", .arguments = {{0.0, 1.0}}, .values = {5.0, 5.0}, .outside = Outside::hold});
  EXPECT_EQ(calc_lookup(0.5, 0.0, key), 5.0);
  for (const double no : {0.0, 1.0, 1.5, -1.0, 1e300, std::nan("")}) EXPECT_TRUE(std::isnan(calc_lookup(0.5, 0.0, no)));
}

TEST(Table, TablesComeAndGoWhileOthersAreRead) {
  const Table kept({.name = "kept", .arguments = {{0.0, 1.0}}, .values = {3.0, 3.0}});
  const Expr leaf = kept(0.5).arg(2);
  const double key = Tape(std::span(&leaf, 1), {})(std::span<const double>()).front();
  std::thread reader([key] {
    for (int i = 0; i < 200'000; ++i) ASSERT_EQ(calc_lookup(0.25, 0.0, key), 3.0);
  });
  std::vector<Table> some;
  for (int i = 0; i < 500; ++i) {
    some.push_back(Table({.name = "t", .arguments = {{0.0, 1.0}}, .values = {double(i), 1.0}}));
    if (i % 3 == 0) some.erase(some.begin());
  }
  reader.join();
}

TEST(Table, ManyPointsAtUnequalDistancesAreFoundAsOneWouldByHand) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> step(1.0);
  Numbers x{-50.0}, v{0.0};
  for (int i = 0; i < 3000; ++i) x.push_back(x.back() + std::pow(step(random), 6) + 1e-9), v.push_back(i + 1);
  const Table f({.name = "f", .arguments = {x}, .values = v, .interpolation = Interpolation::steps});
  std::uniform_real_distribution<double> place(x.front(), x.back());
  for (int i = 0; i < 20'000; ++i) {
    const double z = i % 2 == 0 ? place(random) : x[static_cast<std::size_t>(i) % x.size()];
    const auto k = std::upper_bound(x.begin(), x.end(), z) - x.begin() - 1;
    ASSERT_EQ(at(f, z), static_cast<double>(k)) << "seed 3, trial " << i;
  }
}

TEST(Table, BoundsEncloseWhatSamplesShow) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> place(-2.0, 6.0), wide(0.0, 1.0);
  const Expr x = coordinate("x"), y = coordinate("y"), side = parameter("side");
  Numbers closed = values;
  closed.back() = closed.front();
  const Numbers gy{-1.0, 0.5, 2.0, 6.0};
  const Numbers gv{1, 2, 0, 1, -1, 2, 3, 1, 0.5, 0, 0, 1, 2, 2, -1, 1, 1, 0, 2, 1, 3, -2, 1, 0, 1, 1, 0, 2};
  std::vector<Expr> all;
  for (const Interpolation i :
       {Interpolation::linear, Interpolation::cubic, Interpolation::monotone, Interpolation::steps})
    for (const Outside o : {Outside::hold, Outside::zero, Outside::periodic}) {
      const Table f = table(i, o, closed);
      for (int order = 0; order <= f.degree(); ++order) {
        const Expr e = f(x, order);
        all.push_back(e);
        const Breaks breaks = breaks_of(e, 0);
        if (breaks == Breaks::none) continue;
        all.push_back(with_side(e, 0, breaks, side));
        all.push_back(guard_of(e, 0, breaks));
        all.push_back(lookup_derivative(guard_of(e, 0, breaks), 0));
      }
      if (i == Interpolation::monotone || o == Outside::periodic) continue;
      const Table g({.name = "g", .arguments = {points, gy}, .values = gv, .interpolation = i, .outside = o});
      for (int dx = 0; dx <= std::min(1, g.degree()); ++dx)
        for (int dy = 0; dy <= std::min(1, g.degree()); ++dy) {
          Expr e = g(x, y, dx, dy);
          all.push_back(e);
          for (const int a : {0, 1})
            if (breaks_of(g(x, y, dx, dy), a) != Breaks::none) e = with_side(e, a, breaks_of(g(x, y, dx, dy), a), side);
          all.push_back(e);
        }
    }
  const std::vector<Expr> inputs{x, y, side};
  for (const Expr& e : all) {
    const Tape tape(std::span(&e, 1), inputs);
    for (int trial = 0; trial < 60; ++trial) {
      const double a = place(random), b = a + std::pow(wide(random), 3) * 3.0, c = place(random),
                   d = c + std::pow(wide(random), 3), s = trial % 2 ? 1.0 : -1.0;
      const std::vector<Interval> box{{a, b}, {c, d}, Interval(s)};
      const Interval bound = tape(std::span<const Interval>(box)).front();
      ASSERT_LE(bound.low, bound.high);
      for (int k = 0; k <= 20; ++k) {
        const Numbers at_k{a + (b - a) * k / 20.0, c + (d - c) * ((7 * k) % 21) / 20.0, s};
        const double f = tape(std::span<const double>(at_k)).front(), slack = 1e-11 * (1.0 + std::abs(f));
        ASSERT_TRUE(f >= bound.low - slack && f <= bound.high + slack)
            << print(e) << " seed 11, trial " << trial << ": " << f << " at " << at_k[0] << ", " << at_k[1]
            << " not in " << bound.low << " … " << bound.high << " for " << a << " … " << b;
      }
    }
  }
}

TEST(Table, GuardsChangeTheirSignAtBreaksAndNowhereElse) {
  Numbers closed = values;
  closed.back() = closed.front();
  const Expr x = coordinate("x"), side = parameter("side");
  for (const Interpolation i : {Interpolation::linear, Interpolation::cubic, Interpolation::steps})
    for (const Outside o : {Outside::error, Outside::hold, Outside::zero, Outside::periodic}) {
      const Expr f = table(i, o, closed)(x);
      const Breaks breaks = breaks_of(f, 0);
      if (i == Interpolation::cubic && (o == Outside::error || o == Outside::periodic)) {
        EXPECT_EQ(breaks, Breaks::none);
        continue;
      }
      EXPECT_EQ(breaks, i == Interpolation::cubic ? Breaks::ends : Breaks::points);
      const std::vector<Expr> both{guard_of(f, 0, breaks), f, with_side(f, 0, breaks, side)}, inputs{x, side};
      const Tape tape(both, inputs);
      const auto evaluate = [&](double z, double s) {
        const Numbers in{z, s};
        return tape(std::span<const double>(in));
      };
      int changes = 0;
      double last = evaluate(-5.9, 0.0)[0];
      for (double z = -5.9; z < 8.9; z += 1e-3) {
        const Numbers now = evaluate(z, 0.0);
        changes += (now[0] > 0.0) != (last > 0.0);
        last = now[0];
        // With the side of its sign, the held expression is the table itself.
        const double held = evaluate(z, now[0] > 0.0 ? 1.0 : -1.0)[2];
        if (std::isnan(now[1])) {
          EXPECT_TRUE(std::isnan(held));
        } else {
          EXPECT_NEAR(held, now[1], 1e-13) << z;
          EXPECT_EQ(evaluate(z, 0.0)[2], now[1]);
        }
      }
      const int expected = i == Interpolation::cubic                          ? 2
                           : o == Outside::periodic                           ? 17
                           : o == Outside::error                              ? (i == Interpolation::steps ? 6 : 5)
                           : o == Outside::zero || i == Interpolation::linear ? 7
                                                                              : 6;
      EXPECT_EQ(changes, expected) << static_cast<int>(i) << static_cast<int>(o);
      // Beyond a break the polynomial of before goes on.
      const double before = evaluate(0.25 - 1e-4, 0.0)[0] > 0.0 ? 1.0 : -1.0;
      if (i == Interpolation::linear) {
        EXPECT_NEAR(evaluate(0.35, before)[2], -1.0 + 0.35 * 6.0, 1e-13);
      }
      if (i == Interpolation::steps) {
        EXPECT_EQ(evaluate(0.35, before)[2], -1.0);
      }
    }
}

TEST(Table, WhatSamplesShowIsToldFromWhatTheyMiss) {
  Numbers x, smooth, peak, noise;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i <= 1000; ++i) {
    x.push_back(0.01 * i);
    smooth.push_back(std::sin(2.0 * x.back()));
    peak.push_back(i == 500 ? 1.0 : 0.0);
    noise.push_back(normal(random));
  }
  const auto turns = [&](const Numbers& v, double from, double to) {
    const Table f({.name = "f", .arguments = {x}, .values = v, .interpolation = Interpolation::cubic});
    const Expr leaf = f(0.0).arg(2);
    return calc_lookup_turns({from, to}, Interval(0.0),
                             Tape(std::span(&leaf, 1), {})(std::span<const double>()).front());
  };
  EXPECT_LE(turns(smooth, 1.0, 2.0), 8.0);
  EXPECT_GT(turns(smooth, 0.0, 9.9), 8.0);
  EXPECT_LE(turns(peak, 1.0, 2.0), 1.0);
  EXPECT_GT(turns(peak, 4.5, 5.6), 8.0);
  EXPECT_GT(turns(noise, 1.0, 2.0), 50.0);
  EXPECT_LE(turns(noise, 1.001, 1.051), 8.0);
  EXPECT_EQ(turns(noise, 1.001, 1.009), 0.0);
}

TEST(Table, WhatNoTableCanBeMadeOfIsRefused) {
  const auto message = [](TableData data) {
    try {
      const Table t(std::move(data));
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.name = "f", .arguments = {{0, 1, 1}}, .values = {1, 2, 3}}),
            "table `f`: `x` = 1 is there twice; a function has one value at each place");
  EXPECT_EQ(message({.name = "f", .arguments = {{0, 2, 1}}, .values = {1, 2, 3}}),
            "table `f`: `x` does not ascend: 1 comes after 2; sort the points by it");
  EXPECT_EQ(
      message({.name = "f", .arguments = {{0, 2, 3}}, .values = {1, 2, 3}, .interpolation = Interpolation::cubic}),
      "table `f`: 3 points of `x` are too few: a cubic spline needs at least 4; \"linear\" and \"monotone\" take two");
  EXPECT_EQ(message({.name = "f", .arguments = {{0, 2, 3}}, .values = {1, 2}}), "table `f`: 2 values for 3 points");
  EXPECT_EQ(message({.name = "f", .arguments = {{0, 2}}, .values = {1, std::nan("")}}),
            "table `f`: value 2 is no number");
  EXPECT_NE(message({.name = "f", .arguments = {{0, 1}}, .values = {1, 2}, .outside = Outside::periodic}), "");
  EXPECT_NE(message({.name = "f",
                     .arguments = {{0, 1}, {0, 1}},
                     .values = {1, 2, 3, 4},
                     .interpolation = Interpolation::monotone}),
            "");
  EXPECT_NE(message({.name = "f", .arguments = {}, .values = {}}), "");
}

}  // namespace
}  // namespace mechanician
