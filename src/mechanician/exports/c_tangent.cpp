#include "mechanician/exports/c_tangent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/exports/c_text.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

/// Symbols with names that no model can have.
std::vector<Expr> make_symbols(const char* what, int count) {
  std::vector<Expr> symbols;
  for (int i = 0; i < count; ++i) symbols.push_back(parameter(fmt::format("#{}{}", what, i)));
  return symbols;
}

class Maker {
 public:
  explicit Maker(const CFacts& facts) : facts_(facts), eqs_(facts.eqs) {
    x_ = {eqs_.t};
    for (const auto* part : {&eqs_.q, &eqs_.qd, &eqs_.parameters}) x_.insert(x_.end(), part->begin(), part->end());
    a_ = make_symbols("a", eqs_.n()), lambda_ = make_symbols("lambda", eqs_.m()),
    f_ = make_symbols("f", facts.num_slips);
    dx_ = make_symbols("dx", static_cast<int>(x_.size()));
    da_ = make_symbols("da", eqs_.n()), dlambda_ = make_symbols("dlambda", eqs_.m()),
    df_ = make_symbols("df", facts.num_slips);
    along(x_, dx_, by_state_);
    // Sides do not change.
    const std::vector<Expr> sides = facts.side_symbols(), still = make_symbols("still", static_cast<int>(sides.size()));
    dx_.insert(dx_.end(), still.begin(), still.end());
    by_all_ = by_state_;
    along(a_, da_, by_all_), along(lambda_, dlambda_, by_all_), along(f_, df_, by_all_);
    if (!facts.has_control()) return;
    a1_ = make_symbols("plain", eqs_.n()), da1_ = make_symbols("dplain", eqs_.n());
    along(a1_, da1_, by_all_);
  }

  Program rates() const {
    std::vector<Expr> rates = facts_.state_rates;
    for (std::size_t i = 0; i < facts_.derived.size(); ++i)
      if (facts_.is_derived[i]) rates.push_back(facts_.derived[i]);
    return program(directional(rates, by_state_), {&dx_});
  }

  Program equations() const {
    std::vector<Expr> all(static_cast<std::size_t>(eqs_.n()));
    for (int i = 0; i < eqs_.n(); ++i)
      all[at(i)] = eqs_.has_C ? eqs_.Q[at(i)] + with_C_[0] * eqs_.C[at(i)] : eqs_.Q[at(i)];
    for (const auto& e : eqs_.M.entries) all[at(e.row)] = all[at(e.row)] - e.value * a_[at(e.col)];
    for (const auto& e : eqs_.A.entries) all[at(e.col)] = all[at(e.col)] + e.value * lambda_[at(e.row)];
    std::vector<Expr> S = eqs_.b, U, slips, friction;
    for (const auto& e : eqs_.A.entries) S[at(e.row)] = S[at(e.row)] - e.value * a_[at(e.col)];
    for (std::size_t c = 0; c < eqs_.contacts.size(); ++c) {
      const ContactRow& contact = eqs_.contacts[c];
      const std::size_t first = U.size();
      U.insert(U.end(), contact.slip_b.begin(), contact.slip_b.end());
      for (const auto& e : contact.T.entries) {
        all[at(e.col)] = all[at(e.col)] + e.value * f_[first + at(e.row)];
        U[first + at(e.row)] = U[first + at(e.row)] - e.value * a_[at(e.col)];
      }
      slips.insert(slips.end(), contact.slip.begin(), contact.slip.end());
      friction.push_back(contact.friction);
    }
    for (const auto* part : {&S, &U, &friction, &slips}) all.insert(all.end(), part->begin(), part->end());
    return program(directional(all, by_state_), {&a_, &lambda_, &f_, &dx_, &with_C_});
  }

