#include "mechanician/compile/elimination.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mechanician {

namespace {

const Number zero = constant_number(0.0), one = constant_number(1.0);

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Elimination::Elimination(Numbers& numbers, KktMatrix matrix, const EliminationLimits& limits, long most_products)
    : numbers_(&numbers), K_(std::move(matrix)), limits_(limits) {
  const auto is_zero = [](const KktMatrix::Entry& e) { return e.value.is_zero(); };
  std::erase_if(K_.M, is_zero);
  std::erase_if(K_.A, is_zero);
  const std::size_t n = at(K_.n), m = at(K_.m);
  uncoupled_.assign(n, 1);
  inverse_mass_.assign(n, zero);
  by_row_.resize(m), by_col_.resize(n);
  H_.assign(n, zero), mass_inverse_ = H_;
  P_.assign(m, zero), s_ = s_inverse_ = P_;
  joined_.assign(m, 0);
  R_.resize(m);
  for (const auto& e : K_.M) {
    assert(e.row >= e.col);
    if (e.row == e.col)
      H_[at(e.row)] = e.value;
    else
      uncoupled_[at(e.row)] = uncoupled_[at(e.col)] = 0;
  }
  for (const auto& e : K_.A) {
    by_row_[at(e.row)].push_back({e.col, e.value});
    by_col_[at(e.col)].push_back({e.row, e.value});
  }
  for (int i = 0; i < K_.n; ++i)
    if (H_[at(i)].is_zero() || (H_[at(i)].is_constant() && !(H_[at(i)].scale > 0.0))) {
      problem_ = "the mass matrix is singular";
      return;
    }
  for (int j = 0; j < K_.m; ++j)
    if (by_row_[at(j)].empty()) {
      problem_ = "a row has no coefficients";
      return;
    }
  for (int i = 0; i < K_.n; ++i)
    if (uncoupled_[at(i)]) inverse_mass_[at(i)] = numbers_->reciprocal(H_[at(i)]);
  form_T();
  if (!find_order(most_products)) return;
  for (const int node : order_)
    if ((is_row(node) || !uncoupled_[at(node)]) && !eliminate(node)) return;
}

/// T = A M⁻¹Aᵀ over the uncoupled coordinates, and what else there is off the diagonal.
void Elimination::form_T() {
  for (int j = 0; j < K_.m; ++j) {
    // Rows up to j that share an uncoupled coordinate with row j, itself included.
    std::map<int, std::vector<Numbers::Product>> others;
    for (const Link& a : by_row_[at(j)]) {
      if (!uncoupled_[at(a.node)]) continue;
      for (const Link& b : by_col_[at(a.node)])
        if (b.node <= j) others[b.node].push_back({inverse_mass_[at(a.node)], a.l, b.l});
    }
    for (const auto& [k, products] : others) {
      const Number t = numbers_->sum(products);
      if (k == j)
        P_[at(j)] = t;
      else if (!t.is_zero())
        joints_.push_back({K_.n + j, K_.n + k, t});
    }
  }
  for (const auto& e : K_.M)
    if (e.row != e.col) joints_.push_back({e.row, e.col, e.value});
  for (const auto& e : K_.A)
    if (!uncoupled_[at(e.col)]) joints_.push_back({K_.n + e.row, e.col, e.value});
}

bool Elimination::find_order(long most_products) {
  const int count = K_.n + K_.m;
  for (int i = 0; i < K_.n; ++i)
    if (uncoupled_[at(i)]) order_.push_back(i);
  // The nodes that are left, numbered anew.
  EliminationGraph graph;
  std::vector<int> number(at(count), -1), node;
  for (int v = 0; v < count; ++v) {
    if (!is_row(v) && uncoupled_[at(v)]) continue;
    number[at(v)] = static_cast<int>(node.size());
    node.push_back(v);
    ++(is_row(v) ? graph.num_rows : graph.num_coordinates);
  }
  for (const Joint& j : joints_) graph.edges.push_back({number[at(j.a)], number[at(j.b)]});
  const auto found = find_elimination_order(graph, most_products);
  if (!found) {
    problem_ = "too large";
    return false;
  }
  for (const int v : found->nodes) order_.push_back(node[at(v)]);
  position_.assign(at(count), -1);
  for (std::size_t k = 0; k < order_.size(); ++k) position_[at(order_[k])] = static_cast<int>(k);
  entries_.resize(at(count));
  for (const Joint& j : joints_) entry(j.a, j.b) = j.value;
  return true;
}

Number& Elimination::entry(int a, int b) {
  return position_[at(a)] < position_[at(b)] ? entries_[at(a)].try_emplace(b, zero).first->second
                                             : entries_[at(b)].try_emplace(a, zero).first->second;
}

bool Elimination::eliminate(int node) {
  const int j = node - K_.n;
  Number pivot;
  if (is_row(node)) {
    pivot = P_[at(j)];
    for (const auto& product : R_[at(j)]) pivot = numbers_->sub(pivot, numbers_->mul(product.a, product.b));
    if (pivot.is_constant() && !(pivot.scale * limits_.growth > P_[at(j)].scale)) {
      problem_ = "rows depend on each other";
      return false;
    }
  } else {
    pivot = H_[at(node)];
    if (pivot.is_constant() && !(pivot.scale > 0.0)) {
      problem_ = "the mass matrix is singular";
      return false;
    }
  }
  if (is_row(node) && !joined_[at(j)]) s_[at(j)] = pivot;
  if (limits_.joint_pivots && is_row(node) && order_.size() >= 2 &&
      position_[at(node)] == static_cast<int>(order_.size()) - 2 && is_row(order_.back()))
    join_pivots(node, order_.back(), pivot);
  Pivot column{node, is_row(node) && joined_[at(j)] ? s_inverse_[at(j)] : numbers_->reciprocal(pivot), {}};
  (is_row(node) ? s_inverse_[at(j)] : mass_inverse_[at(node)]) = column.inverse;

  std::vector<Link> links;  // entries that are left, with the pivot still to be divided by
  for (const auto& [other, value] : entries_[at(node)])
    if (!value.is_zero()) links.push_back({other, value});
  // Last to be eliminated first: going back, what is known last comes last in every sum, and nothing waits for the
  // rest.
  std::sort(links.begin(), links.end(),
            [&](const Link& a, const Link& b) { return position_[at(a.node)] > position_[at(b.node)]; });
  for (const Link& link : links) column.links.push_back({link.node, numbers_->mul(link.l, column.inverse)});
  for (std::size_t a = 0; a < links.size(); ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      const int u = links[a].node, v = links[b].node;
      const Number &l = column.links[a].l, &w = links[b].l;
      if (u == v) {
        if (!is_row(u)) {
          const Number product = numbers_->mul(l, w);
          H_[at(u)] = is_row(node) ? numbers_->add(H_[at(u)], product) : numbers_->sub(H_[at(u)], product);
        } else if (is_row(node)) {
          R_[at(u - K_.n)].push_back({one, l, w});
        } else {
          P_[at(u - K_.n)] = numbers_->add(P_[at(u - K_.n)], numbers_->mul(l, w));
        }
        continue;
      }
      // H gains from rows, T from coordinates; everything else is a loss.
      const bool gain = is_row(node) ? !is_row(u) && !is_row(v) : is_row(u) && is_row(v);
      Number& value = entry(u, v);
      const Number product = numbers_->mul(l, w);
      value = gain ? numbers_->add(value, product) : numbers_->sub(value, product);
    }
  pivots_.push_back(std::move(column));
  return true;
}

void Elimination::join_pivots(int a, int b, const Number& pivot) {
  Numbers& with = *numbers_;
  const Number T = entry(a, b);
  Number rest = P_[at(b - K_.n)];
  for (const auto& product : R_[at(b - K_.n)]) rest = with.sub(rest, with.mul(product.a, product.b));
  const Number product = with.mul(pivot, rest), D = with.sub(product, with.mul(T, T));
  // Constants are divided by while building; what they come to is checked pivot by pivot.
  if (pivot.is_constant() || T.is_zero() || D.is_constant()) return;
  const Number u = with.reciprocal(with.mul(pivot, D));
  s_inverse_[at(a - K_.n)] = with.mul(D, u), s_inverse_[at(b - K_.n)] = with.mul(with.mul(pivot, pivot), u);
  joined_[at(a - K_.n)] = joined_[at(b - K_.n)] = 1;
  s_[at(b - K_.n)] = D;
  const bool any_coupled = std::find(uncoupled_.begin(), uncoupled_.end(), 0) != uncoupled_.end();
  if (R_[at(a - K_.n)].empty() && R_[at(b - K_.n)].empty() && !rest.is_constant() && !any_coupled)
    pair_ = Pair{a - K_.n, b - K_.n, T, product, D, with.reciprocal(D)};
}

Elimination::Solution Elimination::solve(const std::vector<Number>& f, const std::vector<Number>& g) {
  Numbers& with = *numbers_;
  Solution y{f, g};
  const auto of = [&](int node) -> Number& { return is_row(node) ? y.lambda[at(node - K_.n)] : y.x[at(node)]; };
  // Forward. x of uncoupled coordinates without constraints first: g − A M⁻¹f.
  std::vector<Number> free(at(K_.n), zero);
  for (int i = 0; i < K_.n; ++i)
    if (uncoupled_[at(i)])
      free[at(i)] = H_[at(i)].is_constant() && f[at(i)].is_constant()
                        ? constant_number(f[at(i)].scale / H_[at(i)].scale)  // alike for all masses in one field
                        : with.mul(inverse_mass_[at(i)], f[at(i)]);
  for (int j = 0; j < K_.m; ++j) {
    std::vector<Numbers::Product> products{{g[at(j)]}};
    for (const Link& a : by_row_[at(j)])
      if (uncoupled_[at(a.node)]) products.push_back({one, -a.l, free[at(a.node)]});
    y.lambda[at(j)] = with.sum(products);
  }
  for (const Pivot& p : pivots_)
    for (const Link& link : in_pair(p.node) ? std::vector<Link>{} : p.links) {
      const Number product = with.mul(link.l, of(p.node));
      const bool gain = is_row(p.node) && !is_row(link.node);
      of(link.node) = gain ? with.add(of(link.node), product) : with.sub(of(link.node), product);
    }
  // Backward. A row: s λ = y − G x − T λ; a coordinate: d x = y − H x + Gᵀλ.
  if (cramer_) {
    Number &first = y.lambda[at(pair_->a)], &second = y.lambda[at(pair_->b)];
    const auto calc = [&](const Number& P, const Number& own, const Number& other) {
      return with.mul(with.sub(with.mul(P, own), with.mul(pair_->T, other)), pair_->inverse);
    };
    const Number lambda = calc(P_[at(pair_->b)], first, second);
    second = calc(P_[at(pair_->a)], second, first), first = lambda;
  }
  for (auto p = pivots_.rbegin(); p != pivots_.rend(); ++p) {
    if (in_pair(p->node)) continue;
    Number value = with.mul(of(p->node), p->inverse);
    for (const Link& link : p->links) {
      const Number product = with.mul(link.l, of(link.node));
      const bool gain = !is_row(p->node) && is_row(link.node);
      value = gain ? with.add(value, product) : with.sub(value, product);
    }
    of(p->node) = value;
  }
  for (int i = 0; i < K_.n; ++i) {
    if (!uncoupled_[at(i)]) continue;
    const Number& c = inverse_mass_[at(i)];
    std::vector<Numbers::Product> force;
    if (by_col_[at(i)].size() == 1) {
      // λ/m is shared with the other coordinates of the particle.
      const Link& a = by_col_[at(i)][0];
      y.x[at(i)] = with.add(with.mul(a.l, with.mul(c, y.lambda[at(a.node)])), free[at(i)]);
      continue;
    }
    if (c.is_constant() && c.scale == 1.0 && free[at(i)].is_constant()) {
      // Begun with what is known first: fused from the first product on.
      std::vector<Link> links = by_col_[at(i)];
      std::stable_sort(links.begin(), links.end(), [&](const Link& a, const Link& b) {
        return position_[at(K_.n + a.node)] > position_[at(K_.n + b.node)];
      });
      y.x[at(i)] = free[at(i)];
      for (const Link& a : links) y.x[at(i)] = with.add(y.x[at(i)], with.mul(a.l, y.lambda[at(a.node)]));
      continue;
    }
    for (const Link& a : by_col_[at(i)]) force.push_back({one, a.l, y.lambda[at(a.node)]});
    y.x[at(i)] = f[at(i)].is_constant() || free[at(i)].is_constant()
                     ? with.add(with.mul(c, with.sum(force)), free[at(i)])
                     : with.mul(c, with.add(with.sum(force), f[at(i)]));
  }
  return y;
}

Elimination::Solution Elimination::calc_residual(const Solution& solution, const std::vector<Number>& f,
                                                 const std::vector<Number>& g) {
  Solution r{f, g};
  const auto take = [&](Number& from, const Number& a, const Number& b) {
    from = numbers_->sub(from, numbers_->mul(a, b));
  };
  for (const auto& e : K_.M) {
    take(r.x[at(e.row)], e.value, solution.x[at(e.col)]);
    if (e.row != e.col) take(r.x[at(e.col)], e.value, solution.x[at(e.row)]);
  }
  for (const auto& e : K_.A) {
    take(r.x[at(e.col)], -e.value, solution.lambda[at(e.row)]);
    take(r.lambda[at(e.row)], e.value, solution.x[at(e.col)]);
  }
  return r;
}

Elimination::Solution Elimination::refine(const Solution& solution, const std::vector<Number>& f,
                                          const std::vector<Number>& g) {
  const Solution r = calc_residual(solution, f, g);
  Solution better = solve(r.x, r.lambda);
  for (std::size_t i = 0; i < better.x.size(); ++i) better.x[i] = numbers_->add(solution.x[i], better.x[i]);
  for (std::size_t j = 0; j < better.lambda.size(); ++j)
    better.lambda[j] = numbers_->add(solution.lambda[j], better.lambda[j]);
  return better;
}

Number Elimination::calc_vouch(const std::vector<double>& least) {
  Numbers& with = *numbers_;
  // Coordinates: every pivot positive and not much smaller than its entry of M.
  Number smallest = one, mass_growth = zero;
  bool any = false;
  const auto hold = [&](const Number& margin) {
    if (margin.is_constant() && margin.scale > 0.0) return;
    smallest = any ? with.apply(Op::min, smallest, margin) : margin;
    any = true;
  };
  // The least and the largest M_ii/d_i, of those with one constant factor together: of ladders and chains that is all of them.
  struct Growths {
    double factor;
    Number least, most;
  };
  std::vector<Growths> groups;
  for (const auto& e : K_.M) {
    if (e.row != e.col) continue;
    if (uncoupled_[at(e.row)]) {
      hold(e.value);
      continue;
    }
    const double factor = e.value.is_constant() ? e.value.scale : 1.0;
    const Number& inverse = mass_inverse_[at(e.row)];
    const Number growth = e.value.is_constant() ? inverse : with.mul(e.value, inverse);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Growths& g) { return g.factor == factor; });
    if (same == groups.end())
      groups.push_back({factor, growth, growth});
    else
      same->least = with.apply(Op::min, same->least, growth), same->most = with.apply(Op::max, same->most, growth);
  }
  for (const Growths& g : groups) {
    hold(g.least);  // factors are positive, as diagonal entries are (the constructor)
    mass_growth = with.apply(Op::max, mass_growth, with.mul(constant_number(g.factor), g.most));
  }
  if (!groups.empty()) hold(with.sub(constant_number(limits_.mass_growth), mass_growth));
  // Rows: Σ (P/s)², which is infinite or not a number where a pivot is zero or not a number.
  Number sum = zero;
  for (int j = 0; j < K_.m; ++j) {
    Number size = P_[at(j)];
    if (R_[at(j)].empty()) size = zero;  // s = P
    if (!least.empty() && least[at(j)] > 0.0) size = with.add(size, constant_number(least[at(j)] * limits_.growth));
    const Number growth = with.mul(size, s_inverse_[at(j)]);
    sum = with.add(sum, with.mul(growth, growth));
  }
  const double tau = 1.0 / limits_.growth;
  Number allowed = with.mul(constant_number(1.0 / limits_.mass_growth_free), mass_growth);
  allowed = with.apply(Op::max, one, allowed);
  sum = with.mul(with.mul(allowed, allowed), sum);
  const Number vouch = with.sub(one, with.mul(constant_number(tau * tau), sum));
  return any ? with.apply(Op::min, vouch, smallest) : vouch;
}

