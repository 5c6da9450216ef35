#include "mechanician/exports/c_model.hpp"

#include <fmt/format.h>

#include <cctype>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/step_program.hpp"
#include "mechanician/compile/violation_program.hpp"
#include "mechanician/exports/c_printer.hpp"
#include "mechanician/exports/c_runtime.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "mechanician/motion/dop853_tableau.hpp"

namespace mechanician {

namespace {

constexpr std::size_t longest_step_program = 1500;
constexpr std::size_t most_solved_generally = 120;  // coordinates and rows: the matrix lies on the stack

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(fmt::format("the model cannot be exported as C: {}", what));
}

void refuse_what_c_cannot(const System& system) {
  if (system.kernels())
    refuse(fmt::format("it has {} coordinates; straight-line code is for smaller models", system.n()));
  const Equations& eqs = system.equations();
  if (!eqs.contacts.empty())
    refuse(fmt::format("`{}` is one-sided or has friction, which changes the equations on the way",
                       system.row_name(eqs.contacts.front().row)));
  if (!eqs.measured.empty())
    refuse(fmt::format("`{}` is measured: weighted rows need orthogonal factorisations",
                       system.row_name(eqs.measured.front())));
  if (eqs.num_control() > 0)
    refuse(fmt::format("`{}` is a control requirement", system.row_name(eqs.num_constraints())));
  if (!eqs.unknowns.empty()) refuse("it has functions without a value");
  if (!eqs.states.empty())
    refuse(fmt::format("`{}` is a state of first order", system.coordinate(eqs.states.front().coordinate)));
  if (system.is_staged()) refuse("its events release, engage or set something, which changes the equations on the way");
  if (!system.model().tables.empty()) refuse("it has tables of data");
}

/// Names as a C array of texts.
std::string names_array(std::string_view what, const std::vector<std::string>& names) {
  std::string out = fmt::format("const char *const @{}[] = {{", what);
  for (const std::string& name : names) {
    std::string quoted;
    for (const char c : name) quoted += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
    out += fmt::format("\"{}\", ", quoted);
  }
  return out + "0};\n";
}

class CWriter {
 public:
  CWriter(const System& system, const State& start, std::string name)
      : system_(system), eqs_(system.equations()), name_(std::move(name)), prefix_(name_ + "_") {
    std::string why;
    const auto found = find_program_options(system, start, {.parameters_as_inputs = true}, why);
    if (!found) refuse(why);
    options_ = *found;
    for (const RowTraits& row : eqs_.rows) constraint_texts_.push_back(row.text);
  }

  CSources write() {
    make_acceleration();
    make_values();
    make_projections();
    make_functions();
    make_steps();
    CSources made;
    made.header = with_prefix(header(), prefix_);
    made.source = with_prefix(preamble(), prefix_) + c_operators(prefix_, code_) + code_ + with_prefix(tail(), prefix_);
    return made;
  }

 private:
  int n() const { return eqs_.n(); }
  int m() const { return eqs_.m(); }
  std::size_t num_inputs() const { return 1 + 2 * static_cast<std::size_t>(n()) + eqs_.parameters.size(); }
  void add(const Program& program, std::string_view name) {
    code_ += c_function(program, prefix_ + std::string(name), prefix_);
  }
  void add_text(std::string_view text) { code_ += with_prefix(text, prefix_); }

  void make_acceleration() {
    AccelerationOptions wanted;
    static_cast<ProgramOptions&>(wanted) = options_;
    wanted.multipliers = true;
    AccelerationProgramResult made = make_acceleration_program(eqs_, wanted);
    if (!made.made) refuse(made.reason);
    acceleration_ = std::move(*made.made);
    add(acceleration_.program, "straight");
  }

