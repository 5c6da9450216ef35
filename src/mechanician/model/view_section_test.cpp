// The section [view]: what is read, and what of it is refused (messages: tests/corpus/wrong_view.toml).

#include <gtest/gtest.h>

#include <cmath>

#include "mechanician/expression/tape.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

Model model_with(const std::string& view) {
  return read_model_text(
      "coordinates = [\"x\", \"y\", \"a\"]\n[parameters]\nL = 2.0\n[dynamics]\nkinetic = \"x'^2 + y'^2 + a'^2\"\n"
      "[constraints]\nrod = \"x^2 + y^2 = L^2\"\n[start]\nposition = { x = 2 }\n[outputs]\nreach = \"x + y\"\n" +
          view,
      "view.toml");
}

const ViewItem& item_of(const Model& model, std::string_view name) {
  for (const ViewItem& item : model.view->items)
    if (item.name == name) return item;
  throw std::runtime_error("no such item");
}

/// At x, y, a.
double value_of(const Expr& f, double x, double y, double a) {
  const std::vector<Expr> inputs{coordinate("x"), coordinate("y"), coordinate("a"), parameter("L")};
  const std::vector<double> values{x, y, a, 2.0};
  return Tape(std::vector<Expr>{f}, inputs)(std::span<const double>(values))[0];
}

TEST(ViewSection, AModelWithoutItHasNoView) { EXPECT_FALSE(model_with("").view); }

TEST(ViewSection, PointsAreNamedAndShapesHangOnThem) {
  const Model model = model_with(
      "[view.points]\nP = [\"L*cos(a)\", \"L*sin(a)\"]\n[view.rods]\nbar = { from = [\"0\", \"0\"], to = \"P\", radius "
      "= 0.1, "
      "colour = \"red\" }\n");
  const ViewItem& bar = item_of(model, "bar");
  EXPECT_EQ(bar.kind, ViewKind::rod);
  EXPECT_EQ(bar.colour, "red");
  ASSERT_EQ(bar.points.size(), 2u);
  EXPECT_TRUE(same(bar.points[1][0], item_of(model, "P").points[0][0]));
  EXPECT_DOUBLE_EQ(value_of(bar.points[1][1], 0, 0, 0.3), 2.0 * std::sin(0.3));
  EXPECT_EQ(model.view->dimension, 2);
}

TEST(ViewSection, AThirdComponentMakesItAPictureInSpace) {
  EXPECT_EQ(model_with("[view.points]\nP = [\"x\", \"y\", \"0\"]\n").view->dimension, 3);
  // The edges of a box do not.
  EXPECT_EQ(model_with("[view.boxes]\nb = { at = [\"x\", \"y\"], size = [1, 2, 3] }\n").view->dimension, 2);
}

TEST(ViewSection, OutputsAndReactionsMayBeUsed) {
  const Model model =
      model_with("[view.arrows]\nf = { at = [\"x\", \"y\"], vector = [\"reach\", \"ideal(y) + multiplier(rod)\"] }\n");
  const ViewItem& f = item_of(model, "f");
  EXPECT_DOUBLE_EQ(value_of(f.vector[0], 3, 4, 0), 7.0);
  EXPECT_TRUE(f.vector[1].contains(SymbolKind::ideal_force) && f.vector[1].contains(SymbolKind::multiplier));
}

TEST(ViewSection, TurnsAreTakenOneAfterTheOtherAboutTheAxesOfTheBody) {
  // Rz(x) Rx(y) as a matrix, beside the quaternion that was read.
  const Model model =
      model_with("[view.boxes]\nb = { at = [\"0\", \"0\"], size = [1, 1], turn = [[\"z\", \"x\"], [\"x\", \"y\"]] }\n");
  const ViewTurn& turn = item_of(model, "b").turn;
  ASSERT_EQ(turn.given, ViewTurn::Given::quaternion);
  const double x = 0.7, y = -1.1;
  double q[4];
  for (int i = 0; i < 4; ++i) q[i] = value_of(turn.values[static_cast<std::size_t>(i)], x, y, 0);
  const double w = q[0], i = q[1], j = q[2], k = q[3];
  // Where the y axis of the body points: Rz(x) (0, cos y, sin y).
  EXPECT_NEAR(2 * (i * j - w * k), -std::sin(x) * std::cos(y), 1e-15);
  EXPECT_NEAR(1 - 2 * (i * i + k * k), std::cos(x) * std::cos(y), 1e-15);
  EXPECT_NEAR(2 * (j * k + w * i), std::sin(y), 1e-15);
}

TEST(ViewSection, TruthValuesAndNumbersAreRead) {
  const Model model = model_with(
      "[view]\nforces = false\n[view.lines]\nl = { through = [[0, 0], [1, 0]], closed = true, dashed = false }\n"
      "[view.springs]\ns = { from = [0, 0], to = [\"x\", \"y\"], turns = 5 }\n[view.traces]\nt = { of = [\"x\", "
      "\"y\"], seconds = 3 }\n"
      "[view.camera]\nheight = \"2*L\"\n");
  EXPECT_FALSE(model.view->forces);
  EXPECT_TRUE(item_of(model, "l").closed);
  EXPECT_FALSE(item_of(model, "l").dashed);
  EXPECT_EQ(item_of(model, "s").turns, 5);
  EXPECT_TRUE(item_of(model, "t").seconds);
  EXPECT_DOUBLE_EQ(value_of(*model.view->camera.height, 0, 0, 0), 4.0);
}

TEST(ViewSection, MistakesAreReportedAllAtOnce) {
  try {
    model_with(
        "[view.points]\nP = [\"x\"]\n[view.rods]\nr = [\"Q\", \"P\"]\n[view.traces]\nt = { of = \"P\", colour = "
        "\"beige\" }\n");
    FAIL() << "accepted";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.problems().size(), 3u) << e.what();
  }
}

}  // namespace
}  // namespace mechanician
