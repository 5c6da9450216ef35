// Motions under data: where the pieces of a table end, what stops a run, and that a record costs and gives what its polynomials do.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "mechanician/expression/table.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// A particle of mass 1 under f(t), f by its points.
Loaded under(const std::string& force, const std::string& table) {
  return line(force, "velocity = { x = 1 }", "[tables.f]\n" + table);
}

struct Points {
  std::vector<double> at, values;
  std::string text(const std::string& more) const {
    std::string text = "points = [";
    for (std::size_t i = 0; i < at.size(); ++i)
      text += (i > 0 ? ", [" : "[") + std::to_string(at[i]) + ", " + std::to_string(values[i]) + "]";
    return text + "]\n" + more;
  }
};

/// As many digits as to_string writes.
Points random_points(int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> step(1, 40), value(-300, 300);
  Points p{{0.0}, {0.25}};
  for (int i = 0; i < count; ++i) {
    p.at.push_back(std::round((p.at.back() + 0.01 * step(random)) * 100.0) / 100.0);
    p.values.push_back(0.01 * value(random));
  }
  return p;
}

/// Position and velocity at the end, by the integrals of each piece.
std::vector<double> exact_end(const Points& p, bool straight) {
  long double x = 0.0L, v = 1.0L;
  for (std::size_t i = 0; i + 1 < p.at.size(); ++i) {
    const long double s = p.at[i + 1] - p.at[i], slope = straight ? (p.values[i + 1] - p.values[i]) / s : 0.0L;
    x += v * s + p.values[i] * s * s / 2 + slope * s * s * s / 6, v += p.values[i] * s + slope * s * s / 2;
  }
  return {static_cast<double>(x), static_cast<double>(v)};
}

TEST(Tables, pieces_are_integrated_as_they_are_at_the_strictest_tolerance) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const Points p = random_points(60, seed);
    for (const bool straight : {true, false})
      // Of the time itself steps end at points; of an expression the ends are found.
      for (const char* force : {"f(t)", "f(2*t/2)"}) {
        const Loaded model = under(force, p.text(straight ? "" : "interpolation = \"steps\"\n"));
        Integrator integrator = model.integrator({.to = p.at.back(), .tolerance = 1e-12});
        const Sample end = run_to_end(integrator);
        ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
        const std::vector<double> exact = exact_end(p, straight);
        SCOPED_TRACE(testing::Message() << "seed " << seed << (straight ? " linear " : " steps ") << force);
        EXPECT_NEAR(end.q(0), exact[0], 1e-11 * std::max(1.0, std::abs(exact[0])));
        EXPECT_NEAR(end.qd(0), exact[1], 1e-11 * std::max(1.0, std::abs(exact[1])));
        EXPECT_TRUE(integrator.certificate().holds);
        EXPECT_GE(integrator.statistics().switches, 59);
        if (force[2] == 't') {
          EXPECT_LE(integrator.statistics().steps, 170);  // of which 100 at least, however little happens
        }
      }
  }
}

TEST(Tables, a_run_stops_where_its_table_ends) {
  const Loaded model = under("f(t)", "points = [[0, 1], [1, 2]]\nargument = \"time\"\n");
  Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-9});
  run_to_end(integrator);
  EXPECT_EQ(integrator.stop().reason, StopReason::not_finite);
  EXPECT_NE(integrator.stop().message.find("the table `f` goes from time = 0 to 1, and 1"), std::string::npos)
      << integrator.stop().message;
  EXPECT_NEAR(integrator.t(), 1.0, 1e-6);
  // To the end it goes.
  Integrator whole = model.integrator({.to = 1.0, .tolerance = 1e-9});
  const Sample end = run_to_end(whole);
  EXPECT_EQ(whole.stop().reason, StopReason::reached_end) << whole.stop().message;
  EXPECT_NEAR(end.qd(0), 2.5, 1e-9);
}

