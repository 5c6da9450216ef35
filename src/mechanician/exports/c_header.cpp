// The header of exported C, and names.

#include <fmt/format.h>

#include "mechanician/exports/c_interface.hpp"

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
                                                       {"SWITCHES", facts.sides.size()},
                                                       {"MODES", facts.modes.size()},
                                                       {"ACTUATORS", facts.eqs.control.actuators.size()},
                                                       {"REQUIREMENTS", facts.eqs.control.requirements.size()}};
  for (const auto& [what, size] : sizes) out += fmt::format("#define @{} {}\n", what, size);
  out += R"(
#ifdef __cplusplus
extern "C" {
#endif

/* 0 is success. */
enum { @NOT_FINITE = 1, @CONTRADICTION, @NOT_UNIQUE, @NOT_VOUCHED, @NOT_PROJECTED, @STEP_TOO_SMALL, @BACKWARDS, @NO_MODE, @SEVERAL, @TOO_MANY, @STORM, @IMPACT, @NOT_MET, @NOT_SETTLED, @ALONG, @UNDECIDED, @NO_NUMBER };

)";
  if (facts.switches)
    out += fmt::format(
        R"(/* What changes on the way: contacts (open, holding, sticking, sliding), rows that are engaged, modes. */
typedef struct {{
  int status[@CONTACTS + 1];
  double direction[@CONTACTS + 1][2], sign[@CONTACTS + 1], mode[@MODES + 1];
  char engaged[{0}], armed[@GUARDS + 1];
}} @modes;

/* An order of elimination: how many rows, pivots by row and column, which rows and columns each of them touches. */
typedef struct {{
  int size, rank;
  double scale[{1}];
  unsigned char row[{1}], col[{1}], there[{1}*{1}];
  short first[2*{1} + 1];
}} @order;

)",
        facts.m() + 1, facts.n() + facts.m() + facts.num_slips);
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
  double side[@SWITCHES + 1], level[@SWITCHES + 1], floor[@SWITCHES + 1]; /* of what switches: sides that are held, and below what they are not told */
  double t_first, span, turns_since;
  long steps, storm, turns;
  int status, goes_on;
{7}{1}{5}}} @motion;

/* Everything that is known at a state. */
typedef struct {{
  double a[@COORDINATES], force[@COORDINATES], control[@COORDINATES], lambda[@ROWS + 1], normal[@CONTACTS + 1], friction[@SLIPS + 1];
  double tau[@ACTUATORS + 1], error[@REQUIREMENTS + 1], cost;      /* of control: efforts, errors of requirements */
  double rates[@STATES + 1], outputs[@OUTPUTS + 1], inputs[@INPUTS + 1], energies[2], events[@EVENTS + 1], guards[@GUARDS + 1];
  double switches[@SWITCHES + 1];                                   /* positive on the sides that are held */
}} @instant;

void @parameters(double *p);                                        /* their values in the model; an input that is an expression is not a number until it is set */
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
      facts.num_motion(),
      facts.switches ? "  @modes d;\n  @order order[3]; /* of accelerations and projections, as long as contacts do "
                       "what they do */\n  int ordered;\n"
                     : "",
      facts.has_events()
          ? "int @happen(@motion *, const double *p);                           /* what ends or happens "
            "at the state of now, and */\n"
            "int @completed(@motion *, const double *p);                        /* whether something "
            "does: for integrators of one's own */\n" +
                std::string(
                    facts.sides.empty()
                        ? ""
                        : "double @next_look(const @motion *, const double *p);               /* the same: a time "
                          "not to be stepped beyond, and */\n"
                          "int @missed(const @motion *before, const @motion *, const double *p); /* whether a step "
                          "has passed a switch and come back */\n")
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
                          : "",
      facts.leaps() ? fmt::format("  double t_last, last[{}], sine, t_sine; /* of a step that ended beyond the time "
                                  "asked for; of rows */\n"
                                  "  int beyond;\n",
                                  facts.num_motion())
                    : "");
  return out;
}

std::string c_names(const CFacts& facts) {
  std::vector<std::string> coordinates, rows, parameters, events, contacts, actuators;
  for (const int i : facts.coordinates) coordinates.push_back(facts.system.coordinate(i));
  for (const int j : facts.rows) rows.push_back(facts.system.row_name(j));
  for (std::size_t i = 0; i < facts.model.parameters.size(); ++i)
    parameters.push_back(!facts.open_input[i].empty() ? facts.open_input[i]
                         : facts.is_flag[i]           ? "#" + facts.model.parameters[i].name
                                                      : facts.model.parameters[i].name);
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

}  // namespace mechanician
