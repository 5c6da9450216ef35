#include "mechanician/motion/newton_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

struct DifferenceNewton::Matrices {
  Eigen::MatrixXd J, K;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu;
  Eigen::VectorXd solution;
};

DifferenceNewton::DifferenceNewton(int size, int num_positions, int num_rates, std::span<const int> by_rates,
                                   Function f)
    : num_positions_(num_positions),
      by_rates_(by_rates.begin(), by_rates.end()),
      f_(std::move(f)),
      shifted_(static_cast<std::size_t>(size)),
      shifted_dy_(static_cast<std::size_t>(num_rates)),
      matrices_(std::make_unique<Matrices>()) {
  matrices_->J.resize(size, size);
  matrices_->lu = Eigen::PartialPivLU<Eigen::MatrixXd>(size);
  matrices_->solution.resize(size);
}
DifferenceNewton::~DifferenceNewton() = default;

bool DifferenceNewton::linearise(double t, std::span<const double> y, std::span<const double> dy) {
  Eigen::MatrixXd& J = matrices_->J;
  J.setZero();
  const int n = num_positions_, size = static_cast<int>(J.rows());
  for (int i = 0; i < n; ++i) J(i, n + i) = 1.0;  // q′ = q̇
  for (const int i : by_rates_) J(i, n + i) = 0.0;
  std::copy_n(y.begin(), size, shifted_.begin());
  const auto is_no_component = [&](int j) {
    return std::find(by_rates_.begin(), by_rates_.end(), j - n) != by_rates_.end();
  };
  for (int j = 0; j < size; ++j) {
    if (is_no_component(j)) continue;
    // Rounding of f against its curvature. The typical size 1 is that of the error weights. Along the motion first:
    // what is behind may be out of the domain of f, what is ahead will be needed.
    double increment =
        std::copysign(std::sqrt(std::numeric_limits<double>::epsilon()) * std::max(std::abs(y[j]), 1.0), dy[j]);
    bool found = false;
    for (int attempt = 0; attempt < 2 && !found; ++attempt, increment = -increment) {
      shifted_[j] = y[j] + increment;
      found = f_(t, shifted_, shifted_dy_);
    }
    if (!found) return false;
    const double difference = shifted_[j] - y[j];
    for (int i = n; i < size; ++i) J(i, j) = (shifted_dy_[i] - dy[i]) / difference;
    for (const int i : by_rates_) J(i, j) = (shifted_dy_[i] - dy[i]) / difference;
    shifted_[j] = y[j];
  }
  return true;
}

bool DifferenceNewton::factor(double gamma) {
  Eigen::MatrixXd& K = matrices_->K;
  K = -gamma * matrices_->J;
  K.diagonal().array() += 1.0;
  matrices_->lu.compute(K);
  return (matrices_->lu.matrixLU().diagonal().array() != 0.0).all();
}

void DifferenceNewton::solve(std::span<double> r) {
  Eigen::Map<Eigen::VectorXd> x(r.data(), static_cast<Eigen::Index>(r.size()));
  matrices_->solution = matrices_->lu.solve(x);
  x = matrices_->solution;
}

}  // namespace mechanician
