#include "mechanician/plot/selection.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace mechanician {
namespace {

const std::vector<std::string> columns{
    "t",      "x",      "y",        "x'",         "y'",          "x''",           "y''",
    "Qc(x)",  "Qc(y)",  "Qi(x)",    "Qi(y)",      "lambda(rod)", "friction(a,1)", "friction(a,2)",
    "height", "energy", "residual", "power(rod)", "work_given",  "work(rod)"};

std::string labels(std::string_view text) {
  std::string out;
  for (const Shown& s : select_shown(text, columns)) out += (out.empty() ? "" : " | ") + s.label;
  return out;
}

std::string refusal(std::string_view text) {
  try {
    return "accepted: " + labels(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(Selection, knows_names_groups_patterns_and_formulas) {
  EXPECT_EQ(labels("x,y"), "x | y");
  EXPECT_EQ(labels(" x' , Qc(y) "), "x' | Qc(y)");
  EXPECT_EQ(labels("friction(a,1),friction(a,2)"), "friction(a,1) | friction(a,2)");
  EXPECT_EQ(labels("Qc(*)"), "Qc(x) | Qc(y)");
  EXPECT_EQ(labels("?'"), "x' | y'");
  EXPECT_EQ(labels("*(a,?)"), "friction(a,1) | friction(a,2)");
  EXPECT_EQ(labels("positions"), "x | y");
  EXPECT_EQ(labels("velocities,accelerations"), "x' | y' | x'' | y''");
  EXPECT_EQ(labels("forces,ideal,multipliers,frictions"),
            "Qc(x) | Qc(y) | Qi(x) | Qi(y) | lambda(rod) | friction(a,1) | friction(a,2)");
  EXPECT_EQ(labels("outputs"), "height | energy");
  EXPECT_EQ(labels("energies"), "energy | work_given");
  EXPECT_EQ(labels("works"), "work_given | work(rod)");
  EXPECT_EQ(labels("residuals,powers"), "residual | power(rod)");
  EXPECT_EQ(labels("\"x'\""), "x'");
  EXPECT_EQ(labels("sqrt(x^2 + y^2), max(x, y)"), "sqrt(x^2 + y^2) | max(x, y)");
}

TEST(Selection, a_column_comes_before_a_group_of_its_name) {
  const std::vector<std::string> names{"t", "forces", "Qc(x)"};
  EXPECT_EQ(select_shown("forces", names).size(), 1u);
  EXPECT_EQ(select_shown("forces", names)[0].label, "forces");
}

TEST(Selection, formulas_have_the_values_of_their_columns) {
  const auto value = [](std::string_view text) {
    const Shown shown = select_one(text, columns);
    std::vector<double> inputs;  // the place of a column is its value
    for (const std::size_t column : shown.columns) inputs.push_back(static_cast<double>(column));
    return shown.formula->operator()<double>(inputs)[0];
  };
  EXPECT_EQ(value("x + 10*y"), 1 + 10 * 2);
  EXPECT_EQ(value("x' - x''"), 3 - 5);
  EXPECT_EQ(value("Qc(x)*Qc(y) + Qc(x)"), 7 * 8 + 7);
  EXPECT_EQ(value("-friction(a,2)/2"), -13.0 / 2);
  EXPECT_EQ(value("max(lambda(rod), work(rod))"), 19);
  EXPECT_EQ(value("2^residual"), std::exp2(16));
}

TEST(Selection, knows_members_of_families) {
  const std::vector<std::string> names{"t", "x[1]", "x[2]", "x[10]", "x[1]'", "x[2]'", "x[10]'", "lambda(rod[2])"};
  EXPECT_EQ(select_shown("x[*]", names).size(), 3u);
  EXPECT_EQ(select_shown("positions", names).size(), 3u);
  EXPECT_EQ(select_shown("x[10],lambda(rod[2])", names)[0].columns, std::vector<std::size_t>{3});
  const Shown shown = select_one("x[1]' - 2*x[10] + lambda(rod[2])", names);
  EXPECT_EQ(shown.columns, (std::vector<std::size_t>{4, 3, 7}));
  const std::vector<double> values{5, 7, 11};
  EXPECT_EQ(shown.formula->operator()<double>(values)[0], 5 - 14 + 11);
}

TEST(Selection, says_what_is_wrong_and_what_there_is) {
  EXPECT_NE(refusal("residul").find("no column `residul`; did you mean `residual`?"), std::string::npos)
      << refusal("residul");
  EXPECT_NE(refusal("residul").find("`t`, `x`, `y`"), std::string::npos);
  EXPECT_NE(refusal("Qc(z)").find("no column `Qc(z)`"), std::string::npos) << refusal("Qc(z)");
  EXPECT_NE(refusal("x + q").find("no column `q`"), std::string::npos) << refusal("x + q");
  EXPECT_NE(refusal("x'''").find("no column `x'''`"), std::string::npos) << refusal("x'''");
  EXPECT_NE(refusal("1 + Qc(x)'").find("no column `Qc(x)'`"), std::string::npos) << refusal("1 + Qc(x)'");
  EXPECT_NE(refusal("control").find("has no control"), std::string::npos) << refusal("control");
  EXPECT_NE(refusal("\"nix\"").find("no column `nix`"), std::string::npos) << refusal("\"nix\"");
  EXPECT_NE(refusal("x,,y").find("missing"), std::string::npos);
  EXPECT_NE(refusal("3 + 4").find("a number"), std::string::npos);
  // The mark stands under the place in the text as it was typed, also behind names that the language does not know.
  const std::string syntax = refusal("Qc(x) + * 2");
  EXPECT_NE(syntax.find("    Qc(x) + * 2\n            ^"), std::string::npos) << syntax;
}

TEST(Selection, without_any_wish_is_coordinates_against_time) {
  const Shown abscissa = default_abscissa(columns);
  EXPECT_EQ(abscissa.label, "t");
  EXPECT_EQ(default_shown(columns, abscissa).size(), 2u);
  const std::vector<std::string> foreign{"frequency", "gain", "phase"};
  EXPECT_EQ(default_abscissa(foreign).label, "frequency");
  EXPECT_EQ(default_shown(foreign, default_abscissa(foreign)).size(), 2u);
  const std::vector<std::string> one{"v"};
  EXPECT_THROW(default_shown(one, default_abscissa(one)), std::invalid_argument);
}

}  // namespace
}  // namespace mechanician
