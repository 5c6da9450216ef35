#include "mechanician/large/term_members.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr double most_members = 2e8;

[[noreturn]] void refuse(const FamilyModel& model, const Term& term, std::string message, std::string hint = {}) {
  throw ModelError({{term.place, std::move(message), std::move(hint)}}, model.source);
}

std::string number_word(double x) { return std::isnan(x) ? "not a number" : short_number(x); }

/// " for i = 3, j = 1"
std::string where(const Term& term, const std::vector<double>& at) {
  std::string text;
  for (std::size_t k = 0; k < at.size(); ++k)
    text += fmt::format("{} {} = {}", k == 0 ? " for" : ",", term.indices[k].name, at[k]);
  return text;
}

/// All sets of values, the last index fastest.
void enumerate(const FamilyModel& model, const Term& term, TermMembers& members) {
  const std::size_t depth = term.indices.size();
  members.indices.assign(depth, {});
  if (depth == 0) {
    members.count = 1;
    return;
  }
  std::vector<Expr> symbols;
  std::vector<Tape> bounds;
  for (const TermIndex& index : term.indices) {
    bounds.emplace_back(std::vector<Expr>{index.from, index.to}, symbols);
    symbols.push_back(index.symbol);
  }
  std::vector<double> at(depth), to(depth);
  std::size_t k = 0;
  const auto begin = [&](std::size_t level) {
    const std::vector<double> found = bounds[level](std::span<const double>(at.data(), level));
    for (const double x : found)
      if (x != std::round(x) || !(std::abs(x) < 2e9))
        refuse(model, term,
               fmt::format("a bound of the index {} is {}, and must be a whole number",
                           quoted(term.indices[level].name), number_word(x)));
    // i = 1..0 is nothing, as sums over nothing are.
    if (found[1] < found[0] - 1.0)
      refuse(
          model, term,
          fmt::format("the index {} runs backwards, from {:.0f} to {:.0f}{}", quoted(term.indices[level].name),
                      found[0], found[1],
                      where(term, std::vector<double>(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(level)))));
    at[level] = found[0], to[level] = found[1];
  };
  begin(0);
  for (;;) {
    if (at[k] > to[k]) {
      if (k == 0) return;
      ++at[--k];
      continue;
    }
    if (k + 1 < depth) {
      begin(++k);
      continue;
    }
    for (std::size_t i = 0; i < depth; ++i) members.indices[i].push_back(at[i]);
    if (static_cast<double>(++members.count) > most_members) refuse(model, term, "this has too many members");
    ++at[k];
  }
}

/// The number of a member of a family: bounds as a box, the last index fastest.
std::vector<std::int32_t> locate(const FamilyModel& model, const Term& term, const TermMembers& members,
                                 const std::string& family, const std::vector<IndexBounds>& bounds, long first,
                                 const std::vector<Expr>& indices) {
  std::vector<std::int32_t> found(static_cast<std::size_t>(members.count), static_cast<std::int32_t>(first));
  if (indices.empty()) return found;
  std::vector<Expr> symbols;
  for (const TermIndex& index : term.indices) symbols.push_back(index.symbol);
  const Tape tape(indices, symbols);
  std::vector<double> at(symbols.size()), registers(static_cast<std::size_t>(tape.num_registers())),
      values(indices.size());
  for (std::size_t j = 0; j < found.size(); ++j) {
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = members.indices[k][j];
    tape.evaluate<double>(at, registers, values);
    long number = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] != std::round(values[k]))
        refuse(model, term,
               fmt::format("an index of {} is {}, and must be a whole number{}", quoted(family), number_word(values[k]),
                           where(term, at)));
      if (!(values[k] >= static_cast<double>(bounds[k].from) && values[k] <= static_cast<double>(bounds[k].to)))
        refuse(model, term, fmt::format("{} has no member {:.0f}{}", quoted(family), values[k], where(term, at)),
               fmt::format("its bounds are {}..{}", bounds[k].from, bounds[k].to));
      number = number * bounds[k].count() + (static_cast<long>(values[k]) - bounds[k].from);
    }
    found[j] = static_cast<std::int32_t>(first + number);
  }
  return found;
}

}  // namespace

TermMembers find_members(const FamilyModel& model, const Term& term) {
  TermMembers members;
  enumerate(model, term, members);
  const auto coordinate = [&](const MemberSymbol& m) {
    const CoordinateFamily& family = model.coordinates[static_cast<std::size_t>(m.family)];
    return locate(model, term, members, family.name, family.bounds, family.first, m.indices);
  };
  for (const Term::Guard& guard : term.guards) locate(model, term, members, guard.name, guard.bounds, 0, guard.indices);
  for (const MemberSymbol& m : term.coordinates) members.coordinates.push_back(coordinate(m));
  for (const MemberSymbol& m : term.numbers) {
    const NumberFamily& family = model.numbers[static_cast<std::size_t>(m.family)];
    members.numbers.push_back(locate(model, term, members, family.name, family.bounds, 0, m.indices));
  }
  if (term.kind == TermKind::force || term.kind == TermKind::position || term.kind == TermKind::velocity)
    members.target = coordinate(term.target);
  return members;
}

std::string member_name(const Term& term, const TermMembers& members, std::int64_t member) {
  if (term.indices.empty()) return term.name;
  std::string text;
  for (const auto& index : members.indices)
    text += fmt::format("{}{}", text.empty() ? "" : ",", index[static_cast<std::size_t>(member)]);
  return fmt::format("{}[{}]", term.name, text);
}

}  // namespace mechanician
