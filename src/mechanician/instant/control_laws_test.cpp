// The laws of control on many random systems, against dense programmes that are solved another way: all unknowns at once, q̈, multipliers
// and efforts, in extended precision, by elimination with complete pivoting. No N, no square roots, no singular values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/control.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

struct Random {
  std::mt19937_64 random;
  double real(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); }
  int whole(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); }
  bool one_of(int count) { return whole(1, count) == 1; }
  Eigen::MatrixXd matrix(Index rows, Index cols) {
    Eigen::MatrixXd x(rows, cols);
    for (double& e : x.reshaped()) e = real(-1, 1);
    return x;
  }
  Eigen::VectorXd vector(Index n) { return matrix(n, 1); }
};

/// How many of each there are, and what is asked for; numbers are parameters, so that one model serves many systems.
struct Shape {
  int n, m, p, actuators;
  bool with_C, with_free, with_cost;
  std::vector<int> priority;
  std::vector<char> weighted;
};

struct Numbers {
  Eigen::MatrixXd M, A1, A2, E, R;
  Eigen::VectorXd Q, C, b1, b2, weights, free;

  std::vector<double> all() const {
    std::vector<double> x;
    for (const auto* matrix : {&M, &A1, &A2, &E, &R})
      x.insert(x.end(), matrix->data(), matrix->data() + matrix->size());
    for (const auto* vector : {&Q, &C, &b1, &b2, &weights, &free}) x.insert(x.end(), vector->begin(), vector->end());
    return x;
  }
};

System make_system(const Shape& s, const Numbers& first) {
  Model model;
  std::vector<Expr> q, parameters;
  for (int i = 0; i < s.n; ++i) q.push_back(model.add_coordinate(fmt::format("q{}", i)));
  const std::vector<double> values = first.all();
  for (std::size_t i = 0; i < values.size(); ++i)
    parameters.push_back(model.add_parameter(fmt::format("p{}", i), Expr(values[i])));
  std::size_t next = 0;
  const auto take = [&](Index rows, Index cols) {  // by columns, as Numbers::all() lists them
    std::vector<std::vector<Expr>> x(static_cast<std::size_t>(rows), std::vector<Expr>(static_cast<std::size_t>(cols)));
    for (std::size_t j = 0; j < static_cast<std::size_t>(cols); ++j)
      for (auto& row : x) row[j] = parameters[next++];
    return x;
  };
  model.mass = take(s.n, s.n);
  const auto A1 = take(s.m, s.n), A2 = take(s.p, s.n), E = take(s.n, s.actuators), R = take(s.actuators, s.actuators);
  const auto Q = take(s.n, 1), C = take(s.n, 1), b1 = take(s.m, 1), b2 = take(s.p, 1), w = take(s.p, 1),
             z = take(s.n, 1);
  const auto along = [&](auto&& factor) {
    Expr sum = 0.0;
    for (std::size_t i = 0; i < q.size(); ++i) sum = sum + factor(i) * ddot(q[i]);
    return sum;
  };
  for (std::size_t i = 0; i < q.size(); ++i) {
    model.add_force(q[i], Q[i][0]);
    if (s.with_C) model.add_nonideal(q[i], C[i][0]);
    if (s.with_free) model.control.free.push_back({fmt::format("q{}", i), z[i][0], {}});
  }
  for (std::size_t j = 0; j < A1.size(); ++j)
    model.add_constraint(fmt::format("c{}", j), along([&](std::size_t i) { return A1[j][i]; }), b1[j][0]);
  for (std::size_t j = 0; j < A2.size(); ++j) {
    ControlOptions options{.priority = s.priority[j]};
    if (s.weighted[j]) options.weight = w[j][0];
    model.add_control(fmt::format("r{}", j), along([&](std::size_t i) { return A2[j][i]; }), b2[j][0], options);
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.actuators); ++k)
    model.add_actuator(fmt::format("a{}", k), along([&](std::size_t i) { return E[i][k]; }));
  if (s.with_cost) {
    model.control.cost = R;
    for (std::size_t i = 0; i < R.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) model.control.cost[i][j] = R[j][i];
  }
  return System(std::move(model), values);
}

Shape draw_shape(Random& random) {
  Shape s;
  s.n = random.whole(2, 6);
  s.m = random.whole(0, s.n);
  s.p = random.whole(1, 3);
  s.actuators = random.one_of(2) ? 0 : random.whole(1, s.n);
  s.with_C = s.m > 0 && random.one_of(2);
  s.with_free = s.actuators == 0 && random.one_of(3);
  s.with_cost = s.actuators > 0 && random.one_of(2);
  const bool staged = random.one_of(2);
  for (int j = 0; j < s.p; ++j) {
    s.priority.push_back(staged ? random.whole(1, 2) : 1);
    s.weighted.push_back(staged && random.one_of(2));
  }
  return s;
}

