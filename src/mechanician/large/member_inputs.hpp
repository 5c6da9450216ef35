#pragma once

/// The numbers that one member of a term has for its symbols, in the order [t | q | q̇ | q̈ | indices | numbers], as numbers of
/// any kind (expression/interval.hpp, expression/bounded.hpp).

#include "mechanician/model/term_members.hpp"

namespace mechanician {

template <class T>
struct MemberState {
  T t;
  const T *q, *qd, *qdd;  ///< of all coordinates; null: zero
};

/// Returns where the next would go.
template <class T>
T* place_member(const FamilyModel& model, const Term& term, const TermMembers& members, std::size_t member,
                const MemberState<T>& at, T* to) {
  *to++ = at.t;
  for (const T* state : {at.q, at.qd, at.qdd})
    for (std::size_t c = 0; c < term.coordinates.size(); ++c)
      *to++ = state ? state[members.coordinates[c][member]] : T(0.0);
  for (const auto& index : members.indices) *to++ = T(index[member]);
  for (std::size_t k = 0; k < members.numbers.size(); ++k)
    *to++ = T(model.numbers[static_cast<std::size_t>(term.numbers[k].family)]
                  .values[static_cast<std::size_t>(members.numbers[k][member])]);
  return to;
}

}  // namespace mechanician
