#include "mechanician/large/term_equations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/model/term_members.hpp"

namespace mechanician {
namespace {

/// What the members of all terms give, summed up, is what the model gives that is written out.
TEST(TermEquations, SumUpToTheEquationsWrittenOut) {
  constexpr const char* text = R"toml(
coordinates = ["phi", "x[0..N]"]
[parameters]
N = 5
k = 2.5
m = [1.5, 2, 3, 4, 5, 6]
[define]
"stretch[i]" = { for = "i = 1..N", value = "x[i] - x[i-1]" }
[dynamics]
kinetic = "sum(i = 0..N, m[i+1]/2*x[i]'^2) + (1 + phi^2)*phi'^2/2 + sum(i = 1..N, sin(x[i])*x[i]'*x[i-1]'/8)"
potential = "k*sum(i = 1..N, sum(j = i..N, (x[j] - x[i-1])^2)) + cos(phi)"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-i*x[i]'*x[i-1] + m[i]*sin(t)" }
phi = "-phi'^3"
[constraints]
first = "x[0] = sin(t)"
[constraints.pair]
for = "i = 1..3"
equation = "stretch[i]^2 + phi*x[N] = i"
)toml";
  const FamilyModel model = read_family_model_text(text, "m.toml");
  const Both both(text);
  const int n = both.written.n(), m = both.written.m();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> any(-1.0, 1.0);
    State state{any(random), Eigen::VectorXd(n), Eigen::VectorXd(n)};
    for (int i = 0; i < n; ++i) state.q(i) = any(random), state.qd(i) = any(random);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n), A = Eigen::MatrixXd::Zero(m, n);
    Eigen::VectorXd Q = Eigen::VectorXd::Zero(n), b = Eigen::VectorXd::Zero(m);
    int row = 0;
    for (const TermEquations& part : derive_by_term(model)) {
      const Term& term = part.term;
      const TermMembers members = find_members(model, term);
      for (std::size_t j = 0; j < static_cast<std::size_t>(members.count); ++j) {
        std::vector<Expr> symbols{time_symbol()};
        std::vector<double> values{state.t};
        const auto set = [&](const Expr& symbol, double value) { symbols.push_back(symbol), values.push_back(value); };
        for (std::size_t c = 0; c < term.coordinates.size(); ++c) {
          const Eigen::Index at = members.coordinates[c][j];
          set(term.coordinates[c].symbol, state.q(at)), set(dot(term.coordinates[c].symbol), state.qd(at));
        }
        for (std::size_t i = 0; i < term.indices.size(); ++i) set(term.indices[i].symbol, members.indices[i][j]);
        for (std::size_t k = 0; k < term.numbers.size(); ++k)
          set(term.numbers[k].symbol, model.numbers[static_cast<std::size_t>(term.numbers[k].family)]
                                          .values[static_cast<std::size_t>(members.numbers[k][j])]);
        const auto value_of = [&](const Expr& f) {
          return Tape(std::span(&f, 1), symbols)(std::span<const double>(values)).front();
        };
        const auto place = [&](int c) -> Eigen::Index {
          return c < 0 ? members.target[j] : members.coordinates[static_cast<std::size_t>(c)][j];
        };
        for (const auto& e : part.M) M(place(e.row), place(e.col)) += value_of(e.value);
        for (const auto& e : part.Q) Q(place(e.row)) += value_of(e.value);
        for (const auto& e : part.A) A(row, place(e.col)) += value_of(e.value);
        if (term.kind == TermKind::constraint) b(row++) += value_of(part.b);
      }
    }
    const InstantValues expected = both.written.evaluate(state).values;
    ASSERT_EQ(row, m);
    EXPECT_LT((M - expected.M.to_dense()).cwiseAbs().maxCoeff(), 1e-12) << "seed " << seed;
    EXPECT_LT((A - expected.A.to_dense()).cwiseAbs().maxCoeff(), 1e-12) << "seed " << seed;
    EXPECT_LT((Q - expected.Q).cwiseAbs().maxCoeff(), 1e-11) << "seed " << seed;
    EXPECT_LT((b - expected.b).cwiseAbs().maxCoeff(), 1e-12) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mechanician