  /// M, A, Q + C and b, for where pivots are not to be trusted, and for forces.
  void make_values() {
    std::vector<Expr> values;
    for (const auto& e : eqs_.M.entries) values.push_back(e.value);
    for (const auto& e : eqs_.A.entries) values.push_back(e.value);
    values.insert(values.end(), eqs_.Q.begin(), eqs_.Q.end());
    values.insert(values.end(), eqs_.b.begin(), eqs_.b.end());
    bool needs_reactions = false;
    for (const Expr& c : eqs_.C)
      needs_reactions |= c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
    can_solve_generally_ =
        !needs_reactions && static_cast<std::size_t>(n()) + static_cast<std::size_t>(m()) <= most_solved_generally;
    const bool with_C = eqs_.has_C && !needs_reactions;
    if (with_C) values.insert(values.end(), eqs_.C.begin(), eqs_.C.end());
    num_values_ = values.size();
    add(make_values_program(eqs_, options_, values), "values");
    const std::size_t at_A = eqs_.M.entries.size(), at_Q = at_A + eqs_.A.entries.size(), at_b = at_Q + eqs_.Q.size(),
                      at_C = at_b + eqs_.b.size();
    const int width = n() + m() + 1;
    if (can_solve_generally_) {
      std::string text = "static void @fill(const double *values, double *K)\n{\n";
      for (std::size_t k = 0; k < eqs_.M.entries.size(); ++k) {
        const auto& e = eqs_.M.entries[k];
        text += fmt::format("  K[{}] = values[{}];\n", e.row * width + e.col, k);
      }
      for (std::size_t k = 0; k < eqs_.A.entries.size(); ++k) {
        const auto& e = eqs_.A.entries[k];
        text += fmt::format("  K[{}] = K[{}] = values[{}];\n", (n() + e.row) * width + e.col,
                            e.col * width + n() + e.row, at_A + k);
      }
      for (int i = 0; i < n(); ++i)
        text += fmt::format("  K[{}] = values[{}]{};\n", i * width + n() + m(), at_Q + static_cast<std::size_t>(i),
                            with_C ? fmt::format(" + values[{}]", at_C + static_cast<std::size_t>(i)) : "");
      for (int j = 0; j < m(); ++j)
        text +=
            fmt::format("  K[{}] = values[{}];\n", (n() + j) * width + n() + m(), at_b + static_cast<std::size_t>(j));
      add_text(text + "}\n");
      add_text(fmt::format("enum {{ @NUM_VALUES = {} }};\n", num_values_));
      add_text(c_general_solver());
    }
    // Qc = M a − Q, which is the ideal and the non-ideal part together.
    std::string text = "static void @force_of(const double *x, const double *a, double *force)\n{\n";
    text += fmt::format("  double values[{}];\n  @values(x, values);\n", std::max<std::size_t>(num_values_, 1));
    std::vector<std::string> lines(static_cast<std::size_t>(n()));
    for (std::size_t k = 0; k < eqs_.M.entries.size(); ++k) {
      const auto& e = eqs_.M.entries[k];
      lines[static_cast<std::size_t>(e.row)] += fmt::format(" + values[{}]*a[{}]", k, e.col);
    }
    for (int i = 0; i < n(); ++i)
      text += fmt::format("  force[{}] = -values[{}]{};\n", i, at_Q + static_cast<std::size_t>(i),
                          lines[static_cast<std::size_t>(i)]);
    add_text(text + "}\n");
    add_text(fmt::format(R"(
int @acceleration(double t, const double *q, const double *v, const double *p, double *a, double *force, double *lambda)
{{
  double x[{0}], y[{1}]{2};
  int i;
  x[0] = t;
  for (i = 0; i < @COORDINATES; ++i) x[1 + i] = q[i], x[1 + @COORDINATES + i] = v[i];
  for (i = 0; i < @PARAMETERS; ++i) x[1 + 2*@COORDINATES + i] = p[i];
  @straight(x, y);
  if (y[{3}] > 0) {{
    for (i = 0; i < @COORDINATES; ++i) a[i] = y[i];
    if (lambda) for (i = 0; i < @ROWS; ++i) lambda[i] = y[{4} + i];
  }} else {{
{5}  }}
  if (force) @force_of(x, a, force);
  return 0;
}}
)",
                         num_inputs(), acceleration_.program.num_outputs(),
                         can_solve_generally_ ? fmt::format(", other[{}]", std::max(1, m())) : "",
                         acceleration_.at_vouch, acceleration_.at_multipliers,
                         can_solve_generally_
                             ? "    const int status = @solve_generally(x, a, lambda ? lambda : other);\n"
                               "    if (status) return status;\n"
                             : "    return @NOT_VOUCHED;\n"));
  }

