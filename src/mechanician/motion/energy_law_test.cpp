// The verdict about energies, as a law: no motion that has lost or gained a hundredth of its energy, or some roots of the tolerance of it, has a
// good verdict, and motions that are right are seldom called suspect. Random models whose motions are known: oscillators of several
// coordinates, damped or not, from their modes; pendulums by constraint, whose energy is conserved.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Known {
  std::string toml;
  double to = 0.0, energy = 0.0;               ///< energy: at the start, the largest there is
  std::function<double(const Sample&)> error;  ///< of the energy, at a sample
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  double in_powers(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  /// q = T η with η̈ᵢ + 2ζωη̇ᵢ + ω²ηᵢ = 0; K = ½|η̇|².
  Known make_oscillators(bool damped) {
    const int n = 1 + below(4);
    const auto N = static_cast<Eigen::Index>(n);
    MatrixXd T = MatrixXd::Identity(N, N), inverse = T;
    for (int i = 0; i < n; ++i)  // by shears, whose inverse is known
      for (int j = 0; j < n; ++j)
        if (i != j && below(2) == 0) {
          const double s = between(-0.5, 0.5);
          T.col(j) += s * T.col(i), inverse.row(i) -= s * inverse.row(j);
        }
    VectorXd omega(N), zeta(N), eta(N), rate(N);
    const double base = in_powers(0.3, 100.0);
    for (Eigen::Index i = 0; i < N; ++i) {
      omega(i) = base * between(1.0, 3.0), zeta(i) = damped ? in_powers(1e-4, 0.3) : 0.0;
      eta(i) = between(-1.0, 1.0), rate(i) = omega(i) * between(-1.0, 1.0);
    }
    const auto text = [&](const VectorXd& row, const char* dot) {
      std::string sum;
      for (int i = 0; i < n; ++i) sum += fmt::format("{}({:.17g})*q{}{}", i ? " + " : "", row(i), i, dot);
      return sum;
    };
    Known made;
    std::string kinetic, potential, force;
    for (Eigen::Index i = 0; i < N; ++i) {
      kinetic += fmt::format("{}({})^2/2", i ? " + " : "", text(inverse.row(i), "'"));
      potential += fmt::format("{}{:.17g}*({})^2/2", i ? " + " : "", omega(i) * omega(i), text(inverse.row(i), ""));
    }
    const MatrixXd C = inverse.transpose() * (2.0 * zeta.cwiseProduct(omega)).asDiagonal() * inverse;
    const VectorXd q = T * eta, qd = T * rate;
    std::string names, at, speed;
    for (int i = 0; i < n; ++i) {
      names += fmt::format("{}\"q{}\"", i ? ", " : "", i);
      at += fmt::format("{}q{} = {:.17g}", i ? ", " : "", i, q(i));
      speed += fmt::format("{}q{} = {:.17g}", i ? ", " : "", i, qd(i));
      if (damped) force += fmt::format("{}q{} = \"-({})\"", i ? ", " : "", i, text(C.row(i), "'"));
    }
    made.toml = fmt::format(
        "coordinates = [{}]\n[dynamics]\nkinetic = \"{}\"\npotential = \"{}\"\n{}[start]\nposition = {{ {} }}\n"
        "velocity = {{ {} }}\n",
        names, kinetic, potential, damped ? fmt::format("force = {{ {} }}\n", force) : "", at, speed);
    made.to = in_powers(3.0, 3000.0) / base;
    const auto energy = [omega](const VectorXd& x, const VectorXd& v) {
      return 0.5 * (v.squaredNorm() + omega.cwiseProduct(x).squaredNorm());
    };
    made.energy = energy(eta, rate);
    made.error = [=](const Sample& s) {
      VectorXd x(N), v(N);
      for (Eigen::Index i = 0; i < N; ++i) {
        const double d = zeta(i) * omega(i), w = omega(i) * std::sqrt(1.0 - zeta(i) * zeta(i)),
                     decay = std::exp(-d * s.t), c = std::cos(w * s.t), si = std::sin(w * s.t),
                     b = (rate(i) + d * eta(i)) / w;
        x(i) = decay * (eta(i) * c + b * si);
        v(i) = decay * ((b * w - d * eta(i)) * c - (eta(i) * w + d * b) * si);
      }
      return std::abs(energy(inverse * s.q, inverse * s.qd) - energy(x, v));
    };
    return made;
  }

  /// A chain of one or two masses on rods.
  Known make_pendulum() {
    const int n = 1 + below(2);
    const double g = in_powers(1.0, 100.0);
    std::string names, kinetic, potential, rods, at, speed;
    std::vector<double> m, height;
    double x = 0.0, y = 0.0, vx = 0.0, vy = 0.0, lowest = 0.0, energy = 0.0, length = 0.0;
    for (int i = 0; i < n; ++i) {
      const double l = between(0.5, 1.5), angle = between(-3.0, 3.0), w = between(-2.0, 2.0);
      m.push_back(between(0.5, 2.0)), length += l;
      x += l * std::sin(angle), y -= l * std::cos(angle), vx += l * w * std::cos(angle), vy += l * w * std::sin(angle);
      lowest -= m.back() * g * length;
      energy += m.back() * (0.5 * (vx * vx + vy * vy) + g * y);
      const char* comma = i ? ", " : "";
      names += fmt::format("{0}\"x{1}\", \"y{1}\"", comma, i);
      kinetic += fmt::format("{}{:.17g}*(x{}'^2 + y{}'^2)/2", i ? " + " : "", m.back(), i, i);
      potential += fmt::format("{}{:.17g}*y{}", i ? " + " : "", m.back() * g, i);
      rods += i == 0 ? fmt::format("rod0 = \"x0^2 + y0^2 = {:.17g}\"\n", l * l)
                     : fmt::format("rod1 = \"(x1 - x0)^2 + (y1 - y0)^2 = {:.17g}\"\n", l * l);
      at += fmt::format("{0}x{1} = {2:.17g}, y{1} = {3:.17g}", comma, i, x, y);
      speed += fmt::format("{0}x{1} = {2:.17g}, y{1} = {3:.17g}", comma, i, vx, vy);
    }
    Known made;
    made.toml = fmt::format(
        "coordinates = [{}]\n[dynamics]\nkinetic = \"{}\"\npotential = \"{}\"\n[constraints]\n{}[start]\n"
        "position = {{ {} }}\nvelocity = {{ {} }}\n",
        names, kinetic, potential, rods, at, speed);
    made.to = in_powers(3.0, 300.0) / std::sqrt(g);
    made.energy = energy - lowest;
    made.error = [=](const Sample& s) {
      double now = 0.0;
      for (int i = 0; i < n; ++i)
        now += m[i] * (0.5 * (std::pow(s.qd(2 * i), 2) + std::pow(s.qd(2 * i + 1), 2)) + g * s.q(2 * i + 1));
      return std::abs(now - energy);
    };
    return made;
  }

 private:
  std::mt19937_64 random_;
};

