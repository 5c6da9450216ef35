#include "mechanician/equations/closed_form.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

std::vector<int> all_rows(const Equations& eqs) {
  std::vector<int> rows;
  for (int r = 0; r < eqs.m(); ++r) rows.push_back(r);
  return rows;
}

std::vector<std::string> texts(const std::vector<Expr>& fs) {
  std::vector<std::string> list;
  for (const Expr& f : fs) list.push_back(to_text(f));
  return list;
}

using Texts = std::vector<std::string>;

/// A Cartesian particle: coordinates x, y, …, mass m.
struct Particle {
  Model model;
  std::vector<Expr> q;
  Expr m = 1;
  Particle(const std::vector<std::string>& names, std::optional<double> mass) {
    for (const auto& name : names) q.push_back(model.add_coordinate(name));
    if (mass) m = model.add_parameter("m", *mass);
    Expr sum = pow(dot(q[0]), 2);
    for (std::size_t i = 1; i < q.size(); ++i) sum = sum + pow(dot(q[i]), 2);
    model.kinetic = m / 2 * sum;
  }
};

using Matrix = std::vector<std::vector<long double>>;

/// A basis of N(A), by elimination with complete pivoting; A is m×n.
Matrix null_space(Matrix A, std::size_t n) {
  std::vector<std::size_t> columns(n);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::size_t rank = 0;
  long double largest = 0;
  for (; rank < A.size() && rank < n; ++rank) {
    std::size_t pr = rank, pc = rank;
    for (std::size_t i = rank; i < A.size(); ++i)
      for (std::size_t j = rank; j < n; ++j)
        if (std::abs(A[i][columns[j]]) > std::abs(A[pr][columns[pc]])) pr = i, pc = j;
    largest = std::max(largest, std::abs(A[pr][columns[pc]]));
    if (std::abs(A[pr][columns[pc]]) <= 1e-14L * largest) break;
    std::swap(A[rank], A[pr]);
    std::swap(columns[rank], columns[pc]);
    for (std::size_t i = 0; i < A.size(); ++i) {
      if (i == rank) continue;
      const long double factor = A[i][columns[rank]] / A[rank][columns[rank]];
      for (std::size_t j = 0; j < n; ++j) A[i][j] -= factor * A[rank][j];
    }
  }
  Matrix basis;
  for (std::size_t f = rank; f < n; ++f) {
    std::vector<long double> v(n, 0.0L);
    v[columns[f]] = 1;
    for (std::size_t i = 0; i < rank; ++i) v[columns[i]] = -A[i][columns[f]] / A[i][columns[i]];
    basis.push_back(v);
  }
  return basis;
}

/// The laws that determine q̈ and Qᶜ, at random values: A q̈ = b for every row, also those left out; vᵀ(M q̈ − Q) = vᵀC
/// for every v in N(A); M q̈ = Q + Qᶜ + Q_control.
void expect_obeys_the_laws(const Equations& eqs, const ClosedForm& form, unsigned seed,
                           const std::vector<Replacement>& on_manifold = {}) {
  const auto n = static_cast<std::size_t>(eqs.n()), m = static_cast<std::size_t>(eqs.m());
  std::vector<Expr> outputs;
  for (int i = 0; i < eqs.n(); ++i)
    for (int j = 0; j < eqs.n(); ++j) outputs.push_back(eqs.M.at(i, j));
  for (int r = 0; r < eqs.m(); ++r)
    for (int j = 0; j < eqs.n(); ++j) outputs.push_back(eqs.A.at(r, j));
  const std::vector<Expr> no_control(n, Expr(0));
  for (const auto* part :
       {&eqs.Q, &eqs.C, &form.qdd, &form.Qc, form.Q_control.empty() ? &no_control : &form.Q_control, &eqs.b})
    outputs.insert(outputs.end(), part->begin(), part->end());
  outputs = substitute(outputs, on_manifold);
  const std::vector<Expr> inputs = symbols_of(outputs);
  const Tape tape(outputs, inputs);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
    std::vector<long double> at;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      at.push_back(static_cast<long double>(std::uniform_real_distribution<double>(0.2, 1.8)(random)));
    const std::vector<long double> v = tape.operator()<long double>(at);
    const auto M = [&](std::size_t i, std::size_t j) { return v[i * n + j]; };
    Matrix A;
    for (std::size_t r = 0; r < m; ++r) A.emplace_back(&v[n * n + r * n], &v[n * n + r * n] + n);
    const long double *Q = &v[n * n + m * n], *C = Q + n, *qdd = C + n, *Qc = qdd + n, *control = Qc + n,
                      *b = control + n;
    // Terms of every sum, for the tolerance; accelerations themselves are as good as their condition, here below 10⁶.
    long double scale = 1;
    for (const long double value : v) scale = std::max(scale, std::abs(value));
    const auto tolerance = static_cast<double>(1e6L * 1.1e-19L * scale * scale);

    std::vector<long double> surplus(n);  // M q̈ − Q
    for (std::size_t i = 0; i < n; ++i) {
      surplus[i] = -Q[i];
      for (std::size_t j = 0; j < n; ++j) surplus[i] += M(i, j) * qdd[j];
      EXPECT_NEAR(static_cast<double>(surplus[i] - Qc[i] - control[i]), 0, tolerance);
    }
    for (std::size_t r = 0; r < m; ++r) {
      long double sum = -b[r];
      for (std::size_t j = 0; j < n; ++j) sum += A[r][j] * qdd[j];
      EXPECT_NEAR(static_cast<double>(sum), 0, tolerance) << eqs.rows[r].name;
    }
    for (const auto& direction : null_space(A, n)) {
      long double work = 0;
      for (std::size_t i = 0; i < n; ++i) work += direction[i] * (surplus[i] - C[i]);
      EXPECT_NEAR(static_cast<double>(work), 0, tolerance);
    }
  }
}

