#include "mechanician/compile/control_draft.hpp"

#include <algorithm>
#include <utility>

namespace mechanician {

namespace {

const Number zero = constant_number(0.0);

/// A pivot of S over the size of its row, the square of a sine, from which on requirements are clearly their own.
constexpr double clearly = 1e-6;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using Columns = std::vector<std::vector<Number>>;

/// What actuators push along; in the rows of the coordinates as they are here.
Columns draft_actuators(KktDraft& draft, const Equations& eqs) {
  std::vector<Expr> entries;
  for (const auto& e : eqs.control.E.entries) entries.push_back(e.value);
  const std::vector<Number> values = draft.evaluate(entries);
  Columns E(eqs.control.actuators.size(), std::vector<Number>(at(eqs.n()), zero));
  for (std::size_t k = 0; k < values.size(); ++k)
    E[at(eqs.control.E.entries[k].col)][at(eqs.control.E.entries[k].row)] = values[k];
  return E;
}

std::vector<Number> combine(Numbers& with, const Columns& columns, const std::vector<Number>& weights, int n) {
  std::vector<Number> sum(at(n), zero);
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = with.add(sum[i], with.mul(columns[k][i], weights[k]));
  return sum;
}

/// S = L D Lᵀ in the order of the file.
class Requirements {
 public:
  Requirements(KktDraft& draft, const Columns& G, const Columns& Y, const std::vector<Number>& sizes)
      : with_(draft.numbers), L_(G.size(), std::vector<Number>(G.size(), zero)) {
    for (std::size_t j = 0; j < G.size(); ++j) {
      std::vector<Number> scaled(G.size(), zero);  // L_jk D_k
      for (std::size_t k = 0; k <= j; ++k) {
        Number s = draft.dot(G[j], Y[k]);
        for (std::size_t i = 0; i < k; ++i) s = with_.sub(s, with_.mul(scaled[i], L_[k][i]));
        scaled[k] = s;
        if (k < j) L_[j][k] = with_.mul(s, inverse_[k]);
      }
      draft.margins.push_back(with_.sub(scaled[j], with_.mul(constant_number(clearly), sizes[j])));
      inverse_.push_back(with_.reciprocal(scaled[j]));
    }
  }

  std::vector<Number> solve(std::vector<Number> r) {
    for (std::size_t j = 0; j < r.size(); ++j)
      for (std::size_t k = 0; k < j; ++k) r[j] = with_.sub(r[j], with_.mul(L_[j][k], r[k]));
    for (std::size_t j = 0; j < r.size(); ++j) r[j] = with_.mul(r[j], inverse_[j]);
    for (std::size_t j = r.size(); j-- > 0;)
      for (std::size_t k = j + 1; k < r.size(); ++k) r[j] = with_.sub(r[j], with_.mul(L_[k][j], r[k]));
    return r;
  }

 private:
  Numbers& with_;
  Columns L_;
  std::vector<Number> inverse_;
};

/// Requirements, what they and actuators push along, and how large entries of G can be.
struct Pieces {
  Pieces(KktDraft& draft, const Equations& eqs)
      : n(eqs.n()), with(draft.numbers), rows(at(eqs.num_control()), std::vector<Number>(at(n), zero)) {
    const int first = eqs.num_constraints();
    std::vector<Expr> entries;
    for (const auto& e : eqs.A.entries)
      if (e.row >= first) entries.push_back(e.value);
    const std::vector<Number> values = draft.evaluate(entries);
    std::size_t next = 0;
    for (const auto& e : eqs.A.entries)
      if (e.row >= first) rows[at(e.row - first)][at(e.col)] = values[next++];
    actuators = !eqs.control.actuators.empty();
    F = actuators ? draft_actuators(draft, eqs) : rows;
    const auto squared = [&](const std::vector<Number>& f) {
      Number sum = zero;
      for (std::size_t i = 0; i < f.size(); ++i)
        if (!f[i].is_zero()) sum = with.add(sum, with.mul(with.mul(f[i], f[i]), with.reciprocal(draft.M_diagonal[i])));
      return sum;
    };
    for (const auto& row : rows) sizes.push_back(squared(row));
    if (!actuators) return;
    const auto count = static_cast<int>(F.size());
    std::vector<Expr> costs;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k <= i; ++k) costs.push_back(eqs.control.cost(i, k));
    R = draft.evaluate(costs);
    Number felt = zero;
    for (int i = 0; i < count; ++i)
      felt = with.add(felt, with.mul(squared(F[at(i)]), with.reciprocal(R[at(i * (i + 3) / 2)])));
    for (Number& size : sizes) size = with.mul(size, felt);
  }

