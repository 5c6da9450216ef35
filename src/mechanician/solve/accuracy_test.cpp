// Accuracy against the quadruple-precision oracle, on seeded random systems. Errors are relative to the size of the
// terms (RandomSystem::size) in units of eps·κ or eps·κ²; the factors below are what is promised, the measured maxima
// are printed and noted beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/solve/form.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using namespace mechanician::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

// κ is the condition number of the unit rows in the mass metric; for a singular mass matrix it is multiplied by
// ‖M̄‖‖M̂⁻¹‖, because there the mass that is left on N(A) decides. Maxima measured over 10,000 systems:
constexpr double automatic_factor = 100;   // × eps × κ: q̈ 5.3, forces 1.5
constexpr double multiplier_factor = 100;  // × eps × κ²: λ of least norm, 1.5
constexpr double f5_factor = 100;          // × eps × κ: 4.4
constexpr double f1_factor = 100;          // × eps × κ²: 13.2
constexpr double f2_factor = 100;          // × eps × κ²: 10.8, with random generalised inverses 10.3
constexpr double f3_factor = 100;          // × eps × κ²: 13.2
constexpr double f4_factor = 100;          // × eps × κ²: 6.6

// Where the mass left on N(A) is so small the model is nearly not unique.
constexpr double largest_kappa_mass = 1e4;

struct Maximum {
  double qdd = 0, force = 0, lambda = 0;
  int count = 0;

  void print(const char* what, const char* unit) const {
    fmt::print("{}: {} systems, largest error of q̈ {:.3g}, of forces {:.3g} × {}\n", what, count, qdd, force, unit);
    if (lambda > 0) fmt::print("  of multipliers {:.3g} × eps κ²\n", lambda);
  }
};

/// Compares with the oracle in these units and keeps the maxima.
void compare(const RandomSystem& system, const Solution& got, const OracleOutput& want, double unit, double factor,
             Maximum& maximum, double extra_size = 0) {
  SCOPED_TRACE(system.describe());
  ASSERT_EQ(got.status, SolveStatus::solved);
  ASSERT_EQ(got.rank, system.spec.rank);
  ASSERT_TRUE(got.consistent);
  const VectorXd& s = system.scale;
  const double size = std::max(system.size, extra_size);
  const double force_size = 10.0 * size + s.cwiseProduct(system.values.Q).norm();
  const double qdd = (got.qdd - want.qdd).cwiseQuotient(s).norm() / size / unit;
  const double ideal = (got.Qc_i - want.Qc_i).cwiseProduct(s).norm() / force_size / unit;
  const double nonideal = (got.Qc_ni - want.Qc_ni).cwiseProduct(s).norm() / force_size / unit;
  EXPECT_LT(qdd, factor);
  EXPECT_LT(ideal, factor);
  EXPECT_LT(nonideal, factor);
  maximum.qdd = std::max(maximum.qdd, qdd);
  maximum.force = std::max({maximum.force, ideal, nonideal});
  ++maximum.count;
}

/// Multipliers relative to ‖λ‖, enlarged where the force that they balance is a small difference of large ones.
double multiplier_error(const RandomSystem& system, const Solution& got, const OracleOutput& want) {
  if (want.lambda.size() == 0 || want.lambda.norm() == 0) return 0;
  const double force = want.Qc_i.cwiseProduct(system.scale).norm();
  return (got.multipliers - want.lambda).norm() / want.lambda.norm() * force / (force + 10.0 * system.size);
}

double unit_kappa(const RandomSystem& system) {
  return system.kappa * (system.spec.mass_defect > 0 ? system.kappa_mass : 1.0);
}

TEST(Accuracy, the_factorisation_loses_no_more_than_the_condition_number_up_to_1e8) {
  Maximum maximum;
  const int count = num_systems(10200);
  for (int i = 0; i < count; ++i) {
    const auto system = make_random_system(1000 + static_cast<std::uint64_t>(i), 8.0, i % 3 == 2);
    if (system.kappa > 1e8 || system.kappa_mass > largest_kappa_mass) continue;
    const OracleOutput want = solve_in_quad(system.oracle_input());
    const Solution got = solve(system.values);
    const double kappa = unit_kappa(system);
    compare(system, got, want, eps * kappa, automatic_factor, maximum);
    if (::testing::Test::HasFatalFailure()) return;
    const double lambda = multiplier_error(system, got, want) / (eps * kappa * kappa);
    EXPECT_LT(lambda, multiplier_factor) << system.describe();
    maximum.lambda = std::max(maximum.lambda, lambda);
  }
  EXPECT_GT(maximum.count, 9 * count / 10);
  maximum.print("automatic", "eps κ");
}

