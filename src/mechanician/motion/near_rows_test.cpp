// Rows that are nearly dependent everywhere: an instant and a motion count them alike, and where rounding decides the
// motion is not called good.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// Unit masses under forces, held by rows through the start, the last of which is off a combination of the others by `apart`.
std::string make_text(std::mt19937& random, int n, int m, double apart) {
  std::normal_distribution<double> normal;
  std::string kinetic, forces, coordinates;
  for (int i = 0; i < n; ++i) {
    coordinates += fmt::format("{}\"x{}\"", i ? ", " : "", i);
    kinetic += fmt::format("{}0.5*x{}'^2", i ? " + " : "", i);
    forces += fmt::format("x{} = \"{:.3f}\"\n", i, normal(random));
  }
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(m), std::vector<double>(static_cast<std::size_t>(n)));
  for (std::size_t j = 0; j < rows.size(); ++j)
    for (double& a : rows[j]) a = std::round(8.0 * normal(random)) / 8.0;
  for (std::size_t i = 0; i < rows.back().size(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j + 1 < rows.size(); ++j) sum += rows[j][i];
    rows.back()[i] = sum + apart * rows.back()[i];
  }
  std::string constraints;
  for (int j = 0; j < m; ++j) {
    constraints += fmt::format("c{} = \"", j);
    for (int i = 0; i < n; ++i) constraints += fmt::format("{}({:.17g})*x{}", i ? " + " : "", rows[j][i], i);
    constraints += " = 0\"\n";
  }
  return fmt::format("coordinates = [{}]\n[dynamics]\nkinetic = \"{}\"\n[dynamics.force]\n{}[constraints]\n{}",
                     coordinates, kinetic, forces, constraints);
}

TEST(NearRows, InstantsAndMotionsCountAlikeAndRoundingIsNotTrusted) {
  const unsigned seed = 20261116;
  std::mt19937 random(seed);
  unsigned suspect = 0, good = 0;
  for (unsigned trial = 0; trial < num_trials(1000); ++trial) {
    const int n = std::uniform_int_distribution<int>(3, 6)(random),
              m = std::uniform_int_distribution<int>(2, n - 1)(random);
    const double exponent = std::uniform_real_distribution<double>(-18.0, 0.0)(random);
    const double apart = exponent < -16.0 ? 0.0 : std::pow(10.0, exponent);
    const std::string text = make_text(random, n, m, apart);
    SCOPED_TRACE(fmt::format("seed {}, trial {}, apart {}:\n{}", seed, trial, apart, text));
    const Loaded loaded(text);
    const Instant instant = accelerate(loaded.system, loaded.start);
    ASSERT_TRUE(instant.has_acceleration());
    const Eigen::VectorXd& a = instant.solution.qdd;
    Integrator integrator = loaded.integrator({.to = 1.0});
    const double far = (run_to_end(integrator).q - 0.5 * a).cwiseAbs().maxCoeff();
    const bool holds = integrator.certificate().holds;
    if (holds) {
      EXPECT_LT(far, 1e-6 * (1.0 + a.cwiseAbs().maxCoeff()));
    }
    // What is left of the last row, which is at most some 8 times as long as the others.
    if (apart > 1e-12 && apart < 1e-10) {
      EXPECT_FALSE(holds);
    }
    if (apart == 0.0 || apart > 1e-3) {
      EXPECT_TRUE(holds) << integrator.certificate().reasons.front();
    }
    ++(holds ? good : suspect);
  }
  fmt::print("near rows: {} good, {} suspect\n", good, suspect);
  EXPECT_GT(good, num_trials(100));
  EXPECT_GT(suspect, num_trials(100));
}

}  // namespace
}  // namespace mechanician
