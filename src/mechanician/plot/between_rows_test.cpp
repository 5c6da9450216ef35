#include "mechanician/plot/between_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mechanician {
namespace {

using Columns = std::vector<std::vector<double>>;

/// t, y, y' of a function at rows h apart.
template <class F, class D>
Columns table(double to, double h, F f, D d) {
  Columns c(3);
  for (double t = 0; t <= to + 1e-9; t += h) c[0].push_back(t), c[1].push_back(f(t)), c[2].push_back(d(t));
  return c;
}

std::vector<char> add(Columns& columns, std::vector<char> jump = {}) {
  jump.resize(columns[0].size(), 0);
  const DerivativePair pair{1, 2};
  const std::vector<char> added = add_rows_between(columns, 0, std::span(&pair, 1), jump);
  EXPECT_EQ(added.size(), columns[0].size());
  EXPECT_EQ(jump.size(), columns[0].size());
  return added;
}

TEST(BetweenRows, follow_a_smooth_motion_to_fourth_order) {
  for (const double h : {0.05, 0.1, 0.2, 0.4}) {
    Columns c = table(
        12, h, [](double t) { return std::sin(t); }, [](double t) { return std::cos(t); });
    const std::size_t rows = c[0].size();
    const auto added = add(c);
    EXPECT_GT(c[0].size(), rows);
    EXPECT_EQ(static_cast<std::size_t>(std::count(added.begin(), added.end(), 0)), rows);
    for (std::size_t i = 0; i < c[0].size(); ++i) {
      ASSERT_NEAR(c[1][i], std::sin(c[0][i]), 1.01 * h * h * h * h / 384 + 1e-15) << "h " << h << " t " << c[0][i];
    }
    for (std::size_t i = 1; i < c[0].size(); ++i) {
      // Straight lines through all of them are as near as asked for.
      const double middle = (c[0][i] + c[0][i - 1]) / 2;
      ASSERT_NEAR((c[1][i] + c[1][i - 1]) / 2, std::sin(middle), 1.05 * 2e-4 + h * h * h * h / 384)
          << "h " << h << " t " << middle;
    }
  }
}

TEST(BetweenRows, nothing_is_made_up_where_a_derivative_is_of_the_other_side) {
  // Slides, slows down and stops at t = 1: the row there has the acceleration from before.
  Columns c = table(
      2, 0.25, [](double t) { return t < 1 ? 1 - t : 0.0; }, [](double t) { return t <= 1 ? -1.0 : 0.0; });
  add(c);
  for (std::size_t i = 0; i < c[0].size(); ++i) ASSERT_NEAR(c[1][i], std::max(0.0, 1 - c[0][i]), 1e-15);
}

TEST(BetweenRows, nothing_is_made_up_where_names_lie) {
  // A column that is called like a derivative and is none.
  Columns c = table(
      3, 0.1, [](double t) { return t * t; }, [](double t) { return 40 * std::sin(50 * t); });
  const Columns before = c;
  add(c);
  EXPECT_EQ(c, before);
}

TEST(BetweenRows, jumps_gaps_and_straight_lines_stay) {
  Columns c{{0, 1, 1, 2, 3, 4}, {0, 1, 5, 6, NAN, 8}, {0, 2, -9, 9, 1, 1}};
  const Columns before = c;
  const auto added = add(c, {0, 1, 0, 0, 0, 0});
  for (std::size_t i = 0; i + 1 < c[0].size(); ++i)
    if (c[0][i] == 1 && c[0][i + 1] == 1) {
      EXPECT_EQ(c[1][i], 1);
      EXPECT_EQ(c[1][i + 1], 5);
    }
  EXPECT_EQ(std::count(added.begin(), added.end(), 0), 6);
  for (std::size_t i = 0; i < c[0].size(); ++i)
    if (c[0][i] > 2 && added[i]) ADD_FAILURE() << "between rows without a value";
  Columns line = table(
      5, 0.5, [](double t) { return 3 * t; }, [](double) { return 3.0; });
  const std::size_t rows = line[0].size();
  add(line);
  EXPECT_EQ(line[0].size(), rows);
}

}  // namespace
}  // namespace mechanician
