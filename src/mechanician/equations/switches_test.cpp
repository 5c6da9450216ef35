#include "mechanician/equations/switches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

const Expr x = coordinate("x"), y = coordinate("y"), xd = derivative_symbol(x), t = time_symbol(), p = parameter("p");
const std::vector<Expr> symbols{x, y, p};

Frozen freeze_all(std::vector<Expr> fs) { return freeze(fs); }

/// Frozen expressions and switching functions ready for numbers.
struct Machine {
  explicit Machine(Frozen f, std::vector<Expr> inputs = symbols) : frozen(std::move(f)) {
    for (const Switch& s : frozen.switches) {
      g.push_back(s.g);
      inputs.push_back(s.side);
    }
    values_tape = Tape(frozen.expressions, inputs);
    g_tape = Tape(g, inputs);
  }
  std::vector<double> inputs(std::vector<double> at, std::span<const double> sides) const {
    at.insert(at.end(), sides.begin(), sides.end());
    return at;
  }
  std::vector<double> g_at(const std::vector<double>& at, std::span<const double> sides) const {
    return g_tape.operator()<double>(inputs(at, sides));
  }
  std::vector<double> sides_at(const std::vector<double>& at) const {
    std::vector<double> sides(frozen.switches.size(), 1.0);
    std::size_t passes = 0;
    while (update_sides(g_at(at, sides), sides)) EXPECT_LE(++passes, sides.size() + 1);
    return sides;
  }
  std::vector<double> values(const std::vector<double>& at, std::span<const double> sides) const {
    return values_tape.operator()<double>(inputs(at, sides));
  }

  Frozen frozen;
  std::vector<Expr> g;
  Tape values_tape, g_tape;
};

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(Switches, EachOperatorIsReplacedByItsSide) {
  struct Case {
    Expr f;
    const char *frozen, *g;
    bool is_discontinuous;
  };
  const std::vector<Case> cases{
      {abs(x), "side#0*x", "x", false},
      {sign(x), "side#0", "x", true},
      {max(x, y), "if(side#0 > 0, x, y)", "x - y", false},
      {min(x, y), "if(side#0 < 0, x, y)", "x - y", false},
      {select(x < 1, 2, 3), "if(side#0 < 0, 2, 3)", "x - 1", true},
      {select(x <= 1, 2, 3), "if(side#0 <= 0, 2, 3)", "x - 1", true},
      {select(x > 1, 2, 3), "if(side#0 > 0, 2, 3)", "x - 1", true},
      {select(x >= 1, 2, 3), "if(side#0 >= 0, 2, 3)", "x - 1", true},
      {select(0 < x, 2, 3), "if(side#0 > 0, 2, 3)", "x", true},
      {select(!(xd < 0) && x < y, 2, 3), "if(not side#0 < 0 and side#1 < 0, 2, 3)", "x'", true},
      {abs(-x), "-side#0*(-x)", "x", false},
  };
  for (const Case& c : cases) {
    const Frozen frozen = freeze_all({c.f});
    EXPECT_EQ(to_text(frozen.expressions.at(0)), c.frozen);
    EXPECT_EQ(to_text(frozen.switches.at(0).g), c.g) << c.frozen;
    EXPECT_EQ(frozen.switches.at(0).is_discontinuous, c.is_discontinuous) << c.frozen;
  }
}

/// An angle has its value up to the cut, to the last bit, and goes on smoothly beyond for as long as its side is held.
TEST(Switches, AnglesGoOnBeyondTheirCuts) {
  struct Angle {
    Expr f;
    double period;
  };
  for (const Angle& angle : {Angle{atan2(sin(x), cos(x)), 2 * M_PI},
                             {atan(tan(x)), M_PI},
                             {atan(sin(x) / cos(x)), M_PI},
                             {mod(x + M_PI, 2 * M_PI) - M_PI, 2 * M_PI}}) {
    const Machine machine(freeze_all({angle.f}));
    ASSERT_EQ(machine.frozen.switches.size(), 1u) << to_text(angle.f);
    EXPECT_TRUE(machine.frozen.switches[0].is_cut && machine.frozen.switches[0].is_discontinuous);
    const Tape original(std::vector<Expr>{angle.f}, symbols);
    for (double at = -9.97; at < 10.0; at += 0.05) {
      const std::vector<double> here{at, 0, 0}, sides = machine.sides_at(here);
      const double value = machine.values(here, sides)[0];
      EXPECT_EQ(value, original.operator()<double>(here)[0]) << at;
      for (const double ahead : {-0.7, -0.1, 0.1, 0.7})
        EXPECT_NEAR(machine.values({at + ahead, 0, 0}, sides)[0], value + ahead, 1e-14)
            << at << " " << to_text(angle.f);
    }
  }
  EXPECT_TRUE(freeze_all({atan2(p, 2), atan(x), atan(x / 2), atan(x / p)}).switches.empty());
}