TEST(EnergyLaw, no_motion_whose_energy_is_off_has_a_good_verdict) {
  const int trials = static_cast<int>(num_trials(1200));
  int num_right = 0, num_suspect = 0, num_wrong = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const unsigned seed = 20261116u + static_cast<unsigned>(trial);
    Maker maker(seed);
    const int kind = maker.below(4);
    const Known known = kind == 3 ? maker.make_pendulum() : maker.make_oscillators(kind == 2);
    const double tolerance = std::pow(10.0, maker.between(-12.0, -1.0));
    const Method method = std::array{Method::automatic, Method::dop853, Method::bdf}[maker.below(3)];
    // The balance may be 0.4 roots of the tolerance, and the error of the energy ten times that.
    const double wrong = std::min(1e-2, 4.0 * std::sqrt(tolerance)), right = 0.05 * wrong;
    const Loaded model(known.toml);
    Integrator integrator = model.integrator({.to = known.to, .tolerance = tolerance, .method = method});
    double error = 0.0;
    long steps = 0;
    const auto look = [&] { error = std::max(error, known.error(integrator.sample(integrator.t())) / known.energy); };
    while (steps < 40000 && integrator.advance())
      if (++steps % 16 == 0) look();
    look();
    const Certificate c = integrator.certificate();
    const bool good = !integrator.stop().failed() && c.holds;
    num_wrong += error > wrong;
    EXPECT_FALSE(good && error > wrong) << "seed " << seed << ", " << name_of(method) << ", tolerance " << tolerance
                                        << ": off by " << error << "\n"
                                        << known.toml;
    num_right += error < right, num_suspect += error < right && !good;
  }
  EXPECT_LE(num_suspect, 0.02 * num_right) << "of " << num_right << " motions that are right";
  EXPECT_GT(num_wrong, trials / 30) << "there is something to be found";
}

/// Beyond 1e-4 steps would be longer than their estimates can tell: they are those at 1e-4.
TEST(EnergyLaw, loose_tolerances_make_no_longer_steps) {
  Maker maker(7);
  const Known known = maker.make_pendulum();
  const Loaded model(known.toml);
  const auto end_at = [&](double tolerance) {
    Integrator integrator = model.integrator({.to = known.to, .tolerance = tolerance});
    while (integrator.advance()) continue;
    return std::pair(integrator.statistics().steps, integrator.sample(integrator.t()).q);
  };
  const auto [steps, q] = end_at(1e-4);
  for (const double tolerance : {1e-3, 1e-2, 0.1}) {
    const auto [loose_steps, loose_q] = end_at(tolerance);
    EXPECT_EQ(loose_steps, steps);
    EXPECT_EQ(loose_q, q);
  }
  EXPECT_GT(end_at(1e-6).first, steps);
}

}  // namespace
}  // namespace mechanician
