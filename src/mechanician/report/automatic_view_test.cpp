#include "mechanician/report/automatic_view.hpp"

#include <gtest/gtest.h>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

std::optional<View> view_of(const std::string& text) {
  Model model = read_model_text(text, "test.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  const State start = state_of(start_state(model, parameters));
  const System system(std::move(model), parameters.values);
  return automatic_view(system, start);
}

int count(const View& view, ViewKind kind) {
  int n = 0;
  for (const ViewItem& item : view.items) n += item.kind == kind;
  return n;
}

const std::string plane =
    "coordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\n[dynamics]\nkinetic = \"x1'^2 + y1'^2 + x2'^2 + "
    "y2'^2\"\n[start]\nposition = { x1 = 1, x2 = 2 }\n";

TEST(AutomaticView, PointsJoinedByADistanceAreJoinedByARod) {
  // However the distance is written.
  for (const char* second :
       {"(x2 - x1)^2 + (y2 - y1)^2 = 1", "sqrt((x1 - x2)^2 + (y1 - y2)^2) = 1", "hypot(x2 - x1, y2 - y1) - 1 = 0"}) {
    const auto view = view_of(plane + "[constraints]\nfirst = \"x1^2 + y1^2 = 1\"\nsecond = \"" + second + "\"\n");
    ASSERT_TRUE(view) << second;
    EXPECT_EQ(view->dimension, 2);
    EXPECT_EQ(count(*view, ViewKind::rod), 2) << second;
    EXPECT_EQ(count(*view, ViewKind::point), 3) << "two points and the place where the first rod is held";
    EXPECT_TRUE(view->automatic);
  }
}

TEST(AutomaticView, TheFixedEndOfARodIsFoundFromItsEquation) {
  const auto view = view_of(plane + "[constraints]\nrod = \"(x1 - 3)^2 + (y1 + 4)^2 = 20\"\n");
  ASSERT_TRUE(view);
  for (const ViewItem& item : view->items)
    if (item.kind == ViewKind::rod) {
      EXPECT_NEAR(item.points[0][0].value(), 3.0, 1e-9);
      EXPECT_NEAR(item.points[0][1].value(), -4.0, 1e-9);
    }
  EXPECT_EQ(count(*view, ViewKind::rod), 1);
}

TEST(AutomaticView, OtherConstraintsAreNoRods) {
  for (const char* equation : {"x1 = 1", "x1^2 + 2*y1^2 = 1", "x1*x2 + y1*y2 = 2", "(x2 - x1)^2 + 2*(y2 - y1)^2 = 1",
                               "x1^2 + y1^2 = (1 + t)^2", "x1*x2 = 2"}) {
    const auto view = view_of(plane + "[constraints]\nc = \"" + equation + "\"\n");
    ASSERT_TRUE(view);
    EXPECT_EQ(count(*view, ViewKind::rod), 0) << equation;
  }
  // In space a cylinder keeps no point at a distance from a place.
  const auto view = view_of(
      "coordinates = [\"x\", \"y\", \"z\"]\n[dynamics]\nkinetic = \"x'^2 + y'^2 + z'^2\"\n[constraints]\nc = \"x^2 + "
      "y^2 = 1\"\n[start]\nposition = { x = 1 }\n");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->dimension, 3);
  EXPECT_EQ(count(*view, ViewKind::rod), 0);
}

TEST(AutomaticView, ALinearOneSidedConstraintIsAFloor) {
  const auto view = view_of(plane + "[constraints]\nfloor = \"y1 + 2*x1 >= -5\"\nbowl = \"x2^2 + y2^2 <= 9\"\n");
  ASSERT_TRUE(view);
  ASSERT_EQ(count(*view, ViewKind::ground), 1);
  EXPECT_EQ(count(*view, ViewKind::rod), 0);
  for (const ViewItem& item : view->items)
    if (item.kind == ViewKind::ground) {
      EXPECT_NEAR(item.points[0][1].value() + 2 * item.points[0][0].value(), -5.0, 1e-9);
      EXPECT_NEAR(item.vector[0].value(), 2 * item.vector[1].value(), 1e-12);
      EXPECT_GT(item.vector[1].value(), 0.0);
    }
}

TEST(AutomaticView, UpIsAgainstTheWeight) {
  const auto up = [](const char* potential) {
    const auto view = view_of(
        std::string(
            "coordinates = [\"x\", \"y\", \"z\"]\n[dynamics]\nkinetic = \"x'^2 + y'^2 + z'^2\"\npotential = \"") +
        potential + "\"\n");
    return view->camera.up->at(1).value();
  };
  EXPECT_EQ(up("9.81*y"), 1.0);
  EXPECT_EQ(up("9.81*z"), 0.0);
}

TEST(AutomaticView, APlaneThroughXAndZIsDrawnUpright) {
  const auto view = view_of("coordinates = [\"x\", \"z\"]\n[dynamics]\nkinetic = \"x'^2 + z'^2\"\n");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->dimension, 2);
  EXPECT_TRUE(same(view->items[0].points[0][1], coordinate("z")));
}

TEST(AutomaticView, AnglesAloneGiveNoPicture) {
  EXPECT_FALSE(view_of("coordinates = [\"a\", \"b\"]\n[dynamics]\nkinetic = \"a'^2 + b'^2\"\n"));
  EXPECT_FALSE(view_of("coordinates = [\"x\", \"theta\"]\n[dynamics]\nkinetic = \"x'^2 + theta'^2\"\n"));
}

TEST(AutomaticView, MassesOnALineAreDrawnOnIt) {
  const auto view = view_of("coordinates = [\"x1\", \"x2\"]\n[dynamics]\nkinetic = \"x1'^2 + x2'^2\"\n");
  ASSERT_TRUE(view);
  EXPECT_EQ(count(*view, ViewKind::point), 2);
}

}  // namespace
}  // namespace mechanician
