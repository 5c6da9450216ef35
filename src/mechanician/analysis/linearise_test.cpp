#include "mechanician/analysis/linearise.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <numbers>
#include <random>

#include "mechanician/analysis/eigenvalues.hpp"
#include "mechanician/analysis/floquet.hpp"
#include "mechanician/analysis/transfer.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using Complex = std::complex<double>;

Loaded load_model(const std::string& name, const ParameterOverrides& set = {}) {
  const auto file = std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "models" / (name + ".toml");
  Model model = read_model(file, set);
  for (Parameter& p : model.parameters)
    if (const auto found = set.find(p.name); found != set.end()) p.value = found->second;
  return Loaded(std::move(model));
}

Linearisation linearised(const Loaded& loaded, LineariseOptions options = {}) {
  return Lineariser(loaded.system, std::move(options)).at(loaded.start);
}

std::vector<Complex> nonzero(const Spectrum& spectrum) {
  std::vector<Complex> values;
  for (const Eigenvalue& e : spectrum.eigenvalues)
    if (e.value != 0.0) values.push_back(e.value);
  return values;
}

/// The rates of the states by differences of accelerations along the tangent space: what is off the constraints is of second order and
/// cancels.
Eigen::MatrixXd by_differences(const System& system, const Linearisation& l, double h) {
  const Eigen::Index s = l.A.rows(), p = static_cast<Eigen::Index>(l.positions.size());
  Eigen::MatrixXd A(s, s);
  for (Eigen::Index c = 0; c < s; ++c) {
    const auto rates = [&](double sign) {
      State moved = l.state;
      moved.q += sign * h * l.q.col(c), moved.qd += sign * h * l.qd.col(c);
      const Instant instant = accelerate(system, moved, {.diagnose = false});
      EXPECT_TRUE(instant.has_acceleration());
      Eigen::VectorXd f(s);
      for (Eigen::Index r = 0; r < s; ++r)
        f(r) = r < p ? moved.qd(l.positions[static_cast<std::size_t>(r)])
                     : instant.solution.qdd(l.velocities[static_cast<std::size_t>(r - p)]);
      return f;
    };
    A.col(c) = (rates(1.0) - rates(-1.0)) / (2.0 * h);
  }
  return A;
}

void expect_as_differences(const Loaded& loaded, double h = 1e-5, double tolerance = 2e-8) {
  const Linearisation l = linearised(loaded);
  ASSERT_EQ(l.refusal, "");
  const Eigen::MatrixXd A = by_differences(loaded.system, l, h);
  const double size = std::max(1.0, l.A.cwiseAbs().maxCoeff());
  EXPECT_LT((l.A - A).cwiseAbs().maxCoeff(), tolerance * size) << loaded.system.title() << "\n" << l.A << "\n\n" << A;
}

const std::string cart = R"x(
coordinates = ["x", "angle"]
[dynamics]
kinetic   = "1.5*x'^2 + x'*angle'*cos(angle) + angle'^2/2"
potential = "-9.81*cos(angle)"
[control.place]
equation  = "x = 0"
frequency = 2.0
damping   = 0.5
)x";

TEST(linearise, of_what_actuators_hold_is_the_error_and_the_zero_dynamics) {
  // The cart is brought to its place, and the pendulum swings about a point that rests.
  const Loaded loaded(cart + "[actuators]\nmotor = { x = \"1\", limit = 50 }\n");
  expect_as_differences(loaded);
  const Spectrum spectrum = find_spectrum(linearised(loaded));
  std::vector<Complex> wanted{
      {-1.0, std::sqrt(3.0)}, {-1.0, -std::sqrt(3.0)}, {0.0, std::sqrt(9.81)}, {0.0, -std::sqrt(9.81)}};
  ASSERT_EQ(spectrum.eigenvalues.size(), wanted.size());
  for (const Complex& w : wanted) {
    double nearest = 1e300;
    for (const Eigenvalue& e : spectrum.eigenvalues) nearest = std::min(nearest, std::abs(e.value - w));
    EXPECT_LT(nearest, 1e-12) << w;
  }
}

TEST(linearise, of_the_least_control_force_is_its_derivative) {
  expect_as_differences(Loaded(cart));
  expect_as_differences(Loaded(cart + "[start]\nposition = { angle = 0.4, x = 0.1 }\nvelocity = { angle = 0.3 }\n"));
  expect_as_differences(Loaded(cart + "[nonideal]\nangle = \"-0.1*angle'\"\n"));
}

