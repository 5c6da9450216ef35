// [tables]: functions given by data, from CSV files or point by point. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/model/csv_column.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_rows = 100'000'000;

/// Rows as they were given, each with its place.
struct Rows {
  std::vector<std::string> arguments, values;  ///< names of columns; the only value has none of its own
  bool named = false;                          ///< values are called table.value
  std::vector<std::vector<double>> columns;    ///< arguments, then values
  std::size_t size() const { return columns.empty() ? 0 : columns.front().size(); }
};

/// The points of a grid from rows in any order.
struct Grid {
  std::vector<std::vector<double>> arguments;
  std::vector<std::size_t> row;  ///< by point
  std::string problem, hint;
  std::size_t at = 0;  ///< the row that it is about
  bool about_row = false;
};

Grid make_grid(const Rows& rows) {
  Grid grid;
  for (int a = 0; a < 2; ++a) {
    std::vector<double> points = rows.columns[static_cast<std::size_t>(a)];
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    grid.arguments.push_back(std::move(points));
  }
  const std::size_t n0 = grid.arguments[0].size(), n1 = grid.arguments[1].size();
  const auto point = [&](std::size_t i, std::size_t j) {
    return fmt::format("{} = {}, {} = {}", rows.arguments[0], number_text(grid.arguments[0][i]), rows.arguments[1],
                       number_text(grid.arguments[1][j]));
  };
  const std::size_t none = rows.size();
  if (n0 * n1 > 4 * rows.size() + 16) {
    grid.problem = fmt::format("{} are no grid of {} × {}", count_noun(rows.size(), "point"), n0, n1);
    grid.hint = "a grid has a value for each of the first argument with each of the second";
    return grid;
  }
  grid.row.assign(n0 * n1, none);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto at = [&](int a) {
      const auto& points = grid.arguments[static_cast<std::size_t>(a)];
      return static_cast<std::size_t>(
          std::lower_bound(points.begin(), points.end(), rows.columns[static_cast<std::size_t>(a)][k]) -
          points.begin());
    };
    std::size_t& row = grid.row[at(0) * n1 + at(1)];
    if (row != none) {
      grid.problem = fmt::format("the point {} is there twice", point(at(0), at(1)));
      grid.hint = "a function has one value at each place", grid.at = k, grid.about_row = true;
      return grid;
    }
    row = k;
  }
  const auto missing = std::find(grid.row.begin(), grid.row.end(), none);
  if (missing == grid.row.end()) return grid;
  const auto k = static_cast<std::size_t>(missing - grid.row.begin());
  grid.problem = fmt::format("the grid has no value at {}", point(k / n1, k % n1));
  grid.hint = "a grid has a value for each of the first argument with each of the second";
  return grid;
}

}  // namespace

void ModelReader::read_tables() {
  const TomlValue* tables = section("tables");
  if (!tables) return;
  for (const TomlMember& m : tables->members) read_table(m);
}

