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

enum { NUM = @_COORDINATES, ROWS = @_ROWS, PARAMETERS = @_PARAMETERS };
/* References: time, positions, velocities, accelerations, parameters, constraint forces, multipliers, energies, events. */
enum { AT_Q = 1, AT_V = AT_Q + NUM, AT_A = AT_V + NUM, AT_P = AT_A + NUM, AT_FORCE = AT_P + PARAMETERS, AT_LAMBDA = AT_FORCE + NUM,
       AT_ENERGY = AT_LAMBDA + ROWS, AT_EVENT = AT_ENERGY + 2, REFERENCES = AT_EVENT + @_EVENTS };

/* Everything that a motion depends on: what a state of the FMU is. */
typedef struct {
  @_motion m;
  double p[PARAMETERS + 1], stop_time, own_q[NUM], own_v[NUM];
  char has_q[NUM], has_v[NUM];
  int begun, stop_defined;
} State;

typedef struct {
  State s;
  double a[NUM], force[NUM], lambda[ROWS + 1], energy[2], indicator[@_EVENTS + 1];
  int known, status;
  int exchange;            /* Model Exchange; else Co-Simulation */
  int logging;
  void *environment;
  void (*logger)(void);    /* of the version */
  char *name;
} Instance;

static void say(Instance *c, int error, const char *text);

/* The start of the model, with what was set of it. */
static void begin(Instance *c)
{
  const double tolerance = c->s.m.tolerance > 0 ? c->s.m.tolerance : 1e-9;
  int i;
  @_begin(&c->s.m, c->s.p, tolerance);
  for (i = 0; i < NUM; ++i) {
    if (c->s.has_q[i]) c->s.m.q[i] = c->s.own_q[i];
    if (c->s.has_v[i]) c->s.m.v[i] = c->s.own_v[i];
  }
  c->known = 0;
}

static Instance *new_instance(const char *name, int exchange, int logging, void *environment, void (*logger)(void))
{
  Instance *c = (Instance *)calloc(1, sizeof *c);
  if (!c) return 0;
  c->name = (char *)malloc(strlen(name ? name : "") + 1);
  if (!c->name) { free(c); return 0; }
  strcpy(c->name, name ? name : "");
  c->exchange = exchange, c->logging = logging, c->environment = environment, c->logger = logger;
  @_parameters(c->s.p);
  begin(c);
  return c;
}

static void reset(Instance *c)
{
  memset(&c->s, 0, sizeof c->s);
  @_parameters(c->s.p);
  begin(c);
}

/* Accelerations and forces at the state of now. */
static int know(Instance *c)
{
  if (c->known) return c->status;
  c->status = @_acceleration(c->s.m.t, c->s.m.q, c->s.m.v, c->s.p, c->a, c->force, c->lambda);
  @_energies(c->s.m.t, c->s.m.q, c->s.m.v, c->s.p, c->energy);
  @_events(c->s.m.t, c->s.m.q, c->s.m.v, c->s.p, c->indicator);
  c->known = 1;
  if (c->status) say(c, 1, @_status_text(c->status));
  return c->status;
}

static int get(Instance *c, uint32_t r, double *value)
{
  const int i = (int)r;
  if (r >= REFERENCES) { say(c, 1, "there is no variable with this reference"); return 0; }
  if (i >= AT_A && (i < AT_P || i >= AT_FORCE) && know(c)) return 0;
  *value = i < AT_Q ? c->s.m.t : i < AT_V ? c->s.m.q[i - AT_Q] : i < AT_A ? c->s.m.v[i - AT_V] : i < AT_P ? c->a[i - AT_A] :
           i < AT_FORCE ? c->s.p[i - AT_P] : i < AT_LAMBDA ? c->force[i - AT_FORCE] : i < AT_ENERGY ? c->lambda[i - AT_LAMBDA] :
           i < AT_EVENT ? c->energy[i - AT_ENERGY] : c->indicator[i - AT_EVENT];
  return 1;
}

