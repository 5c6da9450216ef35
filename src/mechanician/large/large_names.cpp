// What the members of a large system are called, and which of them has no value.

#include <fmt/format.h>

#include <cmath>

#include "mechanician/large/large_kernel_internal.hpp"

namespace mechanician {

std::string LargeSystem::row_name(int row) const {
  const auto [number, member] = row_places_[static_cast<std::size_t>(row)];
  const Kernel& kernel = *kernels_[static_cast<std::size_t>(number)];
  if (kernel.term->is_rate) return model_.name_of(kernel.members.target[static_cast<std::size_t>(member)]) + "'";
  return kernel.member_name(member);
}

/// "b of constraint `rod[3]`"
std::string LargeSystem::quantity_name(const Kernel& kernel, int output, std::int64_t member) const {
  const auto num_constant = static_cast<int>(kernel.constant.size()),
             num_values = num_constant + static_cast<int>(kernel.varying.size());
  if (output >= num_values)
    return fmt::format("{}constraint `{}`", output > num_values ? "the rate of " : "", kernel.member_name(member));
  const Kernel::Output& o = output < num_constant ? kernel.constant[static_cast<std::size_t>(output)]
                                                  : kernel.varying[static_cast<std::size_t>(output - num_constant)];
  const auto coordinate = [&](int local) {
    return model_.name_of(
        kernel.members.coordinates[static_cast<std::size_t>(local)][static_cast<std::size_t>(member)]);
  };
  switch (o.part) {
    case Kernel::Part::mass:
      return fmt::format("the mass matrix entry ({}, {})", coordinate(o.a), coordinate(o.b));
    case Kernel::Part::force:
      return fmt::format("the given force on `{}`", coordinate(o.a));
    default:
      return fmt::format("{} of constraint `{}`",
                         o.part == Kernel::Part::right ? "b" : "the coefficient of " + coordinate(o.a) + "''",
                         kernel.member_name(member));
  }
}

std::optional<NotFinite> LargeSystem::explain_not_finite(const At& point) const {
  for (std::size_t i = 0; i < point.q.size(); ++i)
    if (!std::isfinite(point.q[i]) || !std::isfinite(point.qd[i])) {
      NotFinite result;
      result.problem = fmt::format("the state is not finite: `{}`", model_.name_of(static_cast<long>(i)));
      return result;
    }
  for (const auto& kernel : kernels_) {
    const std::vector<Expr> inputs = kernel->inputs();
    std::vector<Expr> values;
    for (const auto* list : {&kernel->constant, &kernel->varying})
      for (const Kernel::Output& o : *list) values.push_back(o.value);
    values.insert(values.end(), kernel->row_expressions.begin(), kernel->row_expressions.end());
    const Tape tape(values, inputs);
    std::vector<double> in(inputs.size()), registers(static_cast<std::size_t>(tape.num_registers())),
        out(values.size());
    for (std::size_t j = 0; j < static_cast<std::size_t>(kernel->members.count); ++j) {
      std::size_t k = 0;
      in[k++] = point.t;
      for (const double* state : {point.q.data(), point.qd.data()})
        for (std::size_t i = 0; i < kernel->term->coordinates.size(); ++i)
          in[k++] = state[kernel->members.coordinates[i][j]];
      for (const auto& index : kernel->members.indices) in[k++] = index[j];
      for (std::size_t l = 0; l < kernel->members.numbers.size(); ++l)
        in[k++] = model_.numbers[static_cast<std::size_t>(kernel->term->numbers[l].family)]
                      .values[static_cast<std::size_t>(kernel->members.numbers[l][j])];
      for (std::size_t i = 0; i < kernel->sides.symbols.size(); ++i)
        in[k++] = kernel->sides.of(i, j, point.sides.data());
      tape.evaluate<double>(in, registers, out);
      for (std::size_t i = 0; i < out.size(); ++i)
        if (!std::isfinite(out[i])) {
          const auto output = static_cast<int>(i);
          NotFinite result = mechanician::explain_not_finite(
              tape, output, in, quantity_name(*kernel, output, static_cast<std::int64_t>(j)),
              kernel->place(static_cast<std::int64_t>(j)));
          std::string plain;  // an index of a definition is i#3
          for (bool mark = false; const char c : result.expression) {
            mark = c == '#' || (mark && c >= '0' && c <= '9');
            if (!mark) plain += c;
          }
          result.expression = std::move(plain);
          return result;
        }
    }
  }
  return std::nullopt;
}

}  // namespace mechanician
