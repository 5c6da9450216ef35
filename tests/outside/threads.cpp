// Two threads that use the library at once, each by itself and both of the same values: the same bits as one after the other.
#include "threads.hpp"

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "mechanician/mechanician.hpp"

namespace {

using Numbers = std::vector<double>;

constexpr const char* pendulum = R"toml(
coordinates = ["x", "y"]
[parameters]
L = 1.0
[inputs]
F = 0.0
[dynamics]
kinetic   = "(x'^2 + y'^2)/2"
potential = "9.81*y"
force     = { x = "F" }
[constraints]
rod = "x^2 + y^2 = L^2"
[events]
low = { when = "x" }
[start]
position = { x = "0.6*L", y = "-0.8*L" }
)toml";

constexpr const char* ball = R"toml(
coordinates = ["z"]
[tables.wind]
points = [[0, 0.1], [1, 0.3], [2, 0.2], [4, 0.0]]
interpolation = "cubic"
outside = "hold"
[dynamics]
kinetic   = "z'^2/2"
potential = "9.81*z"
force     = { z = "wind(t)" }
[constraints]
floor = { equation = "z >= 0", restitution = 0.8 }
[start]
position = { z = 1.0 }
)toml";

void append(Numbers& to, std::span<const double> more) { to.insert(to.end(), more.begin(), more.end()); }

/// What is asked of systems that other threads may ask too.
Numbers ask(const mechanician::System& system, const mechanician::Acceleration& f, double L) {
  Numbers all;
  all.push_back(system.instant().acceleration("x"));
  const auto motion = system.integrate({.to = 2.0, .every = 0.05, .tolerance = 1e-10});
  append(all, motion.rows());
  all.push_back(motion.sample(0.777).q("x"));
  const auto many = system.sweep({.vary = {{"L", mechanician::linspace(1, 2, 5)}}, .to = 1.0, .threads = 2});
  append(all, many.column("x"));
  for (int k = 0; k < 200; ++k) {
    const double q[] = {0.6 * L, -0.8 * L}, qd[] = {0.008 * k, 0.006 * k};
    double qdd[2];
    const double parameters[] = {L, 0.01 * k};
    f(0.0, q, qd, parameters, qdd);
    append(all, qdd);
  }
  const auto near = mechanician::linearise(system, {.position = {{"x", 0.0}, {"y", -L}}});
  all.push_back(near.A(1, 0));
  return all;
}

/// Everything from the text on, alone.
Numbers alone(double L) {
  Numbers all;
  const auto system = mechanician::System::from_text(pendulum, {{"L", L}});
  append(all, ask(system, system.compiled(), L));
  mechanician::MotionStepper stepper(system, {.to = 1.0, .every = 0.1});
  while (stepper.advance()) {
    append(all, stepper.row());
    stepper.set_input("F", stepper.row().front());
  }
  append(all, mechanician::System::from_text(ball).integrate({.to = 2.0, .every = 0.1}).rows());
  return all;
}

}  // namespace

bool two_threads() {
  const auto shared = mechanician::System::from_text(pendulum);
  const auto f = shared.compiled();
  const auto motion = shared.integrate({.to = 2.0, .every = 0.002});  // whoever asks first has its forces computed
  const auto work = [&](int who, Numbers& to) {
    append(to, motion.column("lambda(rod)"));
    append(to, ask(shared, f, 1.0));
    append(to, alone(1.0 + 0.25 * who));
  };
  Numbers together[2], by_itself[2];
  { std::jthread first(work, 0, std::ref(together[0])), second(work, 1, std::ref(together[1])); }
  for (const int who : {0, 1}) work(who, by_itself[who]);
  const bool same = together[0] == by_itself[0] && together[1] == by_itself[1];
  if (!same) std::cerr << "two threads at once come to other numbers than one after the other\n";
  return same;
}
