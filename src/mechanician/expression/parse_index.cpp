// What stands between brackets and after `for`: names with an index and ranges. See parse.hpp.

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/parse.hpp"

namespace mechanician {

namespace {

/// Without the blanks around it.
ParsedName::Piece trimmed(std::string_view text, std::size_t begin, std::size_t end) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (begin < end && blank(text[begin])) ++begin;
  while (end > begin && blank(text[end - 1])) --end;
  return {text.substr(begin, end - begin), begin};
}

/// Cut at commas outside brackets.
std::vector<ParsedName::Piece> cut(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<ParsedName::Piece> pieces;
  int depth = 0;
  std::size_t from = begin;
  for (std::size_t at = begin; at <= end; ++at) {
    const char c = at < end ? text[at] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && (depth <= 0 || at == end)) pieces.push_back(trimmed(text, from, at)), from = at + 1;
  }
  return pieces;
}

}  // namespace

std::optional<std::pair<ParsedName::Piece, ParsedName::Piece>> split_range(const ParsedName::Piece& piece) {
  int depth = 0;
  for (std::size_t at = 0; at + 1 < piece.text.size(); ++at) {
    const char c = piece.text[at];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth != 0 || c != '.' || piece.text[at + 1] != '.') continue;
    ParsedName::Piece from = trimmed(piece.text, 0, at), to = trimmed(piece.text, at + 2, piece.text.size());
    from.offset += piece.offset, to.offset += piece.offset;
    return std::pair(from, to);
  }
  return std::nullopt;
}

ParsedRanges parse_ranges(std::string_view text) {
  ParsedRanges result;
  const auto problem = [&](const ParsedName::Piece& at, std::string message) {
    result.problems.push_back(
        {at.offset, std::max<std::size_t>(at.text.size(), 1), std::move(message), "for example i = 1..N"});
  };
  for (const ParsedName::Piece& piece : cut(text, 0, text.size())) {
    const std::size_t equals = piece.text.find('=');
    if (equals == std::string_view::npos) {
      problem(piece, "an index is given as name = from..to");
      continue;
    }
    const ParsedName::Piece name = trimmed(text, piece.offset, piece.offset + equals),
                            rest = trimmed(text, piece.offset + equals + 1, piece.offset + piece.text.size());
    const auto bounds = split_range(rest);
    if (!is_name(name.text))
      problem(name, "an index is a name");
    else if (!bounds || bounds->first.text.empty() || bounds->second.text.empty())
      problem(rest, "the bounds of an index are written from..to");
    else
      result.ranges.push_back({std::string(name.text), name.offset, name.text.size(), bounds->first.text,
                               bounds->second.text, bounds->first.offset, bounds->second.offset});
  }
  return result;
}

std::string_view family_of(std::string_view name) {
  if (!name.ends_with(']')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ']') ++depth;
    if (name[at] == '[' && --depth == 0) return name.substr(0, at);
  }
  return name;
}

ParsedName parse_name(std::string_view text) {
  ParsedName result;
  const std::string_view whole = trimmed(text, 0, text.size()).text;
  const std::size_t family = family_of(whole).size();
  // An index that is not closed is looked for from its beginning.
  const std::size_t open = family < whole.size() ? text.find(whole) + family : text.find('[');
  if (open == std::string_view::npos || is_name(text)) {
    result.name = std::string(text);
    return result;
  }
  const ParsedName::Piece name = trimmed(text, 0, open), all = trimmed(text, 0, text.size());
  result.name = std::string(name.text);
  result.indexed = true;
  if (!is_name(name.text))
    result.problems.push_back({name.offset, std::max<std::size_t>(name.text.size(), 1),
                               "a name stands before the index", "for example x[1..N]"});
  else if (all.text.back() != ']')
    result.problems.push_back({all.offset + all.text.size() - 1, 1, "an index ends with ]", {}});
  else
    result.indices = cut(text, open + 1, all.offset + all.text.size() - 1);
  for (const ParsedName::Piece& piece : result.indices)
    if (piece.text.empty()) result.problems.push_back({piece.offset, 1, "an index is missing", {}});
  return result;
}

}  // namespace mechanician
