// Accelerations in exported C: straight-line code, and what stands behind it.

#include <fmt/format.h>

#include "mechanician/exports/c_runtime.hpp"
#include "mechanician/exports/c_writer_internal.hpp"

namespace mechanician {

void CWriter::make_solvers() {
  if (solves_generally_) {
    add_text(c_elimination());
    if (!facts_.switches) add_text(c_rows());
  }
  if (facts_.switches) {
    add_text(c_sizes());
    add_text(c_floor());
    for (const std::string_view text :
         {c_shared_friction(), c_contact_matrix(), c_order(), c_contact_rows(), c_acting(), c_reduction()})
      add_text(text);
    add_text(c_contact_law());
    if (has_control()) add_text(c_least_norm()), make_control();
    return;
  }
  if (has_program_) {
    AccelerationOptions wanted;
    static_cast<ProgramOptions&>(wanted) = options_;
    wanted.multipliers = true;
    AccelerationProgramResult made = make_acceleration_program(eqs_, wanted);
    if (made.made) acceleration_ = std::move(*made.made);
    if (!made.made && !solves_generally_) refuse_export(made.reason);
    has_program_ = made.made.has_value();
  }
  if (has_program_) add(acceleration_.program, "straight");
  if (solves_generally_) make_general_solver();
  std::string text = R"(
/* Accelerations and multipliers of all coordinates and rows. */
static int @solve(const double *x, double *a, double *lambda)
{
)";
  if (has_program_)
    text += fmt::format(
        R"(  double y[{}];
  int i;
  @straight(x, y);
  if (y[{}] > 0) {{
    for (i = 0; i < @N; ++i) a[i] = y[i];
    for (i = 0; i < @R; ++i) lambda[i] = {};
    return 0;
  }}
)",
        acceleration_.program.num_outputs(), acceleration_.at_vouch,
        has_control() ? fmt::format("i < {} ? y[{} + i] : 0", eqs_.num_constraints(), acceleration_.at_multipliers)
                      : fmt::format("y[{} + i]", acceleration_.at_multipliers));
  add_text(text +
           (solves_generally_ ? "  return @solve_generally(x, a, lambda);\n}\n" : "  return @NOT_VOUCHED;\n}\n"));
}

void CWriter::make_general_solver() {
  if (needs_reactions_) {
    ProgramOptions sides;
    sides.sides = eqs_.ideal;
    sides.sides.insert(sides.sides.end(), eqs_.multipliers.begin(), eqs_.multipliers.end());
    add_function("nonideal_values", eqs_.C, sides);
    add_text(fmt::format(R"(
/* C, from the forces of the case without it. */
static int @other_forces(const double *x, @numbers *s, const double *a, const double *lambda)
{{
  double given[@X + @N + {0} + 1], C[@N];
  int i, j;
  (void)a;
  for (i = 0; i < @X; ++i) given[i] = x[i];
  for (i = 0; i < @N; ++i) {{
    given[@X + i] = 0;
    for (j = 0; j < {0}; ++j) given[@X + i] += s->A[j*@N + i]*lambda[j];
  }}
  for (j = 0; j < {0}; ++j) given[@X + @N + j] = lambda[j];
  @nonideal_values(given, C);
  for (i = 0; i < @N; ++i) {{ if (!isfinite(C[i])) return @NOT_FINITE; s->C[i] = s->Q[i] + C[i]; }}
  return 0;
}}
)",
                         eqs_.multipliers.size()));
  } else {
    add_text(
        "static int @other_forces(const double *x, @numbers *s, const double *a, const double *lambda) { (void)x, "
        "(void)s, "
        "(void)a, (void)lambda; return 0; }\n");
  }
  add_text(c_least_norm());
  add_text(c_general_solver());
  if (has_control()) make_control();
  add_text(fmt::format(R"(
static int @solve_generally(const double *x, double *a, double *lambda)
{{
  @numbers s;
{}  char act[@R + 1];
  int i, status = @number(x, &s);
  for (i = 0; i < @R; ++i) act[i] = {};
  if (status || (status = @solve_plant(x, &s, act, a, lambda)) != 0) return status;
  return {};
}}
)",
                       has_control() ? "  @efforts e;\n" : "",
                       has_following() ? "(char)(@follows[i] ? @FOLLOWS : 1)"
                       : has_control() ? "i < @FIRST_REQUIREMENT"
                                       : "1",
                       has_control() ? "@steer(x, &s, act, a, lambda, &e)" : "0"));
}

}  // namespace mechanician
