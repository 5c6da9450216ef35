/// What limits cost: the seven-axis arm of models/arm7.toml, its tip led along a circle by motors in all joints, at states along that motion.
///
///     bench_control models/arm7.toml
///
/// Prints times without limits, with limits that no motor comes to, and with limits that some are at; in brackets the ratio to the first:
/// one acceleration of a motion, by compiled code and by the factors behind it, and one of the general solver (`accelerate`), at states along
/// the motion without limits; and a whole motion, with what its steps take.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/integrator.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

/// What motors can do, and what their bearings take.
constexpr double most[] = {90, 90, 60, 60, 20, 10, 5}, damping[] = {10, 10, 6, 6, 2, 0.5, 0.2};

/// The tip is led instead of held; limits: that part of what motors can do, 0: none.
std::string led(const std::string& text, double limits) {
  const std::size_t begin = text.find("[constraints]"), end = text.find("[start]"), run = text.find("[run]");
  std::string control;
  const std::string rows = text.substr(begin, end - begin);
  const std::regex row("(tip.) = \"(.*) = (.*)\"");
  for (std::sregex_iterator k(rows.begin(), rows.end(), row), none; k != none; ++k) {
    const std::string moves = (*k)[1] == "tipZ" ? "" : (*k)[1] == "tipX" ? " + 0.1*(cos(2*t) - 1)" : " + 0.1*sin(2*t)";
    control += fmt::format("[control.{}]\nequation = \"{} = {}{}\"\nfrequency = 8.0\n", (*k)[1].str(), (*k)[2].str(),
                           (*k)[3].str(), moves);
  }
  std::string force = "force = { ", actuators = "[actuators]\n";
  for (int i = 0; i < 7; ++i) {
    force += fmt::format("{}q{} = \"-{}*q{}'\"", i ? ", " : "", i, damping[i], i);
    actuators += fmt::format("motor{0} = {{ q{0} = \"1\", cost = {1}{2} }}\n", i, 1.0 / (most[i] * most[i]),
                             limits > 0.0 ? fmt::format(", limit = {}", limits * most[i]) : "");
  }
  return text.substr(0, begin) + force + " }\n" + actuators + control + text.substr(end, run - end);
}

System make_system(const std::string& text, double limits) {
  const Model model = read_model_text(led(text, limits), "arm.toml");
  return System(model, evaluate_parameters(model).values);
}

/// The least of some rounds: others may have the core in between.
template <class Call>
double least_us(std::size_t count, Call&& call, int rounds = 41) {
  double least = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    for (std::size_t k = 0; k < count; ++k) call(k);
    least = std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return least / static_cast<double>(count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_control models/arm7.toml\n");
    return 2;
  }
  try {
    std::ifstream file(argv[1]);
    std::stringstream all;
    all << file.rdbuf();
    std::vector<State> states;
    const System free = make_system(all.str(), 0.0);
    Integrator motion(free, free.start(), {.to = 2.0, .tolerance = 1e-8});
    while (motion.advance()) {
      const Sample s = motion.sample(motion.t());
      states.push_back({s.t, s.q, s.qd});
    }
    if (motion.stop().failed()) throw std::runtime_error(motion.stop().message);
    std::vector<double> first;
    for (const double limits : {0.0, 1.0, 0.3, 0.2}) {
      const System system = make_system(all.str(), limits);
      Dynamics dynamics(system);
      const auto size = static_cast<std::size_t>(dynamics.size());
      std::vector<std::vector<double>> y(states.size(), std::vector<double>(size, 0.0)), sides(states.size());
      std::vector<double> rate(size), by_factors(size);
      std::size_t at_limit = 0, wrong = 0;
      for (std::size_t k = 0; k < states.size(); ++k) {
        std::copy(states[k].q.begin(), states[k].q.end(), y[k].begin());
        std::copy(states[k].qd.begin(), states[k].qd.end(), y[k].begin() + dynamics.n());
        dynamics.take_sides(states[k].t, y[k].data());
        dynamics.choose_rows(states[k].t, y[k].data());
        dynamics.settle_control(states[k].t, y[k].data());
        if (k == 0) dynamics.compile(states[k].t, y[k].data());
        sides[k] = dynamics.sides();
        const Instant now = accelerate(system, states[k], {.diagnose = false});
        const auto is_wrong = [&](const std::vector<double>& dy) {
          const Eigen::Map<const Eigen::VectorXd> qdd(dy.data() + dynamics.n(), dynamics.n());
          return !((qdd - now.solution.qdd).norm() <= 1e-6 * (1.0 + now.solution.qdd.norm()));
        };
        wrong += !dynamics.rhs_by_factors(states[k].t, y[k].data(), by_factors.data()) || is_wrong(by_factors) ||
                 !dynamics.rhs(states[k].t, y[k].data(), rate.data()) || is_wrong(rate);
        at_limit += static_cast<std::size_t>(std::count(sides[k].begin(), sides[k].end(), -1.0));
      }
      if (wrong > 0) fmt::print("{} of {} accelerations are not those of the general solver\n", wrong, states.size());
      const long robust = dynamics.robust_evaluations;
      std::vector<double> times{
          least_us(states.size(),
                   [&](std::size_t k) {
                     dynamics.sides() = sides[k];
                     dynamics.rhs(states[k].t, y[k].data(), rate.data());
                   }),
          least_us(states.size(),
                   [&](std::size_t k) {
                     dynamics.sides() = sides[k];
                     dynamics.rhs_by_factors(states[k].t, y[k].data(), rate.data());
                   }),
          least_us(states.size() / 4, [&](std::size_t k) { accelerate(system, states[4 * k], {.diagnose = false}); })};
      long steps = 0;
      double reached = 0.0;
      times.push_back(least_us(
          1,
          [&](std::size_t) {
            Integrator moved(system, system.start(), {.to = 2.0, .tolerance = 1e-8});
            while (moved.advance()) {
            }
            steps = moved.statistics().steps, reached = moved.t();
          },
          5));
      times.push_back(times.back() / static_cast<double>(steps));
      if (first.empty()) first = times;
      const auto say = [&](std::size_t i) { return fmt::format("{:.3g} us ({:.2f})", times[i], times[i] / first[i]); };
      fmt::print(
          "limits {}: {} states, {:.2f} motors at a limit; one acceleration of a motion {}, {} of them not compiled, "
          "by the "
          "factors {}, by the general solver {}; a motion to t = {:.3g} {}, each of {} steps {}\n",
          limits, states.size(), static_cast<double>(at_limit) / static_cast<double>(states.size()), say(0),
          dynamics.robust_evaluations - robust > 0 ? "some" : "none", say(1), say(2), reached, say(3), steps, say(4));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
