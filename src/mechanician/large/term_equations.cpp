#include "mechanician/large/term_equations.hpp"

#include "mechanician/equations/equations.hpp"
#include "mechanician/large/large_terms.hpp"

namespace mechanician {

Model model_of(const FamilyModel& model, const Term& term) {
  Model small;
  for (const MemberSymbol& m : term.coordinates)
    small.coordinates.push_back(
        {m.symbol.symbol().name, {}, model.coordinates[static_cast<std::size_t>(m.family)].is_state});
  for (const TermIndex& index : term.indices) small.add_parameter(index.name, 0.0);
  for (const MemberSymbol& m : term.numbers) small.add_parameter(m.symbol.symbol().name, 0.0);
  small.kinetic = Expr(0.0);
  if (term.kind == TermKind::kinetic) small.kinetic = term.body;
  if (term.kind == TermKind::potential) small.potential = term.body;
  if (term.kind == TermKind::constraint) small.add_constraint(term.name, term.body, 0.0);
  return small;
}

std::vector<TermEquations> derive_by_term(const FamilyModel& stated) {
  std::vector<TermEquations> result;
  const FamilyModel model = kernel_terms(stated);
  for (const Term& term : model.terms) {
    if (is_number_of_coordinate(term.kind) || term.body.is_zero()) continue;
    TermEquations part;
    part.term = term;
    const Equations eqs = derive(model_of(model, term));
    for (const auto& e : eqs.M.entries) part.M.push_back({e.row, e.col, e.value});
    for (int i = 0; i < eqs.n(); ++i)
      if (const Expr& f = eqs.Q[static_cast<std::size_t>(i)]; !f.is_zero()) part.Q.push_back({i, 0, f});
    if (term.kind == TermKind::force) part.Q.push_back({-1, 0, term.body});
    for (const auto& e : eqs.A.entries) part.A.push_back({0, e.col, e.value});
    if (!eqs.b.empty()) part.b = eqs.b.front();
    result.push_back(std::move(part));
  }
  return result;
}

}  // namespace mechanician
