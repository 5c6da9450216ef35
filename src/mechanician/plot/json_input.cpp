#include "mechanician/plot/json_input.hpp"

#include <fmt/format.h>

#include <limits>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/plot/sources_internal.hpp"

namespace mechanician {

namespace {

void append_utf8(std::string& out, unsigned long c) {
  const auto byte = [&](unsigned long x) { out += static_cast<char>(x); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | (c >> 6)), byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12)), byte(0x80 | ((c >> 6) & 0x3F)), byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | (c >> 18)), byte(0x80 | ((c >> 12) & 0x3F)), byte(0x80 | ((c >> 6) & 0x3F)), byte(0x80 | (c & 0x3F));
  }
}

bool is_word_part(int c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
}

constexpr std::size_t longest_word = 4096;

}  // namespace

void JsonInput::fail(std::string_view message) {
  throw FileError(fmt::format("{}:{}:{}: {}", input_->name(), input_->line(), input_->column(), message));
}

int JsonInput::next() {
  for (;;) {
    const int c = input_->peek();
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return c;
    input_->get();
  }
}

bool JsonInput::next_is(char c) { return next() == c; }

void JsonInput::open(char bracket) {
  if (next() != bracket) fail(fmt::format("`{}` is expected here", bracket));
  input_->get();
}

bool JsonInput::more(char closing, bool& first) {
  const int c = next();
  if (c == closing) {
    input_->get();
    return false;
  }
  if (!first) {
    if (c == TextInput::end) fail("the file ends here, in the middle of a value");
    if (c != ',') fail(fmt::format("`,` or `{}` is expected here", closing));
    input_->get();
  }
  first = false;
  return true;
}

std::string JsonInput::key() {
  if (next() != '"') fail("a key in quotation marks is expected here");
  std::string result = string();
  if (next() != ':') fail("`:` is expected here");
  input_->get();
  return result;
}

std::string JsonInput::string() {
  if (next() != '"') fail("a text in quotation marks is expected here");
  input_->get();
  std::string out;
  const auto hex = [&] {
    unsigned long value = 0;
    for (int i = 0; i < 4; ++i) {
      const int c = input_->get();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail("\\u must be followed by four hexadecimal digits");
      value = value * 16 + static_cast<unsigned long>(digit);
    }
    return value;
  };
  for (;;) {
    int c = input_->get();
    if (c == TextInput::end || c == '\n') fail("a text is not closed");
    if (c == '"') return out;
    if (c != '\\') {
      out += static_cast<char>(c);
      continue;
    }
    c = input_->get();
    constexpr std::string_view letters = "nrtbf", meanings = "\n\r\t\b\f";
    if (c == 'u') {
      unsigned long value = hex();
      // Two of them make one character beyond the first 65536.
      if (value >= 0xD800 && value < 0xDC00 && input_->peek() == '\\') {
        input_->get();
        if (input_->get() != 'u') fail("half a character");
        const unsigned long low = hex();
        if (low < 0xDC00 || low > 0xDFFF) fail("half a character");
        value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
      }
      append_utf8(out, value);
    } else if (const auto at = letters.find(static_cast<char>(c)); c > 0 && at != std::string_view::npos) {
      out += meanings[at];
    } else if (c == '"' || c == '\\' || c == '/') {
      out += static_cast<char>(c);
    } else {
      fail("unknown character after \\");
    }
  }
}

double JsonInput::number() {
  next();
  std::string word;
  while (is_word_part(input_->peek()) && word.size() < longest_word) word += static_cast<char>(input_->get());
  if (word == "null" || word == "true" || word == "false") return std::numeric_limits<double>::quiet_NaN();
  const auto value = number_of(word);
  if (!value)
    fail(word.empty() ? "a number is expected here" : fmt::format("`{}` is not a number", word.substr(0, 40)));
  return *value;
}

void JsonInput::skip_string() {
  input_->get();
  for (;;) {
    const int c = input_->get();
    if (c == TextInput::end) fail("a text is not closed");
    if (c == '"') return;
    if (c == '\\') input_->get();
  }
}

void JsonInput::skip() {
  std::string closings;  // of the brackets that are open
  do {
    const int c = next();
    if (c == '"') {
      skip_string();
    } else if (c == '{' || c == '[') {
      input_->get();
      closings += c == '{' ? '}' : ']';
    } else if (!closings.empty() && c == closings.back()) {
      input_->get();
      closings.pop_back();
    } else if (!closings.empty() && (c == ',' || c == ':')) {
      input_->get();
    } else if (is_word_part(c)) {
      while (is_word_part(input_->peek())) input_->get();
    } else {
      fail(c == TextInput::end ? "the file ends here, in the middle of a value" : "a value is expected here");
    }
  } while (!closings.empty());
}

void JsonInput::finish() {
  if (next() != TextInput::end) fail("something follows after the end of the result");
}

}  // namespace mechanician