  void make_projection(ProjectionOf what, std::string_view which, std::string_view moved) {
    const ProjectionProgramResult made = make_projection_program(eqs_, what, options_);
    if (!made.made) {
      add_text(
          fmt::format("static int @project_{}(double t, double *q, double *v, const double *p)\n"
                      "{{\n  (void)t, (void)q, (void)v, (void)p;\n  return 0;\n}}\n",
                      which));
      return;
    }
    add(made.made->program, fmt::format("nearer_{}", which));
    add_text(fmt::format(R"(
static int @project_{0}(double t, double *q, double *v, const double *p)
{{
  double x[{2}], y[{3}], last = INFINITY;
  int i, k;
  for (k = 0; k < 12; ++k) {{
    double change = 0, size = 0;
    x[0] = t;
    for (i = 0; i < @COORDINATES; ++i) x[1 + i] = q[i], x[1 + @COORDINATES + i] = v[i];
    for (i = 0; i < @PARAMETERS; ++i) x[1 + 2*@COORDINATES + i] = p[i];
    @nearer_{0}(x, y);
    if (!(y[{4}] > 0)) return @NOT_VOUCHED;
    for (i = 0; i < @COORDINATES; ++i) {{
      {1}[i] += y[i];
      if (fabs(y[i]) > change) change = fabs(y[i]);
      if (fabs({1}[i]) > size) size = fabs({1}[i]);
    }}
    if (change <= 4e-16*size || (k > 0 && change >= 0.5*last && change <= 1e-12*size)) return 0;
    last = change;
  }}
  return @NOT_PROJECTED;
}}
)",
                         which, moved, num_inputs(), made.made->program.num_outputs(), made.made->at_vouch));
  }

  void make_projections() {
    make_projection(ProjectionOf::positions, "positions", "q");
    make_projection(ProjectionOf::velocities, "velocities", "v");
  }

  /// A function of the state: static void @NAME_values(x, y), and what the header has of it.
  void make_function(std::string_view name, const std::vector<Expr>& functions) {
    add(make_values_program(eqs_, options_, functions), fmt::format("{}_values", name));
    add_text(fmt::format(R"(
void @{0}(double t, const double *q, const double *v, const double *p, double *values)
{{
  double x[{1}];
  int i;
  x[0] = t;
  for (i = 0; i < @COORDINATES; ++i) x[1 + i] = q[i], x[1 + @COORDINATES + i] = v[i];
  for (i = 0; i < @PARAMETERS; ++i) x[1 + 2*@COORDINATES + i] = p[i];
  @{0}_values(x, values);
}}
)",
                         name, num_inputs()));
  }

  void make_functions() {
    const Model& model = system_.model();
    std::vector<Expr> residuals;
    for (const Row& row : eqs_.rows) {
      residuals.push_back(row.level == Level::acceleration ? Expr(0.0) : row.residual);
      residuals.push_back(row.rate);
    }
    if (residuals.empty()) residuals.emplace_back(0.0);
    make_function("residuals", residuals);
    Expr kinetic = 0.0;
    for (const auto& e : eqs_.M.entries)
      kinetic = kinetic + Expr(0.5) * e.value * eqs_.qd[static_cast<std::size_t>(e.row)] *
                              eqs_.qd[static_cast<std::size_t>(e.col)];
    make_function("energies", {model.kinetic.value_or(kinetic), model.potential.value_or(Expr(0.0))});
    std::vector<Expr> events;
    constexpr KindSet too_much =
        kind_bit(SymbolKind::acceleration) | kind_bit(SymbolKind::ideal_force) | kind_bit(SymbolKind::multiplier);
    for (const Event& event : model.events) {
      if ((event.when.kinds() & too_much) != 0)
        refuse(fmt::format("the event `{}` depends on accelerations or forces", event.name));
      events.push_back(event.when);
      event_names_.push_back(event.name);
    }
    if (events.empty()) events.emplace_back(0.0);
    make_function("events", events);
    std::vector<Expr> start;
    for (const auto* values : {&model.start.position, &model.start.velocity})
      for (const Coordinate& c : model.coordinates) {
        const auto found = values->find(c.name);
        start.push_back(found == values->end() ? Expr(0.0) : found->second);
      }
    start.push_back(model.start.time);
    make_function("start", start);
  }

  void make_steps() {
    add_text(fmt::format("static const double @c[16] = {};\n", list(dop853::c, 16)));
    add_text("static const double @a[16][16] = {\n");
    for (const auto& row : dop853::a) add_text(fmt::format("  {},\n", list(row, 16)));
    add_text(fmt::format("}};\nstatic const double @e5[12] = {};\nstatic const double @b3[3] = {};\n",
                         list(dop853::e5, 12), list(dop853::b3, 3)));
    add_text("static const double @d[4][16] = {\n");
    for (const auto& row : dop853::d) add_text(fmt::format("  {},\n", list(row, 16)));
    add_text("};\n");
    const StepProgramResult step = make_step_program(eqs_, options_);
    const bool written = step.made && step.made->program.steps.size() <= longest_step_program;
    add_text(c_classical_step());
    if (written) {
      add(step.made->program, "step_program");
      add_text(fmt::format(R"(
int @step_rk4(@motion *m, const double *p, double h)
{{
  double x[{0}], y[{1}];
  int i, status;
  x[0] = m->t, x[1] = h;
  for (i = 0; i < @COORDINATES; ++i) x[2 + i] = m->q[i], x[2 + @COORDINATES + i] = m->v[i];
  for (i = 0; i < @PARAMETERS; ++i) x[2 + 2*@COORDINATES + i] = p[i];
  @step_program(x, y);
  if (!(y[{2}] > 0) && (status = @rk4(m->t, h, m->q, m->v, p, y, y + @COORDINATES)) != 0) return status;
  for (i = 0; i < @COORDINATES; ++i) m->q[i] = y[i], m->v[i] = y[@COORDINATES + i];
  m->t += h;
  return 0;
}}
)",
                           num_inputs() + 1, step.made->program.num_outputs(), step.made->at_vouch()));
    } else {
      add_text(R"(
int @step_rk4(@motion *m, const double *p, double h)
{
  double y[2*@COORDINATES];
  int i;
  const int status = @rk4(m->t, h, m->q, m->v, p, y, y + @COORDINATES);
  if (status) return status;
  for (i = 0; i < @COORDINATES; ++i) m->q[i] = y[i], m->v[i] = y[@COORDINATES + i];
  m->t += h;
  return 0;
}
)");
    }
    add_text(c_adaptive_step());
  }

  static std::string list(const double* values, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + c_number(values[i]);
    return text + "}";
  }

  std::string preamble() const {
    return fmt::format(
        "/* {} */\n/* Made by mechanician {}. C99; needs libm, nothing else. Compile with -ffp-contract=off for the "
        "bits of the "
        "engine. */\n\n#include \"{}.h\"\n\n#include <math.h>\n\n",
        comment(system_.title()), MECHANICIAN_VERSION, name_);
  }

  /// Nothing of the model can end a comment.
  static std::string comment(const std::string& text) {
    std::string out;
    for (const char c : text) out += (c == '*' || c == '/' || static_cast<unsigned char>(c) < 32) ? ' ' : c;
    return out;
  }

  std::string tail() const {
    std::string out = fmt::format(R"(
void @parameters(double *p)
{{
  (void)p;
)");
    for (std::size_t i = 0; i < system_.parameters().size(); ++i)
      out += fmt::format("  p[{}] = {};\n", i, c_number(system_.parameters()[i]));
    out += R"(}

void @begin(@motion *m, const double *p, double tolerance)
{
  static const double nothing[@COORDINATES];
  double values[2*@COORDINATES + 1];
  const @motion zero = {0};
  int i;
  *m = zero;
  @start(0, nothing, nothing, p, values);
  for (i = 0; i < @COORDINATES; ++i) m->q[i] = values[i], m->v[i] = values[@COORDINATES + i];
  m->t = m->t_begin = values[2*@COORDINATES];
  m->tolerance = tolerance > 1e-15 ? tolerance : 1e-15;
  @note_sizes(m);
}

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
    default: return "no such status";
  }
}

)";
    std::vector<std::string> coordinates, rows, parameters;
    for (int i = 0; i < n(); ++i) coordinates.push_back(system_.coordinate(i));
    for (int j = 0; j < m(); ++j) rows.push_back(system_.row_name(j));
    for (const Parameter& p : system_.model().parameters) parameters.push_back(p.name);
    return out + names_array("coordinate_names", coordinates) + names_array("row_names", rows) +
           names_array("parameter_names", parameters) + names_array("event_names", event_names_);
  }

  std::string header() const {
    std::string guard = name_ + "_H";
    return fmt::format(R"(/* {0} */
/* Made by mechanician {1}. */
#ifndef {2}
#define {2}

#define @COORDINATES {3}
#define @ROWS {4}
#define @PARAMETERS {5}
#define @INPUTS 0
#define @STATES 0
#define @EVENTS {6}

#ifdef __cplusplus
extern "C" {{
#endif

/* 0 is success. */
enum {{ @NOT_FINITE = 1, @CONTRADICTION, @NOT_UNIQUE, @NOT_VOUCHED, @NOT_PROJECTED, @STEP_TOO_SMALL, @BACKWARDS }};

typedef struct {{
  double t, q[@COORDINATES], v[@COORDINATES];
  /* What steps need; the last step began at t_begin. */
  double tolerance, h, t_begin;
  double y[2*@COORDINATES], k[16][2*@COORDINATES], dense[2*@COORDINATES][7], size[2*@COORDINATES];
  long steps;
}} @motion;

void @parameters(double *p);                                        /* their values in the model */
void @begin(@motion *, const double *p, double tolerance);         /* the model's start */
int @acceleration(double t, const double *q, const double *v, const double *p, double *a, double *force, double *lambda); /* force, lambda: may be null */
int @project(@motion *, const double *p);                          /* onto the constraints, least in the mass norm */
int @step(@motion *, const double *p, double to);                  /* one adaptive step, not beyond `to` */
int @step_rk4(@motion *, const double *p, double h);
void @dense(const @motion *, double t, double *q, double *v);      /* within the last step */
void @residuals(double t, const double *q, const double *v, const double *p, double *values); /* two for each row: it and its rate */
void @energies(double t, const double *q, const double *v, const double *p, double *values);  /* kinetic, potential */
void @events(double t, const double *q, const double *v, const double *p, double *values);
void @start(double t, const double *q, const double *v, const double *p, double *values);     /* positions, velocities, time */
const char *@status_text(int);
extern const char *const @coordinate_names[], *const @row_names[], *const @parameter_names[], *const @event_names[];

#ifdef __cplusplus
}}
#endif

#endif
)",
                       comment(system_.title()), MECHANICIAN_VERSION, guard, n(), m(), system_.parameters().size(),
                       event_names_.size());
  }

  const System& system_;
  const Equations& eqs_;
  std::string name_, prefix_;
  ProgramOptions options_;
  AccelerationProgram acceleration_;
  std::size_t num_values_ = 0;
  bool can_solve_generally_ = false;
  std::vector<std::string> constraint_texts_, event_names_;
  std::string code_;
};

}  // namespace

std::string c_name_of(const std::string& file) {
  std::string name = file.substr(file.find_last_of('/') + 1);
  name = name.substr(0, name.find_last_of('.'));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(name.begin(), '_');
  return name;
}

CSources export_c(const System& system, const State& start, const std::string& name) {
  refuse_what_c_cannot(system);
  return CWriter(system, start, name).write();
}

}  // namespace mechanician
