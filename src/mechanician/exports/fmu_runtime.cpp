#include "mechanician/exports/fmu_runtime.hpp"

namespace mechanician {

std::string_view fmu_instance() {
  return R"(
#include "@.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

enum { NUM = @_COORDINATES, STATES = @_STATES, ROWS = @_ROWS, PARAMETERS = @_PARAMETERS, CONTINUOUS = 2*NUM + STATES, INDICATORS = @_GUARDS + @_EVENTS + @_SWITCHES };
/* References: time, positions, states, velocities, accelerations, rates of states, parameters, forces of constraints and control, multipliers,
   normal forces, friction, efforts, errors and cost of control, outputs, energies, what is engaged, guards, events, switches. */
enum { AT_Q = 1, AT_Z = AT_Q + NUM, AT_V = AT_Z + STATES, AT_A = AT_V + NUM, AT_RATE = AT_A + NUM, AT_P = AT_RATE + STATES, AT_FORCE = AT_P + PARAMETERS,
       AT_CONTROL = AT_FORCE + NUM, AT_LAMBDA = AT_CONTROL + NUM, AT_NORMAL = AT_LAMBDA + ROWS, AT_FRICTION = AT_NORMAL + @_CONTACTS,
       AT_TAU = AT_FRICTION + @_SLIPS, AT_ERROR = AT_TAU + @_ACTUATORS, AT_COST = AT_ERROR + @_REQUIREMENTS, AT_OUTPUT = AT_COST + 1, AT_ENERGY = AT_OUTPUT + @_OUTPUTS, AT_ENGAGED = AT_ENERGY + 2, AT_GUARD = AT_ENGAGED + CHANGING,
       AT_EVENT = AT_GUARD + @_GUARDS, AT_SWITCH = AT_EVENT + @_EVENTS, REFERENCES = AT_SWITCH + @_SWITCHES };

/* Everything that a motion depends on: what a state of the FMU is. */
typedef struct {
  @_motion m;
  double p[PARAMETERS + 1], tolerance, start_time, own_q[NUM + STATES], own_v[NUM];
  char has_q[NUM + STATES], has_v[NUM], has_start;
  int begun, changed;      /* initialised; parameters were changed since */
  int over;                /* terminated */
  BEFORE
} State;

typedef struct {
  State s;
  @_instant now;
  int known, status;
  int exchange;            /* Model Exchange; else Co-Simulation */
  int logging, may_return_early;
  void *environment;
  void (*logger)(void);    /* of the version */
  void (*update)(void);
  char *name;
} Instance;

/* what: 1: a mistake, 2: something to be known; 0: for those who asked to be told. */
static void say(Instance *c, int what, const char *text);
static const char *const category_of[] = {"logAll", "logStatusError", "logStatusWarning"};
/* For those who asked to be told. */
static void tell(Instance *c, const char *what)
{
  char text[120];
  if (!c->logging) return;
  snprintf(text, sizeof text, "t = %.9g: %s", c->s.m.t, what);
  say(c, 0, text);
}
/* Mistakes are always said; the category of everything may be switched on and off. No categories: all of them. */
static int set_logging(Instance *c, int on, size_t n, const char *const *categories)
{
  size_t i;
  int all = n == 0;
  for (i = 0; i < n; ++i) {
    if (categories[i] && !strcmp(categories[i], "logAll")) all = 1;
    else if (!categories[i] || (strcmp(categories[i], "logStatusError") != 0 && strcmp(categories[i], "logStatusWarning") != 0)) { say(c, 1, "there is no log category of this name"); return 0; }
  }
  if (all) c->logging = on;
  return 1;
}
/* After each step of a Co-Simulation: 1 to return early. */
static int intermediate(Instance *c);

/* The start of the model, with what was set of it. */
static void begin(Instance *c)
{
  int i;
  @_derive(c->s.p);
  @_begin(&c->s.m, c->s.p, c->s.tolerance);
  if (c->s.has_start) c->s.m.t = c->s.m.t_begin = c->s.m.t_first = c->s.m.turns_since = c->s.start_time;
  for (i = 0; i < NUM + STATES; ++i) if (c->s.has_q[i]) c->s.m.q[i] = c->s.own_q[i];
  for (i = 0; i < NUM; ++i) if (c->s.has_v[i]) c->s.m.v[i] = c->s.own_v[i];
  c->known = 0;
}

static void reset(Instance *c)
{
  memset(&c->s, 0, sizeof c->s);
  c->s.tolerance = TOLERANCE;
  @_parameters(c->s.p);
  begin(c);
}

static Instance *new_instance(const char *name, int exchange, int logging, void *environment, void (*logger)(void))
{
  Instance *c = (Instance *)calloc(1, sizeof *c);
  if (!c) return 0;
  c->name = (char *)malloc(strlen(name ? name : "") + 1);
  if (!c->name) { free(c); return 0; }
  strcpy(c->name, name ? name : "");
  c->exchange = exchange, c->logging = logging, c->environment = environment, c->logger = logger;
  reset(c);
  return c;
}

static void free_instance(void *c) { if (c) { free(((Instance *)c)->name); free(c); } }

/* Tolerance and start of an experiment. */
static void set_up(Instance *c, int tolerance_defined, double tolerance, double start)
{
  if (tolerance_defined && tolerance > 0) c->s.tolerance = tolerance;
  c->s.has_start = 1, c->s.start_time = start;
  begin(c);
}

/* What is known at the state of now. */
static int know(Instance *c)
{
  if (c->known) return c->status;
  c->status = c->s.m.status ? c->s.m.status : @_look(&c->s.m, c->s.p, &c->now);
  c->known = 1;
  if (c->status) say(c, 1, @_status_text(c->status));
  return c->status;
}

/* Initialised: what touches, what holds, on which side of events. */
static int initialise(Instance *c)
{
  c->s.begun = 1, c->s.over = 0, c->known = 0;
  if (c->exchange) c->s.m.slack = 0.01*c->s.m.tolerance;
  FIRST_SAMPLE@_restart(&c->s.m, c->s.p);
  /* Start values that somebody set are where they should be after the next step at the latest: then at once, and it is said. */
  if (!c->s.m.status && @_is_off(&c->s.m, c->s.p)) {
    const int status = @_project(&c->s.m, c->s.p);
    if (!@_restart(&c->s.m, c->s.p)) c->s.m.status = status;
    if (!status) say(c, 2, "the start values are off the constraints: they were moved onto them");
  }
  KEEP_COMPLETED
  tell(c, "the motion begins");
  return know(c);
}

static int get(Instance *c, uint32_t r, double *value)
{
  const int i = (int)r;
  if (r >= REFERENCES) { say(c, 1, "there is no variable with this reference"); return 0; }
  if (i >= AT_A && (i < AT_P || i >= AT_FORCE) && know(c)) return 0;
  *value = i < AT_Q ? c->s.m.t : i < AT_V ? c->s.m.q[i - AT_Q] : i < AT_A ? c->s.m.v[i - AT_V] : i < AT_RATE ? c->now.a[i - AT_A] :
           i < AT_P ? c->now.rates[i - AT_RATE] : i < AT_FORCE ? c->s.p[i - AT_P] : i < AT_CONTROL ? c->now.force[i - AT_FORCE] :
           i < AT_LAMBDA ? c->now.control[i - AT_CONTROL] : i < AT_NORMAL ? c->now.lambda[i - AT_LAMBDA] :
           i < AT_FRICTION ? c->now.normal[i - AT_NORMAL] : i < AT_TAU ? c->now.friction[i - AT_FRICTION] :
           i < AT_ERROR ? c->now.tau[i - AT_TAU] : i < AT_COST ? c->now.error[i - AT_ERROR] : i < AT_OUTPUT ? c->now.cost :
           i < AT_ENERGY ? c->now.outputs[i - AT_OUTPUT] : i < AT_ENGAGED ? c->now.energies[i - AT_ENERGY] : i < AT_GUARD ? 0 :
           i < AT_EVENT ? c->now.guards[i - AT_GUARD] : i < AT_SWITCH ? c->now.events[i - AT_EVENT] : c->now.switches[i - AT_SWITCH];
GET_MODES  return 1;
}

static int set(Instance *c, uint32_t r, double value)
{
  const int i = (int)r;
  if (!isfinite(value)) { say(c, 1, "a value that is set must be finite"); return 0; }
  if (i >= AT_Q && i < AT_V && !c->s.begun) c->s.m.q[i - AT_Q] = c->s.own_q[i - AT_Q] = value, c->s.has_q[i - AT_Q] = 1;
  else if (i >= AT_V && i < AT_A && !c->s.begun) c->s.m.v[i - AT_V] = c->s.own_v[i - AT_V] = value, c->s.has_v[i - AT_V] = 1;
  else if (i >= AT_P && i < AT_FORCE && is_settable[i - AT_P] && (is_settable[i - AT_P] != 3 || !c->s.begun)) {
    /* Importers may hand back what the description says: that sets no input that is an expression. */
    if (is_settable[i - AT_P] == 4 && !c->s.begun && isnan(c->s.p[i - AT_P]) && fabs(value - first_input[i - AT_P]) <= 1e-12*fabs(value)) return 1;
    /* Inputs change while a motion goes on; what parameters do to constraints is seen before the next step. */
    c->s.p[i - AT_P] = value;
    if (!c->s.begun) begin(c);  /* start values may be made of parameters */
    else if (is_settable[i - AT_P] == 1) @_derive(c->s.p), c->s.changed = 1;
  } else { say(c, 1, i >= AT_P && i < AT_FORCE ? "this parameter is made of others or says how many there are: it cannot be set" : "this variable cannot be set now"); return 0; }
  c->known = 0;
  return 1;
}

/* Parameters that were changed on the way: what they mean for constraints and contacts. */
static int take_changes(Instance *c)
{
  int status;
  if (!c->s.changed) return 0;
  c->s.changed = 0, c->known = 0;
  status = @_project(&c->s.m, c->s.p);
  return status ? status : @_restart(&c->s.m, c->s.p);
}

/* 0: to the end; 1: the motion is over; 2: early, as asked; -1: with a status that was said. */
static int advance(Instance *c, double now, double h)
{
  const double to = now + h;
  int status;
  if (!c->s.begun || c->s.over) { say(c, 1, c->s.over ? "there are no steps after the end" : "there are no steps before the initialisation"); return -1; }
  if (!(h > 0) || !isfinite(to)) { say(c, 1, "the length of a communication step must be positive and finite"); return -1; }
  if (!(fabs(now - c->s.m.t) <= 1e-6*h + 1e-9*fabs(now))) { say(c, 1, "the communication point is not where the last step ended"); return -1; }
  status = take_changes(c);
  while (!status && c->s.m.t < to) {
    if (c->s.m.stopped) return 1;
    status = @_step(&c->s.m, c->s.p, to);
    c->known = 0;
    if (!status && !c->s.m.goes_on) tell(c, c->s.m.event >= 0 ? "an event of the model" : "an event of contacts or control");
    if (!status && intermediate(c)) return 2;
  }
  if (status) { say(c, 1, @_status_text(status)); return -1; }
  return 0;
}

/* ---- Model Exchange */
static void set_states(Instance *c, const double *x)
{
  memcpy(c->s.m.q, x, sizeof(double)*NUM), memcpy(c->s.m.v, x + NUM, sizeof c->s.m.v);
  memcpy(c->s.m.q + NUM, x + 2*NUM, sizeof(double)*STATES);
  c->known = 0;
}
static void get_states(const Instance *c, double *x)
{
  memcpy(x, c->s.m.q, sizeof(double)*NUM), memcpy(x + NUM, c->s.m.v, sizeof c->s.m.v);
  memcpy(x + 2*NUM, c->s.m.q + NUM, sizeof(double)*STATES);
}
static int get_derivatives(Instance *c, double *dx)
{
  if (know(c)) return 0;
  memcpy(dx, c->s.m.v, sizeof c->s.m.v), memcpy(dx + NUM, c->now.a, sizeof c->now.a);
  memcpy(dx + 2*NUM, c->now.rates, sizeof(double)*STATES);
  return 1;
}
static int get_indicators(Instance *c, double *z)
{
  if (INDICATORS > 0 && know(c)) return 0;
  if (@_GUARDS > 0) memcpy(z, c->now.guards, sizeof(double)*@_GUARDS);
  if (@_EVENTS > 0) memcpy(z + @_GUARDS, c->now.events, sizeof(double)*@_EVENTS);
  if (@_SWITCHES > 0) memcpy(z + @_GUARDS + @_EVENTS, c->now.switches, sizeof(double)*@_SWITCHES);
  return 1;
}
/* 0: as it was; 1: values have changed; 2: and the motion is over; -1: with a status that was said. */
static int update(Instance *c)
{
  double before[CONTINUOUS], after[CONTINUOUS];
  int status;
  get_states(c, before);
  status = take_changes(c);
  if (!status) status = HAPPEN;
  if (!status) status = SAMPLE;
  if (!status && @_is_off(&c->s.m, c->s.p)) status = @_project(&c->s.m, c->s.p);
  c->known = 0;
  if (status) { say(c, 1, @_status_text(status)); return -1; }
  KEEP_COMPLETED
  get_states(c, after);
  if (memcmp(before, after, sizeof before) != 0) tell(c, "states have new values");
  return c->s.m.stopped ? 2 : memcmp(before, after, sizeof before) != 0;
}
/* Whether it is known when the next event comes: a sample of control, a switch that the time decides on, or a look at others. */
static int next_time(const Instance *c, double *t)
{
  (void)c;
  *t = NEXT_TIME;
  NEXT_LOOK
  /* Integrators go no way that is shorter than rounding. */
  if (*t - c->s.m.t < 1e-14*(1 + fabs(c->s.m.t))) *t = c->s.m.t + 1e-14*(1 + fabs(c->s.m.t));
  return HAS_SAMPLES || @_SWITCHES > 0;
}
/* 1: something happens; -1: with a status that was said. */
static int completed(Instance *c)
{
  int over;
  MISSED
  over = COMPLETED;
  c->known = 0;
  KEEP_COMPLETED
  return over || (@_is_off(&c->s.m, c->s.p));
}

/* ---- states of the FMU */
static int keep_state(const Instance *c, void **state)
{
  if (!*state) *state = malloc(sizeof(State));
  if (*state) memcpy(*state, &c->s, sizeof(State));
  return *state != 0;
}
static int take_state(Instance *c, const void *state) { memcpy(&c->s, state, sizeof(State)); c->known = 0; return 1; }
/* As bytes it has a number of them and of the model behind: others are no state of this unit. */
enum { PACKED = sizeof(State) + sizeof(uint64_t) };
static uint64_t number_of(const void *state)
{
  const unsigned char *bytes = (const unsigned char *)state;
  const char *token = @_TOKEN;
  uint64_t n = 14695981039346656037u;
  size_t i;
  for (i = 0; i < sizeof(State); ++i) n = (n ^ bytes[i])*1099511628211u;
  for (i = 0; token[i]; ++i) n = (n ^ (unsigned char)token[i])*1099511628211u;
  return n;
}
static int pack_state(const void *state, void *bytes, size_t size)
{
  const uint64_t n = number_of(state);
  if (size < PACKED) return 0;
  memcpy(bytes, state, sizeof(State)), memcpy((char *)bytes + sizeof(State), &n, sizeof n);
  return 1;
}
static int unpack_state(Instance *c, const void *bytes, size_t size, void **state)
{
  uint64_t n = 0;
  if (size == PACKED) memcpy(&n, (const char *)bytes + sizeof(State), sizeof n);
  if (size != PACKED || n != number_of(bytes)) { say(c, 1, "these bytes are no state of this unit"); return 0; }
  if (!*state) *state = malloc(sizeof(State));
  if (*state) memcpy(*state, bytes, sizeof(State));
  return *state != 0;
}
static int get_all(Instance *c, const uint32_t *r, size_t n, double *values)
{
  size_t i;
  for (i = 0; i < n; ++i) if (!get(c, r[i], &values[i])) return 0;
  return 1;
}
static int set_all(Instance *c, const uint32_t *r, size_t n, const double *values)
{
  size_t i;
  for (i = 0; i < n; ++i) if (!set(c, r[i], values[i])) return 0;
  return 1;
}
DIRECTIONAL
)";
}

