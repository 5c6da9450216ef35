// How the equations of a large system change with the state: each term differentiated once, in the coordinates of one member.

#include <algorithm>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/large/large_kernel_internal.hpp"

namespace mechanician {

namespace {
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

void LargeSystem::differentiate(Kernel& kernel, const FamilyModel& model) {
  const Term& term = *kernel.term;
  // What a member gives to G, without λ, by its coordinates (the last is the target of a force), and to H.
  std::vector<Expr> G(kernel.members.coordinates.size(), Expr(0));
  Expr H(0);
  std::vector<Expr> functions, symbols;
  for (const MemberSymbol& c : term.coordinates) symbols.push_back(c.symbol);
  const auto count = static_cast<int>(symbols.size());
  for (int i = 0; i < count; ++i) symbols.push_back(dot(symbols[at(i)]));
  const auto add = [&](const Expr& f, bool of_row, bool times_lambda, int row) {
    const std::vector<Expr> derivatives = gradient(f, symbols);
    for (int k = 0; k < 2 * count; ++k) {
      if (derivatives[at(k)].is_zero()) continue;
      kernel.derivatives.push_back({of_row, times_lambda, k >= count, row, k % count, {}});
      functions.push_back(derivatives[at(k)]);
    }
  };
  const auto acceleration = [&](int i) { return ddot(term.coordinates[at(i)].symbol); };
  for (const Kernel::Output& o : kernel.varying) {
    Expr& sum = o.part == Kernel::Part::mass || o.part == Kernel::Part::force ? G[at(o.a)] : H;
    const int a = o.part == Kernel::Part::mass ? o.b : o.a;
    const bool accelerated = o.part == Kernel::Part::mass || o.part == Kernel::Part::row;
    sum = accelerated ? make_simplified(Op::sub, {sum, make_simplified(Op::mul, {o.value, acceleration(a)})})
                      : make_simplified(Op::add, {sum, o.value});
    if (o.part == Kernel::Part::row) add(o.value, false, true, o.a);
  }
  for (std::size_t i = 0; i < G.size(); ++i) add(G[i], false, false, static_cast<int>(i));
  add(H, true, false, 0);
  kernel.derivative_functions = MemberFunctions(model, term, kernel.members, functions, kernel.sides.symbols);
}

const std::vector<SparseEntry>& LargeSystem::derivative_pattern() {
  const Lock lock(mutex_);
  if (derivatives_made_) return derivative_pattern_;
  derivatives_made_ = true;
  std::vector<std::int64_t> keys;
  const auto key_of = [&](const Kernel& kernel, const Kernel::Derivative& d, std::int64_t j) {
    const auto& coordinates = kernel.members.coordinates;
    const std::int64_t row = d.of_row ? n_ + kernel.row[at(j)] : coordinates[at(d.row)][at(j)];
    return row << 32 | coordinates[at(d.col)][at(j)];
  };
  for (const auto& kernel : kernels_) {
    differentiate(*kernel, model_);
    for (const Kernel::Derivative& d : kernel->derivatives)
      for (std::int64_t j = 0; j < kernel->members.count; ++j) keys.push_back(key_of(*kernel, d, j));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::int64_t k : keys)
    derivative_pattern_.push_back({static_cast<int>(k >> 32), static_cast<int>(k & 0xffffffff)});
  for (const auto& kernel : kernels_)
    for (Kernel::Derivative& d : kernel->derivatives)
      for (std::int64_t j = 0; j < kernel->members.count; ++j)
        d.to.push_back(static_cast<std::int32_t>(std::lower_bound(keys.begin(), keys.end(), key_of(*kernel, d, j)) -
                                                 keys.begin()));
  return derivative_pattern_;
}

void LargeSystem::calc_derivatives(const MemberPoint& point, const double* lambda, std::span<double> by_q,
                                   std::span<double> by_qd) {
  const Lock lock(mutex_);
  std::fill(by_q.begin(), by_q.end(), 0.0), std::fill(by_qd.begin(), by_qd.end(), 0.0);
  for (const auto& kernel : kernels_)
    kernel->derivative_functions.evaluate(model_, *kernel->term, kernel->members, kernel->sides, point, false,
                                          [&](std::size_t i, std::size_t member, double value, double) {
                                            const Kernel::Derivative& d = kernel->derivatives[i];
                                            (d.by_velocity ? by_qd : by_q)[at(d.to[member])] +=
                                                d.times_lambda ? value * lambda[kernel->row[member]] : value;
                                          });
}

}  // namespace mechanician
