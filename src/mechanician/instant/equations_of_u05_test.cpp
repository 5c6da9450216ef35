// U05, F. E. Udwadia, Equations of motion for constrained multibody systems and their control (2005): every numbered equation, on one
// system that has all there is in the paper: a mass that depends on the place, forces, a holonomic constraint that moves, a nonholonomic one that
// is nonlinear in the velocities, a third that repeats the first, and work of the constraints. Square roots and inverses are made here.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double t0 = 0.4, eps = 1e-13;

/// x, y, z; z and z' are set so that the constraints hold.
const std::string dynamics = R"(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "(1 + x^2)*x'^2/2 + y'^2 + 3*z'^2/2 + sin(y)*x'*z'/4"
potential = "9.81*z"
force = { x = "t - y'" }
)";
const std::string holonomic = "x^2 + y + z = t^2", nonholonomic = "x'*y' + z' = 2*t - 0.6";
const std::string constraints = "[constraints]\nmoving = \"" + holonomic + "\"\nfast = \"" + nonholonomic +
                                "\"\nagain = \"2*x^2 + 2*y + 2*z = 2*t^2\"\n";
const std::string nonideal = "[nonideal]\nx = \"-0.5*x'\"\ny = \"1.5\"\nz = \"x*y'\"\n";

struct Setting {
  MatrixXd M, root, inverse_root, A, B, Bp, I = MatrixXd::Identity(3, 3);
  VectorXd Q, a, b, C, e;
  State state;
};

/// By hand, from the text above.
Setting make_setting() {
  Setting s;
  const double x = 0.6, y = -0.3, xd = 0.7;
  // φ̇ = 2x x' + y' + z' − 2t = 0 gives z'; and the nonlinear constraint then holds for x'y' = 2x x' + y' − 0.6, which fixes y'.
  const double y_rate = (2 * x * xd - 0.6) / (xd - 1);
  const double z = t0 * t0 - x * x - y, zd = 2 * t0 - 2 * x * xd - y_rate;
  s.state = {t0, Vector3d(x, y, z), Vector3d(xd, y_rate, zd)};
  s.M.resize(3, 3);
  s.M << 1 + x * x, 0, std::sin(y) / 4, 0, 2, 0, std::sin(y) / 4, 0, 3;
  // d/dt ∂T/∂q' − ∂T/∂q = M q̈ + …
  s.Q.resize(3);
  s.Q << t0 - y_rate - (2 * x * xd * xd + std::cos(y) * y_rate * zd / 4) + x * xd * xd, std::cos(y) * xd * zd / 4,
      -9.81 - std::cos(y) * y_rate * xd / 4;
  s.A.resize(3, 3), s.b.resize(3);
  s.A << 2 * x, 1, 1, y_rate, xd, 1, 4 * x, 2, 2;
  s.b << 2 - 2 * xd * xd, 2, 4 - 4 * xd * xd;
  s.C.resize(3);
  s.C << -0.5 * xd, 1.5, x * y_rate;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(s.M);
  s.root = eigen.operatorSqrt(), s.inverse_root = eigen.operatorInverseSqrt();
  s.a = s.M.inverse() * s.Q;
  s.B = s.A * s.inverse_root;
  const Eigen::JacobiSVD<MatrixXd> svd(s.B, Eigen::ComputeThinU | Eigen::ComputeThinV);
  s.Bp = MatrixXd::Zero(3, 3);
  for (Index i = 0; i < 2; ++i)
    s.Bp += svd.matrixV().col(i) * svd.matrixU().col(i).transpose() / svd.singularValues()(i);
  s.e = s.b - s.A * s.a;
  return s;
}

Instant solve(const std::string& text, const State& state) {
  const Model model = read_model_text(text, "u05.toml");
  const System system(model, evaluate_parameters(model).values);
  return accelerate(system, state, {.parts = true});
}

class U05 : public ::testing::Test {
 protected:
  Setting s = make_setting();
  Instant free = solve(dynamics, s.state), ideal = solve(dynamics + constraints, s.state),
          real = solve(dynamics + constraints + nonideal, s.state);
  MatrixXd P = s.I - s.Bp * s.B;  // I − B⁺B