TEST(linearise, of_control_that_is_not_linear_is_refused_by_name) {
  for (const auto& [more, word] :
       {std::pair("[actuators]\na = { x = \"1\" }\nb = { angle = \"1\" }\n", "1 requirements by 2 actuators"),
        std::pair("[actuators]\na = { x = \"1\" }\n[control]\nevery = 0.1\n", "sampled"),
        std::pair("[actuators]\na = { x = \"1\", limit = 0.1 }\n[start]\nposition = { x = 1 }\n", "at its limit")}) {
    const Linearisation l = linearised(Loaded(cart + more));
    EXPECT_NE(l.refusal.find(word), std::string::npos) << more << l.refusal;
  }
}

TEST(linearise, is_the_derivative_of_the_rates_of_the_states) {
  for (const char* name : {"pendulum", "double_pendulum", "four_bar", "rolling_disk", "kapitza_pendulum", "three_rods",
                           "wheel_with_massless_coordinate", "chaplygin_sleigh", "appell_hamel", "snakeboard",
                           "tracking_arm", "quaternion_body", "flyball_governor", "car_axis"}) {
    SCOPED_TRACE(name);
    expect_as_differences(load_model(name));
  }
}

TEST(linearise, has_forces_that_depend_on_reactions_and_friction_of_what_slides) {
  expect_as_differences(load_model("rough_incline"));
  // From rest: which way it will slide decides, and that is said.
  const Linearisation begins = linearised(load_model("rough_wire_bead"));
  EXPECT_TRUE(std::any_of(begins.notes.begin(), begins.notes.end(),
                          [](const std::string& note) { return note.find("begins to slide") != std::string::npos; }));
  expect_as_differences(Loaded(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y + 3*x^2"
[constraints]
arc = { equation = "y = x^2/4 + x^3/9", friction = 0.3, slip = "x'*(1 + (x/2 + x^2/3)^2)" }
[start]
position = { x = 0.5, y = 0.076388888888888895 }
velocity = { x = 2.0, y = 0.66666666666666663 }
)toml"));
}

TEST(linearise, agrees_with_a_dense_route_for_random_linear_systems) {
  const unsigned seed = 20250;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto matrix = [&](int rows, int cols) {
    Eigen::MatrixXd X(rows, cols);
    for (Eigen::Index i = 0; i < X.size(); ++i) X.data()[i] = uniform(random);
    return X;
  };
  for (int trial = 0; trial < 12; ++trial) {
    const int n = 3 + trial % 4, h = trial % 3, s = trial % 2;
    const Eigen::MatrixXd L = matrix(n, n), M = L * L.transpose() + Eigen::MatrixXd::Identity(n, n), D = matrix(n, n),
                          K = matrix(n, n), G = matrix(h, n), N = matrix(s, n);
    Model model;
    std::vector<Expr> q;
    for (int i = 0; i < n; ++i) q.push_back(model.add_coordinate("q" + std::to_string(i)));
    Expr T = 0.0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) T = T + Expr(0.5 * M(i, j)) * dot(q[i]) * dot(q[j]);
    model.kinetic = T;
    for (int i = 0; i < n; ++i) {
      Expr force = 0.0;
      for (int j = 0; j < n; ++j) force = force - Expr(D(i, j)) * dot(q[j]) - Expr(K(i, j)) * q[j];
      model.add_force(q[i], force);
    }
    const auto row = [&](const Eigen::MatrixXd& X, int r, bool rates) {
      Expr sum = 0.0;
      for (int j = 0; j < n; ++j) sum = sum + Expr(X(r, j)) * (rates ? dot(q[j]) : q[j]);
      return sum;
    };
    for (int r = 0; r < h; ++r) model.add_constraint("g" + std::to_string(r), row(G, r, false), 0.0);
    if (h > 0) model.add_constraint("again", 2.0 * row(G, 0, false), 0.0);  // says nothing new
    for (int r = 0; r < s; ++r) model.add_constraint("n" + std::to_string(r), row(N, r, true), 0.0);
    const Loaded loaded(std::move(model));
    const Linearisation l = linearised(loaded);
    ASSERT_EQ(l.refusal, "");
    ASSERT_EQ(l.at, Linearisation::At::rest);

    // q = Z x with G Z = 0, q̇ = W u with [G; N] W = 0: x' = Z⁺W u, u' = −(WᵀMW)⁻¹Wᵀ(D W u + K Z x).
    const auto null_of = [&](const Eigen::MatrixXd& X) -> Eigen::MatrixXd {
      if (X.rows() == 0) return Eigen::MatrixXd::Identity(n, n);
      const Eigen::JacobiSVD<Eigen::MatrixXd> svd(X, Eigen::ComputeFullV);
      return svd.matrixV().rightCols(n - X.rows());
    };
    Eigen::MatrixXd both(h + s, n);
    both << G, N;
    const Eigen::MatrixXd Z = null_of(G), W = null_of(both);
    const Eigen::MatrixXd mass = W.transpose() * M * W;
    const Eigen::Index p = Z.cols(), v = W.cols();
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(p + v, p + v);
    A.topRightCorner(p, v) = Z.transpose() * W;
    A.bottomLeftCorner(v, p) = -mass.inverse() * W.transpose() * K * Z;
    A.bottomRightCorner(v, v) = -mass.inverse() * W.transpose() * D * W;
    const Eigen::VectorXcd expected = Eigen::EigenSolver<Eigen::MatrixXd>(A).eigenvalues();
    const Spectrum found = find_spectrum(l);
    ASSERT_EQ(static_cast<Eigen::Index>(found.eigenvalues.size()), p + v);
    for (const Complex& e : expected) {
      double nearest = 1e300;
      for (const Eigenvalue& f : found.eigenvalues) nearest = std::min(nearest, std::abs(f.value - e));
      EXPECT_LT(nearest, 1e-8 * (1.0 + A.norm())) << "trial " << trial;
    }
  }
}