  /// The free force and what it does; b₂ − A₂ q̈ with it.
  DraftControl add_free(KktDraft& draft, const Equations& eqs, const std::vector<Number>& qdd) {
    DraftControl made;
    const std::vector<Number> none(draft.kept.size(), zero);
    made.qdd.assign(at(n), zero), made.lambda = none;
    if (const std::span<const Expr> free = eqs.control.free(); !free.empty()) {
      made.u = draft.evaluate({free.begin(), free.end()});
      Elimination::Solution felt = draft.solve(made.u, none);
      made.qdd = std::move(felt.x), made.lambda = std::move(felt.lambda);
    }
    left = draft.evaluate({eqs.b.begin() + eqs.num_constraints(), eqs.b.end()});
    for (std::size_t j = 0; j < rows.size(); ++j)
      left[j] = with.sub(with.sub(left[j], draft.dot(rows[j], qdd)), draft.dot(rows[j], made.qdd));
    return made;
  }

  int n;
  Numbers& with;
  bool actuators = false;
  Columns rows, F;
  std::vector<Number> sizes, left;
  std::vector<Number> R;  ///< of actuators, lower triangle by rows
};

}  // namespace

OpenControl draft_open_control(KktDraft& draft, const Equations& eqs, const std::vector<Number>& qdd) {
  Pieces pieces(draft, eqs);
  OpenControl made;
  pieces.add_free(draft, eqs, qdd);
  for (const auto& f : pieces.F) {
    Elimination::Solution unit = draft.solve_apart(f);
    if (pieces.actuators)
      made.columns.push_back({f, std::move(unit.x), std::move(unit.lambda)});
    else  // constraints do not feel it
      made.columns.push_back({draft.times_mass(unit.x), unit.x, std::vector<Number>(draft.kept.size(), zero)});
  }
  for (const auto& row : pieces.rows)
    for (const auto& column : made.columns) made.numbers.push_back(draft.dot(row, column.qdd));
  const auto append = [&](const std::vector<Number>& more) {
    made.numbers.insert(made.numbers.end(), more.begin(), more.end());
  };
  append(pieces.left), append(pieces.sizes);
  const std::vector<Expr>& all = eqs.control.numbers;
  append(draft.evaluate({all.begin() + std::ssize(eqs.control.E.entries), all.end() - std::ssize(eqs.control.free())}));
  return made;
}

DraftControl draft_control(KktDraft& draft, const Equations& eqs, const std::vector<Number>& qdd, long most_steps) {
  Numbers& with = draft.numbers;
  Pieces pieces(draft, eqs);
  const Columns &rows = pieces.rows, &F = pieces.F;
  const int n = eqs.n();
  const std::vector<Number> none(draft.kept.size(), zero);
  Columns X, G, Y;
  for (const auto& f : F) X.push_back(draft.elimination->solve(f, none).x);
  for (const auto& row : rows) {
    G.emplace_back();
    for (const auto& x : X) G.back().push_back(draft.dot(row, x));
  }
  if (pieces.actuators) {
    const auto count = static_cast<int>(F.size());
    KktMatrix R{count, 0, {}, {}};
    std::size_t next = 0;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k <= i; ++k, ++next)
        if (!pieces.R[next].is_zero() || i == k) R.M.push_back({i, k, pieces.R[next]});
    Elimination costly(with, std::move(R), {}, most_steps);
    if (!costly.problem().empty()) {
      draft.problem = costly.problem();
      return {};
    }
    draft.margins.push_back(costly.calc_vouch({}));
    for (const auto& g : G) Y.push_back(costly.solve(g, {}).x);
  } else {
    // R = G: R⁻¹Gᵀ is the identity.
    for (std::size_t j = 0; j < rows.size(); ++j) Y.emplace_back(rows.size(), zero), Y.back()[j] = constant_number(1.0);
  }
  Requirements S(draft, G, Y, pieces.sizes);

  DraftControl made = pieces.add_free(draft, eqs, qdd);
  std::vector<Number> tau(F.size(), zero);
  for (int round = 0; round < (pieces.actuators ? 2 : 1); ++round) {  // S has the condition of G twice
    std::vector<Number> r;
    for (std::size_t j = 0; j < rows.size(); ++j) r.push_back(with.sub(pieces.left[j], draft.dot(G[j], tau)));
    const std::vector<Number> more = combine(with, Y, S.solve(std::move(r)), static_cast<int>(F.size()));
    for (std::size_t k = 0; k < tau.size(); ++k) tau[k] = with.add(tau[k], more[k]);
  }
  // Once more, of the force that was found: what vouches for the solution has seen it then.
  const std::vector<Number> pushed = combine(with, F, tau, n);
  Elimination::Solution of_force = draft.solve(pushed, none);
  for (std::size_t i = 0; i < made.qdd.size(); ++i) made.qdd[i] = with.add(made.qdd[i], of_force.x[i]);
  if (pieces.actuators) {
    made.u = pushed, made.tau = std::move(tau), made.lambda = std::move(of_force.lambda);
    return made;
  }
  std::vector<Number> force = draft.times_mass(of_force.x);
  for (std::size_t i = 0; i < made.u.size(); ++i) force[i] = with.add(force[i], made.u[i]);
  made.u = std::move(force);
  return made;
}

