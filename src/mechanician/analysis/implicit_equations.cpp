#include "mechanician/analysis/implicit_equations.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/motion/equation_residuals.hpp"

namespace mechanician {

namespace {

Expr plus(const Expr& a, const Expr& b) { return make_simplified(Op::add, {a, b}); }
Expr times(const Expr& a, const Expr& b) { return make_simplified(Op::mul, {a, b}); }

std::vector<Expr> make_symbols(const char* what, int count) {
  std::vector<Expr> symbols;
  for (int j = 0; j < count; ++j)
    symbols.push_back(make_symbol(SymbolKind::parameter, std::string(what) + " " + std::to_string(j)));
  return symbols;
}

/// ideal(x) and multiplier(NAME), by multipliers of the caller.
std::vector<Replacement> reactions_by(const Equations& eqs, const std::vector<Expr>& lambda) {
  std::vector<Expr> ideal(eqs.ideal.size(), Expr(0));
  for (const auto& e : eqs.A.entries)
    if (static_cast<std::size_t>(e.col) < ideal.size())
      ideal[e.col] = plus(ideal[e.col], times(e.value, lambda[e.row]));
  std::vector<Replacement> replaced;
  for (std::size_t i = 0; i < ideal.size(); ++i) replaced.push_back({eqs.ideal[i], ideal[i]});
  for (std::size_t j = 0; j < eqs.multipliers.size(); ++j) replaced.push_back({eqs.multipliers[j], lambda[j]});
  return replaced;
}

/// −μ|λ| Tᵀd of what slides, d the direction of the slip.
void add_friction(const Equations& eqs, const std::vector<Dynamics::Sliding>& sliding, const std::vector<Expr>& lambda,
                  std::vector<Expr>& G) {
  for (const ContactRow& c : eqs.contacts) {
    if (!c.has_friction) continue;
    const auto held = std::find_if(sliding.begin(), sliding.end(), [&](const auto& s) { return s.row == c.row; });
    if (held == sliding.end()) continue;
    std::vector<Expr> d{Expr(held->direction[0])};
    if (c.slip.size() == 2) {
      const Expr size = hypot(c.slip[0], c.slip[1]);
      d = {make_simplified(Op::div, {c.slip[0], size}), make_simplified(Op::div, {c.slip[1], size})};
    }
    const Expr force = times(times(Expr(-held->sign), c.friction), lambda[c.row]);
    for (const auto& e : c.T.entries) G[e.col] = plus(G[e.col], times(force, times(e.value, d[e.row])));
  }
}

}  // namespace

int find_parameter(const System& system, std::string_view name) {
  const auto& parameters = system.model().parameters;
  for (std::size_t j = 0; j < parameters.size(); ++j)
    if (parameters[j].name == name) return static_cast<int>(j);
  return -1;
}

ImplicitEquations::ImplicitEquations(Dynamics& dynamics, std::span<const int> inputs, std::span<const Expr> outputs)
    : dynamics_(dynamics),
      n_(dynamics.n()),
      m_(dynamics.facts().m),
      num_inputs_(static_cast<int>(inputs.size())),
      inputs_(inputs.begin(), inputs.end()) {
  const WrittenEquations& written = *dynamics.written();
  const Equations& eqs = written.frozen();
  const bool reactions = dynamics.facts().needs_reactions;
  size_ = (reactions ? 2 : 1) * (n_ + m_);
  lambda_ = make_symbols("multiplier", m_);
  std::vector<Expr> ideal_qdd, ideal_lambda;
  std::vector<Expr> C = eqs.has_C ? eqs.C : std::vector<Expr>();
  if (reactions) {
    ideal_qdd = make_symbols("ideal acceleration", n_), ideal_lambda = make_symbols("ideal multiplier", m_);
    C = substitute(C, reactions_by(eqs, ideal_lambda));
  }
  // Requirements are rows as others; with actuators their multipliers are efforts, which push by E.
  num_constraints_ = eqs.num_constraints();
  std::vector<Expr> pushing = lambda_;
  const bool actuators = !eqs.control.actuators.empty();
  for (int j = num_constraints_; actuators && j < m_; ++j) pushing[static_cast<std::size_t>(j)] = 0;
  std::vector<Expr> F = make_residuals(eqs, pushing, C, ResidualTerms::all);
  for (const auto& e : eqs.control.E.entries)
    if (num_constraints_ + e.col < m_) {
      Expr& f = F[static_cast<std::size_t>(e.row)];
      f = f - e.value * lambda_[static_cast<std::size_t>(num_constraints_ + e.col)];
    }
  add_friction(eqs, dynamics.sliding(), lambda_, F);
  if (reactions) {
    Equations ideal = eqs;
    ideal.qdd = ideal_qdd;
    const std::vector<Expr> more = make_residuals(ideal, ideal_lambda, {}, ResidualTerms::all);
    F.insert(F.end(), more.begin(), more.end());
  }
  // What the tape reads, and what each is.
  const auto add = [&](const std::vector<Expr>& symbols, Part part, int first, bool parameter = false) {
    for (std::size_t k = 0; k < symbols.size(); ++k) {
      symbols_.push_back(symbols[k]);
      const int i = static_cast<int>(k);
      symbol_parts_.push_back({part, 0, parameter ? 0 : first + i, parameter ? i : -1});
    }
  };
  add({eqs.t}, by_t, 0), add(eqs.q, by_q, 0), add(eqs.qd, by_qd, 0), add(eqs.parameters, by_inputs, 0, true);
  std::vector<Expr> sides;
  for (const Switch& s : written.switches()) sides.push_back(s.side);
  add(sides, by_inputs, 0, true);
  for (std::size_t k = symbols_.size() - sides.size(); k < symbols_.size(); ++k) symbol_parts_[k].parameter = -2;
  add(eqs.qdd, by_unknowns, 0), add(lambda_, by_unknowns, n_);
  if (reactions) add(ideal_qdd, by_unknowns, n_ + m_), add(ideal_lambda, by_unknowns, 2 * n_ + m_);
  find_input_slopes(inputs);

  std::vector<Expr> rates;
  for (const Row& row : eqs.rows)
    rates.push_back(row.kind == RowKind::control || row.level == Level::acceleration ? Expr(0)
                    : row.level == Level::position                                   ? row.rate
                                                                                     : row.residual);
  std::vector<Expr> shown = substitute(outputs, reactions_by(eqs, lambda_));
  add_gradients(F, F_block_), add_gradients(rates, rate_block_), add_gradients(shown, output_block_);
  if (!inputs.empty()) {
    std::vector<Expr> residuals;
    for (const Row& row : eqs.rows)
      residuals.push_back(row.kind == RowKind::control || row.level != Level::position ? Expr(0) : row.residual);
    add_gradients(residuals, residual_block_);
    Block by_input;
    for (std::size_t k = 0; k < residual_block_.sources.size(); ++k)
      if (residual_block_.sources[k].part == by_inputs)
        by_input.sources.push_back(residual_block_.sources[k]),
            by_input.expressions.push_back(residual_block_.expressions[k]);
    residual_block_ = std::move(by_input);
  }
  std::vector<Expr> all = F;
  for (const auto* part : {&shown, &F_block_.expressions, &rate_block_.expressions, &residual_block_.expressions,
                           &output_block_.expressions})
    all.insert(all.end(), part->begin(), part->end());
  tape_ = Tape(all, symbols_);
  x_.resize(symbols_.size()), values_.resize(all.size()), bounds_.resize(all.size());
  output_values_.resize(shown.size());

  for (int j = 0; j < m_; ++j) {
    const Row& row = eqs.rows[static_cast<std::size_t>(j)];
    if (row.level != Level::position || row.kind == RowKind::control) continue;
    for (const Expr& s : symbols_of(std::span(&row.residual, 1)))
      for (int u = 0; u < num_inputs_; ++u)
        for (std::size_t k = 0; k < eqs.parameters.size(); ++k)
          if (same(s, eqs.parameters[k]) && slopes_[k * inputs.size() + static_cast<std::size_t>(u)] != 0.0)
            moved_rows_.push_back({j, u});
  }
}

/// dp/du of all parameters: what is made of an input changes with it.
void ImplicitEquations::find_input_slopes(std::span<const int> inputs) {
  if (inputs.empty()) return;
  const System& system = dynamics_.values().system();
  const auto& parameters = system.model().parameters;
  const std::vector<Expr>& symbols = dynamics_.written()->frozen().parameters;
  const std::size_t count = symbols.size(), num = inputs.size();
  std::unordered_map<const ExprNode*, std::size_t> number;
  for (std::size_t j = 0; j < count; ++j) number.emplace(symbols[j].node(), j);
  slopes_.assign(count * num, 0.0);
  for (std::size_t u = 0; u < num; ++u) slopes_[static_cast<std::size_t>(inputs[u]) * num + u] = 1.0;
  // In the order in which they need each other; parameters are few, and chains of them short.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t j = 0; j < std::min(count, parameters.size()); ++j) {
      if (std::find(inputs.begin(), inputs.end(), static_cast<int>(j)) != inputs.end()) continue;
      std::vector<Expr> needed = symbols_of(std::span(&parameters[j].value, 1));
      std::erase_if(needed, [&](const Expr& s) { return !number.contains(s.node()); });
      if (needed.empty()) continue;
      const std::vector<Expr> by = gradient(parameters[j].value, needed);
      const std::vector<double> slope = Tape(by, symbols)(std::span<const double>(system.parameters()));
      for (std::size_t u = 0; u < num; ++u) {
        double sum = 0.0;
        for (std::size_t k = 0; k < needed.size(); ++k)
          if (const double s = slopes_[number.at(needed[k].node()) * num + u]; s != 0.0) sum += slope[k] * s;
        changed |= sum != slopes_[j * num + u];
        slopes_[j * num + u] = sum;
      }
    }
  }
}

