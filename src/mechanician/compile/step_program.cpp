#include "mechanician/compile/step_program.hpp"

#include <cassert>
#include <span>
#include <utility>
#include <vector>

namespace mechanician {

StepProgramResult make_step_program(const Equations& eqs, const ProgramOptions& options) {
  AccelerationOptions wanted;
  static_cast<ProgramOptions&>(wanted) = options;
  assert(options.sides.empty());
  wanted.joint_pivots = wanted.compared = true;
  const AccelerationProgramResult found = make_acceleration_program(eqs, wanted);
  if (!found.made) return {std::nullopt, found.reason};
  wanted.vouch_for_pivots = true;
  const AccelerationProgramResult inner = make_acceleration_program(eqs, wanted);
  if (!inner.made) return {std::nullopt, inner.reason};
  const Program& acceleration = found.made->program;

  StepProgram made;
  const auto n = static_cast<std::size_t>(eqs.n());
  made.n = eqs.n();
  made.path = found.made->path;
  made.num_parameters = acceleration.num_inputs - 1 - 2 * made.n;
  made.num_acceleration_steps = static_cast<int>(acceleration.steps.size());

  using Value = ProgramBuilder::Value;
  ProgramBuilder with(acceleration.num_inputs + 1);
  const Value t = with.input(0), h = with.input(1);
  std::vector<Value> q, qd, parameters;
  for (int i = 0; i < made.n; ++i)
    q.push_back(with.input(made.at_q() + i)), qd.push_back(with.input(made.at_q() + made.n + i));
  for (int i = 0; i < made.num_parameters; ++i) parameters.push_back(with.input(made.at_parameters() + i));

  Value vouch = -1;
  const auto also = [&](Value truth) { vouch = vouch < 0 ? truth : with.apply(Op::logical_and, vouch, truth); };
  const auto accelerate = [&](const AccelerationProgram& by, Value time, std::span<const Value> position,
                              std::span<const Value> velocity) {
    std::vector<Value> inputs{time};
    inputs.insert(inputs.end(), position.begin(), position.end());
    inputs.insert(inputs.end(), velocity.begin(), velocity.end());
    inputs.insert(inputs.end(), parameters.begin(), parameters.end());
    std::vector<Value> outputs = with.append(by.program, inputs);
    also(with.is_positive(outputs[static_cast<std::size_t>(by.at_vouch)]));
    outputs.resize(n);
    return outputs;
  };
  const auto times = [&](double factor, Value x) { return with.mul(with.constant(factor), x); };
  /// x + c·y
  const auto plus = [&](const std::vector<Value>& x, Value c, const std::vector<Value>& y) {
    std::vector<Value> sum;
    for (std::size_t i = 0; i < n; ++i) sum.push_back(with.add(x[i], with.mul(c, y[i])));
    return sum;
  };
  const auto sum_of = [&](const std::vector<Value>& x, const std::vector<Value>& y) {
    std::vector<Value> sum;
    for (std::size_t i = 0; i < n; ++i) sum.push_back(with.add(x[i], y[i]));
    return sum;
  };

  const Value half = times(0.5, h), square = with.mul(h, h);
  const Value middle = with.add(t, half), end = with.add(t, h);
  const std::vector<Value> q_half = plus(q, half, qd), q_whole = plus(q, h, qd);
  const std::vector<Value> k1 = accelerate(*found.made, t, q, qd);
  const std::vector<Value> k2 = accelerate(*inner.made, middle, q_half, plus(qd, half, k1));
  const std::vector<Value> k3 =
      accelerate(*inner.made, middle, plus(q_half, times(0.25, square), k1), plus(qd, half, k2));
  const std::vector<Value> k4 = accelerate(*inner.made, end, plus(q_whole, times(0.5, square), k2), plus(qd, h, k3));
  const std::vector<Value> middles = sum_of(k2, k3), first = sum_of(k1, middles), last = sum_of(middles, k4);
  std::vector<Value> outputs = plus(q_whole, with.div(square, with.constant(6.0)), first);
  const std::vector<Value> velocities = plus(qd, with.div(h, with.constant(6.0)), sum_of(first, last));
  outputs.insert(outputs.end(), velocities.begin(), velocities.end());
  outputs.push_back(vouch);
  made.program = with.finish(outputs);
  made.first = *found.made, made.later = *inner.made;
  return {std::move(made), {}};
}

}  // namespace mechanician
