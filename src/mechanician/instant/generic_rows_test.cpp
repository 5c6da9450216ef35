// Rows that depend on others only where the constraints hold: they are left out, and what is printed as the closed form is
// the acceleration there.

#include "mechanician/instant/generic_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/equations/closed_form.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// The closed form, where there is one, against instants at states on the constraints. How many states were compared.
int compare(const System& system, const State& start, const std::vector<int>& rows, std::mt19937_64& random) {
  const Equations& eqs = system.equations();
  const std::optional<ClosedForm> form = closed_form(eqs, rows);
  if (!form) return 0;
  std::vector<Expr> inputs{eqs.t};
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) inputs.insert(inputs.end(), part->begin(), part->end());
  const Tape tape(form->qdd, inputs);
  std::uniform_real_distribution<double> spread(-0.05, 0.05);
  int compared = 0;
  for (int k = 0; k < 4; ++k) {
    State near = start;
    for (int i = 0; i < system.n(); ++i) near.q(i) += spread(random), near.qd(i) += spread(random);
    const Projection p = project(system, near, ProjectionGoal::any);
    if (!p.converged) continue;
    const Instant instant = accelerate(system, p.state);
    if (!instant.has_acceleration() || instant.solution.rank_doubtful) continue;
    std::vector<double> x{p.state.t};
    x.insert(x.end(), p.state.q.begin(), p.state.q.end());
    x.insert(x.end(), p.state.qd.begin(), p.state.qd.end());
    x.insert(x.end(), system.parameters().begin(), system.parameters().end());
    const std::vector<double> values = tape(std::span<const double>(x));
    const double size = 1.0 + instant.solution.qdd.cwiseAbs().maxCoeff();
    for (int i = 0; i < system.n(); ++i)
      EXPECT_NEAR(values[static_cast<std::size_t>(i)], instant.solution.qdd(i), 1e-7 * size) << "coordinate " << i;
    ++compared;
  }
  return compared;
}

TEST(GenericRows, DependOnOthersOnTheConstraintsOnly) {
  const unsigned seed = 20261117;
  std::mt19937_64 random(seed);
  const auto number = [&](double low, double high) {
    return std::round(8.0 * std::uniform_real_distribution<double>(low, high)(random)) / 8.0;
  };
  int compared = 0;
  for (unsigned trial = 0; trial < num_trials(200); ++trial) {
    // φ = 0 with φ quadratic and φ(start) = 0; then f(φ) + c φ x_k = 0 with f(0) = 0, f'(0) ≠ 0.
    Model model;
    const int n = std::uniform_int_distribution<int>(2, 3)(random);
    std::vector<Expr> x;
    Expr kinetic, phi, force;
    for (int i = 0; i < n; ++i) {
      x.push_back(model.add_coordinate(fmt::format("x{}", i)));
      const double a = number(0.5, 2.0), b = number(-1.0, 1.0);
      kinetic = kinetic + number(0.5, 2.0) / 2 * pow(dot(x.back()), 2);
      phi = phi + a * pow(x.back(), 2) + b * x.back() - (a + b);  // zero where all are 1
    }
    model.kinetic = kinetic;
    model.potential = 9.81 * x.back();
    model.add_constraint("first", phi, 0);
    const Expr factor = number(0.5, 2.0) + number(-1.0, 1.0) * x[0];
    switch (trial % 4) {
      case 0:
        model.add_constraint("again", exp(phi), 1);
        break;
      case 1:
        model.add_constraint("again", phi * factor, 0);
        break;
      case 2:
        model.add_constraint("again", pow(phi + 1, 3), 1);
        break;
      default:
        model.add_constraint("again", sin(phi) + phi * phi * x[0], 0);
    }
    const System system(model, {});
    State start{0.0, Eigen::VectorXd::Ones(n), Eigen::VectorXd::Zero(n)};
    SCOPED_TRACE(fmt::format("seed {}, trial {}", seed, trial));
    const GenericRows rows = find_generic_rows(system, start);
    EXPECT_EQ(rows.rows, std::vector<int>{0});
    EXPECT_FALSE(rows.doubtful);
    compared += compare(system, start, rows.rows, random);
  }
  EXPECT_GT(compared, static_cast<int>(num_trials(100)));
}

TEST(GenericRows, TheClosedFormsOfTheGalleryAreTheAccelerationsOnTheConstraints) {
  std::mt19937_64 random(7);
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MECHANICIAN_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".toml") continue;
    Model model = read_model(entry.path());
    if (model.coordinates.size() > (sanitized ? 6 : 12) || !model.unknowns.empty()) continue;
    const ParameterValues parameters = evaluate_parameters(model);
    const State start = state_of(start_state(model, parameters));
    const System system(std::move(model), parameters.values);
    if (system.has_contacts() || system.needs_reactions()) continue;
    SCOPED_TRACE(entry.path().filename());
    models += compare(system, start, find_generic_rows(system, start).rows, random) > 0;
  }
  EXPECT_GT(models, 10);
}

}  // namespace
}  // namespace mechanician