std::string_view fmu_directional() {
  return R"(/* Exact, as the equations are differentiated. */
static int directional(Instance *c, const uint32_t *u, size_t nu, const uint32_t *k, size_t nk, const double *dk, double *du)
{
  double dt = 0, dq[NUM + STATES] = {0}, dv[NUM] = {0}, dp[PARAMETERS + 1] = {0};
  @_instant d;
  size_t n;
  int status;
  for (n = 0; n < nk; ++n) {
    const int i = (int)k[n];
    if (i == 0) dt += dk[n];
    else if (i < AT_V) dq[i - AT_Q] += dk[n];
    else if (i < AT_A) dv[i - AT_V] += dk[n];
    else if (i >= AT_P && i < AT_FORCE) dp[i - AT_P] += dk[n];
    else { say(c, 1, "there are derivatives by time, states, inputs and parameters"); return 0; }
  }
  status = @_tangent(&c->s.m, c->s.p, dt, dq, dv, dp, &d);
  if (status) { say(c, 1, @_status_text(status)); return 0; }
  for (n = 0; n < nu; ++n) {
    const int i = (int)u[n];
    if (u[n] >= REFERENCES) { say(c, 1, "there is no variable with this reference"); return 0; }
    du[n] = i < AT_Q ? dt : i < AT_V ? dq[i - AT_Q] : i < AT_A ? dv[i - AT_V] : i < AT_RATE ? d.a[i - AT_A] : i < AT_P ? d.rates[i - AT_RATE] :
            i < AT_FORCE ? dp[i - AT_P] : i < AT_CONTROL ? d.force[i - AT_FORCE] : i < AT_LAMBDA ? d.control[i - AT_CONTROL] :
            i < AT_NORMAL ? d.lambda[i - AT_LAMBDA] : i < AT_FRICTION ? d.normal[i - AT_NORMAL] : i < AT_TAU ? d.friction[i - AT_FRICTION] :
            i < AT_ERROR ? d.tau[i - AT_TAU] : i < AT_COST ? d.error[i - AT_ERROR] : i < AT_OUTPUT ? d.cost :
            i < AT_ENERGY ? d.outputs[i - AT_OUTPUT] : i < AT_ENGAGED ? d.energies[i - AT_ENERGY] : i < AT_GUARD ? 0 :
            i < AT_EVENT ? d.guards[i - AT_GUARD] : i < AT_SWITCH ? d.events[i - AT_EVENT] : d.switches[i - AT_SWITCH];
    if (isnan(du[n])) { say(c, 1, "the derivative of a force that is not unique, or of a guard or switch, is not known"); return 0; }
  }
  return 1;
})";
}

