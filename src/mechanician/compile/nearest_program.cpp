#include "mechanician/compile/nearest_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "mechanician/compile/bounded_values.hpp"
#include "mechanician/compile/kkt_draft.hpp"

namespace mechanician {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Equations whose mass matrix is taken elsewhere: its entries are further inputs.
struct WithMetric {
  Equations eqs;
  ProgramOptions options;
  std::vector<Expr> x0;
  Program metric;
  std::vector<std::pair<int, int>> entries;

  WithMetric(const Equations& given, const ProgramOptions& from, ProjectionOf what, const std::vector<int>& held)
      : eqs(given), options(from) {
    const auto is_held = [&](int i) { return std::binary_search(held.begin(), held.end(), i); };
    std::erase_if(eqs.A.entries, [&](const auto& e) { return is_held(e.col); });
    std::erase_if(eqs.M.entries, [&](const auto& e) { return is_held(e.row) || is_held(e.col); });
    const auto symbol = [&](const char* of, std::size_t i) {  // '#' is in no name of a model
      options.sides.push_back(parameter(fmt::format("{}#{}", of, i)));
      return options.sides.back();
    };
    for (std::size_t i = 0; i < eqs.q.size(); ++i) x0.push_back(symbol("given", i));
    std::vector<Expr> values;
    std::map<std::pair<int, int>, Expr> known;
    for (auto& e : eqs.M.entries) {
      const std::pair place{std::max(e.row, e.col), std::min(e.row, e.col)};
      auto found = known.find(place);
      if (found == known.end()) {
        values.push_back(e.value), entries.push_back(place);
        found = known.emplace(place, symbol("mass", values.size())).first;
      }
      e.value = found->second;
    }
    metric = make_values_program(given, from, values);
    for (const int i : held) eqs.M.entries.push_back({i, i, Expr(1.0)});
    std::sort(eqs.M.entries.begin(), eqs.M.entries.end(),
              [](const auto& a, const auto& b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });

    if (from.reference.empty()) return;
    const std::vector<double>& state = from.reference;
    std::vector<double> registers(at(metric.num_registers())), masses(values.size());
    metric.evaluate(state.data(), registers.data(), masses.data());
    const auto x = state.begin() + 1 + (what == ProjectionOf::positions ? 0 : given.n());
    options.reference.insert(options.reference.end(), x, x + given.n());
    options.reference.insert(options.reference.end(), masses.begin(), masses.end());
  }
};

/// The largest |r|/‖A_j‖ over all rows, zero where it is rounding.
ProgramBuilder::Value calc_far(KktDraft& draft, const WithMetric& with, const std::vector<int>& rows,
                               const std::vector<Expr>& residuals) {
  ProgramBuilder& builder = draft.builder;
  const ProgramInputs inputs(with.eqs, with.options);
  const BoundedValues r = append_with_bounds(builder, Tape(residuals, inputs.symbols()), inputs.values_in(builder));
  ProgramBuilder::Value most = builder.constant(0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::vector<Expr> a;
    for (const auto& e : with.eqs.A.entries)
      if (e.row == rows[k]) a.push_back(e.value);
    const ProgramBuilder::Value slope = builder.apply(Op::sqrt,
                                                      draft.numbers.value_of(draft.square_sum(draft.evaluate(a)))),
                                size = builder.apply(Op::abs, r.values[k]);
    const ProgramBuilder::Value far =
        builder.select(builder.apply(Op::le, size, r.bounds[k]), builder.constant(0.0), builder.div(size, slope));
    most = builder.apply(Op::max, most, far);
  }
  return most;
}

}  // namespace

NearestProgramResult make_nearest_program(const Equations& given, ProjectionOf what, const ProgramOptions& options,
                                          const std::vector<int>& held) {
  const bool velocities = what == ProjectionOf::velocities;
  std::vector<int> rows;
  for (int j = 0; j < given.m(); ++j) {
    const Row& row = given.rows[at(j)];
    if (row.kind == RowKind::control || row.measured || row.one_sided || row.level == Level::acceleration) continue;
    if (velocities || row.level == Level::position) rows.push_back(j);
  }
  if (rows.empty()) return {std::nullopt, "nothing to project onto"};
  if (!given.unknowns.empty()) return {std::nullopt, "a function has no value"};
  const WithMetric with(given, options, what, held);
  const Equations& eqs = with.eqs;
  KktDraft draft(eqs, with.options, rows, true);
  if (!draft.problem.empty()) return {std::nullopt, draft.problem};

  const std::vector<Number> x = draft.evaluate(velocities ? eqs.qd : eqs.q), x0 = draft.evaluate(with.x0);
  Numbers& numbers = draft.numbers;
  std::vector<Number> f(at(eqs.n()), constant_number(0.0)), off, back, distance;
  for (std::size_t i = 0; i < x.size(); ++i) distance.push_back(numbers.sub(x0[i], x[i]));
  const auto residual = [&](int j) {
    const Row& row = eqs.rows[at(j)];
    return velocities && row.level == Level::position ? row.rate : row.residual;
  };
  std::vector<Expr> residuals;
  for (const int j : rows) residuals.push_back(residual(j));
  for (const auto& row : draft.kept) {
    off.push_back(-draft.scaled_rhs(row, residual(row.row)));
    std::vector<Numbers::Product> terms;
    for (const auto& [i, a] : row.a) terms.push_back({constant_number(1.0), a, distance[at(i)]});
    back.push_back(numbers.sum(terms));
  }
  const std::vector<Number> normal = draft.solve(f, off).x, across = draft.solve(f, back).x;
  std::vector<Number> outputs = normal, moved;
  for (std::size_t i = 0; i < x.size(); ++i) outputs.push_back(numbers.sub(distance[i], across[i]));
  for (std::size_t i = 0; i < x.size(); ++i) moved.push_back(numbers.sub(normal[i], across[i]));
  const Number vouch = draft.calc_vouch(moved);
  std::vector<ProgramBuilder::Value> values;
  for (const Number& y : outputs) values.push_back(numbers.value_of(y));
  values.push_back(calc_far(draft, with, rows, residuals));
  values.push_back(numbers.value_of(vouch));
  NearestProgram made{with.metric, draft.builder.finish(values), with.entries};
  if (static_cast<long>(made.step.steps.size()) > options.most_steps) return {std::nullopt, "too large"};
  return {std::move(made), {}};
}

}  // namespace mechanician
