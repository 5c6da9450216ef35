#pragma once

/// Expressions of one member of a term, as numbers of all its members: switching functions, divisors.
///
/// For questions that are asked a few times in a step. Cost: linear in the members.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/expression/variation.hpp"
#include "mechanician/large/member_inputs.hpp"
#include "mechanician/model/term_members.hpp"

namespace mechanician {

/// Sides of switches (equations/switches.hpp) of a term: where those of its members lie among all.
struct MemberSides {
  std::vector<Expr> symbols;        ///< by switch
  std::vector<std::int64_t> first;  ///< place of that of the first member; the others follow
  std::vector<char> common;         ///< one for all members
  double of(std::size_t which, std::size_t member, const double* sides) const {
    return sides[first[which] + (common[which] ? 0 : static_cast<std::int64_t>(member))];
  }
};

struct MemberPoint {
  double t;
  const double *q, *qd, *qdd;  ///< q̈ may be null: zero
  const double* sides;
};

class MemberFunctions {
 public:
  MemberFunctions() = default;
  MemberFunctions(const FamilyModel& model, const Term& term, const TermMembers& members,
                  const std::vector<Expr>& functions, const std::vector<Expr>& sides);

  /// take(function, member, value, bound) for each; the bound of rounding is 0 where it is not asked for.
  template <class Take>
  void evaluate(const FamilyModel& model, const Term& term, const TermMembers& members, const MemberSides& sides,
                const MemberPoint& point, bool with_bounds, Take&& take) {
    if (num_functions_ == 0) return;
    if (!with_bounds && !function_) compile();
    const std::int64_t width = with_bounds ? 1 : lanes;
    for (std::int64_t begin = 0; begin < members.count; begin += width) {
      gather(model, term, members, sides, point, begin, width);
      if (with_bounds)
        tape_.evaluate_with_bounds(inputs_of_one_, outputs_of_one_, bounds_);
      else
        function_(inputs_.data(), outputs_.data());
      for (std::int64_t lane = 0; lane < std::min(width, members.count - begin); ++lane)
        for (std::size_t i = 0; i < num_functions_; ++i)
          take(i, static_cast<std::size_t>(begin + lane),
               with_bounds ? outputs_of_one_[i] : outputs_[i * lanes + static_cast<std::size_t>(lane)],
               with_bounds ? bounds_[i] : 0.0);
    }
  }

  /// take(member, values) for each member, where the state lies between bounds, on numbers that can be made of intervals.
  template <class T, class Take>
  void bound(const FamilyModel& model, const Term& term, const TermMembers& members, const MemberSides& sides,
             const MemberState<Interval>& at, const double* held, Take&& take) {
    if (num_functions_ == 0) return;
    box_.resize(static_cast<std::size_t>(tape_.num_inputs()));
    for (std::size_t j = 0; j < static_cast<std::size_t>(members.count); ++j) {
      Interval* to = place_member(model, term, members, j, at, box_.data());
      for (std::size_t i = 0; i < sides.symbols.size(); ++i) *to++ = Interval(sides.of(i, j, held));
      take(j, room_.evaluate<T>(tape_, box_));
    }
  }

 private:
  static constexpr std::int64_t lanes = 4;
  void compile();
  void gather(const FamilyModel& model, const Term& term, const TermMembers& members, const MemberSides& sides,
              const MemberPoint& point, std::int64_t begin, std::int64_t width);

  std::size_t num_functions_ = 0;
  Tape tape_;  ///< [t | q | q̇ | q̈ | indices | numbers | sides]
  CompiledFunction function_;
  std::vector<double> inputs_, outputs_, inputs_of_one_, outputs_of_one_, bounds_;
  std::vector<Interval> box_;
  BoxRoom room_;
};

}  // namespace mechanician