std::string_view fmu_no_directional() {
  return R"(static int directional(Instance *c, const uint32_t *u, size_t nu, const uint32_t *k, size_t nk, const double *dk, double *du)
{
  (void)u, (void)nu, (void)k, (void)nk, (void)dk, (void)du;
  say(c, 1, "there are no directional derivatives");
  return 0;
})";
}

std::string_view fmu_functions_2() {
  return R"(
/* ---- FMI 2.0 */
typedef int fmi2Status;
enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending };
typedef void (*fmi2Logger)(void *, const char *, fmi2Status, const char *, const char *, ...);
typedef struct { fmi2Logger logger; void *(*allocate)(size_t, size_t); void (*release)(void *); void (*finished)(void *, fmi2Status); void *environment; } fmi2Callbacks;
typedef struct { int newDiscreteStatesNeeded, terminateSimulation, nominalsChanged, valuesChanged, nextEventTimeDefined; double nextEventTime; } fmi2EventInfo;

static void say(Instance *c, int what, const char *text)
{
  if (c->logger && (what || c->logging)) ((fmi2Logger)c->logger)(c->environment, c->name, what == 1 ? fmi2Error : what == 2 ? fmi2Warning : fmi2OK, category_of[what], text);  /* nothing in it is a format: not every importer reads more than that */
}

