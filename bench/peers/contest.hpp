#pragma once

/// What all contestants share: the workloads in numbers, how time is taken, and how results are written.
///
/// A contestant is a program. `PROGRAM WORKLOAD [VARIANT]` measures for a fraction of a second and writes one line of
/// JSON for each variant; bench/run calls the contestants in turns and compares. Standard C++17, no library.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace contest {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One call, in nanoseconds: the quickest of some hundred batches, which nothing interrupted, and their median. All
/// contestants have batches of the same length (3 ms), so that what else the machine does meets all alike.
struct Timing {
  double least = 0.0, median = 0.0;
};

/// call(k) does one piece of work at state k, k = 0 … num_states − 1 and again from the front.
template <class Call>
Timing time_calls(int num_states, Call&& call, double seconds = 0.3) {
  int k = 0;
  const auto run = [&](long count) {
    const auto begin = Clock::now();
    for (long i = 0; i < count; ++i) {
      call(k);
      if (++k == num_states) k = 0;
    }
    return seconds_since(begin) / static_cast<double>(count);
  };
  for (int i = 0; i < num_states; ++i) run(1);  // memory and caches have seen everything once
  const double once = std::min(run(num_states), run(num_states));
  const long count = std::max(1L, std::lround(3e-3 / once));
  std::vector<double> rounds;
  for (const auto begin = Clock::now(); seconds_since(begin) < seconds || rounds.size() < 5;)
    rounds.push_back(run(count));
  std::sort(rounds.begin(), rounds.end());
  return {1e9 * rounds[0], 1e9 * rounds[rounds.size() / 2]};
}

/// A whole motion, anew each time: prepare() before the clock starts, then run(). Three to nine times; once where it takes
/// long.
template <class Prepare, class Run>
Timing time_motion(Prepare&& prepare, Run&& run) {
  std::vector<double> rounds;
  for (double sum = 0.0; rounds.size() < 9 && (rounds.size() < 3 || sum < 0.3) && sum < 2.0; sum += rounds.back()) {
    prepare();
    const auto begin = Clock::now();
    run();
    rounds.push_back(seconds_since(begin));
  }
  std::sort(rounds.begin(), rounds.end());
  return {1e9 * rounds[0], 1e9 * rounds[rounds.size() / 2]};
}

/// A line of results. `error`: how far the numbers are off, in the measure of the workload.
inline void report(const std::string& variant, const Timing& time, double error, const std::string& more = "") {
  std::printf("{\"variant\": \"%s\", \"ns\": %.6g, \"median_ns\": %.6g, \"error\": %.3e%s%s}\n", variant.c_str(),
              time.least, time.median, error, more.empty() ? "" : ", ", more.c_str());
  std::fflush(stdout);
}

// ---- W1: the ladder. N + 1 cranks stand on pivots one metre apart, N couplers join their tips; every rod is 1 m, 1
// kg. All cranks are parallel, so that it is a pendulum: I θ'' = V g sin θ, θ from upright, clockwise.
constexpr int ladder_size = 40;
constexpr double gravity = 9.81, rod_inertia = 1.0 / 12.0;  // about the centre of the rod
constexpr int ladder_states = 64;
inline double ladder_angle(int k) { return 0.3 + 0.01 * k; }
constexpr double ladder_speed = 1.0;
inline double ladder_exact(double angle, double N = ladder_size) {
  return ((N + 1) / 2 + N) * gravity * std::sin(angle) / ((N + 1) / 3 + N);
}
/// θ(10 s) from θ = 0, θ' = 1: the pendulum integrated with 13 digits.
constexpr double ladder_end = 31.59743374;

// ---- W2: an arm of seven axes, z and y in turns, its tip held in place.
constexpr int arm_axes = 7;
constexpr double arm_offset[8] = {0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081, 0.045};  // joint to joint, tip
constexpr double arm_mass[7] = {4, 4, 3, 2.7, 1.7, 1.8, 0.3};
constexpr double arm_inertia_xy[7] = {0.05, 0.05, 0.03, 0.03, 0.02, 0.01, 0.001};  // about the centre of mass
constexpr double arm_inertia_z[7] = {0.02, 0.02, 0.01, 0.01, 0.008, 0.006, 0.001};
constexpr double arm_centre_y = 0.02;
inline double arm_centre_z(int i) { return 0.5 * arm_offset[i + 1]; }
constexpr bool arm_about_y[7] = {false, true, false, true, false, true, false};
constexpr double arm_tip[3] = {-0.057661529810798612, 0.10745372018175196, 1.1453841781759826};

/// States on the constraints with the accelerations of mechanician's robust path, as bench_workloads writes them.
struct ArmState {
  double q[arm_axes], qd[arm_axes], qdd[arm_axes];
};
inline std::vector<ArmState> read_arm_states(const char* file) {
  std::ifstream in(file);
  std::vector<ArmState> states;
  for (ArmState s;;) {
    for (auto* part : {s.q, s.qd, s.qdd})
      for (int i = 0; i < arm_axes; ++i) in >> part[i];
    if (!in) break;
    states.push_back(s);
  }
  if (states.empty()) throw std::runtime_error(std::string("no states in ") + file);
  return states;
}
/// Largest difference of an acceleration, relative to the largest.
template <class Vector>
double arm_error(const ArmState& s, const Vector& qdd) {
  double off = 0.0, size = 0.0;
  for (int i = 0; i < arm_axes; ++i) {
    off = std::max(off, std::abs(qdd[i] - s.qdd[i]));
    size = std::max(size, std::abs(s.qdd[i]));
  }
  return off / size;
}

// ---- W4: a planar double pendulum in Cartesian coordinates, rods 1 and 0.8, masses 1 and 1.5, classical Runge–Kutta
// steps.
constexpr double pendulum_mass[2] = {1.0, 1.5}, pendulum_length[2] = {1.0, 0.8}, pendulum_angle[2] = {0.3, 0.9};
constexpr double pendulum_step = 1e-3;
constexpr int pendulum_steps = 1000;
struct PendulumState {
  double x[4], v[4];
};
inline PendulumState pendulum_start() {
  PendulumState s{};
  s.x[0] = pendulum_length[0] * std::sin(pendulum_angle[0]);
  s.x[1] = -pendulum_length[0] * std::cos(pendulum_angle[0]);
  s.x[2] = s.x[0] + pendulum_length[1] * std::sin(pendulum_angle[1]);
  s.x[3] = s.x[1] - pendulum_length[1] * std::cos(pendulum_angle[1]);
  return s;
}
/// After 1000 steps: largest distance of a mass to where it truly is (integrated in angles with 13 digits).
constexpr double pendulum_end[4] = {-0.49913894018601, -0.86652196647863, -0.64492643451642, -1.6531260641649};
inline double pendulum_error(const double* x) {
  double off = 0.0;
  for (int i = 0; i < 4; ++i) off = std::max(off, std::abs(x[i] - pendulum_end[i]));
  return off;
}

struct Arguments {
  std::string workload, variant, states;
  bool wants(const std::string& name) const { return variant.empty() || variant == name; }
};
inline Arguments arguments(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s WORKLOAD [VARIANT]\n", argv[0]);
    std::exit(2);
  }
  Arguments a{argv[1], argc > 2 ? argv[2] : "", ""};
  if (const char* file = std::getenv("ARM_STATES")) a.states = file;
  return a;
}

}  // namespace contest
