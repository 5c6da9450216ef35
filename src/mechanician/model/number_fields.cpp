#include <fmt/format.h>

#include <array>
#include <charconv>
#include <initializer_list>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/csv_column.hpp"
#include "mechanician/model/number_fields_internal.hpp"

namespace mechanician {

namespace {

/// Not std::quoted.
constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };

}  // namespace

ScalarParameters read_scalars(const TomlValue& table, NameTable& names, FieldReader& fields,
                              const ParameterOverrides& overrides) {
  ScalarParameters result;
  for (const TomlMember& m : table.members)
    if (m.value.type == TomlValue::Type::number || m.value.type == TomlValue::Type::string)
      names.add(m.name, NameKind::parameter, parameter(m.name));
  for (const TomlMember& m : table.members) {
    if (m.value.type == TomlValue::Type::array || m.value.type == TomlValue::Type::table) continue;
    if (const auto f = fields.expression(m.value, names.parameter_scope(), in_quotes("parameters." + m.name)))
      result.model.add_parameter(m.name, *f, fields.place_of(m.value));
  }
  result.found = try_evaluate_parameters(result.model, overrides);
  return result;
}

CoordinateBounds read_coordinate_bounds(const std::string& text, const NameTable& sizes) {
  CoordinateBounds result;
  const auto wrong = [&](ParseProblem problem) {
    result.problem = std::move(problem);
    return result;
  };
  const ParsedName family = parse_name(text);
  result.name = family.name;
  if (!family.problems.empty()) return wrong(family.problems.front());
  for (const ParsedName::Piece& piece : family.indices) {
    const auto range = split_range(piece);
    if (!range)
      return wrong({piece.offset, piece.text.size(), "a family of coordinates is given with its bounds",
                    fmt::format("for example {}[1..N]", family.name)});
    long ends[2];
    for (const bool upper : {false, true}) {
      const ParsedName::Piece& end = upper ? range->second : range->first;
      ParsedExpression f = parse_expression(end.text, sizes.parameter_scope());
      if (!f.problems.empty()) {
        f.problems.front().offset += end.offset;
        return wrong(f.problems.front());
      }
      const NameTable::Whole whole = sizes.whole_number(*f.value);
      if (!whole.value)
        return wrong({end.offset, end.text.size(),
                      fmt::format("a bound of {}: {}", in_quotes(family.name), whole.problem), whole.hint});
      ends[upper] = *whole.value;
    }
    if (ends[1] < ends[0])
      return wrong(
          {piece.offset,
           piece.text.size(),
           fmt::format("the family {} has no members: its bounds are {}..{}", in_quotes(family.name), ends[0], ends[1]),
           {}});
    result.bounds.push_back({ends[0], ends[1]});
    result.count *= static_cast<double>(ends[1] - ends[0] + 1);
  }
  return result;
}

std::optional<NumberList> read_list(const TomlMember& field, FieldReader& fields, const std::string& model_file,
                                    std::size_t most_rows) {
  const std::string path = in_quotes("parameters." + field.name);
  const auto wrong = [&](const TomlValue& at, std::string_view message, std::string_view hint = {}) {
    fields.report(at, message, hint);
    return std::nullopt;
  };
  NumberList list;
  if (field.value.type == TomlValue::Type::table) {
    const TomlMember *file = field.value.find("csv"), *column = field.value.find("column");
    if (!file)
      return wrong(field.value, fmt::format("{} is a table", path),
                   "numbers from a file are given as { csv = \"file.csv\", column = \"name\" }");
    fields.check_keys(field.value, {"csv", "column"}, fmt::format("in {}", path));
    if (!column) return wrong(field.value, fmt::format("{} does not say which column", path), "give column = \"name\"");
    const std::string *name = fields.string(*file, "`csv`"), *wanted = fields.string(*column, "`column`");
    if (!name || !wanted) return std::nullopt;
    CsvColumn found = read_csv_column(model_file, *name, *wanted, most_rows);
    if (!found.problem.empty())
      return wrong(found.about_column ? column->value : file->value, found.problem, found.hint);
    list.numbers = std::move(found.values);
    return list;
  }
  const auto& rows = field.value.items;
  const bool matrix = !rows.empty() && rows.front().type == TomlValue::Type::array;
  for (const TomlValue& row : rows) {
    if ((row.type == TomlValue::Type::array) != matrix || (matrix && row.items.size() != rows.front().items.size()))
      return wrong(row, fmt::format("the rows of {} are not alike", path),
                   "a list has numbers, or lists of equal length");
    if (!matrix) list.items.push_back(&row);
    for (const TomlValue& item : row.items) list.items.push_back(&item);
  }
  if (list.items.empty()) return wrong(field.value, fmt::format("{} has no members", path));
  if (matrix) list.columns = rows.front().items.size();
  return list;
}

std::optional<double> number_of(const Expr& f) {
  const Expr simple = simplify(f);
  if (simple.kinds() != 0) return std::nullopt;
  return evaluate_constant(simple, ParameterIndex{}, std::vector<double>{}).value;
}

bool set_number(NumberFamily& family, const ParsedName& member, double value) {
  if (member.indices.size() != family.bounds.size()) return false;
  long number = 0;
  for (std::size_t k = 0; k < family.bounds.size(); ++k) {
    long index = 0;
    const std::string_view text = member.indices[k].text;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || index < family.bounds[k].from ||
        index > family.bounds[k].to)
      return false;
    number = number * family.bounds[k].count() + index - family.bounds[k].from;
  }
  family.values[static_cast<std::size_t>(number)] = value;
  return true;
}

EventChoice read_event_choice(const TomlMember& event, const TomlValue& table, FieldReader& fields) {
  fields.check_keys(table, {"when", "direction", "do", "for"}, fmt::format("in the event {}", in_quotes(event.name)));
  const auto choose = [&](const char* key, std::initializer_list<std::string_view> choices) -> std::size_t {
    const TomlMember* field = table.find(key);
    const std::string* text = field ? fields.string(*field, fmt::format("`{}`", key)) : nullptr;
    for (std::size_t i = 0; text && i < choices.size(); ++i)
      if (*text == choices.begin()[i]) return i;
    if (text)
      fields.report(field->value, fmt::format("`{}` cannot be {}", key, in_quotes(*text)),
                    fmt::format("it is {}", fmt::join(choices, " or ")));
    return 0;
  };
  const std::array directions{EventDirection::both, EventDirection::up, EventDirection::down};
  const std::array actions{EventAction::record, EventAction::stop};
  EventChoice choice;
  choice.direction = directions[choose("direction", {"both", "up", "down"})];
  choice.action = actions[choose("do", {"record", "stop"})];
  return choice;
}

}  // namespace mechanician
