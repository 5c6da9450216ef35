#include "mechanician/report/report_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "mechanician/output/json_writer.hpp"

namespace mechanician {
namespace {

/// Undoes \uXXXX (up to U+07FF, which is enough here) and the short escapes: a reader that knows nothing of the writer.
std::string unescaped(const std::string& json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '\\') {
      out += json[i];
      continue;
    }
    const char c = json.at(++i);
    if (c == 'n')
      out += '\n';
    else if (c == 't')
      out += '\t';
    else if (c != 'u')
      out += c;
    else {
      const unsigned u = static_cast<unsigned>(std::stoul(json.substr(i + 1, 4), nullptr, 16));
      i += 4;
      if (u < 0x80)
        out += static_cast<char>(u);
      else if (u < 0x800)
        out += static_cast<char>(0xC0 | u >> 6), out += static_cast<char>(0x80 | (u & 63));
      else
        out += static_cast<char>(0xE0 | u >> 12), out += static_cast<char>(0x80 | (u >> 6 & 63)),
            out += static_cast<char>(0x80 | (u & 63));
    }
  }
  return out;
}

TEST(ReportText, NoStringCanEndAScriptElement) {
  const std::vector<std::string> pieces{"</script>", "<!--",    "<script>", "]]>",    "&lt;",   "'",    "\"",
                                        "\\",        "\\u003c", "`",        "\n",     "\t",     "a",    "é",
                                        "\u202e",    "\u2028",  "\u200f",   "\u2066", "\ufeff", "\x01", "\x7f"};
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int k = 0; k < 12; ++k) text += pieces[random() % pieces.size()];
    JsonWriter json;
    json.value(text);
    const std::string safe = safe_in_script(json.text());
    EXPECT_EQ(safe.find_first_of("<>&'`"), std::string::npos) << safe;
    for (const char* mark : {"\u202e", "\u2028", "\u200f", "\u2066", "\ufeff"})
      EXPECT_EQ(safe.find(mark), std::string::npos) << safe;
    EXPECT_EQ(unescaped(safe), "\"" + text + "\"\n") << "seed 5, round " << round;
  }
}

TEST(ReportText, MarksBeyondTheBasicPlaneAreWrittenAsTwoUnits) {
  EXPECT_EQ(safe_in_script("\U000E0041"), "\\udb40\\udc41");
  EXPECT_EQ(safe_in_script("\U0001D54F θ"), "\U0001D54F θ");
}

TEST(ReportText, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(safe_in_script("\"\xff\""), "\"\\ufffd\"");
  EXPECT_EQ(shortened("a\xff"
                      "b"),
            "a\uFFFDb");
}

TEST(ReportText, LongNamesEndInDots) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(shortened("θθθθ", 3), "θθ…");
}

TEST(ReportText, NumbersAreBase64OfTheirBytes) {
  const double numbers[] = {1.0, -2.5};
  EXPECT_EQ(base64_of(std::span<const double>(numbers)), "AAAAAAAA8D8AAAAAAAAEwA==");
  const float one[] = {1.0f};
  EXPECT_EQ(base64_of(std::span<const float>(one)), "AACAPw==");
  EXPECT_EQ(base64_of(std::span<const double>()), "");
}

TEST(ReportText, TheCommentAboveAModelIsItsDescription) {
  EXPECT_EQ(opening_comment("# One\n# two.\n#\n# Three.\n# See: four\n# five\n# Try: six\n\ntitle = \"x\"\n# seven\n"),
            "One two.\nThree.\nSee: four five\nTry: six");
  EXPECT_EQ(opening_comment("title = \"x\"\n# no\n"), "");
}

}  // namespace
}  // namespace mechanician
