#include "mechanician/exports/c_interface.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/exports/c_printer.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

std::string c_functions(const CFacts& facts) {
  std::string out = "\nvoid @parameters(double *p)\n{\n  (void)p;\n";
  for (std::size_t i = 0; i < facts.system.parameters().size(); ++i)
    out +=
        fmt::format("  p[{}] = {};\n", i, facts.open_input[i].empty() ? c_number(facts.system.parameters()[i]) : "NAN");
  out += "}\n\nvoid @derive(double *p)\n{\n  (void)p;\n";
  std::string assigned;
  std::size_t count = 0;
  for (std::size_t i = 0; i < facts.is_derived.size(); ++i)
    if (facts.is_derived[i]) assigned += fmt::format("  p[{}] = values[{}];\n", i, count++);
  if (count > 0)
    out += fmt::format(
        "  static const double nothing[@N + 1];\n  double x[@X], values[{}];\n  @pack(0, nothing, nothing, p, 0, 0, "
        "x);\n "
        " "
        "@derived_values(x, values);\n{}",
        count, assigned);
  out += "}\n";
  const bool has_events = facts.has_events();
  out += R"(
int @restart(@motion *m, const double *p)
{
  (void)p;
  m->status = m->stopped = m->goes_on = 0, m->h = 0, m->event = -1;
  @note_sizes(m);
)";
  if (facts.num_states > 0)
    out += R"(  {
    /* How large what a rate is made of is, though it may cancel: by what a little of everything changes. */
    double x[@X], rates[@STATES], changed[@STATES];
    int i;
    @pack(m->t, m->q, m->v, p, RESTART_MODES, x);
    @rates_values(x, rates);
    for (i = 0; i < @X - @SWITCHES; ++i) x[i] *= 1 + 1e-7*(0.5 + fmod(0.618*i, 1));
    @rates_values(x, changed);
    for (i = 0; i < @STATES; ++i) m->rate_size[i] = @size_of(m->rate_size[i], fabs(changed[i] - rates[i])/1e-7);
  }
)";
  if (const std::size_t at = out.find("RESTART_MODES"); at != std::string::npos)
    out.replace(at, 13, facts.held_values());
  const bool sides = !facts.sides.empty();
  if (sides) out += "  @take_sides(m, p);\n";
  if (facts.switches) out += "  if ((m->status = @settle(m, p, 0, 0)) != 0) return m->status;\n";
  if (facts.has_samples())
    out +=
        "  if (!m->holds) {\n    m->first_sample = m->t, m->samples = 0;\n    if ((m->status = @sample(m, p)) != 0) "
        "return m->status;\n  }\n";
  if (sides) out += "  if ((m->status = @first_sides(m, p)) != 0) return m->status;\n";
  if (has_events)
    out += "  {\n    int i;\n    for (i = 0; i < @EVENTS; ++i) m->sign[i] = 0;\n    @keep_signs(m, p);\n  }\n";
  out += "  return 0;\n}\n";
  out += R"(
void @begin(@motion *m, const double *p, double tolerance)
{
  static const @motion zero;
  double values[2*@COORDINATES + @STATES + 1];
  int i;
  *m = zero;
  @start(0, m->q, m->v, p, values);
  for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = values[i];
  for (i = 0; i < @COORDINATES; ++i) m->v[i] = values[@COORDINATES + @STATES + i];
  m->t = m->t_begin = m->t_first = m->turns_since = values[2*@COORDINATES + @STATES];
  /* No tolerance, and no step is made. */
  m->tolerance = !(tolerance > 0) || !isfinite(tolerance) ? 0 : tolerance > 1e-15 ? tolerance : 1e-15, m->slack = 2e-14;
)";
  if (facts.switches) {
    // Requirements are no rows that hold.
    out += fmt::format("  for (i = 0; i < @R; ++i) m->d.engaged[i] = {};\n",
                       facts.has_control() ? "i < @FIRST_REQUIREMENT" : "1");
    const std::vector<char> engaged = engaged_at_start(facts.model);
    for (std::size_t j = 0; j < engaged.size() && j < facts.rows.size(); ++j)
      if (!engaged[j]) out += fmt::format("  m->d.engaged[{}] = 0;\n", facts.rows[j]);
    for (std::size_t k = 0; k < facts.modes.size(); ++k)
      out += fmt::format("  m->d.mode[{}] = p[{}];\n", k, facts.modes[k]);
    out += "  for (i = 0; i < @CONTACTS; ++i) m->d.sign[i] = 1;\n";
  }
  // The start of numbers satisfies the constraints with the parameters that it was made with.
  if (facts.starts_as_stated || !facts.projects())
    out += "  @restart(m, p);\n}\n";
  else
    out += fmt::format(
        "  {{\n    int status;\n{}    status = @is_off(m, p) ? @project(m, p) : 0;\n    if (!@restart(m, p)) m->status "
        "= "
        "status;\n  }}\n}}\n",
        facts.sides.empty() ? "" : "    @take_sides(m, p);\n");
  const std::string functions = R"(
void @{0}(double t, const double *q, const double *v, const double *p, double *values)
{{
  double x[@X];
  @pack(t, q, v, p, 0, 0, x);
  @{1}(x, values);
}}
)";
  out += fmt::format(fmt::runtime(functions), "energies", "energy_values") +
         fmt::format(fmt::runtime(functions), "start", "start_values");
  out += R"(
int @is_off(const @motion *m, const double *p)
{
  double x[@X], all[2*@R + 1], size = 1;
  int i, j;
  @pack(m->t, m->q, m->v, p, IS_OFF_MODES, x);
  @residuals_values(x, all);
  for (i = 0; i < @COORDINATES; ++i) if (fabs(m->q[i]) > size) size = fabs(m->q[i]);
  for (j = 0; j < @R; ++j) if (IS_OFF_ROW) for (i = 0; i < 2; ++i) if (fabs(all[2*j + i]) > 1e-9*size) return 1;
  return 0;
}

