#pragma once

/// Where a run can be taken up again: the state of the integrator after a step, and how many rows of the result
/// come before it. Rows after that are computed again, to the same bits.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

struct RunCheckpoint {
  long rows = 0;
  long grid_rows = 0;  ///< start + k·every: the k that comes next; a run that went on past its end has further rows
  std::vector<double> motion;       ///< Integrator::checkpoint()
  std::vector<MotionEvent> events;  ///< before it
  std::vector<std::string> notes;
  double wall_time = 0.0;  ///< seconds used so far

  // The second run of --verify, if there is one.
  std::vector<double> second;
  std::string second_ended;   ///< why it is over, if it is
  double global_error = 0.0;  ///< so far

  /// Of the rows before it, by column group: a writer's means to notice a damaged file.
  std::vector<std::uint64_t> row_hashes;
};

/// As bytes that know their length and their hash, so that half a checkpoint is not taken for one. Of two checkpoints
/// the one with the higher sequence number is the later.
std::string to_bytes(const RunCheckpoint& checkpoint, long sequence);

struct StoredCheckpoint {
  RunCheckpoint checkpoint;
  long sequence = 0;
};
/// Nothing where the bytes do not begin with a whole checkpoint.
std::optional<StoredCheckpoint> checkpoint_of(std::string_view bytes);

}  // namespace mechanician
