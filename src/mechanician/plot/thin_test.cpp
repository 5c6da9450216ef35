#include "mechanician/plot/thin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace mechanician {
namespace {

const Box box{0, 0, 500, 300};

/// An axis on which a value is its pixel.
Axis plain_axis(double size) {
  Axis axis;
  axis.range = {0, size};
  return axis;
}
const Axis x_axis = plain_axis(500), y_axis = plain_axis(300);

Strokes strokes_of(const std::vector<double>& x, const std::vector<double>& y, std::vector<char> jump = {}) {
  jump.resize(x.size(), 0);
  return make_strokes({x, y, jump}, x_axis, y_axis, box);
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double s = length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0);
  return std::hypot(p.x - a.x - s * dx, p.y - a.y - s * dy);
}

double distance(Point p, const std::vector<Polyline>& lines) {
  double best = INFINITY;
  for (const Polyline& line : lines)
    for (std::size_t i = 1; i < line.size(); ++i) best = std::min(best, distance(p, line[i - 1], line[i]));
  return best;
}

TEST(Thin, every_row_is_on_the_curve_and_every_vertex_is_a_row) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    const std::size_t n = 50 + seed * 15;
    std::vector<double> x, y;
    const bool wiggles = seed % 3 == 0, goes_back = seed % 2 == 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double s = static_cast<double>(i) / static_cast<double>(n);
      x.push_back(goes_back ? 250 + 200 * std::cos(9 * s) : 499 * s);
      y.push_back(150 + 100 * std::sin((seed % 7) * 3 * s) + (wiggles ? 20 * unit(random) : 0));
    }
    const Strokes strokes = strokes_of(x, y);
    std::size_t vertices = 0;
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_LT(distance({x[i], 300 - y[i]}, strokes.lines), 0.05 + 0.02) << "row " << i;
    for (const Polyline& line : strokes.lines)
      for (const Point p : line) {
        double best = INFINITY;
        for (std::size_t i = 0; i < n; ++i) best = std::min(best, std::hypot(p.x - x[i], p.y - (300 - y[i])));
        ASSERT_LT(best, 0.0101 * M_SQRT1_2 * 1.01);
        ++vertices;
      }
    EXPECT_LE(vertices, n);
  }
}

TEST(Thin, a_million_rows_are_few_points_with_all_extremes) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> x, y;
  for (int i = 0; i < 1000000; ++i) {
    x.push_back(500.0 * i / 1000000);
    y.push_back(100 + 20 * unit(random));
  }
  y[123456] = 290, y[777777] = 3;
  const Strokes strokes = strokes_of(x, y);
  ASSERT_EQ(strokes.lines.size(), 1u);
  EXPECT_LE(strokes.lines[0].size(), 4000u);
  double low = INFINITY, high = -INFINITY;
  for (const Point p : strokes.lines[0]) low = std::min(low, p.y), high = std::max(high, p.y);
  EXPECT_EQ(low, 10);
  EXPECT_EQ(high, 297);
}

TEST(Thin, a_straight_line_is_two_points) {
  std::vector<double> x, y;
  for (int i = 0; i <= 1000; ++i) x.push_back(i / 2.0), y.push_back(i / 4.0);
  const Strokes strokes = strokes_of(x, y);
  ASSERT_EQ(strokes.lines.size(), 1u);
  EXPECT_EQ(strokes.lines[0].size(), 2u);
}

TEST(Thin, lines_end_where_values_do_and_single_rows_are_kept) {
  const Strokes strokes = strokes_of({1, 2, 3, 4, 5, 6, 7}, {1, 2, NAN, 4, NAN, INFINITY, 7});
  ASSERT_EQ(strokes.lines.size(), 1u);
  ASSERT_EQ(strokes.lone.size(), 2u);
  EXPECT_EQ(strokes.lone[0].x, 4);
  EXPECT_EQ(strokes.lone[1].x, 7);
}

TEST(Thin, a_jump_is_apart_from_the_line) {
  const Strokes strokes = strokes_of({0, 10, 10, 20}, {100, 50, 200, 150}, {0, 1, 0, 0});
  EXPECT_EQ(strokes.lines.size(), 2u);
  ASSERT_EQ(strokes.jumps.size(), 1u);
  EXPECT_EQ(strokes.jumps[0], (Polyline{{10, 250}, {10, 100}}));
}

TEST(Thin, what_is_outside_is_cut_off_at_the_edge) {
  const Strokes strokes = strokes_of({-100, 100, 600}, {100, 200, 200});
  ASSERT_EQ(strokes.lines.size(), 1u);
  EXPECT_EQ(strokes.lines[0], (Polyline{{0, 150}, {100, 100}, {500, 100}}));
  EXPECT_TRUE(strokes_of({-100, -50}, {1, 2}).lines.empty());
}

TEST(Thin, a_way_that_is_gone_again_and_again_is_drawn_once) {
  std::vector<double> x, y;
  for (int i = 0; i < 400000; ++i) {
    x.push_back(250 + 140 * std::cos(0.05 * i));
    y.push_back(150 + 140 * std::sin(0.05 * i));
  }
  const Strokes strokes = strokes_of(x, y);
  std::size_t count = 0;
  for (const Polyline& line : strokes.lines) count += line.size();
  EXPECT_LT(count, 100000u);
  for (int i = 0; i < 400000; i += 997) ASSERT_LT(distance({x[i], 300 - y[i]}, strokes.lines), 0.5);
}

}  // namespace
}  // namespace mechanician
