// [parameters]: names, lists, columns of CSV files, and what they are worth. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/csv_column.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/expand_internal.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/parameters_internal.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_numbers = 100'000'000;  ///< of a list
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

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

void ModelReader::read_parameters() {
  const TomlMember* field = root_.find("parameters");
  static const std::vector<TomlMember> none;
  const auto& members = field && field->value.type == TomlValue::Type::table ? field->value.members : none;
  // To count coordinates, lists matter only where single parameters are made of them.
  const bool wanted = !only_sizes_ || std::any_of(members.begin(), members.end(), [](const TomlMember& m) {
    return m.value.type == TomlValue::Type::string && m.value.text.find('[') != std::string::npos;
  });
  std::vector<ListItem> texts;
  for (const TomlMember& m : members) {
    model_.places["parameters." + m.name] = fields_.place_of(m.value);
    if (is_list(m.value)) {
      if (wanted && !read_list(m, texts)) fail("parameters." + m.name);
      continue;
    }
    texts.push_back({&m.value, -1, model_.scalars.size()});
    model_.parameter_numbers.emplace(m.name, model_.scalars.size());
    model_.parameter_names.push_back(m.name);
    model_.scalars.push_back({m.name, 1.0, fields_.place_of(m)});
  }
  model_.parameters.assign(model_.scalars.size(), unknown);
  const auto read = [&](const ListItem& t) {
    NumberFamily* list = t.list < 0 ? nullptr : &model_.numbers[static_cast<std::size_t>(t.list)];
    const std::string path = "parameters." + (list ? list->member_name(t.number) : model_.scalars[t.number].name);
    const auto f = expression(*t.value, path, Words::parameters);
    if (f) (list ? list->expressions.at(t.number).value : model_.scalars[t.number].value) = *f;
    if (!f && list) fail("parameters." + list->name);
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
  if (!unreadable_.touches("parameters"))
    for (const Problem& p : problems) fields_.report(p.place, p.message, p.hint);
}

bool ModelReader::read_list(const TomlMember& field, std::vector<ListItem>& texts) {
  const std::string path = mechanician::quoted("parameters." + field.name);
  const auto wrong = [&](const TomlValue& at, std::string_view message, std::string_view hint = {}) {
    fields_.report(at, message, hint);
    return false;
  };
  NumberFamily family;
  family.name = field.name, family.position = model_.scalars.size(), family.place = fields_.place_of(field);
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
  names_.add_family(field.name, {.kind = NameKind::parameter, .number = number, .bounds = family.bounds});
  model_.numbers.push_back(std::move(family));
  return true;
}

std::vector<Problem> ModelReader::evaluate_parameters() {
  for (const auto& [name, value] : overrides_)
    if (double* to = model_.find_parameter(name))
      *to = value;
    else
      model_.unknown_overrides.push_back(name);
  Evaluation evaluation(model_);
  for (std::size_t i = 0; i < model_.scalars.size(); ++i) {
    const Parameter& p = model_.scalars[i];
    if (!overrides_.contains(p.name) && !unreadable_.covers("parameters." + p.name))
      evaluation.add(p.name, p.value, &model_.parameters[i], model_.places.at("parameters." + p.name));
  }
  for (NumberFamily& list : model_.numbers)
    for (const auto& [k, item] : list.expressions)
      if (const std::string name = list.member_name(k); !overrides_.contains(name))
        evaluation.add(name, item.value, &list.values[k], item.place);
  return evaluation.evaluate();
}

}  // namespace mechanician
