#include "mechanician/expression/degree.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/rational.hpp"

namespace mechanician {

namespace {

// Degrees are kept below this, so that repeated squaring cannot overflow; no polynomial, below.
constexpr int largest_degree = 1 << 20;
constexpr int no_polynomial = -1;

int bound_of_power(int base, const ExprNode* exponent) {
  if (exponent->op != Op::constant) return no_polynomial;
  const double k = exponent->value;
  if (!(k >= 0.0) || k != std::floor(k)) return no_polynomial;
  return static_cast<int>(std::min<double>(base * k, largest_degree));
}

}  // namespace

std::optional<int> degree_bound(const Expr& f, SymbolKind kind) {
  const KindSet bit = kind_bit(kind);
  if ((f.kinds() & bit) == 0) return 0;
  const PostOrder order = post_order(std::span(&f, 1));
  std::vector<int> degree(order.nodes.size(), 0);
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const ExprNode* n = order.nodes[i];
    if ((n->kinds & bit) == 0) continue;
    if (n->op == Op::symbol) {
      // An unknown function of a velocity is no polynomial in it.
      degree[i] = n->symbol->kind == kind ? 1 : no_polynomial;
      continue;
    }
    int d[3] = {0, 0, 0};
    bool polynomial = true;
    for (int k = 0; k < n->num_args; ++k) {
      d[k] = degree[static_cast<std::size_t>(order.index.at(n->args[static_cast<std::size_t>(k)]))];
      polynomial &= d[k] != no_polynomial;
    }
    const auto is_free = [&](int k) { return (n->args[static_cast<std::size_t>(k)]->kinds & bit) == 0; };
    degree[i] = no_polynomial;
    if (!polynomial) continue;
    switch (n->op) {
      case Op::add:
      case Op::sub:
        degree[i] = std::max(d[0], d[1]);
        break;
      case Op::mul:
        degree[i] = std::min(d[0] + d[1], largest_degree);
        break;
      case Op::neg:
        degree[i] = d[0];
        break;
      case Op::div:
        if (is_free(1)) degree[i] = d[0];
        break;
      case Op::pow:
        degree[i] = bound_of_power(d[0], n->args[1]);
        break;
      case Op::select:
        // Coefficient by coefficient.
        if (is_free(0)) degree[i] = std::max(d[1], d[2]);
        break;
      default:
        break;
    }
  }
  if (degree.back() == no_polynomial) return std::nullopt;
  return degree.back();
}

bool has_degree_at_most(const Expr& f, SymbolKind kind, int degree) { return as_polynomial(f, kind, degree).has_value(); }

std::optional<int> degree_in(const Expr& f, SymbolKind kind) {
  if ((f.kinds() & kind_bit(kind)) == 0) return 0;
  const auto expanded = rational_expr(f);
  const auto degree = expanded ? degree_bound(*expanded, kind) : std::nullopt;
  // The expansion may have cancelled what is singular.
  return degree && as_polynomial(f, kind, *degree) ? degree : std::nullopt;
}

}  // namespace mechanician
