// Families: "x[1..N]", lists of parameters, `for`. Members are written out one by one; everything after the reader sees an
// ordinary model with names like x[3]. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/number_fields_internal.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

namespace {

/// Not std::quoted.
constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };

std::string index_text(const std::vector<std::pair<std::string, long>>& bound) {
  std::string text;
  for (const auto& [index, value] : bound) text += fmt::format("{}{}", text.empty() ? "" : ",", value);
  return "[" + text + "]";
}

/// The smallest box that holds all index sets.
class Box {
 public:
  void add(const std::vector<long>& at) {
    if (bounds_.empty())
      for (const long i : at) bounds_.push_back({i, i});
    for (std::size_t k = 0; k < at.size(); ++k)
      bounds_[k].from = std::min(bounds_[k].from, at[k]), bounds_[k].to = std::max(bounds_[k].to, at[k]);
  }
  const std::vector<NameTable::Bounds>& bounds() const { return bounds_; }

 private:
  std::vector<NameTable::Bounds> bounds_;
};

}  // namespace

bool ModelReader::report_in(const TomlValue& value, const ParseProblem& problem) {
  if (!problem.message.empty())
    fields_.report(raw_offset(text_, value.begin, problem.offset),
                   raw_offset(text_, value.begin, problem.offset + problem.length), problem.message, problem.hint);
  return false;
}

void ModelReader::find_sizes() {
  const TomlMember* field = root_.find("parameters");
  if (!field || field->value.type != TomlValue::Type::table) return;
  // Mistakes are reported when the parameters are read. Bounds of coordinates are read before the names of parameters
  // are declared.
  FieldReader silent(map_);
  const auto [sizes, found] = read_scalars(field->value, size_names_, silent, overrides_);
  for (std::size_t i = 0; i < sizes.parameters.size(); ++i)
    if (found.known[i]) sizes_.emplace(sizes.parameters[i].name, found.values.values[i]);
  names_.parameter_value = [this](const std::string& name) -> std::optional<double> {
    const auto size = sizes_.find(name);
    return size == sizes_.end() ? std::nullopt : std::optional(size->second);
  };
  size_names_.parameter_value = names_.parameter_value;
}

void ModelReader::read_coordinate_family(const TomlValue& item) {
  const auto wrong = [&](const ParseProblem& problem) {
    report_in(item, problem);
    fail("coordinates");
  };
  const auto [family, bounds, count, problem] = read_coordinate_bounds(item.text, size_names_);
  if (problem) return wrong(*problem);
  if (count + model_.num_coordinates() > most_coordinates)
    return wrong({0,
                  item.text.size(),
                  fmt::format("the model has {:.0f} coordinates; {} are possible", count + model_.num_coordinates(),
                              most_coordinates),
                  {}});
  if (names_.is_family(family) || coordinates_.contains(family))
    return wrong({0, family.size(), fmt::format("the coordinate {} is given twice", in_quotes(family)), {}});
  names_.add_family(family, bounds);
  std::vector<long> at;
  for (const auto& b : bounds) at.push_back(b.from);
  for (;;) {
    const std::string name = fmt::format("{}[{}]", family, fmt::join(at, ","));
    names_.add(name, NameKind::coordinate, model_.add_coordinate(name, fields_.place_of(item)));
    coordinates_.emplace(name, model_.num_coordinates() - 1);
    std::size_t k = at.size();
    while (k > 0 && at[k - 1] == bounds[k - 1].to) at[k - 1] = bounds[k - 1].from, --k;
    if (k == 0) return;
    ++at[k - 1];
  }
}

void ModelReader::read_array(const TomlMember& field) {
  const auto list = read_list(field, fields_, model_.source.file, static_cast<std::size_t>(most_coordinates));
  if (!list || !add_array(field, list->items, list->numbers, list->columns)) fail("parameters." + field.name);
}

/// One of items and numbers is given.
bool ModelReader::add_array(const TomlMember& field, const std::vector<const TomlValue*>& items,
                            const std::vector<double>& numbers, std::size_t columns) {
  const std::size_t count = std::max(items.size(), numbers.size());
  std::vector<NameTable::Bounds> bounds{{1, static_cast<long>(columns > 0 ? count / columns : count)}};
  if (columns > 0) bounds.push_back({1, static_cast<long>(columns)});
  names_.add_family(field.name, bounds);
  const NameScope scope = names_.parameter_scope();
  for (std::size_t k = 0; k < count; ++k) {
    const std::string name = columns > 0 ? fmt::format("{}[{},{}]", field.name, k / columns + 1, k % columns + 1)
                                         : fmt::format("{}[{}]", field.name, k + 1);
    const std::optional<Expr> f =
        items.empty() ? std::optional(Expr(numbers[k])) : expression(*items[k], "parameters." + name, scope);
    if (!f) return false;
    names_.add(name, NameKind::parameter, parameter(name));
    model_.places["parameters." + name] = items.empty() ? fields_.place_of(field) : fields_.place_of(*items[k]);
    model_.add_parameter(name, *f, fields_.place_of(field));
    if (f->is_constant()) sizes_.emplace(name, f->value());
  }
  return true;
}