  Program quantities() const {
    std::vector<Expr> force(static_cast<std::size_t>(eqs_.n())), ideal(force.size(), Expr(0.0)),
        control(force.size(), Expr(0.0));
    for (int i = 0; i < eqs_.n(); ++i) force[at(i)] = -eqs_.Q[at(i)];
    for (const auto& e : eqs_.M.entries) force[at(e.row)] = force[at(e.row)] + e.value * a_[at(e.col)];
    for (const auto& e : eqs_.A.entries) {
      if (facts_.levels[at(e.row)] == CFacts::rate || facts_.levels[at(e.row)] == CFacts::control) continue;
      ideal[at(e.col)] = ideal[at(e.col)] + e.value * lambda_[at(e.row)];
    }
    Expr cost = 0.0;
    for (const auto& e : facts_.has_control() ? eqs_.M.entries : std::vector<SparseExprMatrix::Entry>{}) {
      const Expr part = e.value * (a_[at(e.col)] - a1_[at(e.col)]);
      control[at(e.row)] = control[at(e.row)] + part;
      cost = cost + part * (a_[at(e.row)] - a1_[at(e.row)]);
    }
    for (std::size_t i = 0; i < force.size(); ++i) force[i] = force[i] - control[i];
    std::vector<Replacement> forces;
    for (const Expr& e : facts_.extensions) forces.push_back({e, value_of(e, force, ideal, control, cost)});
    std::vector<Expr> all;
    for (int i = 0; i < facts_.num_coordinates; ++i) all.push_back(force[at(facts_.coordinates[at(i)])]);
    for (int i = 0; i < facts_.num_coordinates; ++i) all.push_back(control[at(facts_.coordinates[at(i)])]);
    for (const Expr& e : substitute(facts_.outputs, forces)) all.push_back(e);
    Expr kinetic = 0.0;
    for (const auto& e : eqs_.M.entries)
      kinetic = kinetic + Expr(0.5) * e.value * eqs_.qd[at(e.row)] * eqs_.qd[at(e.col)];
    all.push_back(facts_.model.kinetic.value_or(kinetic));
    all.push_back(facts_.model.potential.value_or(Expr(0.0)));
    for (const Expr& e : substitute(facts_.events, forces)) all.push_back(e);
    for (int j = eqs_.num_constraints(); j < eqs_.m(); ++j) all.push_back(error_of(j));
    all.push_back(cost);
    return program(directional(all, by_all_), {&a_, &lambda_, &f_, &dx_, &da_, &dlambda_, &df_, &a1_, &da1_});
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  static void along(const std::vector<Expr>& symbols, const std::vector<Expr>& rates, std::vector<Tangent>& tangents) {
    for (std::size_t i = 0; i < symbols.size(); ++i) tangents.push_back({symbols[i], rates[i]});
  }

  Program program(std::vector<Expr> functions, std::initializer_list<const std::vector<Expr>*> inputs) const {
    if (functions.empty()) functions.emplace_back(0.0);
    ProgramOptions options;
    options.sides = facts_.side_symbols();
    for (const auto* part : inputs) options.sides.insert(options.sides.end(), part->begin(), part->end());
    return make_values_program(eqs_, options, functions);
  }

  /// What an acceleration or force that an output uses is made of.
  Expr value_of(const Expr& symbol, const std::vector<Expr>& force, const std::vector<Expr>& ideal,
                const std::vector<Expr>& control, const Expr& cost) const {
    const Symbol& s = symbol.symbol();
    const int i = facts_.system.find_coordinate(s.name);
    switch (s.kind) {
      case SymbolKind::constraint_force:
        return force[at(i)];
      case SymbolKind::ideal_force:
        return ideal[at(i)];
      case SymbolKind::control_force:
        return control[at(i)];
      case SymbolKind::control_cost:
        return cost;
      case SymbolKind::control_error:
        for (int j = eqs_.num_constraints(); j < eqs_.m(); ++j)
          if (facts_.system.row_name(j) == s.name) return error_of(j);
        return 0.0;
      case SymbolKind::multiplier:
        for (int j = 0; j < facts_.m(); ++j)
          if (facts_.system.row_name(j) == s.name) return lambda_[at(j)];
        return 0.0;
      case SymbolKind::friction:
        for (const CFacts::Contact& c : facts_.contacts)
          if (c.name == s.name)
            return c.num_slips == 2 ? hypot(f_[at(c.first_slip)], f_[at(c.first_slip + 1)]) : abs(f_[at(c.first_slip)]);
        return 0.0;
      default:
        for (int k = 0; k < facts_.n(); ++k)
          if (same(eqs_.qdd[at(k)], symbol)) return a_[at(k)];
        return 0.0;
    }
  }

  Expr error_of(int row) const {
    return eqs_.rows[at(row)].level == Level::acceleration ? Expr(0.0) : eqs_.rows[at(row)].residual;
  }

  const CFacts& facts_;
  const Equations& eqs_;
  std::vector<Expr> with_C_ = make_symbols("other", 1);  ///< 1, or 0: as if there were no [nonideal]
  std::vector<Expr> a1_, da1_;                           ///< without control
  std::vector<Expr> x_, a_, lambda_, f_, dx_, da_, dlambda_, df_;
  std::vector<Tangent> by_state_, by_all_;
};

constexpr std::string_view tangent_begin = R"(
/* How everything changes along a direction of time, coordinates and states, velocities and parameters. What has no derivative that is known
   for sure is not a number. */
int @tangent(const @motion *m, const double *p, double dt, const double *dq, const double *dv, const double *dp, @instant *d)
{
  enum { at_a = @X, at_lambda = at_a + @N, at_f = at_lambda + @R, at_dx = at_f + @SLIPS, at_other = at_dx + @X, at_da = at_other, at_dlambda = at_da + @N, at_df = at_dlambda + @R, at_plain = at_df + @SLIPS, at_dplain = at_plain + TANGENT_PLAIN };
  /* What the equations have behind dx the quantities have not. */
  @numbers s;
  @forces forces;
  double x[@X], all[at_dplain + TANGENT_PLAIN + 1], only[2*@X], rates[@STATES + @PARAMETERS + 1], y[@N + @R + 2*@SLIPS + @CONTACTS + 1], a[@N], lambda[@R + 1], f[@SLIPS + 1];
  double values[2*@COORDINATES + @OUTPUTS + 2 + @EVENTS + @REQUIREMENTS + 1];
  char act[@R + 1], sure[@LARGEST];
  int i, j, status;
  @pack(m->t, m->q, m->v, p, TANGENT_MODES, x);
  if ((status = @forces_at(m, x, &s, &forces)) != 0) return status;
  for (i = 0; i < @X; ++i) all[i] = only[i] = x[i], only[@X + i] = 0;
  for (i = 0; i < @N; ++i) all[at_a + i] = forces.a[i], only[@X + 1 + @at_coordinate[i]] = dq[i];
  for (j = 0; j < @R; ++j) all[at_lambda + j] = forces.actual[j];
  for (i = 0; i < @SLIPS; ++i) all[at_f + i] = forces.f[i];
  only[@X] = dt;
  for (i = 0; i < @COORDINATES; ++i) only[@X + 1 + @N + @at_coordinate[i]] = dv[i];
  for (i = 0; i < @PARAMETERS; ++i) only[@X + 1 + 2*@N + i] = dp[i];
)";

constexpr std::string_view tangent_end = R"(  for (i = 0; i < @X; ++i) all[at_dx + i] = only[@X + i];
  for (j = 0; j < @R; ++j) act[j] = TANGENT_ROWS;
  TANGENT_SOLVE
  for (i = 0; i < @N; ++i) all[at_da + i] = a[i];
  for (j = 0; j < @R; ++j) all[at_dlambda + j] = lambda[j];
  for (i = 0; i < @SLIPS; ++i) all[at_df + i] = f[i];
  @tangent_quantities(all, values);
  for (i = 0; i < @COORDINATES; ++i) d->a[i] = a[@at_coordinate[i]], d->force[i] = values[i], d->control[i] = values[@COORDINATES + i];
  for (i = 0; i < @STATES; ++i) d->rates[i] = rates[i];
  for (i = 0; i < @ROWS; ++i) d->lambda[i] = TANGENT_OTHER || !sure[@N + @at_row[i]] || !act[@at_row[i]] ? NAN : lambda[@at_row[i]];
  for (i = 0; i < @OUTPUTS; ++i) d->outputs[i] = values[2*@COORDINATES + i];
  for (i = 0; i < 2; ++i) d->energies[i] = values[2*@COORDINATES + @OUTPUTS + i];
  for (i = 0; i < @EVENTS; ++i) d->events[i] = values[2*@COORDINATES + @OUTPUTS + 2 + i];
  for (i = 0; i < @CONTACTS; ++i) d->normal[i] = TANGENT_NORMAL;
  for (i = 0; i < @SLIPS; ++i) d->friction[i] = f[i];
  for (i = 0; i < @GUARDS; ++i) d->guards[i] = NAN;
  for (i = 0; i < @SWITCHES; ++i) d->switches[i] = NAN;
  for (i = 0; i < @REQUIREMENTS; ++i) d->error[i] = values[2*@COORDINATES + @OUTPUTS + 2 + @EVENTS + i];
  d->cost = values[2*@COORDINATES + @OUTPUTS + 2 + @EVENTS + @REQUIREMENTS];
  return 0;
}
)";

