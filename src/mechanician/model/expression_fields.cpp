#include "mechanician/model/expression_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_problems = 1000;  // of a file
constexpr std::size_t most_of_a_text = 20;   // of one expression

}  // namespace

void FieldReader::report(const Place& place, std::string_view message, std::string_view hint) {
  if (problems.size() >= most_problems) return;
  problems.push_back({place, printable(message, 400), printable(hint, 400)});
}

Place FieldReader::place_in(const TomlValue& value, std::size_t offset, std::size_t length) const {
  if (value.generated) return source_.place_of(value.begin, value.end);
  if (string_ != value.begin) {
    string_ = value.begin, first_ = raw_offset(source_.text(), value.begin, 0);
    verbatim_ = source_.text().substr(first_, value.text.size()) == value.text;
  }
  const auto raw = [&](std::size_t at) {
    return verbatim_ ? first_ + at : raw_offset(source_.text(), value.begin, at);
  };
  return source_.place_of(raw(offset), raw(offset + length));
}

void FieldReader::report(const TomlValue& value, const std::vector<ParseProblem>& found) {
  std::size_t count = 0;
  for (const ParseProblem& p : found) {
    if (p.message.empty()) continue;
    if (++count > most_of_a_text) return;
    report(place_in(value, p.offset, p.length), p.message, p.hint);
  }
}

Place FieldReader::place_of(const TomlValue& value) const {
  if (value.type != TomlValue::Type::string) return source_.place_of(value.begin, value.end);
  return place_in(value, 0, value.text.size());
}

const TomlValue* FieldReader::table(const TomlMember& field, std::string_view what) {
  if (field.value.type == TomlValue::Type::table) return &field.value;
  report(field.value, fmt::format("{} is a table, not {}", what, in_words(field.value.type)));
  return nullptr;
}

const std::string* FieldReader::string(const TomlMember& field, std::string_view what) {
  if (field.value.type == TomlValue::Type::string) return &field.value.text;
  report(field.value, fmt::format("{} is a string, not {}", what, in_words(field.value.type)));
  return nullptr;
}

bool FieldReader::is_text(const TomlValue& value, std::string_view what, std::string_view wanted) {
  if (value.type != TomlValue::Type::string) {
    report(value, fmt::format("{} is {}, not {}", what, wanted, in_words(value.type)),
           value.type == TomlValue::Type::array ? "lists are for [parameters]" : "");
    return false;
  }
  if (value.text.size() > longest_expression) {
    report(value.begin, value.begin + 1, fmt::format("{} is longer than {} MiB", what, longest_expression >> 20),
           "name parts of it in [define]");
    return false;
  }
  return true;
}

namespace {

/// What the program has written is in SI: its numbers have the units that they should.
NameScope scope_for(const TomlValue& value, const NameScope& scope) {
  if (!value.generated || !scope.measure) return scope;
  NameScope plain = scope;
  plain.measure = nullptr;
  return plain;
}

}  // namespace

std::optional<Expr> FieldReader::expression(const TomlValue& value, const NameScope& scope, std::string_view what) {
  measure = {};
  if (value.type == TomlValue::Type::number) {
    measure = measure_of_number(value.number);
    if (std::isfinite(value.number)) return Expr(value.number);
    report(value, fmt::format("{} must be a finite number", what));
    return std::nullopt;
  }
  if (!is_text(value, what, "a number or an expression in quotation marks")) return std::nullopt;
  ParsedExpression parsed = parse_expression(value.text, scope_for(value, scope));
  report(value, parsed.problems);
  measure = parsed.measure;
  return std::move(parsed.value);
}

std::optional<std::vector<Expr>> FieldReader::vector(const TomlValue& value, const NameScope& scope,
                                                     std::string_view what) {
  std::vector<Expr> components;
  if (value.type == TomlValue::Type::array) {
    if (value.items.size() != 2 && value.items.size() != 3) {
      report(value, fmt::format("{} has {}", what, count_noun(value.items.size(), "component")),
             "a vector of the plane has two, one of space three");
      return std::nullopt;
    }
    Measure all;
    bool good = true;
    for (const TomlValue& item : value.items) {
      const auto f = expression(item, scope, what);
      good &= f.has_value();
      if (!f) continue;
      const bool zero = f->is_constant() && f->value() == 0.0;
      const auto both = common(all, zero ? Measure{} : measure);
      if (both)
        all = *both;
      else if (const MeasureProblem p = explain_mismatch(all, measure); scope.measure)
        report(item, p.message, p.hint), good = false;
      components.push_back(*f);
    }
    measure = all;
    return good ? std::optional(std::move(components)) : std::nullopt;
  }
  if (value.type == TomlValue::Type::number) {
    const auto f = expression(value, scope, what);
    return f ? std::optional(std::vector<Expr>{*f}) : std::nullopt;
  }
  measure = {};
  if (!is_text(value, what, "an expression in quotation marks, or a list of two or three")) return std::nullopt;
  ParsedVector parsed = parse_vector(value.text, scope_for(value, scope));
  report(value, parsed.problems);
  measure = parsed.measure;
  return parsed.components.empty() ? std::nullopt : std::optional(std::move(parsed.components));
}

std::optional<FieldReader::Equation> FieldReader::equation(const TomlValue& value, const NameScope& scope,
                                                           std::string_view what) {
  if (!is_text(value, what, "an equation in quotation marks")) return std::nullopt;
  ParsedEquation parsed = parse_equation(value.text, scope_for(value, scope));
  report(value, parsed.problems);
  measure = parsed.measure;
  if (!parsed.left || !parsed.right) return std::nullopt;
  return Equation{*std::move(parsed.left), *std::move(parsed.right), parsed.relation};
}

void FieldReader::check_keys(const TomlValue& table, std::initializer_list<std::string_view> known,
                             std::string_view where) {
  for (const TomlMember& m : table.members) {
    if (std::find(known.begin(), known.end(), m.name) != known.end()) continue;
    if (problems.size() >= most_problems) return;
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string near = nearest(m.name, names);
    report(
        m, fmt::format("unknown key {} {}", mechanician::quoted(m.name), where),
        near.empty() ? fmt::format("known here: {}", quote_list(names, 20)) : fmt::format("did you mean `{}`?", near));
  }
}

}  // namespace mechanician