TEST(Tables, a_peak_between_samples_of_a_step_is_not_leapt_over) {
  // 1000 samples, all zero but one; nothing else would make steps short.
  Points p;
  for (int i = 0; i <= 1000; ++i) p.at.push_back(0.1 * i), p.values.push_back(i == 643 ? 50.0 : 0.0);
  for (const char* kind : {"cubic", "monotone", "linear"}) {
    const Loaded model = under("f(t)", p.text(std::string("interpolation = \"") + kind + "\"\n"));
    Integrator integrator = model.integrator({.to = 100.0, .tolerance = 1e-9});
    const Sample end = run_to_end(integrator);
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    // The integral of the table, by its polynomials: the sum for straight lines; 5.0 for PCHIP, whose slopes are zero.
    const Table table({.name = "f",
                       .arguments = {p.at},
                       .values = p.values,
                       .interpolation = kind[0] == 'c'   ? Interpolation::cubic
                                        : kind[0] == 'm' ? Interpolation::monotone
                                                         : Interpolation::linear});
    double integral = 0.0;  // Simpson's rule is exact for cubics
    const Expr t = time_symbol(), f = table(t);
    const Tape tape(std::span(&f, 1), std::span(&t, 1));
    const auto at = [&](double x) { return tape(std::span<const double>(&x, 1)).front(); };
    for (std::size_t i = 0; i + 1 < p.at.size(); ++i)
      integral += (p.at[i + 1] - p.at[i]) / 6 * (p.values[i] + 4 * at(0.5 * (p.at[i] + p.at[i + 1])) + p.values[i + 1]);
    EXPECT_NEAR(end.qd(0), 1.0 + integral, 1e-7) << kind;
  }
}

/// Points that stand close where something happens, and far apart elsewhere: few, and not to be leapt over.
TEST(Tables, a_peak_between_uneven_points_is_not_leapt_over) {
  for (const char* interpolation : {"linear", "cubic", "monotone", "steps"})
    for (const double width : {1e-1, 1e-3, 1e-5})
      for (const char* argument : {"t", "x", "2*t/2"}) {
        // A spline overshoots between points that stand far apart, and where that drives a particle is another question.
        if (interpolation == std::string_view("cubic") && argument[0] == 'x') continue;
        const double height = 0.5 / width;
        const std::string points = fmt::format(
            "points = [[-1000, 0], [{0}, 0], [{1}, 0], [37, {4}], [{2}, 0], [{3}, 0], [1000, 0]]\noutside = "
            "\"hold\"\ninterpolation = "
            "\"{5}\"\n",
            37.0 - 2.0 * width, 37.0 - width, 37.0 + width, 37.0 + 2.0 * width, height, interpolation);
        const Loaded model = under(fmt::format("f({})", argument), points);
        Integrator motion = model.integrator({.to = 100.0, .tolerance = 1e-9});
        const Sample end = run_to_end(motion);
        ASSERT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
        EXPECT_TRUE(motion.certificate().holds);
        // The integral of f by a rule that is exact for its polynomials, and what it does to the velocity.
        const Table f = model.system.model().tables.front();
        long double impulse = 0.0L;
        const double cuts[] = {0.0, 37.0 - 2.0 * width, 37.0 - width, 37.0, 37.0 + width, 37.0 + 2.0 * width, 100.0};
        const Expr t = make_symbol(SymbolKind::time, "t");
        const Tape tape(std::vector<Expr>{f(t)}, std::vector<Expr>{t});
        for (std::size_t i = 0; i + 1 < std::size(cuts); ++i) {
          const double from = cuts[i], h = (cuts[i + 1] - cuts[i]) / 3.0;
          const auto at = [&](double part) {
            const double here = from + (0.0001 + 0.9998 * part) * 3.0 * h;
            return static_cast<long double>(tape(std::span(&here, 1)).front());
          };
          impulse += 3.0L * h / 8.0L * (at(0) + 3 * at(1.0 / 3.0) + 3 * at(2.0 / 3.0) + at(1));
        }
        const double expected = argument[0] == 'x' ? std::sqrt(1.0 + 2.0 * static_cast<double>(impulse))
                                                   : 1.0 + static_cast<double>(impulse);
        EXPECT_NEAR(end.qd(0), expected, 1e-3 * expected) << interpolation << " " << width << " " << argument;
      }
}