static int intermediate(Instance *c) { (void)c; return 0; }
#define STATUS2(ok) ((ok) ? fmi2OK : fmi2Error)

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }
EXPORTED fmi2Status fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *categories) { return STATUS2(set_logging((Instance *)c, on, n, categories)); }
EXPORTED void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, const fmi2Callbacks *callbacks, int visible, int logging)
{
  (void)resources, (void)visible;
  if (!guid || strcmp(guid, @_TOKEN) != 0) {
    if (callbacks && callbacks->logger) callbacks->logger(callbacks->environment, name, fmi2Error, "logStatusError", "the GUID is that of another model");
    return 0;
  }
  return new_instance(name, type == 0, logging, callbacks ? callbacks->environment : 0, callbacks ? (void (*)(void))callbacks->logger : 0);
}
EXPORTED void fmi2FreeInstance(void *c) { free_instance(c); }
EXPORTED fmi2Status fmi2SetupExperiment(void *c, int tolerance_defined, double tolerance, double start, int stop_defined, double stop)
{ (void)stop_defined, (void)stop; set_up((Instance *)c, tolerance_defined, tolerance, start); return fmi2OK; }
EXPORTED fmi2Status fmi2EnterInitializationMode(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2ExitInitializationMode(void *c) { return STATUS2(!initialise((Instance *)c)); }
EXPORTED fmi2Status fmi2Terminate(void *c) { ((Instance *)c)->s.over = 1; return fmi2OK; }
EXPORTED fmi2Status fmi2Reset(void *c) { reset((Instance *)c); return fmi2OK; }
EXPORTED fmi2Status fmi2GetReal(void *c, const unsigned *r, size_t n, double *values) { return STATUS2(get_all((Instance *)c, r, n, values)); }
EXPORTED fmi2Status fmi2SetReal(void *c, const unsigned *r, size_t n, const double *values) { return STATUS2(set_all((Instance *)c, r, n, values)); }
#define NONE2(name, type) \
  EXPORTED fmi2Status fmi2Get##name(void *c, const unsigned *r, size_t n, type *values) { (void)c, (void)r, (void)values; return n ? fmi2Error : fmi2OK; } \
  EXPORTED fmi2Status fmi2Set##name(void *c, const unsigned *r, size_t n, const type *values) { (void)c, (void)r, (void)values; return n ? fmi2Error : fmi2OK; }
NONE2(Integer, int)
NONE2(Boolean, int)
NONE2(String, char *)
EXPORTED fmi2Status fmi2GetFMUstate(void *c, void **state) { return STATUS2(keep_state((Instance *)c, state)); }
EXPORTED fmi2Status fmi2SetFMUstate(void *c, void *state) { return STATUS2(take_state((Instance *)c, state)); }
EXPORTED fmi2Status fmi2FreeFMUstate(void *c, void **state) { (void)c; free(*state); *state = 0; return fmi2OK; }
EXPORTED fmi2Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) { (void)c, (void)state; *size = PACKED; return fmi2OK; }
EXPORTED fmi2Status fmi2SerializeFMUstate(void *c, void *state, char *bytes, size_t size) { (void)c; return STATUS2(pack_state(state, bytes, size)); }
EXPORTED fmi2Status fmi2DeSerializeFMUstate(void *c, const char *bytes, size_t size, void **state) { return STATUS2(unpack_state((Instance *)c, bytes, size, state)); }
EXPORTED fmi2Status fmi2GetDirectionalDerivative(void *c, const unsigned *u, size_t nu, const unsigned *k, size_t nk, const double *dk, double *du)
{ return STATUS2(directional((Instance *)c, u, nu, k, nk, dk, du)); }
/* Model Exchange */
EXPORTED fmi2Status fmi2EnterEventMode(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2NewDiscreteStates(void *c, fmi2EventInfo *info)
{
  const int changed = update((Instance *)c);
  memset(info, 0, sizeof *info);
  info->valuesChanged = changed > 0, info->terminateSimulation = changed == 2;
  info->nextEventTimeDefined = next_time((Instance *)c, &info->nextEventTime);
  return STATUS2(changed >= 0);
}
EXPORTED fmi2Status fmi2EnterContinuousTimeMode(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2CompletedIntegratorStep(void *c, int no_set, int *event_mode, int *terminate)
{ const int over = completed((Instance *)c); (void)no_set; *event_mode = over > 0, *terminate = 0; return STATUS2(over >= 0); }
EXPORTED fmi2Status fmi2SetTime(void *c, double t) { ((Instance *)c)->s.m.t = t; ((Instance *)c)->known = 0; return fmi2OK; }
EXPORTED fmi2Status fmi2SetContinuousStates(void *c, const double *x, size_t n) { if (n != CONTINUOUS) return fmi2Error; set_states((Instance *)c, x); return fmi2OK; }
EXPORTED fmi2Status fmi2GetDerivatives(void *c, double *dx, size_t n) { return STATUS2(n == CONTINUOUS && get_derivatives((Instance *)c, dx)); }
EXPORTED fmi2Status fmi2GetEventIndicators(void *c, double *z, size_t n) { return STATUS2(n == INDICATORS && get_indicators((Instance *)c, z)); }
EXPORTED fmi2Status fmi2GetContinuousStates(void *c, double *x, size_t n) { if (n != CONTINUOUS) return fmi2Error; get_states((const Instance *)c, x); return fmi2OK; }
EXPORTED fmi2Status fmi2GetNominalsOfContinuousStates(void *c, double *x, size_t n) { size_t i; (void)c; for (i = 0; i < n; ++i) x[i] = 1; return fmi2OK; }
/* Co-Simulation */
EXPORTED fmi2Status fmi2DoStep(void *c, double now, double h, int no_set)
{
  const int done = advance((Instance *)c, now, h);
  (void)no_set;
  return done < 0 ? fmi2Error : done == 1 ? fmi2Discard : fmi2OK;
}
EXPORTED fmi2Status fmi2CancelStep(void *c) { (void)c; return fmi2Error; }
EXPORTED fmi2Status fmi2SetRealInputDerivatives(void *c, const unsigned *r, size_t n, const int *order, const double *values) { (void)c, (void)r, (void)order, (void)values; return n ? fmi2Error : fmi2OK; }
EXPORTED fmi2Status fmi2GetRealOutputDerivatives(void *c, const unsigned *r, size_t n, const int *order, double *values) { (void)c, (void)r, (void)order, (void)values; return n ? fmi2Error : fmi2OK; }
EXPORTED fmi2Status fmi2GetStatus(void *c, int kind, fmi2Status *value) { (void)c, (void)kind; *value = fmi2OK; return fmi2Discard; }
EXPORTED fmi2Status fmi2GetRealStatus(void *c, int kind, double *value) { (void)kind; *value = ((Instance *)c)->s.m.t; return fmi2OK; }
EXPORTED fmi2Status fmi2GetIntegerStatus(void *c, int kind, int *value) { (void)c, (void)kind, (void)value; return fmi2Discard; }
EXPORTED fmi2Status fmi2GetBooleanStatus(void *c, int kind, int *value) { *value = kind == 3 && ((Instance *)c)->s.m.stopped; return kind == 3 ? fmi2OK : fmi2Discard; }
EXPORTED fmi2Status fmi2GetStringStatus(void *c, int kind, const char **value) { (void)c, (void)kind; *value = ""; return fmi2Discard; }
)";
}

