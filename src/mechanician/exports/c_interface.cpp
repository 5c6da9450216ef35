#include "mechanician/exports/c_interface.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/exports/c_printer.hpp"
#include "mechanician/exports/c_text.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

namespace {

/// Nothing of the model can end a comment.
std::string comment(const std::string& text) {
  std::string out;
  for (const char c : text) out += (c == '*' || c == '/' || static_cast<unsigned char>(c) < 32) ? ' ' : c;
  return out;
}

std::string names_array(std::string_view what, const std::vector<std::string>& names) {
  std::string out = fmt::format("const char *const @{}[] = {{", what);
  for (const std::string& name : names) {
    std::string quoted;
    for (const char c : name) quoted += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
    out += fmt::format("\"{}\", ", quoted);
  }
  return out + "0};\n";
}

}  // namespace

std::string c_preamble(const CFacts& facts, const std::string& name) {
  return fmt::format(
      "/* {} */\n/* Made by mechanician {}. C99; needs libm, nothing else. Compile with -ffp-contract=off for the bits "
      "of the "
      "engine. */\n\n#include \"{}.h\"\n\n#include <math.h>\n\n"
      "/* A product that is fused with a sum is one instruction of newer processors, and a call of libm elsewhere: the "
      "same bits. */\n"
      "#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && "
      "!defined(__FMA__) && !defined(__SANITIZE_ADDRESS__) && !defined(@PORTABLE)\n"
      "#define @FUSED __attribute__((target_clones(\"fma\", \"default\")))\n#else\n#define @FUSED\n#endif\n\n",
      comment(facts.system.title()), MECHANICIAN_VERSION, name);
}

std::string c_header(const CFacts& facts, const std::string& name, bool has_tangents) {
  std::string out = fmt::format("/* {0} */\n/* Made by mechanician {1}. */\n#ifndef {2}_H\n#define {2}_H\n\n",
                                comment(facts.system.title()), MECHANICIAN_VERSION, name);
  const std::pair<const char*, std::size_t> sizes[] = {{"COORDINATES", facts.num_coordinates},
                                                       {"STATES", facts.num_states},
                                                       {"ROWS", facts.rows.size()},
                                                       {"PARAMETERS", facts.model.parameters.size()},
                                                       {"INPUTS", facts.inputs.size()},
                                                       {"OUTPUTS", facts.outputs.size()},
                                                       {"EVENTS", facts.events.size()},
                                                       {"CONTACTS", facts.contacts.size()},
                                                       {"SLIPS", facts.num_slips},
                                                       {"GUARDS", facts.num_guards},
                                                       {"MODES", facts.modes.size()},
                                                       {"ACTUATORS", facts.eqs.control.actuators.size()},
                                                       {"REQUIREMENTS", facts.eqs.control.requirements.size()}};
  for (const auto& [what, size] : sizes) out += fmt::format("#define @{} {}\n", what, size);
  out += R"(
#ifdef __cplusplus
extern "C" {
#endif

/* 0 is success. */
enum { @NOT_FINITE = 1, @CONTRADICTION, @NOT_UNIQUE, @NOT_VOUCHED, @NOT_PROJECTED, @STEP_TOO_SMALL, @BACKWARDS, @NO_MODE, @SEVERAL, @TOO_MANY, @STORM, @IMPACT, @NOT_MET, @NOT_SETTLED };

)";
  if (facts.switches)
    out += fmt::format(
        R"(/* What changes on the way: contacts (open, holding, sticking, sliding), rows that are engaged, modes. */
typedef struct {{
  int status[@CONTACTS + 1];
  double direction[@CONTACTS + 1][2], sign[@CONTACTS + 1], mode[@MODES + 1];
  char engaged[{}], armed[@GUARDS + 1];
}} @modes;

)",
        facts.m() + 1);
  out += fmt::format(
      R"(typedef struct {{
  double t, q[@COORDINATES + @STATES], v[@COORDINATES]; /* states of first order behind the coordinates */
  int event, stopped;                    /* what the last step ended at, -1: nothing; whether an event has asked for the end */
  /* What steps need; the last step began at t_begin and would have been so long. */
  double tolerance, h, usual, t_begin, length;
  double slack;                          /* gaps count as zero to this part of their size when they have just opened; more where somebody else makes the steps */
  double y[{0}], k[13][{0}], {3}size[{0}], end[{0}], with[@PARAMETERS + 1], t_end; /* its begin, rates, end, and parameters */
  double sign[@EVENTS + 1], seen[@EVENTS + 1];
  double storm_since, rate_size[@STATES + 1];
  long steps, storm;
  int status, goes_on;
{1}{5}}} @motion;

