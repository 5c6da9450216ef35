#pragma once

/// A number of a tape that is being appended to a program: running the tape with these instead of doubles builds the steps.

#include <optional>

#include "mechanician/compile/program.hpp"
#include "mechanician/expression/evaluate_operator.hpp"

namespace mechanician {

struct Traced {
  Traced() = default;
  explicit Traced(double x) : number(x) {}
  Traced(ProgramBuilder& b, ProgramBuilder::Value v) : builder(&b), value(v) {}

  ProgramBuilder* builder = nullptr;  ///< null: a constant of the tape
  ProgramBuilder::Value value = -1;
  double number = 0.0;
};

inline ProgramBuilder::Value value_in(ProgramBuilder& builder, const Traced& x) {
  return x.builder ? x.value : builder.constant(x.number);
}

inline std::optional<double> known_number(const Traced& x) {
  return x.builder ? std::nullopt : std::optional(x.number);
}

template <>
inline Traced evaluate_operator<Traced>(Op op, const Traced& a, const Traced& b, const Traced& c) {
  ProgramBuilder* builder = a.builder ? a.builder : b.builder ? b.builder : c.builder;
  if (!builder) return Traced(evaluate_operator<double>(op, a.number, b.number, c.number));
  return {*builder, builder->apply(op, value_in(*builder, a), value_in(*builder, b), value_in(*builder, c))};
}

}  // namespace mechanician
