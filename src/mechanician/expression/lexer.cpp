#include "mechanician/expression/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Signs that people paste from papers, and what to write instead.
constexpr std::array<std::pair<char32_t, const char*>, 16> lookalikes = {{{U'−', "-"},
                                                                          {U'–', "-"},
                                                                          {U'—', "-"},
                                                                          {U'·', "*"},
                                                                          {U'×', "*"},
                                                                          {U'⋅', "*"},
                                                                          {U'÷', "/"},
                                                                          {U'≤', "<="},
                                                                          {U'≥', ">="},
                                                                          {U'²', "^2"},
                                                                          {U'³', "^3"},
                                                                          {U'′', "'"},
                                                                          {U'’', "'"},
                                                                          {U'√', "sqrt(...)"},
                                                                          {U'\u00a0', "an ordinary space"},
                                                                          {U'½', "1/2"}}};

}  // namespace

Token Lexer::error(std::size_t length, std::string message, std::string hint) {
  Token token{TokenKind::error, at_, text_.substr(at_, length), 0.0, 0, std::move(message), std::move(hint)};
  return token;
}

Token Lexer::number() {
  const std::size_t begin = at_;
  std::size_t end = at_;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  const bool before_range = end + 1 < text_.size() && text_[end] == '.' && text_[end + 1] == '.';  // 1..N
  if (end < text_.size() && text_[end] == '.' && !before_range) {
    ++end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent])) {
      while (exponent < text_.size() && is_digit(text_[exponent])) ++exponent;
      end = exponent;
    }
  }
  Token token{TokenKind::number, begin, text_.substr(begin, end - begin), 0.0, 0, {}, {}};
  // from_chars reads ".5" and "5." and knows no locale.
  const auto read = std::from_chars(token.text.data(), token.text.data() + token.text.size(), token.number);
  if (read.ec == std::errc::result_out_of_range) {
    // Too small is zero, too large is no number.
    const auto e = token.text.find_first_of("eE");
    const bool tiny = e != std::string_view::npos && e + 1 < token.text.size() && token.text[e + 1] == '-';
    if (!tiny)
      return error(token.text.size(), fmt::format("the number {} is too large", token.text.substr(0, 40)),
                   "the largest is about 1.8e308");
    token.number = 0.0;
  }
  at_ = end;
  return token;
}

Token Lexer::name() {
  const std::size_t begin = at_;
  // Dots stand between parts of a name, as in record.ax; two of them are a range, N..M.
  const auto part_follows = [&] {
    if (at_ + 1 >= text_.size() || text_[at_] != '.') return false;
    const CodePoint c = decode_utf8(text_, at_ + 1);
    return c.valid && is_name_start(c.value);
  };
  // Members of families may have parts: leg[2].knee.
  const auto index_follows = [&] {
    std::size_t end = at_;
    if (end >= text_.size() || text_[end] != '[') return std::size_t{0};
    for (++end; end < text_.size() && (is_digit(text_[end]) || text_[end] == ',' || text_[end] == '-');) ++end;
    if (end + 2 >= text_.size() || text_[end] != ']' || text_[end + 1] != '.') return std::size_t{0};
    const CodePoint c = decode_utf8(text_, end + 2);
    return c.valid && is_name_start(c.value) ? end + 1 - at_ : std::size_t{0};
  };
  while (at_ < text_.size()) {
    // Most letters are these, and models of bodies have millions.
    if (const char c = text_[at_]; (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c)) {
      ++at_;
      continue;
    }
    if (const std::size_t index = index_follows(); index > 2) {
      at_ += index;
      continue;
    }
    const CodePoint c = decode_utf8(text_, at_);
    if (!(c.valid && is_name_part(c.value)) && !part_follows()) break;
    at_ += static_cast<std::size_t>(c.length);
  }
  Token token{TokenKind::name, begin, text_.substr(begin, at_ - begin), 0.0, 0, {}, {}};
  while (at_ < text_.size() && text_[at_] == '\'') ++at_, ++token.primes;
  return token;
}

Token Lexer::sign() {
  const char c = text_[at_];
  const char d = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (c == '*' && d == '*') return error(2, "`**` is not an operator", "powers are written with ^, as in x^2");
  if (c == '!' && d == '=') return error(2, "`!=` is not an operator", "write not (a == b)");
  if (c == '&' || c == '|')
    return error(d == c ? 2 : 1, fmt::format("`{}` is not an operator", text_.substr(at_, d == c ? 2 : 1)),
                 c == '&' ? "write `and`" : "write `or`");
  if (c == '!') return error(1, "`!` is not an operator", "write `not`");
  if (c == '[' || c == ']' || (c == '.' && d == '.')) {
    Token token{TokenKind::sign, at_, text_.substr(at_, c == '.' ? 2 : 1), 0.0, 0, {}, {}};
    at_ += token.text.size();
    while (c == ']' && at_ < text_.size() && text_[at_] == '\'') ++at_, ++token.primes;
    return token;
  }
  if (c == '{' || c == '}') return error(1, fmt::format("unexpected `{}`", c), "group with parentheses ( )");
  if (c == '\'') return error(1, "a prime must follow the name of a coordinate directly", "x' is the velocity of x");
  if (c == '"' || c == '`' || c == '$' || c == '%' || c == '@' || c == '#' || c == '~' || c == '?' || c == ':' ||
      c == ';' || c == '\\')
    return error(1, fmt::format("unexpected `{}`", c));
  const bool two = d == '=' && (c == '<' || c == '>' || c == '=');
  if (std::string_view("+-*/^(),<>=").find(c) != std::string_view::npos) {
    Token token{TokenKind::sign, at_, text_.substr(at_, two ? 2 : 1), 0.0, 0, {}, {}};
    at_ += token.text.size();
    return token;
  }
  return error(1, fmt::format("unexpected character (code {})", static_cast<int>(static_cast<unsigned char>(c))));
}

Token Lexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
    ++at_;
  if (at_ >= text_.size()) return {TokenKind::end, text_.size(), {}, 0.0, 0, {}, {}};
  const char c = text_[at_];
  if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
  if (c == '.' && !(at_ + 1 < text_.size() && text_[at_ + 1] == '.')) return error(1, "unexpected `.`");
  const CodePoint p = decode_utf8(text_, at_);
  if (p.valid && is_name_start(p.value)) return name();
  if (p.value < 0x80) return sign();
  const std::string shown(p.valid ? text_.substr(at_, static_cast<std::size_t>(p.length)) : "?");
  for (const auto& [look, write] : lookalikes)
    if (p.valid && p.value == look)
      return error(static_cast<std::size_t>(p.length), fmt::format("`{}` is not part of the language", shown),
                   fmt::format("write {}", write));
  return error(static_cast<std::size_t>(p.length),
               fmt::format("unexpected character `{}` (U+{:04X})", shown, static_cast<unsigned>(p.value)));
}

}  // namespace mechanician
