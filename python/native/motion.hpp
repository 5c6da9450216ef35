#pragma once

/// Motions for Python: whole ones in memory, and ones that are advanced step by step.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/motion/integrator.hpp"
#include "mechanician/result/result_writer.hpp"
#include "model.hpp"

namespace mechanician::python {

struct RunWishes {
  std::optional<double> to, every, tolerance;
  std::optional<std::string> method;
  bool verify = false, project = false;
  std::string columns = {};
  std::map<std::string, double> scale = {};
};

/// Rows, events and summary of a run. Rows lie one behind the other.
struct NativeRun {
  std::vector<std::string> columns;
  std::vector<double> rows;
  std::string summary;  ///< JSON: summary and events, as `run --json` has them
  std::string report;   ///< the page, where it was asked for
  std::shared_ptr<const System> keeps = nullptr;
  std::optional<ResultHeader> header = std::nullopt;
  Summary words = {};
  std::vector<MotionEvent> events = {};

  /// As the command line writes it: .h5, .csv or .json. Throws std::invalid_argument for other endings, FileError.
  void save(const std::string& file) const;
};

/// `go_on` is asked several times a second: false interrupts, and what is there is kept. Throws std::invalid_argument.
NativeRun run_motion(const NativeModel& model, const Start& start, const RunWishes& wishes, bool with_report,
                     const std::function<bool(double begin, double now, double end)>& go_on);

/// One step after the other.
class NativeSteps {
 public:
  NativeSteps(const NativeModel& model, const Start& start, const RunWishes& wishes);
  /// To the next row: the end of a step, or the next multiple of `every`. False at the end.
  bool advance();
  double t() const { return row_.empty() ? 0.0 : row_.front(); }
  const std::vector<double>& row() const { return row_; }
  const std::vector<std::string>& columns() const { return names_; }
  std::string why() const { return integrator_.stop().message; }
  bool failed() const { return integrator_.stop().failed(); }
  Integrator& integrator() { return integrator_; }

 private:
  void take(double t);

  NativeModel model_;
  RunSetup setup_;
  Columns columns_;
  std::vector<std::string> names_;
  Integrator integrator_;
  std::vector<double> row_;
  long rows_ = 0;
};

}  // namespace mechanician::python
