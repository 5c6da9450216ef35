// Derivatives of definitions with respect to time: bx = "L*cos(a)", then bx' is -L*sin(a)*a'.
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/model/names.hpp"

namespace mechanician {

std::optional<Expr> NameTable::sum_rate(const Expr& sum) {
  const std::string name = sum.symbol().name;
  if (const auto known = sum_rates_.find(name); known != sum_rates_.end()) return known->second;
  const Term term = model_.sum_of(sum)->terms.front();  // the table of sums grows meanwhile
  std::optional<Expr> rate = time_derivative(term.body, 1);
  if (rate && !rate->is_zero()) rate = add_sum(term.indices, *rate);
  sum_rates_.emplace(name, rate);
  return rate;
}

std::optional<Expr> NameTable::time_derivative(const Expr& f, int times) {
  if (times == 0) return f;
  std::vector<Tangent> along;
  std::vector<Expr> symbols = symbols_of(std::span(&f, 1));
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Expr s = symbols[i];
    switch (s.symbol().kind) {
      case SymbolKind::time:
        along.push_back({s, 1});
        break;
      case SymbolKind::coordinate:
      case SymbolKind::velocity:
        along.push_back({s, derivative_symbol(s)});
        break;
      case SymbolKind::acceleration:
      case SymbolKind::multiplier:
      case SymbolKind::ideal_force:
      case SymbolKind::constraint_force:
      case SymbolKind::control_force:
      case SymbolKind::friction:
      case SymbolKind::power:
      case SymbolKind::work:
      case SymbolKind::effort:
      case SymbolKind::control_error:
      case SymbolKind::control_cost:
        return std::nullopt;
      default:
        if (model_.sum_of(s)) {
          const std::optional<Expr> rate = sum_rate(s);
          if (!rate) return std::nullopt;
          along.push_back({s, *rate});
        }
        // An unknown function moves with what it depends on.
        for (const Expr& d : s.symbol().depends)
          if (std::none_of(symbols.begin(), symbols.end(), [&](const Expr& x) { return same(x, d); }))
            symbols.push_back(d);
    }
  }
  return time_derivative(directional(f, along), times - 1);
}

}  // namespace mechanician
