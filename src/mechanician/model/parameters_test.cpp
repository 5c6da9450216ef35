#include "mechanician/model/parameters.hpp"

#include <gtest/gtest.h>

#include "mechanician/model/dependency_order.hpp"

namespace mechanician {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

Model circle() {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.add_coordinate("y");
  const Expr a = parameter("a"), b = parameter("b");
  model.add_parameter("c", a + b);
  model.add_parameter("a", 2.0);
  model.add_parameter("b", 3.0 * a);
  model.kinetic = pow(dot(x), 2);
  return model;
}

TEST(Parameters, AreWorkedOutInTheOrderOfTheirNeeds) {
  EXPECT_EQ(evaluate_parameters(circle()).values, (std::vector<double>{8.0, 2.0, 6.0}));
}

TEST(Parameters, AnOverrideActsOnWhatIsMadeOfIt) {
  EXPECT_EQ(evaluate_parameters(circle(), {{"a", 1.0}}).values, (std::vector<double>{4.0, 1.0, 3.0}));
  EXPECT_EQ(evaluate_parameters(circle(), {{"b", 1.0}}).values, (std::vector<double>{3.0, 2.0, 1.0}));
}

TEST(Parameters, AnOverrideCanOpenACycle) {
  Model model;
  model.add_parameter("a", parameter("b"));
  model.add_parameter("b", parameter("a"));
  EXPECT_EQ(evaluate_parameters(model, {{"a", 5.0}}).values, (std::vector<double>{5.0, 5.0}));
  EXPECT_NE(refusal([&] { evaluate_parameters(model); }).find("the parameter `a` is made of itself: a → b → a"),
            std::string::npos);
}

TEST(Parameters, AnUnknownOverrideIsRefusedWithTheNearestName) {
  Model model;
  model.add_parameter("length", 1.0);
  EXPECT_EQ(refusal([&] {
              evaluate_parameters(model, {{"lenght", 1.0}});
            }),
            "there is no parameter `lenght`; did you mean `length`?");
  EXPECT_EQ(refusal([&] {
              evaluate_parameters(model, {{"q", 1.0}});
            }),
            "there is no parameter `q`; the parameters are `length`");
  EXPECT_EQ(refusal([&] {
              evaluate_parameters(Model(), {{"q", 1.0}});
            }),
            "there is no parameter `q`; the model has none");
}

TEST(Parameters, WhatIsNotFiniteIsNamedWithItsCulprit) {
  Model model;
  model.add_parameter("a", 2.0);
  model.add_parameter("b", 1.0 / (parameter("a") - 2.0));
  model.add_parameter("c", parameter("b") + 1.0);
  const std::string said = refusal([&] { evaluate_parameters(model); });
  EXPECT_NE(said.find("the parameter `b` is not finite"), std::string::npos) << said;
  EXPECT_NE(said.find("1/(a - 2) with 1 and 0 gives inf"), std::string::npos) << said;
  EXPECT_EQ(said.find("`c`"), std::string::npos) << said;
  EXPECT_EQ(refusal([&] { evaluate_parameters(model, {{"a", 3.0}}); }), "");
}

TEST(StartState, IsZeroWhereNothingIsSaid) {
  Model model = circle();
  model.start_at({.position = {{"x", parameter("c") / 2}}, .velocity = {{"y", -1.0}}, .time = parameter("a")});
  const StartState start = start_state(model, evaluate_parameters(model));
  EXPECT_EQ(start.time, 2.0);
  EXPECT_EQ(start.q, (std::vector<double>{4.0, 0.0}));
  EXPECT_EQ(start.qd, (std::vector<double>{0.0, -1.0}));
}

TEST(StartState, WhatIsNotFiniteIsRefused) {
  Model model = circle();
  model.start_at({.position = {{"x", log(parameter("a") - 4.0)}}});
  EXPECT_NE(refusal([&] { start_state(model, evaluate_parameters(model)); }).find("`start.position.x` is not finite"),
            std::string::npos);
}

TEST(DependencyOrder, PutsEveryItemBehindWhatItNeeds) {
  // A chain of a million items, each needing the next, and a diamond.
  const std::size_t n = 1'000'000;
  std::vector<std::vector<int>> needs(n);
  for (std::size_t i = 0; i + 1 < n; ++i) needs[i] = {static_cast<int>(i + 1)};
  needs[0].push_back(5);
  const DependencyOrder result = dependency_order(needs);
  ASSERT_EQ(result.order.size(), n);
  EXPECT_TRUE(result.cycles.empty());
  std::vector<std::size_t> position(n);
  for (std::size_t i = 0; i < n; ++i) position[static_cast<std::size_t>(result.order[i])] = i;
  for (std::size_t i = 0; i < n; ++i)
    for (const int need : needs[i]) ASSERT_LT(position[static_cast<std::size_t>(need)], position[i]);
}

TEST(DependencyOrder, ListsCyclesAndEveryItemOnce) {
  const std::vector<std::vector<int>> needs = {{1}, {2}, {0}, {3}, {0}};
  const DependencyOrder result = dependency_order(needs);
  EXPECT_EQ(result.order.size(), 5u);
  EXPECT_EQ(result.cycles, (std::vector<std::vector<int>>{{0, 1, 2}, {3}}));
  const auto name_of = [](int i) { return std::string(1, static_cast<char>('a' + i)); };
  EXPECT_EQ(cycle_text(result.cycles[0], name_of), "a → b → c → a");
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(cycle_text(all, name_of), "a → b → c → d → e → f → g → … → j → a");
}

}  // namespace
}  // namespace mechanician