std::string_view fmu_functions_3() {
  return R"(
/* ---- FMI 3.0 */
typedef int fmi3Status;
enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal };
typedef void (*fmi3Logger)(void *, fmi3Status, const char *, const char *);

static void say(Instance *c, int what, const char *text)
{
  if (c->logger && (what || c->logging)) ((fmi3Logger)c->logger)(c->environment, what == 1 ? fmi3Error : what == 2 ? fmi3Warning : fmi3OK, category_of[what], text);
}

typedef void (*fmi3Update)(void *, double, bool, bool, bool, bool, bool *, double *);
static int intermediate(Instance *c)
{
  bool early = false;
  double when = c->s.m.t;
  if (!c->update) return 0;
  ((fmi3Update)c->update)(c->environment, c->s.m.t, false, true, true, c->may_return_early != 0, &early, &when);
  return c->may_return_early && early && c->s.m.t >= when;
}
#define STATUS3(ok) ((ok) ? fmi3OK : fmi3Error)

static Instance *instantiate(const char *name, const char *token, int exchange, int logging, void *environment, fmi3Logger logger)
{
  if (!token || strcmp(token, @_TOKEN) != 0) {
    if (logger) logger(environment, fmi3Error, "logStatusError", "the instantiation token is that of another model");
    return 0;
  }
  return new_instance(name, exchange, logging, environment, (void (*)(void))logger);
}

