#include "mechanician/equations/mass_rate.hpp"

#include "mechanician/expression/differentiate.hpp"

namespace mechanician {

Expr mass_rate(const Equations& eqs) {
  Expr kinetic = 0;
  for (const auto& e : eqs.M.entries)
    kinetic += 0.5 * e.value * eqs.qd[static_cast<std::size_t>(e.row)] * eqs.qd[static_cast<std::size_t>(e.col)];
  std::vector<Tangent> along{{eqs.t, 1.0}};
  for (std::size_t i = 0; i < eqs.q.size(); ++i) along.push_back({eqs.q[i], eqs.qd[i]});
  return directional(kinetic, along);
}

}  // namespace mechanician