void ModelReader::read_table(const TomlMember& field) {
  const std::string path = "tables." + field.name, shown = mechanician::quoted(path);
  model_.places[path] = fields_.place_of(field);
  names_.add_table(field.name, std::nullopt);
  bool good = true;
  const auto wrong = [&](const auto& at, std::string_view message, std::string_view hint = {}) {
    fields_.report(at, message, hint);
    good = false;
  };
  const TomlValue& given = field.value;
  if (given.type != TomlValue::Type::table) {
    wrong(given, fmt::format("{} is a table with a file or points, not {}", shown, in_words(given.type)),
          "for example [tables.quake] with file = \"quake.csv\", argument = \"t\", value = \"a\"");
    return fail(path);
  }
  if (field.name == "sum" || field.name == "ideal" || field.name == "multiplier")
    wrong(field, fmt::format("{} cannot be the name of a table", mechanician::quoted(field.name)),
          fmt::format("{} is part of the language", field.name));
  const std::size_t before = fields_.problems.size();
  fields_.check_keys(given, {"file", "points", "argument", "arguments", "value", "interpolation", "outside", "units"},
                     fmt::format("in {}", shown));
  good = good && fields_.problems.size() == before;

  // One of several words.
  const auto word = [&](const char* key, std::span<const char* const> words, int otherwise) {
    const TomlMember* m = given.find(key);
    if (!m) return otherwise;
    const std::string* text = fields_.string(*m, fmt::format("`{}`", key));
    const auto found = text ? std::find(words.begin(), words.end(), *text) : words.end();
    if (found != words.end()) return static_cast<int>(found - words.begin());
    good = false;
    const std::vector<std::string> all(words.begin(), words.end());
    const std::string near = text ? nearest(*text, all) : std::string();
    if (text)
      fields_.report(
          m->value, fmt::format("{} is no {} of a table", mechanician::quoted(*text), key),
          near.empty() ? fmt::format("there are {}", quote_list(all)) : fmt::format("did you mean `{}`?", near));
    return otherwise;
  };
  constexpr std::array interpolations{"linear", "cubic", "monotone", "steps"};
  constexpr std::array outsides{"error", "hold", "zero", "periodic"};
  const auto interpolation = static_cast<Interpolation>(word("interpolation", interpolations, 0));
  const auto outside = static_cast<Outside>(word("outside", outsides, 0));

  // A name, or a list of them.
  const auto names = [&](const TomlMember* m, const char* key, bool list_only) {
    std::vector<std::string> read;
    if (!m) return read;
    if (m->value.type == TomlValue::Type::string && !list_only) return std::vector{m->value.text};
    if (m->value.type != TomlValue::Type::array) {
      wrong(m->value,
            fmt::format("`{}` is {}, not {}", key, list_only ? "a list of two names" : "a name or a list of names",
                        in_words(m->value.type)));
      return read;
    }
    for (const TomlValue& item : m->value.items) {
      if (item.type != TomlValue::Type::string) {
        wrong(item, fmt::format("a name stands in quotation marks; this is {}", in_words(item.type)));
        return read;
      }
      if (std::find(read.begin(), read.end(), item.text) != read.end())
        wrong(item, fmt::format("{} is there twice", mechanician::quoted(item.text)));
      read.push_back(item.text);
    }
    if (read.empty()) wrong(m->value, fmt::format("`{}` has no names", key));
    return read;
  };
  // [m, mm]: in which units the columns are, arguments first.
  std::vector<Unit> units;
  if (const TomlMember* m = given.find("units")) {
    if (m->value.type != TomlValue::Type::array) {
      wrong(m->value, fmt::format("`units` is a list of units, not {}", in_words(m->value.type)),
            "one for each argument, then one for each value: units = [\"s\", \"m/s^2\"]");
      return fail(path);
    }
    for (const TomlValue& item : m->value.items) {
      const ParsedUnit parsed = item.type == TomlValue::Type::string ? parse_unit(item.text) : ParsedUnit();
      if (item.type != TomlValue::Type::string)
        wrong(item, fmt::format("a unit stands in quotation marks; this is {}", in_words(item.type)));
      else if (!parsed.unit)
        wrong(item, parsed.problem, parsed.hint);
      if (parsed.unit) units.push_back(*parsed.unit);
    }
    if (!good) return fail(path);
  }
  const TomlMember *file = given.find("file"), *points = given.find("points"), *argument = given.find("argument"),
                   *arguments = given.find("arguments"), *value = given.find("value");
  Rows rows;
  if (argument && arguments)
    wrong(*arguments, fmt::format("{} has `argument` and `arguments`", shown),
          "one argument, or two: one of these keys");
  if (argument) {
    if (const std::string* text = fields_.string(*argument, "`argument`"))
      rows.arguments = {*text};
    else
      good = false;
  }
  if (arguments && !argument) {
    rows.arguments = names(arguments, "arguments", true);
    if (!rows.arguments.empty() && rows.arguments.size() != 2)
      wrong(arguments->value, fmt::format("`arguments` has {}", count_noun(rows.arguments.size(), "name")),
            "a grid has two arguments; a single one is given by `argument`");
  }
  rows.values = names(value, "value", false);
  rows.named = value && value->value.type == TomlValue::Type::array;
  if (rows.named)
    for (std::size_t k = 0; k < rows.values.size(); ++k)
      if (!is_name(rows.values[k]))
        wrong(value->value.items[k],
              fmt::format("{} cannot stand behind the name of a table", mechanician::quoted(rows.values[k])),
              "a name is a letter or _, then letters, digits and _");
  if (!file && !points)
    wrong(field, fmt::format("{} has no points", shown), "give file = \"data.csv\", or points = [[0, 1], [2, 3]]");
  if (file && points) wrong(*points, fmt::format("{} has a file and points", shown), "a table is made of one of both");
  if (file && !argument && !arguments)
    wrong(field, fmt::format("{} does not say which column is its argument", shown), "give argument = \"t\"");
  if (file && !value)
    wrong(field, fmt::format("{} does not say which column has its values", shown), "give value = \"a\"");
  if (!good) return fail(path);

  // Where a row stands.
  std::vector<long> lines;
  std::string file_name;
  const auto report_row = [&](std::size_t row, const std::string& message, const std::string& hint) {
    if (file)
      wrong(file->value, fmt::format("line {} of {}: {}", lines[row], mechanician::quoted(file_name), message), hint);
    else
      wrong(points->value.items[row], message, hint);
  };
  const auto report_all = [&](const std::string& message, const std::string& hint) {
    if (file)
      wrong(file->value, fmt::format("{}: {}", mechanician::quoted(file_name), message), hint);
    else
      wrong(points->value, message, hint);
  };
  if (file) {
    const std::string* name = fields_.string(*file, "`file`");
    if (!name) return fail(path);
    file_name = *name;
    std::vector<std::string> columns = rows.arguments;
    columns.insert(columns.end(), rows.values.begin(), rows.values.end());
    CsvColumns found = read_csv_columns(model_.source.file, file_name, columns, most_rows);
    if (!found.problem.empty()) {
      const int about = found.about_column, num = static_cast<int>(rows.arguments.size());
      const auto item = [](const TomlMember& m, int k) -> const TomlValue& {
        return m.value.type == TomlValue::Type::array ? m.value.items[static_cast<std::size_t>(k)] : m.value;
      };
      wrong(about < 0     ? file->value
            : about < num ? item(argument ? *argument : *arguments, about)
                          : item(*value, about - num),
            found.problem, found.hint);
      return fail(path);
    }
    rows.columns = std::move(found.values), lines = std::move(found.lines);
  } else {
    if (rows.arguments.empty()) rows.arguments = {"x"};
    const std::size_t width = rows.arguments.size() + std::max<std::size_t>(rows.values.size(), 1);
    rows.columns.resize(width);
    if (points->value.type != TomlValue::Type::array || points->value.items.empty()) {
      wrong(points->value,
            fmt::format("`points` is a list of points, not {}",
                        points->value.type == TomlValue::Type::array ? "an empty one" : in_words(points->value.type)),
            "for example points = [[0, 1], [2, 3]]");
      return fail(path);
    }
    for (const TomlValue& row : points->value.items) {
      if (row.type != TomlValue::Type::array || row.items.size() != width) {
        wrong(row,
              row.type != TomlValue::Type::array
                  ? fmt::format("a point is a list of numbers, not {}", in_words(row.type))
                  : fmt::format("this point has {}, not {}", count_noun(row.items.size(), "number"), width),
              width == 2 ? "a point is [x, value]; with arguments = [\"x\", \"y\"] it is [x, y, value]" : "");
        return fail(path);
      }
      for (std::size_t k = 0; k < width; ++k) {
        const TomlValue& item = row.items[k];
        if (item.type != TomlValue::Type::number || !std::isfinite(item.number)) {
          wrong(item, item.type == TomlValue::Type::number
                          ? "a point has finite numbers"
                          : fmt::format("a point has numbers, not {}", in_words(item.type)));
          return fail(path);
        }
        rows.columns[k].push_back(item.number);
      }
    }
  }

  if (const TomlMember* m = given.find("units")) {
    if (units.size() != rows.columns.size()) {
      wrong(m->value,
            fmt::format("`units` has {} for {}", count_noun(units.size(), "unit"),
                        count_noun(rows.columns.size(), "column")),
            "one for each argument, then one for each value: units = [\"s\", \"m/s^2\"]");
      return fail(path);
    }
    for (std::size_t k = 0; k < units.size(); ++k)
      if (units[k].factor != 1.0)
        for (double& x : rows.columns[k]) x *= units[k].factor;
  }

  TableData shape{.name = field.name,
                  .arguments = {},
                  .values = {},
                  .interpolation = interpolation,
                  .outside = outside,
                  .argument_names = rows.arguments};
  Grid grid;
  if (rows.arguments.size() == 2) {
    grid = make_grid(rows);
    if (!grid.problem.empty()) {
      grid.about_row ? report_row(grid.at, grid.problem, grid.hint) : report_all(grid.problem, grid.hint);
      return fail(path);
    }
    shape.arguments = grid.arguments;
  } else {
    shape.arguments = {rows.columns[0]};
  }
  const std::size_t num_values = rows.columns.size() - rows.arguments.size();
  for (std::size_t v = 0; v < num_values; ++v) {
    TableData data = shape;
    const std::vector<double>& column = rows.columns[rows.arguments.size() + v];
    if (grid.row.empty())
      data.values = column;
    else
      for (const std::size_t row : grid.row) data.values.push_back(column[row]);
    if (rows.named) data.name += "." + rows.values[v];
    const std::vector<TableProblem> problems = find_problems(data);
    for (const TableProblem& p : problems)
      p.point&& grid.row.empty() ? report_row(*p.point, p.message, p.hint) : report_all(p.message, p.hint);
    if (!problems.empty()) return fail(path);
    model_.tables.emplace_back(std::move(data));
    const std::string& name = rows.named ? field.name + "." + rows.values[v] : field.name;
    if (!rows.named)
      names_.set_table(name, model_.tables.back());
    else
      names_.add_table(name, model_.tables.back());
    if (units.empty()) continue;
    std::vector<Measure> measures;
    for (std::size_t k = 0; k < rows.arguments.size(); ++k) measures.push_back(measure_of_unit(units[k]));
    measures.push_back(measure_of_unit(units[rows.arguments.size() + v]));
    names_.set_table_units(name, std::move(measures));
  }
}

}  // namespace mechanician