/// With rows that depend on others, masses that are zero where rows hold their coordinates, weights from 0.2 to 5.
Numbers draw(const Shape& s, Random& random) {
  Numbers x;
  Eigen::MatrixXd L = random.matrix(s.n, s.n);
  x.M = L * L.transpose() + 0.3 * Eigen::MatrixXd::Identity(s.n, s.n);
  x.M = (0.5 * (x.M + x.M.transpose())).eval();
  x.A1 = random.matrix(s.m, s.n), x.b1 = random.vector(s.m);
  x.C = random.vector(s.n), x.Q = 3.0 * random.vector(s.n), x.free = random.vector(s.n);
  if (s.m > 0 && random.one_of(4)) {
    const int light = s.n - 1;
    x.M.row(light).setZero(), x.M.col(light).setZero();
    x.A1(0, light) = 1.5, x.C(light) = 0.0;
  }
  if (s.m > 1 && random.one_of(3)) {
    // A redundant row; sums of doubles are exact where factors are powers of two.
    const double f = random.one_of(2) ? 2.0 : -0.5;
    x.A1.row(s.m - 1) = f * x.A1.row(0), x.b1(s.m - 1) = f * x.b1(0);
  }
  x.A2 = random.matrix(s.p, s.n), x.b2 = 2.0 * random.vector(s.p);
  if (s.p > 1 && random.one_of(3)) {
    const double f = random.one_of(2) ? -2.0 : 0.25;
    x.A2.row(1) = f * x.A2.row(0), x.b2(1) = f * x.b2(0);
  }
  if (s.m > 0 && random.one_of(4)) x.A2.row(0) = 2.0 * x.A1.row(0), x.b2(0) = 2.0 * x.b1(0);
  x.E = random.matrix(s.n, s.actuators);
  L = random.matrix(s.actuators, s.actuators);
  x.R = L * L.transpose() + 0.5 * Eigen::MatrixXd::Identity(s.actuators, s.actuators);
  x.R = (0.5 * (x.R + x.R.transpose())).eval();
  x.weights.resize(s.p);
  for (double& w : x.weights) w = random.real(0.2, 5.0);
  return x;
}

/// A x = b by elimination; A may have dependent rows. Nothing where b contradicts them.
std::optional<Vector> eliminate(const Matrix& A, const Vector& b) {
  Eigen::FullPivLU<Matrix> lu(A);
  lu.setThreshold(1e-15L);
  const Vector x = lu.solve(b);
  if ((A * x - b).norm() > 1e-14L * (1 + b.norm() + x.norm() * A.norm())) return {};
  return x;
}

/// Minimise ½ xᵀH x − gᵀx over B x = c.
std::optional<Vector> minimise(const Matrix& H, const Vector& g, const Matrix& B, const Vector& c) {
  const Index k = H.rows(), rows = B.rows();
  Matrix K = Matrix::Zero(k + rows, k + rows);
  K.topLeftCorner(k, k) = H, K.topRightCorner(k, rows) = B.transpose(), K.bottomLeftCorner(rows, k) = B;
  Vector right(k + rows);
  right << g, c;
  const auto x = eliminate(K, right);
  if (!x) return {};
  return Vector(x->head(k));
}

struct Answer {
  Vector qdd, tau, u;
  Real cost = 0;
  bool refused = false;
};

