// [parameters]: names, lists, columns of CSV files, and what they are worth. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/bodies.hpp"
#include "mechanician/model/csv_column.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/expand_internal.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/parameters_internal.hpp"
#include "mechanician/model/plain_model.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_numbers = 100'000'000;  ///< of a list
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string section_of(bool is_input) { return is_input ? "inputs." : "parameters."; }

bool is_list(const TomlValue& value) {
  return value.type == TomlValue::Type::array || value.type == TomlValue::Type::table;
}

/// Works out parameters in the order in which they need each other.
class Evaluation {
 public:
  struct Item {
    std::string name;
    const Expr* value;
    double* to;
    Place place;
    bool known = false;
  };

  explicit Evaluation(FamilyModel& model) : model_(model) {}

  void add(std::string name, const Expr& value, double* to, const Place& place) {
    numbers_.emplace(to, static_cast<int>(items.size()));
    items.push_back({std::move(name), &value, to, place});
  }

  std::vector<Problem> evaluate() {
    const DependencyOrder order = dependency_order(
        static_cast<int>(items.size()), [&](int i) { return needs(i); }, [&](int i) { finish(i); });
    for (const auto& cycle : order.cycles) {
      const auto name_of = [&](int i) { return items[static_cast<std::size_t>(i)].name; };
      const Item& first = items[static_cast<std::size_t>(cycle.front())];
      problems_.push_back(
          {first.place,
           fmt::format("the parameter `{}` is made of itself: {}", first.name, cycle_text(cycle, name_of)),
           {}});
    }
    return std::move(problems_);
  }

  std::vector<Item> items;

 private:
  std::vector<int> needs(int i) {
    std::vector<int> result;
    collect(*items[static_cast<std::size_t>(i)].value, {}, result);
    return result;
  }

  void need(const double* value, std::vector<int>& result) const {
    const auto number = numbers_.find(value);
    if (number != numbers_.end() && !items[static_cast<std::size_t>(number->second)].known)
      result.push_back(number->second);
  }

  /// What is needed to know what is needed comes first: bounds of sums, indices of members.
  void collect(const Expr& f, const std::vector<TermIndex>& around, std::vector<int>& result) {
    for (const Expr& s : symbols_of(std::span(&f, 1))) {
      if (const auto single = model_.parameter_numbers.find(s.symbol().name); single != model_.parameter_numbers.end())
        need(&model_.parameters[single->second], result);
      if (const QuantitySum* sum = model_.sum_of(s))
        for (const Term& term : sum->terms) {
          const std::size_t before = result.size();
          for (const TermIndex& index : term.indices)
            collect(index.from, around, result), collect(index.to, around, result);
          if (result.size() > before) continue;
          std::vector<TermIndex> inside = around;
          inside.insert(inside.end(), term.indices.begin(), term.indices.end());
          collect(term.body, inside, result);
        }
      const MemberSymbol* member = model_.member_of(s);
      if (!member || s.symbol().kind != SymbolKind::parameter) continue;
      const NumberFamily& list = model_.numbers[static_cast<std::size_t>(member->family)];
      const std::size_t before = result.size();
      for (const Expr& index : member->indices) collect(index, around, result);
      if (result.size() > before || list.expressions.empty()) continue;
      try {
        IndexWalk walk(model_, around);
        IndexValues values(model_, member->indices, walk.symbols());
        walk.each({}, [&](std::span<const double> at) {
          const long number = number_of_member(list.bounds, values(at));
          if (number >= 0) need(&list.values[static_cast<std::size_t>(number)], result);
          return true;
        });
      } catch (const ModelError&) {  // said when the indices are looked at
      }
    }
  }

