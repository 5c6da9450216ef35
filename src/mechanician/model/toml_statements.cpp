#include "mechanician/model/toml_statements.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
constexpr std::size_t most_problems = 1000;  // a file with more is something else

bool is_mark(char c) { return c == '"' || c == '\''; }

/// Where the string that opens at i ends (behind its closing mark), or npos if it is never closed.
std::size_t end_of_string(std::string_view text, std::size_t i) {
  const char mark = text[i];
  const bool multi_line = text.substr(i, 3) == std::string(3, mark);
  for (std::size_t k = i + (multi_line ? 3 : 1); k < text.size(); ++k) {
    if (text[k] == '\n' && !multi_line) break;
    if (text[k] == '\\' && mark == '"')
      ++k;
    else if (text[k] == mark && !multi_line)
      return k + 1;
    else if (text[k] == mark && text.substr(k, 3) == text.substr(i, 3)) {
      std::size_t end = k + 3;
      while (end < text.size() && text[end] == mark && end < k + 5) ++end;
      return end;
    }
  }
  return std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  StatementScan scan() {
    while (i_ < text_.size() && result_.problems.size() < most_problems) {
      skip_space();
      if (at() == '\n' || at() == '\r' || at() == '#' || i_ >= text_.size()) {
        i_ = after_line(i_);
        continue;
      }
      current_ = {};
      current_.begin = i_;
      at() == '[' ? header() : pair();
      current_.end = std::max(current_.end, current_.begin + 1);
      if (current_.kind == Statement::Kind::header) section_ = static_cast<int>(result_.statements.size());
      result_.statements.push_back(current_);
      i_ = after_line(current_.end);
    }
    return std::move(result_);
  }

 private:
  struct Bracket {
    char sign;
    std::size_t offset;
  };

  char at() const { return i_ < text_.size() ? text_[i_] : '\0'; }
  void skip_space() {
    while (is_space(at())) ++i_;
  }
  std::size_t end_of_line(std::size_t i) const {
    const std::size_t end = std::min(text_.find('\n', i), text_.size());
    return end > i && text_[end - 1] == '\r' ? end - 1 : end;
  }
  std::size_t after_line(std::size_t i) const { return std::min(text_.find('\n', i), text_.size() - 1) + 1; }

  /// The statement is spoilt and ends with this line.
  void spoil_line(std::size_t begin, std::size_t end, std::string message, std::string hint = {}) {
    result_.problems.push_back({result_.statements.size(), begin, end, std::move(message), std::move(hint)});
    current_.bad = true;
    current_.end = end_of_line(i_);
  }

  /// The same in the middle of brackets or of a string: the next statement starts at the next line that looks like one.
  void spoil(std::size_t begin, std::size_t end, std::string message, std::string hint = {}) {
    spoil_line(begin, end, std::move(message), std::move(hint));
    std::size_t line = i_;
    do {
      current_.end = end_of_line(line);
      line = after_line(line);
    } while (line < text_.size() && !looks_like_statement(line));
  }

  bool looks_like_statement(std::size_t i) const {
    const auto skip = [&] {
      while (i < text_.size() && is_space(text_[i])) ++i;
    };
    const auto next = [&] { return i < text_.size() ? text_[i] : '\0'; };
    skip();
    if (next() == '[') {
      while (next() == '[') ++i;
      if (!is_bare(next()) || (next() >= '0' && next() <= '9') || next() == '-') return false;
      while (is_bare(next()) || next() == '.') ++i;
      if (next() != ']') return false;
      while (next() == ']') ++i;
      skip();
      return next() == '\0' || next() == '\n' || next() == '\r' || next() == '#';
    }
    if (is_mark(next())) {
      const std::size_t end = end_of_string(text_, i);
      if (end == std::string_view::npos) return false;
      i = end;
    }
    while (is_bare(next()) || next() == '.') ++i;
    skip();
    return next() == '=' && text_.substr(i, 2) != "==";
  }

  void header() {
    current_.kind = Statement::Kind::header;
    current_.end = end_of_line(i_);
    const std::size_t open = i_;
    while (at() == '[' && i_ < open + 2) ++i_;
    current_.key_begin = i_;
    int dots = 0;
    while (i_ < current_.end && at() != ']' && at() != '#') {
      const std::size_t string_end = is_mark(at()) ? end_of_string(text_, i_) : std::string_view::npos;
      if (at() == '.') ++dots;
      i_ = string_end != std::string_view::npos ? string_end : i_ + 1;
    }
    current_.key_end = i_;
    if (dots > most_dots)
      return spoil_line(current_.key_begin, current_.key_end, fmt::format("a name has at most {} dots", most_dots));
    if (at() != ']' || i_ >= current_.end) {
      i_ = open;
      return spoil_line(open, open + 1, "this bracket is never closed",
                        "a section begins with a line like [parameters]");
    }
  }

  void pair() {
    current_.section = section_;
    current_.key_begin = i_;
    const std::size_t line_end = end_of_line(i_);
    int dots = 0;
    bool segment_start = true;
    while (i_ < line_end && at() != '=' && at() != '#') {
      const std::size_t string_end = segment_start && is_mark(at()) ? end_of_string(text_, i_) : std::string_view::npos;
      if (at() == '.') ++dots;
      segment_start = at() == '.' || (segment_start && is_space(at()));
      i_ = string_end != std::string_view::npos ? std::min(string_end, line_end) : i_ + 1;
    }
    current_.key_end = i_;
    while (current_.key_end > current_.key_begin && is_space(text_[current_.key_end - 1])) --current_.key_end;
    if (dots > most_dots)
      return spoil_line(current_.key_begin, current_.key_end, fmt::format("a name has at most {} dots", most_dots));
    if (at() != '=' || i_ >= line_end) {
      i_ = current_.begin;
      const std::string_view line = text_.substr(current_.begin, line_end - current_.begin);
      const auto colon = line.find(':');
      if (colon != std::string_view::npos && is_name_before(line.substr(0, colon)))
        return spoil_line(current_.begin + colon, current_.begin + colon + 1,
                          "a name and its value are joined by =, not by :");
      return spoil_line(current_.begin, current_.key_end, "this line is neither [section] nor name = value");
    }
    ++i_;
    current_.value_begin = i_;
    value();
  }

  static bool is_name_before(std::string_view key) {
    while (!key.empty() && is_space(key.back())) key.remove_suffix(1);
    return key_names(key).has_value();
  }

  void value() {
    std::vector<Bracket> open;
    bool expects_value = true;  // only here does a quotation mark open a string; elsewhere it is a prime
    bool broken_table = false;
    int dots = 0;
    for (; i_ < text_.size(); ++i_) {
      const char c = at();
      if (c == '#') {
        i_ = end_of_line(i_) - 1;
      } else if (c == '\n' || (c == '\r' && text_.substr(i_, 2) == "\r\n")) {
        if (c == '\r') ++i_;
        if (open.empty()) {
          i_ -= c == '\r' ? 1 : 0;
          break;
        }
        if (looks_like_statement(i_ + 1) && (open.back().sign == '[' || !expects_value)) return unclosed(open.back());
        if (open.back().sign == '{') broken_table = true;
      } else if (is_mark(c) && expects_value) {
        const std::size_t end = end_of_string(text_, i_);
        const bool multi_line = text_.substr(i_, 3) == std::string(3, c);
        if (end == std::string_view::npos && open.empty() && !multi_line)
          return spoil_line(i_, end_of_line(i_), "this string is never closed",
                            fmt::format("the closing {} is missing", c));
        if (end == std::string_view::npos)
          return spoil(i_, multi_line ? i_ + 3 : end_of_line(i_), "this string is never closed",
                       fmt::format("the closing {} is missing", multi_line ? std::string(3, c) : std::string(1, c)));
        i_ = end - 1;
        expects_value = false;
      } else if (c == '[' || c == '{') {
        open.push_back({c, i_});
        expects_value = true;
        dots = 0;
        if (open.size() > static_cast<std::size_t>(deepest_nesting))
          return spoil(i_, i_ + 1, fmt::format("brackets are nested deeper than {}", deepest_nesting));
      } else if ((c == ']' || c == '}') && !open.empty()) {
        const char wanted = open.back().sign == '[' ? ']' : '}';
        if (c != wanted)
          return spoil(i_, i_ + 1, fmt::format("`{}` is expected here, not `{}`", wanted, c),
                       fmt::format("it closes the `{}` before it", open.back().sign));
        open.pop_back();
        expects_value = false;
      } else if (c == ',' || c == '=') {
        expects_value = true;
        dots = 0;
      } else if (!is_space(c)) {
        if (c == '.' && ++dots > most_dots)
          return spoil(i_, i_ + 1, fmt::format("a name has at most {} dots", most_dots));
        expects_value = c == '.' && expects_value;
      }
    }
    current_.end = std::min(i_, text_.size());
    if (!open.empty()) return unclosed(open.back());
    if (broken_table) {
      const std::size_t end = current_.end;
      const std::size_t brace = text_.find('{', current_.value_begin);
      i_ = current_.begin;
      spoil(brace, brace + 1, "a table in braces must stand on one line",
            "a section of its own, as in [dynamics.force], takes a line for each entry");
      current_.end = end;
    }
  }

  void unclosed(const Bracket& bracket) {
    i_ = std::max(current_.begin, std::min(i_, text_.size()) - 1);
    const std::size_t end = end_of_line(i_);
    spoil(bracket.offset, bracket.offset + 1, fmt::format("this `{}` is never closed", bracket.sign));
    current_.end = std::max(end, current_.begin + 1);
  }

  std::string_view text_;
  std::size_t i_ = 0;
  int section_ = -1;
  Statement current_;
  StatementScan result_;
};

}  // namespace

