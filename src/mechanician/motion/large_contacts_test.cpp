// Motions with contacts whose phases leave rows out of one system, and measured rows beside friction.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mechanician/motion/contact_run_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

constexpr double g = 9.81;

/// N masses joined by unit rods in a plane, above a floor under each; written member by member.
std::string chain(int N, const std::string& contact) {
  std::string names, kinetic, potential, constraints, start;
  for (int i = 1; i <= N; ++i) {
    const std::string k = std::to_string(i), l = std::to_string(i - 1);
    names += std::string(i > 1 ? ", " : "") + "\"x" + k + "\", \"z" + k + "\"";
    kinetic += std::string(i > 1 ? " + " : "") + "(x" + k + "'^2 + z" + k + "'^2)/2";
    potential += std::string(i > 1 ? " + " : "") + "9.81*z" + k;
    if (i > 1) constraints += "rod" + k + " = \"(x" + k + " - x" + l + ")^2 + (z" + k + " - z" + l + ")^2 = 1\"\n";
    start += "x" + k + " = \"" + k + "*cos(0.01)\"\nz" + k + " = \"0.1 + " + k + "*sin(0.01)\"\n";
  }
  for (int i = 1; i <= N; ++i) {
    const std::string k = std::to_string(i);
    constraints += "[constraints.floor" + k + "]\nequation = \"z" + k + " >= 0\"\n" + contact;
    if (contact.find("friction") != std::string::npos) constraints += "slip = \"x" + k + "'\"\n";
  }
  return "coordinates = [" + names + "]\n[dynamics]\nkinetic = \"" + kinetic + "\"\npotential = \"" + potential +
         "\"\n[constraints]\n" + constraints + "[start.position]\n" + start;
}

TEST(LargeContacts, a_chain_falls_on_the_floor_and_lies_there) {
  const int N = 40;  // 80 coordinates: factors are sparse
  const Loaded model(chain(N, "restitution = 0\n"));
  Ran run(model, 1.0, 1e-8);
  for (int i = 0; i < N; ++i) {
    EXPECT_GE(run.last.q(2 * i + 1), -1e-9);
    EXPECT_LE(run.last.q(2 * i + 1), 1e-9);
  }
  EXPECT_NEAR(run.last.lambda.sum() - run.last.lambda.head(N - 1).sum(), N * g, 1e-8 * N);
  EXPECT_NEAR(run.integrator.certificate().contacts->impact_lost, g * (0.1 * N + std::sin(0.01) * N * (N + 1) / 2),
              1e-6 * N);
}

TEST(LargeContacts, friction_holds_and_loses_energy) {
  const Loaded model(chain(36, "restitution = 0.3\nfriction = 0.2\n"));
  Ran run(model, 0.25, 1e-8);
  const Certificate c = run.integrator.certificate();
  EXPECT_GE(c.contacts->impact_lost + c.contacts->impact_friction_lost, 0.0);
  EXPECT_GE(run.last.q.minCoeff(), -1e-8);
}

TEST(LargeContacts, a_block_slides_beside_measured_rows_as_without_them) {
  // The weighted row is about another coordinate: it must not change the block, nor hide its friction.
  const Loaded model(R"model(
coordinates = ["s", "n", "w"]
[dynamics]
kinetic = "s'^2 + n'^2 + w'^2/2"
force = { n = "-2*9.81", w = "1" }
[constraints.plane]
equation = "n >= 0"
slip = "s'"
friction = 0.5
[constraints.seen]
equation = "w = 0"
weight = 3
[start]
velocity = { s = 3 }
)model");
  Ran run(model, 1.0, 1e-10);
  EXPECT_NEAR(run.last.q(0), 4.5 / (0.5 * g), 1e-8);
  EXPECT_EQ(run.last.qd(0), 0.0);
  EXPECT_NEAR(run.last.works.nonideal, -9.0, 1e-7);
}

}  // namespace
}  // namespace mechanician
