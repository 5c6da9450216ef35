// Fields that stand for many: `for`, and keys with an index. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

void ModelReader::report_in(const TomlValue& value, const ParseProblem& problem) {
  if (!problem.message.empty())
    fields_.report(fields_.place_in(value, problem.offset, problem.length), problem.message, problem.hint);
}

void ModelReader::read_in(const TomlValue& value) {
  names_.place_of = [this, &value](std::size_t offset, std::size_t length) {
    return fields_.place_in(value, offset, length);
  };
}

void ModelReader::read_in(const TomlMember& key) {
  names_.place_of = [this, &key](std::size_t, std::size_t) { return fields_.place_of(key); };
}

std::optional<std::vector<TermIndex>> ModelReader::indices_of(const TomlValue& table) {
  const TomlMember* range = table.type == TomlValue::Type::table ? table.find("for") : nullptr;
  if (!range) return std::vector<TermIndex>{};
  const auto [known, fresh] = ranges_.emplace(range->begin, std::nullopt);
  if (!fresh) return known->second;
  const std::string* text = fields_.string(*range, "`for`");
  if (!text) return std::nullopt;
  const ParsedRanges parsed = parse_ranges(*text);
  for (const ParseProblem& p : parsed.problems) report_in(range->value, p);
  if (!parsed.problems.empty()) return std::nullopt;
  names_.begin();
  read_in(range->value);
  for (const IndexRange& r : parsed.ranges)
    if (const auto problem = names_.add_index(r, Words::parameters)) {
      report_in(range->value, *problem);
      return std::nullopt;
    }
  if (!names_.check_members() || !names_.check_indices()) return std::nullopt;
  return known->second = names_.indices();
}

const TomlValue* ModelReader::value_of(const TomlMember& field, const std::string& path) {
  if (field.value.type != TomlValue::Type::table || !field.value.find("for")) return &field.value;
  fields_.check_keys(field.value, {"for", "value"}, fmt::format("in {}", mechanician::quoted(path + "." + field.name)));
  if (const TomlMember* value = field.value.find("value")) return &value->value;
  fields_.report(field, fmt::format("{} has no value", mechanician::quoted(field.name)), "give value = \"...\"");
  return nullptr;
}

std::optional<std::vector<Expr>> ModelReader::label_of(const TomlMember& key, const ParsedName& name) {
  const auto indices = indices_of(key.value);
  return indices ? label_of(key, name, *indices) : std::nullopt;
}

std::optional<std::vector<Expr>> ModelReader::label_of(const TomlMember& key, const ParsedName& name,
                                                       const std::vector<TermIndex>& indices) {
  const auto wrong = [&](const std::string& message, const std::string& hint) {
    if (!message.empty()) fields_.report(key, message, hint);
    return std::nullopt;
  };
  if (!name.problems.empty()) return wrong(name.problems.front().message, name.problems.front().hint);
  names_.begin(indices);
  read_in(key);
  std::vector<Expr> label;
  for (const ParsedName::Piece& piece : name.indices) {
    const ParsedExpression f = parse_expression(piece.text, names_.scope(Words::parameters));
    if (!f.problems.empty()) return wrong(f.problems.front().message, f.problems.front().hint);
    const NameTable::Known known = names_.known(*f.value);
    if (!known.value)
      return wrong(
          known.problem.empty() ? "" : fmt::format("an index of {}: {}", mechanician::quoted(name.name), known.problem),
          known.hint);
    label.push_back(*known.value);
  }
  names_.mention_label(name.name, label);
  return names_.check_members() ? std::optional(std::move(label)) : std::nullopt;
}

bool ModelReader::no_coordinate(const TomlMember& key, const std::string& name) {
  if (unreadable_.covers("coordinates")) return false;
  std::vector<std::string> known;
  for (const CoordinateFamily& c : model_.coordinates)
    known.push_back(c.bounds.empty() ? c.name : model_.name_of(c.first));
  const std::string near = fields_.is_full() ? "" : nearest(name, known);
  fields_.report(key, fmt::format("{} is no coordinate", mechanician::quoted(name)),
                 near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  return false;
}

std::optional<MemberSymbol> ModelReader::target_of(const TomlMember& key, const std::vector<TermIndex>& indices) {
  const ParsedName name = parse_name(key.name);
  if (!name.indexed || !is_name(name.name)) {
    const auto found = model_.members.find(key.name);
    if (found != model_.members.end() && found->second.symbol.symbol().kind == SymbolKind::coordinate)
      return found->second;
    no_coordinate(key, key.name);
    return std::nullopt;
  }
  const auto label = label_of(key, name, indices);
  if (!label) return std::nullopt;
  const NameTable::Family* family = names_.find_family(name.name);
  names_.begin(indices);
  read_in(key);
  if (!family || !is_moving(family->kind) || family->bounds.size() != label->size()) {
    no_coordinate(key, key.name);
    return std::nullopt;
  }
  const MemberName member = names_.member(name.name, *label, 0, 0);
  if (!member.name) return std::nullopt;
  names_.begin(indices);
  names_.mention_key(name.name, *family, *label, "is no coordinate");
  if (!names_.check_members()) return std::nullopt;
  return model_.members.at(*member.name);
}

}  // namespace mechanician
