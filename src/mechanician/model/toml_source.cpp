#include "mechanician/model/toml_source.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "mechanician/model/toml_statements.hpp"

namespace mechanician {

namespace {

constexpr int most_attempts = 20;  // mistakes that are found one by one
constexpr std::size_t most_problems = 1000;
constexpr std::size_t most_text = std::size_t{64} << 20;  // bytes that are read again and again for that

/// toml++'s tree as ours. Depth is bounded by the scan of the statements.
class Converter {
 public:
  explicit Converter(const SourceMap& source) : source_(source) {}

  TomlValue table(const toml::table& from) const {
    TomlValue to;
    for (auto&& [key, node] : from) {
      TomlMember member;
      member.name = std::string(key.str());
      member.begin = offset(key.source().begin);
      member.end = key_end(member.begin, member.name);
      member.value = value(node, member);
      to.members.push_back(std::move(member));
    }
    std::sort(to.members.begin(), to.members.end(),
              [](const TomlMember& a, const TomlMember& b) { return a.begin < b.begin; });
    return to;
  }

 private:
  std::size_t offset(const toml::source_position& p) const { return source_.offset_of(p.line, p.column); }

  std::size_t key_end(std::size_t begin, const std::string& name) const {
    const char first = begin < source_.text().size() ? source_.text()[begin] : '\0';
    if (first != '"' && first != '\'') return begin + name.size();
    return raw_offset(source_.text(), begin, name.size()) + 1;
  }

  TomlValue value(const toml::node& from, const TomlMember& member) const {
    TomlValue to;
    if (const auto* table = from.as_table()) to = this->table(*table);
    // A table with a header has no beginning of its own; an array of tables neither.
    to.begin = offset(from.source().begin);
    to.end = std::max(offset(from.source().end), to.begin + 1);
    const char first = to.begin < source_.text().size() ? source_.text()[to.begin] : '\0';
    if (from.is_table() && first != '{') to.begin = member.begin, to.end = member.end;
    if (const auto* array = from.as_array()) {
      to.type = TomlValue::Type::array;
      for (const toml::node& item : *array) to.items.push_back(value(item, member));
    } else if (const auto* string = from.as_string()) {
      to.type = TomlValue::Type::string;
      to.text = string->get();
    } else if (const auto* integer = from.as_integer()) {
      to.type = TomlValue::Type::number;
      to.number = static_cast<double>(integer->get());
    } else if (const auto* real = from.as_floating_point()) {
      to.type = TomlValue::Type::number;
      to.number = real->get();
    } else if (from.is_boolean()) {
      to.type = TomlValue::Type::boolean;
      to.number = from.as_boolean()->get() ? 1.0 : 0.0;
    } else if (!from.is_table()) {
      to.type = TomlValue::Type::date;
    }
    return to;
  }

  const SourceMap& source_;
};

class Document {
 public:
  explicit Document(const SourceMap& source) : source_(source), text_(source.text()) {
    StatementScan scan = scan_statements(source.text());
    statements_ = std::move(scan.statements);
    for (StatementProblem& p : scan.problems) report(p);
    for (std::size_t i = 0; i < statements_.size(); ++i)
      if (statements_[i].bad) drop(i);
  }

  TomlDocument parse() {
    for (int attempt = 0; attempt < most_attempts && result_.problems.size() < most_problems; ++attempt) {
      try {
        result_.root = Converter(source_).table(toml::parse(text_));
        return std::move(result_);
      } catch (const toml::parse_error& e) {
        if (!take_out(e)) break;
      }
      if (static_cast<std::size_t>(attempt + 1) * text_.size() > most_text) break;
    }
    // Not all of the file could be understood: nothing is missing for certain.
    const std::size_t end = source_.text().size();
    result_.problems.push_back(
        {source_.place_of(end, end), "the mistakes above are not all", "correct them and look again"});
    result_.unreadable.add("");
    return std::move(result_);
  }

 private:
  void report(StatementProblem& p) {
    result_.problems.push_back({source_.place_of(p.begin, p.end), std::move(p.message), std::move(p.hint)});
  }

  std::vector<std::string> names_of(const Statement& s) const {
    std::vector<std::string> names;
    if (s.kind == Statement::Kind::pair && s.section >= 0)
      names = names_of(statements_[static_cast<std::size_t>(s.section)]);
    for (std::string& name : guess_key_names(source_.text().substr(s.key_begin, s.key_end - s.key_begin)))
      names.push_back(std::move(name));
    return names;
  }