TEST(Switches, WithoutKinksNothingChanges) {
  const std::vector<Expr> fs{sin(x) * xd + t, select(equal_to(x, y), x, y), hypot(x, y)};
  const Frozen frozen = freeze(fs);
  EXPECT_TRUE(frozen.switches.empty());
  for (std::size_t i = 0; i < fs.size(); ++i) EXPECT_TRUE(same(frozen.expressions[i], fs[i]));
}

TEST(Switches, WhatDoesNotChangeAlongAMotionIsLeft) {
  const Expr f = abs(p - 1) * x + max(p, 2) * select(p < 3, x, y);
  const Frozen frozen = freeze_all({f});
  EXPECT_TRUE(frozen.switches.empty());
  EXPECT_TRUE(same(frozen.expressions.at(0), f));
  // The side of another switch does not change either, until the step ends.
  const Frozen nested = freeze_all({abs(sign(x) - p)});
  ASSERT_EQ(nested.switches.size(), 1u);
  EXPECT_EQ(to_text(nested.expressions.at(0)), "abs(side#0 - p)");
}

TEST(Switches, EveryQuantityOfAMotionMakesASwitch) {
  for (const Expr& moving : {x, xd, t, make_symbol(SymbolKind::ideal_force, "x"),
                             make_symbol(SymbolKind::multiplier, "rod"), derivative_symbol(xd)})
    EXPECT_EQ(freeze_all({abs(moving - p)}).switches.size(), 1u) << to_text(moving);
}

TEST(Switches, OneFunctionIsOneSwitchHoweverItIsWritten) {
  const auto count = [](std::vector<Expr> fs) { return freeze(fs).switches.size(); };
  EXPECT_EQ(count({abs(x), sign(x), select(x < 0, 1, 2), select(0 >= x, 1, 2), abs(-x), sign(-(-x)), max(x, 0)}), 1u);
  EXPECT_EQ(count({select(x < 1, 1, 2), select(x > 1, 1, 2), select(1 <= x, 1, 2), abs(x - 1), abs(1 - x), max(1, x),
                   select(-x < -1, 1, 2), sign(-x + 1)}),
            1u);
  EXPECT_EQ(count({select(x < -2, 1, 2), abs(x + 2), abs(2 + x), max(x, -Expr(2)), abs(-x - 2)}), 1u);
  EXPECT_EQ(count({abs(-2 * x), abs(2 * x)}), 1u);
  EXPECT_EQ(count({max(x, y), min(y, x), abs(x - y), select(y < x, 1, 2)}), 1u);
  EXPECT_EQ(count({abs(x), abs(y), abs(x - 1), abs(x + 1)}), 4u);
}

TEST(Switches, AKinkAndItsDerivativeTurnTogether) {
  const Expr f = abs(sin(x) - y) * min(x, xd);
  std::vector<Expr> fs{f};
  for (const Expr& s : {x, y, xd}) fs.push_back(derivative(f, s));
  const Frozen frozen = freeze(fs);
  EXPECT_EQ(frozen.switches.size(), 2u);
  for (const Switch& s : frozen.switches) EXPECT_TRUE(s.is_discontinuous) << s.text;
}

TEST(Switches, InnerSwitchesComeFirst) {
  const Expr inner = abs(x) - 1, middle = max(abs(inner), y) - 2, outer = sign(middle);
  const Frozen frozen = freeze_all({outer, inner});
  ASSERT_EQ(frozen.switches.size(), 4u);
  for (std::size_t i = 0; i < frozen.switches.size(); ++i)
    for (const Expr& s : symbols_of(std::span(&frozen.switches[i].g, 1)))
      for (std::size_t j = i; j < frozen.switches.size(); ++j) EXPECT_FALSE(same(s, frozen.switches[j].side));
  EXPECT_EQ(frozen.switches[0].text, "abs(x)");
  EXPECT_EQ(frozen.switches[1].text, "abs(abs(x) - 1)");
}

TEST(Switches, WhatIsFrozenAlreadyKeepsItsSides) {
  const Frozen first = freeze_all({abs(x), abs(y)});
  const Frozen second = freeze_all({first.expressions[0] + first.expressions[1] + sign(x - y)});
  ASSERT_EQ(second.switches.size(), 1u);
  for (const Switch& s : first.switches) EXPECT_FALSE(same(s.side, second.switches[0].side));
}