DraftControl draft_believed_control(KktDraft& draft, const Equations& eqs, const ProgramOptions& options,
                                    std::string& problem) {
  Equations believed = eqs;
  believed.control.nominal.clear();
  AccelerationOptions wanted;
  static_cast<ProgramOptions&>(wanted) = options;
  wanted.efforts = true;
  // What is believed is put in with the state: the program of the model itself, for other parameters.
  wanted.compared = wanted.joint_pivots = false;
  std::vector<Expr> symbols{eqs.t};
  symbols.insert(symbols.end(), eqs.q.begin(), eqs.q.end()),
      symbols.insert(symbols.end(), eqs.qd.begin(), eqs.qd.end());
  if (!options.parameters) symbols.insert(symbols.end(), eqs.parameters.begin(), eqs.parameters.end());
  for (const int i : options.varied) symbols.push_back(eqs.parameters[at(i)]);
  std::vector<Expr> values = symbols;
  const std::size_t num_sides = options.sides.size();
  std::vector<double> sides, reference = options.reference;
  if (!reference.empty())
    sides.assign(reference.end() - static_cast<std::ptrdiff_t>(num_sides), reference.end()),
        reference.resize(reference.size() - num_sides);
  for (const ControlEquations::Believed& b : eqs.control.nominal) {
    const Expr& symbol = eqs.parameters[at(b.parameter)];
    const auto there =
        std::find_if(symbols.begin(), symbols.end(), [&](const Expr& known) { return known.node() == symbol.node(); });
    if (there != symbols.end()) {
      values[static_cast<std::size_t>(there - symbols.begin())] = b.value;
      continue;
    }
    wanted.varied.push_back(b.parameter);
    symbols.push_back(symbol), values.push_back(b.value);
    if (!reference.empty()) reference.push_back((*options.parameters)[at(b.parameter)]);
  }
  reference.insert(reference.end(), sides.begin(), sides.end());
  wanted.reference = std::move(reference);
  values.insert(values.end(), options.sides.begin(), options.sides.end());
  const AccelerationProgramResult found = make_acceleration_program(believed, wanted);
  if (!found.made) {
    problem = found.reason;
    return {};
  }
  std::vector<ProgramBuilder::Value> inputs;
  for (const Number& x : draft.evaluate(values)) inputs.push_back(draft.numbers.value_of(x));
  const std::vector<Number> outputs = draft.numbers.adopt(draft.builder.append(found.made->program, inputs));
  draft.margins.push_back(outputs[at(found.made->at_vouch)]);
  DraftControl made;
  const auto begin = outputs.begin() + found.made->at_efforts;
  made.u.assign(begin, begin + found.made->num_efforts);
  if (eqs.control.actuators.empty()) return made;
  made.tau = std::exchange(made.u, {});
  made.u = combine(draft.numbers, draft_actuators(draft, eqs), made.tau, eqs.n());
  return made;
}

}  // namespace mechanician
