// What is called stiff: strong damping, not oscillation.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// Masses in a row between walls, springs and dampers between neighbours, all of random strength.
Loaded random_chain(std::mt19937& random, int masses, double stiffness, double damping) {
  const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  std::string names, kinetic, potential, forces, positions;
  const auto name = [&](int i) { return i < 0 || i >= masses ? std::string("0") : fmt::format("x{}", i); };
  const auto rate = [&](int i) { return i < 0 || i >= masses ? std::string("0") : fmt::format("x{}'", i); };
  std::vector<double> c;
  for (int i = 0; i <= masses; ++i) {
    potential +=
        fmt::format("{}{:.17g}/2*({} - {})^2", i ? " + " : "", stiffness * between(0.5, 2.0), name(i), name(i - 1));
    c.push_back(damping * between(0.5, 2.0));
  }
  for (int i = 0; i < masses; ++i) {
    names += fmt::format("{}\"x{}\"", i ? ", " : "", i);
    kinetic += fmt::format("{}{:.17g}/2*x{}'^2", i ? " + " : "", between(0.5, 2.0), i);
    forces += fmt::format("x{0} = \"{1:.17g}*({2} - {3}) + {4:.17g}*({5} - {3})\"\n", i, c[i], rate(i - 1), rate(i),
                          c[i + 1], rate(i + 1));
    positions += fmt::format("x{} = {:.17g}\n", i, between(-1.0, 1.0));
  }
  return Loaded(
      fmt::format("coordinates = [{}]\n[dynamics]\nkinetic = \"{}\"\npotential = \"{}\"\n[dynamics.force]\n{}"
                  "[start.position]\n{}",
                  names, kinetic, potential, forces, positions));
}

bool was_called_stiff(const Integrator& integrator) {
  for (const std::string& note : integrator.notes())
    if (note.find("stiff") != std::string::npos) return true;
  return integrator.statistics().jacobians > 0;
}

TEST(Stiffness, oscillators_are_not_stiff_at_any_tolerance) {
  for (unsigned seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const double k = std::pow(10.0, static_cast<double>(seed % 5)),
                 c = seed % 3 ? 0.0 : 0.02 * std::sqrt(k);  // some with a damping of 1 %
    const Loaded model = random_chain(random, 1 + static_cast<int>(seed % 4), k, c);
    for (const double tolerance : {1e-3, 1e-4, 1e-6}) {
      Integrator integrator = model.integrator({.to = 300.0 / std::sqrt(k), .tolerance = tolerance});
      run_to_end(integrator);
      EXPECT_FALSE(was_called_stiff(integrator)) << tolerance;
    }
  }
}

TEST(Stiffness, an_oscillator_stays_with_the_explicit_method_for_thousands_of_periods) {
  const Loaded model = line("-x", "position = { x = 1 }");
  for (const double tolerance : {1e-3, 1e-6}) {
    Integrator integrator = model.integrator({.to = 30000.0, .tolerance = tolerance}),
               plain = model.integrator({.to = 30000.0, .tolerance = tolerance, .method = Method::dop853});
    const Sample end = run_to_end(integrator);
    EXPECT_FALSE(was_called_stiff(integrator));
    EXPECT_TRUE(same_bits(numbers_of(end), numbers_of(run_to_end(plain))));
    EXPECT_FALSE(was_called_stiff(plain));
    if (tolerance > 1e-6) continue;
    EXPECT_NEAR((end.q(0) * end.q(0) + end.qd(0) * end.qd(0)) / 2, 0.5, 0.005);
  }
}

TEST(Stiffness, strong_dampers_are_stiff_and_take_few_steps) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const double c = std::pow(10.0, 3.0 + static_cast<double>(seed % 3));
    const Loaded model = random_chain(random, 1 + static_cast<int>(seed % 4), c, c);  // slow rates of about 1
    const double tolerance = seed % 2 ? 1e-4 : 1e-7;
    Integrator integrator = model.integrator({.to = 20.0, .tolerance = tolerance}),
               reference = model.integrator({.to = 20.0, .tolerance = 1e-10, .method = Method::bdf});
    const Sample end = run_to_end(integrator), exact = run_to_end(reference);
    EXPECT_TRUE(was_called_stiff(integrator));
    EXPECT_LT((end.q - exact.q).norm(), 100.0 * tolerance);
    EXPECT_LT(integrator.statistics().steps, 3000);  // by stability alone some 20 c/6
  }
}

/// What opens slowly, as the cube of the time, does so by less than the error of the first steps: phases must not go back
/// and forth there.
TEST(Stiffness, a_ladder_leaves_the_wall_once_with_the_implicit_method) {
  for (const double angle : {0.05, 0.35})
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      SCOPED_TRACE(testing::Message() << angle << " " << tolerance);
      const Loaded model(fmt::format(R"toml(
coordinates = ["x", "y", "theta"]
[dynamics]
kinetic = "5*(x'^2 + y'^2) + 20/3*theta'^2"
potential = "98.1*y"
[constraints]
wall = "x - 2*sin(theta) >= 0"
floor = "y - 2*cos(theta) >= 0"
[start]
position = {{ x = "2*sin({0})", y = "2*cos({0})", theta = {0} }}
)toml",
                                     angle));
      Integrator integrator =
          model.integrator({.to = angle < 0.1 ? 2.0 : 1.0, .tolerance = tolerance, .method = Method::bdf});
      run_to_end(integrator);
      EXPECT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
      const Certificate certificate = integrator.certificate();
      EXPECT_TRUE(certificate.holds) << (certificate.reasons.empty() ? "" : certificate.reasons.front());
      EXPECT_LE(certificate.contacts->phases, 4);
      EXPECT_LE(certificate.contacts->penetration, 10.0 * tolerance);
      ASSERT_EQ(integrator.events().size(), 1u);
      EXPECT_NEAR(std::cos(integrator.events()[0].q(2)), 2.0 / 3.0 * std::cos(angle), 100.0 * tolerance);
    }
}

}  // namespace
}  // namespace mechanician
