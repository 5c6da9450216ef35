// Every message of the diagnosis, with its text.
#include "mechanician/output/remarks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

struct Case {
  System system;
  State start;
  Instant instant;
};

Case at_start(const std::string& text) {
  Model model = read_model_text(text, "m.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  State start = state_of(start_state(model, parameters));
  System system(std::move(model), parameters.values);
  Instant instant = accelerate(system, start);
  return {std::move(system), std::move(start), std::move(instant)};
}

std::string all(const Case& c, const std::vector<Remark>& remarks, std::string_view severity) {
  std::string out;
  for (const Remark& r : remarks) out += render(r, severity, c.system.model().source) + "\n";
  return out;
}
std::string refusal(const std::string& text) {
  const Case c = at_start(text);
  return all(c, refusals(c.system, c.instant), "error");
}
std::string warning(const std::string& text) {
  const Case c = at_start(text);
  EXPECT_EQ(all(c, refusals(c.system, c.instant), "error"), "");
  return all(c, warnings(c.system, c.instant), "note");
}

constexpr const char* plane = "coordinates = [\"x\", \"y\"]\n[dynamics]\nmass = { x = \"1\", y = \"2\" }\n";

TEST(Remarks, TwoConstraintsThatContradict) {
  EXPECT_EQ(refusal(std::string(plane) + "[constraints]\npush = \"x'' = 3\"\npull = \"2*x'' = 8\"\n"),
            "m.toml:6:9: error: the constraints contradict each other at this state: no motion satisfies them all\n"
            "    `push` and `pull` cannot hold together (any one of them can): push − 0.5·pull would require 0 = -1\n"
            "    at t = 0, x = 0, y = 0, x' = 0, y' = 0\n"
            "    drop or correct one constraint of each set; if they are measurements, give them weights\n");
}

TEST(Remarks, AConstraintThatContradictsByItself) {
  EXPECT_EQ(refusal(std::string(plane) + "[constraints]\nnever = \"0*x'' = 1\"\n"),
            "m.toml:5:10: error: the constraints contradict each other at this state: no motion satisfies them all\n"
            "    `never` cannot hold: no acceleration enters it, and it would require 0 = 1\n"
            "    at t = 0, x = 0, y = 0, x' = 0, y' = 0\n"
            "    drop or correct one constraint of each set; if they are measurements, give them weights\n");
}

TEST(Remarks, AnAccelerationThatIsNotUnique) {
  EXPECT_EQ(
      refusal("coordinates = [\"x\", \"y\", \"s\"]\n[dynamics]\nmass = { x = \"1\" , y = 0, s = "
              "0}\n[constraints]\nh1 = \"x + y + s = 0\"\n"),
      "m.toml: error: the acceleration is not unique: mass and constraints leave `y` and `s` undetermined\n"
      "    free direction: y : s = -1 : 1\n"
      "    any motion along it satisfies the equations; give these coordinates mass, or constrain them\n"
      "    `y` and `s` have no mass: what springs, dampers, resistors or rods hold without mass moves by a balance of "
      "forces, a law of first order in time\n"
      "    what to do: state such laws under [states], y = { rate = \"...\", start = ... } with the velocity that the "
      "balance of "
      "forces says, and leave y out of the coordinates; or give masses that are small against the others\n");
}

TEST(Remarks, NoAccelerationExists) {
  EXPECT_EQ(refusal("coordinates = [\"x\", \"s\"]\n[dynamics]\nmass = { x = \"1\", s = 0 }\nforce = { s = 2 }\n"),
            "m.toml: error: no acceleration exists: a force acts on `s` where there is neither mass nor constraint to "
            "balance it\n"
            "    free direction: s\n"
            "    give these coordinates mass, or constrain them\n");
}

TEST(Remarks, AnIndefiniteMassMatrix) {
  EXPECT_EQ(refusal("coordinates = [\"x\", \"y\"]\n[dynamics]\nmass = [[1, 2], [2, 1]]\n"),
            "m.toml:3:1: error: the mass matrix has the negative eigenvalue -1: no mechanical system has one\n"
            "    its direction: x : y = -1 : 1\n"
            "    at t = 0, x = 0, y = 0, x' = 0, y' = 0\n");
}

TEST(Remarks, ANegativeWeight) {
  EXPECT_EQ(refusal(std::string(plane) + "[constraints.gauge]\nequation = \"x'' = 1\"\nweight = \"x - 1\"\n"),
            "m.toml:5:13: error: the weights of the measured constraints are not symmetric and positive definite\n"
            "    a weight is 1/variance, a positive number\n");
}

TEST(Remarks, AMultiplierThatIsNotUnique) {
  EXPECT_EQ(refusal(std::string(plane) +
                    "[constraints]\na = \"x = 0\"\nb = \"2*x = 0\"\n[nonideal]\ny = \"multiplier(b)\"\n"),
            "m.toml:8:6: error: [nonideal] uses the multiplier of `b`, which is not unique at this state\n"
            "    the constraint depends on others; use ideal(COORDINATE), the ideal force, which is unique\n");
}

TEST(Remarks, ANumberThatIsNotFinite) {
  EXPECT_EQ(refusal("coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\nforce = { x = \"3/x\" }\n"),
            "m.toml:4:16: error: the given force on `x` is not a finite number: 3/x (3 divided by zero)\n"
            "    at t = 0, x = 0, x' = 0\n");
  EXPECT_EQ(refusal(std::string(plane) + "[constraints]\nh = \"log(x - 2) = y\"\n"),
            "m.toml:5:6: error: constraint `h` is not a finite number: log(x - 2) (`log` of -2 is nan)\n"
            "    at t = 0, x = 0, y = 0, x' = 0, y' = 0\n");
}

TEST(Remarks, AStartOffTheConstraintsWithTheNearestOneOnThem) {
  const Case c = at_start(std::string(plane) +
                          "[constraints]\nring = \"x^2 + y^2 = 25\"\nblade = \"x' = y'\"\n[start]\nposition = { x = "
                          "5.5 }\nvelocity = { x = 1 }\n");
  EXPECT_EQ(all(c, start_refusals(c.system, c.instant), "error"),
            "m.toml:5:9: error: the start position violates constraint `ring`: residual 5.25\n"
            "    x^2 + y^2 = 25\n"
            "m.toml:5:9: error: the start velocity violates constraint `ring`: residual 11 in its rate\n"
            "    x^2 + y^2 = 25\n"
            "m.toml:6:10: error: the start velocity violates constraint `blade`: residual 1\n"
            "    x' = y'\n");
  EXPECT_EQ(render(projection_offer(c.system, c.start, project(c.system, c.start)), "note", c.system.model().source),
            "m.toml: note: the nearest state on the constraints (command `project`):\n"
            "    position = { x = 5, y = 0 }\n"
            "    velocity = { x = 0, y = 0 }");
}

TEST(Remarks, AStartThatCannotBeProjected) {
  const Case c =
      at_start(std::string(plane) + "[constraints]\nring = \"x^2 + y^2 = -1\"\n[start]\nposition = { x = 1 }\n");
  EXPECT_EQ(render(projection_offer(c.system, c.start, project(c.system, c.start)), "note", c.system.model().source),
            "m.toml: note: no state on the constraints was found near this start\n"
            "    not met: `ring` by 2");
}

TEST(Remarks, DependentConstraintsAndWhatTheyFollowFrom) {
  EXPECT_EQ(warning(std::string(plane) + "[constraints]\na = \"x + y = 0\"\nb = \"x - y = 0\"\nc = \"4*x = 0\"\n"),
            "m.toml:7:6: note: constraint `c` follows from others here: c = 2·a + 2·b\n"
            "m.toml: note: the multipliers of `a`, `b` and `c` are not unique (those of least norm are given); the "
            "constraint force is unique\n");
}

TEST(Remarks, ConstraintsThatDoNotAct) {
  EXPECT_EQ(warning(std::string(plane) + "[constraints]\nnothing = \"0*x = 0\"\n"),
            "m.toml:5:12: note: constraint `nothing` holds identically: it constrains nothing\n");
  EXPECT_EQ(
      warning(std::string(plane) + "[constraints]\nsquare = \"(x - y)^2 = 0\"\n"),
      "m.toml:5:11: note: constraint `square` does not act at this state: its gradient vanishes within rounding\n"
      "    a constraint written as a square loses its force on the constraint itself; write it without the square\n");
}

TEST(Remarks, AnIntegrableConstraintOnVelocities) {
  EXPECT_EQ(warning(std::string(plane) + "[constraints]\nturn = \"x*x' + y*y' = t\"\n[start]\nposition = { x = 1 }\n"),
            "m.toml:5:9: note: constraint `turn` on velocities is integrable: it is the rate of a function of the "
            "coordinates and time\n"
            "    stated on positions it would also fix the constant of integration\n");
}

TEST(Remarks, ANearDecisionOfTheRank) {
  const std::string text =
      warning(std::string(plane) + "[constraints]\na = \"x + y = 0\"\nb = \"x + (1 + 3e-11)*y = 0\"\n");
  EXPECT_NE(text.find("note: the rank 2 of the constraints is a near decision (gap"), std::string::npos) << text;
}

TEST(Remarks, MeasurementsThatContradict) {
  EXPECT_EQ(
      warning(
          std::string(plane) +
          "[constraints]\na = { equation = \"x'' = 1\", weight = 1 }\nb = { equation = \"x'' = 2\", weight = 3 }\n"),
      "m.toml:6:19: note: constraint `b` has a row that depends on others: b = a\n"
      "m.toml: note: the measured constraints contradict each other: the acceleration is the weighted compromise\n");
}

TEST(Remarks, ARequirementThatAConstraintMeetsNeedsNoForce) {
  const std::string text =
      warning(std::string(plane) + "[constraints]\nwall = \"x = 0\"\n[control.keep]\nequation = \"x = 0\"\n");
  EXPECT_EQ(text.find("keep"), std::string::npos) << text;
}

TEST(Remarks, ARequirementThatContradictsAConstraint) {
  EXPECT_EQ(
      refusal(std::string(plane) + "[constraints]\nwall = \"x = 0\"\n[control.go]\nequation = \"x = t^2\"\n"),
      "m.toml:7:13: error: control requirements cannot be met at this state\n"
      "    nothing that a control force can do influences `go`, whose acceleration misses what is asked for by 2\n"
      "    at t = 0, x = 0, y = 0, x' = 0, y' = 0\n"
      "    drop a requirement, or give it a weight: then it is met as far as possible\n");
}

TEST(Remarks, CombinationsReadLikeSums) {
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(combination(names, std::vector<double>{1, -1, 2.5}), "a − b + 2.5·c");
  EXPECT_EQ(combination(names, std::vector<double>{-3, 1, -1}), "−3·a + b − c");
  EXPECT_EQ(combination({}, {}), "0");
}

}  // namespace
}  // namespace mechanician
