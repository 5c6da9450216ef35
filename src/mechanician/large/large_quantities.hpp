#pragma once

/// Outputs and events of a large system: expressions of members and of sums over members, as numbers at a state.
///
///     LargeQuantities outputs(model, {&quantity, …});
///     outputs.evaluate(t, q, qd, qdd, values);
///
/// Each expression is compiled once and run over its members, four side by side. What stands for one number alone is one program
/// with all its like. Cost: linear in the members of its sums.

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
  /// Forces that its quantities use, in the order in which they are given to evaluate().
  const std::vector<Expr>& forces() const { return forces_; }

  std::size_t size() const { return size_; }
  /// Of all members, in their order.
  std::vector<std::string> names() const;
  /// Which of the quantities given a member belongs to.
  std::size_t quantity_of(std::size_t member) const;
  bool has_accelerations() const { return has_accelerations_; }

  /// `qdd` may be empty where there are no accelerations; `forces` null: zero.
  void evaluate(double t, std::span<const double> q, std::span<const double> qd, std::span<const double> qdd,
                const double* forces, std::span<double> values);
  /// The same on numbers of another kind, Interval or Bounded, one by one. `qdd` and `forces` may be null.
  template <class T>
  void evaluate_as(const T& t, const T* q, const T* qd, const T* qdd, const T* forces, std::span<T> values) const;

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
    bool alone = false;  ///< one number, of no sums
  };
  /// All of these: [t | coordinates, velocities, accelerations and numbers that they use | forces].
  struct Alone {
    Tape tape;
    struct Input {
      int order = 0;  ///< of the derivative; −1: a number
      std::int32_t at = 0;
      double number = 0.0;
    };
    std::vector<Input> inputs;
    std::vector<std::size_t> places;  ///< among the values
    std::vector<double> in, registers, out;
  };
  void add_alone();
  template <class T>
  void place_alone(const T& t, const T* q, const T* qd, const T* qdd, const T* forces, T* to) const;
  Kernel make_kernel(const Term& term, std::span<const QuantitySum> sums);
  /// Calls `take(member, value)` for each.
  template <class Take>
  void run(Kernel& kernel, double t, std::span<const double> q, std::span<const double> qd, std::span<const double> qdd,
           std::span<const double> sums, Take&& take);

  const FamilyModel* model_;
  std::vector<Quantity> quantities_;
  Alone alone_;
  std::vector<Expr> forces_;
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
