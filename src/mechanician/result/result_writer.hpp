#pragma once

/// Where the rows of a run go. One interface for all formats; what goes wrong with a file is a FileError.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/result/columns.hpp"
#include "mechanician/result/run_checkpoint.hpp"
#include "mechanician/result/run_setup.hpp"
#include "mechanician/result/summary.hpp"

namespace mechanician {

struct ResultHeader {
  Columns columns;
  RunSetup setup;
};

/// What there is beside the rows, at some moment.
struct RunState {
  Summary summary;
  std::span<const MotionEvent> events;  ///< all so far
  /// Where the run can be taken up again; only for writers that keep it.
  std::optional<RunCheckpoint> checkpoint;
};

class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  /// The numbers of one row, in the order of the columns. May be kept back until flush().
  virtual void row(std::span<const double> row) = 0;
  /// Whether it takes rows that lack what Integrator::complete_sample() finds: it asks for that when it likes.
  virtual bool takes_states() const { return false; }
  virtual void row_of_state(std::span<const double> /*row*/, std::span<const double> /*state*/) {}
  /// Brings everything so far to the file, which then reads as an incomplete result.
  virtual void flush(const RunState& state) = 0;
  /// The last word. Without it the result stays incomplete.
  virtual void finish(const RunState& state) = 0;
  virtual bool keeps_checkpoints() const { return false; }
};

enum class ResultFormat { csv, json, hdf5 };
/// By the ending .csv, .json or .h5; nothing for others.
std::optional<ResultFormat> format_of(std::string_view file);

/// Writes FILE.part, locked against a second writer, and renames it at the end.
std::unique_ptr<ResultWriter> make_writer(const std::string& file, ResultFormat format, ResultHeader header);
/// To standard output: CSV or JSON.
std::unique_ptr<ResultWriter> make_standard_output_writer(ResultFormat format, ResultHeader header);

}  // namespace mechanician