/// Slides: what friction changes by itself, beside what it changes with the normal force.
constexpr std::string_view tangent_contacts = R"(all[at_other] = 1;
  @tangent_equations(all, y);
  {
    @modes now = m->d;
    int c, k;
    for (c = 0; c < @CONTACTS; ++c) for (k = 0; k < @contact[c].slips; ++k) extra[@contact[c].first + k] = 0;
    @turn(m, &s, x + 1 + @N, &now);
    for (c = 0; c < @CONTACTS; ++c) if (now.status[c] == @SLIDES) {
      const double *dslip = y + @N + @R + @SLIPS + @CONTACTS + @contact[c].first, *slip = s.slip + @contact[c].first;
      const double normal = @contact[c].limited ? 1 : now.sign[c]*forces.actual[@contact[c].row], dfriction = y[@N + @R + @SLIPS + c];
      double size = 0, turned[2] = {0, 0};
      for (k = 0; k < @contact[c].slips; ++k) size += slip[k]*slip[k];
      if (@contact[c].slips == 2 && size > 0) {
        const double straight = now.direction[c][0]*dslip[0] + now.direction[c][1]*dslip[1];
        for (k = 0; k < 2; ++k) turned[k] = (dslip[k] - straight*now.direction[c][k])/sqrt(size);
      }
      for (k = 0; k < @contact[c].slips; ++k) {
        const int at = @contact[c].first + k;
        extra[at] = -normal*(dfriction*now.direction[c][k] + s.friction[c]*turned[k]);
        for (i = 0; i < @N; ++i) y[i] += s.T[at*@N + i]*extra[at];
      }
    }
    for (c = 0; c < @CONTACTS; ++c) if (@contact[c].limited) s.friction[c] = 0;
    if ((status = @solve_rows(0, &s, act, &now, y + @N + @R, y, y + @N, a, lambda, f, sure)) != 0) return status;
    for (i = 0; i < @SLIPS; ++i) f[i] = sure[@N + @R + i] ? f[i] + extra[i] : NAN;
  })";

