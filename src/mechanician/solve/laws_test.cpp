// Laws that the papers prove, on seeded random systems; no oracle needed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/parts.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using namespace mechanician::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double factor_of_laws = 200;  // × eps × κ; largest seen is printed

struct Instant {
  RandomSystem system;
  Factorisation f;
  Solution solution;
  MatrixXd null;      // orthonormal basis of N(A)
  double kappa = 1;   // of rows and mass
  double unit = eps;  // eps × κ × size: acceleration; times 10 for forces, ‖M‖ ≤ 10
  std::mt19937_64 random;
};

/// Runs `check` on many systems and prints the largest value that `claim` was given.
template <class Check>
void for_systems(const char* law, int ordinary_count, double max_log_condition, Check check) {
  double largest = 0;
  int count = 0;
  for (int i = 0; i < num_systems(ordinary_count); ++i) {
    Instant at;
    at.system = make_random_system(40000 + static_cast<std::uint64_t>(i), max_log_condition, i % 3 == 2);
    if (at.system.kappa > std::pow(10.0, max_log_condition) || at.system.kappa_mass > 1e4) continue;
    SCOPED_TRACE(at.system.describe());
    at.random.seed(static_cast<std::uint64_t>(i));
    at.f = factor(at.system.values);
    at.solution = solve(at.f, at.system.values);
    ASSERT_EQ(at.solution.status, SolveStatus::solved);
    MatrixXd unit_rows = at.system.values.A;
    for (Index j = 0; j < unit_rows.rows(); ++j) unit_rows.row(j).normalize();
    at.null = null_basis_by_svd(unit_rows, at.system.spec.rank);
    at.kappa = std::max(at.system.kappa, at.system.kappa_euclid) * at.system.kappa_mass;
    at.unit = eps * at.kappa * (at.system.size + at.system.values.Q.norm());
    const double error = check(at);
    largest = std::max(largest, error);
    EXPECT_LT(error, factor_of_laws);
    ++count;
  }
  EXPECT_GT(count, num_systems(ordinary_count) / 2);
  fmt::print("{}: {} systems, largest {:.3g}\n", law, count, largest);
}

VectorXd full_C(const Instant& at) {
  return at.system.values.C.size() > 0 ? at.system.values.C : VectorXd(VectorXd::Zero(at.f.n()));
}

TEST(Laws, the_acceleration_meets_the_constraints) {
  for_systems("A q̈ = b", 10400, 8.0, [](const Instant& at) {
    // Row by row, and without the condition number: relative to what the row is made of.
    const testing::DenseValues& v = at.system.values;
    const VectorXd residual = v.A * at.solution.qdd - v.b;
    double largest = 0;
    for (Index j = 0; j < v.A.rows(); ++j) {
      const double size = v.A.row(j).norm() * (at.solution.qdd.norm() + at.system.size) + std::abs(v.b(j));
      largest = std::max(largest, std::abs(residual(j)) / size / (eps * at.system.kappa_mass));
    }
    return largest;
  });
}

TEST(Laws, ideal_forces_do_no_virtual_work_and_all_forces_together_that_of_C) {
  for_systems("vᵀQc_i = 0, vᵀQc = vᵀC", 10400, 8.0, [](const Instant& at) {
    const VectorXd ideal = at.null.transpose() * at.solution.Qc_i;
    const VectorXd all = at.null.transpose() * (at.solution.Qc - full_C(at));
    return (ideal.norm() + all.norm()) / (10.0 * at.unit);
  });
}

TEST(Laws, newtons_equation_holds_and_the_multipliers_make_the_ideal_force) {
  for_systems("M q̈ = Q + Qc, Aᵀλ = Qc_i", 10400, 8.0, [](const Instant& at) {
    const testing::DenseValues& v = at.system.values;
    const VectorXd newton = v.M * at.solution.qdd - v.Q - at.solution.Qc;
    const VectorXd ideal = v.A.transpose() * at.solution.multipliers - at.solution.Qc_i;
    const double terms = (v.A.cwiseAbs().transpose() * at.solution.multipliers.cwiseAbs()).norm();
    return newton.norm() / (10.0 * at.unit) + ideal.norm() / (10.0 * at.unit + eps * terms);
  });
}

TEST(Laws, what_C_has_along_the_rows_changes_nothing) {
  for_systems("C + Aᵀw", 10400, 6.0, [](Instant& at) {
    testing::DenseValues v = at.system.values;
    VectorXd w = random_vector(at.random, at.f.m());
    for (Index j = 0; j < w.size(); ++j) w(j) /= v.A.row(j).norm();
    v.C = full_C(at) + v.A.transpose() * w;
    const Solution other = solve(at.f, v);
    const double unit = at.unit + eps * at.kappa * v.C.norm() * (1.0 + at.system.Mhat_inv);
    return (other.qdd - at.solution.qdd).norm() / unit + (other.Qc_ni - at.solution.Qc_ni).norm() / (10.0 * unit) +
           (other.Qc_i - at.solution.Qc_i).norm() / (10.0 * unit);
  });
}