TEST(linearise, has_the_eigenvalues_of_the_bicycle) {
  // Meijaard, Papadopoulos, Ruina, Schwab 2007, table 2.
  struct Case {
    double v;
    std::vector<Complex> values;
  };
  const std::vector<Case> cases{
      {0.0, {-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393}},
      {3.0,
       {-10.3510146724592,
        -2.63366137253667,
        {1.70675605663975, -2.31582447384325},
        {1.70675605663975, 2.31582447384325}}},
      {5.0,
       {-14.07838969279822,
        {-0.77534188219585, -4.46486771378823},
        {-0.77534188219585, 4.46486771378823},
        -0.32286642900409}},
      {10.0,
       {-24.62459635017404,
        {-3.72016840437287, -10.90681139476287},
        {-3.72016840437287, 10.90681139476287},
        0.16105338653172}},
  };
  for (const Case& c : cases) {
    const Loaded loaded = load_model("bicycle", {{"v", c.v}});
    const Linearisation l = linearised(loaded);
    ASSERT_EQ(l.refusal, "");
    EXPECT_EQ(l.at, c.v == 0.0 ? Linearisation::At::rest : Linearisation::At::steady);
    EXPECT_EQ(l.positions.size(), 7u);
    EXPECT_EQ(l.velocities.size(), 3u);
    const Spectrum spectrum = find_spectrum(l);
    const std::vector<Complex> values = nonzero(spectrum);
    ASSERT_EQ(values.size(), 4u) << "v = " << c.v;
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_LT(std::abs(values[k] - c.values[k]), 1e-12 * (1.0 + std::abs(c.values[k])));
    EXPECT_EQ(spectrum.is_stable(), c.v == 5.0);
  }
}

TEST(linearise, is_exact_in_a_steady_turn_and_says_what_moves) {
  // A disk that rolls round with a constant lean: lean'' = 0 at this turn. Its stability by the equations of Appell in the speeds
  // (lean', heading', spin') alone, which do not know where the disk is: differences of accelerations at a state that differs in them.
  const double turn = 1.0451557506225886;
  const Loaded loaded = load_model("rolling_disk", {{"turn", turn}});
  const Linearisation l = linearised(loaded);
  EXPECT_EQ(l.at, Linearisation::At::steady);
  expect_as_differences(loaded);
  const Loaded other = load_model("rolling_disk");
  EXPECT_EQ(linearised(other).at, Linearisation::At::moving);
  EXPECT_GT(linearised(other).drift.norm(), 1.0);
}

TEST(linearise, upright_disk_rolls_stably_above_its_critical_speed) {
  // A thin disk of radius R that rolls upright is stable where spin'² > g/(3 R).
  const double critical = std::sqrt(9.81 / (3.0 * 0.25));
  for (const double part : {0.9, 1.1}) {
    Loaded loaded = load_model("rolling_disk", {{"turn", 0.0}, {"roll", part * critical}});
    loaded.start.q.setZero(), loaded.start.q(2) = 0.25;
    loaded.start.qd(0) = 0.25 * part * critical;
    const Linearisation l = linearised(loaded);
    ASSERT_EQ(l.refusal, "");
    EXPECT_EQ(l.at, Linearisation::At::steady);
    EXPECT_EQ(find_spectrum(l).is_stable(), part > 1.0);
  }
}

