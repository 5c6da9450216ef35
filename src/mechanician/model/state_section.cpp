// [states]: quantities of first order, their starts and rates. See model_reader.hpp.
//
// A family may be stated in pieces, "T[1]", "T[k]" with `for`, "T[N]": together they name every member of a box once.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

void ModelReader::declare_states() {
  const TomlMember* section = root_.find("states");
  if (!section || section->value.type != TomlValue::Type::table) return;
  std::vector<std::pair<std::string, std::vector<StatePiece>>> families;
  for (const TomlMember& m : section->value.members) {
    const std::string path = "states." + m.name;
    const ParsedName name = parse_name(m.name);
    if (m.value.type != TomlValue::Type::table) {
      fields_.report(m.value, fmt::format("a state is a table, not {}", in_words(m.value.type)),
                     fmt::format("write {} = {{ rate = \"...\", start = 0 }}", printable(m.name)));
      fail(path), fail("states." + name.name);
      continue;
    }
    if (!name.indexed || !is_name(name.name)) {
      const auto number = static_cast<int>(model_.coordinates.size());
      model_.members.emplace(m.name, MemberSymbol{coordinate(m.name), number, {}});
      model_.coordinates.push_back({m.name, {}, model_.num_coordinates(), 1, fields_.place_of(m), true});
      if (!m.value.find("for")) continue;
      fields_.report(m, fmt::format("the state {} has no index, though it says `for`", mechanician::quoted(m.name)),
                     "write its name with the index, as in \"T[i]\"");
      fail(path);
      continue;
    }
    const auto indices = indices_of(m.value);
    const auto label = indices ? label_of(m, name) : std::nullopt;
    if (!label) {
      fail(path), fail("states." + name.name);
      continue;
    }
    auto family = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.first == name.name; });
    if (family == families.end())
      families.emplace_back(name.name, std::vector<StatePiece>()), family = families.end() - 1;
    family->second.push_back({&m, *indices, *label});
  }
  for (const auto& [name, pieces] : families) declare_state_family(name, pieces);
}

void ModelReader::declare_state_family(const std::string& name, const std::vector<StatePiece>& pieces) {
  const TomlMember& first = *pieces.front().field;
  const auto wrong = [&](const TomlMember& at, const std::string& message, const std::string& hint = {}) {
    fields_.report(at, message, hint);
    fail("states." + name);
  };
  if (unreadable_.covers("states." + name)) return;
  NameTable::Family* declared = names_.find_family(name);
  if (declared->kind != NameKind::state)
    return wrong(first, fmt::format("{} stands for two things: a{} {} and a state", mechanician::quoted(name),
                                    declared->kind == NameKind::input ? "n" : "", in_words(declared->kind)));
  const std::size_t rank = pieces.front().label.size();
  CoordinateFamily family{name, {}, model_.num_coordinates(), 1, fields_.place_of(first), true};
  // The box around all members, and then whether each is there once.
  std::vector<char> given;
  for (const bool counting : {false, true}) {
    for (const StatePiece& piece : pieces) {
      if (piece.label.size() != rank)
        return wrong(*piece.field, fmt::format("{} has one index here and another number of them elsewhere",
                                               mechanician::quoted(name)));
      IndexWalk walk(model_, piece.indices);
      walk.too_many.place = fields_.place_of(*piece.field);
      IndexValues values(model_, piece.label, walk.symbols());
      const bool good = walk.each({}, [&](std::span<const double> at) {
        const std::span<const double> found = values(at);
        if (!counting) {
          for (std::size_t k = 0; k < rank; ++k) {
            const long index = std::lround(found[k]);
            if (family.bounds.size() <= k) family.bounds.push_back({index, index});
            family.bounds[k].from = std::min(family.bounds[k].from, index);
            family.bounds[k].to = std::max(family.bounds[k].to, index);
          }
          return true;
        }
        const long number = number_of_member(family.bounds, found);
        if (number < 0 || given[static_cast<std::size_t>(number)]++ == 0) return true;
        wrong(*piece.field, fmt::format("the state {} is given twice", mechanician::quoted(member_text(name, found))));
        return false;
      });
      if (!good) return;
    }
    if (counting) break;
    if (family.bounds.empty())
      return wrong(first, fmt::format("the family {} has no members", mechanician::quoted(name)));
    double count = 1.0;
    for (const IndexBounds& b : family.bounds) count *= static_cast<double>(b.count());
    if (const double all = count + static_cast<double>(model_.num_coordinates());
        all > static_cast<double>(most_coordinates_))
      return wrong(first,
                   fmt::format("the model has {:.0f} coordinates and states; {} are possible", all, most_coordinates_));
    family.count = static_cast<long>(count);
    declared->bounds = family.bounds, declared->number = static_cast<int>(model_.coordinates.size());
    model_.coordinates.push_back(family);
    if (only_sizes_) return;
    given.assign(static_cast<std::size_t>(family.count), 0);
  }
  const auto missing = std::find(given.begin(), given.end(), 0);
  if (missing == given.end()) return;
  wrong(first,
        fmt::format("the state {} is not given",
                    mechanician::quoted(model_.name_of(family.first + (missing - given.begin())))),
        fmt::format("the members of {} are all of {}[{}]", mechanician::quoted(name), name, text_of(family.bounds)));
}

void ModelReader::read_state(const TomlMember& field) {
  const std::string path = "states." + field.name;
  const std::string family(family_of(field.name));
  model_.places.emplace("states." + family, fields_.place_of(field));
  if (field.value.type != TomlValue::Type::table || unreadable_.covers(path) || unreadable_.covers("states." + family))
    return;
  fields_.check_keys(field.value, {"rate", "start", "for"},
                     fmt::format("in the state {}", mechanician::quoted(field.name)));
  const auto indices = indices_of(field.value);
  const auto target = indices ? target_of(field, *indices) : std::nullopt;
  if (!target) return fail(path);
  Term term;
  term.indices = *indices, term.target = *target, term.key = fields_.place_of(field), term.name = field.name;
  if (const TomlMember* start = field.value.find("start")) {
    model_.places.emplace("states." + family + ".start", fields_.place_of(start->value));
    if (auto f = expression(start->value, path + ".start", Words::all, *indices)) {
      take_unit(start->value, family, 0, *f);
      Term position = term;
      position.kind = TermKind::position, position.body = *f, position.place = fields_.place_of(start->value);
      model_.places.emplace("start.position." + family, position.place);
      model_.terms.push_back(std::move(position));
    }
  }
  const TomlMember* rate = field.value.find("rate");
  if (!rate) {
    for (const TomlMember& m : field.value.members)
      if (nearest(m.name, std::vector<std::string>{"rate"}) == "rate") return fail(path);  // misspelt, not missing
    if (!unreadable_.covers(path + ".rate"))
      fields_.report(field, fmt::format("the state {} has no rate", mechanician::quoted(field.name)),
                     "give it as rate = \"...\": its derivative by time");
    return fail(path);
  }
  const auto f = expression(rate->value, path + ".rate", Words::all, *indices);
  if (!f) return;
  term.kind = TermKind::constraint, term.is_rate = true;
  term.body = derivative_symbol(target->symbol) - *f;
  term.text = rate->value.text, term.place = fields_.place_of(rate->value);
  model_.terms.push_back(std::move(term));
}

}  // namespace mechanician