TEST(Laws, the_parts_of_the_deviation_are_orthogonal_in_the_mass_metric_and_the_gain_makes_the_ideal_force) {
  for_systems("deviation, gain", 10400, 6.0, [](const Instant& at) {
    const Parts parts = calc_parts(at.f, at.system.values, at.solution);
    if (!at.f.definite) return 0.0;
    const VectorXd& ideal = *parts.deviation_ideal;
    const VectorXd& nonideal = *parts.deviation_nonideal;
    const double size = at.unit * (at.system.size + at.system.values.Q.norm());
    const double orthogonal = std::abs(ideal.dot(at.system.values.M * nonideal)) / (10.0 * size);
    const double deviation = (*parts.deviation - (at.solution.qdd - *at.solution.a)).norm() / at.unit;
    // K e with e formed by subtraction: its error is that of the terms of e, row by row, carried by K.
    const VectorXd force = *parts.gain * *parts.error_signal;
    const VectorXd e_size = at.system.values.b.cwiseAbs() + at.system.values.A.cwiseAbs() * at.solution.a->cwiseAbs();
    const double carried = (parts.gain->cwiseAbs() * e_size).norm();
    const double gain = (force - at.solution.Qc_i).norm() / (10.0 * at.unit + at.kappa * eps * carried);
    const double reactions =
        (*parts.reaction_to_forces + *parts.reaction_to_motion - at.solution.Qc_i).norm() / (10.0 * at.unit);
    return std::max({orthogonal, deviation, gain, reactions});
  });
}

TEST(Laws, the_gain_is_that_of_the_rows_as_given) {
  for_systems("K = Aᵀ(A M⁻¹Aᵀ)⁺", 10400, 2.0, [](const Instant& at) {
    if (!at.f.definite || at.system.spec.log_row_scale > 0 || at.system.spec.rank == 0) return 0.0;
    const testing::DenseValues& v = at.system.values;
    const MatrixXd product = v.A * v.M.llt().solve(v.A.transpose());
    const MatrixXd want = v.A.transpose() * pinv_by_svd(product, at.system.spec.rank);
    const Parts parts = calc_parts(at.f, v, at.solution);
    const VectorXd sigma = singular_values(v.A);
    const double kappa_given = sigma(0) / sigma(at.system.spec.rank - 1);
    return (*parts.gain - want).norm() / (1.0 + want.norm()) / (eps * kappa_given * kappa_given * at.kappa);
  });
}

TEST(Laws, gauss_is_exceeded_by_the_mass_norm_of_the_difference) {
  for_systems("G(q̂) − G(q̈)", 10400, 6.0, [](Instant& at) {
    if (!at.f.definite) return 0.0;
    const testing::DenseValues& v = at.system.values;
    const Eigen::LLT<MatrixXd> llt(v.M);
    const VectorXd force = v.Q + full_C(at);
    const auto G = [&](const VectorXd& qdd) {
      const VectorXd missing = v.M * qdd - force;
      return missing.dot(llt.solve(missing));
    };
    const VectorXd step = at.null * random_vector(at.random, at.null.cols());
    const double want = step.dot(v.M * step);
    const double size = (10.0 * at.system.size + force.norm() + 10.0 * step.norm());
    double error = std::abs(G(at.solution.qdd + step) - G(at.solution.qdd) - want) / (eps * at.kappa * size * size);
    // The reported value is that with Q alone.
    const VectorXd missing = v.M * at.solution.qdd - v.Q;
    error += std::abs(*at.solution.gaussian - missing.dot(llt.solve(missing))) / (eps * at.kappa * size * size);
    return error;
  });
}

TEST(Laws, auxiliary_system_of_the_singular_form) {
  for_systems("M_s M_s⁺ = I − A⁺A, parts of U23", 10400, 4.0, [](const Instant& at) {
    const testing::DenseValues& v = at.system.values;
    const Parts parts = calc_parts(at.f, v, at.solution);
    const MatrixXd projector = at.null * at.null.transpose();
    const MatrixXd Ms_pinv = pinv_by_svd(parts.auxiliary.Ms, at.null.cols());
    const double lemma5 = (parts.auxiliary.Ms * Ms_pinv - projector).norm() / (eps * at.kappa);
    const double two_steps =
        (Ms_pinv * parts.auxiliary.Delta - parts.acceleration_null).norm() / (at.unit * at.system.kappa_mass);
    const double whole = (parts.acceleration_null + parts.acceleration_range - at.solution.qdd).norm() / at.unit;
    const double range = (projector * parts.acceleration_range).norm() / at.unit;
    const double force_null = (parts.force_null - projector * full_C(at)).norm() / (10.0 * at.unit);
    const double force = (parts.force_null + parts.force_range - at.solution.Qc).norm() / (10.0 * at.unit);
    const double C = (parts.c_acting + parts.c_absorbed - full_C(at)).norm() / (10.0 * at.unit);
    const double acting = (parts.c_acting - at.solution.Qc_ni).norm() / (10.0 * at.unit);
    return std::max({lemma5, two_steps, whole, range, force_null, force, C, acting});
  });
}