TEST(linearise, chain_of_masses_has_the_frequencies_of_the_closed_form) {
  const int N = 100;
  const Loaded loaded(expand(read_family_model_text(R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 100
[dynamics]
kinetic = "sum(i = 1..N, 2/2*x[i]'^2)"
potential = "4/2*x[1]^2 + 4/2*x[N]^2 + sum(i = 1..N-1, 4/2*(x[i+1] - x[i])^2)"
)toml",
                                                    "chain.toml")));
  const Spectrum spectrum = find_spectrum(linearised(loaded));
  EXPECT_TRUE(spectrum.symmetric);
  ASSERT_EQ(spectrum.eigenvalues.size(), 2u * N);
  for (int j = 1; j <= N; ++j) {
    const Eigenvalue& e = spectrum.eigenvalues[static_cast<std::size_t>(2 * j - 1)];
    const double expected = 2.0 * std::sqrt(2.0) * std::sin(j * std::numbers::pi / (2.0 * (N + 1)));
    EXPECT_EQ(e.value.real(), 0.0);
    EXPECT_NEAR(e.value.imag(), expected, 1e-13);
    EXPECT_LE(std::abs(e.value.imag() - expected), e.uncertainty + 1e-15);
    // sin(jπi/(N+1)) is its shape.
    const Eigen::VectorXcd shape = spectrum.shapes.col(2 * j - 1);
    const double first = std::sin(j * std::numbers::pi / (N + 1));
    for (const int i : {2, 37, 100})
      EXPECT_NEAR((shape(i - 1) / shape(0)).real(), std::sin(j * std::numbers::pi * i / (N + 1)) / first, 1e-8);
  }
}

/// A beam on two supports, of elements with cubic shapes: frequencies (nπ)² √(EI/ρA)/L² up to the fourth power of their length.
double beam_error(int elements, int mode) {
  const std::string N = std::to_string(elements);
  const Loaded loaded(expand(read_family_model_text(R"toml(
coordinates = ["w[0..N]", "r[0..N]"]
[parameters]
N = )toml" + N + R"toml(
h = "1/N"
[dynamics]
kinetic = "sum(i = 1..N, h/420*(78*w[i-1]'^2 + 78*w[i]'^2 + 54*w[i-1]'*w[i]' + 2*h^2*(r[i-1]'^2 + r[i]'^2) - 3*h^2*r[i-1]'*r[i]' + 22*h*(w[i-1]'*r[i-1]' - w[i]'*r[i]') + 13*h*(w[i]'*r[i-1]' - w[i-1]'*r[i]')))"
potential = "sum(i = 1..N, 2/h^3*(3*(w[i-1] - w[i])^2 + 3*h*(w[i-1] - w[i])*(r[i-1] + r[i]) + h^2*(r[i-1]^2 + r[i-1]*r[i] + r[i]^2)))"
[constraints]
left = "w[0] = 0"
right = "w[N] = 0"
)toml",
                                                    "beam.toml")));
  const Spectrum spectrum = find_spectrum(linearised(loaded));
  const double expected = std::pow(mode * std::numbers::pi, 2);
  return std::abs(spectrum.eigenvalues[static_cast<std::size_t>(2 * mode - 1)].value.imag() - expected) / expected;
}

TEST(linearise, beam_of_elements_converges_to_euler_and_bernoulli) {
  const double coarse = beam_error(8, 2), fine = beam_error(16, 2);
  EXPECT_LT(fine, 1e-4);
  EXPECT_NEAR(std::log2(coarse / fine), 4.0, 0.1);
}

