#include "mechanician/model/family_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/names.hpp"

namespace mechanician {

std::string member_text(std::string_view family, std::span<const double> at) {
  std::string text(family);
  for (std::size_t k = 0; k < at.size(); ++k)
    fmt::format_to(std::back_inserter(text), "{}{}", k == 0 ? '[' : ',', static_cast<long>(at[k]));
  return at.empty() ? text : text + "]";
}

std::string text_of(const std::vector<IndexBounds>& bounds) {
  std::string text;
  for (const auto& [from, to] : bounds) text += fmt::format("{}{}..{}", text.empty() ? "" : ", ", from, to);
  return text;
}

long number_of_member(const std::vector<IndexBounds>& bounds, std::span<const double> at) {
  long number = 0;
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    if (!(at[k] >= static_cast<double>(bounds[k].from) && at[k] <= static_cast<double>(bounds[k].to))) return -1;
    number = number * bounds[k].count() + (static_cast<long>(at[k]) - bounds[k].from);
  }
  return number;
}

std::string NumberFamily::member_name(std::size_t number) const {
  const auto k = static_cast<long>(number), columns = bounds.size() > 1 ? bounds[1].count() : 1;
  const double at[2] = {static_cast<double>(k / columns + 1), static_cast<double>(k % columns + 1)};
  return member_text(name, std::span(at, bounds.size()));
}

std::string FamilyModel::name_of(long number) const {
  const auto after = std::upper_bound(coordinates.begin(), coordinates.end(), number,
                                      [](long n, const CoordinateFamily& family) { return n < family.first; });
  if (after == coordinates.begin()) return "";
  const CoordinateFamily& family = *(after - 1);
  if (number >= family.first + family.count) return "";
  std::vector<double> at(family.bounds.size());
  long rest = number - family.first;
  for (std::size_t k = at.size(); k-- > 0; rest /= family.bounds[k].count())
    at[k] = static_cast<double>(family.bounds[k].from + rest % family.bounds[k].count());
  return member_text(family.name, at);
}

namespace {

/// x and 3 of "x[3]"; nothing where the indices are no whole numbers.
std::optional<std::vector<double>> numbers_in(const ParsedName& name) {
  std::vector<double> at;
  if (!name.problems.empty()) return std::nullopt;
  for (const ParsedName::Piece& piece : name.indices) {
    long index = 0;
    const auto read = std::from_chars(piece.text.data(), piece.text.data() + piece.text.size(), index);
    if (read.ec != std::errc() || read.ptr != piece.text.data() + piece.text.size()) return std::nullopt;
    at.push_back(static_cast<double>(index));
  }
  return at;
}

}  // namespace

long FamilyModel::find(std::string_view name) const {
  // A coordinate by itself, as those of bodies are, of which there may be very many.
  if (const auto own = members.find(std::string(name)); own != members.end() && own->second.indices.empty() &&
                                                        own->second.symbol.symbol().kind == SymbolKind::coordinate) {
    const CoordinateFamily& family = coordinates[static_cast<std::size_t>(own->second.family)];
    if (family.bounds.empty() && family.name == name) return family.first;
  }
  const ParsedName parsed = parse_name(name);
  const auto at = numbers_in(parsed);
  for (const CoordinateFamily& family : coordinates) {
    if (!at || family.name != parsed.name || family.bounds.size() != at->size()) continue;
    const long number = number_of_member(family.bounds, *at);
    return number < 0 ? -1 : family.first + number;
  }
  return -1;
}

const double* FamilyModel::find_parameter(std::string_view name) const {
  if (const auto single = parameter_numbers.find(std::string(name)); single != parameter_numbers.end())
    return &parameters[single->second];
  const ParsedName parsed = parse_name(name);
  const auto at = numbers_in(parsed);
  for (const NumberFamily& list : numbers) {
    if (!at || list.name != parsed.name || list.bounds.size() != at->size() || at->empty()) continue;
    const long number = number_of_member(list.bounds, *at);
    return number < 0 ? nullptr : &list.values[static_cast<std::size_t>(number)];
  }
  return nullptr;
}

const QuantitySum* FamilyModel::sum_of(const Expr& symbol) const {
  if (symbol.symbol().kind != SymbolKind::parameter || !symbol.symbol().name.starts_with("sum #")) return nullptr;
  const auto found = sums.find(symbol.symbol().name);
  return found == sums.end() ? nullptr : &found->second;
}

const MemberSymbol* FamilyModel::member_of(const Expr& symbol) const {
  if (symbol.symbol().name.find('[') == std::string::npos) return nullptr;
  const auto& list = (kind_bit(symbol.symbol().kind) & forces_of_rows) != 0 ? rows : members;
  const auto found = list.find(symbol.symbol().name);
  return found == list.end() ? nullptr : &found->second;
}

std::vector<Expr> FamilyModel::indices_in(const Expr& f) const {
  std::vector<Expr> found;
  const auto add = [&](const Expr& index) {
    if (std::none_of(found.begin(), found.end(), [&](const Expr& other) { return same(index, other); }))
      found.push_back(index);
  };
  for (const Expr& s : symbols_of(std::span(&f, 1))) {
    if (const QuantitySum* sum = sum_of(s))
      for (const Expr& index : sum->around) add(index);
    else if (const MemberSymbol* member = member_of(s))
      for (const Expr& at : member->indices)
        for (const Expr& index : indices_in(at)) add(index);
    else if (s.symbol().kind == SymbolKind::parameter && !parameter_numbers.contains(s.symbol().name))
      add(s);
  }
  return found;
}

KindSet FamilyModel::kinds_of(const Expr& f) const {
  KindSet kinds = f.kinds();
  if (!sums.empty() && f.contains(SymbolKind::parameter))
    for (const Expr& s : symbols_of(std::span(&f, 1)))
      if (const QuantitySum* sum = sum_of(s)) kinds |= sum->kinds;
  return kinds;
}

namespace {

/// single(k) and member(list, k), in the order in which parameters are written out.
template <class Single, class Member>
void each_parameter(const FamilyModel& model, Single&& single, Member&& member) {
  std::size_t list = 0;
  for (std::size_t i = 0; i <= model.parameters.size(); ++i) {
    for (; list < model.numbers.size() && model.numbers[list].position == i; ++list)
      for (std::size_t k = 0; k < model.numbers[list].values.size(); ++k) member(list, k);
    if (i < model.parameters.size()) single(i);
  }
}

}  // namespace

std::vector<double> parameter_values(const FamilyModel& model) {
  std::vector<double> values;
  each_parameter(
      model, [&](std::size_t i) { values.push_back(model.parameters[i]); },
      [&](std::size_t list, std::size_t k) { values.push_back(model.numbers[list].values[k]); });
  return values;
}

std::vector<std::string> parameter_names(const FamilyModel& model, std::size_t most) {
  std::vector<std::string> names;
  each_parameter(
      model,
      [&](std::size_t i) {
        if (names.size() < most) names.push_back(model.parameter_names[i]);
      },
      [&](std::size_t list, std::size_t k) {
        if (names.size() < most) names.push_back(model.numbers[list].member_name(k));
      });
  return names;
}

bool set_parameter_values(FamilyModel& model, std::span<const double> values) {
  std::size_t at = 0;
  const auto next = [&](double& to) {
    if (at < values.size()) to = values[at];
    ++at;
  };
  each_parameter(
      model, [&](std::size_t i) { next(model.parameters[i]); },
      [&](std::size_t list, std::size_t k) { next(model.numbers[list].values[k]); });
  return at == values.size();
}

}  // namespace mechanician
