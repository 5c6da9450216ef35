// Families: "x[1..N]", lists of parameters, `for`. Members are written out one by one; everything after the reader sees an
// ordinary model with names like x[3]. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/model/csv_column.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/parameters_internal.hpp"
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
    fields_.report(raw_offset(text_, value.begin, problem.offset), raw_offset(text_, value.begin, problem.offset + problem.length), problem.message,
                   problem.hint);
  return false;
}

void ModelReader::find_sizes() {
  const TomlMember* field = root_.find("parameters");
  if (!field || field->value.type != TomlValue::Type::table) return;
  // Mistakes are reported when the parameters are read.
  NameTable alone;
  Model sizes;
  std::vector<std::pair<const TomlMember*, std::string>> texts;
  for (const TomlMember& m : field->value.members)
    if (m.value.type == TomlValue::Type::number || m.value.type == TomlValue::Type::string) alone.add(m.name, NameKind::parameter, parameter(m.name));
  for (const TomlMember& m : field->value.members) {
    if (m.value.type == TomlValue::Type::number) sizes.add_parameter(m.name, m.value.number);
    if (m.value.type != TomlValue::Type::string || m.value.text.size() > longest_expression) continue;
    if (const ParsedExpression f = parse_expression(m.value.text, alone.parameter_scope()); f.value) sizes.add_parameter(m.name, *f.value);
  }
  const ParameterEvaluation found = try_evaluate_parameters(sizes, overrides_);
  for (std::size_t i = 0; i < sizes.parameters.size(); ++i)
    if (found.known[i]) sizes_.emplace(sizes.parameters[i].name, found.values.values[i]);
  names_.parameter_value = [this](const std::string& name) -> std::optional<double> {
    const auto size = sizes_.find(name);
    return size == sizes_.end() ? std::nullopt : std::optional(size->second);
  };
  // Bounds of coordinates are read before the names of parameters are declared.
  for (const TomlMember& m : field->value.members)
    if (m.value.type == TomlValue::Type::number || m.value.type == TomlValue::Type::string) size_names_.add(m.name, NameKind::parameter, parameter(m.name));
  size_names_.parameter_value = names_.parameter_value;
}

void ModelReader::read_coordinate_family(const TomlValue& item) {
  const auto wrong = [&](const ParseProblem& problem) {
    report_in(item, problem);
    fail("coordinates");
  };
  const ParsedName family = parse_name(item.text);
  if (!family.problems.empty()) return wrong(family.problems.front());
  std::vector<NameTable::Bounds> bounds;
  double count = 1.0;
  for (const ParsedName::Piece& piece : family.indices) {
    const auto range = split_range(piece);
    if (!range) return wrong({piece.offset, piece.text.size(), "a family of coordinates is given with its bounds", fmt::format("for example {}[1..N]", family.name)});
    long ends[2];
    for (const bool upper : {false, true}) {
      const ParsedName::Piece& end = upper ? range->second : range->first;
      ParsedExpression f = parse_expression(end.text, size_names_.parameter_scope());
      if (!f.problems.empty()) {
        f.problems.front().offset += end.offset;
        return wrong(f.problems.front());
      }
      const NameTable::Whole whole = size_names_.whole_number(*f.value);
      if (!whole.value) return wrong({end.offset, end.text.size(), fmt::format("a bound of {}: {}", in_quotes(family.name), whole.problem), whole.hint});
      ends[upper] = *whole.value;
    }
    if (ends[1] < ends[0])
      return wrong({piece.offset, piece.text.size(), fmt::format("the family {} has no members: its bounds are {}..{}", in_quotes(family.name), ends[0], ends[1]), {}});
    bounds.push_back({ends[0], ends[1]});
    count *= static_cast<double>(ends[1] - ends[0] + 1);
  }
  if (count + model_.num_coordinates() > most_coordinates)
    return wrong({0, item.text.size(), fmt::format("the model has {:.0f} coordinates; {} are possible", count + model_.num_coordinates(), most_coordinates), {}});
  if (names_.is_family(family.name) || coordinates_.contains(family.name))
    return wrong({0, family.name.size(), fmt::format("the coordinate {} is given twice", in_quotes(family.name)), {}});
  names_.add_family(family.name, bounds);
  std::vector<long> at;
  for (const auto& b : bounds) at.push_back(b.from);
  for (;;) {
    const std::string name = fmt::format("{}[{}]", family.name, fmt::join(at, ","));
    names_.add(name, NameKind::coordinate, model_.add_coordinate(name, fields_.place_of(item)));
    coordinates_.emplace(name, model_.num_coordinates() - 1);
    std::size_t k = at.size();
    while (k > 0 && at[k - 1] == bounds[k - 1].to) at[k - 1] = bounds[k - 1].from, --k;
    if (k == 0) return;
    ++at[k - 1];
  }
}

