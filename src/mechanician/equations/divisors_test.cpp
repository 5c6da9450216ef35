#include "mechanician/equations/divisors.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "mechanician/expression/print.hpp"

namespace mechanician {
namespace {

std::set<std::string> found(const Expr& f) {
  std::set<std::string> texts;
  for (const Expr& d : find_divisors(std::span(&f, 1))) texts.insert(to_text(d));
  return texts;
}

const Expr x = coordinate("x"), y = coordinate("y"), k = parameter("k"), t = time_symbol();

TEST(Divisors, are_what_stands_below_a_fraction_line_taken_apart) {
  EXPECT_EQ(found(1 / (pow(t - 1, 2) * x)), (std::set<std::string>{"t - 1", "x"}));
  EXPECT_EQ(found(sin(x / (y * sqrt(abs(x))))), (std::set<std::string>{"x", "y"}));
  EXPECT_EQ(found(pow(x * x + y * y, Expr(-1.5))), (std::set<std::string>{"x*x + y*y"}));
  EXPECT_EQ(found(1 / (x / y)), (std::set<std::string>{"x", "y"}));
}

TEST(Divisors, are_cosines_where_a_tangent_is_taken) {
  EXPECT_EQ(found(tan(x - t)), (std::set<std::string>{"cos(x - t)"}));
}

TEST(Divisors, are_not_what_stays_the_same_along_a_motion) {
  EXPECT_TRUE(found(x / k + y / (k * 3)).empty());
  EXPECT_TRUE(found(pow(x, 3) * y + sin(x)).empty());
}

TEST(Divisors, are_given_once) {
  const Expr fs[] = {1 / x, y / x, pow(x, -2)};
  EXPECT_EQ(find_divisors(fs).size(), 1u);
}

}  // namespace
}  // namespace mechanician