EXPORTED const char *fmi3GetVersion(void) { return "3.0"; }
EXPORTED fmi3Status fmi3SetDebugLogging(void *c, bool on, size_t n, const char *const *categories) { return STATUS3(set_logging((Instance *)c, on, n, categories)); }
EXPORTED void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, fmi3Logger logger)
{ (void)resources, (void)visible; return instantiate(name, token, 1, logging, environment, logger); }
EXPORTED void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging, bool events, bool early,
                                           const uint32_t *required, size_t num_required, void *environment, fmi3Logger logger, void (*update)(void))
{
  Instance *c = instantiate(name, token, 0, logging, environment, logger);
  (void)resources, (void)visible, (void)events, (void)required, (void)num_required;
  if (c) c->update = update, c->may_return_early = early;
  return c;
}
EXPORTED void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment,
                                                 fmi3Logger logger, void (*update)(void), void (*lock)(void), void (*unlock)(void))
{ (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)logger, (void)update, (void)lock, (void)unlock; return 0; }
EXPORTED void fmi3FreeInstance(void *c) { free_instance(c); }
EXPORTED fmi3Status fmi3EnterInitializationMode(void *c, bool tolerance_defined, double tolerance, double start, bool stop_defined, double stop)
{ (void)stop_defined, (void)stop; set_up((Instance *)c, tolerance_defined, tolerance, start); return fmi3OK; }
EXPORTED fmi3Status fmi3ExitInitializationMode(void *c) { return STATUS3(!initialise((Instance *)c)); }
EXPORTED fmi3Status fmi3EnterEventMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3Terminate(void *c) { ((Instance *)c)->s.over = 1; return fmi3OK; }
EXPORTED fmi3Status fmi3Reset(void *c) { reset((Instance *)c); return fmi3OK; }
EXPORTED fmi3Status fmi3GetFloat64(void *c, const uint32_t *r, size_t n, double *values, size_t m) { return STATUS3(n == m && get_all((Instance *)c, r, n, values)); }
EXPORTED fmi3Status fmi3SetFloat64(void *c, const uint32_t *r, size_t n, const double *values, size_t m) { return STATUS3(n == m && set_all((Instance *)c, r, n, values)); }
#define NONE3(name, type) \
  EXPORTED fmi3Status fmi3Get##name(void *c, const uint32_t *r, size_t n, type *values, size_t m) { (void)c, (void)r, (void)values, (void)m; return n ? fmi3Error : fmi3OK; } \
  EXPORTED fmi3Status fmi3Set##name(void *c, const uint32_t *r, size_t n, const type *values, size_t m) { (void)c, (void)r, (void)values, (void)m; return n ? fmi3Error : fmi3OK; }
