// What a program outside this project sees: headers, library and version fit together, and an instant can be solved.
#include <cmath>
#include <iostream>

#include "mechanician/base/version.hpp"
#include "mechanician/solve/factorisation.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || mechanician::version() != argv[1]) {
    std::cerr << "the library says version " << mechanician::version() << '\n';
    return 1;
  }
  return particle_on_a_line() ? 0 : 1;
}
