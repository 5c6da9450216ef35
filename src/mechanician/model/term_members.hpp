#pragma once

/// The members of a term: every set of values of its indices, and which coordinate each of its symbols is then.
///
/// Cost: some 50 ns for each symbol of each member, once.

#include <cstdint>
#include <vector>

#include "mechanician/model/family_model.hpp"

namespace mechanician {

struct TermMembers {
  std::int64_t count = 0;
  std::vector<std::vector<double>> indices;  ///< by index of the term, then by member
  /// By symbol of the term, then by member: its number among all coordinates, or in its list of numbers.
  std::vector<std::vector<std::int32_t>> coordinates, numbers;
  std::vector<std::int32_t> target;  ///< of a force or a start value
};

/// Throws ModelError where an index leads out of its bounds, and says for which member.
TermMembers find_members(const FamilyModel& model, const Term& term);

/// "rod[2]": the name of a member of a term.
std::string member_name(const Term& term, const TermMembers& members, std::int64_t member);

}  // namespace mechanician
