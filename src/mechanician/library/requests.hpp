#pragma once

/// What is asked of a System: plain structures, everything by name. What is not given is as the model says.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mechanician {

/// Numbers by name: parameters, coordinates.
using Values = std::map<std::string, double>;

struct InstantRequest {
  Values position = {}, velocity = {};
  std::optional<double> time = {};
  bool parts = false;  ///< the parts that explain the motion too
};

struct MotionRequest {
  std::optional<double> to = {}, every = {}, tolerance = {};
  std::optional<std::string> method = {};  ///< "auto", "dop853", "bdf"
  Values position = {}, velocity = {};
  std::optional<double> time = {};
  bool project = false;  ///< a start that is off the constraints is moved onto them
  bool verify = false;   ///< a second run at a hundredth of the tolerance
  bool report = false;   ///< make the page of the report too
  std::string columns = {};
  Values scale = {};
  /// Asked after the first step, some ten times a second and at the end: false ends the run, and what there is is kept. Of a motion row
  /// by row (MotionStepper) it is asked while a row is computed; false: there is no row.
  std::function<bool(double begin, double now, double end)> progress = {};
};

struct SweepRequest {
  /// Parameters, coordinates `x` or velocities `x'` of the start, with their values.
  std::vector<std::pair<std::string, std::vector<double>>> vary = {};
  bool pairs = false;  ///< values belong together one by one; else all combinations, the last name fastest
  std::vector<std::string> keep = {};
  std::optional<double> to = {}, tolerance = {}, step = {};
  std::optional<std::string> method = {};  ///< "rk4" too
  Values position = {}, velocity = {};
  std::optional<double> time = {};
  std::string device = "cpu";  ///< "auto", "gpu"
  int threads = 0;             ///< 0: as many as this process may use
  bool as_given = false;       ///< starts are not moved onto the constraints
  std::function<bool(std::int64_t done, std::int64_t of)> progress = {};
};

/// `count` numbers from one to another, both included.
std::vector<double> linspace(double from, double to, std::size_t count);

}  // namespace mechanician
