#pragma once

/// Many motions of one model, for Python: the samples are numbers that the caller has.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model.hpp"

namespace mechanician::python {

struct SweepWishes {
  std::vector<std::string> names;  ///< what varies: parameters, x, x'
  std::vector<double> samples;     ///< rows of as many values
  std::vector<std::string> keep;
  std::optional<double> to, tolerance, step;
  std::optional<std::string> method;  ///< rk4 too
  std::string device = "cpu";
  int threads = 0;
  bool as_given = false;
};

struct NativeSweep {
  std::vector<std::string> names;                   ///< of the columns
  std::vector<double> values;                       ///< rows of motions
  std::vector<std::string> outcomes;                ///< by motion
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  std::int64_t computed = 0;                        ///< motions; fewer than there are where it was interrupted
};

/// Throws std::invalid_argument for what makes no sense. `go_on`: as for a run.
NativeSweep run_sweep_of(const NativeModel& model, const Start& start, const SweepWishes& wishes,
                         const std::function<bool(std::int64_t done, std::int64_t of)>& go_on);

}  // namespace mechanician::python
