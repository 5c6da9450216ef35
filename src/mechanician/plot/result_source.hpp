#pragma once

/// A result as it lies in a file: the names of its columns, the numbers of those that are asked for, its events.
/// CSV, JSON and HDF5 as `run` writes them, and CSV of any other program that begins with a line of names.

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mechanician {

struct ResultEvent {
  double time = 0.0;
  std::string kind;                                               ///< "impact", "user", …
  std::string name;                                               ///< of the event in the model, where it has one
  std::vector<double> position, velocity_before, velocity_after;  ///< by ResultSource::coordinates
};

/// What read() gives.
struct ResultRows {
  std::vector<std::vector<double>>
      columns;                           ///< in the order asked for, all of the same length; nan where there is none
  std::vector<ResultEvent> events;       ///< none in CSV
  std::vector<std::string> coordinates;  ///< what the vectors of the events are by
  std::string remark;                    ///< that the result is not whole or not to be trusted; empty otherwise
};

class ResultSource {
 public:
  virtual ~ResultSource() = default;
  /// In the order of the file; never empty.
  const std::vector<std::string>& columns() const { return columns_; }
  /// Only the columns that are asked for are kept in memory. To be called once: standard input cannot be read twice.
  virtual ResultRows read(std::span<const std::size_t> wanted) = 0;

 protected:
  std::vector<std::string> columns_;
};

/// By what the file begins with; "-" is standard input. Throws FileError, with line and column where there are some.
std::unique_ptr<ResultSource> open_result(const std::string& file);

}  // namespace mechanician