TEST(Accuracy, units_of_the_coordinates_do_not_matter_to_the_factorisation) {
  Maximum maximum;
  const int count = num_systems(2000);
  for (int i = 0; i < count; ++i) {
    std::mt19937_64 random(static_cast<std::uint64_t>(i) + 77);
    SystemSpec spec = random_spec(random, 6.0, i % 3 == 2);
    spec.log_coordinate_scale = 4.0;
    const auto system = make_system(500000 + static_cast<std::uint64_t>(i), spec);
    if (system.kappa > 1e8 || system.kappa_mass > largest_kappa_mass) continue;
    compare(system, solve(system.values), solve_in_quad(system.oracle_input()), eps * unit_kappa(system),
            automatic_factor, maximum);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(maximum.count, count / 2);
  maximum.print("automatic, coordinates scaled by 1e±4", "eps κ");
}

/// A generalised inverse X⁻ = X⁺ + (I − X⁺X)U + V(I − XX⁺) that is not the Moore–Penrose one; V = 0 for least squares.
MatrixXd random_inverse(std::uint64_t seed, const MatrixXd& X, Index rank, double outside_range) {
  std::mt19937_64 random(seed);
  const MatrixXd pinv = pinv_by_svd(X, rank);
  const MatrixXd in_null = MatrixXd::Identity(X.cols(), X.cols()) - pinv * X;
  const MatrixXd off_range = MatrixXd::Identity(X.rows(), X.rows()) - X * pinv;
  const MatrixXd U = random_matrix(random, X.cols(), X.rows()).normalized();
  const MatrixXd V = random_matrix(random, X.cols(), X.rows()).normalized();
  return pinv + in_null * U + outside_range * (V * off_range);
}

TEST(Accuracy, f5_loses_no_more_than_the_condition_number_up_to_1e8) {
  Maximum maximum;
  const int count = num_systems(10200);
  for (int i = 0; i < count; ++i) {
    const auto system = make_random_system(1000 + static_cast<std::uint64_t>(i), 8.0, i % 3 == 2);
    if (system.kappa > 1e8 || system.kappa_mass > largest_kappa_mass) continue;
    compare(system, solve_with_form(system.values, Form::f5), solve_in_quad(system.oracle_input()),
            eps * system.kappa_euclid * system.kappa_mass, f5_factor, maximum);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(maximum.count, 9 * count / 10);
  maximum.print("F5", "eps κ");
}

TEST(Accuracy, f1_to_f4_lose_no_more_than_the_squared_condition_number_up_to_1e5) {
  Maximum f1, f2, f2_random, f3, f4;
  const int count = num_systems(15500);
  for (int i = 0; i < count; ++i) {
    const bool singular = i % 3 == 2;
    const auto seed = 200000 + static_cast<std::uint64_t>(i);
    const auto system = make_random_system(seed, 5.0, singular);
    if (system.kappa > 1e5 || system.kappa_mass > largest_kappa_mass) continue;
    const OracleOutput want = solve_in_quad(system.oracle_input());
    const Factorisation f = factor(system.values);
    const double kappa = std::max(system.kappa, system.kappa_euclid);
    const double unit = eps * kappa * kappa * (singular ? system.kappa_mass : 1.0);
    const auto solve_by = [&](Form form, const FormOptions& options = {}) {
      return solve_with_form(f, system.values, form, options);
    };
    compare(system, solve_by(Form::f4), want, unit, f4_factor, f4);
    if (!singular) {
      compare(system, solve_by(Form::f1), want, unit, f1_factor, f1, system.size_with_a);
      compare(system, solve_by(Form::f2), want, unit, f2_factor, f2, system.size_with_a);
      compare(system, solve_by(Form::f3), want, unit, f3_factor, f3, system.size_with_a);
      FormOptions options;
      options.f2.of_A = [seed](const MatrixXd& X, Index rank) { return random_inverse(seed, X, rank, 1.0); };
      options.f2.of_H = [seed](const MatrixXd& X, Index rank) { return random_inverse(seed + 1, X, rank, 0.0); };
      compare(system, solve_by(Form::f2, options), want, unit, f2_factor, f2_random, system.size_with_a);
    } else {
      for (const Form form : {Form::f1, Form::f2, Form::f3}) {
        EXPECT_EQ(solve_by(form).status, SolveStatus::form_not_applicable);
      }
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(f4.count, 9 * count / 10);
  f1.print("F1", "eps κ²");
  f2.print("F2", "eps κ²");
  f2_random.print("F2, random generalised inverses", "eps κ²");
  f3.print("F3", "eps κ²");
  f4.print("F4", "eps κ²");
}

}  // namespace
}  // namespace mechanician