/// A clamped chain of masses with a spring in each hinge, by the relative angles r of its links: M has a condition of N⁴ there.
/// In the masses' own places z, r_i = z_i − 2 z_{i−1} + z_{i−2}, it is the identity.
void expect_chain_of_hinges(int N, const std::string& more) {
  const Loaded loaded(expand(read_family_model_text(fmt::format(R"toml(
coordinates = ["r[1..N]"]
[parameters]
N = {}
[dynamics]
kinetic = "sum(i = 1..N, 1/2*sum(j = 1..i, (i - j + 1)*r[j]')^2)"
potential = "sum(i = 1..N, 1/2*r[i]^2){}"
)toml",
                                                                N, more),
                                                    "hinges.toml")));
  const Spectrum spectrum = find_spectrum(linearised(loaded));
  Eigen::MatrixXd D = Eigen::MatrixXd::Identity(N, N);
  for (int i = 0; i < N; ++i) {
    if (i > 0) D(i, i - 1) = -2.0;
    if (i > 1) D(i, i - 2) = 1.0;
  }
  Eigen::MatrixXd K = D.transpose() * D;
  if (!more.empty()) K(N - 1, N - 1) -= 1e-3;  // a load at the tip that pushes it away
  const Eigen::VectorXd kappa = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues();
  EXPECT_TRUE(spectrum.symmetric);
  ASSERT_EQ(spectrum.eigenvalues.size(), static_cast<std::size_t>(2 * N));
  // Those that grow and shrink are the first and the last.
  std::vector<double> found;
  for (const Eigenvalue& e : spectrum.eigenvalues) {
    if (e.value.imag() < 0.0 || e.value.real() < 0.0) continue;
    found.push_back(e.value.imag() > 0.0 ? std::pow(e.value.imag(), 2) : -std::pow(e.value.real(), 2));
    const double expected = (kappa.array() - found.back()).abs().minCoeff();
    EXPECT_LE(expected, 2.0 * std::abs(e.value) * e.uncertainty + 1e-14) << found.back();
  }
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found.size(), static_cast<std::size_t>(N));
  for (int k = 0; k < N; ++k)
    EXPECT_NEAR(std::abs(found[static_cast<std::size_t>(k)]), std::abs(kappa(k)), 1e-7 * std::abs(kappa(k)) + 1e-13)
        << "N = " << N << ", mode " << k;
}

TEST(linearise, lowest_modes_of_long_chains_in_relative_angles_have_their_digits) {
  expect_chain_of_hinges(40, "");
  expect_chain_of_hinges(70, "");
  expect_chain_of_hinges(70, " - 1e-3/2*sum(j = 1..N, (N - j + 1)*r[j])^2");
}

TEST(linearise, zero_eigenvalues_are_zero_and_meeting_ones_say_how_uncertain_they_are) {
  const Loaded free(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2 + x'*y')/2"
)toml");
  for (const Eigenvalue& e : find_spectrum(linearised(free)).eigenvalues) EXPECT_EQ(e.value, 0.0);
  // Critically damped: −1 twice, defective.
  const Loaded critical = line("-x - 2*x'", "position = { x = 0 }");
  for (const Eigenvalue& e : find_spectrum(linearised(critical)).eigenvalues) {
    EXPECT_LE(std::abs(e.value + 1.0), e.uncertainty);
    EXPECT_LT(e.uncertainty, 1e-6);
  }
}

TEST(linearise, transfer_functions_of_two_masses_are_those_of_the_closed_form) {
  const Loaded loaded(R"toml(
coordinates = ["x", "y"]
[parameters]
F = 0.0
twice = "2*F"
k = 3.0
[dynamics]
kinetic = "(x'^2 + 2*y'^2)/2"
potential = "k/2*(x - y)^2"
force = { x = "twice" }
[outputs]
gap = "x - y"
pull = "k*(x - y) + x''"
)toml");
  const Linearisation l = linearised(loaded, {.inputs = {"F"}, .outputs = {"x", "gap", "y'", "pull"}});
  ASSERT_EQ(l.refusal, "");
  const auto transfers = find_transfer_functions(l);
  ASSERT_EQ(transfers.size(), 4u);
  // x: 2 (s² + k/2)/(s² (s² + 3k/2))
  EXPECT_NEAR(transfers[0].gain, 2.0, 1e-14);
  ASSERT_EQ(transfers[0].zeros.size(), 2u);
  EXPECT_NEAR(std::abs(transfers[0].zeros[1].value), std::sqrt(1.5), 1e-12);
  ASSERT_EQ(transfers[0].poles.size(), 4u);
  EXPECT_TRUE(std::isinf(transfers[0].at_zero));
  // x - y: 2/(s² + 3k/2), since it does not see where both are.
  EXPECT_NEAR(transfers[1].gain, 2.0, 1e-14);
  EXPECT_TRUE(transfers[1].zeros.empty());
  ASSERT_EQ(transfers[1].poles.size(), 2u);
  EXPECT_NEAR(std::abs(transfers[1].poles[0].value), std::sqrt(4.5), 1e-12);
  EXPECT_NEAR(transfers[1].at_zero, 2.0 / 4.5, 1e-13);
  // y': k/(s (s² + 3k/2))
  EXPECT_NEAR(transfers[2].gain, 3.0, 1e-13);
  EXPECT_TRUE(transfers[2].zeros.empty());
  EXPECT_EQ(transfers[2].poles.size(), 3u);
  EXPECT_TRUE(std::isinf(transfers[2].at_zero));
  // pull = 2F whatever happens: D and nothing else.
  EXPECT_NEAR(l.D(3, 0), 2.0, 1e-14);
  EXPECT_LT(l.C.row(3).norm(), 1e-13);
}

