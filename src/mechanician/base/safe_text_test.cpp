#include "mechanician/base/safe_text.hpp"

#include <gtest/gtest.h>

#include "mechanician/base/text.hpp"

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

TEST(SafeText, lines_stay_lines) {
  EXPECT_EQ(safe_lines("a\n  b\n"), "a\n  b\n");
  EXPECT_EQ(safe_lines("a\x1b[2J\n\u009b1m\r\tb\u202E"), "a\uFFFD[2J\n\uFFFD1m  b\uFFFD");
}

}  // namespace
}  // namespace mechanician