/// By stages: what the rows of each come to at best is an equation of those that follow; cost decides at last.
std::optional<Answer> by_elimination(const Shape& s, const Numbers& x) {
  const Index n = s.n, m = s.m, a = s.actuators;
  const Matrix M = x.M.cast<Real>(), A1 = x.A1.cast<Real>(), A2 = x.A2.cast<Real>(), E = x.E.cast<Real>();
  const Vector b1 = x.b1.cast<Real>(), b2 = x.b2.cast<Real>();
  const Vector given = x.Q.cast<Real>() + (s.with_C ? Vector(x.C.cast<Real>()) : Vector(Vector::Zero(n)));
  const auto free = minimise(M, given, A1, b1);
  if (!free) return {};
  // Unknowns [q̈], or with actuators [q̈ λ τ] with M q̈ − A₁ᵀλ − E τ = Q + C among the equations.
  const Index size = a > 0 ? n + m + a : n;
  Matrix B = Matrix::Zero(m + (a > 0 ? n : 0), size);
  Vector c = Vector::Zero(B.rows());
  B.topLeftCorner(m, n) = A1, c.head(m) = b1;
  if (a > 0) {
    B.bottomRows(n) << M, -A1.transpose(), -E;
    c.tail(n) = given;
  }
  std::map<std::pair<int, bool>, std::vector<Index>> stages;
  for (Index j = 0; j < s.p; ++j)
    stages[{s.priority[static_cast<std::size_t>(j)], s.weighted[static_cast<std::size_t>(j)] != 0}].push_back(j);
  Answer answer;
  for (const auto& [key, rows] : stages) {
    const auto count = static_cast<Index>(rows.size());
    Matrix S = Matrix::Zero(count, size), W = Matrix::Identity(count, count);
    Vector r(count);
    for (Index i = 0; i < count; ++i) {
      const Index j = rows[static_cast<std::size_t>(i)];
      S.row(i).head(n) = A2.row(j), r(i) = b2(j);
      if (key.second) W(i, i) = x.weights(j);
    }
    const auto found = minimise(S.transpose() * W * S, S.transpose() * W * r, B, c);
    if (!found) return {};
    const Vector reached = S * *found;
    // Rows without weight that cannot be met by themselves are refused.
    if (!key.second) {
      const Index first = m + (a > 0 ? n : 0);
      const auto alone = minimise(S.transpose() * S, S.transpose() * r, B.topRows(first), c.head(first));
      if (!alone) return {};
      answer.refused |= (S * *alone - r).norm() > 1e-10L;
    }
    B.conservativeResize(B.rows() + count, size), c.conservativeResize(c.size() + count);
    B.bottomRows(count) = S, c.tail(count) = reached;
  }
  Matrix H = Matrix::Zero(size, size);
  Vector g = Vector::Zero(size);
  const Matrix R = s.with_cost ? Matrix(x.R.cast<Real>()) : Matrix(Matrix::Identity(a, a));
  if (a > 0)
    H.bottomRightCorner(a, a) = R;
  else
    H = M, g = M * *free;
  const auto best = minimise(H, g, B, c);
  if (!best) return {};
  answer.qdd = best->head(n);
  if (a > 0) {
    answer.tau = best->tail(a), answer.u = E * answer.tau;
    answer.cost = answer.tau.dot(R * answer.tau);
    return answer;
  }
  answer.u = M * (answer.qdd - *free);
  if (s.with_free) {
    // What the free force does under the constraints, less the least change that does the same to the requirements.
    const Vector z = x.free.cast<Real>();
    const auto felt = minimise(M, z, A1, Vector::Zero(m));
    if (!felt) return {};
    Matrix both(m + s.p, n);
    both << A1, A2;
    Vector right(m + s.p);
    right << Vector::Zero(m), A2 * *felt;
    const auto across = minimise(M, Vector::Zero(n), both, right);
    if (!across) return {};
    answer.qdd += *felt - *across;
    answer.u += z - M * *across;
  }
  const Vector delta = answer.qdd - *free;
  answer.cost = delta.dot(M * delta);
  return answer;
}

/// Whether ranks are clear: singular values of what decides are zero or not small.
bool is_clear(const Shape& s, const Numbers& x) {
  const auto clear = [](const Eigen::MatrixXd& A) {
    if (A.size() == 0) return true;
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(A);
    for (const double value : svd.singularValues())
      if (value > 1e-12 && value < 0.03) return false;
    return true;
  };
  const Index n = s.n, m = s.m;
  if (!clear(x.A1)) return false;
  Eigen::MatrixXd stacked(n + m, n);
  stacked << x.M, x.A1;
  if (Eigen::JacobiSVD<Eigen::MatrixXd>(stacked).singularValues()(n - 1) < 0.05) return false;
  // Requirements as forces feel them, for all rows and each by itself.
  const Eigen::MatrixXd V =
      m > 0 ? Eigen::MatrixXd(Eigen::FullPivLU<Eigen::MatrixXd>(x.A1).kernel()) : Eigen::MatrixXd::Identity(n, n);
  if (V.isZero(0.0)) return true;
  const Eigen::MatrixXd Mhat = V.transpose() * x.M * V;
  if (!clear(Mhat)) return false;
  const Eigen::MatrixXd N = V * Mhat.ldlt().solve(V.transpose());
  const Eigen::MatrixXd G = x.A2 * N * (s.actuators > 0 ? x.E : Eigen::MatrixXd(x.A2.transpose()));
  if (!clear(G)) return false;
  for (Index j = 0; j < G.rows(); ++j)
    if (const double norm = G.row(j).norm(); norm > 1e-12 && norm < 0.05) return false;
  for (Index i = 0; i < G.rows(); ++i)
    for (Index j = 0; j < i; ++j) {
      Eigen::MatrixXd two(2, G.cols());
      two << G.row(i), G.row(j);
      if (!clear(two)) return false;
    }
  return true;
}

