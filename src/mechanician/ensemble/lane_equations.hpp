#pragma once

/// What the programs of all motions of an ensemble are made from: rows and sizes at one state of the model, so that a
/// motion does not depend on which others are computed with it.

#include <optional>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Parameters of the model that differ between motions, by index; none given: any may.
using Varied = std::optional<std::vector<int>>;

/// Rows that depend on others at a general state on the constraints near `nominal`: of all, of those that projections
/// of positions and of velocities use.
struct RowsLeftOut {
  std::vector<int> all, positions, velocities;
  bool singular_mass = false;
  bool doubtful = false;  ///< rounding decides which rows depend on others: nothing for lanes
};
RowsLeftOut find_dependent_rows(const System& system, const State& nominal);

/// `nominal`: a start of the model.
ProgramOptions make_lane_options(const System& system, const State& nominal, const RowsLeftOut& dependent,
                                 const Varied& varied);
inline ProgramOptions make_lane_options(const System& system, const State& nominal, const Varied& varied) {
  return make_lane_options(system, nominal, find_dependent_rows(system, nominal), varied);
}
inline constexpr const char* nearly_dependent = "constraint rows that are nearly dependent";

/// The parameters that are inputs: those that vary, or all.
std::vector<int> varied_or_all(const System& system, const Varied& varied);

/// The parameters that are inputs of the programs, from a row of a batch. Throws std::invalid_argument where a
/// parameter that was built in has another value in the batch.
class VariedParameters {
 public:
  VariedParameters() = default;
  VariedParameters(const System& system, std::vector<int> varied);
  VariedParameters(const System& system, const ProgramOptions& options) : VariedParameters(system, options.varied) {}
  const std::vector<int>& varied() const { return varied_; }
  void check(const MotionBatch& batch) const;

 private:
  std::vector<int> varied_;
  std::vector<std::string> names_;
  std::vector<double> values_;
  std::vector<char> built_in_;
};

}  // namespace mechanician
