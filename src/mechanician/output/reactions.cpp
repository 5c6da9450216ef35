#include "mechanician/output/reactions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/bodies_apart.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/model/bodies.hpp"

namespace mechanician {

namespace {

/// Coordinates of a tree up to which its bodies are taken by themselves as well.
constexpr int most_coordinates = 100;

/// The same model at the same state, with every body by itself.
struct Apart {
  System system;
  Instant instant;
};

/// Nothing where bodies are by themselves already, or nothing is left open.
std::optional<Apart> take_apart(const System& system, const Instant& instant) {
  const auto& definitions = system.model().definitions;
  const bool left_open =
      std::any_of(definitions.begin(), definitions.end(), [](const Named& d) { return d.name == reactions_left_open; });
  const bool open_here =
      !instant.solution.multipliers_unique && system.model().source.text.find("[joints") != std::string::npos;
  if ((!left_open && !open_here) || system.n() > most_coordinates) return std::nullopt;
  std::optional<BodiesApart> apart = mechanician::take_apart(system, instant.state, Unmoved::on_tree);
  if (!apart) return std::nullopt;
  Instant there = accelerate(apart->system, apart->state);
  // A start that overrides cannot say.
  if (!there.has_some_acceleration() || !there.violations().empty()) return std::nullopt;
  return Apart{std::move(apart->system), std::move(there)};
}

Reactions reactions_at(const System& system, const Instant& instant) {
  Reactions result;
  std::vector<Expr> fs;
  for (const Named& d : system.model().definitions)
    if (d.value.contains(SymbolKind::multiplier) && !d.value.contains(SymbolKind::ideal_force))
      fs.push_back(d.value), result.names.push_back(d.name);
  if (fs.empty()) return result;

  const std::vector<Expr> symbols = symbols_of(fs);
  std::unordered_map<std::string, std::size_t> rows, coordinates;
  for (int j = 0; j < system.m(); ++j) rows.emplace(system.row_name(j), static_cast<std::size_t>(j));
  for (int i = 0; i < system.n(); ++i) coordinates.emplace(system.coordinate(i), static_cast<std::size_t>(i));
  std::unordered_map<std::string, double> parameters;
  const auto& stated = system.model().parameters;
  for (std::size_t k = 0; k < stated.size() && k < system.parameters().size(); ++k)
    parameters.emplace(stated[k].name, system.parameters()[k]);

  // A row that depends on others, less those, is a set of multipliers that does nothing.
  const Solution& s = instant.solution;
  const auto inputs = [&](const Eigen::VectorXd& multipliers) {
    std::vector<double> values;
    for (const Expr& symbol : symbols) {
      const std::string& name = symbol.symbol().name;
      double value = std::numeric_limits<double>::quiet_NaN();
      const auto at = [&](const auto& map, const Eigen::VectorXd& x) {
        const std::string plain = name.substr(0, name.find('\''));
        const auto found = map.find(plain);
        if (found != map.end() && static_cast<Eigen::Index>(found->second) < x.size())
          value = x(static_cast<Eigen::Index>(found->second));
      };
      switch (symbol.symbol().kind) {
        case SymbolKind::time:
          value = instant.state.t;
          break;
        case SymbolKind::coordinate:
          at(coordinates, instant.state.q);
          break;
        case SymbolKind::velocity:
          at(coordinates, instant.state.qd);
          break;
        case SymbolKind::acceleration:
          at(coordinates, s.qdd);
          break;
        case SymbolKind::multiplier:
          at(rows, multipliers);
          break;
        case SymbolKind::parameter:
          if (const auto found = parameters.find(name); found != parameters.end()) value = found->second;
          break;
        default:
          break;
      }
      values.push_back(value);
    }
    return values;
  };
  const Tape tape(fs, symbols);
  const std::vector<double> here = inputs(s.multipliers);
  result.values = tape(std::span<const double>(here));
  if (s.multipliers_unique || !instant.diagnosis) return result;
  std::vector<bool> open(fs.size(), !instant.diagnosis->depends_complete);
  for (const Dependence& d : instant.diagnosis->depends) {
    Eigen::VectorXd nothing = Eigen::VectorXd::Zero(s.multipliers.size());
    if (d.row >= nothing.size()) continue;
    nothing(d.row) = 1.0;
    for (std::size_t k = 0; k < d.on.size(); ++k)
      if (d.on[k] < nothing.size()) nothing(d.on[k]) = -d.coefficients[k];
    // Reactions are linear in the multipliers.
    const std::vector<double> none = inputs(Eigen::VectorXd::Zero(nothing.size())), with = inputs(nothing);
    const std::vector<double> a = tape(std::span<const double>(none)), b = tape(std::span<const double>(with));
    for (std::size_t i = 0; i < fs.size(); ++i)
      open[i] = open[i] || std::abs(b[i] - a[i]) > 1e-9 * nothing.lpNorm<Eigen::Infinity>();
  }
  for (std::size_t i = 0; i < fs.size(); ++i)
    if (open[i]) result.undetermined.push_back(result.names[i]);
  return result;
}

}  // namespace

Reactions calc_reactions(const System& system, const Instant& instant) {
  if (stays_in_families(system) || !instant.has_some_acceleration()) return {};
  if (const std::optional<Apart> apart = take_apart(system, instant))
    return reactions_at(apart->system, apart->instant);
  return reactions_at(system, instant);
}

}  // namespace mechanician
