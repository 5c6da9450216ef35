#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <unordered_map>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/parameters_internal.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/validate_internal.hpp"

namespace mechanician {

namespace {

/// Is a matrix of numbers positive definite? By its Cholesky factorisation, in place.
bool is_positive_definite(std::vector<std::vector<double>> w) {
  const std::size_t n = w.size();
  for (std::size_t k = 0; k < n; ++k) {
    double pivot = w[k][k];
    for (std::size_t j = 0; j < k; ++j) pivot -= w[k][j] * w[k][j];
    if (!(pivot > 8.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * std::abs(w[k][k])))
      return false;
    w[k][k] = std::sqrt(pivot);
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = 0; j < k; ++j) w[i][k] -= w[i][j] * w[k][j];
      w[i][k] /= w[k][k];
    }
  }
  return true;
}

class ValueChecks {
 public:
  ValueChecks(const Model& model, const ParameterValues& parameters, const Unreadable& unreadable)
      : model_(model), parameters_(parameters), unreadable_(unreadable), index_(index_parameters(model)) {}

  std::vector<Problem> check() {
    if (!unreadable_.touches("dynamics.mass")) check_mass();
    check_weights();
    check_controls();
    check_contacts();
    for (Problem& p : try_start_state(model_, parameters_).problems) problems_.push_back(std::move(p));
    return std::move(problems_);
  }

 private:
  void report(const Place& place, std::string message, std::string hint = {}) {
    problems_.push_back({place, std::move(message), std::move(hint)});
  }
  Place place(const std::string& path, Place fallback = {}) const { return place_in(model_, path, fallback); }

  /// The value of an expression of parameters alone; nothing for others.
  std::optional<double> constant(const Expr& f) const {
    if ((f.kinds() & ~kind_bit(SymbolKind::parameter)) != 0) return std::nullopt;
    if (f.is_constant()) return f.value();
    return evaluate_constant(f, index_, parameters_.values).value;
  }

  // Entries that are not written alike are compared at random states: they differ if the difference exceeds the bound
  // of its own rounding errors at one of them.
  void check_mass() {
    struct Pair {
      std::size_t i, j;
    };
    std::vector<Pair> pairs;
    std::vector<Expr> differences;
    const std::size_t n = model_.mass.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const Expr &a = model_.mass[i][j], &b = model_.mass[j][i];
        if (same(a, b) || same(simplify(a), simplify(b))) continue;
        pairs.push_back({i, j});
        differences.push_back(a - b);
      }
    if (pairs.empty()) return;

