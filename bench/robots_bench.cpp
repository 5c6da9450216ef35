/// One acceleration of a robot for bench/run --robot-speed, by itself and in lanes.
///
///     bench_robots MODEL names        coordinates, a line each
///     bench_robots MODEL STATES       lines of results as those of the peers
///
/// STATES has a line of three numbers (how many, n, n) and for each state q, q̇ and the acceleration to compare with.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "peers/contest.hpp"
#include "ready.hpp"

namespace {

using namespace mechanician;

struct Given {
  std::vector<double> inputs, qdd;  ///< t, q, q̇
};

std::vector<Given> read_states(const char* file, int n) {
  std::ifstream in(file);
  std::size_t count = 0;
  int positions = 0, velocities = 0;
  in >> count >> positions >> velocities;
  if (positions != n || velocities != n) throw std::runtime_error("the states are of another model");
  std::vector<Given> states(count, {std::vector<double>(1 + 2 * static_cast<std::size_t>(n)),
                                    std::vector<double>(static_cast<std::size_t>(n))});
  for (Given& s : states) {
    for (std::size_t i = 1; i < s.inputs.size(); ++i) in >> s.inputs[i];
    for (double& x : s.qdd) in >> x;
  }
  if (!in) throw std::runtime_error("the states cannot be read");
  return states;
}

void measure(const AccelerationProgram& made, const std::vector<Given>& states, int lanes) {
  CompiledFunction function(made.program, {.tier = TierPolicy::optimised, .background = false, .lanes = lanes});
  function.wait();
  const auto width = static_cast<std::size_t>(lanes);
  const std::size_t packs = (states.size() + width - 1) / width, n = states[0].qdd.size();
  const std::size_t num_inputs = static_cast<std::size_t>(function.num_inputs()) * width;
  AlignedNumbers x(num_inputs * packs), y(static_cast<std::size_t>(function.num_outputs()) * width);
  for (std::size_t k = 0; k < packs * width; ++k)
    for (std::size_t i = 0; i < states[0].inputs.size(); ++i)
      x[k / width * num_inputs + i * width + k % width] = states[k % states.size()].inputs[i];
  double error = 0.0, largest = 0.0, vouched = 1.0;
  for (std::size_t k = 0; k < packs * width; ++k) {
    function(x.data() + k / width * num_inputs, y.data());
    vouched = std::min(vouched, y[static_cast<std::size_t>(made.at_vouch) * width + k % width] > 0.0 ? 1.0 : 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double want = states[k % states.size()].qdd[i];
      largest = std::max(largest, std::abs(want));
      error = std::max(error, std::abs(y[i * width + k % width] - want));
    }
  }
  contest::Timing t = contest::time_calls(
      static_cast<int>(packs), [&](int k) { function(x.data() + static_cast<std::size_t>(k) * num_inputs, y.data()); });
  t.least /= lanes, t.median /= lanes;
  contest::report(lanes == 1 ? "one" : fmt::format("{} lanes", lanes), t, error / largest,
                  fmt::format("\"tier\": \"{}\", \"steps\": {}, \"vouched\": {}", describe(function.tier()),
                              made.program.steps.size(), vouched > 0.0));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_robots MODEL names|STATES\n");
    return 2;
  }
  try {
    const Ready ready = read(argv[1]);
    if (std::string(argv[2]) == "names") {
      for (int i = 0; i < ready.system.n(); ++i) fmt::print("{}\n", ready.system.coordinate(i));
      return 0;
    }
    const AccelerationProgramResult made = make_program_near(ready.system, ready.start);
    if (!made.made) throw std::runtime_error(made.reason);
    const std::vector<Given> states = read_states(argv[2], ready.system.n());
    for (const int lanes : {1, 8}) measure(*made.made, states, lanes);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