TEST(ClosedForm, IsEquation38OfK93) {
  Particle particle({"x", "y", "z"}, std::nullopt);
  const Expr x = particle.q[0], y = particle.q[1], z = particle.q[2];
  particle.model.add_constraint("slide", dot(y), z * dot(x));
  const Equations eqs = derive(particle.model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  const Expr factor = dot(z) * dot(x) / (1 + pow(z, 2));
  EXPECT_TRUE(proves_zero(form->qdd[0] - factor * -z));
  EXPECT_TRUE(proves_zero(form->qdd[1] - factor));
  EXPECT_TRUE(form->qdd[2].is_zero());
  EXPECT_EQ(texts(form->qdd), (Texts{"-z*x'*z'/(1 + z^2)", "x'*z'/(1 + z^2)", "0"}));
  EXPECT_EQ(to_text(form->determinant), "1 + z^2");
  expect_obeys_the_laws(eqs, *form, 1);
}

TEST(ClosedForm, IsEquations41And42OfK93) {
  Particle particle({"x", "y"}, 2.0);
  Model& model = particle.model;
  const Expr x = particle.q[0], y = particle.q[1], m = particle.m, t = time_symbol();
  const Expr alpha = model.add_unknown("alpha", {t});
  const Expr X = model.add_unknown("X", {t, x, y}), Y = model.add_unknown("Y", {t, x, y});
  model.add_force(x, X);
  model.add_force(y, Y);
  model.add_constraint("guide", dot(x) - t * dot(y), alpha);
  const Equations eqs = derive(model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  const Expr s = 1 + pow(t, 2), drive = m * (dot(y) + unknown_derivative(alpha, t));
  EXPECT_TRUE(proves_zero(s * m * form->qdd[0] - (pow(t, 2) * X + t * Y + drive)));
  EXPECT_TRUE(proves_zero(s * m * form->qdd[1] - (t * X + Y - t * drive)));
  EXPECT_TRUE(proves_zero(form->Qc[0] - (-(X - t * Y) / s + drive / s)));
  EXPECT_TRUE(proves_zero(form->Qc[1] - (-(pow(t, 2) * Y - t * X) / s - t * drive / s)));
  EXPECT_EQ(texts(form->qdd),
            (Texts{"(t^2*X + t*Y + m*(y' + alpha'))/(m*(1 + t^2))", "(t*X + Y - m*t*(y' + alpha'))/(m*(1 + t^2))"}));
  EXPECT_EQ(texts(form->Qc),
            (Texts{"(t*Y + m*(y' + alpha') - X)/(1 + t^2)", "t*(X - t*Y - m*(y' + alpha'))/(1 + t^2)"}));
  expect_obeys_the_laws(eqs, *form, 2);
}

TEST(ClosedForm, OfAPendulum) {
  Particle particle({"x", "y"}, 2.0);
  const Expr x = particle.q[0], y = particle.q[1], m = particle.m;
  const Expr g = particle.model.add_parameter("g", 9.81), L = particle.model.add_parameter("L", 1.0);
  particle.model.potential = m * g * y;
  particle.model.add_constraint("rod", x * x + y * y, L * L);
  const Equations eqs = derive(particle.model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  EXPECT_EQ(texts(form->qdd), (Texts{"x*(g*y - x'^2 - y'^2)/(x^2 + y^2)", "-(y*(x'^2 + y'^2) + g*x^2)/(x^2 + y^2)"}));
  EXPECT_EQ(texts(form->Qc), (Texts{"m*x*(g*y - x'^2 - y'^2)/(x^2 + y^2)", "m*y*(g*y - x'^2 - y'^2)/(x^2 + y^2)"}));
  EXPECT_EQ(to_text(form->determinant), "4*m*(x^2 + y^2)");
  expect_obeys_the_laws(eqs, *form, 3);
}

TEST(ClosedForm, OfASphericalPendulum) {
  Particle particle({"x", "y", "z"}, 2.0);
  const Expr x = particle.q[0], y = particle.q[1], z = particle.q[2];
  const Expr g = particle.model.add_parameter("g", 9.81), L = particle.model.add_parameter("L", 1.0);
  particle.model.potential = particle.m * g * z;
  particle.model.add_constraint("rod", sqrt(x * x + y * y + z * z), L);
  const Equations eqs = derive(particle.model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  EXPECT_EQ(to_text(form->determinant), "m^2");
  expect_obeys_the_laws(eqs, *form, 4);
}

TEST(ClosedForm, OfAnAngleIsThatOfTheUnconstrainedSystem) {
  Model model;
  const Expr theta = model.add_coordinate("theta"), x = model.add_coordinate("x");
  const Expr M = model.add_parameter("M", 3.0), m = model.add_parameter("m", 1.0), L = model.add_parameter("L", 0.5),
             g = model.add_parameter("g", 9.81);
  model.kinetic =
      (M + m) / 2 * pow(dot(x), 2) + m * L * dot(x) * dot(theta) * cos(theta) + m * L * L / 2 * pow(dot(theta), 2);
  model.potential = -m * g * L * cos(theta);
  const Equations eqs = derive(model);
  const auto form = closed_form(eqs, {});
  ASSERT_TRUE(form);
  EXPECT_EQ(texts(form->qdd), (Texts{"-sin(theta)*(g*(M + m) + m*L*theta'^2*cos(theta))/(L*(M + m*sin(theta)^2))",
                                     "m*sin(theta)*(L*theta'^2 + g*cos(theta))/(M + m*sin(theta)^2)"}));
  EXPECT_TRUE(form->Qc[0].is_zero());
  expect_obeys_the_laws(eqs, *form, 5);
}

TEST(ClosedForm, OfTheChaplyginSleigh) {
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y"), theta = model.add_coordinate("theta");
  const Expr m = model.add_parameter("m", 1.0), J = model.add_parameter("J", 0.3), a = model.add_parameter("a", 0.2);
  // x, y: the centre of mass, a in front of the blade.
  model.kinetic = m / 2 * (pow(dot(x), 2) + pow(dot(y), 2)) + J / 2 * pow(dot(theta), 2);
  model.add_constraint("blade", dot(y) * cos(theta) - dot(x) * sin(theta), a * dot(theta));
  const Equations eqs = derive(model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  EXPECT_EQ(to_text(form->qdd[2]), "-m*a*theta'*(x'*cos(theta) + y'*sin(theta))/(J + m*a^2)");
  expect_obeys_the_laws(eqs, *form, 6);
}

TEST(ClosedForm, OfAWheelWithAMasslessCoordinate) {
  // The hub x carries the mass, the angle none: M is singular, the acceleration is unique.
  Model model;
  const Expr x = model.add_coordinate("x"), phi = model.add_coordinate("phi");
  const Expr m = model.add_parameter("m", 1.0), R = model.add_parameter("R", 0.5);
  const Expr F = model.add_unknown("F", {time_symbol()});
  model.kinetic = m / 2 * pow(dot(x), 2);
  model.add_force(x, F);
  model.add_constraint("roll", dot(x), R * dot(phi));
  const Equations eqs = derive(model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  EXPECT_EQ(texts(form->qdd), (Texts{"F/m", "F/(m*R)"}));
  EXPECT_EQ(texts(form->Qc), (Texts{"0", "0"}));
  expect_obeys_the_laws(eqs, *form, 7);
}

TEST(ClosedForm, IsNotGivenWhereTheAccelerationIsNotUnique) {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.add_coordinate("free");
  model.kinetic = pow(dot(x), 2) / 2;
  const Equations eqs = derive(model);
  EXPECT_FALSE(closed_form(eqs, {}));
}

TEST(ClosedForm, UsesTheIndependentRowsAndNamesTheOthers) {
  Particle particle({"x", "y"}, 2.0);
  const Expr x = particle.q[0], y = particle.q[1];
  particle.model.add_force(x, Expr(1));
  particle.model.add_constraint("line", x + y, 1);
  particle.model.add_constraint("again", 2 * x + 2 * y, 2);
  const Equations eqs = derive(particle.model);
  const std::vector<int> rows{0};
  const auto form = closed_form(eqs, rows);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->left_out, std::vector<int>{1});
  EXPECT_EQ(texts(form->qdd), (Texts{"1/(2*m)", "-1/(2*m)"}));
  ASSERT_EQ(form->notes.size(), 1u);
  EXPECT_NE(form->notes[0].find("again"), std::string::npos);
  expect_obeys_the_laws(eqs, *form, 8);
  EXPECT_FALSE(closed_form(eqs, all_rows(eqs))) << "dependent rows have a zero determinant";
}

TEST(ClosedForm, IsNotGivenWhereRowsContradict) {
  Particle particle({"x", "y"}, 2.0);
  const Expr x = particle.q[0];
  particle.model.add_constraint("slow", ddot(x), Expr(1));
  particle.model.add_constraint("fast", ddot(x), Expr(1.25));
  const Equations eqs = derive(particle.model);
  EXPECT_FALSE(closed_form(eqs, std::vector<int>{0}));
}

TEST(ClosedForm, OfThreeParallelRodsHoldsOnTheConstraints) {
  // A platform at x, y with angle theta on three equal parallel rods. On the motion theta = 0 and the third row depends
  // on the first two; off it, the three are independent.
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y"), theta = model.add_coordinate("theta");
  const Expr m = model.add_parameter("m", 1.0), J = model.add_parameter("J", 0.3), g = model.add_parameter("g", 9.81),
             L = model.add_parameter("L", 1.0);
  model.kinetic = m / 2 * (pow(dot(x), 2) + pow(dot(y), 2)) + J / 2 * pow(dot(theta), 2);
  model.potential = m * g * y;
  int number = 0;
  for (const double at : {-1.0, 0.0, 2.0})
    model.add_constraint("rod" + std::to_string(++number),
                         pow(x + at * cos(theta) - at, 2) + pow(y + at * sin(theta), 2), L * L);
  const Equations eqs = derive(model);
  const auto form =
      closed_form(eqs, std::vector<int>{0, 1}, {.max_size = 1e6, .max_terms = 5000, .max_work = 20'000'000});
  ASSERT_TRUE(form);
  ASSERT_EQ(form->notes.size(), 2u);
  EXPECT_NE(form->notes[1].find("only where the constraints are satisfied"), std::string::npos);
  expect_obeys_the_laws(eqs, *form, 9, {{theta, 0}, {dot(theta), 0}});
}

TEST(ClosedForm, WithPrescribedWorkGivesTheIdealForceToo) {
  Particle particle({"x", "y"}, 2.0);
  const Expr x = particle.q[0], y = particle.q[1], m = particle.m;
  const Expr g = particle.model.add_parameter("g", 9.81), mu = particle.model.add_parameter("mu", 0.1);
  particle.model.potential = m * g * y;
  particle.model.add_constraint("floor", y, Expr(0));
  particle.model.add_nonideal(x, -mu * make_symbol(SymbolKind::ideal_force, "y") * sign(dot(x)));
  const Equations eqs = derive(particle.model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  EXPECT_EQ(texts(form->Qc_ideal), (Texts{"0", "m*g"}));
  EXPECT_EQ(texts(form->qdd), (Texts{"-mu*ideal(y)*sign(x')/m", "0"}));
  ASSERT_EQ(form->notes.size(), 1u);
  EXPECT_NE(form->notes[0].find("ideal()"), std::string::npos);
  expect_obeys_the_laws(eqs, *form, 10);
}

TEST(ClosedForm, SplitsControlFromConstraint) {
  // On the line y = 0 a control asks for x'' = −x: its force is all along x.
  Particle particle({"x", "y"}, 2.0);
  const Expr x = particle.q[0], y = particle.q[1], m = particle.m;
  const Expr g = particle.model.add_parameter("g", 9.81);
  particle.model.add_force(y, -m * g);
  particle.model.add_constraint("line", y, Expr(0));
  particle.model.add_control("swing", ddot(x), -x);
  const Equations eqs = derive(particle.model);
  const auto form = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(form);
  EXPECT_EQ(texts(form->qdd), (Texts{"-x", "0"}));
  EXPECT_EQ(texts(form->Qc), (Texts{"0", "m*g"}));
  EXPECT_EQ(texts(form->Q_control), (Texts{"-m*x", "0"}));
}

TEST(ClosedForm, OfDecoupledParts) {
  Model model;
  const Expr a = model.add_coordinate("a"), b = model.add_coordinate("b"), c = model.add_coordinate("c");
  const Expr k = model.add_parameter("k", 2.0);
  model.kinetic = pow(dot(a), 2) / 2 + pow(dot(b), 2) + pow(dot(c), 2) / 2 * (1 + a * a);
  model.potential = k / 2 * b * b;
  const Equations eqs = derive(model);
  const auto form = closed_form(eqs, {});
  ASSERT_TRUE(form);
  EXPECT_EQ(texts(form->qdd), (Texts{"a*c'^2", "-k*b/2", "-2*a*a'*c'/(1 + a^2)"}));
  EXPECT_EQ(to_text(form->determinant), "2*(1 + a^2)");
  expect_obeys_the_laws(eqs, *form, 11);
}

TEST(ClosedForm, WritesAForceThatIsTooLongWithTheAccelerations) {
  Particle particle({"x", "y"}, 2.0);
  const Expr x = particle.q[0], y = particle.q[1], m = particle.m;
  const Expr g = particle.model.add_parameter("g", 9.81);
  particle.model.potential = m * g * y;
  particle.model.add_constraint("curve", y, x * x);
  const Equations eqs = derive(particle.model);
  const auto whole = closed_form(eqs, all_rows(eqs));
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->notes.empty());
  double longest_acceleration = 0, longest_force = 0;
  for (const Expr& e : whole->qdd) longest_acceleration = std::max(longest_acceleration, tree_size(e));
  for (const Expr& e : whole->Qc) longest_force = std::max(longest_force, tree_size(e));
  ASSERT_GT(longest_force, longest_acceleration);
  const auto brief = closed_form(eqs, all_rows(eqs), {.max_size = longest_acceleration});
  ASSERT_TRUE(brief);
  EXPECT_EQ(texts(brief->Qc), (Texts{"m*x''", "m*(g + y'')"}));
  ASSERT_EQ(brief->notes.size(), 1u);
  const std::vector<Replacement> accelerations{{ddot(x), brief->qdd[0]}, {ddot(y), brief->qdd[1]}};
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(proves_zero(substitute(brief->Qc[i], accelerations) - whole->Qc[i]));
}

TEST(ClosedForm, OfATriplePendulumInCartesianCoordinatesIsTooLargeToRead) {
  Model model;
  std::vector<Expr> q;
  for (const char* name : {"x1", "y1", "x2", "y2", "x3", "y3"}) q.push_back(model.add_coordinate(name));
  Expr T = 0;
  for (std::size_t i = 0; i < q.size(); ++i)
    T = T + model.add_parameter("m" + std::to_string(i), 1.0) / 2 * pow(dot(q[i]), 2);
  model.kinetic = T;
  model.add_constraint("rod1", q[0] * q[0] + q[1] * q[1], Expr(1));
  model.add_constraint("rod2", pow(q[2] - q[0], 2) + pow(q[3] - q[1], 2), Expr(1));
  model.add_constraint("rod3", pow(q[4] - q[2], 2) + pow(q[5] - q[3], 2), Expr(1));
  const Equations eqs = derive(model);
  EXPECT_FALSE(closed_form(eqs, all_rows(eqs)));
  EXPECT_FALSE(closed_form(eqs, std::vector<int>{0, 1, 2}, {.max_rows = 2}));
}

}  // namespace
}  // namespace mechanician
