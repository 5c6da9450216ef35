// Seeded random systems with chosen size, rank, redundancy, singular mass, scales and condition, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/oracle_for_test.hpp"

namespace mechanician::testing {

struct SystemSpec {
  int n = 3;
  int rank = 1;                     // of A
  int num_redundant = 0;            // further rows that depend on these
  int mass_defect = 0;              // n − rank(M)
  double log_condition = 0;         // of the independent rows in the mass metric, power of ten
  double log_row_scale = 0;         // rows are scaled by 10^±this
  double log_coordinate_scale = 0;  // so are the coordinates
  bool nonideal = true;             // C ≠ 0
};

struct RandomSystem {
  std::uint64_t seed = 0;
  SystemSpec spec;
  DenseValues values;
  Eigen::MatrixXd A0;  // independent rows
  Eigen::VectorXd b0;
  Eigen::MatrixXd S;      // A = S A0 up to rounding, b = S b0
  Eigen::VectorXd scale;  // sizes of the coordinates
  // Measured by singular value decomposition in the scaled coordinates:
  double kappa = 1;         // condition number of the rows, each scaled to unit norm, in the metric that solve() uses
  double kappa_euclid = 1;  // the same in the scaled coordinates, without M
  double Mhat_inv = 0;      // ‖M̂⁻¹‖
  double kappa_mass = 1;    // ‖M̄‖‖M̂⁻¹‖
  double size = 1;          // what errors of q̈/scale are relative to
  double size_with_a = 1;   // the same for formulas that start from a = M⁻¹Q, M > 0

  OracleInput oracle_input() const;
  std::string describe() const;
};

/// A spec with everything drawn at random: n in 1..12, ranks from 0 to full, κ up to 10^max_log_condition.
SystemSpec random_spec(std::mt19937_64& random, double max_log_condition, bool singular_mass);

RandomSystem make_system(std::uint64_t seed, const SystemSpec& spec);

/// Draws spec and system from one seed.
RandomSystem make_random_system(std::uint64_t seed, double max_log_condition, bool singular_mass);

Eigen::VectorXd random_vector(std::mt19937_64& random, Eigen::Index size);
Eigen::MatrixXd random_matrix(std::mt19937_64& random, Eigen::Index rows, Eigen::Index cols);
Eigen::MatrixXd random_orthogonal(std::mt19937_64& random, Eigen::Index size);
int random_int(std::mt19937_64& random, int from, int to);
double random_real(std::mt19937_64& random, double from, double to);

/// Orthonormal basis of N(X) by singular value decomposition, with the rank known.
Eigen::MatrixXd null_basis_by_svd(const Eigen::MatrixXd& X, Eigen::Index rank);
/// Singular values, decreasing.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& X);
Eigen::MatrixXd pinv_by_svd(const Eigen::MatrixXd& X, Eigen::Index rank);

/// How many systems a test draws: all in an ordinary build, a part of them where sanitizers slow everything down.
int num_systems(int ordinary);

}  // namespace mechanician::testing