void ImplicitEquations::add_gradients(std::span<const Expr> rows, Block& to) {
  std::unordered_map<const ExprNode*, std::size_t> number;
  for (std::size_t k = 0; k < symbols_.size(); ++k) {
    const Source& part = symbol_parts_[k];
    if (part.part == by_inputs) {
      if (part.parameter < 0) continue;
      const auto* slope = slopes_.data() + static_cast<std::ptrdiff_t>(part.parameter) * num_inputs_;
      if (slopes_.empty() || std::all_of(slope, slope + num_inputs_, [](double s) { return s == 0.0; })) continue;
    }
    number.emplace(symbols_[k].node(), k);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<Expr> symbols = symbols_of(rows.subspan(row, 1));
    std::erase_if(symbols, [&](const Expr& s) { return !number.contains(s.node()); });
    if (symbols.empty()) continue;
    const std::vector<Expr> derivatives = gradient(rows[row], symbols);
    for (std::size_t k = 0; k < symbols.size(); ++k) {
      if (derivatives[k].is_zero()) continue;
      Source source = symbol_parts_[number.at(symbols[k].node())];
      source.row = static_cast<int>(row);
      to.sources.push_back(source);
      to.expressions.push_back(derivatives[k]);
    }
  }
}

void ImplicitEquations::collect(const Block& block, const double* values, const double* bounds, BoundedEntries* to,
                                bool keep_all) {
  for (int part = 0; part < 5; ++part) to[part].clear();
  const auto is_out = [&](int i) { return left_out_[static_cast<std::size_t>(i)] != 0; };
  std::unordered_map<long, std::size_t> of_input;
  for (std::size_t k = 0; k < block.sources.size(); ++k) {
    const Source& s = block.sources[k];
    if (!keep_all && is_out(s.row)) continue;
    if (s.part == by_unknowns && is_out(s.col)) continue;
    if (s.part != by_inputs) {
      to[s.part].push_back({s.row, s.col, values[k], bounds[k]});
      continue;
    }
    for (int u = 0; u < num_inputs_; ++u) {
      const double slope = slopes_[static_cast<std::size_t>(s.parameter * num_inputs_ + u)];
      if (slope == 0.0) continue;
      const auto [found, is_new] = of_input.emplace(static_cast<long>(s.row) * num_inputs_ + u, to[by_inputs].size());
      if (is_new) to[by_inputs].push_back({s.row, u, 0.0, 0.0});
      BoundedEntry& e = to[by_inputs][found->second];
      e.value += slope * values[k], e.noise += std::abs(slope) * bounds[k];
    }
  }
}