    const std::vector<Expr> symbols = symbols_of(differences);
    const Tape tape(differences, symbols);
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> state(-2.0, 2.0);
    std::vector<double> inputs(symbols.size()), values(pairs.size()), bounds(pairs.size());
    std::vector<bool> differs(pairs.size(), false);
    constexpr int num_states = 16;
    for (int k = 0; k < num_states; ++k) {
      for (std::size_t s = 0; s < symbols.size(); ++s) {
        const Symbol& symbol = symbols[s].symbol();
        inputs[s] = symbol.kind == SymbolKind::parameter ? parameters_.values[index_.at(symbol.name)]
                    : symbol.kind == SymbolKind::time    ? std::abs(state(random))
                                                         : state(random);
      }
      tape.evaluate_with_bounds(inputs, values, bounds);
      for (std::size_t p = 0; p < pairs.size(); ++p)
        if (std::isfinite(values[p]) && std::isfinite(bounds[p]) && std::abs(values[p]) > 8.0 * bounds[p])
          differs[p] = true;
    }
    std::size_t shown = 0;
    for (std::size_t p = 0; p < pairs.size() && shown < 20; ++p) {
      if (!differs[p]) continue;
      ++shown;
      const auto [i, j] = pairs[p];
      const std::string &x = model_.coordinates[i].name, &y = model_.coordinates[j].name;
      report(place(fmt::format("mass.{}.{}", j, i), place("mass")),
             fmt::format("the mass matrix is not symmetric: the entries ({}, {}) and ({}, {}) differ", x, y, y, x),
             fmt::format("{} is not {}", print(model_.mass[i][j], {.max_length = 60}),
                         print(model_.mass[j][i], {.max_length = 60})));
    }
  }

  void check_weights() {
    for (const Constraint& c : model_.constraints) {
      if (!c.weight) continue;
      const auto w = constant(*c.weight);
      if (w && !(*w > 0.0 && std::isfinite(*w)))
        report(place("constraints." + c.name + ".weight", c.place),
               fmt::format("the weight of {} is {}; a weight is positive and finite", mechanician::quoted(c.name),
                           short_number(*w)),
               "a weight is 1/variance");
    }
    for (const Measured& m : model_.measured) check_weight_matrix(m);
  }

  void check_weight_matrix(const Measured& m) {
    const std::size_t n = m.weight.size();
    std::vector<std::vector<double>> w(n, std::vector<double>(n, 0.0));
    bool all_constant = true;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const auto value = constant(m.weight[i][j]);
        all_constant = all_constant && value;
        w[i][j] = value.value_or(0.0);
        if (value && !std::isfinite(*value))
          return report(m.place, "the weight in [measured] has an entry that is not finite");
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const bool alike = same(simplify(m.weight[i][j]), simplify(m.weight[j][i]));
        const bool constants = constant(m.weight[i][j]) && constant(m.weight[j][i]);
        const double tolerance =
            8.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(w[i][j]), std::abs(w[j][i]));
        if (!alike && !(constants && std::abs(w[i][j] - w[j][i]) <= tolerance))
          return report(m.place,
                        fmt::format("the weight in [measured] is not symmetric: the entries for {} and {} differ",
                                    mechanician::quoted(m.constraints[j]), mechanician::quoted(m.constraints[i])));
      }
    if (all_constant && n > 0 && !is_positive_definite(std::move(w)))
      report(m.place, "the weight in [measured] is not positive definite",
             "a weight is the inverse of a covariance matrix");
  }

  void check_controls() {
    for (const Control& c : model_.controls) {
      const auto check = [&](const Expr& f, const char* what) {
        const auto value = constant(f);
        if (value && !(*value >= 0.0 && std::isfinite(*value)))
          report(place(fmt::format("control.{}.{}", c.name, what), c.place),
                 fmt::format("the {} of {} is {}; it cannot be {}", what, mechanician::quoted(c.name),
                             short_number(*value), *value < 0.0 ? "negative" : "infinite or undefined"));
      };
      if (c.frequency) check(*c.frequency, "frequency");
      check(c.damping, "damping");
      if (c.weight)
        check_positive(*c.weight, fmt::format("the weight of {}", mechanician::quoted(c.name)),
                       place(fmt::format("control.{}.weight", c.name), c.place));
    }
    for (const Actuator& a : model_.actuators) {
      const std::string name = mechanician::quoted(a.name), path = "actuators." + a.name;
      if (a.cost)
        check_positive(*a.cost, fmt::format("the cost of {}", name),
                       place(path + ".cost", place("control.cost", a.place)));
      const auto low = a.low ? constant(*a.low) : std::nullopt, high = a.high ? constant(*a.high) : std::nullopt;
      if (low && high && !(*low <= *high))
        report(place(path + ".high", a.place),
               fmt::format("the limits of {} are {} and {}", name, short_number(*low), short_number(*high)),
               "a limit is not negative, and the lower one is not above the upper one");
    }
    if (model_.control.layer)
      check_positive(*model_.control.layer, "the layer of `robust`", place("control.robust.layer"));
    if (model_.control.gain) check_positive(*model_.control.gain, "the gain of `robust`", place("control.robust.gain"));
    std::vector<std::vector<double>> cost;
    for (const auto& row : model_.control.cost) {
      auto& entries = cost.emplace_back();
      for (const Expr& f : row) {
        const auto value = constant(f);
        if (!value) return;
        entries.push_back(*value);
      }
    }
    if (!cost.empty() && !is_positive_definite(std::move(cost)))
      report(place("control.cost"), "the cost is not positive definite", "whatever actuators do has to cost something");
  }

  void check_positive(const Expr& f, const std::string& what, const Place& at) {
    const auto value = constant(f);
    if (value && !(*value > 0.0 && std::isfinite(*value)))
      report(at, fmt::format("{} is {}", what, short_number(*value)), "it must be a number above zero");
  }

  /// Numbers have been looked at before (validate_contacts).
  void check_contacts() {
    for (const Constraint& c : model_.constraints) {
      if (c.restitution && !c.restitution->is_constant())
        if (const auto e = constant(*c.restitution)) check_restitution_value(model_, c, *e, problems_);
      if (c.friction && !c.friction->coefficient.is_constant())
        if (const auto mu = constant(c.friction->coefficient)) check_friction_value(c, *mu, problems_);
    }
  }

  const Model& model_;
  const ParameterValues& parameters_;
  const Unreadable& unreadable_;
  ParameterIndex index_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> validate_values(const Model& model, const ParameterValues& parameters,
                                     const Unreadable& unreadable) {
  return ValueChecks(model, parameters, unreadable).check();
}

std::vector<Problem> validate_values(const Model& model, const ParameterValues& parameters) {
  return validate_values(model, parameters, {});
}

}  // namespace mechanician
