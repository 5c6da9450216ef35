#pragma once

/// What is kept of a motion beside its end: [outputs] of the model, accelerations, forces and multipliers at the end; numbers
/// of its [summary].

#include <string>
#include <vector>

#include "mechanician/ensemble/varied_system.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

/// One per thread: it has a system of its own.
class KeptValues {
 public:
  /// Names and patterns with * and ?, of what `run` has columns for and of [summary]: outputs, `x''`, `Qc(x)`, `Qi(x)`, `Qni(x)`, `lambda(NAME)`,
  /// `Qcontrol(x)` where something is controlled, `normal(NAME)` and `friction(NAME)` where there is friction. Throws
  /// std::invalid_argument for one that fits nothing.
  KeptValues(const System& system, const std::vector<std::string>& patterns);

  const std::vector<std::string>& names() const { return names_; }
  /// Whether a number of [summary] is kept: then motions have to be followed (EnsembleOptions::summarise).
  bool keeps_summary() const { return keeps_summary_; }
  std::vector<char> summary_kept(std::size_t count) const;  ///< by item
  /// Writes a number for each name; not a number where it has no value. `summary`: of the motion, as in BatchResult.
  void calc(const double* parameters, double t, const double* q, const double* qd, const double* summary,
            double* values);

  /// The same of what is known of the end of a motion.
  void take(const Sample& end, const double* summary, double* values) const;

 private:
  struct Source {
    enum class Of : std::uint8_t {
      output,
      qdd,
      Qc,
      Qi,
      Qni,
      Qcontrol,
      tau,
      error,
      cost,
      lambda,
      normal,
      friction,
      mode,
      engaged,
      summary
    } of;
    int index;
    int slip = 0;       ///< of a friction: which
    int in_sample = 0;  ///< where it stands in a sample
  };
  VariedSystem system_;
  std::vector<std::string> names_;
  std::vector<Source> sources_;
  bool needs_solution_ = false, keeps_summary_ = false;
  Tape outputs_;  ///< of t, q, q̇, parameters, q̈
  std::vector<double> inputs_, registers_, output_values_;
};

}  // namespace mechanician