/// One after the other: with everything; without control; without control and [nonideal], which is what multipliers are of.
constexpr std::string_view tangent_rows = R"({
    double moved[@N], lambda2[@R + 1];
    int k;
    char unique[@LARGEST];
    for (j = 0; j < @R; ++j) act[j] = TANGENT_CONSTRAINT;
    if ((status = @solve_rows(&s, act, s.Q, s.b, a, lambda, f, unique)) != 0) return status;
    for (k = TANGENT_FIRST; k < 3; ++k) {
      for (j = 0; j < @R; ++j) act[j] = (char)(@is_kept[j] && (k == 0 || TANGENT_CONSTRAINT));
      if ((status = @solve_rows(&s, act, k < 2 ? s.C : s.Q, s.b, all + at_a, all + at_lambda, f, sure)) != 0) return status;
      for (i = 0; i < @N && TANGENT_PLAIN > 0 && k == 1; ++i) all[at_plain + i] = all[at_a + i];
      all[at_other] = k < 2;
      @tangent_equations(all, y);
      if ((status = @solve_rows(&s, act, y, y + @N, moved, lambda2, f, sure)) != 0) return status;
      for (i = 0; i < @N; ++i) {
        if (k == TANGENT_FIRST) a[i] = moved[i];
        if (k == 1 && TANGENT_PLAIN > 0) all[at_dplain + i] = moved[i];
      }
      for (j = 0; j < @R; ++j) lambda[j] = lambda2[j];
    }
    for (i = 0; i < @N; ++i) all[at_a + i] = forces.a[i];
    for (j = 0; j < @R; ++j) sure[@N + j] = unique[@N + j];
  })";

}  // namespace

CTangent make_c_tangent(const CFacts& facts, const std::vector<int>& left_out) {
  const Maker maker(facts);
  CTangent made{maker.rates(), maker.equations(), maker.quantities(), {}};
  std::string text(tangent_begin);
  const auto put = [&](std::string_view word, std::string_view by) { text = with(text, {{word, std::string(by)}}); };
  std::string kept = "static const char @is_kept[] = {";
  for (int j = 0; j < facts.m(); ++j)
    kept += std::find(left_out.begin(), left_out.end(), j) == left_out.end() ? "1, " : "0, ";
  text += "  @tangent_rates(only, rates);\n";
  int next = facts.num_states;
  for (int k = 0; k < facts.num_states; ++k)
    text += fmt::format("  only[@X + 1 + @N + {}] = rates[{}];\n",
                        facts.coordinates[static_cast<std::size_t>(facts.num_coordinates + k)], k);
  for (std::size_t i = 0; i < facts.is_derived.size(); ++i)
    if (facts.is_derived[i]) text += fmt::format("  only[@X + 1 + 2*@N + {}] = rates[{}];\n", i, next++);
  text += tangent_end;
  put("TANGENT_MODES", facts.held_values());
  put("TANGENT_ROWS", facts.switches ? "(char)@acts(&m->d, j)" : "@is_kept[j]");
  put("TANGENT_SOLVE", facts.switches ? tangent_contacts : tangent_rows);
  put("TANGENT_PLAIN", facts.has_control() ? "@N" : "0");
  put("TANGENT_CONSTRAINT", facts.has_control() ? "j < @FIRST_REQUIREMENT" : "1");
  put("TANGENT_FIRST", facts.has_control() ? "0" : "1");
  put("TANGENT_OTHER", !facts.switches ? "0" : facts.num_slips > 0 ? "1" : "@HAS_C");
  put("TANGENT_NORMAL", facts.switches ? "sure[@N + @contact[i].row] ? lambda[@contact[i].row] : NAN" : "0");
  if (facts.switches) put("char act[@R + 1]", "double extra[@SLIPS + 1] = {0};\n  char act[@R + 1]");
  made.text = (facts.switches ? "" : kept + "0};\n") + text;
  return made;
}

}  // namespace mechanician
