#include "mechanician/output/equations_output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

struct Disc {
  Model model = read_model_text(R"toml(coordinates = ["x", "y", "th"]
[parameters]
r = 0.2
mu = 0.25
[dynamics]
mass = { x = 1, y = 1, th = "r^2/2" }
[constraints]
string = "x^2 + y^2 <= 4"
slow = "x' <= 3"
[constraints.table]
equation = "y >= r"
restitution = 0.5
friction = "mu"
slip = ["x' + r*th'", "x*y'"]
[constraints.wire]
equation = "th = 0"
friction = 0.1
slip = "th'"
)toml",
                                "disc.toml");
  Equations eqs = derive(model);
  EquationsReport report{model, eqs, std::nullopt, "it depends on the motion"};
};

TEST(EquationsOutput, TextShowsGapsRestitutionFrictionAndSlips) {
  const Disc disc;
  const std::string text = equations_text(disc.report);
  for (const char* line :
       {"\n  A[string, x] = -2*x\n", "\n  b[table] = 0      (one-sided)\n", "\n  b[wire] = 0\n",
        "\n  string: 4 - (x^2 + y^2) >= 0\n", "\n  restitution[string] = 0\n",
        "\n  slow: 3 - x' >= 0\n  table: y - r >= 0\n", "\n  restitution[table] = 0.5\n", "\n  mu[table] = mu\n",
        "\n  slip[table, 1] = x' + r*th'\n", "\n  T[table, 1, th] = r\n  d[table, 1] = 0\n",
        "\n  slip[table, 2] = x*y'\n  T[table, 2, y] = x\n  d[table, 2] = -x'*y'\n",
        "\n  mu[wire] = 0.1\n  slip[wire] = th'\n  T[wire, th] = 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << "no " << line << " in\n" << text;
  EXPECT_EQ(text.find("wire: "), std::string::npos) << "an equation has no gap";
}

std::string without_space(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(EquationsOutput, JsonHoldsTheContactsByName) {
  const Disc disc;
  const std::string json = without_space(equations_json(disc.report));
  for (const char* part :
       {R"("one_sided": ["string", "slow", "table"])",
        R"json("contacts": {"string": {"one_sided": true, "gap": "4 - (x^2 + y^2)", "restitution": "0"},
            "slow": {"one_sided": true, "rate": "3 - x'"},
            "table": {"one_sided": true, "gap": "y - r", "restitution": "0.5", "friction": "mu",
                      "slip": ["x' + r*th'", "x*y'"], "T": [{"x": "1", "th": "r"}, {"y": "x"}], "d": ["0", "-x'*y'"]},
            "wire": {"one_sided": false, "friction": "0.1", "slip": ["th'"], "T": [{"th": "1"}], "d": ["0"]}})json"})
    EXPECT_NE(json.find(without_space(part)), std::string::npos) << "no " << part << " in\n" << json;
}

TEST(EquationsOutput, LatexHasBalancedBracesAndTheSigns) {
  const Disc disc;
  const std::string text = equations_latex(disc.report);
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
  EXPECT_NE(text.find("\\varphi_{\\mathrm{table}} = y - r \\ge 0"), std::string::npos) << text;
  EXPECT_NE(text.find("\\psi_{\\mathrm{slow}} = 3 - \\dot{x} \\ge 0"), std::string::npos) << text;
  EXPECT_NE(text.find("e_{\\mathrm{table}} = 0.5"), std::string::npos) << text;
}

TEST(EquationsOutput, ModelsOfEquationsHaveNoContacts) {
  const Model model =
      read_model_text("coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\n[constraints]\nc = \"x = t\"\n", "c.toml");
  const Equations eqs = derive(model);
  const EquationsReport report{model, eqs, std::nullopt, ""};
  EXPECT_EQ(equations_json(report).find("contacts"), std::string::npos);
  EXPECT_EQ(equations_text(report).find("ne-sided"), std::string::npos);
}

}  // namespace
}  // namespace mechanician