void ModelReader::read_array(const TomlMember& field) {
  const std::string path = "parameters." + field.name;
  if (field.value.type == TomlValue::Type::table) {
    if (const TomlMember* file = field.value.find("csv")) return read_array_of_file(field, *file);
    fields_.report(field.value, fmt::format("{} is a table", in_quotes(path)), "numbers from a file are given as { csv = \"file.csv\", column = \"name\" }");
    return fail(path);
  }
  std::vector<const TomlValue*> items;
  std::size_t columns = 0;
  const auto& rows = field.value.items;
  const bool matrix = !rows.empty() && rows.front().type == TomlValue::Type::array;
  for (const TomlValue& row : rows) {
    if ((row.type == TomlValue::Type::array) != matrix || (matrix && row.items.size() != rows.front().items.size())) {
      fields_.report(row, fmt::format("the rows of {} are not alike", in_quotes(path)), "a list has numbers, or lists of equal length");
      return fail(path);
    }
    if (!matrix) items.push_back(&row);
    for (const TomlValue& item : row.items) items.push_back(&item);
  }
  if (matrix) columns = rows.front().items.size();
  if (items.empty()) {
    fields_.report(field.value, fmt::format("{} has no members", in_quotes(path)));
    return fail(path);
  }
  if (!add_array(field, items, {}, columns)) fail(path);
}

/// One of items and numbers is given.
bool ModelReader::add_array(const TomlMember& field, const std::vector<const TomlValue*>& items, const std::vector<double>& numbers, std::size_t columns) {
  const std::size_t count = std::max(items.size(), numbers.size());
  std::vector<NameTable::Bounds> bounds{{1, static_cast<long>(columns > 0 ? count / columns : count)}};
  if (columns > 0) bounds.push_back({1, static_cast<long>(columns)});
  names_.add_family(field.name, bounds);
  const NameScope scope = names_.parameter_scope();
  for (std::size_t k = 0; k < count; ++k) {
    const std::string name = columns > 0 ? fmt::format("{}[{},{}]", field.name, k / columns + 1, k % columns + 1) : fmt::format("{}[{}]", field.name, k + 1);
    const std::optional<Expr> f = items.empty() ? std::optional(Expr(numbers[k])) : expression(*items[k], "parameters." + name, scope);
    if (!f) return false;
    names_.add(name, NameKind::parameter, parameter(name));
    model_.places["parameters." + name] = items.empty() ? fields_.place_of(field) : fields_.place_of(*items[k]);
    model_.add_parameter(name, *f, fields_.place_of(field));
    if (f->is_constant()) sizes_.emplace(name, f->value());
  }
  return true;
}

void ModelReader::read_array_of_file(const TomlMember& field, const TomlMember& file) {
  const std::string path = "parameters." + field.name;
  const auto wrong = [&](const TomlValue& at, std::string_view message, std::string_view hint = {}) {
    fields_.report(at, message, hint);
    fail(path);
  };
  fields_.check_keys(field.value, {"csv", "column"}, fmt::format("in {}", in_quotes(path)));
  const TomlMember* column = field.value.find("column");
  if (!column) return wrong(field.value, fmt::format("{} does not say which column", in_quotes(path)), "give column = \"name\"");
  const std::string *name = fields_.string(file, "`csv`"), *wanted = fields_.string(*column, "`column`");
  if (!name || !wanted) return fail(path);
  const CsvColumn found = read_csv_column(model_.source.file, *name, *wanted, static_cast<std::size_t>(most_coordinates));
  if (!found.problem.empty()) return wrong(found.about_column ? column->value : file.value, found.problem, found.hint);
  if (!add_array(field, {}, found.values, 0)) fail(path);
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
    if (const auto problem = names_.for_each(parsed.ranges, names_.parameter_scope(), value->value.text.size(), [&] { return good = one(value->value); }))
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
    if (const auto problem = names_.for_each(parsed.ranges, names_.parameter_scope(), range->value.begin < table.end ? table.end - table.begin : 200, [&] {
          return good = read({field.name + index_text(names_.bound()), field.begin, field.end, {}});
        }))
      good = report_in(range->value, *problem);
  if (!good) fail(path);
}

}  // namespace mechanician