static int set(Instance *c, uint32_t r, double value)
{
  const int i = (int)r;
  if (!isfinite(value)) { say(c, 1, "a value that is set must be finite"); return 0; }
  if (i >= AT_Q && i < AT_V) c->s.m.q[i - AT_Q] = c->s.own_q[i - AT_Q] = value, c->s.has_q[i - AT_Q] = 1;
  else if (i >= AT_V && i < AT_A) c->s.m.v[i - AT_V] = c->s.own_v[i - AT_V] = value, c->s.has_v[i - AT_V] = 1;
  else if (i >= AT_P && i < AT_FORCE) {
    c->s.p[i - AT_P] = value;
    if (!c->s.begun) begin(c);  /* start values may be made of parameters */
  } else { say(c, 1, "this variable cannot be set"); return 0; }
  c->known = 0;
  return 1;
}

/* How far the state is off the constraints, beside the size of its numbers. */
static int is_off(const Instance *c)
{
  double values[2*ROWS + 1], size = 1;
  int i;
  @_residuals(c->s.m.t, c->s.m.q, c->s.m.v, c->s.p, values);
  for (i = 0; i < NUM; ++i) if (fabs(c->s.m.q[i]) > size) size = fabs(c->s.m.q[i]);
  for (i = 0; i < 2*ROWS; ++i) if (fabs(values[i]) > 1e-9*size) return 1;
  return 0;
}

static int advance(Instance *c, double to)
{
  while (c->s.m.t < to) {
    const int status = @_step(&c->s.m, c->s.p, to);
    c->known = 0;
    if (status) { say(c, 1, @_status_text(status)); return 0; }
  }
  return 1;
}

static void indicators(Instance *c, double *values)
{
  @_events(c->s.m.t, c->s.m.q, c->s.m.v, c->s.p, c->indicator);
  if (@_EVENTS > 0) memcpy(values, c->indicator, sizeof(double)*@_EVENTS);
}
)";
}

std::string_view fmu_functions_2() {
  return R"(
/* ---- FMI 2.0 */
typedef int fmi2Status;
enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending };
typedef void (*fmi2Logger)(void *, const char *, fmi2Status, const char *, const char *, ...);
typedef struct { fmi2Logger logger; void *(*allocate)(size_t, size_t); void (*release)(void *); void (*finished)(void *, fmi2Status); void *environment; } fmi2Callbacks;
typedef struct { int newDiscreteStatesNeeded, terminateSimulation, nominalsChanged, valuesChanged, nextEventTimeDefined; double nextEventTime; } fmi2EventInfo;

