#include "mechanician/equations/classify.hpp"

#include "mechanician/expression/degree.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

Expr minus(const Expr& a, const Expr& b) { return make_simplified(Op::sub, {a, b}); }

bool is_rate_of_a_function(const Expr& psi, const Equations& eqs) {
  constexpr std::size_t most_coordinates = 12;  // n² proofs
  if (eqs.q.size() > most_coordinates) return false;
  const std::vector<Expr> a = gradient(psi, eqs.qd);
  std::vector<Replacement> at_rest;
  for (const Expr& v : eqs.qd) at_rest.push_back({v, 0});
  const Expr a0 = substitute(psi, at_rest);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].contains(SymbolKind::velocity)) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (!proves_zero(minus(derivative(a[i], eqs.q[j]), derivative(a[j], eqs.q[i])))) return false;
    if (!proves_zero(minus(derivative(a[i], eqs.t), derivative(a0, eqs.q[i])))) return false;
  }
  return true;
}

}  // namespace

Row classify_row(const Expr& written, const Equations& eqs) {
  Row row;
  row.residual = written;
  row.level = level_of(written);
  row.rheonomic = written.contains(SymbolKind::time);
  if (row.level == Level::position) {
    row.acatastatic = row.rheonomic;  // φ̇ has the term φ_t
    return row;
  }
  if (row.level == Level::acceleration) return row;
  row.linear = has_degree_at_most(written, SymbolKind::velocity, 1);
  // Catastatic: satisfied by rest. ψ(q, 0, t) = 0 for all q and t.
  std::vector<Replacement> at_rest;
  if (written.contains(SymbolKind::unknown))
    for (const Expr& v : eqs.qd) at_rest.push_back({v, 0});
  else
    for (const Expr& s : symbols_of(std::span(&written, 1)))
      if (s.symbol().kind == SymbolKind::velocity) at_rest.push_back({s, 0});
  row.acatastatic = !proves_zero(substitute(written, at_rest));
  row.integrable = row.linear && is_rate_of_a_function(simplify(written), eqs);
  return row;
}

std::string describe(const RowTraits& row) {
  if (row.bare) return "friction alone";
  std::string text = row.one_sided ? "one-sided, " : "";
  switch (row.level) {
    case Level::position:
      text += "holonomic";
      break;
    case Level::velocity:
      text += row.integrable ? "on velocities (integrable, so in truth holonomic)" : "nonholonomic";
      break;
    case Level::acceleration:
      return std::string("on accelerations, used as it stands") + (row.rheonomic ? ", rheonomic" : ", scleronomic");
  }
  text += row.rheonomic ? ", rheonomic" : ", scleronomic";
  text += row.acatastatic ? ", acatastatic" : ", catastatic";
  if (row.level == Level::velocity) text += row.linear ? ", linear in the velocities" : ", nonlinear in the velocities";
  return text;
}

}  // namespace mechanician