NONE3(Float32, float)
NONE3(Int8, int8_t)
NONE3(UInt8, uint8_t)
NONE3(Int16, int16_t)
NONE3(UInt16, uint16_t)
NONE3(Int32, int32_t)
NONE3(UInt32, uint32_t)
NONE3(Int64, int64_t)
NONE3(UInt64, uint64_t)
NONE3(Boolean, bool)
NONE3(String, char *)
EXPORTED fmi3Status fmi3GetBinary(void *c, const uint32_t *r, size_t n, size_t *sizes, const uint8_t **values, size_t m) { (void)c, (void)r, (void)sizes, (void)values, (void)m; return n ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3SetBinary(void *c, const uint32_t *r, size_t n, const size_t *sizes, const uint8_t *const *values, size_t m) { (void)c, (void)r, (void)sizes, (void)values, (void)m; return n ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3GetClock(void *c, const uint32_t *r, size_t n, bool *values) { (void)c, (void)r, (void)values; return n ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3SetClock(void *c, const uint32_t *r, size_t n, const bool *values) { (void)c, (void)r, (void)values; return n ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3GetNumberOfVariableDependencies(void *c, uint32_t r, size_t *n) { (void)c, (void)r; *n = 0; return fmi3Error; }
EXPORTED fmi3Status fmi3GetVariableDependencies(void *c, uint32_t r, size_t *e, uint32_t *i, size_t *ei, int *kinds, size_t n)
{ (void)c, (void)r, (void)e, (void)i, (void)ei, (void)kinds, (void)n; return fmi3Error; }
EXPORTED fmi3Status fmi3GetFMUState(void *c, void **state) { return STATUS3(keep_state((Instance *)c, state)); }
EXPORTED fmi3Status fmi3SetFMUState(void *c, void *state) { return STATUS3(take_state((Instance *)c, state)); }
EXPORTED fmi3Status fmi3FreeFMUState(void *c, void **state) { (void)c; free(*state); *state = 0; return fmi3OK; }
EXPORTED fmi3Status fmi3SerializedFMUStateSize(void *c, void *state, size_t *size) { (void)c, (void)state; *size = PACKED; return fmi3OK; }
EXPORTED fmi3Status fmi3SerializeFMUState(void *c, void *state, uint8_t *bytes, size_t size) { (void)c; return STATUS3(pack_state(state, bytes, size)); }
EXPORTED fmi3Status fmi3DeserializeFMUState(void *c, const uint8_t *bytes, size_t size, void **state) { return STATUS3(unpack_state((Instance *)c, bytes, size, state)); }
EXPORTED fmi3Status fmi3GetDirectionalDerivative(void *c, const uint32_t *u, size_t nu, const uint32_t *k, size_t nk, const double *seed, size_t ns, double *s, size_t m)
{ return STATUS3(nk == ns && nu == m && directional((Instance *)c, u, nu, k, nk, seed, s)); }
EXPORTED fmi3Status fmi3GetAdjointDerivative(void *c, const uint32_t *u, size_t nu, const uint32_t *k, size_t nk, const double *seed, size_t ns, double *s, size_t m)
{ (void)c, (void)u, (void)nu, (void)k, (void)nk, (void)seed, (void)ns, (void)s, (void)m; return fmi3Error; }
EXPORTED fmi3Status fmi3EnterConfigurationMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3ExitConfigurationMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3GetIntervalDecimal(void *c, const uint32_t *r, size_t n, double *i, int *q) { (void)c, (void)r, (void)n, (void)i, (void)q; return fmi3Error; }
EXPORTED fmi3Status fmi3GetIntervalFraction(void *c, const uint32_t *r, size_t n, uint64_t *k, uint64_t *d, int *q) { (void)c, (void)r, (void)n, (void)k, (void)d, (void)q; return fmi3Error; }
EXPORTED fmi3Status fmi3GetShiftDecimal(void *c, const uint32_t *r, size_t n, double *s) { (void)c, (void)r, (void)n, (void)s; return fmi3Error; }
EXPORTED fmi3Status fmi3GetShiftFraction(void *c, const uint32_t *r, size_t n, uint64_t *k, uint64_t *d) { (void)c, (void)r, (void)n, (void)k, (void)d; return fmi3Error; }
EXPORTED fmi3Status fmi3SetIntervalDecimal(void *c, const uint32_t *r, size_t n, const double *i) { (void)c, (void)r, (void)n, (void)i; return fmi3Error; }
EXPORTED fmi3Status fmi3SetIntervalFraction(void *c, const uint32_t *r, size_t n, const uint64_t *k, const uint64_t *d) { (void)c, (void)r, (void)n, (void)k, (void)d; return fmi3Error; }
EXPORTED fmi3Status fmi3SetShiftDecimal(void *c, const uint32_t *r, size_t n, const double *s) { (void)c, (void)r, (void)n, (void)s; return fmi3Error; }
EXPORTED fmi3Status fmi3SetShiftFraction(void *c, const uint32_t *r, size_t n, const uint64_t *k, const uint64_t *d) { (void)c, (void)r, (void)n, (void)k, (void)d; return fmi3Error; }
EXPORTED fmi3Status fmi3EvaluateDiscreteStates(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3UpdateDiscreteStates(void *c, bool *again, bool *terminate, bool *nominals, bool *values, bool *next_defined, double *next)
{
  const int changed = update((Instance *)c);
  *again = *nominals = false, *next_defined = next_time((Instance *)c, next) != 0;
  *values = changed > 0, *terminate = changed == 2;
  return STATUS3(changed >= 0);
}
/* Model Exchange */
EXPORTED fmi3Status fmi3EnterContinuousTimeMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3CompletedIntegratorStep(void *c, bool no_set, bool *event_mode, bool *terminate)
{ const int over = completed((Instance *)c); (void)no_set; *event_mode = over > 0, *terminate = false; return STATUS3(over >= 0); }
EXPORTED fmi3Status fmi3SetTime(void *c, double t) { ((Instance *)c)->s.m.t = t; ((Instance *)c)->known = 0; return fmi3OK; }
EXPORTED fmi3Status fmi3SetContinuousStates(void *c, const double *x, size_t n) { if (n != CONTINUOUS) return fmi3Error; set_states((Instance *)c, x); return fmi3OK; }
EXPORTED fmi3Status fmi3GetContinuousStateDerivatives(void *c, double *dx, size_t n) { return STATUS3(n == CONTINUOUS && get_derivatives((Instance *)c, dx)); }
EXPORTED fmi3Status fmi3GetEventIndicators(void *c, double *z, size_t n) { return STATUS3(n == INDICATORS && get_indicators((Instance *)c, z)); }
EXPORTED fmi3Status fmi3GetContinuousStates(void *c, double *x, size_t n) { if (n != CONTINUOUS) return fmi3Error; get_states((const Instance *)c, x); return fmi3OK; }
EXPORTED fmi3Status fmi3GetNominalsOfContinuousStates(void *c, double *x, size_t n) { size_t i; (void)c; for (i = 0; i < n; ++i) x[i] = 1; return fmi3OK; }
EXPORTED fmi3Status fmi3GetNumberOfEventIndicators(void *c, size_t *n) { (void)c; *n = INDICATORS; return fmi3OK; }
EXPORTED fmi3Status fmi3GetNumberOfContinuousStates(void *c, size_t *n) { (void)c; *n = CONTINUOUS; return fmi3OK; }
/* Co-Simulation */
EXPORTED fmi3Status fmi3EnterStepMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3GetOutputDerivatives(void *c, const uint32_t *r, size_t n, const int32_t *orders, double *values, size_t m) { (void)c, (void)r, (void)orders, (void)values, (void)m; return n ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3DoStep(void *v, double now, double h, bool no_set, bool *event, bool *terminate, bool *early, double *last)
{
  Instance *c = (Instance *)v;
  const int done = advance(c, now, h);
  (void)no_set;
  *event = false, *terminate = done == 1, *early = done == 2, *last = c->s.m.t;
  return STATUS3(done >= 0);
}
EXPORTED fmi3Status fmi3ActivateModelPartition(void *c, uint32_t clock, double t) { (void)c, (void)clock, (void)t; return fmi3Error; }
)";
}

}  // namespace mechanician
