#pragma once

/// Results as HDF5: one dataset a quantity, and what a run needs to be taken up again.
///
///     t [rows]   q qd qdd Qc Qi Qni [rows, n]   lambda power work [rows, constraints]   outputs   residual   work_…
///         each with the attribute `columns`, the names of its columns (dataset columns/NAME beyond 4000 of them)
///     events/time kind name constraints position velocity_before velocity_after sigma dimension turning noise_limited
///     setup/parameters start_position start_velocity scale
///     rows_valid events_valid          how much of a file that is being written counts; all of it at the end
///     checkpoint [2, size]             in files that are not complete
///     attributes of the file: model, model_file, version, options, to, every, tolerance, method, start_time, verify,
///         status, message, complete (0 or 1), trusted (0 or 1), summary (JSON: the certificate)
///
/// FILE.part has more rows than it uses; in those to come t is not a number. Rows are counted as valid after they were
/// written, and the two checkpoints are overwritten in turn, so that a process may be killed at any moment: the file
/// reads, its valid rows are right, and one checkpoint is whole. When the room is used up, a file with twice as much
/// takes its place by a rename.

#include <memory>
#include <string>
#include <vector>

#include "mechanician/result/part_file.hpp"
#include "mechanician/result/result_writer.hpp"

namespace mechanician {

std::unique_ptr<ResultWriter> make_hdf5_writer(const std::string& file, ResultHeader header);

/// A result as it was found, with all that its run depends on.
struct StoredRun {
  std::string file;    ///< the name of the result when it is finished
  std::string source;  ///< the file that holds it: FILE or FILE.part
  RunSetup setup;
  RunStatus status = RunStatus::incomplete;
  std::string message;  ///< why it stopped, if it did
  /// From where it goes on; without numbers of the integrator: from its beginning.
  RunCheckpoint checkpoint;
  /// The lock on FILE.part; none where nothing is left to compute.
  std::unique_ptr<PartFile> part;
};

/// Finds FILE.part or FILE, whichever is named. Throws FileError for what is missing, damaged, no result of this
/// program or being written right now. `past_end`: one that has reached its end is to go on too.
StoredRun open_stored_run(const std::string& named, bool past_end = false);

/// Goes on where the checkpoint is; what the file holds beyond it is dropped. FILE itself stays until the end.
std::unique_ptr<ResultWriter> make_resuming_hdf5_writer(StoredRun run, ResultHeader header);

}  // namespace mechanician