Number Elimination::calc_comparisons(const std::vector<double>& least, std::optional<double> least_pair) {
  // What coupled masses add is in the sum.
  if (std::find(uncoupled_.begin(), uncoupled_.end(), 0) != uncoupled_.end()) return calc_vouch(least);
  Numbers& with = *numbers_;
  Number smallest = one;
  const auto hold = [&](const Number& margin) {
    if (margin.is_constant() && margin.scale > 0.0) return;
    smallest = smallest.is_constant() && smallest.scale > 0.0 ? margin : with.apply(Op::min, smallest, margin);
  };
  const auto least_of = [&](int j) { return least.empty() ? 0.0 : std::max(0.0, least[at(j)]); };
  for (const auto& e : K_.M) hold(e.value);
  if (cramer_) hold(calc_pair_margin(least_pair.value_or(0.0)));
  for (int j = 0; j < K_.m; ++j) {
    if (cramer_ && joined_[at(j)]) {
      // s_b is above P_b/pair_growth.
      const double size = least_of(j) * (j == pair_->b ? limits_.pair_growth : 1.0);
      if (!least_pair) hold(with.sub(P_[at(j)], constant_number(size)));
      continue;
    }
    // s > P/growth + least
    Number bound = constant_number(least_of(j));
    if (!R_[at(j)].empty()) bound = with.add(with.mul(constant_number(1.0 / limits_.growth), P_[at(j)]), bound);
    if (joined_[at(j)] && order_.back() == K_.n + j) bound = with.mul(s_[at(order_[order_.size() - 2] - K_.n)], bound);
    hold(with.sub(s_[at(j)], bound));
  }
  return smallest;
}

Number Elimination::calc_pair_margin(double least) {
  Numbers& with = *numbers_;
  const Number bound = with.mul(constant_number(1.0 / limits_.pair_growth), pair_->product);
  return with.sub(pair_->D, with.add(bound, constant_number(least)));
}

}  // namespace mechanician
