/// What may be said of one-sided constraints, restitution and friction, and what is said of everything else.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mechanician/model/read_model.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {
namespace {

/// A way to write one key, and whether it is right by itself.
struct Way {
  std::string text;  ///< empty: the key is left out
  bool right = true;
};

const std::vector<Way> restitutions = {{""},          {"0"}, {"1"}, {"'e*exp(-x^2)'"}, {"'e'"}, {"'0.1*y\\''", false},
                                       {"1.5", false}};
const std::vector<Way> frictions = {{""}, {"0"}, {"'mu*(1 + y\\'^2)'"}, {"-0.1", false}, {"'x\\'\\''", false}};
const std::vector<Way> slips = {{""},
                                {"'x\\''"},
                                {"['x\\' - 2', 't*y\\'']"},
                                {"[]", false},
                                {"'x'", false},
                                {"'x\\'*y\\''", false},
                                {"['x\\'', 'y\\'', 'x\\'']", false}};

/// Texts above are written in single quotation marks with \' for a prime; TOML has them in double ones.
std::string toml(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\'')
      text[i] = '"';
    else if (text[i] == '\\')
      text.erase(i, 1);
  return text;
}

TEST(Contacts, EveryCombinationIsReadOrRefusedAsItsPartsSay) {
  int read = 0, refused = 0;
  for (const char* sign : {"=", ">=", "<="})
    for (const char* primes : {"", "'", "''"})
      for (const Way& restitution : restitutions)
        for (const Way& friction : frictions)
          for (const Way& slip : slips)
            for (const bool weight : {false, true}) {
              std::string text = fmt::format(R"(coordinates = ["x", "y"]
[parameters]
e = 0.5
mu = 0.3
[dynamics]
mass = {{ x = 1, y = 1 }}
[constraints.c]
equation = "x{0} {1} 3*y{0}"
)",
                                             primes, sign);
              const auto add = [&](const char* key, const Way& way) {
                if (!way.text.empty()) text += fmt::format("{} = {}\n", key, toml(way.text));
              };
              add("restitution", restitution), add("friction", friction), add("slip", slip);
              if (weight) text += "weight = 4\n";

              const std::string level = primes;
              const bool one_sided = sign != std::string("=");
              const bool has_restitution = !restitution.text.empty(), has_friction = !friction.text.empty(),
                         has_slip = !slip.text.empty();
              const bool right = restitution.right && friction.right && slip.right && has_friction == has_slip &&
                                 !(has_restitution && (!one_sided || !level.empty())) &&
                                 !((one_sided || has_friction) && (level == "''" || weight));
              try {
                const Model model = read_model_text(text, "c.toml");
                EXPECT_TRUE(right) << text;
                ++read;
                const Constraint& c = model.constraints.at(0);
                EXPECT_EQ(c.one_sided, one_sided);
                EXPECT_EQ(c.restitution.has_value(), has_restitution);
                EXPECT_EQ(c.friction.has_value(), has_friction);
                EXPECT_TRUE(validate(model).empty());
              } catch (const ModelError& error) {
                EXPECT_FALSE(right) << text << error.what();
                ++refused;
                for (const Problem& p : error.problems()) EXPECT_GE(p.place.line, 7) << error.what();
              }
            }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 1000);
}

std::vector<std::string> said(const Model& model) {
  std::vector<std::string> result;
  for (const Problem& p : validate(model)) result.push_back(p.message);
  return result;
}

TEST(Contacts, AModelBuiltInCppPassesTheSameChecks) {
  const auto model_with = [](auto add) {
    Model model;
    const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
    model.kinetic = (pow(dot(x), 2) + pow(dot(y), 2)) / 2;
    add(model, x, y);
    return model;
  };
  using Said = std::vector<std::string>;
  const Friction rough{.coefficient = 0.3, .slip = {}, .place = {}};
  EXPECT_EQ(said(model_with([](Model& m, const Expr& x, const Expr&) {
              m.add_at_least("floor", x, 0.0, {.restitution = Expr(1.5)});
            })),
            Said{"the restitution of `floor` is 1.5"});
  EXPECT_EQ(said(model_with([](Model& m, const Expr& x, const Expr&) {
              m.add_constraint("floor", x, 0.0, {.restitution = Expr(0.5)});
            })),
            Said{"the constraint `floor` has a restitution but is an equation"});
  EXPECT_EQ(said(model_with(
                [&](Model& m, const Expr& x, const Expr&) { m.add_at_most("roof", x, 0.0, {.friction = rough}); })),
            Said{"the slip of `roof` has 0 expressions"});
  EXPECT_EQ(said(model_with([&](Model& m, const Expr& x, const Expr& y) {
              Friction f = rough;
              f.slip = {dot(x) * dot(y), coordinate("z")};
              m.add_at_most("roof", x, 0.0, {.friction = f});
            })),
            (Said{"the slip of `roof` contains the coordinate `z`, which the model does not have",
                  "the slip of `roof` is not linear in the velocities", "the slip of `roof` mentions no velocity"}));
  EXPECT_EQ(said(model_with([](Model& m, const Expr& x, const Expr&) { m.add_at_least("push", ddot(x), 0.0); })),
            Said{"the one-sided constraint `push` contains accelerations"});
}

TEST(Contacts, AParameterThatIsSetLaterIsCheckedAgain) {
  const Model model = read_model_text(R"toml(coordinates = ["x", "y"]
[parameters]
e = 0.5
mu = 0.3
[dynamics]
mass = { x = 1, y = 1 }
[constraints.floor]
equation = "y >= 0"
restitution = "e"
friction = "mu"
slip = "x'"
)toml",
                                      "floor.toml");
  EXPECT_TRUE(validate_values(model, evaluate_parameters(model, {{"e", 1.0}, {"mu", 0.0}})).empty());
  const auto problems = validate_values(model, evaluate_parameters(model, {{"e", 1.25}, {"mu", -1.0}}));
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].message, "the restitution of `floor` is 1.25");
  EXPECT_EQ(problems[0].place.line, 9);
  EXPECT_EQ(problems[1].message, "the friction of `floor` is -1; it cannot be negative");
  EXPECT_EQ(problems[1].place.line, 10);
}

TEST(Contacts, TheSignTurnsTheResidual) {
  const Model model = read_model_text(R"toml(coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
a = "x >= y"
b = "x <= y"
c = "0 <= y"
d = "x <= 0"
)toml",
                                      "signs.toml");
  const Expr x = coordinate("x"), y = coordinate("y");
  EXPECT_TRUE(same(model.constraints[0].residual, x - y));
  EXPECT_TRUE(same(model.constraints[1].residual, y - x));
  EXPECT_TRUE(same(model.constraints[2].residual, y));
  EXPECT_TRUE(same(model.constraints[3].residual, Expr(0.0) - x));
}

}  // namespace
}  // namespace mechanician
