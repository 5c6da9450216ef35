#include "mechanician/plot/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/expression/parse.hpp"
#include "mechanician/plot/column_groups.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_listed = 30;

class Selector {
 public:
  explicit Selector(std::span<const std::string> columns) : columns_(columns) {}

  std::vector<Shown> item(std::string_view text) const {
    if (text.empty()) throw std::invalid_argument("a name is missing");
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      const std::string_view name = text.substr(1, text.size() - 2);
      if (const auto found = find(name)) return {column(*found)};
      throw std::invalid_argument(no_such_column(name));
    }
    if (const auto found = find(text)) return {column(*found)};
    std::vector<Shown> result;
    for (const std::size_t i : columns_of_group(text, columns_)) result.push_back(column(i));
    if (!result.empty()) return result;
    const auto groups = column_group_names();
    if (std::find(groups.begin(), groups.end(), text) != groups.end())
      throw std::invalid_argument(fmt::format("this result has no {}\n{}", text, listing()));
    if (text.find_first_of("*?") != std::string_view::npos)
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (fits_pattern(text, columns_[i])) result.push_back(column(i));
    if (!result.empty()) return result;
    return {formula(text)};
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) return std::nullopt;
    if (std::find(found + 1, columns_.end(), name) != columns_.end())
      throw std::invalid_argument(fmt::format("two columns are called `{}`", safe_text(name)));
    return static_cast<std::size_t>(found - columns_.begin());
  }

  Shown column(std::size_t i) const { return {safe_text(columns_[i]), {i}, std::nullopt}; }

 private:
  std::string listing() const {
    std::vector<std::string> names;
    for (const std::string& name : columns_) names.push_back(safe_text(elided(name, 60)));
    std::vector<std::string> groups;
    for (const std::string& group : column_group_names())
      if (!columns_of_group(group, columns_).empty()) groups.push_back(group);
    return fmt::format("the columns are {}\nthe groups are {}", quote_list(names, most_listed), join_and(groups));
  }

  std::string no_such_column(std::string_view name) const {
    std::vector<std::string> known(columns_.begin(), columns_.end());
    const auto groups = column_group_names();
    known.insert(known.end(), groups.begin(), groups.end());
    const std::string near = nearest(name, known);
    return fmt::format("there is no column `{}`{}\n{}", safe_text(elided(name, 60)),
                       near.empty() ? "" : fmt::format("; did you mean `{}`?", safe_text(near)), listing());
  }

  /// The text with every column that the language cannot name (`Qc(x)`) under a name that it can, and for each byte of
  /// it where it comes from.
  struct Renamed {
    std::string text;
    std::vector<std::size_t> origin;
    std::vector<std::pair<std::string, std::size_t>> names;  ///< a stand-in and its column
  };
  Renamed rename(std::string_view text) const {
    Renamed out;
    const auto plain = [](std::string_view name) {
      while (name.ends_with('\'')) name.remove_suffix(1);
      return is_name(name);
    };
    bool after_name = false;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint c = decode_utf8(text, i);
      std::size_t best = 0, column = 0;
      if (!after_name && is_name_start(c.value))
        for (std::size_t k = 0; k < columns_.size(); ++k) {
          const std::string& name = columns_[k];
          if (name.size() > best && text.substr(i).starts_with(name) && !plain(name)) best = name.size(), column = k;
        }
      if (best > 0) {
        const std::string stand_in = fmt::format("column_{}_", column);
        out.text += stand_in;
        out.origin.insert(out.origin.end(), stand_in.size(), i);
        out.names.emplace_back(stand_in, column);
        i += best;
        after_name = false;
        continue;
      }
      after_name = is_name_part(c.value) || c.value == '\'';
      for (int k = 0; k < c.length; ++k, ++i) {
        out.text += text[i];
        out.origin.push_back(i);
      }
    }
    out.origin.push_back(text.size());
    return out;
  }

  Shown formula(std::string_view text) const {
    const Renamed renamed = rename(text);
    Shown shown;
    shown.label = safe_text(text);
    std::vector<Expr> inputs;
    std::string unknown;
    NameScope scope;
    scope.find = [&](std::string_view name, int primes) -> std::optional<Expr> {
      const std::string full = std::string(name) + std::string(static_cast<std::size_t>(primes), '\'');
      std::optional<std::size_t> found = find(full);
      for (const auto& [stand_in, column] : renamed.names)
        if (stand_in == full) found = column;
      if (!found) return std::nullopt;
      const auto at = std::find(shown.columns.begin(), shown.columns.end(), *found);
      if (at != shown.columns.end()) return inputs[static_cast<std::size_t>(at - shown.columns.begin())];
      shown.columns.push_back(*found);
      inputs.push_back(parameter(fmt::format("column {}", *found)));
      return inputs.back();
    };
    scope.explain = [&](std::string_view name, int primes) {
      unknown = std::string(name) + std::string(static_cast<std::size_t>(primes), '\'');
      for (const auto& [stand_in, column] : renamed.names)
        if (stand_in == name) unknown.replace(0, stand_in.size(), columns_[column]);
      return ParseProblem{0, name.size(), "", ""};
    };
    const ParsedExpression parsed = parse_expression(renamed.text, scope);
    if (!unknown.empty()) throw std::invalid_argument(no_such_column(unknown));
    if (!parsed.problems.empty()) {
      // What looks like a name is one that is not there, and no formula that went wrong.
      if (text.find_first_of("+-/^ ") == std::string_view::npos) throw std::invalid_argument(no_such_column(text));
      const ParseProblem& p = parsed.problems.front();
      const std::size_t at = renamed.origin[std::min(p.offset, renamed.origin.size() - 1)];
      throw std::invalid_argument(fmt::format("{}\n    {}\n    {:>{}}{}{}", p.message, safe_text(text), '^',
                                              count_code_points(text.substr(0, at)) + 1, p.hint.empty() ? "" : "\n    ",
                                              p.hint));
    }
    if (shown.columns.empty())
      throw std::invalid_argument(fmt::format("`{}` is a number and no column", safe_text(text)));
    const Expr value = *parsed.value;
    shown.formula.emplace(std::span(&value, 1), inputs);
    return shown;
  }

  std::span<const std::string> columns_;
};

}  // namespace