  void finish(int i) {
    Item& item = items[static_cast<std::size_t>(i)];
    // What is made of a parameter without a value has none, and no mistake of its own.
    if (!needs(i).empty()) return;
    try {
      *item.to = IndexValues(model_, {*item.value}, {})({})[0];
      item.known = std::isfinite(*item.to);
      if (!item.known)
        problems_.push_back(
            {item.place, fmt::format("the parameter `{}` is not finite", item.name), culprit(*item.value)});
    } catch (const ModelError&) {
      item.known = false;
    }
  }

  std::string culprit(const Expr& stated) {
    const Expr f = Expander(model_, true).plain(stated);
    ParameterIndex index;
    std::vector<double> values;
    for (const Expr& s : symbols_of(std::span(&f, 1)))
      if (const double* value = model_.find_parameter(s.symbol().name))
        index.emplace(s.symbol().name, values.size()), values.push_back(*value);
    return evaluate_constant(f, index, values).culprit;
  }

  FamilyModel& model_;
  std::unordered_map<const double*, int> numbers_;
  std::vector<Problem> problems_;
};

}  // namespace

bool ModelReader::is_number_input(const TomlMember& field) const {
  if (field.value.type != TomlValue::Type::string || overrides_.contains(field.name)) return true;
  const TomlMember *parameters = root_.find("parameters"), *inputs = root_.find("inputs");
  Lexer lexer(field.value.text);
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
    if (token.kind == TokenKind::error) return true;  // said where it is read
    if (token.kind != TokenKind::name || token.text == "pi") continue;
    const std::string name(token.text);
    const TomlMember* other = inputs->value.find(name);
    const bool number = (parameters && parameters->value.find(name)) || overrides_.contains(name) ||
                        (other && other != &field && other->value.type == TomlValue::Type::number);
    if (!number && (name == "t" || !is_reserved(name))) return false;
  }
  return true;
}

void ModelReader::open_inputs() {
  const TomlMember* inputs = root_.find("inputs");
  if (!inputs || inputs->value.type != TomlValue::Type::table) return;
  const std::size_t begin = inputs->begin, end = inputs->end;  // sections that are added move it
  std::vector<TomlMember> opened;
  for (const TomlMember& m : inputs->value.members)
    if (m.value.type == TomlValue::Type::string && !is_number_input(m) && family_of(m.name) == m.name)
      opened.push_back(m);
  const auto section = [&](const char* name) -> std::vector<TomlMember>& {
    for (TomlMember& m : root_.members)
      if (m.name == name) return m.value.members;
    TomlMember& made = root_.members.emplace_back();
    made.name = name, made.begin = begin, made.end = end;
    return made.value.members;
  };
  for (const TomlMember& m : opened) {
    TomlMember number = m, expression = m;
    number.value.type = TomlValue::Type::number, number.value.text.clear(), number.value.number = 0.0;
    TomlMember given = number;
    number.name += input_suffix, given.name += given_suffix;
    expression.value.text = fmt::format("if({} > 0, {}, {})", given.name, number.name, m.value.text);
    expression.value.generated = true;
    std::erase_if(section("inputs"), [&](const TomlMember& x) { return x.name == m.name; });
    section("inputs").push_back(number);
    section("parameters").push_back(given);
    section("define").push_back(expression);
    std::vector<TomlMember>& units = section("units");
    for (std::size_t k = 0, count = units.size(); k < count; ++k)
      if (units[k].name == m.name) {
        TomlMember unit = units[k];
        unit.name = number.name;
        units.push_back(unit);
      }
    if (units.empty()) std::erase_if(root_.members, [](const TomlMember& x) { return x.name == "units"; });
  }
}

