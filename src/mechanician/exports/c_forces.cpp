// What is known at a state, in exported C: forces, samples of control that are held, quantities, events and what they change.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/exports/c_interface.hpp"
#include "mechanician/exports/c_printer.hpp"
#include "mechanician/exports/c_text.hpp"

namespace mechanician {

namespace {

/// Control that is found at samples and held between them.
std::string c_samples(const CFacts& facts) {
  std::string out;
  if (!facts.switches)
    out += R"(
static int @solve_now(const @motion *m, const double *x, double *a)
{
  @numbers s;
  @forces o;
  const int status = @forces_at(m, x, &s, &o);
  int i;
  for (i = 0; i < @N && !status; ++i) a[i] = o.a[i];
  return status;
}
)";
  return out + with(R"(
double @next_sample(const @motion *m) { return m->first_sample + (double)m->samples*EVERY; }

static int @is_due(const @motion *m) { return m->t >= @next_sample(m) - 1e-9*EVERY; }

int @sample(@motion *m, const double *p)
{
  @numbers s;
  @forces o;
  double x[@X];
  int i, status;
  if (m->holds && !@is_due(m)) return 0;
  @pack(m->t, m->q, m->v, p, MODES, x);
  m->holds = 0;
  if ((status = @forces_at(m, x, &s, &o)) != 0) return status;
  for (i = 0; i < HELD; ++i) m->held[i] = WHAT[i];
  m->held[HELD] = o.e.cost, m->holds = 1, m->goes_on = 0;
  while (@is_due(m)) ++m->samples;
  return 0;
}
)",
                    {{"EVERY", c_number(*facts.eqs.control.every)},
                     {"MODES", facts.held_values()},
                     {"HELD", std::to_string(facts.num_held())},
                     {"WHAT", facts.eqs.control.actuators.empty() ? "o.e.u" : "o.e.tau"}});
}

}  // namespace