/// Within a step the side of x > 0 is still that of before where x has passed zero, and log(x) has no value there.
TEST(Switches, AConditionThatIsDecidedElsewhereMayLackAnOperand) {
  const Expr guarded[] = {select(x > 0 && log(x) < 1, x, -x), select(log(x) < 1, x, -x)};
  const Machine machine(freeze(guarded));
  std::vector<double> at(symbols.size(), 0.5);
  const std::vector<double> sides = machine.sides_at(at);
  at[0] = -0.25;
  const std::vector<double> values = machine.values(at, sides);
  EXPECT_EQ(values[0], -0.25);
  EXPECT_TRUE(std::isnan(values[1]));
}

TEST(Switches, RandomExpressionsKeepTheirValueToTheLastBit) {
  int compared = 0, undefined = 0, with_switch = 0;
  for (unsigned seed = 0; seed < num_trials(3000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    // Kinks on top of expressions that are random themselves: several of them, sharing parts.
    std::vector<Expr> pool = symbols;
    for (int k = 0; k < 6; ++k) {
      const Expr a = random_expression(random, pool, {.num_operations = 4}),
                 b = random_expression(random, pool, {.num_operations = 2});
      switch (random() % 5) {
        case 0:
          pool.push_back(abs(a));
          break;
        case 1:
          pool.push_back(sign(a) * b);
          break;
        case 2:
          pool.push_back(min(a, b));
          break;
        case 3:
          pool.push_back(max(a, b));
          break;
        default:
          pool.push_back(select(a < b || !(b >= 1), a - b, b * 2));
      }
    }
    const std::vector<Expr> fs(pool.begin() + 3, pool.end());
    const Machine machine(freeze(fs));
    const Tape original(fs, symbols);
    with_switch += !machine.frozen.switches.empty();
    for (int point = 0; point < 5; ++point) {
      std::vector<double> at;
      for (std::size_t k = 0; k < symbols.size(); ++k)
        at.push_back(std::uniform_real_distribution<double>(-2, 2)(random));
      const std::vector<double> sides = machine.sides_at(at), g = machine.g_at(at, sides);
      // Exactly on a switch the sign of a zero may differ; another test looks there.
      if (std::find(g.begin(), g.end(), 0.0) != g.end()) continue;
      const std::vector<double> exact = original.operator()<double>(at), frozen = machine.values(at, sides);
      for (std::size_t i = 0; i < fs.size(); ++i) {
        // The difference of two infinite operands has no value, their comparison may have one.
        if (std::isnan(frozen[i]) && !std::isnan(exact[i]) && has_infinite_part(fs[i], symbols, at)) continue;
        EXPECT_TRUE(same_number(exact[i], frozen[i])) << to_text(fs[i]) << ": " << exact[i] << ", " << frozen[i];
        ++(std::isnan(exact[i]) ? undefined : compared);
      }
    }
  }
  EXPECT_GT(compared, static_cast<int>(num_trials(20000)));
  EXPECT_GT(undefined, static_cast<int>(num_trials(500)));
  EXPECT_GT(with_switch, static_cast<int>(num_trials(2800)));
}

TEST(Switches, RestingOnASwitchHasTheValueOfTheOriginal) {
  const std::vector<Expr> fs{abs(x),
                             sign(x),
                             max(x, 0),
                             min(0, x),
                             select(x < 0, 1, 2),
                             select(x <= 0, 1, 2),
                             select(0 < x, 1, 2),
                             select(0 <= x, 1, 2),
                             select(!(x >= 0), 1, 2)};
  const Machine machine(freeze(fs));
  ASSERT_EQ(machine.frozen.switches.size(), 1u);
  const std::vector<double> at{0.0, 0.0, 0.0}, resting{0.0};
  EXPECT_EQ(machine.values(at, resting), Tape(fs, symbols).operator()<double>(at));
}

TEST(Switches, HeldSidesContinueTheExpressionSmoothly) {
  const Expr f = abs(x) + max(x, 2 * x) + select(x < 0, -x, pow(x, 2));
  const Machine machine(freeze_all({f}));
  ASSERT_EQ(machine.frozen.switches.size(), 2u);  // x, and x − 2·x
  const std::vector<double> right = machine.sides_at({0.5, 0, 0}), left = machine.sides_at({-0.5, 0, 0});
  for (const double at : {-1.0, -1e-9, 0.0, 1e-9, 1.0}) {
    EXPECT_EQ(machine.values({at, 0, 0}, right).at(0), (at + 2 * at) + at * at);
    EXPECT_EQ(machine.values({at, 0, 0}, left).at(0), (-at + at) + -at);
  }
}

TEST(Switches, DerivativesOfFrozenExpressionsAreFrozenDerivatives) {
  int compared = 0;
  for (unsigned seed = 0; seed < num_trials(1000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Expr a = random_expression(random, symbols, {.num_operations = 5}),
               b = random_expression(random, symbols, {.num_operations = 5});
    const Expr f = abs(a) * max(a, b) + sign(b) * x;
    const Expr slope = derivative(f, x);
    Frozen frozen = freeze_all({f, slope});
    frozen.expressions.push_back(derivative(frozen.expressions[0], x));
    const Machine machine(std::move(frozen));
    for (int point = 0; point < 5; ++point) {
      std::vector<double> at;
      for (std::size_t k = 0; k < symbols.size(); ++k)
        at.push_back(std::uniform_real_distribution<double>(-2, 2)(random));
      const std::vector<double> v = machine.values(at, machine.sides_at(at));
      if (!std::isfinite(v[0]) || !std::isfinite(v[1]) || !std::isfinite(v[2])) continue;
      // The two differ in the order of operations. A slope near a pole amplifies that without limit: leave those out.
      if (std::abs(v[1]) > 1e6) continue;
      EXPECT_NEAR(v[1], v[2], 1e-9 * (1 + std::abs(v[1]))) << to_text(f);
      ++compared;
    }
  }
  EXPECT_GT(compared, static_cast<int>(num_trials(1500)));
}

TEST(Switches, BranchesThatAreNotTakenDoNotContaminate) {
  const Expr f = select(x > 0, abs(sqrt(x) - 1), 5) + max(select(x > 0, log(x), 0), -3);
  const Machine machine(freeze_all({f, derivative(f, x)}));
  const std::vector<double> sides = machine.sides_at({-1, 0, 0});
  const std::vector<double> v = machine.values({-1, 0, 0}, sides);
  EXPECT_EQ(v[0], 5.0);
  EXPECT_EQ(v[1], 0.0);
  const std::vector<double> g = machine.g_at({-1, 0, 0}, sides);
  EXPECT_TRUE(std::any_of(g.begin(), g.end(), [](double gi) { return std::isnan(gi); }));
}

TEST(Switches, WhatIsUndefinedStaysUndefined) {
  for (const Expr& f : {sign(sqrt(x)), max(sqrt(x), 1), min(1, sqrt(x)), abs(sqrt(x))}) {
    const Machine machine(freeze_all({f}));
    for (const double side : {-1.0, 0.0, 1.0})
      EXPECT_TRUE(std::isnan(machine.values({-1, 0, 0}, std::vector<double>{side}).at(0))) << to_text(f) << side;
  }
}

TEST(Switches, SidesStayWhereAFunctionHasNoSign) {
  std::vector<double> sides{1, -1, 1, -1, 1};
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(update_sides(std::vector<double>{0.0, nan, -1e-300, inf, 2.0}, sides));
  EXPECT_EQ(sides, (std::vector<double>{1, -1, -1, 1, 1}));
  EXPECT_FALSE(update_sides(std::vector<double>{0.0, nan, -1e-300, inf, 2.0}, sides));
}

TEST(Switches, AHundredThousandNestedKinksAreFrozen) {
  constexpr int depth = 100'000;
  // The value stays small: |…||x − 1| − 1|… − 1|; texts of expressions whose first letter is 100,000 nodes away; a sum
  // that is a tree of 2^100000 nodes when written out.
  Expr kinks = x, spine = x, doubled = y;
  for (int k = 0; k < depth; ++k) {
    kinks = abs(kinks - 1);
    spine = spine + x;
    if (k % 100 == 0) spine = spine - 0.001 * sign(spine);
    if (k < 1000) doubled = doubled + abs(doubled);
  }
  const std::vector<Expr> fs{kinks, spine, doubled};
  const Machine machine(freeze(fs));
  EXPECT_EQ(machine.frozen.switches.size(), static_cast<std::size_t>(depth + depth / 100 + 1000));
  for (const Switch& s : machine.frozen.switches) ASSERT_LT(s.text.size(), 200u);
  EXPECT_EQ(machine.frozen.switches.back().text.substr(0, 4), "abs(");

  // The original with its own signs, one pass: inner switches stand before outer ones.
  const std::vector<double> at{0.3, -0.7, 0.0};
  std::vector<double> sides;
  {
    double v = 0.3;
    for (int k = 0; k < depth; ++k) {
      sides.push_back(v - 1 < 0 ? -1.0 : 1.0);
      v = std::abs(v - 1);
    }
    sides.resize(machine.frozen.switches.size(), 1.0);
    for (int k = depth + depth / 100; k < depth + depth / 100 + 1000; ++k) sides[static_cast<std::size_t>(k)] = -1.0;
  }
  EXPECT_FALSE(update_sides(machine.g_at(at, sides), sides));
  EXPECT_EQ(machine.values(at, sides), Tape(fs, symbols).operator()<double>(at));
}

}  // namespace
}  // namespace mechanician