void ModelReader::read_parameters() {
  struct Stated {
    const TomlMember* field;
    bool is_input;
  };
  std::vector<Stated> members;
  for (const bool is_input : {false, true}) {
    const TomlMember* section = root_.find(is_input ? "inputs" : "parameters");
    if (!section || section->value.type != TomlValue::Type::table) continue;
    for (const TomlMember& m : section->value.members)
      if (!is_input || is_list(m.value) || is_number_input(m)) members.push_back({&m, is_input});
  }
  // To count coordinates, lists matter only where single parameters are made of them.
  const bool wanted = !only_sizes_ || std::any_of(members.begin(), members.end(), [](const Stated& s) {
    return s.field->value.type == TomlValue::Type::string && s.field->value.text.find('[') != std::string::npos;
  });
  std::vector<ListItem> texts;
  for (const auto& [field, is_input] : members) {
    const TomlMember& m = *field;
    const std::string section = is_input ? "inputs." : "parameters.";
    model_.places[section + m.name] = fields_.place_of(m.value);
    if (is_list(m.value)) {
      if (wanted && !read_list(m, section, texts)) fail(section + m.name);
      continue;
    }
    texts.push_back({&m.value, -1, model_.scalars.size()});
    model_.parameter_numbers.emplace(m.name, model_.scalars.size());
    model_.parameter_names.push_back(m.name);
    model_.scalars.push_back({m.name, 1.0, fields_.place_of(m), is_input});
  }
  if (const TomlMember* modes = root_.find("modes"); modes && modes->value.type == TomlValue::Type::table)
    for (const TomlMember& m : modes->value.members) {
      model_.places["parameters." + m.name] = model_.places["modes." + m.name] = fields_.place_of(m.value);
      if (is_list(m.value)) {
        fields_.report(m.value, fmt::format("the mode {} is {}", mechanician::quoted(m.name), in_words(m.value.type)),
                       "a mode is a number, or an expression of parameters");
        fail("modes." + m.name);
        continue;
      }
      if (model_.parameter_numbers.contains(m.name)) {
        fields_.report(m, fmt::format("{} stands for two things: a parameter and a mode", mechanician::quoted(m.name)));
        continue;
      }
      texts.push_back({&m.value, -1, model_.scalars.size()});
      model_.parameter_numbers.emplace(m.name, model_.scalars.size());
      model_.parameter_names.push_back(m.name);
      model_.scalars.push_back({m.name, 1.0, fields_.place_of(m), false, true});
    }
  model_.parameters.assign(model_.scalars.size(), unknown);
  const auto read = [&](const ListItem& t) {
    NumberFamily* list = t.list < 0 ? nullptr : &model_.numbers[static_cast<std::size_t>(t.list)];
    const std::string section = section_of(list ? list->is_input : model_.scalars[t.number].is_input),
                      path = section + (list ? list->member_name(t.number) : model_.scalars[t.number].name);
    // What has been set need not be a number by itself.
    if (!list && model_.scalars[t.number].is_input && overrides_.contains(model_.scalars[t.number].name)) return true;
    auto f = expression(*t.value, path, Words::parameters);
    if (f) take_unit(*t.value, list ? list->name : model_.scalars[t.number].name, 0, *f);
    if (f) (list ? list->expressions.at(t.number).value : model_.scalars[t.number].value) = *f;
    if (!f && list) fail(section + list->name);
    return f.has_value();
  };
  std::erase_if(texts, [&](const ListItem& t) { return !read(t); });
  const std::vector<Problem> problems = evaluate_parameters();
  names_.parameter_value = [this](const std::string& name) -> std::optional<double> {
    const double* value = model_.find_parameter(name);
    return value && std::isfinite(*value) ? std::optional(*value) : std::nullopt;
  };
  // Which members parameters are made of is known once sizes are.
  for (const ListItem& t : texts)
    if (t.value->text.find_first_of("[=") != std::string::npos) read(t);
  if (!unreadable_.touches("parameters") && !unreadable_.touches("inputs"))
    for (const Problem& p : problems) fields_.report(p.place, p.message, p.hint);
}

