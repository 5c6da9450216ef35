#include "mechanician/model/term_members.hpp"

#include <fmt/format.h>

#include "mechanician/model/index_values.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

/// The number of a member of a family.
std::vector<std::int32_t> locate(const FamilyModel& model, const Term& term, const TermMembers& members,
                                 const std::string& family, const std::vector<IndexBounds>& bounds, long first,
                                 const std::vector<Expr>& indices) {
  std::vector<std::int32_t> found(static_cast<std::size_t>(members.count), static_cast<std::int32_t>(first));
  if (indices.empty()) return found;
  std::vector<Expr> symbols;
  for (const TermIndex& index : term.indices) symbols.push_back(index.symbol);
  IndexValues values(model, indices, symbols);
  std::vector<double> at(symbols.size());
  for (std::size_t j = 0; j < found.size(); ++j) {
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = members.indices[k][j];
    const std::span<const double> place = values(at);
    const long number = number_of_member(bounds, place);
    // The reader has looked; lists of numbers may have been changed since.
    if (number < 0)
      throw ModelError(
          {{term.place,
            fmt::format("there is no {}{}", quoted(member_text(family, place)), index_text(term.indices, at)),
            {}}},
          model.source);
    found[j] = static_cast<std::int32_t>(first + number);
  }
  return found;
}

}  // namespace

TermMembers find_members(const FamilyModel& model, const Term& term) {
  TermMembers members;
  members.indices.resize(term.indices.size());
  IndexWalk walk(model, term.indices);
  walk.too_many.place = term.place;
  walk.each({}, [&](std::span<const double> at) {
    for (std::size_t i = 0; i < at.size(); ++i) members.indices[i].push_back(at[i]);
    ++members.count;
    return true;
  });
  const auto coordinate = [&](const MemberSymbol& m) {
    const CoordinateFamily& family = model.coordinates[static_cast<std::size_t>(m.family)];
    return locate(model, term, members, family.name, family.bounds, family.first, m.indices);
  };
  for (const MemberSymbol& m : term.coordinates) members.coordinates.push_back(coordinate(m));
  for (const MemberSymbol& m : term.numbers) {
    const NumberFamily& family = model.numbers[static_cast<std::size_t>(m.family)];
    members.numbers.push_back(locate(model, term, members, family.name, family.bounds, 0, m.indices));
  }
  if (term.kind == TermKind::force || term.is_rate || is_number_of_coordinate(term.kind))
    members.target = coordinate(term.target);
  return members;
}

std::string member_name(const Term& term, const TermMembers& members, std::int64_t member) {
  std::vector<double> at;
  for (const auto& index : members.indices) at.push_back(index[static_cast<std::size_t>(member)]);
  return member_text(term.name, at);
}

}  // namespace mechanician