/* Everything that is known at a state. */
typedef struct {{
  double a[@COORDINATES], force[@COORDINATES], control[@COORDINATES], lambda[@ROWS + 1], normal[@CONTACTS + 1], friction[@SLIPS + 1];
  double tau[@ACTUATORS + 1], error[@REQUIREMENTS + 1], cost;      /* of control: efforts, errors of requirements */
  double rates[@STATES + 1], outputs[@OUTPUTS + 1], energies[2], events[@EVENTS + 1], guards[@GUARDS + 1];
}} @instant;

void @parameters(double *p);                                        /* their values in the model */
void @derive(double *p);                                            /* values that are made of others, after these have been changed */
void @begin(@motion *, const double *p, double tolerance);         /* the model's start */
int @restart(@motion *, const double *p);                          /* after t, q, v or p were changed from outside */
int @acceleration(double t, const double *q, const double *v, const double *p, double *a, double *force, double *lambda); /* force, lambda: may be null */
int @look(const @motion *, const double *p, @instant *);
int @is_off(const @motion *, const double *p);                     /* whether the constraints that hold are off by more than 1e-9 of the state */
int @project(@motion *, const double *p);                          /* onto the constraints, least in the mass norm */
int @step(@motion *, const double *p, double to);                  /* one adaptive step, not beyond `to`, to the next event at most */
int @step_rk4(@motion *, const double *p, double h);
void @dense(const @motion *, double t, double *q, double *v);      /* within the last step */
void @residuals(double t, const double *q, const double *v, const double *p, double *values); /* two for each row: it and its rate */
void @energies(double t, const double *q, const double *v, const double *p, double *values);  /* kinetic, potential */
int @events(double t, const double *q, const double *v, const double *p, double *values);
void @start(double t, const double *q, const double *v, const double *p, double *values);     /* positions, states, velocities, time */
{2}{4}{6}const char *@status_text(int);
extern const char *const @coordinate_names[], *const @row_names[], *const @parameter_names[], *const @event_names[], *const @output_names[], *const @contact_names[], *const @actuator_names[];
extern const int @input_at[]; /* of the parameters: which are inputs */

#ifdef __cplusplus
}}
#endif

#endif
)",
      facts.num_motion(), facts.switches ? "  @modes d;\n" : "",
      facts.switches || !facts.events.empty()
          ? "int @happen(@motion *, const double *p);                           /* what ends or happens "
            "at the state of now, and */\n"
            "int @completed(@motion *, const double *p);                        /* whether something "
            "does: for integrators of one's own */\n"
          : "",
      facts.keeps_dense() ? fmt::format("dense[{}][7], ", facts.num_motion()) : "",
      has_tangents ? "int @tangent(const @motion *, const double *p, double dt, const double *dq, const "
                     "double *dv, const double *dp, @instant *); "
                     "/* how everything changes along a direction */\n"
                   : "",
      facts.has_samples()
          ? fmt::format(
                "  double held[{}], first_sample; /* of control, between samples */\n  long samples;\n  int holds;\n",
                facts.num_held() + 1)
          : "",
      facts.has_samples() ? "int @sample(@motion *, const double *p);                           /* control, if a "
                            "sample of it is due; steps do it */\ndouble @next_sample(const @motion *);\n"
                          : "");
  return out;
}

