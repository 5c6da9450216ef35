#include "mechanician/expression/quadratic_form.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

class Elimination {
 public:
  Elimination(const Expr& f, std::span<const Expr> symbols)
      : order_(post_order(std::span(&f, 1))), num_symbols_(symbols.size()) {
    for (std::size_t i = 0; i < symbols.size(); ++i) symbol_.emplace(symbols[i].node(), static_cast<int>(i));
  }

  std::optional<std::vector<QuadraticTerm>> terms() {
    const std::size_t count = order_.nodes.size();
    degree_.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i)
      if (!find_degree(i)) return std::nullopt;
    factors_.assign(count, Expr(0));
    edges_.resize(num_symbols_ + count);
    if (count > 0 && degree_.back() == 2) factors_.back() = 1;
    for (std::size_t i = count; i-- > 0;) {
      if (degree_[i] == 2) open(i);
      if (degree_[i] == 1 && !symbol_.contains(order_.nodes[i])) eliminate(i);
    }
    std::vector<QuadraticTerm> found;
    for (std::size_t j = 0; j < num_symbols_; ++j)
      for (auto& [i, value] : edges_[j])
        if (!value.is_zero()) found.push_back({static_cast<int>(i), static_cast<int>(j), value});
    std::sort(found.begin(), found.end(), [](const QuadraticTerm& a, const QuadraticTerm& b) {
      return std::pair(a.row, a.col) < std::pair(b.row, b.col);
    });
    return found;
  }

 private:
  std::size_t argument(std::size_t i, int k) const {
    return static_cast<std::size_t>(order_.index.at(order_.nodes[i]->args[static_cast<std::size_t>(k)]));
  }
  int degree_of(std::size_t i, int k) const { return degree_[argument(i, k)]; }

  /// False: of a kind that is not known here.
  bool find_degree(std::size_t i) {
    const ExprNode* n = order_.nodes[i];
    if (symbol_.contains(n)) {
      degree_[i] = 1;
      return true;
    }
    if (n->symbol && !n->symbol->depends.empty()) return false;
    int most = 0;
    for (int k = 0; k < n->num_args; ++k) most = std::max(most, degree_of(i, k));
    if (most == 0) return true;
    switch (n->op) {
      case Op::add:
      case Op::sub:
      case Op::neg:
        degree_[i] = most;
        return true;
      case Op::mul:
        degree_[i] = degree_of(i, 0) + degree_of(i, 1);
        return degree_[i] <= 2;
      case Op::div:
        degree_[i] = degree_of(i, 0);
        return degree_of(i, 1) == 0;
      case Op::pow:
        degree_[i] = 2;
        return degree_of(i, 0) == 1 && Expr::of(n).arg(1).is_constant(2.0);
      default:
        return false;
    }
  }

  static Expr times(const Expr& a, const Expr& b) {
    if (a.is_zero() || b.is_zero()) return 0;
    return make_simplified(Op::mul, {a, b});
  }
  static void add_to(Expr& sum, const Expr& term) {
    if (!term.is_zero()) sum = sum.is_zero() ? term : make_simplified(Op::add, {sum, term});
  }

  /// Symbols come last, whatever is made of them.
  std::size_t rank(std::size_t i) const {
    const auto found = symbol_.find(order_.nodes[i]);
    return found == symbol_.end() ? num_symbols_ + i : static_cast<std::size_t>(found->second);
  }
  /// The second derivative by two quantities, of which the one that is eliminated first keeps it.
  void add_edge(std::size_t a, std::size_t b, const Expr& value) {
    if (!value.is_zero()) add_to(edges_[std::max(a, b)][std::min(a, b)], value);
  }

  /// A node of degree two, which f has `factor` times.
  void open(std::size_t i) {
    const Expr factor = factors_[i];
    if (factor.is_zero()) return;
    const Expr self = Expr::of(order_.nodes[i]);
    const auto hand_on = [&](int k, const Expr& value) {
      if (degree_of(i, k) == 2) add_to(factors_[argument(i, k)], value);
    };
    switch (self.op()) {
      case Op::add:
        hand_on(0, factor), hand_on(1, factor);
        break;
      case Op::sub:
        hand_on(0, factor), hand_on(1, make_simplified(Op::neg, {factor}));
        break;
      case Op::neg:
        hand_on(0, make_simplified(Op::neg, {factor}));
        break;
      case Op::div:
        hand_on(0, make_simplified(Op::div, {factor, self.arg(1)}));
        break;
      case Op::mul:
        if (degree_of(i, 0) == 1) {
          const std::size_t a = rank(argument(i, 0)), b = rank(argument(i, 1));
          add_edge(a, b, a == b ? times(2, factor) : factor);
        } else {
          hand_on(0, times(factor, self.arg(1))), hand_on(1, times(factor, self.arg(0)));
        }
        break;
      default: {  // a square
        const std::size_t a = rank(argument(i, 0));
        add_edge(a, a, times(2, factor));
      }
    }
  }

  /// A linear node z = Σ c y, with all that multiplies it known.
  void eliminate(std::size_t i) {
    const std::map<std::size_t, Expr> edges = std::exchange(edges_[rank(i)], {});
    if (edges.empty()) return;
    const Expr self = Expr::of(order_.nodes[i]);
    std::vector<std::pair<std::size_t, Expr>> parts;  // by rank
    const auto part = [&](int k, const Expr& c) {
      if (degree_of(i, k) != 1) return;
      const std::size_t at = rank(argument(i, k));
      for (auto& [known, sum] : parts)
        if (known == at) return add_to(sum, c);
      parts.emplace_back(at, c);
    };
    switch (self.op()) {
      case Op::add:
        part(0, 1), part(1, 1);
        break;
      case Op::sub:
        part(0, 1), part(1, -1);
        break;
      case Op::neg:
        part(0, -1);
        break;
      case Op::div:
        part(0, make_simplified(Op::div, {Expr(1), self.arg(1)}));
        break;
      default:
        part(0, self.arg(1)), part(1, self.arg(0));
    }
    for (const auto& [other, value] : edges) {
      if (other == rank(i)) continue;
      for (const auto& [at, c] : parts) {
        const Expr more = times(c, value);
        add_edge(at, other, at == other ? times(2, more) : more);
      }
    }
    const auto own = edges.find(rank(i));
    if (own == edges.end()) return;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Expr more = times(parts[k].second, own->second);
      for (std::size_t l = k; l < parts.size(); ++l)
        add_edge(parts[k].first, parts[l].first, times(parts[l].second, more));
    }
  }

  PostOrder order_;
  std::size_t num_symbols_;
  NodeIndex symbol_;
  std::vector<int> degree_;
  std::vector<Expr> factors_;                       ///< of nodes of degree two
  std::vector<std::map<std::size_t, Expr>> edges_;  ///< by rank, to lower ranks
};

}  // namespace

std::optional<std::vector<QuadraticTerm>> quadratic_terms(const Expr& f, std::span<const Expr> symbols) {
  return Elimination(f, symbols).terms();
}

}  // namespace mechanician
