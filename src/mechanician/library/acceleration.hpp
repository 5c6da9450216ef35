#pragma once

/// A model in other people's programs: its acceleration as a function of numbers, and files that run without mechanician.
///
///     Acceleration f = system.compiled();
///     f(t, q, qd, parameters, qdd);          // parameters: null for those of the system
///     write_c(system, system.start(), "exported", "pendulum");      // exported/pendulum.c, exported/pendulum.h
///     write_fmu(system, system.start(), "pendulum.fmu", "3.0");
///
/// Compiled; where compiled code does not vouch for an answer, the general solver gives it. Copies are cheap. May be called from
/// several threads at once; after the first call of a thread nothing is allocated where compiled code answers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"

namespace mechanician {

class Acceleration {
 public:
  Acceleration(const System& system, const State& near);

  int n() const;
  /// Of the system, in the order in which they are given.
  std::vector<std::string> parameter_names() const;
  /// How accelerations are computed: "ldlt", …, or why the general solver does it.
  const std::string& path() const;

  /// Throws std::domain_error at a state without an acceleration.
  void operator()(double t, const double* q, const double* qd, const double* parameters, double* qdd) const;
  /// `count` states, rows of n, side by side in vector lanes; t is one number where `t_apart` is 0.
  void evaluate(std::int64_t count, const double* t, std::int64_t t_apart, const double* q, const double* qd,
                const double* parameters, double* qdd) const;
  /// False where there is no acceleration: for callers that know no exceptions.
  bool try_evaluate(double t, const double* q, const double* qd, const double* parameters, double* qdd) const noexcept;

 private:
  struct Shared;
  struct Own;
  Own& own() const;
  std::shared_ptr<const Shared> shared_;
};

struct ExportedFile {
  std::string file;
  std::size_t bytes = 0;
  std::string note;  ///< what is missing in it, and why
};

/// Throw std::invalid_argument for what cannot be exported, which they name, and FileError. `name`: of functions and files; where it is empty
/// that of the model's file.
ExportedFile write_c(const System& system, const State& start, const std::string& folder, std::string name = {});
/// `fmi`: "2.0" or "3.0".
ExportedFile write_fmu(const System& system, const State& start, const std::string& file,
                       const std::string& fmi = "2.0", std::string name = {});

}  // namespace mechanician