  void blank(const Statement& s) {
    for (std::size_t i = s.begin; i < s.end && i < text_.size(); ++i)
      if (text_[i] != '\n' && text_[i] != '\r') text_[i] = ' ';
  }

  /// Takes a bad statement out; with a header, all that stands below it.
  void drop(std::size_t index) {
    Statement& s = statements_[index];
    s.bad = true;
    blank(s);
    result_.unreadable.add(fmt::format("{}", fmt::join(names_of(s), ".")));
    if (s.kind == Statement::Kind::pair) return;
    for (std::size_t i = index + 1; i < statements_.size() && statements_[i].kind == Statement::Kind::pair; ++i)
      drop(i);
  }

  bool take_out(const toml::parse_error& e) {
    const std::size_t offset = source_.offset_of(e.source().begin.line, e.source().begin.column);
    std::size_t index = statements_.size();
    for (std::size_t i = 0; i < statements_.size() && statements_[i].begin <= offset; ++i)
      if (!statements_[i].bad) index = i;
    if (index == statements_.size()) {
      result_.problems.push_back({source_.place_of(offset, offset + 1), printable(e.description(), 160), {}});
      return false;
    }
    const bool again = e.description().find("redefine") != std::string_view::npos ||
                       e.description().find("into existing") != std::string_view::npos;
    StatementProblem p = again ? explain_duplicate(index, offset)
                               : explain_syntax(source_.text(), statements_, index, offset, e.description());
    report(p);
    drop(index);
    return true;
  }

  StatementProblem explain_duplicate(std::size_t index, std::size_t offset) const {
    const Statement& s = statements_[index];
    const std::vector<std::string> names = names_of(s);
    const std::string path = fmt::format("{}", fmt::join(names, "."));
    const bool header = s.kind == Statement::Kind::header;
    StatementProblem p{index, s.key_begin, s.key_end, {}, {}};
    for (std::size_t i = 0; i < index; ++i)
      if (!statements_[i].bad && statements_[i].kind == s.kind && names_of(statements_[i]) == names) {
        p.message = header ? fmt::format("section [{}] begins twice", printable(path))
                           : fmt::format("{} is given twice", mechanician::quoted(names.back()));
        p.hint = fmt::format("it is given first in line {}",
                             source_.place_of(statements_[i].begin, statements_[i].end).line);
        return p;
      }
    // Inside braces: the key in front of the place where toml++ noticed.
    if (!header && offset > s.value_begin) {
      std::size_t begin = source_.text().find_last_of("{,", std::min(offset, s.end - 1));
      begin = begin == std::string_view::npos || begin < s.value_begin ? s.value_begin : begin + 1;
      const std::size_t end = std::min(source_.text().find_first_of("=,}\n", begin), s.end);
      const std::vector<std::string> inner = guess_key_names(source_.text().substr(begin, end - begin));
      if (!inner.empty()) {
        p.begin = source_.text().find_first_not_of(" \t", begin),
        p.end = source_.text().find_last_not_of(" \t", end - 1) + 1;
        p.message = fmt::format("{} is given twice", mechanician::quoted(inner.back()));
        return p;
      }
    }
    p.message = fmt::format("{} is given twice, in different ways", mechanician::quoted(path));
    p.hint = "a name stands for one value or for one section";
    return p;
  }

  const SourceMap& source_;
  std::string text_;  ///< without what was taken out
  std::vector<Statement> statements_;
  TomlDocument result_;
};

}  // namespace

const TomlMember* TomlValue::find(std::string_view name) const {
  for (const TomlMember& m : members)
    if (m.name == name) return &m;
  return nullptr;
}

std::string_view in_words(TomlValue::Type type) {
  switch (type) {
    case TomlValue::Type::table:
      return "a table";
    case TomlValue::Type::array:
      return "a list";
    case TomlValue::Type::string:
      return "a string";
    case TomlValue::Type::number:
      return "a number";
    case TomlValue::Type::boolean:
      return "a truth value";
    case TomlValue::Type::date:
      return "a date";
  }
  return "";
}

TomlDocument parse_toml(const SourceMap& source) { return Document(source).parse(); }

}  // namespace mechanician
