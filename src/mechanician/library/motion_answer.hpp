#pragma once

/// Motions in memory, by name. One: rows as the command line writes them, any time in between, and files. Many: a row for each.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/library/requests.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {

/// Everything that is known at one time, by name.
class NamedSample {
 public:
  NamedSample(std::shared_ptr<const std::vector<std::string>> names, std::vector<double> row)
      : names_(std::move(names)), row_(std::move(row)) {}
  double t() const { return row_.front(); }
  /// A coordinate, its velocity, its acceleration. Throw std::out_of_range for a name that is none.
  double q(std::string_view coordinate) const { return value(coordinate); }
  double qd(std::string_view coordinate) const { return value(std::string(coordinate) + "'"); }
  double qdd(std::string_view coordinate) const { return value(std::string(coordinate) + "''"); }
  /// Any column: "lambda(rod)", "Qc(x)", an output.
  double value(std::string_view column) const;
  std::span<const double> row() const { return row_; }

 private:
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<double> row_;
};

class MotionAnswer {
 public:
  const std::vector<std::string>& columns() const;
  std::size_t num_rows() const;
  /// The numbers of a column, one for each row. Throws std::out_of_range for a name that is none.
  std::vector<double> column(std::string_view name) const;
  /// All rows, one behind the other. What was left open is computed now, as column() does of columns of which anything was.
  std::span<const double> rows() const;
  /// The same, computing nothing: accelerations and forces of long motions are left open until somebody asks for them, and are no numbers here.
  std::span<const double> rows_so_far() const;
  /// Columns of which something still is, by number.
  std::vector<std::size_t> left_open() const;
  /// At any time of the motion. Throws std::out_of_range outside. The motion is computed once more when this is first asked.
  NamedSample sample(double t) const;

  /// done, stopped, failed, suspect, interrupted.
  std::string_view status() const;
  bool trusted() const;
  std::string message() const;
  /// {"summary": …, "events": …}, as `run --json` has them.
  std::string summary_json() const;
  const std::vector<MotionEvent>& events() const;
  const Certificate& certificate() const;
  /// The page, where it was asked for.
  const std::string& report() const;
  /// As the command line writes it: .h5, .csv or .json. Throws std::invalid_argument for other endings, FileError.
  void write(const std::string& file) const;

  struct Data;
  explicit MotionAnswer(std::shared_ptr<Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<Data> data_;
};

/// A motion that is advanced by its caller, row by row.
class MotionStepper {
 public:
  /// Throws std::invalid_argument where the motion cannot begin.
  MotionStepper(const System& system, const MotionRequest& request);
  ~MotionStepper();
  MotionStepper(MotionStepper&&) noexcept;
  /// To the next row: the start first, then the end of a step or the next multiple of `every`. False at the end.
  bool advance();
  const std::vector<std::string>& columns() const;
  const std::vector<double>& row() const;
  bool failed() const;
  std::string message() const;
  /// From the time of the last row on an input of the model has another value ([inputs]). Positions and velocities stay; where constraints
  /// depend on the input and no longer hold, the motion ends. One that the model gives as an expression or a table is a number from then
  /// on. Throws std::invalid_argument as Integrator::set_input does.
  void set_input(std::string_view name, double value);
  /// From there on it is again what the model says.
  void unset_input(std::string_view name);
  /// The motion up to the last row where nothing was set; else since then.
  Integrator& integrator();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Many motions.
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