TEST(linearise, equal_pairs_come_one_after_the_other) {
  const Loaded plane(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "300*(x^2 + y^2)"
)toml");
  const Spectrum s = find_spectrum(linearised(plane));
  ASSERT_EQ(s.eigenvalues.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(s.eigenvalues[k].value.imag(), (k % 2 ? 1.0 : -1.0) * std::sqrt(600.0), 1e-12);
    // A mode and its conjugate.
    if (k % 2) {
      EXPECT_LT(
          (s.shapes.col(static_cast<Eigen::Index>(k)).conjugate() - s.shapes.col(static_cast<Eigen::Index>(k) - 1))
              .norm(),
          1e-12);
    }
  }
}

TEST(linearise, poles_that_nothing_goes_through_are_no_poles_of_transfer_functions) {
  // Three systems in states that are mixed: one that goes through, one that the input does not reach, one that the output does not see.
  std::mt19937_64 random(20);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const auto any = [&](Eigen::Index rows, Eigen::Index cols) {
      Eigen::MatrixXd x(rows, cols);
      for (double& entry : x.reshaped()) entry = normal(random);
      return x;
    };
    const Eigen::MatrixXd through = any(3, 3), b = any(3, 1), c = any(1, 3);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(7, 7), B = Eigen::MatrixXd::Zero(7, 1), C = Eigen::MatrixXd::Zero(1, 7);
    A.topLeftCorner(3, 3) = through;
    A.block(3, 3, 2, 2) = any(2, 2), A.block(0, 3, 3, 2) = any(3, 2);  // acts, and is not reached
    A.block(5, 5, 2, 2) = any(2, 2), A.block(5, 0, 2, 3) = any(2, 3);  // is reached, and is not seen
    if (trial % 2) A.block(5, 5, 2, 2) << 0, 1, 0, 0;                  // counts up for ever
    B.topRows(3) = b, C.leftCols(3) = c;
    if (trial % 3) B.bottomRows(2) = any(2, 1), C.middleCols(3, 2) = any(1, 2);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(any(7, 7));
    const Eigen::MatrixXd mix = qr.householderQ(), AM = A * mix;
    Linearisation l;
    l.A = mix.transpose() * AM, l.B = mix.transpose() * B, l.C = C * mix, l.D = Eigen::MatrixXd::Zero(1, 1);
    l.A_noise = Eigen::MatrixXd::Constant(7, 7, 1e-15);
    const TransferFunction got = find_transfer_functions(l)[0];
    ASSERT_EQ(got.poles.size(), 3u);
    const double at_zero = -(c * through.partialPivLu().solve(b))(0);
    EXPECT_NEAR(got.at_zero, at_zero, 1e-8 * (1.0 + std::abs(at_zero)));
    std::complex<double> product = 1.0;
    for (const Eigenvalue& p : got.poles) product *= p.value;
    EXPECT_NEAR(product.real(), through.determinant(), 1e-8 * (1.0 + std::abs(through.determinant())));
    // G at a point, by its zeros and poles.
    const std::complex<double> s(0.7, 1.3);
    std::complex<double> value = got.gain;
    for (const Eigenvalue& z : got.zeros) value *= s - z.value;
    for (const Eigenvalue& p : got.poles) value /= s - p.value;
    const Eigen::MatrixXcd of_s = s * Eigen::MatrixXcd::Identity(3, 3) - through.cast<std::complex<double>>();
    const std::complex<double> want =
        (c.cast<std::complex<double>>() * of_s.partialPivLu().solve(b.cast<std::complex<double>>()))(0);
    EXPECT_LT(std::abs(value - want), 1e-7 * (1.0 + std::abs(want)));
  }
}

TEST(linearise, states_of_first_order_have_no_velocity_and_take_inputs) {
  const Loaded motor(R"toml(
coordinates = ["phi", "i"]
[parameters]
U = 12.0
[dynamics]
kinetic = "0.01/2*phi'^2"
potential = "3*phi^2/2"
force = { phi = "0.1*i - 0.001*phi'" }
[constraints]
current = "0.05*i' = U - 2*i - 0.1*phi'"
[start]
velocity = { i = 240 }
)toml");
  const Linearisation l = linearised(motor, {.inputs = {"U"}, .outputs = {"phi"}});
  ASSERT_EQ(l.refusal, "");
  EXPECT_EQ(l.states, (std::vector<std::string>{"phi", "i", "phi'"}));
  Eigen::MatrixXd A(3, 3), B(3, 1);
  A << 0, 0, 1, 0, -40, -2, -300, 10, -0.1;
  B << 0, 20, 0;
  EXPECT_LT((l.A - A).norm(), 1e-11);
  EXPECT_LT((l.B - B).norm(), 1e-12);
  EXPECT_NEAR(find_transfer_functions(l)[0].gain, 200.0, 1e-10);
}

