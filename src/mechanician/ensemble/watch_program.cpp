#include "mechanician/ensemble/watch_program.hpp"

#include <map>

#include "mechanician/compile/program_inputs.hpp"

namespace mechanician {

namespace {

using Value = ProgramBuilder::Value;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

WatchProgram make_watch_program(const Equations& eqs, const ProgramOptions& options, const std::vector<int>& rows,
                                const std::vector<Expr>& divisors, const std::vector<double>& units) {
  const ProgramInputs inputs(eqs, options);
  ProgramBuilder with(inputs.count());
  const int n = eqs.n();
  std::vector<Expr> wanted;
  const auto add = [&](const Expr& e) {
    wanted.push_back(e);
    return wanted.size() - 1;
  };
  for (const auto& e : eqs.M.entries) add(e.value);
  const std::size_t at_Q = wanted.size();
  for (const Expr& e : eqs.Q) add(e);
  const std::size_t at_A = wanted.size();
  for (const auto& e : eqs.A.entries) add(e.value);
  const std::size_t at_residual = wanted.size();
  for (const Row& row : eqs.rows) add(row.residual), add(row.rate);
  const std::size_t at_divisor = wanted.size();
  for (const Expr& e : divisors) add(e);
  const std::vector<Value> v = with.append(Tape(wanted, inputs.symbols()), inputs.values_in(with));

  const auto abs = [&](Value x) { return with.apply(Op::abs, x); };
  const auto larger = [&](Value a, Value b) { return with.apply(Op::max, a, b); };
  const Value zero = with.constant(0.0);
  const auto qd = [&](int i) { return with.input(1 + n + i); };
  Value twice = zero;
  std::vector<Value> momenta(at(n), zero);
  for (std::size_t k = 0; k < eqs.M.entries.size(); ++k) {
    const auto& e = eqs.M.entries[k];
    const Value momentum = with.mul(qd(e.row), v[k]);
    twice = with.add(twice, with.mul(momentum, qd(e.col)));
    momenta[at(e.col)] = with.add(momenta[at(e.col)], abs(momentum));
  }
  std::map<int, std::vector<Value>> of_row, scaled;
  for (std::size_t k = 0; k < eqs.A.entries.size(); ++k) {
    const auto& e = eqs.A.entries[k];
    of_row[e.row].push_back(v[at_A + k]);
    scaled[e.row].push_back(with.mul(v[at_A + k], with.constant(units[at(e.col)])));
  }
  Value violation = zero, distance = zero, rate_distance = zero;
  for (int j = 0; j < eqs.m(); ++j) {
    const Row& row = eqs.rows[at(j)];
    if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
    const bool position = row.level == Level::position;
    const Value residual = abs(v[at_residual + 2 * at(j)]),
                rate = position ? abs(v[at_residual + 2 * at(j) + 1]) : zero;
    violation = larger(violation, larger(residual, rate));
    Value squared = zero;
    for (const Value a : scaled[j]) squared = with.add(squared, with.mul(a, a));
    const Value slope = with.apply(Op::sqrt, squared);
    if (position) distance = larger(distance, with.div(residual, slope));
    rate_distance = larger(rate_distance, with.div(position ? rate : residual, slope));
  }
  WatchProgram made;
  std::vector<Value> outputs{with.mul(with.constant(0.5), twice), violation, distance, rate_distance};
  for (const int j : rows) {
    made.row_begin.push_back(static_cast<int>(outputs.size()) - WatchProgram::at_rows);
    outputs.insert(outputs.end(), of_row[j].begin(), of_row[j].end());
  }
  made.row_begin.push_back(static_cast<int>(outputs.size()) - WatchProgram::at_rows);
  made.at_divisors = static_cast<int>(outputs.size());
  made.num_divisors = static_cast<int>(divisors.size());
  for (std::size_t k = 0; k < divisors.size(); ++k) outputs.push_back(v[at_divisor + k]);
  made.at_momenta = static_cast<int>(outputs.size());
  outputs.insert(outputs.end(), momenta.begin(), momenta.end());
  for (int i = 0; i < n; ++i) outputs.push_back(abs(v[at_Q + at(i)]));
  made.program = with.finish(outputs);
  return made;
}

}  // namespace mechanician
