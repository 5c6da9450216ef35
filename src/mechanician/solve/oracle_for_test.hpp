// Reference solution in quadruple precision, for tests: a Householder QR of the bordered system
//
//   [ M  −A₀ᵀ ] [ q̈  ]   [ Q + C ]
//   [ A₀   0  ] [ λ₀ ] = [ b₀    ]        A₀: independent rows that span those of A, A = S A₀
//
// written out by hand; nothing is shared with the code under test. eps is 2⁻¹¹², so a squared condition number is
// harmless.
#pragma once

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician::testing {

struct OracleInput {
  Eigen::MatrixXd M;
  Eigen::VectorXd Q, C;
  Eigen::MatrixXd A0;     // k×n, independent
  Eigen::VectorXd b0;     // k
  Eigen::MatrixXd S;      // m×k, rows as given in terms of A0
  Eigen::VectorXd scale;  // n, sizes of the coordinates, for the sake of the elimination only
};

struct OracleOutput {
  Eigen::VectorXd qdd, Qc_i, Qc_ni;
  Eigen::VectorXd lambda;  // m, least Euclidean norm for the rows as given
};

OracleOutput solve_in_quad(const OracleInput& in);

}  // namespace mechanician::testing