StatementScan scan_statements(std::string_view text) { return Scanner(text).scan(); }

namespace {

/// Reads names joined by dots and says where it stopped.
struct KeyNames {
  std::vector<std::string> names;
  std::size_t end = 0;
};
template <class IsLetter>
KeyNames read_key(std::string_view key, IsLetter is_letter) {
  KeyNames read;
  std::size_t& i = read.end;
  const auto skip = [&] {
    while (i < key.size() && is_space(key[i])) ++i;
  };
  for (;;) {
    skip();
    const std::size_t begin = i;
    if (i < key.size() && is_mark(key[i])) {
      const std::size_t end = end_of_string(key, i);
      if (end == std::string_view::npos) return read;
      read.names.push_back(decode_string(key, begin));
      i = end;
    } else {
      while (i < key.size() && is_letter(key[i])) ++i;
      if (i == begin) {
        if (begin > 0) i = begin - 1;  // a dot with nothing behind it is no end of a key
        return read;
      }
      read.names.emplace_back(key.substr(begin, i - begin));
    }
    skip();
    if (i >= key.size() || key[i] != '.') return read;
    ++i;
  }
}

}  // namespace

std::vector<std::string> guess_key_names(std::string_view key) {
  return read_key(key, [](char c) { return is_bare(c) || static_cast<unsigned char>(c) >= 0x80; }).names;
}

std::optional<std::vector<std::string>> key_names(std::string_view key) {
  KeyNames read = read_key(key, is_bare);
  if (read.names.empty() || read.end != key.size()) return std::nullopt;
  return std::move(read.names);
}

}  // namespace mechanician
