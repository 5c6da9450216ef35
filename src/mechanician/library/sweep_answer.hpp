#pragma once

/// Many motions in memory: a row for each.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/library/requests.hpp"

namespace mechanician {

struct SweepAnswer {
  /// What was varied (start(x) of a start), t, coordinates and velocities at the end, what was kept, steps, violation, balance.
  std::vector<std::string> columns;
  std::vector<double> rows;           ///< one behind the other; NaN for motions that were not computed
  std::vector<std::string> outcomes;  ///< by motion: done, suspect, stopped, failed
  std::vector<std::pair<std::int64_t, std::string>> reasons;  ///< of motions that are not simply done
  std::int64_t computed = 0;  ///< motions; fewer than there are where the sweep was ended

  std::size_t num_motions() const { return outcomes.size(); }
  /// Throws std::out_of_range for a name that is none.
  std::vector<double> column(std::string_view name) const;
};

}  // namespace mechanician
