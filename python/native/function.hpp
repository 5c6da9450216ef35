#pragma once

/// The acceleration of a model as a function of numbers: compiled, for one state or for many at once.

#include <atomic>
#include <string>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "model.hpp"

namespace mechanician::python {

class NativeFunction {
 public:
  NativeFunction(const NativeModel& model, const Start& start);

  int n() const { return model_.system().n(); }
  /// How accelerations are computed: "ldlt", …, or why the general solver does it.
  const std::string& path() const { return path_; }
  /// q̈ of `count` states, rows of n. Throws std::invalid_argument at a state without an acceleration.
  void evaluate(std::int64_t count, const double* t, std::int64_t t_apart, const double* q, const double* qd,
                double* qdd);
  /// One state; false where there is no acceleration. For callers that know no exceptions.
  bool evaluate_one(double t, const double* q, const double* qd, double* qdd) noexcept;

 private:
  void solve(double t, const double* q, const double* qd, double* qdd) const;
  void gather(double t, const double* q, const double* qd, double* inputs, std::int64_t apart) const;

  NativeModel model_;
  std::string path_;
  CompiledFunction one_, lanes_;
  int num_lanes_ = 0, at_vouch_ = 0;
  std::vector<double> inputs_, outputs_;
};

/// For callbacks of C: 0 where it went well. `function` is a NativeFunction.
extern "C" int mechanician_acceleration(double t, const double* q, const double* qd, double* qdd, void* function);

}  // namespace mechanician::python
