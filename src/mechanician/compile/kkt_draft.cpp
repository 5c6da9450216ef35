#include "mechanician/compile/kkt_draft.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "mechanician/compile/row_weights.hpp"

namespace mechanician {

namespace {

const Number zero = constant_number(0.0), one = constant_number(1.0);

/// A row that has shrunk to this much of its size may have become rounding of its own terms.
constexpr double least_row = 1e-6;
/// Mass that directions without any get in projections, of what coordinates weigh.
constexpr double loose_mass = 1e-13;
/// Largest √(Σ P λ²) over the accelerations with and without constraints, all in the mass metric. Rows hold to about
/// eps times that.
constexpr double largest_load = 1e3;
/// Largest M_ii/d_i of M + AᵀWA. A definite M cannot be had in a better condition; M + AᵀWA can, by the robust path, which weighs
/// anew, where constant weights have come to be far off (with 1e6 here, q̈ was seen to be off by 4e-7).
constexpr double largest_weighted_growth = 1e4;
/// Two rows are solved for by Cramer's rule if they are so many times better than they have to be, at the reference: the
/// motion may go where they are worse.
constexpr double cramer_margin = 100.0;
/// Largest correction by a step of refinement.
constexpr double largest_change = 1e-6;
/// Larger sums of squares are not vouched for.
constexpr double largest_square = 1e300;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// |c| of an expression written as ±c·x.
double constant_factor(Expr e) {
  while (e.op() == Op::neg) e = e.arg(0);
  if (e.op() != Op::mul) return 1.0;
  for (int i = 0; i < 2; ++i)
    if (e.arg(i).is_constant()) return std::abs(e.arg(i).value());
  return 1.0;
}

/// e/c where that only changes constants, exactly.
std::optional<Expr> divide(const Expr& e, double c, int depth = 100) {
  if (depth == 0) return std::nullopt;
  const auto both = [&](auto make) -> std::optional<Expr> {
    const auto a = divide(e.arg(0), c, depth - 1), b = a ? divide(e.arg(1), c, depth - 1) : a;
    return b ? std::optional(make(*a, *b)) : std::nullopt;
  };
  const auto times = [](const Expr& a, const Expr& b) { return a.is_one() ? b : b.is_one() ? a : a * b; };
  switch (e.op()) {
    case Op::constant:
      return e.value() / c * c == e.value() ? std::optional(Expr(e.value() / c)) : std::nullopt;
    case Op::neg: {
      const auto a = divide(e.arg(0), c, depth - 1);
      return a ? std::optional(-*a) : std::nullopt;
    }
    case Op::add:
      return both([](const Expr& a, const Expr& b) { return a + b; });
    case Op::sub:
      return both([](const Expr& a, const Expr& b) { return a - b; });
    case Op::mul:
      if (const auto a = divide(e.arg(0), c, depth - 1)) return times(*a, e.arg(1));
      if (const auto b = divide(e.arg(1), c, depth - 1)) return times(e.arg(0), *b);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

KktDraft::KktDraft(const Equations& eqs, const ProgramOptions& options, const std::vector<int>& rows, bool loose)
    : KktDraft(ProgramInputs(eqs, options), eqs, options, rows, loose) {}

KktDraft::KktDraft(const ProgramInputs& inputs, const Equations& eqs, const ProgramOptions& options,
                   const std::vector<int>& rows, bool loose)
    : builder(inputs.count()),
      numbers(builder),
      eqs_(eqs),
      options_(options),
      symbols_(inputs.symbols()),
      inputs_(inputs.values_in(builder)) {
  // Entries that do not depend on the state cost no steps; the rest at least one each.
  const std::size_t entries = eqs.A.entries.size() + eqs.M.entries.size();
  if (static_cast<long>(entries) > 2 * options.most_steps) {
    problem = "too large";
    return;
  }

  read_mass();
  read_rows(rows);
  if (!problem.empty()) return;
  KktMatrix K{eqs.n(), static_cast<int>(kept.size()), M, {}};
  for (std::size_t j = 0; j < kept.size(); ++j)
    for (const auto& [i, a] : kept[j].a) K.A.push_back({static_cast<int>(j), i, a});
  add_weights(K, loose);
  M_diagonal.assign(at(eqs.n()), zero);
  for (const auto& e : K.M)
    if (e.row == e.col) M_diagonal[at(e.row)] = e.value;

  EliminationLimits limits{.joint_pivots = options.joint_pivots};
  if (options.refine) limits.growth = 1e11, path += ", refined";
  if (is_weighted()) limits.mass_growth = largest_weighted_growth;
  elimination.emplace(numbers, std::move(K), limits, options.most_steps);
  problem = elimination->problem();
  if (!problem.empty() || options.reference.empty()) return;

  least = at_reference(elimination->row_sizes());
  for (double& x : least) x = std::isfinite(x) && x > 0.0 ? x * least_row * least_row : 0.0;
  if (!options.compared || !elimination->pair()) return;
  const std::vector<double> pair = at_reference({elimination->pair()->product, elimination->pair()->D});
  if (!(pair[1] * limits.pair_growth > cramer_margin * pair[0]) || !std::isfinite(pair[0])) return;
  elimination->solve_pair_by_cramer();
  least_pair_ = pair[0] * least_row * least_row;
}

std::vector<double> KktDraft::at_reference(const std::vector<Number>& wanted) {
  return evaluate_at({options_.reference}, wanted).front();
}

std::vector<std::vector<double>> KktDraft::evaluate_at(const std::vector<std::vector<double>>& inputs,
                                                       const std::vector<Number>& wanted) {
  std::vector<ProgramBuilder::Value> outputs;
  for (const Number& x : wanted) outputs.push_back(numbers.value_of(x));
  const Program program = builder.finish(outputs);
  std::vector<double> registers(at(program.num_registers()));
  std::vector<std::vector<double>> values(inputs.size(), std::vector<double>(outputs.size()));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    program.evaluate(inputs[k].data(), registers.data(), values[k].data());
  return values;
}

std::vector<Number> KktDraft::evaluate(const std::vector<Expr>& expressions, const std::vector<Expr>& more_symbols,
                                       const std::vector<Number>& more) {
  std::vector<Expr> symbols = symbols_;
  std::vector<ProgramBuilder::Value> inputs = inputs_;
  symbols.insert(symbols.end(), more_symbols.begin(), more_symbols.end());
  for (const Number& x : more) inputs.push_back(numbers.value_of(x));
  return numbers.adopt(builder.append(Tape(expressions, symbols), inputs));
}

Number KktDraft::scaled_rhs(const DraftRow& row, const Expr& value) {
  if (row.scale != 1.0)
    if (const auto divided = divide(value, row.scale)) return evaluate({*divided})[0];
  return numbers.mul(constant_number(1.0 / row.scale), evaluate({value})[0]);
}

void KktDraft::read_mass() {
  std::vector<Expr> values;
  for (const auto& e : eqs_.M.entries) values.push_back(e.value);
  const std::vector<Number> all = evaluate(values);
  std::map<std::pair<int, int>, Number> upper;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& e = eqs_.M.entries[k];
    if (e.row >= e.col)
      M.push_back({e.row, e.col, all[k]});
    else
      upper[{e.col, e.row}] = all[k];
  }
  // Both halves have to be the same: as values, or else by what they come to.
  const auto compare = [&](const Number& a, const Number& b) {
    const Number difference = numbers.sub(a, b);
    if (difference.is_zero() || (a.value == b.value && a.scale == b.scale)) return;
    const Number size = numbers.add(abs(a), abs(b));
    margins.push_back(numbers.sub(numbers.mul(constant_number(1e-12), size), abs(difference)));
    margins.back() = numbers.add(margins.back(), constant_number(1e-300));
  };
  for (const auto& e : M) {
    if (e.row == e.col) continue;
    const auto other = upper.find({e.row, e.col});
    compare(e.value, other == upper.end() ? zero : other->second);
    if (other != upper.end()) upper.erase(other);
  }
  for (const auto& [place, value] : upper)
    if (!value.is_zero()) problem = "the mass matrix is not symmetric";
}

void KktDraft::read_rows(const std::vector<int>& rows) {
  std::map<int, std::vector<const SparseExprMatrix::Entry*>> of_row;
  for (const auto& e : eqs_.A.entries) of_row[e.row].push_back(&e);
  std::vector<Expr> values;
  std::vector<DraftRow> drafts;
  for (const int j : rows) {
    DraftRow row{j, 1.0, {}};
    double c = 1.0;
    for (const auto* e : of_row[j])
      if (c == 1.0) c = constant_factor(e->value);
    std::vector<Expr> divided;
    if (c > 0.0 && c != 1.0)
      for (const auto* e : of_row[j])
        if (const auto d = divide(e->value, c)) divided.push_back(*d);
    if (!divided.empty() && divided.size() == of_row[j].size()) row.scale = c;
    for (std::size_t k = 0; k < of_row[j].size(); ++k) {
      row.a.push_back({of_row[j][k]->col, zero});
      values.push_back(row.scale == 1.0 ? of_row[j][k]->value : divided[k]);
    }
    drafts.push_back(std::move(row));
  }
  const std::vector<Number> all = evaluate(values);
  std::size_t next = 0;
  const auto contains = [](const std::vector<int>& list, int j) {
    return std::find(list.begin(), list.end(), j) != list.end();
  };
  for (DraftRow& row : drafts) {
    for (auto& [i, a] : row.a) a = all[next++];
    std::erase_if(row.a, [](const auto& entry) { return entry.second.is_zero(); });
    if (contains(options_.inert, row.row)) continue;
    (contains(options_.dropped, row.row) ? dropped : kept).push_back(std::move(row));
  }
}

/// Where M is singular: M + AᵀWA, rows of about unit size in coordinates that are in units of their own mass (or, if
/// they have none, in units that make their coefficients about 1).
void KktDraft::add_weights(KktMatrix& K, bool loose) {
  const int n = eqs_.n();
  std::vector<Number> diagonal(at(n), zero);
  for (const auto& e : M)
    if (e.row == e.col) diagonal[at(e.row)] = e.value;
  const auto massless = [&](int i) { return diagonal[at(i)].is_zero(); };
  bool singular = options_.singular_mass;
  for (int i = 0; i < n; ++i) singular |= massless(i);
  if (!singular) return;
  path += ", singular mass";

  weights_.assign(kept.size(), zero);
  std::vector<char> weighted(kept.size(), options_.singular_mass ? 1 : 0);
  for (std::size_t j = 0; j < kept.size(); ++j)
    for (const auto& [i, a] : kept[j].a)
      if (massless(i)) weighted[j] = 1;
  if (options_.reference.empty())
    weigh_rows(diagonal, weighted);
  else
    weigh_rows_at_reference(diagonal, weighted);
  std::map<std::pair<int, int>, std::vector<Numbers::Product>> sums;
  for (std::size_t j = 0; j < kept.size(); ++j)
    if (weighted[j])
      for (const auto& [i, a] : kept[j].a)
        for (const auto& [k, b] : kept[j].a)
          if (i >= k) sums[{i, k}].push_back({weights_[j], a, b});
  for (auto& e : K.M)
    if (const auto more = sums.find({e.row, e.col}); more != sums.end()) {
      e.value = numbers.add(e.value, numbers.sum(more->second));
      sums.erase(more);
    }
  for (const auto& [place, products] : sums) K.M.push_back({place.first, place.second, numbers.sum(products)});
  if (!loose) return;
  Number largest = zero;
  std::vector<char> has(at(n), 0);
  for (const auto& e : K.M)
    if (e.row == e.col) largest = numbers.apply(Op::max, largest, e.value), has[at(e.row)] = 1;
  const auto little = [&](int i) {
    const Number of = coordinate_weights_.empty() ? largest : constant_number(coordinate_weights_[at(i)]);
    return numbers.mul(constant_number(loose_mass), of);
  };
  for (auto& e : K.M)
    if (e.row == e.col) e.value = numbers.add(e.value, little(e.row));
  for (int i = 0; i < n; ++i)
    if (!has[at(i)]) K.M.push_back({i, i, little(i)});
}

void KktDraft::weigh_rows(const std::vector<Number>& diagonal, const std::vector<char>& weighted) {
  std::vector<Number> s2(diagonal.size(), zero);  // squared units
  for (std::size_t i = 0; i < s2.size(); ++i) {
    if (!diagonal[i].is_zero()) {
      s2[i] = numbers.reciprocal(diagonal[i]);
      continue;
    }
    std::vector<Numbers::Product> squares;
    for (std::size_t j = 0; j < kept.size(); ++j)
      for (const auto& [col, a] : kept[j].a)
        if (at(col) == i && weighted[j]) squares.push_back({one, a, a});
    if (!squares.empty()) s2[i] = numbers.reciprocal(numbers.sum(squares));
  }
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (!weighted[j]) continue;
    std::vector<Numbers::Product> size;
    for (const auto& [i, a] : kept[j].a) size.push_back({s2[at(i)], a, a});
    weights_[j] = numbers.reciprocal(numbers.sum(size));
  }
}

/// Those of one state do for all states where they are of about the right size, and cost no steps.
void KktDraft::weigh_rows_at_reference(const std::vector<Number>& diagonal, const std::vector<char>& weighted) {
  std::vector<Number> wanted = diagonal;
  RowPattern rows;
  std::vector<std::size_t> which;
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (!weighted[j]) continue;
    for (const auto& [i, a] : kept[j].a) rows.cols.push_back(i), wanted.push_back(a);
    rows.begin.push_back(static_cast<int>(rows.cols.size()));
    which.push_back(j);
  }
  const auto q = std::span(options_.reference).subspan(1, at(eqs_.n()));
  std::vector<std::vector<double>> inputs;
  std::vector<std::pair<int, int>> coupled;
  for (const auto& e : M)
    if (e.row != e.col) coupled.emplace_back(e.row, e.col);
  for (const std::vector<double>& state : states_around(q, rows, std::move(coupled))) {
    inputs.push_back(options_.reference);
    std::copy(state.begin(), state.end(), inputs.back().begin() + 1);
  }
  TypicalSizes sizes;
  for (const StateRow& z : eqs_.states)
    if (eqs_.rows[at(z.row)].unfelt) sizes.unfelt.push_back(z.coordinate);
  for (const std::vector<double>& values : evaluate_at(inputs, wanted))
    sizes.add(std::span(values).first(diagonal.size()), std::span(values).subspan(diagonal.size()));
  coordinate_weights_ = sizes.weigh_coordinates(rows);
  const std::vector<double> weights = sizes.weigh_rows(rows);
  for (std::size_t k = 0; k < which.size(); ++k) weights_[which[k]] = constant_number(weights[k]);
}

Elimination::Solution KktDraft::solve(const std::vector<Number>& f, const std::vector<Number>& g) {
  std::vector<Number> force = f;
  for (std::size_t j = 0; j < weights_.size(); ++j) {
    const Number wg = numbers.mul(weights_[j], g[j]);
    for (const auto& [i, a] : kept[j].a) force[at(i)] = numbers.add(force[at(i)], numbers.mul(a, wg));
  }
  Elimination::Solution solution = elimination->solve(force, g);
  if (options_.refine) {
    // One step is enough where it is small: what is left is about its square.
    Elimination::Solution better = elimination->refine(solution, force, g);
    std::vector<Numbers::Product> change, size;
    for (std::size_t i = 0; i < better.x.size(); ++i) {
      const Number d = numbers.sub(better.x[i], solution.x[i]);
      change.push_back({M_diagonal[i], d, d});
      size.push_back({M_diagonal[i], better.x[i], better.x[i]});
      size.push_back({numbers.reciprocal(M_diagonal[i]), force[i], force[i]});
    }
    const Number allowed = numbers.mul(constant_number(largest_change * largest_change), numbers.sum(size));
    margins.push_back(numbers.add(numbers.sub(allowed, numbers.sum(change)), constant_number(1e-300)));
    return better;
  }
  std::vector<Numbers::Product> forces;
  for (std::size_t i = 0; i < force.size(); ++i)
    forces.push_back({numbers.reciprocal(M_diagonal[i]), force[i], force[i]});
  free_ = numbers.add(free_, numbers.sum(forces));
  for (std::size_t j = 0; j < kept.size(); ++j) {
    const Number& l = solution.lambda[j];
    load_ = numbers.add(load_, numbers.mul(elimination->row_sizes()[j], numbers.mul(l, l)));
  }
  return solution;
}

Elimination::Solution KktDraft::solve_apart(const std::vector<Number>& f) {
  const Number load = std::exchange(load_, zero), free = std::exchange(free_, zero);
  Elimination::Solution solution = solve(f, std::vector<Number>(kept.size(), zero));
  watch_load(mass_square(solution.x));
  load_ = load, free_ = free;
  return solution;
}

std::vector<Number> KktDraft::hold_velocities() {
  std::vector<Number> f(at(eqs_.n()), zero), g, qd = evaluate(eqs_.qd);
  for (const DraftRow& row : kept) {
    const Row& equation = eqs_.rows[at(row.row)];
    g.push_back(-scaled_rhs(row, equation.level == Level::position ? equation.rate : equation.residual));
  }
  const Elimination::Solution correction = elimination->solve(f, g);
  // As in calc_vouch: rounding of the rates is relative to √(Σ P λ²), and has to be small beside velocities.
  Number load = zero;
  std::vector<Numbers::Product> squares;
  for (std::size_t j = 0; j < kept.size(); ++j)
    load = numbers.add(
        load, numbers.mul(elimination->row_sizes()[j], numbers.mul(correction.lambda[j], correction.lambda[j])));
  const auto first = static_cast<std::size_t>(1 + eqs_.n());
  for (std::size_t i = 0; i < qd.size(); ++i) {
    qd[i] = numbers.add(qd[i], correction.x[i]);
    squares.push_back({M_diagonal[i], qd[i], qd[i]});
    squares.push_back({M_diagonal[i], correction.x[i], correction.x[i]});
    inputs_[first + i] = numbers.value_of(qd[i]);
  }
  const Number allowed = numbers.mul(constant_number(largest_load * largest_load), numbers.sum(squares));
  margins.push_back(numbers.add(numbers.sub(allowed, load), constant_number(1e-300)));
  return qd;
}

std::vector<Number> KktDraft::depend(const DraftRow& d) {
  // M x − Aᵀλ = a_d, A x = 0: −λ are the coefficients, M x is what is left.
  std::vector<Number> f(at(eqs_.n()), zero), g(kept.size(), zero);
  std::vector<Numbers::Product> left;
  for (const auto& [i, a] : d.a) f[at(i)] = a;
  Elimination::Solution y = elimination->solve(f, g);
  for (std::size_t i = 0; i < y.x.size(); ++i) left.push_back({M_diagonal[i], y.x[i], y.x[i]});
  const double tau = options_.dropped_tolerance;
  const Number allowed = numbers.mul(constant_number(tau * tau), size_of(d));
  margins.push_back(numbers.add(numbers.sub(allowed, numbers.sum(left)), constant_number(1e-300)));
  for (Number& x : y.lambda) x = -x;
  return std::move(y.lambda);
}

Number KktDraft::size_of(const DraftRow& row) {
  std::vector<Numbers::Product> size;
  for (const auto& [i, a] : row.a) size.push_back({numbers.reciprocal(M_diagonal[at(i)]), a, a});
  return numbers.sum(size);
}

Number KktDraft::clean(const Number& coefficient, const DraftRow& d, std::size_t k) {
  const double tau = 1e-12;
  const Number share = numbers.mul(numbers.mul(coefficient, coefficient), size_of(kept[k]));
  const Number keep = numbers.apply(Op::gt, share, numbers.mul(constant_number(tau * tau), size_of(d)));
  if (keep.is_constant()) return keep.scale != 0.0 ? coefficient : zero;
  return {builder.select(numbers.value_of(keep), numbers.value_of(coefficient), builder.constant(0.0)), 1.0};
}

Number KktDraft::abs(const Number& x) {
  return x.is_constant() ? constant_number(std::abs(x.scale)) : Number{builder.apply(Op::abs, x.value), 1.0};
}

Number KktDraft::dot(const std::vector<Number>& a, const std::vector<Number>& b) {
  Number sum = zero;
  for (std::size_t i = 0; i < a.size(); ++i) sum = numbers.add(sum, numbers.mul(a[i], b[i]));
  return sum;
}

std::vector<Number> KktDraft::times_mass(const std::vector<Number>& x) {
  std::vector<Number> f(x.size(), zero);
  for (const auto& e : M) {
    f[at(e.row)] = numbers.add(f[at(e.row)], numbers.mul(e.value, x[at(e.col)]));
    if (e.row != e.col) f[at(e.col)] = numbers.add(f[at(e.col)], numbers.mul(e.value, x[at(e.row)]));
  }
  return f;
}

Number KktDraft::square_sum(const std::vector<Number>& xs) {
  Number sum = zero;
  for (const Number& x : xs) sum = numbers.add(sum, numbers.mul(x, x));
  return sum;
}

Number KktDraft::mass_square(const std::vector<Number>& x) {
  std::vector<Numbers::Product> squares;
  for (std::size_t i = 0; i < x.size(); ++i) squares.push_back({M_diagonal[i], x[i], x[i]});
  return numbers.sum(squares);
}

/// The elimination solves  M x − Aᵀλ = f, A x + E λ = g  with E of about eps·√(P_j P_k): √(Σ P λ²) is what the
/// rounding of A x is relative to. Where rows are nearly dependent in ways that no single pivot shows, λ is large.
void KktDraft::watch_load(const Number& size) {
  if (options_.refine || load_.is_zero()) return;
  const Number most = constant_number(largest_load * largest_load);
  const Number more = numbers.add(numbers.mul(most, free_), constant_number(1e-300));
  margins.push_back(numbers.sub(numbers.add(numbers.mul(most, size), more), load_));
}

Number KktDraft::calc_vouch(const std::vector<Number>& x, const std::vector<Number>& finite) {
  const std::optional<double> least_pair = options_.vouch_for_pivots ? std::optional(least_pair_) : std::nullopt;
  Number vouch = options_.compared ? elimination->calc_comparisons(least, least_pair) : elimination->calc_vouch(least);
  if (options_.vouch_for_pivots) return vouch;
  const Number size = mass_square(x);
  watch_load(size);
  const Number all = numbers.add(size, square_sum(finite));
  if (options_.compared)
    margins.push_back(numbers.sub(constant_number(largest_square), all));
  else
    vouch = numbers.sub(vouch, numbers.mul(constant_number(1.0 / largest_square), all));
  for (const Number& margin : margins)
    if (!(margin.is_constant() && margin.scale > 0.0)) vouch = numbers.apply(Op::min, vouch, margin);
  return vouch;
}

}  // namespace mechanician