bool ModelReader::read_list(const TomlMember& field, const std::string& section, std::vector<ListItem>& texts) {
  const std::string path = mechanician::quoted(section + field.name);
  const bool is_input = section == section_of(true);
  const auto wrong = [&](const TomlValue& at, std::string_view message, std::string_view hint = {}) {
    fields_.report(at, message, hint);
    return false;
  };
  NumberFamily family;
  family.name = field.name, family.position = model_.scalars.size(), family.place = fields_.place_of(field);
  family.is_input = is_input;
  const auto number = static_cast<int>(model_.numbers.size());
  std::size_t columns = 0;
  if (field.value.type == TomlValue::Type::table) {
    const TomlMember *file = field.value.find("csv"), *column = field.value.find("column");
    if (!file)
      return wrong(field.value, fmt::format("{} is a table", path),
                   "numbers from a file are given as { csv = \"file.csv\", column = \"name\" }");
    fields_.check_keys(field.value, {"csv", "column"}, fmt::format("in {}", path));
    if (!column) return wrong(field.value, fmt::format("{} does not say which column", path), "give column = \"name\"");
    const std::string *name = fields_.string(*file, "`csv`"), *asked = fields_.string(*column, "`column`");
    if (!name || !asked) return false;
    CsvColumns found = read_csv_columns(model_.source.file, *name, std::span(asked, 1), most_numbers);
    if (!found.problem.empty())
      return wrong(found.about_column >= 0 ? column->value : file->value, found.problem, found.hint);
    family.values = std::move(found.values.front());
  } else {
    const auto& rows = field.value.items;
    const bool matrix = !rows.empty() && rows.front().type == TomlValue::Type::array;
    const auto add = [&](const TomlValue& item) {
      if (item.type != TomlValue::Type::number || !std::isfinite(item.number)) {
        texts.push_back({&item, number, family.values.size()});
        family.expressions.emplace(family.values.size(), NumberFamily::Item{unknown, fields_.place_of(item)});
      }
      family.values.push_back(item.type == TomlValue::Type::number ? item.number : unknown);
    };
    for (const TomlValue& row : rows) {
      if ((row.type == TomlValue::Type::array) != matrix || (matrix && row.items.size() != rows.front().items.size()))
        return wrong(row, fmt::format("the rows of {} are not alike", path),
                     "a list has numbers, or lists of equal length");
      if (!matrix) add(row);
      for (const TomlValue& item : row.items) add(item);
    }
    if (family.values.empty()) return wrong(field.value, fmt::format("{} has no members", path));
    if (matrix) columns = rows.front().items.size();
  }
  family.bounds = {{1, static_cast<long>(family.values.size() / std::max<std::size_t>(1, columns))}};
  if (columns > 0) family.bounds.push_back({1, static_cast<long>(columns)});
  if (const UnitOf* unit = unit_of(field.name))
    for (double& x : family.values) x *= unit->factor;
  names_.add_family(
      field.name,
      {.kind = is_input ? NameKind::input : NameKind::parameter, .number = number, .bounds = family.bounds});
  model_.numbers.push_back(std::move(family));
  return true;
}

std::vector<Problem> ModelReader::evaluate_parameters() {
  for (const auto& [name, value] : overrides_)
    if (double* to = model_.find_parameter(name)) {
      const UnitOf* unit = unit_of(name);
      *to = unit ? value * unit->factor : value;
    } else if (name != inputs_opened && name != nothing_drawn) {
      model_.unknown_overrides.push_back(name);
    }
  Evaluation evaluation(model_);
  for (std::size_t i = 0; i < model_.scalars.size(); ++i) {
    const Parameter& p = model_.scalars[i];
    const std::string path = section_of(p.is_input) + p.name;
    if (!overrides_.contains(p.name) && !unreadable_.covers(path))
      evaluation.add(p.name, p.value, &model_.parameters[i], model_.places.at(path));
  }
  for (NumberFamily& list : model_.numbers)
    for (const auto& [k, item] : list.expressions)
      if (const std::string name = list.member_name(k); !overrides_.contains(name))
        evaluation.add(name, item.value, &list.values[k], item.place);
  return evaluation.evaluate();
}

}  // namespace mechanician
