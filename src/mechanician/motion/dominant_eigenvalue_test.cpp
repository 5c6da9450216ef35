#include "mechanician/motion/dominant_eigenvalue.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

/// q̈ = −K q − C q̇ in modes that are mixed: eigenvalues are the roots of z² + c z + k.
struct Modes {
  Modes(unsigned seed, const std::vector<std::pair<double, double>>& k_and_c) {
    const auto n = static_cast<Eigen::Index>(k_and_c.size());
    std::mt19937 random(seed);
    Eigen::MatrixXd any(n, n);
    for (double& x : any.reshaped()) x = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
    const Eigen::MatrixXd mix = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
    Eigen::VectorXd k(n), c(n);
    for (Eigen::Index i = 0; i < n; ++i) std::tie(k(i), c(i)) = k_and_c[static_cast<std::size_t>(i)];
    K = mix * k.asDiagonal() * mix.transpose(), C = mix * c.asDiagonal() * mix.transpose();
  }
  std::optional<std::complex<double>> find(double scale) const {
    const Eigen::Index n = K.rows();
    return find_dominant_eigenvalue(static_cast<int>(n), scale, 40, [&](const auto& x, auto& y) {
      const Eigen::Map<const Eigen::VectorXd> q(x.data(), n), v(x.data() + n, n);
      Eigen::Map<Eigen::VectorXd>(y.data(), n) = v;
      Eigen::Map<Eigen::VectorXd>(y.data() + n, n) = -K * q - C * v;
      return true;
    });
  }
  Eigen::MatrixXd K, C;
};

TEST(DominantEigenvalue, of_an_oscillator_is_a_pair_and_of_a_strong_damper_is_real) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
    // One mode is clearly the largest, at w; the others are slower, damped or not.
    const double w = std::pow(10.0, between(0.0, 4.0)), damping = seed % 2 ? between(0.0, 0.3) : between(1.2, 20.0);
    std::vector<std::pair<double, double>> modes{{w * w, 2.0 * damping * w}};
    for (unsigned i = 0; i < seed % 5; ++i) {
      const double slow = w * between(0.05, 0.6);
      modes.push_back({slow * slow, 2.0 * between(0.0, 0.9) * slow});
    }
    const auto found = Modes(seed, modes).find(w * between(0.5, 3.0));
    ASSERT_TRUE(found);
    if (seed % 2) {
      EXPECT_NEAR(found->real(), -damping * w, 1e-3 * w);
      EXPECT_NEAR(found->imag(), w * std::sqrt(1.0 - damping * damping), 1e-3 * w);
    } else {
      const double exact = -w * (damping + std::sqrt(damping * damping - 1.0));
      EXPECT_NEAR(found->real(), exact, 1e-3 * std::abs(exact));
      EXPECT_EQ(found->imag(), 0.0);
    }
  }
}

TEST(DominantEigenvalue, of_many_that_are_alike_is_of_their_kind) {
  // Chains: spectra without a gap.
  for (const bool damped : {false, true}) {
    std::vector<std::pair<double, double>> modes;
    for (int i = 1; i <= 60; ++i) {
      const double mu = 4.0 * std::pow(std::sin(i * 3.14159265358979 / 122.0), 2);
      modes.push_back({1e4 * mu, damped ? 1e3 * mu : 1e-3});
    }
    const auto found = Modes(3, modes).find(damped ? 4e3 : 200.0);
    ASSERT_TRUE(found);
    if (damped) {
      EXPECT_LT(found->real(), -3e3);
      EXPECT_LT(std::abs(found->imag()), 0.1 * std::abs(found->real()));
    } else {
      EXPECT_GT(std::abs(found->imag()), 180.0);
      EXPECT_LT(std::abs(found->real()), 0.05 * std::abs(found->imag()));
    }
  }
}

TEST(DominantEigenvalue, is_none_where_nothing_acts) {
  const Modes free(1, {{0.0, 0.0}, {0.0, 0.0}});
  EXPECT_FALSE(free.find(1.0));
}

}  // namespace
}  // namespace mechanician
