#include "mechanician/plot/svg.hpp"

#include <gtest/gtest.h>

namespace mechanician {
namespace {

TEST(Svg, escapes_text_and_writes_short_numbers) {
  Drawing drawing;
  drawing.width = 100, drawing.height = 50.5;
  drawing.title = "a < b & \"c\"";
  DrawnPath path;
  path.role = "curve", path.label = "<x>", path.colour = 0x0072B2;
  path.lines = {{{0.5, 0.25}, {1.5, 0.25}, {1.0, -10.0}}, {{12, 13}, {12, 13.01}}};
  drawing.items.emplace_back(path);
  DrawnText text;
  text.text = {{"10", false}, {"\u22123", true}, {" m", false}};
  drawing.items.emplace_back(text);
  const std::string svg = svg_text(drawing);
  EXPECT_NE(svg.find("<title>a &lt; b &amp; &quot;c&quot;</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("viewBox=\"0 0 100 50.5\""), std::string::npos);
  EXPECT_NE(svg.find(" d=\"M.5 .25l1 0-.5-10.25M12 13l0 .01\"><title>&lt;x&gt;</title>"), std::string::npos) << svg;
  // What is raised comes down again.
  EXPECT_NE(svg.find("10<tspan dy=\"-4.18\" font-size=\"7.92\">\u22123</tspan><tspan dy=\"4.18\"> m</tspan>"),
            std::string::npos)
      << svg;
}

}  // namespace
}  // namespace mechanician
