#include "mechanician/expression/units.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "mechanician/expression/parse.hpp"

namespace mechanician {
namespace {

Unit unit(std::string_view text) {
  const ParsedUnit parsed = parse_unit(text);
  EXPECT_TRUE(parsed.unit) << text << ": " << parsed.problem;
  return parsed.unit.value_or(Unit{});
}

TEST(Units, have_the_factors_of_their_definitions) {
  EXPECT_EQ(unit("mm").factor, 1e-3);
  EXPECT_EQ(unit("kg").factor, 1.0);
  EXPECT_EQ(unit("t").factor, 1000.0);
  EXPECT_EQ(unit("kN").factor, 1000.0);
  EXPECT_EQ(unit("MPa").factor, 1e6);
  EXPECT_EQ(unit("bar").factor, 1e5);
  EXPECT_EQ(unit("in").factor, 0.0254);
  EXPECT_EQ(unit("h").factor, 3600.0);
  EXPECT_EQ(unit("mm^2").factor, 1e-6);
  EXPECT_EQ(unit("N/mm").factor, 1000.0);
  EXPECT_EQ(unit("1/ms").factor, 1000.0);
  EXPECT_DOUBLE_EQ(unit("rpm").factor, std::numbers::pi / 30);
  EXPECT_DOUBLE_EQ(unit("deg").factor, std::numbers::pi / 180);
  EXPECT_DOUBLE_EQ(unit("km/h").factor, 1 / 3.6);
  EXPECT_DOUBLE_EQ(unit("lb*ft^2").factor, 0.45359237 * 0.3048 * 0.3048);
}

TEST(Units, have_the_dimensions_of_their_products) {
  EXPECT_EQ(unit("N*m").dimension, unit("J").dimension);
  EXPECT_EQ(unit("kg*m^2/s^2").dimension, unit("J").dimension);
  EXPECT_EQ(unit("kg*m^-1*s^-2").dimension, unit("Pa").dimension);
  EXPECT_EQ(unit("V*A").dimension, unit("W").dimension);
  EXPECT_EQ(unit("V*s/A").dimension, unit("H").dimension);
  EXPECT_EQ(unit("ohm").dimension, unit("V/A").dimension);
  EXPECT_EQ(unit("T*m^2").dimension, unit("Wb").dimension);
  EXPECT_EQ(unit("F*V").dimension, unit("C").dimension);
  EXPECT_EQ(unit("psi").dimension, unit("lbf/in^2").dimension);
  EXPECT_DOUBLE_EQ(unit("psi").factor, unit("lbf/in^2").factor);
  EXPECT_EQ(unit("m/s/s").dimension, unit("m/s^2").dimension);
  EXPECT_TRUE(unit("rad").dimension.is_plain());
  EXPECT_FALSE(unit("m").dimension == unit("s").dimension);
}

TEST(Units, that_are_none_get_a_suggestion) {
  EXPECT_EQ(parse_unit("Kg").hint, "did you mean `kg`?");
  EXPECT_NE(parse_unit("").problem, "");
  EXPECT_NE(parse_unit("kg m").problem, "");
  EXPECT_NE(parse_unit("m^x").problem, "");
  EXPECT_NE(parse_unit("m*").problem, "");
  EXPECT_EQ(parse_unit("N*foo").offset, 2u);
}

/// What is said of an expression where L is in mm, x in m, m in kg, a has no unit and w is in 1/s.
std::string said(std::string_view text) {
  NameScope scope;
  scope.find = [](std::string_view name, int primes) -> std::optional<Expr> {
    Expr f = name == "t" ? time_symbol() : coordinate(std::string(name));
    for (int k = 0; k < primes; ++k) f = derivative_symbol(f);
    return f;
  };
  scope.measure = [](std::string_view name, int primes) -> Measure {
    if (name == "t") return measure_of_time();
    for (const auto& [known, u] : {std::pair{"L", "mm"}, {"x", "m"}, {"m", "kg"}, {"w", "1/s"}})
      if (name == known) return rate(measure_of_unit(*parse_unit(u).unit), primes);
    return {};
  };
  const ParsedExpression parsed = parse_expression(text, scope);
  return parsed.problems.empty() ? "" : parsed.problems.front().message;
}

TEST(Dimensions, of_sums_comparisons_and_arguments_are_checked) {
  for (const char* good : {"x + L",
                           "x' + w*L",
                           "m*x'^2/2 + 2*m*w^2*x^2",
                           "sqrt(x^2 + L^2) - x",
                           "hypot(x, L)/L + sin(x/L)",
                           "a + x",
                           "a*m + x",
                           "sin(w*t)",
                           "sin(3*t)",
                           "exp(-t/2)",
                           "if(t < 0.5, x, 0)",
                           "9.81*m*x + m*w^2*L^2",
                           "max(x, L, 0)",
                           "x + 1",
                           "atan2(x, L) + 1",
                           "x^a",
                           "2^a",
                           "(x/L)^1.5",
                           "x^(1/2)*L^0.5 + x",
                           "abs(x) - L",
                           "sign(x)*L + x",
                           "1000*x^2 + m",
                           "wrap(x/L)",
                           "mod(x, L) + x",
                           "x - 0",
                           "0 < L",
                           "2*sin(a) + x"}) {
    // A comparison stands in if().
    const std::string text = std::string(good).find('<') != std::string::npos && std::string(good).find("if") != 0
                                 ? "if(" + std::string(good) + ", 1, 2)"
                                 : good;
    EXPECT_EQ(said(text), "") << text;
  }
  for (const char* bad :
       {"x + m", "x + x'", "m*x'^2/2 + m*x", "sqrt(x) + x", "sin(x)", "exp(L)", "if(x < m, 1, 2)", "if(a > 0, x, m)",
        "max(x, m)", "atan2(x, m)", "hypot(x, w)", "L + 5", "x^x", "2*x + m", "mod(x, m)", "2*sin(x/L) + L", "log(m)"})
    EXPECT_NE(said(bad), "") << bad;
  EXPECT_EQ(said("x + m"), "the units do not agree: m and kg");
  EXPECT_EQ(said("m*x'^2 - m*x"), "the units do not agree: J (kg*m^2/s^2) and kg*m");
}

}  // namespace
}  // namespace mechanician
