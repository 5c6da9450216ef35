/// Models built in C++ get the checks that files get.

#include "mechanician/model/validate.hpp"

#include <gtest/gtest.h>

namespace mechanician {
namespace {

struct Pendulum {
  Model model;
  Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  Expr m = model.add_parameter("m", 2.0), L = model.add_parameter("L", 1.0);
  Pendulum() {
    model.kinetic = m / 2 * (pow(dot(x), 2) + pow(dot(y), 2));
    model.potential = m * 9.81 * y;
    model.add_constraint("rod", x * x + y * y, L * L);
    model.start_at({.position = {{"x", 1.0}}});
  }
};

std::string only_problem(const Model& model) {
  const auto problems = validate(model);
  std::string text;
  for (const Problem& p : problems) text += (text.empty() ? "" : "; ") + p.message;
  return text;
}

TEST(Validate, AcceptsAGoodModel) { EXPECT_EQ(only_problem(Pendulum().model), ""); }

TEST(Validate, AnEmptyModelHasNoCoordinates) { EXPECT_EQ(only_problem(Model()), "the model has no coordinates"); }

TEST(Validate, NamesAreValidAndDistinct) {
  Pendulum p;
  p.model.add_coordinate("x");
  EXPECT_EQ(only_problem(p.model), "the coordinate `x` is given twice");
  p = {};
  p.model.add_parameter("x", 1.0);
  EXPECT_EQ(only_problem(p.model), "`x` stands for two things: a coordinate and a parameter");
  p = {};
  p.model.add_parameter("2m", 1.0);
  EXPECT_EQ(only_problem(p.model), "`2m` cannot be the name of a parameter");
  p = {};
  p.model.add_unknown("cos", {time_symbol()});
  EXPECT_EQ(only_problem(p.model), "`cos` cannot be the name of an unknown function");
  p = {};
  p.model.add_constraint("rod", p.x, 0.0);
  EXPECT_EQ(only_problem(p.model), "`rod` is the name of two constraints or requirements");
}

TEST(Validate, SymbolsBelongToTheModel) {
  Pendulum p;
  p.model.potential = parameter("k") * p.x;
  EXPECT_EQ(only_problem(p.model), "the potential energy contains the parameter `k`, which the model does not have");
  p = {};
  p.model.add_constraint("other", coordinate("z"), dot(coordinate("w")));
  EXPECT_EQ(only_problem(p.model),
            "the constraint `other` contains the coordinate `z`, which the model does not have; "
            "the constraint `other` contains the velocity `w'`, which the model does not have");
  p = {};
  p.model.add_nonideal(p.x, make_symbol(SymbolKind::multiplier, "rood"));
  EXPECT_EQ(only_problem(p.model),
            "the nonideal force on `x` contains the multiplier `multiplier(rood)`, which the model does not have");
  p = {};
  p.model.outputs.push_back({"o", unknown_function("alpha", {time_symbol()}), {}});
  EXPECT_EQ(only_problem(p.model),
            "the output `o` contains the unknown function `alpha`, which the model does not have");
  p = {};
  p.model.add_force(coordinate("z"), 1.0);
  EXPECT_EQ(only_problem(p.model), "a force acts on `z`, which is no coordinate");
  p = {};
  p.model.add_nonideal(coordinate("z"), 1.0);
  EXPECT_EQ(only_problem(p.model), "a nonideal force acts on `z`, which is no coordinate");
  p = {};
  p.model.start.velocity["z"] = 1.0;
  EXPECT_EQ(only_problem(p.model), "a start value is given for `z`, which is no coordinate");
}

TEST(Validate, ExpressionsContainOnlyWhatTheyMay) {
  Pendulum p;
  p.model.parameters[0].value = p.x;
  EXPECT_EQ(only_problem(p.model), "the parameter `m` contains the coordinate `x`; the parameter `m` is not finite");
  p = {};
  p.model.add_force(p.x, make_symbol(SymbolKind::ideal_force, "x"));
  EXPECT_EQ(only_problem(p.model), "the force on `x` contains the ideal force `ideal(x)`");
  p = {};
  p.model.potential = p.x > 0.0;
  EXPECT_EQ(only_problem(p.model), "the potential energy is a condition, not a number");
  p = {};
  p.model.start.time = time_symbol();
  EXPECT_EQ(only_problem(p.model), "`start.time` contains the time");
}

TEST(Validate, MassHasTheSizeOfTheCoordinates) {
  Pendulum p;
  p.model.kinetic.reset();
  p.model.mass = {{1.0, 0.0}};
  EXPECT_EQ(only_problem(p.model), "`mass` has 1 row");
  p.model.mass = {{1.0}, {1.0}};
  EXPECT_EQ(only_problem(p.model), "a row of `mass` has the wrong length");
  p.model.mass = {{1.0, 0.0}, {0.0, 1.0}};
  EXPECT_EQ(only_problem(p.model), "");
}

TEST(Validate, SymmetryDependsOnTheValuesOfTheParameters) {
  Pendulum p;
  p.model.kinetic.reset();
  const Expr a = p.model.add_parameter("a", 0.5), b = p.model.add_parameter("b", 0.5);
  p.model.mass = {{1.0, a * cos(p.x)}, {b * cos(p.x), 1.0}};
  EXPECT_EQ(only_problem(p.model), "");
  const auto problems = validate_values(p.model, evaluate_parameters(p.model, {{"b", 0.6}}));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "the mass matrix is not symmetric: the entries (x, y) and (y, x) differ");
  EXPECT_EQ(problems[0].hint, "a*cos(x) is not b*cos(x)");
}

TEST(Validate, ControlErrorsOfVelocitiesHaveNoDamping) {
  Pendulum p;
  p.model.add_control("c", dot(p.x), 1.0, {.frequency = 2.0, .damping = 0.5});
  EXPECT_EQ(only_problem(p.model), "a requirement with velocities has no damping");
}

TEST(Validate, WeightsInMeasuredAreFinite) {
  Pendulum p;
  p.model.measured.push_back({{"rod"}, {{1.0 / (p.m - 2.0)}}, {}});
  EXPECT_EQ(only_problem(p.model), "the weight in [measured] has an entry that is not finite");
  p.model.measured = {{{}, {}, {}}};
  EXPECT_EQ(only_problem(p.model), "[measured] names no constraint");
}

TEST(Validate, ManyCoordinatesAreRefused) {
  Model model;
  for (int i = 0; i <= most_coordinates; ++i) model.add_coordinate("x" + std::to_string(i));
  model.kinetic = 0.0;
  EXPECT_EQ(only_problem(model), "the model has 100001 coordinates; 100000 are possible");
}

}  // namespace
}  // namespace mechanician
