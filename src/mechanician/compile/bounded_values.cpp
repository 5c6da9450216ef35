#include "mechanician/compile/bounded_values.hpp"

#include <cassert>

#include "mechanician/compile/traced_internal.hpp"
#include "mechanician/expression/rounding_error.hpp"

namespace mechanician {

namespace {

struct Bounded {
  Bounded() = default;
  explicit Bounded(double x) : Bounded(Traced(x), RoundingError<Traced>::of_constant(Traced(x))) {}
  explicit Bounded(const Traced& x) : Bounded(x, RoundingError<Traced>::of_input(x)) {}
  Bounded(const Traced& x, const Traced& e) : value(x), error(e) {}
  Traced value, error;
};

}  // namespace

template <>
Bounded evaluate_operator<Bounded>(Op op, const Bounded& a, const Bounded& b, const Bounded& c) {
  const Traced f = evaluate_operator<Traced>(op, a.value, b.value, c.value);
  return {f, RoundingError<Traced>::of_operator(op, f, a.value, b.value, c.value, a.error, b.error, c.error)};
}

BoundedValues append_with_bounds(ProgramBuilder& builder, const Tape& tape,
                                 std::span<const ProgramBuilder::Value> inputs) {
  assert(static_cast<int>(inputs.size()) == tape.num_inputs());
  std::vector<Bounded> traced, registers(static_cast<std::size_t>(tape.num_registers())),
      outputs(static_cast<std::size_t>(tape.num_outputs()));
  for (const ProgramBuilder::Value v : inputs) traced.emplace_back(Traced(builder, v));
  tape.evaluate<Bounded>(traced, registers, outputs);
  BoundedValues result;
  for (const Bounded& x : outputs) {
    result.values.push_back(value_in(builder, x.value));
    result.bounds.push_back(value_in(builder, x.error));
  }
  return result;
}

}  // namespace mechanician