void @residuals(double t, const double *q, const double *v, const double *p, double *values)
{
  double x[@X], all[2*@R + 1];
  int j;
  @pack(t, q, v, p, 0, 0, x);
  @residuals_values(x, all);
  for (j = 0; j < @ROWS; ++j) values[2*j] = all[2*@at_row[j]], values[2*j + 1] = all[2*@at_row[j] + 1];
}
)";
  const auto put = [&](std::string_view word, const std::string& by) { out.replace(out.find(word), word.size(), by); };
  std::string held;
  for (int j = 0; j < facts.m(); ++j) {
    if (CFacts::is_held(facts.levels[static_cast<std::size_t>(j)]))
      held += fmt::format("{}j == {}", held.empty() ? "" : " || ", j);
  }
  const bool all = std::all_of(facts.levels.begin(), facts.levels.end(), CFacts::is_held);
  put("IS_OFF_MODES", facts.held_values());
  put("IS_OFF_ROW", facts.switches ? "@row_level[j] < 2 && @acts(&m->d, j)" : all ? "1" : held.empty() ? "0" : held);
  if (facts.switches)
    out += R"(
/* A motion at a state, with what touches there; where velocities have to jump there is no acceleration. */
static int @at(double t, const double *q, const double *v, const double *p, @motion *m)
{
  int i, status;
  @begin(m, p, 1e-9);
  m->t = t;
  for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = q[i];
  for (i = 0; i < @COORDINATES; ++i) m->v[i] = v[i];
  if ((status = @restart(m, p)) != 0) return status;
  for (i = 0; i < @COORDINATES; ++i) if (fabs(m->v[i] - v[i]) > 1e-7*m->size[@COORDINATES + @STATES + i]) return @IMPACT;
  return 0;
}

int @acceleration(double t, const double *q, const double *v, const double *p, double *a, double *force, double *lambda)
{
  @motion m;
  @instant o;
  int i, status = @at(t, q, v, p, &m);
  if (status || (status = @look(&m, p, &o)) != 0) return status;
  for (i = 0; i < @COORDINATES; ++i) { a[i] = o.a[i]; if (force) force[i] = o.force[i]; }
  if (lambda) for (i = 0; i < @ROWS; ++i) lambda[i] = o.lambda[i];
  return 0;
}

int @events(double t, const double *q, const double *v, const double *p, double *values)
{
  @motion m;
  @instant o;
  int i, status = @at(t, q, v, p, &m);
  if (status || (status = @look(&m, p, &o)) != 0) return status;
  for (i = 0; i < @EVENTS; ++i) values[i] = o.events[i];
  return 0;
}
)";
  else
    out += fmt::format(R"(
int @acceleration(double t, const double *q, const double *v, const double *p, double *a, double *force, double *lambda)
{{
  double x[@X], all[@N], multipliers[@R + 1];
  int i, status;
  @pack(t, q, v, p, 0, 0, x);
  if ((status = @solve(x, all, multipliers)) != 0) return status;
  for (i = 0; i < @COORDINATES; ++i) a[i] = all[@at_coordinate[i]];
  if (lambda) for (i = 0; i < @ROWS; ++i) lambda[i] = multipliers[@at_row[i]];
  if (force) {{
    @numbers s;
    @forces forces;
    if ((status = @forces_at(0, x, &s, &forces)) != 0) return status;
    for (i = 0; i < @COORDINATES; ++i) force[i] = forces.force[@at_coordinate[i]];
  }}
  return 0;
}}

int @events(double t, const double *q, const double *v, const double *p, double *values)
{{
  double x[@X + {}];
  @pack(t, q, v, p, 0, 0, x);
{}  @event_values(x, values);
  return 0;
}}
)",
                       facts.extensions.size() + 1,
                       facts.extensions.empty()
                           ? ""
                           : "  {\n    @numbers s;\n    @forces forces;\n    const int status = @forces_at(0, x, &s, "
                             "&forces);\n    if (status) return status;\n    @extend(&forces, x);\n  }\n");
  return out + R"(
const char *@status_text(int status)
{
  switch (status) {
    case 0: return "success";
    case @NOT_FINITE: return "a value is infinite or not a number";
    case @CONTRADICTION: return "the constraints contradict each other";
    case @NOT_UNIQUE: return "mass and constraints do not determine the acceleration";
    case @NOT_VOUCHED: return "the pivots of the elimination are not to be trusted here";
    case @NOT_PROJECTED: return "the constraints could not be held";
    case @STEP_TOO_SMALL: return "the error test cannot be met";
    case @BACKWARDS: return "the end lies before the time of the motion";
    case @NO_MODE: return "no way for the contacts to go on obeys the law of friction, or forces are not unique";
    case @SEVERAL: return "the law of friction has several solutions here";
    case @TOO_MANY: return "so many contacts touch that not all modes can be tried";
    case @STORM: return "impacts or events at the same time do not come to an end";
    case @NOT_MET: return "what can act does not suffice for the requirements, or limits leave no effort";
    case @NOT_SETTLED: return "which limits of control act was not found";
    case @ALONG: return "the motion would slide along where something switches, or switches ever more often";
    case @UNDECIDED: return "where something switches the motion is driven away on either side: which way it goes is not determined";
    case @NO_NUMBER: return "the end of a step, its length or the tolerance is no number that it could be";
    case @IMPACT: return "a contact closes here: velocities have to jump";
    default: return "no such status";
  }
}
)";
}

}  // namespace mechanician