void ModelReader::declare_constraint_family(const TomlMember& field) {
  const TomlMember* range = field.value.find("for");
  if (!range || range->value.type != TomlValue::Type::string) return;
  const ParsedRanges parsed = parse_ranges(range->value.text);
  Box box;
  // Mistakes are reported when the constraint is read.
  if (!parsed.problems.empty()) return;
  const auto problem = size_names_.for_each(parsed.ranges, size_names_.parameter_scope(), 0, [&] {
    std::vector<long> at;
    for (const auto& [index, value] : size_names_.bound()) at.push_back(value);
    names_.add_constraint(fmt::format("{}[{}]", field.name, fmt::join(at, ",")));
    box.add(at);
    return true;
  });
  if (!problem) names_.add_constraint_family(field.name, box.bounds());
}

void ModelReader::declare_definition_family(const TomlMember& field) {
  const ParsedName name = parse_name(field.name);
  const TomlMember* range = field.value.find("for");
  if (!range || range->value.type != TomlValue::Type::string || !name.problems.empty()) {
    fields_.report(field, fmt::format("the definition {} does not say what its index runs over", in_quotes(field.name)),
                   fmt::format("write \"{}\" = {{ for = \"i = 1..N\", value = \"...\" }}", printable(field.name)));
    return fail("define." + name.name);
  }
  const ParsedRanges parsed = parse_ranges(range->value.text);
  if (!parsed.problems.empty()) return;
  Box box;
  const auto problem = size_names_.for_each(parsed.ranges, size_names_.parameter_scope(), 0, [&] {
    std::vector<long> at;
    for (const ParsedName::Piece& piece : name.indices) {
      const ParsedExpression f = parse_expression(piece.text, size_names_.parameter_scope());
      const NameTable::Whole whole = f.value ? size_names_.whole_number(*f.value) : NameTable::Whole{};
      if (!whole.value) return false;
      at.push_back(*whole.value);
    }
    names_.add(fmt::format("{}[{}]", name.name, fmt::join(at, ",")), NameKind::definition, std::nullopt);
    box.add(at);
    return true;
  });
  if (!problem && !box.bounds().empty()) names_.add_family(name.name, box.bounds());
}

std::optional<std::string> ModelReader::member_name(const TomlMember& key) {
  const ParsedName name = parse_name(key.name);
  if (!name.indexed || !is_name(name.name)) return key.name;  // what is wrong with it is said where names are checked
  const auto wrong = [&](const std::string& message, const std::string& hint) {
    if (!message.empty()) fields_.report(key, message, hint);
    return std::nullopt;
  };
  if (!name.problems.empty()) return wrong(name.problems.front().message, name.problems.front().hint);
  std::vector<long> at;
  for (const ParsedName::Piece& piece : name.indices) {
    const ParsedExpression f = parse_expression(piece.text, names_.parameter_scope());
    if (!f.problems.empty()) return wrong(f.problems.front().message, f.problems.front().hint);
    const NameTable::Whole whole = names_.whole_number(*f.value);
    if (!whole.value) return wrong(fmt::format("an index of {}: {}", in_quotes(name.name), whole.problem), whole.hint);
    at.push_back(*whole.value);
  }
  return fmt::format("{}[{}]", name.name, fmt::join(at, ","));
}

void ModelReader::each_member(const TomlMember& field, const std::string& path,
                              const std::function<bool(const TomlMember& member, const TomlValue& value)>& read) {
  const TomlMember* range = field.value.type == TomlValue::Type::table ? field.value.find("for") : nullptr;
  const auto one = [&](const TomlValue& value) {
    const auto name = member_name(field);
    return name && read({*name, field.begin, field.end, {}}, value);
  };
  if (!range) {
    if (!one(field.value)) fail(path + "." + field.name);
    return;
  }
  fields_.check_keys(field.value, {"for", "value"}, fmt::format("in {}", in_quotes(path + "." + field.name)));
  const TomlMember* value = field.value.find("value");
  const std::string* text = fields_.string(*range, "`for`");
  if (!value) fields_.report(field, fmt::format("{} has no value", in_quotes(field.name)), "give value = \"...\"");
  if (!value || !text) return fail(path + "." + field.name);
  const ParsedRanges parsed = parse_ranges(*text);
  bool good = parsed.problems.empty();
  for (const ParseProblem& p : parsed.problems) report_in(range->value, p);
  if (good)
    if (const auto problem = names_.for_each(parsed.ranges, names_.parameter_scope(), value->value.text.size(),
                                             [&] { return good = one(value->value); }))
      good = report_in(range->value, *problem);
  if (!good) fail(path + "." + field.name);
}

void ModelReader::each_index(const TomlMember& field, const TomlValue& table, const std::string& path,
                             const std::function<bool(const TomlMember& member)>& read) {
  const TomlMember* range = table.type == TomlValue::Type::table ? table.find("for") : nullptr;
  if (!range) {
    if (!read({field.name, field.begin, field.end, {}})) fail(path);
    return;
  }
  const std::string* text = fields_.string(*range, "`for`");
  if (!text) return fail(path);
  const ParsedRanges parsed = parse_ranges(*text);
  bool good = parsed.problems.empty();
  for (const ParseProblem& p : parsed.problems) report_in(range->value, p);
  if (good)
    if (const auto problem =
            names_.for_each(parsed.ranges, names_.parameter_scope(),
                            range->value.begin < table.end ? table.end - table.begin : 200, [&] {
                              return good = read({field.name + index_text(names_.bound()), field.begin, field.end, {}});
                            }))
      good = report_in(range->value, *problem);
  if (!good) fail(path);
}

}  // namespace mechanician