static void say(Instance *c, int error, const char *text)
{
  if (c->logger && (error || c->logging)) ((fmi2Logger)c->logger)(c->environment, c->name, error ? fmi2Error : fmi2OK, error ? "logStatusError" : "logAll", "%s", text);
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }
EXPORTED fmi2Status fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *categories) { (void)n, (void)categories; ((Instance *)c)->logging = on; return fmi2OK; }
EXPORTED void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, const fmi2Callbacks *callbacks, int visible, int logging)
{
  (void)resources, (void)visible;
  if (!guid || strcmp(guid, @_TOKEN) != 0) {
    if (callbacks && callbacks->logger) callbacks->logger(callbacks->environment, name, fmi2Error, "logStatusError", "%s", "the GUID is that of another model");
    return 0;
  }
  return new_instance(name, type == 0, logging, callbacks ? callbacks->environment : 0, callbacks ? (void (*)(void))callbacks->logger : 0);
}
EXPORTED void fmi2FreeInstance(void *c) { if (c) { free(((Instance *)c)->name); free(c); } }
EXPORTED fmi2Status fmi2SetupExperiment(void *v, int tolerance_defined, double tolerance, double start, int stop_defined, double stop)
{
  Instance *c = (Instance *)v;
  if (tolerance_defined && tolerance > 0) c->s.m.tolerance = tolerance;
  c->s.m.t = c->s.m.t_begin = start, c->s.stop_defined = stop_defined, c->s.stop_time = stop, c->known = 0;
  return fmi2OK;
}
EXPORTED fmi2Status fmi2EnterInitializationMode(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2ExitInitializationMode(void *v)
{
  Instance *c = (Instance *)v;
  c->s.begun = 1;
  return know(c) ? fmi2Error : fmi2OK;
}
EXPORTED fmi2Status fmi2Terminate(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2Reset(void *c) { reset((Instance *)c); return fmi2OK; }
EXPORTED fmi2Status fmi2GetReal(void *c, const unsigned *r, size_t n, double *values)
{
  size_t i;
  for (i = 0; i < n; ++i) if (!get((Instance *)c, r[i], &values[i])) return fmi2Error;
  return fmi2OK;
}
EXPORTED fmi2Status fmi2SetReal(void *c, const unsigned *r, size_t n, const double *values)
{
  size_t i;
  for (i = 0; i < n; ++i) if (!set((Instance *)c, r[i], values[i])) return fmi2Error;
  return fmi2OK;
}
#define NONE2(name, type) \
  EXPORTED fmi2Status fmi2Get##name(void *c, const unsigned *r, size_t n, type *values) { (void)c, (void)r, (void)values; return n ? fmi2Error : fmi2OK; } \
  EXPORTED fmi2Status fmi2Set##name(void *c, const unsigned *r, size_t n, const type *values) { (void)c, (void)r, (void)values; return n ? fmi2Error : fmi2OK; }
NONE2(Integer, int)
NONE2(Boolean, int)
NONE2(String, char *)
EXPORTED fmi2Status fmi2GetFMUstate(void *c, void **state)
{
  if (!*state) *state = malloc(sizeof(State));
  if (!*state) return fmi2Error;
  memcpy(*state, &((Instance *)c)->s, sizeof(State));
  return fmi2OK;
}
EXPORTED fmi2Status fmi2SetFMUstate(void *c, void *state) { memcpy(&((Instance *)c)->s, state, sizeof(State)); ((Instance *)c)->known = 0; return fmi2OK; }
EXPORTED fmi2Status fmi2FreeFMUstate(void *c, void **state) { (void)c; free(*state); *state = 0; return fmi2OK; }
EXPORTED fmi2Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) { (void)c, (void)state; *size = sizeof(State); return fmi2OK; }
EXPORTED fmi2Status fmi2SerializeFMUstate(void *c, void *state, char *bytes, size_t size) { (void)c; if (size < sizeof(State)) return fmi2Error; memcpy(bytes, state, sizeof(State)); return fmi2OK; }
EXPORTED fmi2Status fmi2DeSerializeFMUstate(void *c, const char *bytes, size_t size, void **state)
{
  (void)c;
  if (size != sizeof(State)) return fmi2Error;
  if (!*state) *state = malloc(sizeof(State));
  if (!*state) return fmi2Error;
  memcpy(*state, bytes, sizeof(State));
  return fmi2OK;
}
EXPORTED fmi2Status fmi2GetDirectionalDerivative(void *c, const unsigned *u, size_t nu, const unsigned *k, size_t nk, const double *dk, double *du)
{ (void)c, (void)u, (void)nu, (void)k, (void)nk, (void)dk, (void)du; return fmi2Error; }
/* Model Exchange */
EXPORTED fmi2Status fmi2EnterEventMode(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2NewDiscreteStates(void *v, fmi2EventInfo *info)
{
  Instance *c = (Instance *)v;
  memset(info, 0, sizeof *info);
  if (ROWS > 0 && is_off(c)) {
    if (@_project(&c->s.m, c->s.p) != 0) return fmi2Error;
    info->valuesChanged = 1, c->known = 0;
  }
  return fmi2OK;
}
EXPORTED fmi2Status fmi2EnterContinuousTimeMode(void *c) { (void)c; return fmi2OK; }
EXPORTED fmi2Status fmi2CompletedIntegratorStep(void *v, int no_set, int *event_mode, int *terminate)
{
  (void)no_set;
  *event_mode = ROWS > 0 && is_off((Instance *)v), *terminate = 0;
  return fmi2OK;
}
EXPORTED fmi2Status fmi2SetTime(void *c, double t) { ((Instance *)c)->s.m.t = t; ((Instance *)c)->known = 0; return fmi2OK; }
EXPORTED fmi2Status fmi2SetContinuousStates(void *v, const double *x, size_t n)
{
  Instance *c = (Instance *)v;
  if (n != 2*NUM) return fmi2Error;
  memcpy(c->s.m.q, x, sizeof c->s.m.q), memcpy(c->s.m.v, x + NUM, sizeof c->s.m.v);
  c->known = 0;
  return fmi2OK;
}
EXPORTED fmi2Status fmi2GetDerivatives(void *v, double *dx, size_t n)
{
  Instance *c = (Instance *)v;
  if (n != 2*NUM || know(c)) return fmi2Error;
  memcpy(dx, c->s.m.v, sizeof c->s.m.v), memcpy(dx + NUM, c->a, sizeof c->a);
  return fmi2OK;
}
EXPORTED fmi2Status fmi2GetEventIndicators(void *c, double *z, size_t n) { if (n != @_EVENTS) return fmi2Error; indicators((Instance *)c, z); return fmi2OK; }
EXPORTED fmi2Status fmi2GetContinuousStates(void *v, double *x, size_t n)
{
  const Instance *c = (const Instance *)v;
  if (n != 2*NUM) return fmi2Error;
  memcpy(x, c->s.m.q, sizeof c->s.m.q), memcpy(x + NUM, c->s.m.v, sizeof c->s.m.v);
  return fmi2OK;
}
EXPORTED fmi2Status fmi2GetNominalsOfContinuousStates(void *c, double *x, size_t n) { size_t i; (void)c; for (i = 0; i < n; ++i) x[i] = 1; return fmi2OK; }
/* Co-Simulation */
EXPORTED fmi2Status fmi2DoStep(void *c, double now, double h, int no_set) { (void)no_set; return advance((Instance *)c, now + h) ? fmi2OK : fmi2Error; }
EXPORTED fmi2Status fmi2CancelStep(void *c) { (void)c; return fmi2Error; }
EXPORTED fmi2Status fmi2SetRealInputDerivatives(void *c, const unsigned *r, size_t n, const int *order, const double *values) { (void)c, (void)r, (void)order, (void)values; return n ? fmi2Error : fmi2OK; }
EXPORTED fmi2Status fmi2GetRealOutputDerivatives(void *c, const unsigned *r, size_t n, const int *order, double *values) { (void)c, (void)r, (void)order, (void)values; return n ? fmi2Error : fmi2OK; }
EXPORTED fmi2Status fmi2GetStatus(void *c, int kind, fmi2Status *value) { (void)c, (void)kind; *value = fmi2OK; return fmi2Discard; }
EXPORTED fmi2Status fmi2GetRealStatus(void *c, int kind, double *value) { (void)kind; *value = ((Instance *)c)->s.m.t; return fmi2OK; }
EXPORTED fmi2Status fmi2GetIntegerStatus(void *c, int kind, int *value) { (void)c, (void)kind, (void)value; return fmi2Discard; }
EXPORTED fmi2Status fmi2GetBooleanStatus(void *c, int kind, int *value) { (void)c, (void)kind; *value = 0; return fmi2Discard; }
EXPORTED fmi2Status fmi2GetStringStatus(void *c, int kind, const char **value) { (void)c, (void)kind; *value = ""; return fmi2Discard; }
)";
}

