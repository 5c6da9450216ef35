#pragma once

/// Fields of a model file as typed values. What is wrong with a field is collected with its place, and reading goes on.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/expression/parse.hpp"
#include "mechanician/model/toml_source.hpp"

namespace mechanician {

/// Longest text of an expression, in bytes.
inline constexpr std::size_t longest_expression = std::size_t{4} << 20;

class FieldReader {
 public:
  explicit FieldReader(const SourceMap& source) : source_(source) {}

  std::vector<Problem> problems;
  std::vector<Problem> notes;  ///< what is worth saying and no mistake

  /// More problems than are shown to anyone.
  bool is_full() const { return problems.size() >= 50; }

  void report(const Place& place, std::string_view message, std::string_view hint = {});
  void report(std::size_t begin, std::size_t end, std::string_view message, std::string_view hint = {}) {
    report(source_.place_of(begin, end), message, hint);
  }
  void report(const TomlValue& at, std::string_view message, std::string_view hint = {}) {
    report(at.begin, at.end, message, hint);
  }
  void report(const TomlMember& at, std::string_view message, std::string_view hint = {}) {
    report(at.begin, at.end, message, hint);
  }

  void note(const TomlValue& at, std::string message) {
    notes.push_back({source_.place_of(at.begin, at.end), std::move(message), {}});
  }

  Place place_of(const TomlMember& key) const { return source_.place_of(key.begin, key.end); }
  /// Of a string: what stands between its quotation marks.
  Place place_of(const TomlValue& value) const;
  /// A stretch of the text that a string stands for. Linear in the text once, for many stretches of one string.
  Place place_in(const TomlValue& value, std::size_t offset, std::size_t length) const;

  /// Each of these reports a field of another type and returns nothing.
  const TomlValue* table(const TomlMember& field, std::string_view what);
  const std::string* string(const TomlMember& field, std::string_view what);
  /// A number, or an expression as a string.
  std::optional<Expr> expression(const TomlValue& value, const NameScope& scope, std::string_view what);
  /// A list of two or three expressions, or a string that is a vector; one component: a number, where that may be.
  std::optional<std::vector<Expr>> vector(const TomlValue& value, const NameScope& scope, std::string_view what);
  /// Of what was read last, where NameScope::measure is given.
  Measure measure = {};
  /// left = right, left >= right or left <= right
  struct Equation {
    Expr left, right;
    Relation relation = Relation::equal;
  };
  std::optional<Equation> equation(const TomlValue& value, const NameScope& scope, std::string_view what);

  /// Reports keys that are not among the known ones.
  void check_keys(const TomlValue& table, std::initializer_list<std::string_view> known, std::string_view where);

 private:
  bool is_text(const TomlValue& value, std::string_view what, std::string_view wanted);
  /// Problems of an expression, placed in the file. Those without a message were reported before.
  void report(const TomlValue& value, const std::vector<ParseProblem>& found);

  const SourceMap& source_;
  /// The string that was asked about last: where its text begins, if that stands in the file as it is.
  mutable std::size_t string_ = std::string::npos, first_ = 0;
  mutable bool verbatim_ = false;
};

}  // namespace mechanician
