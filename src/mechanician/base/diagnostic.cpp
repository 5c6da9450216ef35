#include "mechanician/base/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <tuple>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr std::size_t widest_line = 160;   // code points of a source line that are shown
constexpr std::size_t most_problems = 50;  // a file with more has one cause

std::string_view line_of(std::string_view text, int line) {
  for (int k = 1; k < line; ++k) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

/// The source line around the place and the carets below it. Long lines are cut, control characters are made visible,
/// so that a hostile file cannot drive the terminal.
void append_excerpt(std::string& out, std::string_view line, const Place& place) {
  const auto column = static_cast<std::size_t>(std::max(place.column, 1));
  const std::size_t skip = column > widest_line / 2 ? column - widest_line / 2 : 0;
  std::string shown, carets;
  std::size_t at = 1, width = 0;
  for (std::size_t i = 0; i < line.size() && width < widest_line; ++at) {
    const CodePoint c = decode_utf8(line, i);
    if (at > skip) {
      const bool printable = c.valid && c.value >= 0x20 && c.value != 0x7F && !(c.value >= 0x80 && c.value < 0xA0) &&
                             !(c.value >= 0x202A && c.value <= 0x202E) && !(c.value >= 0x2066 && c.value <= 0x2069);
      shown += printable         ? std::string(line.substr(i, static_cast<std::size_t>(c.length)))
               : c.value == '\t' ? " "
                                 : "?";
      carets += at >= column && at < column + static_cast<std::size_t>(std::max(place.length, 1)) ? '^' : ' ';
      ++width;
    }
    i += static_cast<std::size_t>(c.length);
  }
  if (carets.find('^') == std::string::npos) carets += '^';
  carets.erase(carets.find_last_not_of(' ') + 1);
  out +=
      fmt::format("{:>6} | {}{}\n       | {}{}\n", place.line, skip > 0 ? "…" : "", shown, skip > 0 ? " " : "", carets);
}

}  // namespace

std::string render(const std::vector<Problem>& problems, const SourceText& source) {
  std::string out;
  std::size_t shown = 0;
  for (const Problem& p : problems) {
    if (shown++ == most_problems) {
      out += fmt::format("… and {} more\n", problems.size() - most_problems);
      break;
    }
    if (p.place.line > 0)
      out += fmt::format("{}:{}:{}: error: {}\n", source.file, p.place.line, p.place.column, p.message);
    else
      out += fmt::format("{}: error: {}\n", source.file.empty() ? "model" : source.file, p.message);
    if (p.place.line > 0) append_excerpt(out, line_of(source.text, p.place.line), p.place);
    if (!p.hint.empty()) out += fmt::format("       = {}\n", p.hint);
  }
  if (!out.empty()) out.pop_back();
  return out;
}

namespace {

/// "this size of `link[3]` …" and the same of `link[4]` are one mistake, of the line that both are from.
std::string without_numbers(std::string_view message) {
  std::string out;
  for (std::size_t i = 0; i < message.size(); ++i) {
    out += message[i];
    if (message[i] != '[') continue;
    while (i + 1 < message.size() &&
           (std::isdigit(static_cast<unsigned char>(message[i + 1])) || message[i + 1] == ','))
      ++i;
  }
  return out;
}

/// Of members of a family the first, and of how many it is true.
std::vector<Problem> of_first_members(std::vector<Problem> problems) {
  std::vector<Problem> result;
  std::size_t others = 0;
  const auto count_others = [&] {
    if (others > 0) result.back().message += fmt::format(" (and so for {} more)", others);
    others = 0;
  };
  const auto place_of = [](const Problem& p) { return std::tuple(p.place.line, p.place.column, p.place.length); };
  std::string last;
  for (Problem& p : problems) {
    std::string text = without_numbers(p.message);
    const bool again = !result.empty() && p.place.line > 0 && place_of(result.back()) == place_of(p) && text == last;
    if (again) {
      ++others;
      continue;
    }
    count_others();
    last = std::move(text);
    result.push_back(std::move(p));
  }
  count_others();
  return result;
}

std::vector<Problem> in_order(std::vector<Problem> problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  return of_first_members(std::move(problems));
}

}  // namespace

ModelError::ModelError(std::vector<Problem> problems, const SourceText& source)
    : std::runtime_error(render(problems = in_order(std::move(problems)), source)),
      problems_(std::make_shared<const std::vector<Problem>>(std::move(problems))) {}

}  // namespace mechanician
