#include "mechanician/model/constant_text.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <string>

namespace mechanician {
namespace {

TEST(ConstantText, NumbersAndExpressionsOfNumbers) {
  EXPECT_EQ(constant_value("0.5"), 0.5);
  EXPECT_EQ(constant_value("+1e-3"), 1e-3);
  EXPECT_EQ(constant_value("-2"), -2.0);
  EXPECT_EQ(constant_value("2*pi"), 2.0 * std::numbers::pi);
  EXPECT_EQ(constant_value("sqrt(16)/2"), 2.0);
  EXPECT_EQ(constant_value("-(1 + 2)^2"), -9.0);
  EXPECT_EQ(constant_value("max(1, 2)"), 2.0);
}

TEST(ConstantText, NothingElse) {
  for (const char* no : {"",         " ",    "two",  "t",   "x'",  "1e999", "inf", "nan",  "1/0",
                         "sqrt(-1)", "2*",   "(1",   "+-1", "m*2", "1,5",   "1 2", "x[1]", "sum(i = 1..2, i)",
                         "ideal(x)", "0x10", "1 = 1"})
    EXPECT_FALSE(constant_value(no)) << no;
  EXPECT_FALSE(constant_value(std::string(100000, '(')));
}

}  // namespace
}  // namespace mechanician
