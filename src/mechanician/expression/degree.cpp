#include "mechanician/expression/degree.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"

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

namespace {

/// The bound of each node.
std::vector<int> degree_bounds(const PostOrder& order, SymbolKind kind) {
  const KindSet bit = kind_bit(kind);
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
  return degree;
}

/// Whether nothing in f but divisions by what is free of the kind could be singular in its symbols. Roots and absolute
/// values may stand in it: they are gone where the expansion is a polynomial.
bool is_regular_in(const Expr& f, SymbolKind kind) {
  const KindSet bit = kind_bit(kind);
  const PostOrder order = post_order(std::span(&f, 1));
  return std::all_of(order.nodes.begin(), order.nodes.end(), [&](const ExprNode* n) {
    if ((n->kinds & bit) == 0) return true;
    switch (n->op) {
      case Op::symbol:
      case Op::add:
      case Op::sub:
      case Op::mul:
      case Op::neg:
      case Op::sqrt:
      case Op::abs:
      case Op::hypot:
        return true;
      case Op::div:
        return (n->args[1]->kinds & bit) == 0;
      case Op::pow:
        return n->args[1]->op == Op::constant && n->args[1]->value >= 0;
      default:
        return false;
    }
  });
}

/// f expanded, if that shows the degree.
std::optional<Expr> expanded(const Expr& f, SymbolKind kind, int degree) {
  if (!is_regular_in(f, kind)) return std::nullopt;
  const auto form = rational_expr(f);
  if (!form) return std::nullopt;
  const auto bound = degree_bound(*form, kind);
  return bound && *bound <= degree ? form : std::nullopt;
}

}  // namespace

std::optional<int> degree_bound(const Expr& f, SymbolKind kind) {
  if (!f.contains(kind)) return 0;
  const int bound = degree_bounds(post_order(std::span(&f, 1)), kind).back();
  return bound == no_polynomial ? std::nullopt : std::optional(bound);
}

std::optional<Expr> as_polynomial(const Expr& f, SymbolKind kind, int degree) {
  const KindSet bit = kind_bit(kind);
  const PostOrder order = post_order(std::span(&f, 1));
  const std::vector<int> bounds = degree_bounds(order, kind);
  const auto at = [&](const ExprNode* n) { return static_cast<std::size_t>(order.index.at(n)); };
  const auto shows = [&](std::size_t i) { return bounds[i] != no_polynomial && bounds[i] <= degree; };
  if (shows(order.nodes.size() - 1)) return f;

  // Down through sums and factors that are free of the kind: a sum of a thousand addends is expanded one by one.
  enum class Role : char { unused, kept, split, expand };
  std::vector<Role> role(order.nodes.size(), Role::unused);
  const auto mark = [&](std::size_t i) {
    if (role[i] == Role::unused) role[i] = shows(i) ? Role::kept : Role::split;
  };
  mark(order.nodes.size() - 1);
  for (std::size_t i = order.nodes.size(); i-- > 0;) {
    if (role[i] != Role::split) continue;
    const ExprNode* n = order.nodes[i];
    const auto is_free = [&](int k) { return (n->args[static_cast<std::size_t>(k)]->kinds & bit) == 0; };
    const bool splits = n->op == Op::add || n->op == Op::sub || n->op == Op::neg ||
                        (n->op == Op::mul && (is_free(0) || is_free(1))) || (n->op == Op::div && is_free(1));
    if (!splits) {
      role[i] = Role::expand;
      continue;
    }
    for (const ExprNode* a : n->arguments()) mark(at(a));
  }
  std::vector<Expr> made(order.nodes.size());
  std::vector<Expr> args;
  bool done = true;
  for (std::size_t i = 0; i < order.nodes.size() && done; ++i) {
    const Expr self = Expr::of(order.nodes[i]);
    if (role[i] == Role::kept) made[i] = self;
    if (role[i] == Role::expand) {
      const auto form = expanded(self, kind, degree);
      done = form.has_value();
      if (form) made[i] = *form;
    }
    if (role[i] == Role::split) {
      args.clear();
      for (const ExprNode* a : order.nodes[i]->arguments()) args.push_back(made[at(a)]);
      made[i] = make_simplified(order.nodes[i]->op, args);
    }
  }
  if (done) return made.back();
  // The addends may still cancel one another.
  return expanded(f, kind, degree);
}

bool has_degree_at_most(const Expr& f, SymbolKind kind, int degree) {
  return as_polynomial(f, kind, degree).has_value();
}

std::optional<int> degree_in(const Expr& f, SymbolKind kind) {
  if ((f.kinds() & kind_bit(kind)) == 0) return 0;
  const auto form = rational_expr(f);
  const auto degree = form ? degree_bound(*form, kind) : std::nullopt;
  // The expansion may have cancelled what is singular.
  return degree && as_polynomial(f, kind, *degree) ? degree : std::nullopt;
}

bool is_linear_in(const Expr& f, const std::function<bool(const Expr& symbol)>& chosen) {
  const PostOrder order = post_order(std::span(&f, 1));
  std::vector<char> holds(order.nodes.size(), 0);  // one of the symbols
  for (std::size_t k = 0; k < order.nodes.size(); ++k) {
    const ExprNode* n = order.nodes[k];
    const Expr e = Expr::of(n);
    if (e.is_symbol()) {
      holds[k] = chosen(e);
      continue;
    }
    int count = 0;
    bool first = false;
    for (int a = 0; const ExprNode* arg : n->arguments()) {
      const bool here = holds[static_cast<std::size_t>(order.index.at(arg))] != 0;
      count += here;
      first |= a++ == 0 && here;
    }
    if (count == 0) continue;
    holds[k] = 1;
    switch (n->op) {
      case Op::add:
      case Op::sub:
      case Op::neg:
        break;
      case Op::mul:
        if (count > 1) return false;
        break;
      case Op::div:
        if (!first || count > 1) return false;
        break;
      case Op::select:
        if (first) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace mechanician