TEST(ControlLaws, hold_on_random_systems_as_dense_programmes_say) {
  const unsigned shapes = num_trials(300), draws = 60;
  int compared = 0, refused = 0;
  std::map<std::string, int> kinds;
  for (unsigned number = 0; number < shapes; ++number) {
    Random of_shape{std::mt19937_64(70000 + number)};
    const Shape s = draw_shape(of_shape);
    Random first{std::mt19937_64(1)};
    System system = make_system(s, draw(s, first));
    for (unsigned k = 0; k < draws; ++k) {
      const std::uint64_t seed = 1000ULL * number + k;
      Random random{std::mt19937_64(seed)};
      const Numbers x = draw(s, random);
      if (!is_clear(s, x)) continue;
      const auto expected = by_elimination(s, x);
      if (!expected) continue;  // constraints that contradict each other, or leave q̈ open
      SCOPED_TRACE(fmt::format("shape {}, seed {}", number, seed));
      system.set_parameters(x.all());
      const Instant now = accelerate(system, system.start(), {.diagnose = false});
      if (expected->refused) {
        EXPECT_EQ(now.solution.status, SolveStatus::requirements_not_met);
        ++refused;
        continue;
      }
      ASSERT_TRUE(now.has_acceleration());
      ++compared;
      kinds[s.actuators > 0 ? "actuators" : "none"]++;
      kinds["free"] += s.with_free, kinds["cost"] += s.with_cost;
      kinds["weights"] += std::any_of(s.weighted.begin(), s.weighted.end(), [](char w) { return w != 0; });
      kinds["singular"] += x.M.row(s.n - 1).isZero(0.0);
      kinds["redundant"] += now.solution.rank < s.m;
      const Eigen::VectorXd& qdd = now.solution.qdd;
      const double size = static_cast<double>(1 + expected->qdd.norm() + expected->u.norm() + expected->tau.norm());
      const double allowed = 2e-8 * size;
      EXPECT_LE((qdd - expected->qdd.cast<double>()).norm(), allowed);
      EXPECT_LE((now.solution.Q_control - expected->u.cast<double>()).norm(), allowed);
      EXPECT_NEAR(now.control->cost, static_cast<double>(expected->cost), allowed * size);
      if (s.actuators > 0) {
        EXPECT_LE((now.control->tau - expected->tau.cast<double>()).norm(), allowed);
      }
      // A₁q̈ = b₁, and vᵀ(Qᶜ − C) = 0 where A₁v = 0: Qᶜ − C is made of rows of A₁.
      EXPECT_LE((x.A1 * qdd - x.b1).norm(), 1e-9 * size);
      Eigen::VectorXd rest = x.M * qdd - x.Q - now.solution.Q_control;
      EXPECT_LE((rest - now.solution.Qc).norm(), 1e-9 * size);
      if (s.with_C) rest -= x.C;
      if (s.m > 0) {
        const Eigen::VectorXd lambda =
            Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>(x.A1.transpose()).solve(rest);
        rest -= x.A1.transpose() * lambda;
      }
      EXPECT_LE(rest.norm(), 1e-8 * size);
      // A combination of constraints added to a requirement changes nothing.
      if (s.m == 0 || k % 10 != 0) continue;
      Numbers other = x;
      const double f = random.real(-2, 2);
      other.A2.row(0) += f * x.A1.row(0), other.b2(0) += f * x.b1(0);
      system.set_parameters(other.all());
      const Instant again = accelerate(system, system.start(), {.diagnose = false});
      ASSERT_TRUE(again.has_acceleration());
      EXPECT_LE((again.solution.Q_control - now.solution.Q_control).norm(), allowed);
      EXPECT_LE((again.solution.Qc - now.solution.Qc).norm(), allowed);
    }
  }
  // As many as they are meant to be, and of every kind.
  EXPECT_GT(compared, static_cast<int>(num_trials(10000)));
  EXPECT_GT(refused, static_cast<int>(num_trials(300)));
  for (const char* kind : {"actuators", "none", "free", "cost", "weights", "singular", "redundant"})
    EXPECT_GT(kinds[kind], static_cast<int>(num_trials(400))) << kind;
}

}  // namespace
}  // namespace mechanician
