// Rigid bodies with quaternions, free and joined: their masses are singular at every state, and they move all the same.
//
// MECHANICIAN_BODIES sets how many bodies each kind gets, MECHANICIAN_SEED which, MECHANICIAN_ONLY the one to look at.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/motion_family.hpp"
#include "mechanician/motion/quaternion_bodies_for_test.hpp"

namespace mechanician {
namespace {

unsigned number_from(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// √(Σ m|v̇|² + J|ω̇|²)
double mass_norm(const Bodies& s, const Eigen::VectorXd& a) {
  double sum = 0.0;
  for (int k = 0; k < s.count(); ++k) {
    const Body& b = s.bodies[static_cast<std::size_t>(k)];
    sum += b.m * a.segment(6 * k, 3).squaredNorm() + b.J.dot(a.segment(6 * k + 3, 3).cwiseAbs2());
  }
  return std::sqrt(sum);
}

struct Trial {
  Bodies start;
  double length, mass, to, tolerance;
};

Trial make_trial(RandomBodies& random, double length, double mass, double ratio) {
  Trial t{random.make(length, mass, ratio), length, mass, 0.0, 0.0};
  double rate = 1.0;
  for (const Eigen::Vector3d& w : t.start.omega) rate = std::max(rate, w.norm());
  const Eigen::VectorXd a = newton_euler(t.start);
  for (int k = 0; k < t.start.count(); ++k)
    rate = std::max({rate, std::sqrt(a.segment(6 * k + 3, 3).norm()), std::sqrt(a.segment(6 * k, 3).norm() / length)});
  t.to = 1.0 / rate;
  // What a motion may be off is relative to max(1, |q|): short lengths ask for a smaller tolerance.
  t.tolerance = std::max(1e-13, 1e-10 * std::min(1.0, length));
  return t;
}

/// Nothing where all is well.
std::string check(const Trial& trial, Integrator& motion) {
  if (motion.refusal()) return "refused: " + motion.refusal()->message;
  const Bodies& start = trial.start;
  const auto off = [&](const Sample& sample, const Bodies& at) {
    const Eigen::VectorXd expected = newton_euler(at), found = accelerations_of(at, sample.q, sample.qdd);
    Eigen::VectorXd free(6 * at.count());
    for (int k = 0; k < at.count(); ++k)
      free.segment(6 * k, 6) << 0.0, 0.0, at.gravity,
          at.omega[static_cast<std::size_t>(k)].squaredNorm() * Eigen::Vector3d::Ones();
    return mass_norm(at, found - expected) / (mass_norm(at, expected) + mass_norm(at, free));
  };
  if (const double d = off(motion.sample(0.0), start); !(d < 1e-8))
    return fmt::format("q̈ at the start is off by {:.1e}", d);
  for (int steps = 0; motion.advance();)
    if (++steps > 20'000)
      return fmt::format("20,000 steps to t = {} of {}, {} of {} evaluations by the robust path", motion.t(), trial.to,
                         motion.statistics().robust, motion.statistics().evaluations);
  if (motion.stop().failed()) return motion.stop().message;
  const Sample sample = motion.sample(motion.t());
  const Bodies end = with_state(start, sample.q, sample.qd);
  // The state is off the constraints by rounding, relative to the largest coordinate.
  double place = trial.length;
  for (const Eigen::Vector3d& x : end.x) place = std::max(place, x.norm());
  const double relative = std::max(trial.tolerance, 1e-14 * place) / std::min(1.0, trial.length);
  if (const double d = off(sample, end); !(d < 1e-8)) return fmt::format("q̈ at the end is off by {:.1e}", d);
  double scale = 0.0, potential = 0.0;
  for (std::size_t i = 0; i < start.bodies.size(); ++i) {
    const Body& b = start.bodies[i];
    scale += b.m * start.v[i].squaredNorm() + start.omega[i].dot(b.J.cwiseProduct(start.omega[i]));
    potential += b.m * start.gravity * (std::abs(start.x[i].z()) + trial.length);
  }
  scale += potential;
  const double energy = std::abs(energy_of(end) - energy_of(start)) / scale;
  if (!(energy < 1e4 * relative)) return fmt::format("energy changes by {:.1e}", energy);
  const bool grounded = !start.joints.empty() && start.joints[0].b < 0;
  const Eigen::Vector3d about = grounded ? start.joints[0].at_b : Eigen::Vector3d::Zero();
  double span = trial.length;
  for (std::size_t i = 0; i < start.bodies.size(); ++i)
    span = std::max({span, (start.x[i] - about).norm(), (end.x[i] - about).norm()});
  double total = 0.0;
  for (const Body& b : start.bodies) total += b.m;
  // Gravity turns it about horizontal axes only.
  const Eigen::Vector3d L = angular_momentum_of(end, about) - angular_momentum_of(start, about);
  const double size = span * std::sqrt(2.0 * total * scale);
  const double spin = (start.gravity > 0.0 ? std::abs(L.z()) : L.norm()) / size;
  if (!(spin < 1e4 * relative)) return fmt::format("angular momentum changes by {:.1e}", spin);
  if (!start.joints.empty()) return {};
  for (int k = 0; k < start.count(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Turned turned = turn_freely({start.R(k), start.omega[i]}, start.bodies[i].J, motion.t(), 1000);
    const double d = (turned.R - end.R(k)).norm() + (turned.omega - end.omega[i]).norm() / (1.0 + turned.omega.norm()) +
                     (start.x[i] + motion.t() * start.v[i] - end.x[i]).norm() / place;
    if (!(d < 1e-6)) return fmt::format("Euler's equations say otherwise, by {:.1e}", d);
  }
  return {};
}

/// Ten of each choice of scales.
void try_bodies(Joining kind, int count, unsigned ordinary) {
  const unsigned trials = number_from("MECHANICIAN_BODIES", num_trials(ordinary)),
                 seed = number_from("MECHANICIAN_SEED", 23);
  std::mt19937_64 random(seed * 1000 + static_cast<unsigned>(kind) * 10 + static_cast<unsigned>(count));
  std::uniform_real_distribution<double> decades(-6.0, 6.0), ratios(0.0, 4.0);
  RandomBodies bodies(kind, count, random);
  const Loaded loaded(text_of(count, joints_of(kind, count)));
  std::vector<int> varied;
  for (int i = 0; i < static_cast<int>(loaded.parameters.size()); ++i) varied.push_back(i);
  unsigned failures = 0;
  for (unsigned k = 0; k < trials;) {
    const bool plain = random() % 4 == 0;
    const double length = plain ? 1.0 : std::pow(10.0, decades(random)),
                 mass = plain ? 1.0 : std::pow(10.0, decades(random));
    System system = loaded.system;
    Trial trial = make_trial(bodies, length, mass, std::pow(10.0, ratios(random)));
    system.set_parameters(parameters_of(trial.start));
    MotionFamily family(system, state_of(trial.start), varied);
    for (int i = 0; i < 10 && k < trials; ++i, ++k) {
      if (i > 0) trial = make_trial(bodies, length, mass, std::pow(10.0, ratios(random)));
      if (number_from("MECHANICIAN_ONLY", k) != k) continue;
      family.set_parameters(parameters_of(trial.start));
      Integrator motion(family, state_of(trial.start), {.to = trial.to, .tolerance = trial.tolerance});
      const std::string trouble = check(trial, motion);
      if (trouble.empty()) continue;
      if (++failures <= 5)
        ADD_FAILURE() << "seed " << seed << ", kind " << static_cast<int>(kind) << ", " << count << " bodies, trial "
                      << k << ", length " << length << ", mass " << mass << ": " << trouble;
    }
  }
  if (failures > 0) ADD_FAILURE() << failures << " of " << trials << " failed";
}

TEST(QuaternionBodies, that_are_free_move_as_euler_says) { try_bodies(Joining::free, 1, 500); }
TEST(QuaternionBodies, on_a_fixed_point_keep_energy_and_spin) { try_bodies(Joining::top, 1, 300); }
TEST(QuaternionBodies, in_a_chain_keep_energy_and_spin) { try_bodies(Joining::chain, 2, 100); }
TEST(QuaternionBodies, in_a_longer_chain_keep_energy_and_spin) { try_bodies(Joining::chain, 3, 50); }
TEST(QuaternionBodies, in_a_floating_chain_keep_energy_and_spin) { try_bodies(Joining::floating_chain, 2, 50); }
TEST(QuaternionBodies, in_a_loop_keep_energy_and_spin) { try_bodies(Joining::loop, 3, 50); }
TEST(QuaternionBodies, on_two_joints_turn_about_a_hinge) { try_bodies(Joining::hinge, 2, 50); }

/// L·(a k − R e_z), from the centre of mass to the lowest point of the sphere: neither weight, nor floor, nor friction, nor an
/// impact changes it (Jellett).
double jellett(const System& system, const Eigen::VectorXd& q, const Eigen::VectorXd& qd) {
  const auto parameter = [&](const char* name) {
    for (std::size_t i = 0; i < system.model().parameters.size(); ++i)
      if (system.model().parameters[i].name == name) return system.parameters()[i];
    return 0.0;
  };
  const Eigen::Vector4d e = q.tail(4);
  const Eigen::Matrix3d turn = Eigen::Quaterniond(e(0), e(1), e(2), e(3)).toRotationMatrix();
  const Eigen::Vector3d L = turn * Eigen::Vector3d(0.035, 0.035, 0.036).cwiseProduct(spin_of(e, qd.tail(4)));
  return L.dot(parameter("a") * turn.col(2) - parameter("R") * Eigen::Vector3d::UnitZ());
}

TEST(QuaternionBodies, that_leave_the_floor_fly_and_keep_what_jellett_found) {
  Loaded loaded = load_case("tippe_top");
  std::mt19937_64 random(1872);
  std::uniform_real_distribution<double> tilt(0.05, 1.0), spin(10.0, 60.0), turn(0.0, 6.28);
  for (unsigned k = 0; k < num_trials(10); ++k) {
    SCOPED_TRACE(testing::Message() << "trial " << k);
    State start = loaded.start;
    if (k > 0) {
      const double angle = tilt(random), axis = turn(random), w = spin(random);
      const Eigen::Quaterniond e(Eigen::AngleAxisd(angle, Eigen::Vector3d(std::cos(axis), std::sin(axis), 0.0)));
      start.q << 0.0, 0.0, 0.3 - 0.06 * e.toRotationMatrix()(2, 2), e.w(), e.x(), e.y(), e.z();
      start.qd << 0.0, 0.0, 0.0, rate_of(e, {0.0, 0.0, w});
    }
    const double to = k > 0 ? 1.0 : 3.0;
    Integrator motion(loaded.system, start, {.to = to, .tolerance = 1e-10});
    ASSERT_FALSE(motion.refusal()) << motion.refusal()->message;
    const double before = jellett(loaded.system, start.q, start.qd);
    const Sample end = run_to_end(motion);
    EXPECT_FALSE(motion.stop().failed()) << motion.stop().message;
    EXPECT_DOUBLE_EQ(motion.t(), to);
    EXPECT_NEAR(jellett(loaded.system, end.q, end.qd), before, 1e-7 * std::abs(before));
  }
}

/// T = ½ Σ (r_k·q̇)² with fewer terms than coordinates, held by as many constraints as are missing: the reduced masses are definite.
TEST(SingularMasses, at_random_move_as_their_free_coordinates_do) {
  constexpr unsigned seed = 41;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  for (unsigned trial = 0; trial < num_trials(300); ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", trial " << trial);
    Eigen::MatrixXd F(2, 3);
    for (double& x : F.reshaped()) x = std::round(10.0 * any(random)) / 10.0;  // as people write them
    Eigen::RowVector3d a(1.0, std::round(10.0 * any(random)) / 10.0, std::round(10.0 * any(random)) / 10.0);
    const Eigen::Vector3d q0(any(random), any(random), any(random));
    const Eigen::MatrixXd N = Eigen::FullPivLU<Eigen::MatrixXd>(a).kernel(), M = F.transpose() * F,
                          reduced = N.transpose() * M * N;
    if (std::abs(reduced.determinant()) < 1e-3) continue;  // not unique, or nearly
    const auto row = [](const Eigen::RowVector3d& r) {
      return fmt::format("({:.17g})*x'+({:.17g})*y'+({:.17g})*z'", r(0), r(1), r(2));
    };
    const Loaded loaded(
        fmt::format("coordinates = [\"x\", \"y\", \"z\"]\n[dynamics]\nkinetic = \"(({})^2 + ({})^2)/2\"\npotential = "
                    "\"9.81*y + x^2\"\n"
                    "[constraints]\ns = \"x + ({:.17g})*y + ({:.17g})*z = {:.17g}\"\n[start]\nposition = {{ x = "
                    "{:.17g}, y = {:.17g}, z = {:.17g} }}\n",
                    row(F.row(0)), row(F.row(1)), a(1), a(2), a * q0, q0(0), q0(1), q0(2)));
    Integrator motion = loaded.integrator({.to = 0.5, .tolerance = 1e-11});
    ASSERT_FALSE(motion.refusal()) << motion.refusal()->message;
    const Sample end = run_to_end(motion);
    ASSERT_FALSE(motion.stop().failed()) << motion.stop().message;
    EXPECT_LT(motion.statistics().steps, 2000);
    const auto force = [](const Eigen::Vector3d& q) { return Eigen::Vector3d(-2.0 * q(0), -9.81, 0.0); };
    EXPECT_LT((end.qdd - N * reduced.ldlt().solve(N.transpose() * force(end.q))).norm(), 1e-8 * (1.0 + end.qdd.norm()));
    const auto energy = [&](const Eigen::Vector3d& q, const Eigen::Vector3d& v) {
      return 0.5 * v.dot(M * v) + 9.81 * q(1) + q(0) * q(0);
    };
    EXPECT_NEAR(energy(end.q, end.qd), energy(q0, Eigen::Vector3d::Zero()),
                1e-7 * (1.0 + 9.81 * end.q.norm() + end.q.squaredNorm()));
  }
}

}  // namespace
}  // namespace mechanician