TEST(Laws, the_order_and_the_scale_of_rows_do_not_matter) {
  for_systems("rows permuted and scaled", 10400, 8.0, [](Instant& at) {
    testing::DenseValues v = at.system.values;
    std::vector<Index> order(static_cast<std::size_t>(at.f.m()));
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), at.random);
    for (Index j = 0; j < at.f.m(); ++j) {
      const double scale = std::pow(10.0, random_real(at.random, -6.0, 6.0));
      v.A.row(j) = scale * at.system.values.A.row(order[static_cast<std::size_t>(j)]);
      v.b(j) = scale * at.system.values.b(order[static_cast<std::size_t>(j)]);
    }
    const Solution other = solve(v);
    EXPECT_EQ(other.rank, at.solution.rank);
    return (other.qdd - at.solution.qdd).norm() / at.unit + (other.Qc - at.solution.Qc).norm() / (10.0 * at.unit);
  });
}

TEST(Laws, the_inverse_of_form_f3_times_B_is_the_pseudo_inverse) {
  for_systems("J Bᵀ = B⁺", 10400, 2.0, [](const Instant& at) {
    if (!at.f.definite || at.system.spec.rank == 0) return 0.0;
    MatrixXd A = at.system.values.A;
    for (Index j = 0; j < A.rows(); ++j) A.row(j).normalize();
    const MatrixXd B = A * calc_mass_roots(at.system.values.M).inv_root;
    const MatrixXd V = null_space_basis(B, at.system.spec.rank);
    const MatrixXd J = pinv_by_svd(B.transpose() * B + V * V.transpose(), at.f.n());
    const MatrixXd want = pseudo_inverse(B, at.system.spec.rank);
    const double kappa2 = std::pow(at.kappa, 2);
    const MatrixXd mp = want * B * want - want;
    return (J * B.transpose() - want).norm() / (eps * kappa2 * want.norm()) +
           mp.norm() / (eps * at.kappa * want.norm());
  });
}

TEST(Laws, three_conditions_for_a_unique_acceleration_agree) {
  int num_unique = 0, num_not = 0;
  const int count = num_systems(15000);
  for (int i = 0; i < count; ++i) {
    std::mt19937_64 random(static_cast<std::uint64_t>(i) + 1);
    SystemSpec spec = random_spec(random, 2.0, true);
    spec.rank = random_int(random, 0, spec.n);
    if (spec.rank == 0) spec.num_redundant = 0;
    RandomSystem system = make_system(90000 + static_cast<std::uint64_t>(i), spec);
    if (system.kappa_mass > 1e4 && system.kappa_mass < 1e12) continue;
    SCOPED_TRACE(system.describe());
    const testing::DenseValues& v = system.values;
    const Index n = v.M.rows();
    MatrixXd A = v.A;
    for (Index j = 0; j < A.rows(); ++j) A.row(j).normalize();
    const MatrixXd V2 = null_basis_by_svd(A, spec.rank);
    const MatrixXd Ms = V2 * V2.transpose() * v.M * V2 * V2.transpose();
    const auto full_column_rank = [&](const MatrixXd& top, const MatrixXd& bottom) {
      MatrixXd stacked(top.rows() + bottom.rows(), top.cols());
      stacked << top, bottom;
      const VectorXd values = singular_values(stacked);
      return values.size() == 0 || values(values.size() - 1) > 1e-8 * values(0);
    };
    const bool stacked_M = full_column_rank(v.M, A);
    const bool stacked_Ms = full_column_rank(Ms, A);
    const bool Mhat = full_column_rank(V2.transpose() * v.M * V2, MatrixXd(0, V2.cols()));
    const Factorisation f = factor(v);
    EXPECT_EQ(stacked_M, stacked_Ms);
    EXPECT_EQ(stacked_M, Mhat);
    EXPECT_EQ(stacked_M, f.unique);
    (f.unique ? num_unique : num_not) += 1;
    if (f.unique) continue;
    // The undetermined directions are those of N(M) ∩ N(A), and the solver says no.
    const Solution solution = solve(f, v);
    const MatrixXd& free = solution.undetermined_directions;
    EXPECT_EQ(free.cols(), std::max<Index>(0, n - (n - spec.mass_defect) - spec.rank));
    EXPECT_LT((v.M * free).norm() + (A * free).norm(), 1e-9);
    EXPECT_NE(solution.status, SolveStatus::solved);
    EXPECT_FALSE(solution.undetermined.empty());
  }
  fmt::print("three rank conditions: {} systems, {} unique\n", num_unique + num_not, num_unique);
  EXPECT_GT(num_unique, count / 10);
  EXPECT_GT(num_not, count / 10);
}

}  // namespace
}  // namespace mechanician