TEST(Tables, a_constraint_follows_a_spline_and_its_forces_are_those_of_its_second_derivative) {
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[tables.cam]
points = [[0, 0], [1, 0.5], [2, 0.2], [3, 1], [4, 0.4], [5, 0]]
interpolation = "cubic"
outside = "periodic"
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
follow = "y = cam(x)"
[start]
velocity = { x = 1.5, y = "1.5*cam'(0)" }
)toml");
  Integrator integrator = model.integrator({.to = 12.0, .tolerance = 1e-11});
  while (integrator.advance()) {
    const Sample s = integrator.sample(integrator.t());
    // Energy: nothing does work.
    EXPECT_NEAR(s.qd.squaredNorm(), model.start.qd.squaredNorm(), 1e-8);
  }
  ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
  const Sample s = integrator.sample(integrator.t());
  EXPECT_GT(s.q(0), 5.0);
  EXPECT_TRUE(integrator.certificate().holds);
}

TEST(Tables, straight_lines_cannot_drive_a_constraint) {
  const Loaded model(R"toml(
coordinates = ["x"]
[tables.f]
points = [[0, 0], [1, 1], [2, 0]]
[dynamics]
mass = { x = 1 }
[constraints]
drive = "x = f(t)"
[start]
velocity = { x = 1 }
)toml");
  Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-9});
  run_to_end(integrator);
  EXPECT_TRUE(integrator.stop().failed());
  EXPECT_NEAR(integrator.t(), 1.0, 1e-6) << integrator.stop().message;
}

TEST(Tables, families_of_every_size_move_as_one_member_does) {
  const Points p = random_points(40, 9);
  for (const char* kind : {"linear", "steps", "cubic", "monotone"}) {
    const std::string table = "[tables.f]\n" + p.text(std::string("interpolation = \"") + kind + "\"\n");
    Loaded one = line("2*f(t) - x", "velocity = { x = 1 }", table);
    Integrator alone = one.integrator({.to = p.at.back(), .tolerance = 1e-11});
    const Sample expected = run_to_end(alone);
    // By kernels, and written out where these cannot.
    const FamilyModel stated = read_family_model_text(
        "coordinates = [\"u[1..70]\"]\n[dynamics]\nkinetic = \"sum(i = 1..70, u[i]'^2/2)\"\n"
        "force = { \"u[i]\" = { for = \"i = 1..70\", value = \"2*f(t) - u[i]\" } }\n"
        "[start]\nvelocity = { \"u[i]\" = { for = \"i = 1..70\", value = 1 } }\n" +
            table,
        "test.toml");
    const System system(stated);
    Integrator all(system, system.start(), {.to = p.at.back(), .tolerance = 1e-11});
    const Sample end = run_to_end(all);
    ASSERT_EQ(all.stop().reason, StopReason::reached_end) << all.stop().message;
    for (int i = 0; i < 70; ++i) EXPECT_NEAR(end.q(i), expected.q(0), 1e-10) << kind << " seed 9, member " << i;
  }
}

TEST(Tables, models_built_in_code_are_those_of_files) {
  Model model;
  const Expr x = model.add_coordinate("x");
  const Table f(
      {.name = "f", .arguments = {{0, 1, 2, 4}}, .values = {0, 1, -1, 2}, .interpolation = Interpolation::cubic});
  model.tables.push_back(f);
  model.kinetic = pow(dot(x), 2) / 2;
  model.add_force(x, f(time_symbol()) + f(time_symbol(), 1));
  const Loaded made(std::move(model));
  const Loaded read = line("f(t) + f'(t)", "velocity = { x = 0 }",
                           "[tables.f]\npoints = [[0, 0], [1, 1], [2, -1], [4, 2]]\ninterpolation = \"cubic\"\n");
  Integrator a = made.integrator({.to = 4.0, .tolerance = 1e-10}), b = read.integrator({.to = 4.0, .tolerance = 1e-10});
  EXPECT_EQ(run_to_end(a).q(0), run_to_end(b).q(0));
}

}  // namespace
}  // namespace mechanician
