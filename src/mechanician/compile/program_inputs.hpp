#pragma once

/// The inputs that programs of a model have in common: [t | q | q̇ | parameters that are not built in | sides].

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

class ProgramInputs {
 public:
  ProgramInputs(const Equations& eqs, const ProgramOptions& options);

  int count() const { return count_; }
  /// Symbols of the equations: inputs first, then those that are built in.
  const std::vector<Expr>& symbols() const { return symbols_; }
  /// What they are in a program with count() inputs.
  std::vector<ProgramBuilder::Value> values_in(ProgramBuilder& builder) const;

 private:
  std::vector<Expr> symbols_;
  std::vector<double> built_in_;
  int count_ = 0;
};

/// Functions of the state: their values, and nothing else. Of the options, parameters and sides count.
Program make_values_program(const Equations& eqs, const ProgramOptions& options, const std::vector<Expr>& functions);

}  // namespace mechanician
