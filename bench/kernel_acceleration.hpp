#pragma once

/// One acceleration by kernels and sparse elimination, without anything behind it: what a motion does at a stage.

#include <stdexcept>
#include <vector>

#include "mechanician/large/large_system.hpp"
#include "mechanician/solve/sparse_elimination.hpp"

namespace mechanician {

class KernelAcceleration {
 public:
  explicit KernelAcceleration(LargeSystem& system)
      : system_(&system),
        elimination_(system.pattern()),
        values_(system.make_values()),
        sides_(system.num_sides(), 1.0),
        lambda_(static_cast<std::size_t>(system.m())) {}

  void set_check_residuals(bool check) { elimination_.set_check_residual(check); }
  const SparseResult& result() const { return result_; }
  void operator()(double t, const double* q, const double* qd, double* qdd) {
    const auto n = static_cast<std::size_t>(system_->n());
    system_->evaluate({t, {q, n}, {qd, n}, sides_}, values_);
    result_ = elimination_.factor_and_solve(values_.M, values_.A, values_.Q, values_.b, {qdd, n}, lambda_);
    if (!result_.vouched()) throw std::runtime_error(describe(result_.status));
  }

 private:
  LargeSystem* system_;
  SparseElimination elimination_;
  LargeSystem::Values values_;
  std::vector<double> sides_;
  LargeVector lambda_;
  SparseResult result_;
};

}  // namespace mechanician
