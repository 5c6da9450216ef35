// What a program outside this project sees: headers, library and version fit together, and an instant can be solved.
#include <cmath>
#include <iostream>

#include "mechanician/mechanician.hpp"
#include "threads.hpp"

namespace {

// A particle of mass 2 under gravity on the line x + y = 0: it slides with g/2 along each axis, and λ = m g/2.
bool particle_on_a_line() {
  const double m = 2.0, g = 9.81;
  mechanician::InstantValues values;
  values.M = m * Eigen::Matrix2d::Identity();
  values.Q = Eigen::Vector2d(0.0, -m * g);
  values.A = Eigen::RowVector2d(1.0, 1.0);
  values.b = Eigen::VectorXd::Zero(1);
  const mechanician::Solution solution = mechanician::solve(values);
  const double error = solution.has_acceleration() ? (solution.qdd - Eigen::Vector2d(g / 2, -g / 2)).norm() +
                                                         std::abs(solution.multipliers(0) - m * g / 2)
                                                   : INFINITY;
  if (!(error < 1e-14 * m * g)) std::cerr << "the particle on a line is off by " << error << '\n';
  return error < 1e-14 * m * g;
}

// A pendulum asked by name: its acceleration, its motion (which turns round at the height it began at), its compiled function.
bool pendulum() {
  const auto system = mechanician::System::from_text(R"(
coordinates = ["x", "y"]
[parameters]
L = 1.0
[dynamics]
kinetic   = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = "0.6*L", y = "-0.8*L" }
)",
                                                     {{"L", 2.0}});
  const auto now = system.instant();
  double worst = std::abs(now.acceleration("x") + 9.81 * 0.6 * 0.8);
  const auto motion = system.integrate({.to = 3.0, .every = 0.01, .tolerance = 1e-10});
  for (const double y : motion.column("y")) worst = std::max(worst, y + 1.6);
  worst = std::max(worst, std::abs(motion.sample(1.0).q("x") - motion.column("x")[100]));
  const auto many = system.sweep({.vary = {{"L", mechanician::linspace(1, 2, 3)}}, .to = 3.0, .tolerance = 1e-10});
  worst = std::max(worst, std::abs(many.column("x").back() - motion.column("x").back()));
  const double q[] = {1.2, -1.6}, qd[] = {0, 0}, L = 2.0;
  double qdd[2];
  system.compiled()(0.0, q, qd, &L, qdd);
  worst = std::max(worst, std::abs(qdd[0] - now.acceleration("x")));
  // At rest below: x'' = -(g/L) x. Above it is unstable.
  const auto near = mechanician::linearise(system, {.position = {{"x", 0.0}, {"y", -2.0}}});
  worst = std::max(worst, std::abs(near.A(1, 0) + 9.81 / 2.0));
  int stable = 0;
  for (const mechanician::RestPoint& rest : mechanician::find_rest(system).states) {
    worst = std::max(worst, std::abs(std::abs(rest.position.at("y")) - 2.0));
    stable += rest.stable ? 1 : -1;
  }
  worst = std::max(worst, near.stable && near.at == "rest" && stable == 0 ? 0.0 : 1.0);
  if (!(worst < 1e-7 && motion.trusted())) std::cerr << "the pendulum is off by " << worst << '\n';
  return worst < 1e-7 && motion.trusted();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || mechanician::version() != argv[1]) {
    std::cerr << "the library says version " << mechanician::version() << '\n';
    return 1;
  }
  return particle_on_a_line() && pendulum() && two_threads() ? 0 : 1;
}