TEST(linearise, refuses_by_name) {
  const Loaded moved(R"toml(
coordinates = ["x", "y"]
[parameters]
L = 1.0
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { y = -1.0 }
)toml");
  EXPECT_NE(linearised(moved, {.inputs = {"L"}}).refusal.find("the input `L` moves the constraint `rod`"),
            std::string::npos);
  EXPECT_THROW(Lineariser(moved.system, {.inputs = {"l"}}), std::invalid_argument);
  EXPECT_THROW(Lineariser(moved.system, {.inputs = {}, .outputs = {"z"}}), std::invalid_argument);
  EXPECT_NE(linearised(moved, {.inputs = {}, .outputs = {}, .states = {"y"}}).refusal.find("`y`"), std::string::npos);
  // Four equal bars, flat: two branches meet.
  const Loaded flat(R"toml(
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a'^2 + b'^2 + c'^2)/2"
[constraints]
across = "cos(a) + cos(b) - cos(c) = 1"
up = "sin(a) + sin(b) - sin(c) = 0"
)toml");
  EXPECT_NE(linearised(flat).refusal.find("singular configuration"), std::string::npos);
}

TEST(linearise, contacts_that_hold_are_equations) {
  const Loaded loaded(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y + 2*x^2"
[constraints]
floor = "y >= x^2"
)toml");
  const Linearisation l = linearised(loaded);
  ASSERT_EQ(l.refusal, "");
  ASSERT_EQ(l.states.size(), 2u);
  EXPECT_NEAR(find_spectrum(l).eigenvalues[1].value.imag(), std::sqrt(4.0 + 2.0 * 9.81), 1e-12);
  EXPECT_FALSE(l.notes.empty());
}

TEST(floquet, kapitzas_pendulum_has_the_multipliers_of_hills_equation) {
  for (const double w : {150.0, 60.0}) {
    Loaded loaded = load_model("kapitza_pendulum", {{"theta0", 0.0}, {"w", w}});
    Lineariser lineariser(loaded.system);
    const double T = 2.0 * std::numbers::pi / w;
    const Floquet found = find_multipliers(lineariser, loaded.start, {.period = T, .tolerance = 1e-12});
    ASSERT_EQ(found.refusal, "");
    // δ'' = (g − a w² cos(w t))/L δ from the upright, by a method of its own.
    const auto rate = [&](double t) { return (9.81 - 0.03 * w * w * std::cos(w * t)) / 0.2; };
    double trace = 0.0;
    for (const int which : {0, 1}) {
      double x = which == 0, v = which == 1;
      const int steps = 4000;
      const double h = T / steps;
      for (int k = 0; k < steps; ++k) {
        const double t = k * h, r0 = rate(t), r1 = rate(t + h / 2), r2 = rate(t + h);
        const double k1x = v, k1v = r0 * x, k2x = v + h / 2 * k1v, k2v = r1 * (x + h / 2 * k1x), k3x = v + h / 2 * k2v,
                     k3v = r1 * (x + h / 2 * k2x), k4x = v + h * k3v, k4v = r2 * (x + h * k3x);
        x += h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x), v += h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v);
      }
      trace += which == 0 ? x : v;
    }
    const auto& m = found.multipliers.eigenvalues;
    ASSERT_EQ(m.size(), 2u);
    EXPECT_NEAR((m[0].value + m[1].value).real(), trace, 1e-9);
    EXPECT_NEAR(std::abs(m[0].value * m[1].value), 1.0, 1e-9);
    EXPECT_EQ(found.verdict(), w == 150.0 ? Floquet::Verdict::stable : Floquet::Verdict::unstable);
  }
}

TEST(floquet, a_motion_that_does_not_come_back_has_none) {
  const Loaded loaded = load_model("pendulum");
  Lineariser lineariser(loaded.system);
  EXPECT_NE(find_multipliers(lineariser, loaded.start, {.period = 0.7}).refusal.find("does not have the period"),
            std::string::npos);
}

