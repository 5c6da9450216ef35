#pragma once

/// What the programs for accelerations and projections have in common: inputs, M, A and the elimination of both.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/elimination.hpp"
#include "mechanician/compile/numbers.hpp"
#include "mechanician/compile/program_inputs.hpp"

namespace mechanician {

class KktDraft {
 public:
  /// A row divided by `scale`, a constant that all its coefficients have in common.
  struct DraftRow {
    int row = 0;  ///< of the equations
    double scale = 1.0;
    std::vector<std::pair<int, Number>> a;
  };

  /// `rows`: those that take part, kept and dropped; `loose`: directions without mass get a little of it.
  KktDraft(const Equations& eqs, const ProgramOptions& options, const std::vector<int>& rows, bool loose);

  /// Numbers of expressions; further inputs beyond those of the program by symbol.
  std::vector<Number> evaluate(const std::vector<Expr>& expressions, const std::vector<Expr>& more_symbols = {},
                               const std::vector<Number>& more = {});
  /// Right-hand sides of the kept rows, divided by their scales.
  Number scaled_rhs(const DraftRow& row, const Expr& value);

  ProgramBuilder builder;
  Numbers numbers;
  std::string problem;  ///< why there is no program; empty if all is well
  std::string path = "ldlt";
  std::vector<DraftRow> kept, dropped;
  std::vector<Number> M_diagonal;   ///< of what is eliminated
  std::vector<KktMatrix::Entry> M;  ///< as given, lower triangle
  std::optional<Elimination> elimination;
  std::vector<double> least;  ///< sizes that rows must not fall below

  /// f and g for the elimination: with a singular mass Q + AᵀWb. Solves, and refines where asked to.
  Elimination::Solution solve(const std::vector<Number>& f, const std::vector<Number>& g);

  /// The same for rows at rest, vouched for by itself: in units of its own, and not a part of what is given.
  Elimination::Solution solve_apart(const std::vector<Number>& f);

  /// Velocities brought onto the kept rows, whose rates are linear in them: they stand for q̇ from here on.
  std::vector<Number> hold_velocities();

  /// Coefficients c of dropped row d in the kept ones; notes what is left of it among the margins.
  std::vector<Number> depend(const DraftRow& d);
  /// A coefficient that is rounding becomes zero: rows of very different size would make something of it.
  Number clean(const Number& coefficient, const DraftRow& d, std::size_t k);
  /// Pivots and margins good, x not too small beside what it is a difference of, everything finite: the last output.
  Number calc_vouch(const std::vector<Number>& x, const std::vector<Number>& finite = {});
  /// Has to stay positive.
  std::vector<Number> margins;

  bool is_weighted() const { return !weights_.empty(); }  ///< M + AᵀWA is what is eliminated
  Number square_sum(const std::vector<Number>& xs);
  Number abs(const Number& x);
  Number dot(const std::vector<Number>& a, const std::vector<Number>& b);
  std::vector<Number> times_mass(const std::vector<Number>& x);

 private:
  KktDraft(const ProgramInputs& inputs, const Equations& eqs, const ProgramOptions& options,
           const std::vector<int>& rows, bool loose);
  void read_mass();
  void read_rows(const std::vector<int>& rows);
  void add_weights(KktMatrix& K, bool loose);
  void weigh_rows(const std::vector<Number>& diagonal, const std::vector<char>& weighted);
  void weigh_rows_at_reference(const std::vector<Number>& diagonal, const std::vector<char>& weighted);
  /// Values at options.reference.
  std::vector<double> at_reference(const std::vector<Number>& wanted);
  std::vector<std::vector<double>> evaluate_at(const std::vector<std::vector<double>>& inputs,
                                               const std::vector<Number>& wanted);
  /// Where multipliers of all solutions so far are not too large; `size`: of accelerations, squared.
  void watch_load(const Number& size);
  Number mass_square(const std::vector<Number>& x);
  /// a M⁻¹aᵀ with the diagonal of M alone.
  Number size_of(const DraftRow& row);

  const Equations& eqs_;
  const ProgramOptions& options_;
  std::vector<Expr> symbols_;
  std::vector<ProgramBuilder::Value> inputs_;
  double least_pair_ = 0.0;                 ///< what D of the last two rows must not fall below
  std::vector<Number> weights_;             ///< of kept rows; empty where M is definite
  std::vector<double> coordinate_weights_;  ///< where there is a reference (row_weights.hpp)
  Number load_ = constant_number(0.0), free_ = constant_number(0.0);  ///< Σ P λ² and Σ f²/M_ii of all solutions
};

}  // namespace mechanician