/// A step of Newton's iteration for the unknowns from `first` on, by the equations from there on.
bool ImplicitEquations::solve_from(int first, double* z) {
  tape_.evaluate_with_bounds(x_, values_, bounds_);
  const std::size_t at = static_cast<std::size_t>(size_) + output_values_.size();
  const int size = size_ - first;
  std::vector<SparseEntry> pattern;
  std::vector<double> entries, r(static_cast<std::size_t>(size), 0.0);
  for (std::size_t k = 0; k < F_block_.sources.size(); ++k) {
    const Source& s = F_block_.sources[k];
    if (s.part != by_unknowns || s.row < first || s.col < first) continue;
    if (left_out_[static_cast<std::size_t>(s.row)] || left_out_[static_cast<std::size_t>(s.col)]) continue;
    pattern.push_back({s.row - first, s.col - first});
    entries.push_back(values_[at + k]);
  }
  for (int i = 0; i < size; ++i) {
    if (left_out_[static_cast<std::size_t>(first + i)])
      pattern.push_back({i, i}), entries.push_back(1.0);
    else
      r[static_cast<std::size_t>(i)] = values_[static_cast<std::size_t>(first + i)];
  }
  const auto is_finite = [](const std::vector<double>& x) {
    return std::all_of(x.begin(), x.end(), [](double xi) { return std::isfinite(xi); });
  };
  if (!is_finite(entries) || !is_finite(r)) return false;
  lu_ = std::make_unique<SparseLu>(size, pattern, SparseLu::Kind::general);
  const auto K = lu_->values();
  std::fill(K.begin(), K.end(), 0.0);
  for (std::size_t k = 0; k < pattern.size(); ++k) K[lu_->places()[k]] += entries[k];
  if (!lu_->factor()) return false;
  lu_->solve(r.data());
  for (int i = 0; i < size; ++i) z[first + i] -= r[static_cast<std::size_t>(i)];
  return is_finite(r);
}

