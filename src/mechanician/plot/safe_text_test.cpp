#include "mechanician/plot/safe_text.hpp"

#include <gtest/gtest.h>

#include "mechanician/base/text.hpp"
#include "mechanician/plot/svg.hpp"

namespace mechanician {
namespace {

TEST(SafeText, keeps_letters_and_drops_what_steers) {
  EXPECT_EQ(safe_text("Qc(x) ẋ 𝑥 <b>"), "Qc(x) ẋ 𝑥 <b>");
  EXPECT_EQ(safe_text("a\nb\tc"), "a b c");
  EXPECT_EQ(safe_text("\x1b[31m"), "\uFFFD[31m");
  EXPECT_EQ(safe_text("a\u202Eb\u2066"), "a\uFFFDb\uFFFD");
  EXPECT_EQ(safe_text("\xff\xc3"), "\uFFFD\uFFFD");
  EXPECT_EQ(safe_text(std::string_view("\0", 1)), "\uFFFD");
  EXPECT_EQ(safe_text("\xc2\x9b"), "\uFFFD");  // a control sequence introducer of one character
}

TEST(SafeText, is_cut_at_characters) {
  EXPECT_EQ(elided("äöüß", 4), "äöüß");
  EXPECT_EQ(elided("äöüß", 3), "äö…");
  EXPECT_EQ(elided("", 3), "");
}

TEST(SafeText, every_byte_gives_text_that_xml_allows) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string safe = safe_text(std::string{static_cast<char>(a), static_cast<char>(b)});
      for (std::size_t i = 0; i < safe.size();) {
        const CodePoint c = decode_utf8(safe, i);
        ASSERT_TRUE(c.valid && c.value >= 0x20 && c.value != 0x7F) << a << " " << b;
        i += static_cast<std::size_t>(c.length);
      }
    }
}

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
