// The numbers of an instant with matrices that can be written and read entry by entry, for tests.
#pragma once

#include "mechanician/solve/instant_values.hpp"

namespace mechanician::testing {

struct DenseValues {
  Eigen::MatrixXd M;
  Eigen::VectorXd Q;
  Eigen::MatrixXd A;
  Eigen::VectorXd b, C;
  std::vector<Eigen::Index> measured;
  Eigen::MatrixXd W, M_noise;
  Eigen::VectorXd Q_noise;
  Eigen::MatrixXd A_noise;
  Eigen::VectorXd b_noise, b_size;

  operator InstantValues() const {  // NOLINT: they are the same numbers
    return {.M = M,
            .Q = Q,
            .A = A,
            .b = b,
            .C = C,
            .measured = measured,
            .W = W,
            .M_noise = M_noise,
            .Q_noise = Q_noise,
            .A_noise = A_noise,
            .b_noise = b_noise,
            .b_size = b_size};
  }
};

}  // namespace mechanician::testing
