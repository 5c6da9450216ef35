#include "mechanician/base/csv.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace mechanician {
namespace {

std::vector<std::vector<std::string>> rows_of(std::string_view text) {
  CsvText csv(text);
  std::vector<std::vector<std::string>> rows{csv.names()};
  while (csv.next()) {
    rows.emplace_back();
    for (const std::string_view field : csv.fields()) rows.back().push_back(csv_unquoted(field));
  }
  return rows;
}

std::string trouble_of(std::string_view text) {
  try {
    rows_of(text);
  } catch (const CsvError& e) {
    return fmt::format("{}: {}", e.line, e.what());
  }
  return "";
}

using Rows = std::vector<std::vector<std::string>>;

TEST(Csv, FieldsQuotesAndSeparators) {
  EXPECT_EQ(rows_of("a,b\n1,2\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF# made by hand\r\n\r\na; \"b;c\" \r\n1 ;\"2\"\"\"\r\n# no\n3;4"),
            (Rows{{"a", "b;c"}, {"1", "2\""}, {"3", "4"}}));
  EXPECT_EQ(rows_of("a\tb\n1\t\n"), (Rows{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(rows_of("x[1,2],Qc(y[2,1])\n1,2\n"), (Rows{{"x[1,2]", "Qc(y[2,1])"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a(,b\n1,2\n"), (Rows{{"a(", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a,\"b\nc\"\n1,\"2\n3\"\n"), (Rows{{"a", "b\nc"}, {"1", "2\n3"}}));
  EXPECT_EQ(rows_of(""), (Rows{{}}));
  EXPECT_EQ(rows_of("# nothing\n\n"), (Rows{{}}));
}

TEST(Csv, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_EQ(trouble_of("m\n1,5\n"), "2: 2 values for 1 column");
  EXPECT_EQ(trouble_of("m,n\n\n1\n"), "3: 1 value for 2 columns");
  EXPECT_EQ(trouble_of("m,n\n1,2\n\"3,4\n5,6\n"), "3: a quotation mark is not closed");
  EXPECT_EQ(trouble_of("\"m\n1\n"), "1: a quotation mark is not closed");
}

TEST(Csv, Numbers) {
  EXPECT_EQ(csv_number("1e3"), 1000.0);
  EXPECT_EQ(csv_number("+2"), 2.0);
  EXPECT_EQ(csv_number("\" -3 \""), -3.0);
  for (const char* no : {"", "\"1,000\"", "1,5", "1 2", "nan", "inf", "1e999", "+-1", "0x10", "\"1", "1\"", "one"})
    EXPECT_FALSE(csv_number(no)) << no;
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  constexpr unsigned seed = 20260102;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string letters = "ab,;\t\"\n\r #[]()1";
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t columns = 1 + random() % 4;
    Rows rows;
    std::string text;
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
      rows.emplace_back();
      for (std::size_t j = 0; j < columns; ++j) {
        std::string field;
        for (std::size_t k = random() % 5; k-- > 0;) field += letters[random() % letters.size()];
        rows.back().push_back(field);
        if (j > 0) text += ',';
        text += '"';
        for (const char c : field) text += c == '"' ? "\"\"" : std::string(1, c);
        text += '"';
      }
      text += '\n';
    }
    ASSERT_EQ(rows_of(text), rows) << text;
  }
}

TEST(Csv, NoTextDoesHarm) {
  constexpr unsigned seed = 20260103;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string letters = "a1,;\t\"\"\n\n\r #[](";
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text;
    for (std::size_t k = random() % 30; k-- > 0;) text += letters[random() % letters.size()];
    trouble_of(text);
  }
}

}  // namespace
}  // namespace mechanician