std::string c_names(const CFacts& facts) {
  std::vector<std::string> coordinates, rows, parameters, events, contacts, actuators;
  for (const int i : facts.coordinates) coordinates.push_back(facts.system.coordinate(i));
  for (const int j : facts.rows) rows.push_back(facts.system.row_name(j));
  for (const Parameter& p : facts.model.parameters) parameters.push_back(p.name);
  for (const Event& e : facts.model.events) events.push_back(e.name);
  for (const CFacts::Contact& c : facts.contacts) contacts.push_back(c.name);
  for (const ControlEquations::Actuator& a : facts.eqs.control.actuators) actuators.push_back(a.name);
  std::string out = "\n" + names_array("coordinate_names", coordinates) + names_array("row_names", rows) +
                    names_array("parameter_names", parameters) + names_array("event_names", events) +
                    names_array("output_names", facts.output_names) + names_array("contact_names", contacts) +
                    names_array("actuator_names", actuators) + "const int @input_at[] = {";
  for (const int i : facts.inputs) out += fmt::format("{}, ", i);
  return out + "-1};\n";
}

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
                     {"MODES", facts.switches ? "m->d.mode" : "0"},
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

/* With every contact as it is. */
static int @solve_held(const @motion *m, const double *x, @numbers *s, double *a, double *lambda, double *fHELD_EFFORTS)
{
  @modes d = m->d;
  char act[@R + 1], sure[@LARGEST];
  int j, status = @number(x, s);
  if (status) return status;
  @turn(m, s, x + 1 + @N, &d);
  for (j = 0; j < @R; ++j) act[j] = (char)@acts(&d, j);
  HELD_SOLVED
}

static int @solve_now(const @motion *m, const double *x, double *a)
{
  @numbers s;
  double lambda[@R + 1], f[@SLIPS + 1];
  HELD_ROOM
  return @solve_held(m, x, &s, a, lambda, fHELD_PASSED);
}