bool ImplicitEquations::evaluate(double t, const double* y, std::span<const int> kept) {
  const WrittenEquations& written = *dynamics_.written();
  const std::vector<double>& parameters = dynamics_.values().system().parameters();
  left_out_.assign(static_cast<std::size_t>(size_), 0);
  for (int first = n_; first < size_; first += n_ + m_)
    for (int j = 0; j < m_; ++j)
      left_out_[static_cast<std::size_t>(first + j)] =
          !std::binary_search(kept.begin(), kept.end(), j) || (first > n_ && j >= num_constraints_);
  x_[0] = t;
  std::copy_n(y, 2 * n_, x_.begin() + 1);
  const std::size_t num_parameters = written.frozen().parameters.size();
  std::copy_n(parameters.begin(), num_parameters, x_.begin() + 1 + 2 * n_);
  std::copy_n(written.sides.begin(), written.switches().size(),
              x_.begin() + static_cast<std::ptrdiff_t>(1 + 2 * n_ + num_parameters));
  double* const z = x_.data() + x_.size() - size_;
  std::fill(z, z + size_, 0.0);
  z_.assign(static_cast<std::size_t>(size_), 0.0);

  // Reactions first, where C depends on them; then F is linear in z, and Newton's iteration ends by itself. It goes on once more for the
  // last digits.
  const int half = n_ + m_;
  if (size_ > half && !solve_from(half, z)) return false;
  for (int round = 0; round < 2; ++round)
    if (!solve_from(0, z)) return false;
  tape_.evaluate_with_bounds(x_, values_, bounds_);
  for (const double value : values_)
    if (!std::isfinite(value)) return false;
  const std::size_t num_shown = output_values_.size(), at_F = static_cast<std::size_t>(size_) + num_shown,
                    at_rate = at_F + F_block_.sources.size(), at_residual = at_rate + rate_block_.sources.size(),
                    at_output = at_residual + residual_block_.sources.size();
  collect(F_block_, values_.data() + at_F, bounds_.data() + at_F, F_, false);
  collect(rate_block_, values_.data() + at_rate, bounds_.data() + at_rate, rate_, true);
  collect(residual_block_, values_.data() + at_residual, bounds_.data() + at_residual, residual_, true);
  collect(output_block_, values_.data() + at_output, bounds_.data() + at_output, output_, true);
  std::copy_n(values_.begin() + size_, num_shown, output_values_.begin());
  F_size_.assign(bounds_.begin(), bounds_.begin() + size_);
  for (double& size : F_size_) size /= std::numeric_limits<double>::epsilon();
  std::copy_n(z, size_, z_.begin());
  return true;
}

}  // namespace mechanician
