// [start]: where a motion begins, and what stays when that is moved onto the constraints. See model_reader.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/model/held_quantity.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/inside_folder.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

void ModelReader::read_start() {
  const TomlValue* table = section("start");
  if (!table) return;
  fields_.check_keys(*table, {"time", "position", "velocity", "hold", "assemble", "from", "at"}, "in [start]");
  for (const TomlMember& m : table->members) {
    if (m.name == "time") {
      model_.places["start.time"] = fields_.place_of(m.value);
      const auto f = expression(m.value, "start.time");
      if (!f) continue;
      model_.start_time_stated = *f;
      if ((model_.kinds_of(*f) & ~kind_bit(SymbolKind::parameter)) == 0)
        model_.start_time = IndexValues(model_, {*f}, {})({})[0];
    } else if (m.name == "position" || m.name == "velocity") {
      read_by_coordinate(m, "start." + m.name, m.name == "position" ? TermKind::position : TermKind::velocity);
    } else if (m.name == "hold") {
      read_hold(m);
    } else if (m.name == "assemble") {
      if (m.value.type == TomlValue::Type::boolean)
        model_.start_rules.assemble = m.value.number != 0.0;
      else
        fields_.report(m.value, fmt::format("`assemble` is true or false, not {}", in_words(m.value.type)));
    }
  }
  read_from(table->find("from"), table->find("at"));
}

void ModelReader::read_from(const TomlMember* from, const TomlMember* at) {
  if (!from) {
    if (at && !unreadable_.covers("start.from"))
      fields_.report(*at, "`at` is the time of a row, and no result is named", "give from = \"result.h5\" too");
    return;
  }
  model_.places["start.from"] = fields_.place_of(from->value);
  const std::string* file = fields_.string(*from, "`from`");
  if (!file) return;
  const FileBeside beside = file_beside(model_.source.file, *file, "a result");
  if (!beside.problem.empty()) return fields_.report(from->value, beside.problem, beside.hint);
  StartFrom start{*file, std::nullopt, fields_.place_of(from->value)};
  if (at) {
    model_.places["start.at"] = fields_.place_of(at->value);
    const auto f = expression(at->value, "start.at");
    if (!f) return;
    if (f->kinds() != 0)
      return fields_.report(at->value, "`at` must be a number", "it is the time of a row of the result");
    start.at = IndexValues(model_, {*f}, {})({})[0];
  }
  for (const char* key : {"time", "position", "velocity"})
    if (const TomlMember* m = root_.find("start")->value.find(key))
      fields_.report(*m, fmt::format("the start comes from a result, and `{}` is given too", key),
                     "leave one of them out; --position, --velocity and --time change what comes from a result");
  model_.start_rules.from = std::move(start);
}

void ModelReader::read_hold(const TomlMember& field) {
  model_.places["start.hold"] = fields_.place_of(field);
  if (field.value.type != TomlValue::Type::array)
    return fields_.report(field.value, fmt::format("`hold` is a list of names, not {}", in_words(field.value.type)),
                          "for example hold = [\"crank\", \"crank'\"]");
  for (const TomlValue& item : field.value.items) {
    if (item.type == TomlValue::Type::string) {
      hold_item(item, {});
    } else if (item.type == TomlValue::Type::table) {
      fields_.check_keys(item, {"for", "value"}, "in `hold`");
      const TomlMember* value = item.find("value");
      const auto indices = indices_of(item);
      if (!indices) continue;
      if (value && value->value.type == TomlValue::Type::string)
        hold_item(value->value, *indices);
      else
        fields_.report(item, "this does not say what is held", "write { for = \"i = 1..N\", value = \"x[i]\" }");
    } else {
      fields_.report(item, fmt::format("what is held is a name in quotation marks, not {}", in_words(item.type)));
    }
  }
  for (auto* held : {&model_.start_rules.held_positions, &model_.start_rules.held_velocities}) {
    std::sort(held->begin(), held->end());
    held->erase(std::unique(held->begin(), held->end()), held->end());
  }
}

