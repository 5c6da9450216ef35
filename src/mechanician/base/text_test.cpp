#include "mechanician/base/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {
namespace {

TEST(Text, NamesMayBeOfAnyAlphabet) {
  for (const char* name : {"x", "_x", "x1", "θ", "λ_2", "ångström", "速度", "ж"}) EXPECT_TRUE(is_name(name)) << name;
  for (const char* name : {"", "1x", "x y", "x-y", "x'", "²", "x²", "→", "\xff", "x\xc3"})
    EXPECT_FALSE(is_name(name)) << name;
}

TEST(Text, TheNearestNameIsTheOneThatWasMeant) {
  const std::vector<std::string> known{"length", "mass", "gravity", "Length2", "x", "theta"};
  EXPECT_EQ(nearest("lenght", known), "length");
  EXPECT_EQ(nearest("mas", known), "mass");
  EXPECT_EQ(nearest("Gravity", known), "gravity");
  EXPECT_EQ(nearest("teta", known), "theta");
  EXPECT_EQ(nearest("y", known), "");
  EXPECT_EQ(nearest("X", known), "x");
  EXPECT_EQ(nearest("entirely_else", known), "");
  EXPECT_EQ(nearest(std::string(10000, 'a'), known), "");
}

TEST(Text, ListsReadLikeSentences) {
  const std::vector<std::string> three{"a", "b", "c"};
  EXPECT_EQ(join_and(three), "a, b and c");
  EXPECT_EQ(quote_list(three, 2), "`a`, `b` and 1 more");
  EXPECT_EQ(count_noun(1, "row"), "1 row");
  EXPECT_EQ(count_noun(2, "row"), "2 rows");
}

TEST(Text, Utf8IsDecodedStrictly) {
  EXPECT_EQ(decode_utf8("é", 0).value, U'é');
  EXPECT_EQ(decode_utf8("𝜃", 0).length, 4);
  EXPECT_FALSE(decode_utf8("\xc0\x80", 0).valid);      // overlong
  EXPECT_FALSE(decode_utf8("\xed\xa0\x80", 0).valid);  // surrogate
  EXPECT_FALSE(decode_utf8("\xe2\x82", 0).valid);      // cut
  EXPECT_EQ(count_code_points("θ = 𝜃"), 5u);
}

TEST(Diagnostic, ShowsPlaceCaretsAndHint) {
  const SourceText source{"m.toml", "a = 1\nrod = \"x^2 = lenght\"\n"};
  EXPECT_EQ(render({{{2, 14, 6}, "unknown name `lenght`", "did you mean `length`?"}}, source),
            "m.toml:2:14: error: unknown name `lenght`\n"
            "     2 | rod = \"x^2 = lenght\"\n"
            "       |              ^^^^^^\n"
            "       = did you mean `length`?");
}

TEST(Diagnostic, CountsColumnsInCodePoints) {
  EXPECT_EQ(render({{{1, 5, 1}, "here", ""}}, {"m.toml", "θλ = μ"}),
            "m.toml:1:5: error: here\n"
            "     1 | θλ = μ\n"
            "       |     ^");
}

TEST(Diagnostic, DoesNotLetAFileDriveTheTerminal) {
  const std::string shown = render({{{1, 1, 1}, "here", ""}}, {"m.toml", "\x1b[2J\x07 \xff \xe2\x80\xae\n"});
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_EQ(shown.find('\xff'), std::string::npos);
  EXPECT_EQ(shown.find("\xe2\x80\xae"), std::string::npos);
}

TEST(Diagnostic, CutsLongLinesAroundThePlace) {
  const std::string line = std::string(5000, 'a') + "!" + std::string(5000, 'b');
  const std::string shown = render({{{1, 5001, 1}, "here", ""}}, {"m.toml", line});
  EXPECT_LT(shown.size(), 600u);
  EXPECT_NE(shown.find("a!b"), std::string::npos);
}

TEST(Diagnostic, ListsProblemsByPlaceAndCapsTheirNumber) {
  std::vector<Problem> problems;
  for (int i = 60; i > 0; --i) problems.push_back({{i, 1, 1}, "p" + std::to_string(i), ""});
  const ModelError error(problems, {"m.toml", ""});
  EXPECT_EQ(error.problems().front().message, "p1");
  EXPECT_NE(std::string(error.what()).find("… and 10 more"), std::string::npos);
}

}  // namespace
}  // namespace mechanician