std::string_view fmu_functions_3() {
  return R"(
/* ---- FMI 3.0 */
typedef int fmi3Status;
enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal };
typedef void (*fmi3Logger)(void *, fmi3Status, const char *, const char *);

static void say(Instance *c, int error, const char *text)
{
  if (c->logger && (error || c->logging)) ((fmi3Logger)c->logger)(c->environment, error ? fmi3Error : fmi3OK, error ? "logStatusError" : "logAll", text);
}

static Instance *instantiate(const char *name, const char *token, int exchange, int logging, void *environment, fmi3Logger logger)
{
  if (!token || strcmp(token, @_TOKEN) != 0) {
    if (logger) logger(environment, fmi3Error, "logStatusError", "the instantiation token is that of another model");
    return 0;
  }
  return new_instance(name, exchange, logging, environment, (void (*)(void))logger);
}

EXPORTED const char *fmi3GetVersion(void) { return "3.0"; }
EXPORTED fmi3Status fmi3SetDebugLogging(void *c, bool on, size_t n, const char *const *categories) { (void)n, (void)categories; ((Instance *)c)->logging = on; return fmi3OK; }
EXPORTED void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, fmi3Logger logger)
{ (void)resources, (void)visible; return instantiate(name, token, 1, logging, environment, logger); }
EXPORTED void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging, bool events, bool early,
                                           const uint32_t *required, size_t num_required, void *environment, fmi3Logger logger, void (*update)(void))
{ (void)resources, (void)visible, (void)events, (void)early, (void)required, (void)num_required, (void)update; return instantiate(name, token, 0, logging, environment, logger); }
EXPORTED void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment,
                                                 fmi3Logger logger, void (*update)(void), void (*lock)(void), void (*unlock)(void))
{ (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)logger, (void)update, (void)lock, (void)unlock; return 0; }
EXPORTED void fmi3FreeInstance(void *c) { if (c) { free(((Instance *)c)->name); free(c); } }
EXPORTED fmi3Status fmi3EnterInitializationMode(void *v, bool tolerance_defined, double tolerance, double start, bool stop_defined, double stop)
{
  Instance *c = (Instance *)v;
  if (tolerance_defined && tolerance > 0) c->s.m.tolerance = tolerance;
  c->s.m.t = c->s.m.t_begin = start, c->s.stop_defined = stop_defined, c->s.stop_time = stop, c->known = 0;
  return fmi3OK;
}
EXPORTED fmi3Status fmi3ExitInitializationMode(void *v) { Instance *c = (Instance *)v; c->s.begun = 1; return know(c) ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3EnterEventMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3Terminate(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3Reset(void *c) { reset((Instance *)c); return fmi3OK; }
EXPORTED fmi3Status fmi3GetFloat64(void *c, const uint32_t *r, size_t n, double *values, size_t num_values)
{
  size_t i;
  if (n != num_values) return fmi3Error;
  for (i = 0; i < n; ++i) if (!get((Instance *)c, r[i], &values[i])) return fmi3Error;
  return fmi3OK;
}
EXPORTED fmi3Status fmi3SetFloat64(void *c, const uint32_t *r, size_t n, const double *values, size_t num_values)
{
  size_t i;
  if (n != num_values) return fmi3Error;
  for (i = 0; i < n; ++i) if (!set((Instance *)c, r[i], values[i])) return fmi3Error;
  return fmi3OK;
}
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
EXPORTED fmi3Status fmi3GetFMUState(void *c, void **state)
{
  if (!*state) *state = malloc(sizeof(State));
  if (!*state) return fmi3Error;
  memcpy(*state, &((Instance *)c)->s, sizeof(State));
  return fmi3OK;
}
EXPORTED fmi3Status fmi3SetFMUState(void *c, void *state) { memcpy(&((Instance *)c)->s, state, sizeof(State)); ((Instance *)c)->known = 0; return fmi3OK; }
EXPORTED fmi3Status fmi3FreeFMUState(void *c, void **state) { (void)c; free(*state); *state = 0; return fmi3OK; }
EXPORTED fmi3Status fmi3SerializedFMUStateSize(void *c, void *state, size_t *size) { (void)c, (void)state; *size = sizeof(State); return fmi3OK; }
EXPORTED fmi3Status fmi3SerializeFMUState(void *c, void *state, uint8_t *bytes, size_t size) { (void)c; if (size < sizeof(State)) return fmi3Error; memcpy(bytes, state, sizeof(State)); return fmi3OK; }
EXPORTED fmi3Status fmi3DeserializeFMUState(void *c, const uint8_t *bytes, size_t size, void **state)
{
  (void)c;
  if (size != sizeof(State)) return fmi3Error;
  if (!*state) *state = malloc(sizeof(State));
  if (!*state) return fmi3Error;
  memcpy(*state, bytes, sizeof(State));
  return fmi3OK;
}
EXPORTED fmi3Status fmi3GetDirectionalDerivative(void *c, const uint32_t *u, size_t nu, const uint32_t *k, size_t nk, const double *seed, size_t ns, double *s, size_t m)
{ (void)c, (void)u, (void)nu, (void)k, (void)nk, (void)seed, (void)ns, (void)s, (void)m; return fmi3Error; }
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
EXPORTED fmi3Status fmi3UpdateDiscreteStates(void *v, bool *again, bool *terminate, bool *nominals, bool *values, bool *next_defined, double *next)
{
  Instance *c = (Instance *)v;
  *again = *terminate = *nominals = *values = *next_defined = false, *next = 0;
  if (ROWS > 0 && is_off(c)) {
    if (@_project(&c->s.m, c->s.p) != 0) return fmi3Error;
    *values = true, c->known = 0;
  }
  return fmi3OK;
}
/* Model Exchange */
EXPORTED fmi3Status fmi3EnterContinuousTimeMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3CompletedIntegratorStep(void *v, bool no_set, bool *event_mode, bool *terminate)
{ (void)no_set; *event_mode = ROWS > 0 && is_off((Instance *)v), *terminate = false; return fmi3OK; }
EXPORTED fmi3Status fmi3SetTime(void *c, double t) { ((Instance *)c)->s.m.t = t; ((Instance *)c)->known = 0; return fmi3OK; }
EXPORTED fmi3Status fmi3SetContinuousStates(void *v, const double *x, size_t n)
{
  Instance *c = (Instance *)v;
  if (n != 2*NUM) return fmi3Error;
  memcpy(c->s.m.q, x, sizeof c->s.m.q), memcpy(c->s.m.v, x + NUM, sizeof c->s.m.v);
  c->known = 0;
  return fmi3OK;
}
EXPORTED fmi3Status fmi3GetContinuousStateDerivatives(void *v, double *dx, size_t n)
{
  Instance *c = (Instance *)v;
  if (n != 2*NUM || know(c)) return fmi3Error;
  memcpy(dx, c->s.m.v, sizeof c->s.m.v), memcpy(dx + NUM, c->a, sizeof c->a);
  return fmi3OK;
}
EXPORTED fmi3Status fmi3GetEventIndicators(void *c, double *z, size_t n) { if (n != @_EVENTS) return fmi3Error; indicators((Instance *)c, z); return fmi3OK; }
EXPORTED fmi3Status fmi3GetContinuousStates(void *v, double *x, size_t n)
{
  const Instance *c = (const Instance *)v;
  if (n != 2*NUM) return fmi3Error;
  memcpy(x, c->s.m.q, sizeof c->s.m.q), memcpy(x + NUM, c->s.m.v, sizeof c->s.m.v);
  return fmi3OK;
}
EXPORTED fmi3Status fmi3GetNominalsOfContinuousStates(void *c, double *x, size_t n) { size_t i; (void)c; for (i = 0; i < n; ++i) x[i] = 1; return fmi3OK; }
EXPORTED fmi3Status fmi3GetNumberOfEventIndicators(void *c, size_t *n) { (void)c; *n = @_EVENTS; return fmi3OK; }
EXPORTED fmi3Status fmi3GetNumberOfContinuousStates(void *c, size_t *n) { (void)c; *n = 2*NUM; return fmi3OK; }
/* Co-Simulation */
EXPORTED fmi3Status fmi3EnterStepMode(void *c) { (void)c; return fmi3OK; }
EXPORTED fmi3Status fmi3GetOutputDerivatives(void *c, const uint32_t *r, size_t n, const int32_t *orders, double *values, size_t m) { (void)c, (void)r, (void)orders, (void)values, (void)m; return n ? fmi3Error : fmi3OK; }
EXPORTED fmi3Status fmi3DoStep(void *v, double now, double h, bool no_set, bool *event, bool *terminate, bool *early, double *last)
{
  Instance *c = (Instance *)v;
  const int done = advance(c, now + h);
  (void)no_set;
  *event = *terminate = *early = false, *last = c->s.m.t;
  return done ? fmi3OK : fmi3Error;
}
EXPORTED fmi3Status fmi3ActivateModelPartition(void *c, uint32_t clock, double t) { (void)c, (void)clock, (void)t; return fmi3Error; }
)";
}

}  // namespace mechanician
