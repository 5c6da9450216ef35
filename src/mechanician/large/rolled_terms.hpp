#pragma once

/// Terms that say the same of other coordinates, rolled into one that runs over all of them: what bodies, joints, parts and people
/// write member by member is differentiated and compiled once, as families are.
///
///     x1'^2 + 2*x2'^2 + 3*x3'^2    →    k*x'^2 for x = x1, x2, x3 and k = 1, 2, 3
///
/// Energies are taken apart into summands first; summands whose coordinates others have too stay with these, so that what they share is
/// computed once. Rows keep their numbers.

#include <memory>
#include <string>
#include <vector>

#include "mechanician/model/family_model.hpp"
#include "mechanician/model/term_members.hpp"

namespace mechanician {

/// A term in the coordinates of its first member. Numbers that are not the same for all are members of lists.
struct RolledTerm {
  Term term;
  TermMembers members;
  std::vector<std::size_t> numbers;  ///< by member: which of the terms of the stated model it is
  struct Stated {
    std::string name, text;
    Place place;
  };
  std::vector<Stated> stated;  ///< by member, of constraints
};

struct RolledModel {
  FamilyModel model;                 ///< without the terms that are rolled, and with lists for their numbers
  std::vector<std::size_t> numbers;  ///< by term of the model: which it was among all, for the order of rows
  std::vector<std::shared_ptr<RolledTerm>> rolled;
  std::size_t stated_size = 0, size = 0;  ///< nodes of all terms, and of those that are left to be derived
};

/// Of a model that has gone through kernel_terms().
RolledModel roll_terms(FamilyModel model);

}  // namespace mechanician