std::vector<Shown> select_shown(std::string_view text, std::span<const std::string> columns) {
  const Selector selector(columns);
  if (const auto whole = selector.find(text)) return {selector.column(*whole)};
  std::vector<Shown> result;
  for (const std::string_view item : split_list(text)) {
    std::vector<Shown> more = selector.item(item);
    result.insert(result.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return result;
}

Shown select_one(std::string_view text, std::span<const std::string> columns) {
  std::vector<Shown> found = select_shown(text, columns);
  if (found.size() != 1)
    throw std::invalid_argument(fmt::format("`{}` stands for {}, and only one is possible", safe_text(text),
                                            count_noun(found.size(), "column")));
  return std::move(found.front());
}

Shown default_abscissa(std::span<const std::string> columns) {
  const auto time = std::find(columns.begin(), columns.end(), "t");
  const auto at = time == columns.end() ? std::size_t{0} : static_cast<std::size_t>(time - columns.begin());
  return Selector(columns).column(at);
}

std::vector<Shown> default_shown(std::span<const std::string> columns, const Shown& abscissa) {
  const Selector selector(columns);
  std::vector<std::size_t> chosen = columns_of_group("positions", columns);
  if (chosen.empty())
    for (std::size_t i = 0; i < columns.size(); ++i) chosen.push_back(i);
  std::vector<Shown> result;
  for (const std::size_t i : chosen)
    if (abscissa.formula || abscissa.columns.front() != i) result.push_back(selector.column(i));
  if (result.empty()) throw std::invalid_argument("there is no column to show beside the abscissa");
  return result;
}

}  // namespace mechanician
