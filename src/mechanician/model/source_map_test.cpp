#include "mechanician/model/source_map.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/model/toml_source.hpp"

namespace mechanician {
namespace {

/// A text of pieces, some of them letters of several bytes.
std::string random_text(std::mt19937_64& random, const std::vector<std::string>& pieces, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += pieces[random() % pieces.size()];
  return text;
}

TEST(SourceMap, AgreesWithCountingLinesAndColumnsOneByOne) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::string text =
        random_text(random, {"a", "θ", "\n", "𝛼", " ", "bcd", seed % 2 == 0 ? "x" : "\r\n"}, seed < 15 ? 300 : 4000);
    const SourceMap map(text);
    int line = 1, column = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
      const Place place = map.place_of(i, i + 1);
      ASSERT_EQ(place.line, line) << i;
      ASSERT_EQ(place.column, column) << i;
      ASSERT_EQ(map.offset_of(static_cast<std::size_t>(line), static_cast<std::size_t>(column)), i);
      if (text[i] == '\n')
        ++line, column = 1;
      else
        ++column;
    }
  }
}

TEST(SourceMap, CountsTheLengthInCodePoints) {
  const SourceMap map("ab θθ c");
  EXPECT_EQ(map.place_of(3, 7).length, 2);
  EXPECT_EQ(map.place_of(3, 3).length, 1);
}

TEST(SourceMap, PutsWhatLiesBehindTheTextAtItsEnd) {
  const SourceMap map("ab\ncd");
  EXPECT_EQ(map.place_of(99, 100).line, 2);
  EXPECT_EQ(map.place_of(99, 100).column, 3);
  EXPECT_EQ(map.offset_of(9, 1), 5u);
  EXPECT_EQ(SourceMap("").place_of(0, 1).line, 1);
}

// toml++ is the oracle of what a string means; the walk over the raw text must agree with it byte by byte.
TEST(RawOffset, FindsEveryByteOfRandomStrings) {
  const std::vector<std::string> basic = {"a",    "θ",       " ",           "\\n", "\\t",    "\\\\",
                                          "\\\"", "\\u03b8", "\\U0001D6FC", "'",   "\\u0078"};
  const std::vector<std::string> basic_lines = {"a",   "θ",  "\n",    "\r\n",    "\\\n   ", "\\  \r\n\t ",
                                                "\\n", "\"", "\"\" ", "\\u03b8", "x",       "\\\""};
  const std::vector<std::string> literal = {"a", "θ", "\\", "\"", " ", "b"};
  const std::vector<std::string> literal_lines = {"a", "θ", "\n", "\r\n", "\\", "\"", "' ", "''x"};
  int read = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string text = seed % 3 == 0 ? "# θ\n" : "";
    text += "k = ";
    const std::size_t opening = text.size();
    if (seed % 4 == 0) text += "\"" + random_text(random, basic, 20) + "\"";
    if (seed % 4 == 1) text += "\"\"\"" + random_text(random, basic_lines, 20) + "\"\"\"";
    if (seed % 4 == 2) text += "'" + random_text(random, literal, 20) + "'";
    if (seed % 4 == 3) text += "'''" + random_text(random, literal_lines, 20) + "'''";
    text += "\n";
    const SourceMap map(text);
    const TomlDocument document = parse_toml(map);
    if (!document.problems.empty()) continue;  // three marks in a row: another string than was meant
    ++read;
    ASSERT_EQ(document.root.members.size(), 1u);
    const TomlValue& value = document.root.members.front().value;
    ASSERT_EQ(value.begin, opening);
    EXPECT_EQ(decode_string(text, opening), value.text);
    std::size_t before = opening;
    for (std::size_t i = 0; i < value.text.size(); ++i) {
      const std::size_t at = raw_offset(text, opening, i);
      ASSERT_GE(at, before);
      ASSERT_LT(at, text.size());
      if (text[at] != '\\' && text[at] != '\r') {
        EXPECT_EQ(text[at], value.text[i]);
      }
      before = at;
    }
    const std::size_t closing = raw_offset(text, opening, value.text.size());
    EXPECT_EQ(text[closing], text[opening]);
  }
  EXPECT_GT(read, 300);
}

TEST(Printable, SpellsOutWhatCouldDriveATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a<U+001B>[2Jb");
  EXPECT_EQ(printable("a\u202eb\u200bc\ufeff"), "a<U+202E>b<U+200B>c<U+FEFF>");
  EXPECT_EQ(printable("θ → x\ty\nz"), "θ → x y z");
  EXPECT_EQ(printable("\xff"), "<U+00FF>");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(mechanician::quoted("rod"), "`rod`");
}

}  // namespace
}  // namespace mechanician
