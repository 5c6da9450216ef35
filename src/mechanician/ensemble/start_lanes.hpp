#pragma once

/// Starts of many motions moved onto the constraints side by side, by compiled code.
///
/// The result is that of project() (instant/project.hpp) up to rounding: the same steps, by compiled code
/// (compile/nearest_program.hpp). What these do not bring onto the constraints as far as rounding can tell, or what is not
/// vouched for, is left to project(). A start does not depend on which others are moved with it.

#include <array>
#include <memory>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/instant/nearest_search.hpp"

namespace mechanician {

/// Coordinates up to which code for lanes is looked for: programs end at 20,000 steps, and to find out that thousands of
/// coordinates need more takes longer than their motions.
inline constexpr int most_in_lanes = 1000;

class StartLanes {
 public:
  static constexpr int lanes = 4;

  /// `varied`: parameters that differ from start to start. `nominal`: a start like them; programs that move are made for it when the
  /// first start has to be moved.
  StartLanes(const System& system, const State& nominal, std::vector<int> varied);

  /// Rows of parameters, n positions and n velocities, in place. `which`: rows that are to be on the constraints; afterwards those
  /// that are not, left as they were.
  void move(double t, std::vector<int>& which, const double* parameters, double* q, double* qd);

 private:
  /// Of positions or of velocities; empty where compiled code cannot do it.
  struct Nearest {
    CompiledFunction metric, step;
    std::vector<std::pair<int, int>> entries;  ///< of M
  };
  struct Code;
  /// Rows of a block that are being moved.
  struct Block {
    double t;
    const double* parameters;
    double *q, *qd;
  };
  /// Whom a lane moves, and on what way.
  struct Lane {
    int row = -1;
    bool fresh = false;
    NearestSearch search;
  };

  void take_code();
  void fill(const Block& block, int lane, int row);
  void meet(const Block& block, const int* rows, int count);
  void move_all(Nearest& nearest, bool velocities, const Block& block, const std::vector<int>& rows);
  void begin(Nearest& nearest, bool velocities);
  bool advance(int lane, bool velocities);
  static double& of(AlignedNumbers& x, int i, int lane) { return x[static_cast<std::size_t>(i * lanes + lane)]; }

  std::shared_ptr<Code> code_;  ///< of all copies
  std::vector<int> varied_;
  int n_ = 0, num_parameters_ = 0;
  bool taken_ = false;  ///< what moves, from code_
  CompiledFunction meeting_;
  Nearest positions_, velocities_;
  AlignedNumbers inputs_;  ///< [t | q | q̇ | parameters | x₀ | M] × lanes
  AlignedNumbers meets_, outputs_, metric_;
  std::array<Lane, lanes> lanes_;
  std::vector<char> failed_;  ///< by row
  Eigen::VectorXd normal_, tangent_;
  Eigen::MatrixXd M_;
};

}  // namespace mechanician