TEST(floquet, an_orbit_has_a_multiplier_of_one) {
  // A bead in a quartic well: every motion is periodic, and deviations along it neither grow nor shrink.
  const Loaded loaded = line("-x^3", "position = { x = 1 }");
  Lineariser lineariser(loaded.system);
  const double T = 7.4162987092054876737;  // 4√2 ∫₀¹ dx/√(1 − x⁴)
  const Floquet found = find_multipliers(lineariser, loaded.start, {.period = T, .tolerance = 1e-12});
  ASSERT_EQ(found.refusal, "");
  EXPECT_NEAR((found.monodromy.trace()), 2.0, 1e-8);
  EXPECT_NEAR(found.monodromy.determinant(), 1.0, 1e-8);
}

TEST(floquet, conservative_motions_have_a_double_multiplier_one_that_digits_do_not_decide) {
  // A pendulum that swings by 1.2: the period of the closed form, 4/√g K(sin 0.6). Rounding of 1e-14 moves both multipliers by 1e-7.
  const double T = 4.0 / std::sqrt(9.81) * std::comp_ellint_1(std::sin(0.6));
  for (const char* start : {"position = { x = 1.2 }", "position = { x = 0 }\nvelocity = { x = VELOCITY }"}) {
    std::string text = start;
    if (const auto at = text.find("VELOCITY"); at != std::string::npos)
      text.replace(at, 8, fmt::format("{:.17g}", std::sqrt(2.0 * 9.81 * (1.0 - std::cos(1.2)))));
    for (const double tolerance : {1e-13, 1e-12, 1e-10, 1e-8}) {
      const Loaded loaded = line("-9.81*sin(x)", text.c_str());
      Lineariser lineariser(loaded.system);
      const Floquet found = find_multipliers(lineariser, loaded.start, {.period = T, .tolerance = tolerance});
      ASSERT_EQ(found.refusal, "");
      EXPECT_EQ(found.verdict(), Floquet::Verdict::undecided) << text << tolerance;
      for (const Eigenvalue& e : found.multipliers.eigenvalues)
        EXPECT_LE(std::abs(e.value - 1.0), e.uncertainty) << text << tolerance;
    }
  }
  // With a little negative damping it is unstable however near to 1: det X = exp(−∫ trace), exactly, for a rest that is kicked.
  const Loaded grows = line("-9.81*x + 0.001*x'", "position = { x = 0 }");
  Lineariser lineariser(grows.system);
  const Floquet found = find_multipliers(lineariser, grows.start, {.period = 0.7, .tolerance = 1e-12});
  ASSERT_EQ(found.refusal, "");
  EXPECT_EQ(found.verdict(), Floquet::Verdict::unstable);
  EXPECT_NEAR(found.largest(), std::exp(0.00035), 1e-11);
}

TEST(floquet, a_limit_cycle_has_one_multiplier_one_and_is_stable) {
  // In polar coordinates r' = r (1 − r²)/2 …: x'' = −x + (1 − x² − x'²) x' runs round the unit circle in 2π; the other multiplier is
  // exp(−∫ 2 x'² dt) = exp(−2π).
  const Loaded loaded = line("-x + (1 - x^2 - x'^2)*x'", "position = { x = 1 }\nvelocity = { x = 0 }");
  Lineariser lineariser(loaded.system);
  const Floquet found = find_multipliers(lineariser, loaded.start, {.period = 2.0 * std::numbers::pi});
  ASSERT_EQ(found.refusal, "");
  EXPECT_EQ(found.verdict(), Floquet::Verdict::stable);
  ASSERT_EQ(found.multipliers.eigenvalues.size(), 2u);
  EXPECT_NEAR(found.multipliers.eigenvalues[0].value.real(), 1.0, 1e-8);
  EXPECT_NEAR(found.multipliers.eigenvalues[1].value.real(), std::exp(-2.0 * std::numbers::pi), 1e-8);
}

TEST(floquet, what_is_driven_wholly_has_no_multipliers_and_says_so) {
  const Loaded loaded(R"x(coordinates = ["a"]
[dynamics]
kinetic = "0.5*a'^2"
[constraints]
drive = "a = sin(2*pi*t)"
[start]
velocity = { a = "2*pi" }
)x");
  Lineariser lineariser(loaded.system);
  EXPECT_NE(find_multipliers(lineariser, loaded.start, {.period = 1.0}).refusal.find("nothing can deviate"),
            std::string::npos);
}

TEST(floquet, where_derivatives_have_no_bound_they_are_refused) {
  // The ladder lies flat at t = 0.708: branches meet there.
  const Loaded loaded = load_model("ladder_2");
  Lineariser lineariser(loaded.system);
  EXPECT_NE(find_multipliers(lineariser, loaded.start, {.period = 1.0}).refusal.find("singular"), std::string::npos);
}

}  // namespace
}  // namespace mechanician
