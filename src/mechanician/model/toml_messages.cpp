/// What toml++ says of a mistake, said so that it helps. See explain_syntax in toml_statements.hpp.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/model/source_map.hpp"
#include "mechanician/model/toml_statements.hpp"

namespace mechanician {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Quoted {
  std::size_t begin, end;
  std::string_view text;
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

/// The scalar around an offset: up to commas followed by no digit, brackets, line ends and comments.
Quoted scalar_around(std::string_view text, std::size_t lower, std::size_t upper, std::size_t offset) {
  const auto is_digit = [&](std::size_t i) { return i >= lower && i < upper && text[i] >= '0' && text[i] <= '9'; };
  const auto ends = [&](std::size_t i) {
    const char c = text[i];
    if (c == ',') return !(i > lower && is_digit(i - 1) && is_digit(i + 1));
    return c == '[' || c == ']' || c == '{' || c == '}' || c == '\n' || c == '#' || c == '=';
  };
  offset = std::clamp(offset, lower, upper);
  std::size_t begin = offset, end = offset;
  while (begin > lower && !ends(begin - 1)) --begin;
  while (end < upper && !ends(end)) ++end;
  const std::string_view inner = trimmed(text.substr(begin, end - begin));
  if (inner.empty()) return {offset, std::min(offset + 1, upper), inner};
  const auto first = static_cast<std::size_t>(inner.data() - text.data());
  return {first, first + inner.size(), inner};
}

bool is_number_with_comma(std::string_view s) {
  if (!s.empty() && (s.front() == '+' || s.front() == '-')) s.remove_prefix(1);
  const auto comma = s.find(',');
  const auto all_digits = [](std::string_view d) {
    return !d.empty() && d.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (comma == std::string_view::npos) return false;
  const std::string_view tail = s.substr(comma + 1);
  return all_digits(s.substr(0, comma)) && all_digits(tail.substr(0, tail.find_first_of("eE")));
}

bool is_number_without_digit_at_point(std::string_view s) {
  if (!s.empty() && (s.front() == '+' || s.front() == '-')) s.remove_prefix(1);
  const auto point = s.find('.');
  if (point == std::string_view::npos || s.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return false;
  const auto digit = [&](std::size_t i) { return i < s.size() && s[i] >= '0' && s[i] <= '9'; };
  return s.find('.', point + 1) == std::string_view::npos && (digit(point + 1) != (point > 0 && digit(point - 1)));
}

bool is_plain_number(std::string_view s) {
  return !s.empty() && s.find_first_not_of("0123456789.eE+-_") == std::string_view::npos &&
         s.find_first_of("0123456789") != std::string_view::npos;
}

bool has_non_ascii(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

bool starts_with_typographic_mark(std::string_view s) {
  for (const std::string_view mark : {"“", "”", "„", "«", "»", "‘", "’"})
    if (s.starts_with(mark)) return true;
  return false;
}

}  // namespace

StatementProblem explain_syntax(std::string_view text, const std::vector<Statement>& statements, std::size_t index,
                                std::size_t offset, std::string_view description) {
  const Statement& s = statements[index];
  // toml++ says "Error while parsing X: what is wrong".
  const auto colon = description.find(": ");
  std::string what = printable(colon == std::string_view::npos ? description : description.substr(colon + 2), 160);
  offset = std::clamp(offset, s.begin, s.end);
  StatementProblem problem{index, offset, std::min(offset + 1, std::max(s.end, offset + 1)), what, {}};
  const auto say = [&](std::size_t begin, std::size_t end, std::string message, std::string hint = {}) {
    problem.begin = begin, problem.end = std::max(end, begin + 1);
    problem.message = std::move(message), problem.hint = std::move(hint);
    return problem;
  };

  const std::string_view key = text.substr(s.key_begin, s.key_end - s.key_begin);
  const bool header = s.kind == Statement::Kind::header;
  if (!key_names(trimmed(key))) {
    if (trimmed(key).empty())
      return say(s.begin, s.key_end, header ? "the section has no name" : "a name is missing before the =");
    if (has_non_ascii(key) && key.find_first_of("\"'") == std::string_view::npos)
      return say(s.key_begin, s.key_end,
                 fmt::format("{} must stand in quotation marks here", mechanician::quoted(trimmed(key))),
                 fmt::format("TOML wants \"{}\"{}; inside expressions it needs none", printable(trimmed(key)),
                             header ? "" : " = ..."));
    return say(s.key_begin, s.key_end, fmt::format("{} is no name", mechanician::quoted(trimmed(key))),
               "a name is made of letters, digits and _");
  }
  if (header)
    return say(offset, offset + 1, fmt::format("this is no section header: {}", what),
               "a section begins with a line like [parameters]");

  const std::string_view value = trimmed(text.substr(s.value_begin, s.end - s.value_begin));
  const std::size_t value_begin = value.empty() ? s.value_begin : static_cast<std::size_t>(value.data() - text.data());
  if (value.empty() || value.front() == '#')
    return say(s.key_begin, s.key_end, fmt::format("{} has no value", mechanician::quoted(key)));
  if (starts_with_typographic_mark(value))
    return say(value_begin, value_begin + 3, "this quotation mark is not the plain one",
               "write \"...\" with the quotation mark of the keyboard");
  if (what.find("escape") != std::string::npos || what.find("hex digit") != std::string::npos)
    return say(problem.begin, problem.end, what,
               "a backslash in a string is written \\\\, or the string stands in single quotation marks");
  const Quoted number = scalar_around(text, s.value_begin, s.end, offset > s.value_begin ? offset - 1 : offset);
  if (what.find("not representable") != std::string::npos ||
      (what.find("could not be interpreted") != std::string::npos && is_plain_number(number.text))) {
    return say(number.begin, number.end, fmt::format("the number {} cannot be represented", printable(number.text, 40)),
               "numbers go up to about 1.8e308, whole numbers to 9.2e18");
  }

  const bool bracketed = value.front() == '[' || value.front() == '{';
  const Quoted scalar = bracketed ? scalar_around(text, s.value_begin, s.end, offset)
                                  : scalar_around(text, s.value_begin, s.end, value_begin);
  if (is_number_with_comma(scalar.text)) {
    std::string pointed(scalar.text);
    pointed[pointed.find(',')] = '.';
    return say(scalar.begin, scalar.end, "decimals are written with a point, not with a comma",
               fmt::format("write {}", pointed));
  }
  if (is_number_without_digit_at_point(scalar.text))
    return say(scalar.begin, scalar.end, "a number needs a digit on both sides of its point",
               fmt::format("write {}", scalar.text.find('.') == 0 ? "0" + std::string(scalar.text) : "0.5 or 5.0"));
  if (what.find("leading zero") != std::string::npos)
    return say(scalar.begin, scalar.end, "a number cannot begin with a zero before other digits");
  if (value.front() == '\'' && !bracketed)
    return say(offset, offset + 1, "the string ended before this",
               "an expression with primes stands in double quotation marks: \"x' = 1\"");
  if (value.front() == '"')
    return say(offset, s.end, "nothing may follow the value",
               "each line holds one name = value; a comment begins with #");
  if (!bracketed) {
    const std::string shown = printable(trimmed(value.substr(0, value.find('#'))), 60);
    return say(value_begin, value_begin + trimmed(value.substr(0, value.find('#'))).size(),
               "an expression must stand in quotation marks", fmt::format("write {} = \"{}\"", printable(key), shown));
  }
  if (what.find("could not determine value type") != std::string::npos ||
      what.find("could not be interpreted") != std::string::npos)
    return say(scalar.begin, scalar.end, "an expression must stand in quotation marks",
               fmt::format("write \"{}\"", printable(scalar.text, 60)));
  problem.hint = "is a comma or a quotation mark missing before this?";
  return problem;
}

}  // namespace mechanician
