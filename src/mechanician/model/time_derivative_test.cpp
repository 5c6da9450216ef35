// Primes of definitions: against differences along a path, and against the same written by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/expression/tape.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

Model read(const std::string& definitions, const std::string& outputs) {
  return read_model_text("coordinates = [\"x\", \"y\"]\n[define]\n" + definitions +
                             "[dynamics]\nmass = { x = 1, y = 1 }\n[outputs]\n" + outputs,
                         "primes.toml");
}

/// x = 0.7 sin(t + 0.3), y = 0.4 + 0.5 t², and two derivatives of each.
struct Path {
  double t;
  std::vector<double> values() const {
    return {t, 0.7 * std::sin(t + 0.3), 0.4 + 0.5 * t * t, 0.7 * std::cos(t + 0.3), t, -0.7 * std::sin(t + 0.3), 1.0};
  }
};
std::vector<Expr> inputs() {
  const Expr x = coordinate("x"), y = coordinate("y");
  return {time_symbol(), x, y, dot(x), dot(y), ddot(x), ddot(y)};
}
double value(const Expr& f, double t) {
  const std::vector<Expr> in = inputs();
  const Tape tape(std::span(&f, 1), in);
  return tape(std::span<const double>(Path{t}.values())).front();
}

TEST(PrimesOfDefinitions, are_rates_along_every_path) {
  for (const char* text : {"x", "y*x^3", "sin(x)*exp(-y) + t^2", "if(x > 0, x^2, -x)", "atan2(y, 2 + x)",
                           "sqrt(2 + x*y)*cos(3*t)", "abs(y - 5)*hypot(x, y)", "x'*y - y'*sin(x')", "max(x, y)*x'"}) {
    SCOPED_TRACE(text);
    const bool has_velocities = std::string(text).find('\'') != std::string::npos;
    const Model m = read(std::string("d = \"") + text + "\"\n",
                         std::string("d0 = \"d\"\nd1 = \"d'\"\n") + (has_velocities ? "" : "d2 = \"d''\"\n"));
    ASSERT_EQ(m.outputs.size(), has_velocities ? 2u : 3u);
    const double h = 1e-4;
    for (const double t : {0.1, 0.5, 1.3})
      for (std::size_t k = 0; k + 1 < m.outputs.size(); ++k) {
        const auto at = [&](double time) { return value(m.outputs[k].value, time); };
        const double rate = (8.0 * (at(t + h) - at(t - h)) - (at(t + 2 * h) - at(t - 2 * h))) / (12.0 * h);
        EXPECT_NEAR(value(m.outputs[k + 1].value, t), rate, 1e-9 * (1.0 + std::abs(rate))) << "t = " << t;
      }
  }
}

TEST(PrimesOfDefinitions, go_through_other_definitions_sums_and_members) {
  const auto text = [](const std::string& defined, const std::string& outputs) {
    return "coordinates = [\"x[1..4]\"]\n[define]\n" + defined +
           "[dynamics]\nkinetic = \"sum(i = 1..4, x[i]'^2/2)\"\n[outputs]\n" + outputs;
  };
  const std::string definitions =
      "S = \"sum(i = 1..4, i*x[i]^2)\"\nC = \"S*t + sin(S)\"\n\"d[i]\" = { for = \"i = 2..4\", value = \"x[i]*x[i-1]\" "
      "}\n"
      "D = \"sum(i = 2..4, d[i]')\"\n";
  const Model primed =
      read_model_text(text(definitions, "a = \"C'\"\nb = \"S''\"\nc = \"d[3]''\"\ne = \"D'\"\n"), "primed.toml");
  const Model by_hand = read_model_text(
      text(
          definitions,
          "a = \"(t + cos(S))*sum(i = 1..4, 2*i*x[i]*x[i]') + S\"\nb = \"sum(i = 1..4, 2*i*(x[i]'^2 + x[i]*x[i]''))\"\n"
          "c = \"x[3]''*x[2] + 2*x[3]'*x[2]' + x[3]*x[2]''\"\n"
          "e = \"sum(i = 2..4, x[i]''*x[i-1] + 2*x[i]'*x[i-1]' + x[i]*x[i-1]'')\"\n"),
      "by_hand.toml");
  std::vector<Expr> in{time_symbol()};
  for (int k = 0; k < 3; ++k)
    for (int i = 1; i <= 4; ++i) {
      const Expr x = coordinate("x[" + std::to_string(i) + "]");
      in.push_back(k == 0 ? x : k == 1 ? dot(x) : ddot(x));
    }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-2.0, 2.0);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> at(in.size());
    for (double& x : at) x = number(random);
    for (std::size_t k = 0; k < 4; ++k) {
      const Expr fs[] = {primed.outputs[k].value, by_hand.outputs[k].value};
      const std::vector<double> values = Tape(fs, in)(std::span<const double>(at));
      EXPECT_NEAR(values[0], values[1], 1e-12 * (1.0 + std::abs(values[1]))) << primed.outputs[k].name;
    }
  }
}

TEST(PrimesOfDefinitions, of_functions_without_a_value_have_names) {
  const Model m = read_model_text(R"toml(coordinates = ["x"]
[unknown]
f = "x, t"
[define]
d = "x*f"
[dynamics]
kinetic = "x'^2/2 + d'^2/2"
)toml",
                                  "unknown.toml");
  EXPECT_TRUE(m.kinetic->contains(SymbolKind::unknown));
}

}  // namespace
}  // namespace mechanician