std::string c_forces(const CFacts& facts) {
  std::string out = R"(
typedef struct { double a[@N], lambda[@R + 1], actual[@R + 1], f[@SLIPS + 1], force[@N], ideal[@N], control[@N]; EFFORTS} @forces;
)";
  out = with(out, {{"EFFORTS", facts.has_control() ? "@efforts e; " : ""}});
  if (!facts.switches) {
    out += R"(
SOLVE_NOW
static int @forces_at(const @motion *m, const double *x, @numbers *s, @forces *o)
{
  FORCES_SOLVED
  for (j = 0; j < @R; ++j) o->actual[j] = o->lambda[j];
)";
  } else {
    out += R"(
/* Slips in a plane turn. One that has just begun has the direction in which it began. */
static void @turn(const @motion *m, const @numbers *s, const double *v, @modes *d)
{
  int c, k;
  for (c = 0; c < @CONTACTS; ++c) if (d->status[c] == @SLIDES && @contact[c].slips == 2) {
    const double *slip = s->slip + @contact[c].first, size = sqrt(slip[0]*slip[0] + slip[1]*slip[1]);
    double least = 0;
    for (k = 0; k < 2; ++k) {
      const double *T = s->T + (@contact[c].first + k)*@N;
      least += 1e-12*@rate_size(m, s, T, slip[k] - @dot(T, v));
    }
    if (size > least) d->direction[c][0] = slip[0]/size, d->direction[c][1] = slip[1]/size;
  }
}

static void @keep_directions(@motion *m, const double *p)
{
  @numbers s;
  double x[@X], v[@N];
  int c, planes = 0;
  for (c = 0; c < @CONTACTS; ++c) planes |= @contact[c].slips == 2 && m->d.status[c] == @SLIDES;
  if (planes && !@number_now(m, p, x, &s, v)) @turn(m, &s, v, &m->d);
}

/* With every contact as it is; shared: f as contacts share it. */
static int @solve_held(const @motion *m, const double *x, int shared, @numbers *s, double *a, double *lambda, double *fHELD_EFFORTS)
{
  @modes d = m->d;
  char act[@R + 1], sure[@LARGEST];
  int j, status = @number(x, s);
  if (status) return status;
  @turn(m, s, x + 1 + @N, &d);
  for (j = 0; j < @R; ++j) act[j] = (char)@acts(&d, j);
  if ((status = @solve_rows(m->order + @OF_ACCELERATIONS, s, act, &d, s->slip_b, s->C, s->b, a, lambda, f, sure)) != 0) return status;
  if (shared && (status = @share(s, &d, lambda, f, sure)) != 0) return status;
  return HELD_SOLVED;
}

static int @solve_now(const @motion *m, const double *x, double *a)
{
  @numbers s;
  double lambda[@R + 1], f[@SLIPS + 1];
  HELD_ROOM
  return @solve_held(m, x, 0, &s, a, lambda, fHELD_PASSED);
}

/* lambda is that of the case without friction and [nonideal]. */
static int @forces_at(const @motion *m, const double *x, @numbers *s, @forces *o)
{
  int c, i, j, other = @HAS_C, status = @solve_held(m, x, 1, s, o->a, o->actual, o->fHELD_FORCES);
  if (status) return status;
  for (j = 0; j < @R; ++j) o->lambda[j] = o->actual[j];
  for (c = 0; c < @CONTACTS; ++c) other |= m->d.status[c] >= @STICKS;
  if (other) {
    @numbers plain = *s;
    @modes d = m->d;
    double a[@N], f[@SLIPS + 1];
    char act[@R + 1], sure[@LARGEST];
    for (c = 0; c < @CONTACTS; ++c) if (d.status[c] >= @STICKS) d.status[c] = @SLIDES, plain.friction[c] = 0;
    for (j = 0; j < @R; ++j) act[j] = (char)@acts(&d, j);
    if ((status = @solve_rows(0, &plain, act, &d, s->slip_b, s->Q, s->b, a, o->lambda, f, sure)) != 0) return status;
    HELD_LAMBDA
  }
)";
  }
  const bool control = facts.has_control();
  out = with(out, {{"SOLVE_NOW",
                    facts.has_samples() ? "" : R"(static int @solve_now(const @motion *m, const double *x, double *a)
{
  double lambda[@R + 1];
  (void)m;
  return @solve(x, a, lambda);
}
)"}});
  out = with(out, {{"HELD_EFFORTS", control ? ", @efforts *e" : ""},
                   {"HELD_PASSED", control ? ", &e" : ""},
                   {"HELD_ROOM", control ? "@efforts e;" : ""},
                   {"HELD_FORCES", control ? ", &o->e" : ""},
                   {"HELD_LAMBDA", control ? "for (j = 0; j < @R; ++j) o->lambda[j] += o->e.dlambda[j];" : ""},
                   {"HELD_SOLVED", control ? "STEER" : "0"},
                   {"FORCES_SOLVED", control ? R"(char act[@R + 1];
  int i, j, status;
  (void)m;
  for (j = 0; j < @R; ++j) act[j] = j < @FIRST_REQUIREMENT;
  if ((status = @number(x, s)) != 0 || (status = @solve_plant(x, s, act, o->a, o->lambda)) != 0) return status;
  if ((status = FORCES_STEER) != 0) return status;)"
                                             : R"(int i, j, status = @solve(x, o->a, o->lambda);
  (void)m;
  if (status || (status = @number(x, s)) != 0) return status;)"}});
  out += R"(  for (i = 0; i < @N; ++i) {
    o->force[i] = -s->Q[i], o->ideal[i] = 0, o->control[i] = CONTROL_FORCE;
    for (j = 0; j < @N; ++j) o->force[i] += s->M[i*@N + j]*o->a[j];
)";
  out = with(out, {{"CONTROL_FORCE", control ? "o->e.u[i]" : "0"},
                   {"FORCES_STEER", facts.has_samples() ? "m && m->holds ? @steer_held(m, s, act, o->a, o->lambda, "
                                                          "&o->e) : @steer(x, s, act, o->a, o->lambda, &o->e)"
                                                        : "@steer(x, s, act, o->a, o->lambda, &o->e)"},
                   {"STEER", facts.has_samples()
                                 ? "m->holds ? @steer_held(m, s, act, a, lambda, e) : @steer(x, s, act, a, lambda, e)"
                                 : "@steer(x, s, act, a, lambda, e)"}});
  out += fmt::format("    for (j = 0; j < {}; ++j) o->ideal[i] += s->A[@at_row[j]*@N + i]*o->lambda[@at_row[j]];\n",
                     facts.num_constraints);
  out += "    o->force[i] -= o->control[i];\n  }\n  return 0;\n}\n";
  if (facts.has_samples()) out += c_samples(facts);
  if (facts.extensions.empty()) return out;
  // What outputs, events and changes use beside the state.
  const bool errors = std::any_of(facts.extensions.begin(), facts.extensions.end(),
                                  [](const Expr& e) { return e.symbol().kind == SymbolKind::control_error; });
  out += "\nstatic void @extend(const @forces *o, double *x)\n{\n";
  if (errors) out += "  double residual[2*@R];\n  @residuals_values(x, residual);\n";
  out += "  (void)o;\n";
  const auto coordinate_of = [&](const std::string& name) { return facts.system.find_coordinate(name); };
  for (std::size_t k = 0; k < facts.extensions.size(); ++k) {
    const Symbol& s = facts.extensions[k].symbol();
    std::string value = "0";
    const auto by_coordinate = [&](const char* what) { value = fmt::format("o->{}[{}]", what, coordinate_of(s.name)); };
    if (s.kind == SymbolKind::acceleration)
      for (int i = 0; i < facts.n(); ++i)
        if (same(facts.eqs.qdd[static_cast<std::size_t>(i)], facts.extensions[k])) value = fmt::format("o->a[{}]", i);
    if (s.kind == SymbolKind::ideal_force) by_coordinate("ideal");
    if (s.kind == SymbolKind::constraint_force) by_coordinate("force");
    if (s.kind == SymbolKind::control_force) by_coordinate("control");
    if (s.kind == SymbolKind::control_cost) value = "o->e.cost";
    for (std::size_t i = 0; i < facts.eqs.control.actuators.size() && s.kind == SymbolKind::effort; ++i)
      if (facts.eqs.control.actuators[i].name == s.name) value = fmt::format("o->e.tau[{}]", i);
    for (int j = facts.eqs.num_constraints(); j < facts.m() && s.kind == SymbolKind::control_error; ++j)
      if (facts.system.row_name(j) == s.name) value = fmt::format("residual[{}]", 2 * j);
    if (s.kind == SymbolKind::multiplier)
      for (int j = 0; j < facts.m(); ++j)
        if (facts.system.row_name(j) == s.name) value = fmt::format("o->actual[{}]", j);
    if (s.kind == SymbolKind::friction)
      for (const CFacts::Contact& c : facts.contacts)
        if (c.name == s.name)
          value = c.num_slips == 2
                      ? fmt::format("sqrt(o->f[{0}]*o->f[{0}] + o->f[{1}]*o->f[{1}])", c.first_slip, c.first_slip + 1)
                      : fmt::format("fabs(o->f[{}])", c.first_slip);
    out += fmt::format("  x[@X + {}] = {};\n", k, value);
  }
  return out + "}\n";
}

std::string c_instant(const CFacts& facts) {
  const std::string modes = facts.held_values();
  std::string out =
      fmt::format(R"(
int @look(const @motion *m, const double *p, @instant *o)
{{
  @numbers s;
  @forces forces;
  double x[@X + {0}];
  int i, status;
  @pack(m->t, m->q, m->v, p, {1}, x);
  if ((status = @forces_at(m, x, &s, &forces)) != 0) return status;
{2}  for (i = 0; i < @COORDINATES; ++i) {{
    const int at = @at_coordinate[i];
    o->a[i] = forces.a[at], o->force[i] = forces.force[at], o->control[i] = forces.control[at];
  }}
  for (i = 0; i < @STATES; ++i) o->rates[i] = x[1 + @N + @at_coordinate[@COORDINATES + i]];
  for (i = 0; i < @ROWS; ++i) o->lambda[i] = forces.lambda[@at_row[i]];
  @output_values(x, o->outputs);
  @input_values(x, o->inputs);
  @energy_values(x, o->energies);
  @event_values(x, o->events);
)",
                  facts.extensions.size() + 1, modes, facts.extensions.empty() ? "" : "  @extend(&forces, x);\n");
  if (facts.has_control())
    out += R"(  {
    double both[2*@R];
    @residuals_values(x, both);
    for (i = 0; i < @REQUIREMENTS; ++i) o->error[i] = both[2*(@FIRST_REQUIREMENT + i)];
    for (i = 0; i < @ACTUATORS; ++i) o->tau[i] = forces.e.tau[i];
    o->cost = forces.e.cost;
  }
)";
  else
    out += "  o->cost = 0;\n";
  if (facts.switches)
    out += R"(  for (i = 0; i < @CONTACTS; ++i) o->normal[i] = forces.actual[@contact[i].row];
  for (i = 0; i < @SLIPS; ++i) o->friction[i] = forces.f[i];
  @guards_of(m, &s, x + 1 + @N, forces.a, forces.actual, forces.f, o->guards, 0);
)";
  if (!facts.sides.empty())
    out += R"(  {
    double g[@LOOKED];
    @switch_values(x, g);
    for (i = 0; i < @SWITCHES; ++i) o->switches[i] = m->side[i]*g[i] + m->level[i];
  }
)";
  return out + "  return 0;\n}\n";
}

