#pragma once

/// Outputs and events of a large system: expressions of members and of sums over members, as numbers at a state.
///
///     LargeQuantities outputs(model, {&quantity, …});
///     outputs.evaluate(t, q, qd, qdd, values);
///
/// Each expression is compiled once and run over its members, four side by side. Cost: linear in the members of its sums.

#include <span>
#include <string>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/term_members.hpp"

namespace mechanician {

class LargeQuantities {
 public:
  /// The model must outlive it. Throws ModelError where an index leads out of its bounds.
  LargeQuantities(const FamilyModel& model, const std::vector<const FamilyQuantity*>& quantities);

  std::size_t size() const { return size_; }
  /// Of all members, in their order.
  std::vector<std::string> names() const;
  /// Which of the quantities given a member belongs to.
  std::size_t quantity_of(std::size_t member) const;
  bool has_accelerations() const { return has_accelerations_; }

  /// `qdd` may be empty where there are no accelerations.
  void evaluate(double t, std::span<const double> q, std::span<const double> qd, std::span<const double> qdd,
                std::span<double> values);
  /// The same on numbers of another kind, Interval or Bounded, one by one. `qdd` may be null.
  template <class T>
  void evaluate_as(const T& t, const T* q, const T* qd, const T* qdd, std::span<T> values) const;

 private:
  static constexpr std::int64_t lanes = 4;
  struct Kernel {
    const Term* term = nullptr;
    TermMembers members;
    Tape tape;
    CompiledFunction function;
    std::vector<double> inputs;
    double outputs[lanes] = {};
  };
  struct Quantity {
    const FamilyQuantity* stated = nullptr;
    std::vector<std::vector<Kernel>> sums;
    Kernel whole;
  };
  Kernel make_kernel(const Term& term, std::span<const QuantitySum> sums);
  /// Calls `take(member, value)` for each.
  template <class Take>
  void run(Kernel& kernel, double t, std::span<const double> q, std::span<const double> qd, std::span<const double> qdd,
           std::span<const double> sums, Take&& take);

  const FamilyModel* model_;
  std::vector<Quantity> quantities_;
  std::vector<double> sums_;
  std::size_t size_ = 0;
  bool has_accelerations_ = false;
};

/// Names of the outputs that are columns, of a model that went through kernel_terms(), those of families member by member. Throws ModelError as
/// the constructor does.
std::vector<std::string> output_names(const FamilyModel& model);
/// Its [summary], member by member.
std::vector<SummaryItem> summary_items(const FamilyModel& model);

}  // namespace mechanician
