#pragma once

/// A small model with a bit of everything, and made-up samples of it.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/result/result_writer.hpp"

namespace mechanician {

inline System example_system(const std::string& more = {}) {
  Model model = read_model_text(R"(coordinates = ["x", "y"]
[parameters]
m = 2
[dynamics]
mass = { x = "m", y = "m" }
force = { y = "-9.81*m" }
[constraints]
rod = "x^2 + y^2 = 1"
line = "x' = y'"
[outputs]
height = "y + 1"
[start]
position = { x = 1 }
)" + more,
                                "example.toml");
  const auto values = evaluate_parameters(model).values;
  return System(std::move(model), values);
}

inline ResultHeader example_header(const System& system) {
  State start;
  start.q = Eigen::Vector2d(1.0, 0.0);
  start.qd = Eigen::Vector2d(0.0, 0.1);
  return {Columns(system), make_setup(system, start, {.to = 10.0, .tolerance = 1e-9}, std::nullopt, false)};
}

/// Every number of it is different and says where it belongs.
inline Sample example_sample(double t) {
  const auto vector = [&](double first, int size) {
    Eigen::VectorXd x(size);
    for (int i = 0; i < size; ++i) x(i) = first + 0.1 * i + t / 3.0;
    return x;
  };
  Sample s;
  s.t = t;
  s.q = vector(1, 2), s.qd = vector(2, 2), s.qdd = vector(3, 2);
  s.Qc = vector(4, 2), s.Qc_i = vector(5, 2), s.Qc_ni = vector(6, 2), s.Q_control = vector(7, 2);
  s.lambda = vector(8, 2), s.power = vector(9, 2), s.outputs = vector(10, 1);
  s.residual = 11;
  s.works.given = 12, s.works.ideal = 13, s.works.nonideal = 14, s.works.control = 15;
  s.works.constraints = vector(16, 2);
  s.error = vector(18, 1), s.cost = 19.0;  // where there is control
  return s;
}

inline MotionEvent example_event(double time) {
  MotionEvent e;
  e.time = time;
  e.kind = EventKind::singular;
  e.name = "flat";
  e.constraints = {"rod", "line"};
  e.q = Eigen::Vector2d(1, 2), e.qd_before = Eigen::Vector2d(3, 4), e.qd_after = Eigen::Vector2d(5, 6);
  e.sigma = 1e-3, e.dimension = 1, e.turning = true;
  return e;
}

/// One row for each time from first to last − 1.
inline void write_rows(ResultWriter& writer, const Columns& columns, int first, int last) {
  std::vector<double> row;
  for (int i = first; i < last; ++i) {
    columns.fill_row(example_sample(i), row);
    writer.row(row);
  }
}

inline RunState state_with(RunStatus status) {
  RunState state;
  state.summary.status = status;
  return state;
}

/// The least that a checkpoint needs to be taken for one.
inline RunCheckpoint checkpoint_at(long rows) {
  RunCheckpoint c;
  c.rows = rows;
  c.motion = {1.0, static_cast<double>(rows)};
  c.notes = {"a note", ""};
  return c;
}

/// A folder that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() / ("mechanician_test_" + std::to_string(random()));
    std::filesystem::create_directory(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}
inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace mechanician