/// "x", "x'", "x[3]", "x[1..N]'".
bool ModelReader::hold_item(const TomlValue& item, const std::vector<TermIndex>& indices) {
  const auto wrong = [&](std::string message, std::string hint = {}) {
    if (!message.empty()) fields_.report(item, message, hint);
    return false;
  };
  std::string_view text = item.text;
  std::size_t primes = 0;
  while (text.ends_with('\'')) text.remove_suffix(1), ++primes;
  if (primes > 1)
    return wrong(fmt::format("{} cannot be held", mechanician::quoted(item.text)),
                 "coordinates and their velocities are, as x and x'");
  auto& held = primes == 0 ? model_.start_rules.held_positions : model_.start_rules.held_velocities;
  // Names with parts have brackets that are no index: leg[2].knee.
  const auto plain = std::find_if(model_.coordinates.begin(), model_.coordinates.end(),
                                  [&](const CoordinateFamily& c) { return c.bounds.empty() && c.name == text; });
  if (plain != model_.coordinates.end()) {
    held.push_back(static_cast<int>(plain->first));
    return true;
  }
  // What a definition says is held by the constraint that it stays what it is (instant/held_quantities.hpp).
  const auto quantity = std::find_if(
      model_.definitions.begin(), model_.definitions.end(),
      [&](const FamilyQuantity& d) { return d.term.indices.empty() && d.label.empty() && d.name == text; });
  if (quantity != model_.definitions.end()) {
    KindSet kinds = quantity->term.body.kinds();
    for (const QuantitySum& sum : quantity->sums) kinds |= sum.kinds;
    constexpr KindSet known = kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) |
                              kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::parameter);
    const bool moves = (kinds & (kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity))) != 0;
    if (!quantity->sums.empty() || (kinds & ~known) != 0 || !moves ||
        (primes > 0 && (kinds & kind_bit(SymbolKind::velocity)) != 0))
      return wrong(fmt::format("{} cannot be held", mechanician::quoted(item.text)),
                   primes > 0
                       ? "rates of what depends on positions are held, and what depends on velocities without a prime"
                       : "what is held depends on positions or velocities, and on no forces or accelerations");
    model_.places[std::string(held_quantity)] = model_.places[std::string(held_quantity) + item.text] =
        fields_.place_of(item);
    return true;
  }
  const ParsedName name = parse_name(text);
  if (!name.problems.empty()) return wrong(name.problems.front().message, name.problems.front().hint);
  const auto none = [&] {
    if (unreadable_.covers("coordinates")) return false;
    std::vector<std::string> known;
    for (const CoordinateFamily& c : model_.coordinates)
      known.push_back(c.bounds.empty() ? c.name : model_.name_of(c.first));
    for (const FamilyQuantity& d : model_.definitions)
      if (d.label.empty()) known.push_back(d.name);
    const std::string near = fields_.is_full() ? "" : nearest(name.name, known);
    return wrong(fmt::format("{} is no coordinate and no definition, and cannot be held", mechanician::quoted(text)),
                 near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  };
  const auto family = std::find_if(model_.coordinates.begin(), model_.coordinates.end(),
                                   [&](const CoordinateFamily& c) { return c.name == name.name; });
  if (family == model_.coordinates.end()) return none();
  if (!name.indexed) {
    if (!family->bounds.empty())
      return wrong(fmt::format("{} is a family: some of its members are meant", mechanician::quoted(name.name)),
                   fmt::format("write {}[{}] for all of them", name.name, text_of(family->bounds)));
    held.push_back(static_cast<int>(family->first));
    return true;
  }
  if (family->bounds.size() != name.indices.size()) return none();

  // Each index is an expression, or a range of its own.
  std::vector<Expr> lower, upper;
  names_.begin(indices);
  read_in(item);
  for (const ParsedName::Piece& piece : name.indices) {
    const auto range = split_range(piece);
    for (const bool end : {false, true}) {
      const ParsedName::Piece& of = !range ? piece : end ? range->second : range->first;
      ParsedExpression f = parse_expression(of.text, names_.scope(Words::parameters));
      if (!f.problems.empty()) {
        f.problems.front().offset += of.offset;
        if (f.problems.front().hint.empty() || indices.empty())
          f.problems.front().hint = "an index runs over a range, as in x[1..N], or is given by `for`";
        report_in(item, f.problems.front());
        return false;
      }
      const NameTable::Known known = names_.known(*f.value);
      if (!known.value) return wrong(known.problem, known.hint);
      (end ? upper : lower).push_back(*known.value);
    }
  }
  if (!names_.check_members()) return false;
  IndexWalk walk(model_, indices);
  IndexValues from(model_, lower, walk.symbols()), to(model_, upper, walk.symbols());
  return walk.each({}, [&](std::span<const double> at) {
    const std::span<const double> begin = from(at), end = to(at);
    const std::vector<double> first(begin.begin(), begin.end()), last(end.begin(), end.end());
    for (std::size_t k = 0; k < first.size(); ++k)
      if (first[k] != std::round(first[k]) || last[k] != std::round(last[k]) || last[k] < first[k])
        return wrong(fmt::format("an index of {}: its bounds are {} and {}", mechanician::quoted(text),
                                 short_number(first[k]), short_number(last[k])));
    std::vector<double> member = first;
    for (;;) {
      const long number = number_of_member(family->bounds, member);
      if (number < 0)
        return wrong(fmt::format("{} has no member {}", mechanician::quoted(name.name), member_text("", member)),
                     fmt::format("it is {}[{}]", name.name, text_of(family->bounds)));
      held.push_back(static_cast<int>(family->first + number));
      std::size_t k = member.size();
      while (k > 0 && member[k - 1] == last[k - 1]) member[k - 1] = first[k - 1], --k;
      if (k == 0) return true;
      member[k - 1] += 1.0;
    }
  });
}

}  // namespace mechanician