/* lambda is that of the case without friction and [nonideal]. */
static int @forces_at(const @motion *m, const double *x, @numbers *s, @forces *o)
{
  int c, i, j, other = @HAS_C, status = @solve_held(m, x, s, o->a, o->actual, o->fHELD_FORCES);
  if (status) return status;
  for (j = 0; j < @R; ++j) o->lambda[j] = o->actual[j];
  for (c = 0; c < @CONTACTS; ++c) other |= m->d.status[c] == @SLIDES;
  if (other) {
    @numbers plain = *s;
    double a[@N], f[@SLIPS + 1];
    char act[@R + 1], sure[@LARGEST];
    for (c = 0; c < @CONTACTS; ++c) if (m->d.status[c] == @SLIDES) plain.friction[c] = 0;
    for (j = 0; j < @R; ++j) act[j] = (char)@acts(&m->d, j);
    if ((status = @solve_rows(&plain, act, &m->d, s->slip_b, s->Q, s->b, a, o->lambda, f, sure)) != 0) return status;
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
  out = with(out,
             {{"HELD_EFFORTS", control ? ", @efforts *e" : ""},
              {"HELD_PASSED", control ? ", &e" : ""},
              {"HELD_ROOM", control ? "@efforts e;" : ""},
              {"HELD_FORCES", control ? ", &o->e" : ""},
              {"HELD_LAMBDA", control ? "for (j = 0; j < @R; ++j) o->lambda[j] += o->e.dlambda[j];" : ""},
              {"HELD_SOLVED", control ? "if ((status = @solve_rows(s, act, &d, s->slip_b, s->C, s->b, a, lambda, f, "
                                        "sure)) != 0) return status;\n  return STEER;"
                                      : "return @solve_rows(s, act, &d, s->slip_b, s->C, s->b, a, lambda, f, sure);"},
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
  const std::string modes = facts.switches ? "m->d.mode" : "0";
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
  out += fmt::format("  (void)m, (void)guard, (void)arm;\n  @pack(t, q, v, p, {}, x);\n",
                     facts.switches ? "m->d.mode" : "0");
  if (forces) out += "  if ((status = @forces_at(m, x, &s, &forces)) != 0) return status;\n";
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
  @pack(m->t, m->q, m->v, p, m->d.mode, x);
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
  @pack(m->t, m->q, m->v, p, m->d.mode, x);
  if ((status = @number(x, &s)) != 0) return status;
  for (i = 0; i < @R; ++i)
    if (m->d.engaged[i] && @row_level[i] == 0 && @contact_at[i] < 0 && fabs(s.residual[i]) > 1e-6*@gap_size(m, &s, i)) return @NOT_PROJECTED;
  for (i = 0; i < @GUARDS; ++i) crossed[i] = 0;
  return @settle(m, p, crossed, 1);
}
)";
}

std::string c_functions(const CFacts& facts) {
  std::string out = "\nvoid @parameters(double *p)\n{\n  (void)p;\n";
  for (std::size_t i = 0; i < facts.system.parameters().size(); ++i)
    out += fmt::format("  p[{}] = {};\n", i, c_number(facts.system.parameters()[i]));
  out += "}\n\nvoid @derive(double *p)\n{\n  (void)p;\n";
  std::string assigned;
  std::size_t count = 0;
  for (std::size_t i = 0; i < facts.is_derived.size(); ++i)
    if (facts.is_derived[i]) assigned += fmt::format("  p[{}] = values[{}];\n", i, count++);
  if (count > 0)
    out += fmt::format(
        "  static const double nothing[@N + 1];\n  double x[@X], values[{}];\n  @pack(0, nothing, nothing, p, 0, x);\n "
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
    for (i = 0; i < @X; ++i) x[i] *= 1 + 1e-7*(0.5 + fmod(0.618*i, 1));
    @rates_values(x, changed);
    for (i = 0; i < @STATES; ++i) m->rate_size[i] = @size_of(m->rate_size[i], fabs(changed[i] - rates[i])/1e-7);
  }
)";
  if (const std::size_t at = out.find("RESTART_MODES"); at != std::string::npos)
    out.replace(at, 13, facts.switches ? "m->d.mode" : "0");
  if (facts.switches) out += "  if ((m->status = @settle(m, p, 0, 0)) != 0) return m->status;\n";
  if (facts.has_samples())
    out +=
        "  if (!m->holds) {\n    m->first_sample = m->t, m->samples = 0;\n    if ((m->status = @sample(m, p)) != 0) "
        "return m->status;\n  }\n";
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
  m->t = m->t_begin = values[2*@COORDINATES + @STATES];
  m->tolerance = tolerance > 1e-15 ? tolerance : 1e-15, m->slack = 2e-14;
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
  out += "  @restart(m, p);\n}\n";
  const std::string functions = R"(
void @{0}(double t, const double *q, const double *v, const double *p, double *values)
{{
  double x[@X];
  @pack(t, q, v, p, 0, x);
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
  @pack(t, q, v, p, 0, x);
  @residuals_values(x, all);
  for (j = 0; j < @ROWS; ++j) values[2*j] = all[2*@at_row[j]], values[2*j + 1] = all[2*@at_row[j] + 1];
}
)";
  const auto put = [&](std::string_view word, const std::string& by) { out.replace(out.find(word), word.size(), by); };
  std::string held;
  for (int j = 0; j < facts.m(); ++j) {
    const CFacts::Level level = facts.levels[static_cast<std::size_t>(j)];
    if (level == CFacts::position || level == CFacts::velocity)
      held += fmt::format("{}j == {}", held.empty() ? "" : " || ", j);
  }
  const bool all = std::all_of(facts.levels.begin(), facts.levels.end(),
                               [](CFacts::Level l) { return l == CFacts::position || l == CFacts::velocity; });
  put("IS_OFF_MODES", facts.switches ? "m->d.mode" : "0");
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
  @pack(t, q, v, p, 0, x);
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
  @pack(t, q, v, p, 0, x);
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
    case @IMPACT: return "a contact closes here: velocities have to jump";
    default: return "no such status";
  }
}
)";
}

}  // namespace mechanician
