// How long one instant with contacts takes: solve_one_sided() and solve_coulomb() on stacks, random contacts and plates.
// Prints the median of the runs; no arguments.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mechanician/solve/coulomb.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/one_sided.hpp"

namespace {

using namespace mechanician;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Problem {
  testing::DenseValues values;
  std::vector<Index> one_sided;
  std::vector<FrictionContact> contacts;
};

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Balls on top of each other in a tube; `up`: a force on every third one that lifts what is above it.
Problem stack(Index num, double up) {
  Problem p;
  p.values.M = MatrixXd::Identity(num, num);
  p.values.Q = VectorXd::Constant(num, -9.81);
  for (Index i = 0; i < num; i += 3) p.values.Q(i) += up;
  p.values.A = MatrixXd::Zero(num, num);
  for (Index i = 0; i < num; ++i) {
    p.values.A(i, i) = 1;
    if (i > 0) p.values.A(i, i - 1) = -1;
  }
  p.values.b = VectorXd::Zero(num);
  p.one_sided = all_rows(num);
  return p;
}

/// Unit masses with random forces; every contact is between two of them.
Problem random_contacts(Index num_masses, Index num) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<Index> mass(0, num_masses - 1);
  std::normal_distribution<double> normal;
  Problem p;
  p.values.M = MatrixXd::Identity(num_masses, num_masses);
  p.values.Q = VectorXd::Zero(num_masses);
  for (double& x : p.values.Q) x = normal(random);
  p.values.A = MatrixXd::Zero(num, num_masses);
  for (Index j = 0; j < num; ++j) {
    p.values.A(j, mass(random)) += 1;
    p.values.A(j, mass(random)) -= 1;
    if (p.values.A.row(j).isZero(0.0)) p.values.A(j, 0) = 1;
  }
  p.values.b = VectorXd::Zero(num);
  p.one_sided = all_rows(num);
  return p;
}

/// Plates on top of each other, each on four feet: rows that depend on each other.
Problem plates(Index num) {
  Problem p;
  const Index n = 3 * num;
  p.values.M = MatrixXd::Identity(n, n);
  p.values.Q = VectorXd::Zero(n);
  p.values.A = MatrixXd::Zero(4 * num, n);
  for (Index i = 0; i < num; ++i) {
    p.values.Q(3 * i) = -9.81;
    p.values.Q(3 * i + 1) = 0.1;
    Index row = 4 * i;
    for (const double x : {-1.0, 1.0}) {
      for (const double y : {-1.0, 1.0}) {
        p.values.A.row(row).segment(3 * i, 3) << 1, x, y;
        if (i > 0) p.values.A.row(row).segment(3 * i - 3, 3) << -1, -x, -y;
        ++row;
      }
    }
  }
  p.values.b = VectorXd::Zero(4 * num);
  p.one_sided = all_rows(4 * num);
  return p;
}

/// Slabs on top of each other with friction between them, pushed at the middle one.
Problem slabs(Index num) {
  Problem p;
  p.values.M = MatrixXd::Identity(2 * num, 2 * num);
  p.values.Q = VectorXd::Zero(2 * num);
  p.values.A = MatrixXd::Zero(num, 2 * num);
  for (Index i = 0; i < num; ++i) {
    p.values.Q(2 * i + 1) = -9.81;
    FrictionContact c;
    c.row = i;
    c.mu = 0.3;
    MatrixXd T = MatrixXd::Zero(1, 2 * num);
    c.slip_b = VectorXd::Zero(1);
    p.values.A(i, 2 * i + 1) = T(0, 2 * i) = 1;
    if (i > 0) p.values.A(i, 2 * i - 1) = T(0, 2 * i - 2) = -1;
    c.T = T;
    p.contacts.push_back(c);
  }
  p.values.Q(2 * (num / 2)) = 9.81 * 0.31 * static_cast<double>(num - num / 2);
  p.values.b = VectorXd::Zero(num);
  p.one_sided = all_rows(num);
  return p;
}

double median_microseconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::milliseconds(300);
  while (times.size() < 5 || (Clock::now() < end && times.size() < 2000)) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void report(const std::string& name, const Problem& p) {
  OneSidedSolution s;
  const double time = median_microseconds([&] { s = solve_one_sided(p.values, p.one_sided); });
  fmt::print("{:<44} {:>10.1f} µs   holding {:>3} of {:>3}, {} changes, optimality {:.0e}\n", name, time,
             s.holding.size(), p.one_sided.size(), s.iterations, s.optimality.largest());
}

void report_friction(const std::string& name, const Problem& p) {
  CoulombSolution s;
  const double time = median_microseconds([&] { s = solve_coulomb(p.values, p.one_sided, p.contacts); });
  fmt::print("{:<44} {:>10.1f} µs   {} modes, {}\n", name, time, s.num_modes, s.description);
}

}  // namespace

int main() {
  for (const Index num : {1, 2, 3, 20, 200}) report(fmt::format("{} balls in a tube, at rest", num), stack(num, 0));
  for (const Index num : {3, 20, 200}) report(fmt::format("{} balls in a tube, some lifted", num), stack(num, 40));
  report("200 unit masses, 200 random contacts", random_contacts(200, 200));
  report("400 unit masses, 200 random contacts", random_contacts(400, 200));
  report("1 plate on four feet", plates(1));
  report("50 plates stacked, 200 dependent contacts", plates(50));
  for (const Index num : {1, 2, 4, 6, 20, 200})
    report_friction(fmt::format("{} slabs with friction, pushed", num), slabs(num));
}