std::string c_watch(const CFacts& facts) {
  std::string out = fmt::format(R"(
static int @watch(const @motion *m, double t, const double *q, const double *v, const double *p, double *guard, double *event, char *arm)
{{
  double x[@X + {}];
)",
                                facts.extensions.size() + 1);
  const bool forces = facts.switches || !facts.extensions.empty();
  if (forces) out += "  @numbers s;\n  @forces forces;\n  int status;\n";
  out += fmt::format("  (void)m, (void)guard, (void)arm;\n  @pack(t, q, v, p, {}, x);\n", facts.held_values());
  // Forces by coordinate, and those without friction, only where somebody asks for them.
  const bool by_coordinate =
      !facts.switches || std::any_of(facts.extensions.begin(), facts.extensions.end(), [](const Expr& e) {
        return (kind_bit(e.symbol().kind) & forces_of_coordinates) != 0;
      });
  if (forces)
    out += fmt::format("  if ((status = {}) != 0) return status;\n",
                       by_coordinate         ? "@forces_at(m, x, &s, &forces)"
                       : facts.has_control() ? "@solve_held(m, x, 1, &s, forces.a, forces.actual, forces.f, &forces.e)"
                                             : "@solve_held(m, x, 1, &s, forces.a, forces.actual, forces.f)");
  if (!facts.extensions.empty()) out += "  @extend(&forces, x);\n";
  out += "  @event_values(x, event);\n";
  if (facts.switches) out += "  @guards_of(m, &s, x + 1 + @N, forces.a, forces.actual, forces.f, guard, arm);\n";
  return out + "  return 0;\n}\n";
}

std::string c_changes(const CFacts& facts) {
  const Model& model = facts.model;
  std::string out =
      fmt::format(R"(
/* What an event changes, one after the other; positions have to satisfy what is engaged, velocities jump. */
static int @apply(@motion *m, const double *p, int event)
{{
  @numbers s;
  @forces forces;
  double x[@X + {0}], value = 0;
  char crossed[@GUARDS + 1];
  int i, status;
  @pack(m->t, m->q, m->v, p, m->d.mode, m->side, x);
  if ((status = @forces_at(m, x, &s, &forces)) != 0) return status;
{1}  switch (event) {{
)",
                  facts.extensions.size() + 1, facts.extensions.empty() ? "" : "  @extend(&forces, x);\n");
  // Rows of constraints come first, then those of states, then control.
  const auto row_of = [&](const std::string& name) {
    for (const int j : facts.rows)
      if (facts.system.row_name(j) == name) return j;
    return -1;
  };
  for (std::size_t e = 0; e < model.events.size(); ++e) {
    if (model.events[e].changes.empty()) continue;
    out += fmt::format("    case {}:\n", e);
    for (std::size_t k = 0; k < model.events[e].changes.size(); ++k) {
      const EventChange& change = model.events[e].changes[k];
      if (change.what != EventChange::What::set) {
        out += fmt::format("      m->d.engaged[{}] = {:d};\n", row_of(change.name),
                           change.what == EventChange::What::engage);
        continue;
      }
      for (std::size_t i = 0; i < facts.modes.size(); ++i)
        if (model.parameters[static_cast<std::size_t>(facts.modes[i])].name == change.name)
          out += fmt::format(
              "      @change{0}_{1}(x, &value);\n      if (!isfinite(value)) return @NOT_FINITE;\n      m->d.mode[{2}] "
              "= x[{3}] = value;\n",
              e, k, i, 1 + 2 * facts.n() + facts.modes[i]);
    }
    out += "      break;\n";
  }
  return out + R"(    default: return 0;
  }
  (void)value;
  @pack(m->t, m->q, m->v, p, m->d.mode, m->side, x);
  if ((status = @number(x, &s)) != 0) return status;
  for (i = 0; i < @R; ++i)
    if (m->d.engaged[i] && @row_level[i] == 0 && @contact_at[i] < 0 && fabs(s.residual[i]) > 1e-6*@gap_size(m, &s, i)) return @NOT_PROJECTED;
  for (i = 0; i < @GUARDS; ++i) crossed[i] = 0;
  return @settle(m, p, crossed, 1);
}
)";
}

}  // namespace mechanician
