#include "mechanician/compile/given_power.hpp"

#include <vector>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

std::optional<Expr> make_given_power(const Model& model) {
  if (!model.kinetic) return std::nullopt;
  const auto add = [](const Expr& a, const Expr& b) { return make_simplified(Op::add, {a, b}); };
  const auto sub = [](const Expr& a, const Expr& b) { return make_simplified(Op::sub, {a, b}); };
  std::vector<Expr> q, qd;
  std::vector<Replacement> at_rest;
  for (const Coordinate& c : model.coordinates) {
    q.push_back(c.q()), qd.push_back(c.qd());
    at_rest.push_back({c.qd(), 0});
  }
  const Expr T = simplify(*model.kinetic), T0 = substitute(T, at_rest);
  // States move by themselves, as time does: no force acts on them.
  const auto is_state = [&](std::size_t i) { return model.coordinates[i].is_state; };
  std::vector<Expr> force(q.size(), 0);
  const std::vector<Expr> T0_q = gradient(T0, q);
  for (std::size_t i = 0; i < q.size(); ++i)
    if (!is_state(i)) force[i] = add(force[i], T0_q[i]);
  if (model.potential) {
    const std::vector<Expr> V_q = gradient(simplify(*model.potential), q);
    for (std::size_t i = 0; i < q.size(); ++i)
      if (!is_state(i)) force[i] = sub(force[i], V_q[i]);
  }
  for (const Named& f : model.forces) {
    Expr& sum = force[static_cast<std::size_t>(model.find_coordinate(f.name))];
    sum = add(sum, simplify(f.value));
  }
  Expr power = 0;
  for (std::size_t i = 0; i < q.size(); ++i) power = add(power, make_simplified(Op::mul, {qd[i], force[i]}));
  // (T₂ + T₁)_t = ½ q̇ᵀ(g + g at rest), g = ∂T_t/∂q̇: without T₀, of which nothing would be left but rounding.
  std::vector<Tangent> unmoved{{time_symbol(), 1}};
  for (std::size_t i = 0; i < q.size(); ++i)
    if (is_state(i)) unmoved.push_back({q[i], qd[i]});
  std::vector<Replacement> stopped;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (!is_state(i)) stopped.push_back(at_rest[i]);
  const std::vector<Expr> g = gradient(directional(T, unmoved), qd), g_at_rest = substitute(g, stopped);
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (is_state(i)) continue;
    power = sub(power, make_simplified(Op::mul, {qd[i], make_simplified(Op::mul, {0.5, add(g[i], g_at_rest[i])})}));
  }
  return power;
}

}  // namespace mechanician
