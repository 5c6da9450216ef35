#pragma once

/// The equations of a System, written out, as numbers: one straight-line program for M, Q, A, b and one for the rows.
///
/// All expressions are frozen together (switches.hpp), so that equal switching functions are one switch. The programs
/// become machine code when they are asked to (make_quick_code).

#include <mutex>
#include <optional>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/equations/switches.hpp"
#include "mechanician/motion/equation_values.hpp"

namespace mechanician {

class WrittenEquations final : public EquationValues {
 public:
  /// The system must outlive it.
  explicit WrittenEquations(const System& system);
  /// Of a system that shares its equations with that of others, with the parameters that it has now: what was made of them is there already.
  WrittenEquations(const WrittenEquations& others, const System& system);

  std::unique_ptr<EquationValues> clone() const override { return std::make_unique<WrittenEquations>(*this); }
  const System& system() const override { return *system_; }
  /// With sides held, and what power is made of (acceleration_program.hpp).
  const Equations& frozen() const { return made_->frozen; }
  const std::optional<Expr>& given_power() const { return made_->given_power; }
  const std::vector<Switch>& switches() const { return made_->switches; }
  const std::vector<Expr>& divisors() const { return made_->divisors; }
  /// The values of parameters that the system has now, or others.
  void take_parameters() { take_parameters(system_->parameters()); }
  void take_parameters(std::span<const double> values);
  void make_quick_code() override { rhs_values_.make_quick_code(), row_values_.make_quick_code(); }

  std::string divisor_text(int i) const override;

  bool evaluate(double t, const double* q, const double* qd) override;
  Numbers numbers() const override;
  bool evaluate_rows(double t, const double* q, const double* qd) override;
  RowNumbers row_numbers() const override;
  void calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) override;
  const double* calc_C(const Point& point) override;
  bool calc_switches(const Point& point, std::span<double> g) override;
  void calc_switch_noise(const Point& point, std::span<double> noise) override;
  bool calc_switch_rates(const Point& point, std::span<double> rates, std::span<double> noise) override;
  void calc_divisors(const Point& point, std::span<double> values) override;
  // ---- written_derivatives.cpp
  std::span<const SparseEntry> derivative_pattern() override;
  bool calc_derivatives(const Point& point, std::span<double> by_q, std::span<double> by_qd) override;
  std::span<const double> calc_quantities(const Point& point) override;
  void calc_quantity_noise(const Point& point, const Point& error, std::span<double> noise) override;
  bool bound_switches(const StateBox& box, std::span<Interval> g) override;
  bool bound_quantities(const StateBox& box, std::span<Interval> quantities) override;
  bool varies_fast(const StateBox& box) override;
  void calc_unseen(const StateBox& box, SeenBy shown, UnseenValues& to) override;
  /// Narrow functions in the equations, and bounds of what they are functions of at [t | q | q̇ | parameters | sides].
  const NarrowFunctions& narrow() const { return made_->narrow; }
  const Tape& narrow_arguments() const { return made_->narrow_arguments; }
  std::span<const double> calc_weights(const Point& point) override;
  std::span<const double> calc_sliding(const Point& point) override;
  bool calc_control(const Point& point, std::span<const double>& numbers) override;
  GenericRank find_generic_rank(const State& state) override;

 private:
  struct Parts;
  void set_facts();
  void set_programs(const Parts& parts, const std::vector<Expr>& frozen);
  void set_quantities();
  ForceFacts find_force_facts(const Expr& symbol) const;
  void set_narrow(const Parts& parts, const std::vector<Expr>& frozen);
  std::vector<Expr> inputs() const;
  void set_control_switches();
  /// The sides of expressions among the inputs.
  void set_sides();
  void set_inputs(const Point& point);
  std::span<const double> inputs_of(const Tape& tape) const;
  void run(const Tape& tape, std::span<double> values);
  void run(const Tape& tape, const StateBox& box, std::span<Interval> values);
  void set_box(const StateBox& box);
  template <class T>
  void calc_unseen_as(const StateBox& box, UnseenValues& to);

  const System* system_;
  struct DerivativeOutput {
    int entry;
    bool by_velocity;
  };
  /// What never changes once it is made: copies, one for each phase of a motion with contacts, share it.
  struct Made {
    Equations frozen;
    std::optional<Expr> given_power;
    std::vector<Switch> switches;
    std::vector<Expr> divisors;
    Tape rows;  ///< of row_values_, for bounds
    Tape C, switching, switch_rates, below_fractions, quantities, sliding, weights, control;
    std::size_t at_Q = 0, at_A = 0, at_b = 0, at_K = 0, at_C = 0, at_row_A = 0, at_residual = 0, at_rate = 0;
    NarrowFunctions narrow;
    Tape narrow_arguments, narrow_outputs;  ///< [M | Q | A | b | friction | C]
    std::vector<int> narrow_C;              ///< which of C
    std::vector<char> rate_is_known;        ///< of switching functions: they use no reactions
    std::size_t num_inputs =
        0;  ///< [t | q | q̇ | parameters | sides]; after them [ideal | multipliers] or [q̈ | multipliers]
    struct {
      std::once_flag once;
      std::vector<SparseEntry> pattern;
      std::vector<DerivativeOutput> outputs;
      CompiledFunction values;
    } derivatives;
  };
  std::shared_ptr<Made> made_;
  // [M | Q | A | b | K̇ | C if it needs no reactions], [M | A | residual | rate].
  CompiledFunction rhs_values_, row_values_, derivative_values_;
  std::vector<Interval> box_;
  BoxRoom room_;
  std::vector<double> x_, registers_, v_, rows_, C_, quantities_, sliding_, weights_, control_, derivative_outputs_;
};

/// A tape as a program with the same inputs.
CompiledFunction compiled(const Tape& tape);

}  // namespace mechanician
