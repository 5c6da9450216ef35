// A large system at one state, with bounds of the rounding in all its numbers.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/compile/bounded_values.hpp"
#include "mechanician/large/large_kernel_internal.hpp"

namespace mechanician {

namespace {

constexpr double half_eps = 0.5 * std::numeric_limits<double>::epsilon();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void LargeSystem::make_bounded(Kernel& kernel) const {
  std::vector<Expr> outputs;
  for (const auto* list : {&kernel.constant, &kernel.varying})
    for (const Kernel::Output& o : *list) outputs.push_back(o.value);
  outputs.insert(outputs.end(), kernel.row_expressions.begin(), kernel.row_expressions.end());
  const std::vector<Expr> inputs = kernel.inputs();
  ProgramBuilder builder(static_cast<int>(inputs.size()));
  std::vector<ProgramBuilder::Value> in;
  for (std::size_t i = 0; i < inputs.size(); ++i) in.push_back(builder.input(static_cast<int>(i)));
  BoundedValues all = append_with_bounds(builder, Tape(outputs, inputs), in);
  all.values.insert(all.values.end(), all.bounds.begin(), all.bounds.end());
  kernel.bounded = CompiledFunction(builder.finish(all.values), {.lanes = static_cast<int>(lanes)});
  constexpr std::int64_t worth_code = 256;  // members, below which the interpreter is done sooner
  if (kernel.members.count >= worth_code) kernel.bounded.make_quick_code();
  kernel.bounded_sources = sources_of(kernel, std::vector<char>(inputs.size(), 1));
}

void LargeSystem::evaluate_with_bounds(const At& point, Bounded& to) {
  const Lock lock(mutex_);
  take(point);
  for (Values* v : {&to.values, &to.bounds}) {
    v->M.assign(pattern_.M.size(), 0.0), v->A.assign(pattern_.A.size(), 0.0);
    v->Q.assign(at(n_), 0.0), v->b.assign(at(m_), 0.0);
  }
  for (auto* x : {&to.residual, &to.rate, &to.residual_bound, &to.rate_bound}) x->assign(at(m_), 0.0);
  std::vector<double> inputs, outputs;
  for (const auto& kernel : kernels_) {
    if (!kernel->bounded) make_bounded(*kernel);
    const std::int64_t num_inputs = kernel->bounded.num_inputs(), num_outputs = kernel->bounded.num_outputs(),
                       num_values = num_outputs / 2;
    inputs.resize(at(num_inputs * lanes * batch)), outputs.resize(at(num_outputs * lanes * batch));
    for (std::int64_t begin = 0; begin < kernel->members.count; begin += lanes * batch) {
      const std::int64_t here = gather(*kernel, kernel->bounded_sources, inputs.data(), begin, point);
      kernel->bounded.evaluate_all(inputs.data(), num_inputs * lanes, outputs.data(), num_outputs * lanes,
                                   (here + lanes - 1) / lanes);
      const auto value_of = [&](std::int64_t output, std::int64_t j) {
        const std::int64_t block = j / lanes;
        return outputs[at((block * num_outputs + output) * lanes + j - block_begin(block, here))];
      };
      // A bound that overflows says nothing, as does one of a quantity at the edge of its domain.
      const auto bound_of = [&](std::int64_t output, std::int64_t j) {
        const double bound = value_of(num_values + output, j);
        return std::isfinite(bound) ? bound : 0.0;
      };
      std::int64_t output = 0;
      for (const auto* list : {&kernel->constant, &kernel->varying})
        for (const Kernel::Output& o : *list) {
          const auto part = [&](Values& v) {
            return o.part == Kernel::Part::mass    ? v.M.data()
                   : o.part == Kernel::Part::force ? v.Q.data()
                   : o.part == Kernel::Part::row   ? v.A.data()
                                                   : v.b.data();
          };
          double *const values = part(to.values), *const bounds = part(to.bounds);
          for (std::int64_t j = 0; j < here; ++j) {
            const std::int32_t place = o.to[at(begin + j)];
            if (place < 0) continue;
            const double before = values[place];
            values[place] = before + value_of(output, j);
            bounds[place] += bound_of(output, j) + (before == 0.0 ? 0.0 : half_eps * std::abs(values[place]));
          }
          ++output;
        }
      for (std::int64_t j = 0; j < here && !kernel->row_expressions.empty(); ++j) {
        const std::size_t row = at(kernel->row[at(begin + j)]);
        to.residual[row] = value_of(output, j), to.rate[row] = value_of(output + 1, j);
        to.residual_bound[row] = bound_of(output, j), to.rate_bound[row] = bound_of(output + 1, j);
      }
    }
  }
}

}  // namespace mechanician