  static void expect_same(const MatrixXd& got, const MatrixXd& expected) {
    EXPECT_LE((got - expected).norm(), 100 * eps * (1 + expected.norm())) << got << "\n\n" << expected;
  }
  void SetUp() override { ASSERT_TRUE(free.has_acceleration() && ideal.has_acceleration() && real.has_acceleration()); }
};

TEST_F(U05, equation_1_motion_without_constraints) { expect_same(s.M * free.solution.qdd, s.Q); }
TEST_F(U05, equation_2_acceleration_without_constraints) {
  expect_same(free.solution.qdd, s.a);
  expect_same(*real.solution.a, s.a);
}
TEST_F(U05, equation_3_and_4_hold_at_the_start) {
  const Vector3d &q = s.state.q, &qd = s.state.qd;
  EXPECT_NEAR(q(0) * q(0) + q(1) + q(2), t0 * t0, 1e-15);
  EXPECT_NEAR(qd(0) * qd(1) + qd(2), 2 * t0 - 0.6, 1e-14);
  EXPECT_LE(real.constraint_residual, 1e-14);
  State off = s.state;
  off.q(0) += 1e-3;
  EXPECT_FALSE(solve(dynamics + constraints, off).violations().empty());
}
TEST_F(U05, equation_5_differentiated) {
  MatrixXd A = MatrixXd::Zero(3, 3);
  for (Index j = 0; j < 3; ++j)
    for (const SparseRows::Entry& e : real.values.A.row(j)) A(j, e.col) = e.value;
  expect_same(A, s.A), expect_same(real.values.b, s.b);
  EXPECT_EQ(real.solution.rank, 2);
  expect_same(s.A * real.solution.qdd, s.b);
}
TEST_F(U05, equation_6_force_of_the_constraints) { expect_same(s.M * real.solution.qdd, s.Q + real.solution.Qc); }
TEST_F(U05, equation_7_work_of_the_constraints) {
  const VectorXd v = s.A.row(0).transpose().head<3>().cross(s.A.row(1).transpose().head<3>());  // A v = 0
  EXPECT_NEAR(v.dot(real.solution.Qc), v.dot(s.C), 1e-12);
  EXPECT_NEAR(v.dot(ideal.solution.Qc), 0.0, 1e-12);
  EXPECT_GT(std::abs(v.dot(s.C)), 1e-3);
}
TEST_F(U05, equation_8_motion) {
  expect_same(s.M * real.solution.qdd, s.Q + s.root * s.Bp * s.e + s.root * P * s.inverse_root * s.C);
}
TEST_F(U05, equation_9_acceleration) {
  const VectorXd c = s.M.inverse() * s.C;
  expect_same(real.solution.qdd, s.a + s.inverse_root * s.Bp * s.e + s.inverse_root * P * s.root * c);
}
TEST_F(U05, equation_10_deviation_and_its_parts) {
  const VectorXd first = s.inverse_root * s.Bp * s.e, second = s.inverse_root * P * s.inverse_root * s.C;
  expect_same(*real.parts->deviation, first + second);
  expect_same(*real.parts->deviation_ideal, first), expect_same(*real.parts->deviation_nonideal, second);
  expect_same(*real.parts->error_signal, s.e);
  EXPECT_NEAR(real.parts->deviation_ideal->dot(s.M * *real.parts->deviation_nonideal), 0.0, 1e-12);
}
TEST_F(U05, equation_11_ideal_force) {
  expect_same(real.solution.Qc_i, s.root * s.Bp * s.e);
  expect_same(ideal.solution.Qc, s.root * s.Bp * s.e);
}
TEST_F(U05, equation_12_nonideal_force) {
  expect_same(real.solution.Qc_ni, s.root * P * s.inverse_root * s.C);
  expect_same(real.solution.Qc, real.solution.Qc_i + real.solution.Qc_ni);
}
TEST_F(U05, equation_13_of_the_gain_that_is_found) {
  const MatrixXd Bp = s.inverse_root * *real.parts->gain;  // K = M^(1/2)B⁺
  expect_same(s.B * Bp * s.B, s.B);                        // (13a)
  expect_same(Bp * s.B * Bp, Bp);                          // (13b)
  expect_same((s.B * Bp).transpose(), s.B * Bp);           // (13c)
  expect_same((Bp * s.B).transpose(), Bp * s.B);           // (13d)
}
/// The same equations asked of control, where every force that meets them is least force and a part that they do not feel.
TEST_F(U05, equation_14_to_16_all_forces) {
  const std::string asked =
      "[control.moving]\nequation = \"" + holonomic + "\"\n[control.fast]\nequation = \"" + nonholonomic + "\"\n";
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> draw(-2, 2);
  for (int trial = 0; trial < 20; ++trial) {
    const Vector3d force(draw(random), draw(random), draw(random));
    const Instant now = solve(dynamics + asked + "[control]\nfree = { x = " + std::to_string(force(0)) +
                                  ", y = " + std::to_string(force(1)) + ", z = " + std::to_string(force(2)) + " }\n",
                              s.state);
    ASSERT_TRUE(now.has_acceleration());
    Vector3d given;
    for (Index i = 0; i < 3; ++i) given(i) = std::stod(std::to_string(force(i)));
    const VectorXd z = s.inverse_root * given;
    expect_same(s.root * (now.solution.qdd - s.a), s.Bp * s.e + P * z);               // (14)
    expect_same(s.M * now.solution.qdd, s.Q + s.root * s.Bp * s.e + s.root * P * z);  // (15)
    expect_same(now.solution.Q_control, s.root * s.Bp * s.e + s.root * P * z);        // (16)
    expect_same(s.A * now.solution.qdd, s.b);
  }
}
TEST_F(U05, equation_17_virtual_displacements) {
  const Vector3d y(0.3, -1.1, 0.8);
  const VectorXd mu = P * y, v = s.inverse_root * mu;
  expect_same(s.root * v, mu);              // (17a)
  expect_same(s.A * v, VectorXd::Zero(3));  // (17b)
  EXPECT_GT(v.norm(), 0.01);
  // What the program takes as free: one direction, along v.
  EXPECT_EQ(3 - real.solution.rank, 1);
}
TEST_F(U05, equation_18_and_19_work_for_all_displacements) {
  for (Index i = 0; i < 3; ++i) {
    const VectorXd y = s.I.col(i), v = s.inverse_root * P * y;
    EXPECT_NEAR(v.dot(real.solution.Qc), v.dot(s.C), 1e-12);  // (18)
    EXPECT_NEAR(y.dot(P.transpose() * s.inverse_root * real.solution.Qc), y.dot(P.transpose() * s.inverse_root * s.C),
                1e-12);  // (19)
  }
}
TEST_F(U05, equation_20_to_23_the_part_that_work_decides) {
  const VectorXd z = *real.parts->z;
  expect_same(z, s.inverse_root * s.C);
  expect_same(s.inverse_root * real.solution.Qc_ni, P * z);                             // (20)
  expect_same(P.transpose() * s.inverse_root * real.solution.Qc_i, VectorXd::Zero(3));  // (21)
  expect_same(P.transpose() * P, P);                                                    // (22)
  expect_same(real.solution.Qc_ni, s.root * P * s.inverse_root * s.C);                  // (23)
}
TEST_F(U05, equation_24_force_of_the_constraints) {
  expect_same(real.solution.Qc, s.root * s.Bp * s.e + s.root * P * s.inverse_root * s.C);
}
TEST_F(U05, equation_25_control) {
  const Instant now =
      solve(dynamics + "[control.moving]\nequation = \"" + holonomic + "\"\n[control.fast]\nequation = \"" +
                nonholonomic + "\"\n[control.again]\nequation = \"2*x^2 + 2*y + 2*z = 2*t^2\"\n",
            s.state);
  ASSERT_TRUE(now.has_acceleration());
  expect_same(now.solution.Q_control, s.root * s.Bp * s.e);
  expect_same(s.M * now.solution.qdd, s.Q + now.solution.Q_control);
  expect_same(now.solution.Q_control, ideal.solution.Qc);  // as nature does it
  EXPECT_LE(now.solution.Qc.norm(), 1e-12);
}

}  // namespace
}  // namespace mechanician
