#include "mechanician/exports/c_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/step_program.hpp"
#include "mechanician/exports/c_interface.hpp"
#include "mechanician/exports/c_printer.hpp"
#include "mechanician/exports/c_runtime.hpp"
#include "mechanician/exports/c_tangent.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "mechanician/motion/dop853_tableau.hpp"

namespace mechanician {

namespace {

constexpr std::size_t longest_step_program = 1500;
constexpr int most_solved_generally = 120;  // coordinates, rows and slips: the matrix lies on the stack

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(fmt::format("the model cannot be exported as C: {}", what));
}

/// `text` with words replaced.
std::string with(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> words) {
  std::string out(text);
  for (const auto& [word, by] : words)
    for (std::size_t at = out.find(word); at != std::string::npos; at = out.find(word, at + by.size()))
      out.replace(at, word.size(), by);
  return out;
}

template <class Values, class Text>
std::string list(const Values& values, Text&& text) {
  std::string out = "{";
  std::size_t line = 0;
  for (const auto& v : values) {
    const std::string item = text(v) + ", ";
    out += item, line += item.size();
    if (line > 140) out += "\n  ", line = 0;
  }
  return out + "0}";
}

std::string integers(const std::vector<int>& values) {
  return list(values, [](int v) { return fmt::format("{}", v); });
}

std::string numbers(const double* values, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + c_number(values[i]);
  return text + "}";
}

class CWriter {
 public:
  CWriter(const CFacts& facts, std::string name, bool tangents)
      : facts_(facts), eqs_(facts.eqs), name_(std::move(name)), prefix_(name_ + "_"), tangents_(tangents) {
    for (const Expr& c : eqs_.C)
      needs_reactions_ |= c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
    largest_ = facts.n() + facts.m() + facts.num_slips;
    solves_generally_ = largest_ <= most_solved_generally;
    if (facts.switches && !solves_generally_)
      refuse(fmt::format("{} coordinates, constraints and slips are more than {}, and some of them change on the way",
                         largest_, most_solved_generally));
    if (!facts.switches) {
      std::string why;
      const auto found = find_program_options(facts.system, facts.start, {.parameters_as_inputs = true}, why);
      if (!found && !solves_generally_) refuse(why);
      if (found) options_ = *found, has_program_ = true;
    }
    extended_ = options_;
    extended_.sides = facts.extensions;
  }

  CSources write() {
    make_facts();
    make_pack();
    make_numbers();
    make_solvers();
    make_functions();
    make_motion();
    make_interface();
    CSources made;
    made.has_tangents = make_tangents();
    made.header = with_prefix(c_header(facts_, name_, made.has_tangents), prefix_);
    made.source = with_prefix(c_preamble(facts_, name_), prefix_) + c_operators(prefix_, code_) +
                  with_prefix(tables_.code(), prefix_) + code_ + with_prefix(c_names(facts_), prefix_);
    return made;
  }

 private:
  int n() const { return facts_.n(); }
  int m() const { return facts_.m(); }
  std::size_t num_inputs() const { return 1 + 2 * static_cast<std::size_t>(n()) + eqs_.parameters.size(); }
  bool has_events() const { return facts_.switches || !facts_.events.empty(); }
  /// Whether there is something to project onto.
  bool projects() const {
    return std::any_of(facts_.levels.begin(), facts_.levels.end(),
                       [](CFacts::Level l) { return l == CFacts::position || l == CFacts::velocity; });
  }
  std::string mode_values() const { return facts_.switches ? "m->d.mode" : "0"; }

  void add(const Program& program, std::string_view name) {
    code_ += c_function(program, prefix_ + std::string(name), prefix_, &tables_);
  }
  void add_text(std::string_view text) { code_ += with_prefix(text, prefix_); }
  void add_function(std::string_view name, std::vector<Expr> functions, const ProgramOptions& options) {
    if (functions.empty()) functions.emplace_back(0.0);
    add(make_values_program(eqs_, options, functions), name);
  }

  /// Sizes, and what rows and contacts are.
  void make_facts() {
    std::vector<int> levels, control, contact_at(static_cast<std::size_t>(m()), -1),
        states(static_cast<std::size_t>(n()), 0);
    for (const CFacts::Level level : facts_.levels)
      levels.push_back(level), control.push_back(level == CFacts::control);
    for (std::size_t c = 0; c < facts_.contacts.size(); ++c)
      contact_at[static_cast<std::size_t>(facts_.contacts[c].row)] = static_cast<int>(c);
    for (const StateRow& z : eqs_.states) states[static_cast<std::size_t>(z.coordinate)] = 1;
    add_text(fmt::format("enum {{ @N = {}, @R = {}, @X = {}, @Y = {}, @LARGEST = {}, @HAS_C = {} }};\n", n(), m(),
                         num_inputs(), facts_.num_motion(), largest_, eqs_.has_C ? 1 : 0));
    add_text(fmt::format("static const int @at_coordinate[] = {};\n", integers(facts_.coordinates)));
    add_text(fmt::format("static const int @at_row[] = {};\n", integers(facts_.rows)));
    if (solves_generally_ && (projects() || facts_.switches))
      add_text(fmt::format("static const char @is_state[] = {};\nstatic const int @row_level[] = {};\n",
                           integers(states), integers(levels)));
    if (facts_.switches) {
      add_text(fmt::format("static const char @is_control[] = {};\nstatic const int @contact_at[] = {};\n",
                           integers(control), integers(contact_at)));
      add_text(
          "static const struct { int row, one_sided, velocity, bare, first, slips, limited, guard; } @contact[] = {\n");
      for (const CFacts::Contact& c : facts_.contacts)
        add_text(fmt::format("  {{{}, {:d}, {:d}, {:d}, {}, {}, {:d}, {}}},\n", c.row, c.one_sided, c.of_velocity,
                             c.bare, c.first_slip, c.num_slips, c.limited, c.first_guard));
      add_text("  {0, 0, 0, 0, 0, 0, 0, 0}};\nenum { @OPEN, @HOLDS, @STICKS, @SLIDES };\n");
    }
    if (has_events()) {
      add_text("static const struct { int direction, stops; } @event_fact[] = {");
      for (const Event& e : facts_.model.events)
        add_text(fmt::format("{{{}, {:d}}}, ",
                             e.direction == EventDirection::up     ? 1
                             : e.direction == EventDirection::down ? -1
                                                                   : 0,
                             e.action == EventAction::stop));
      add_text("{0, 0}};\n");
    }
    code_ += "\n";
  }

  /// The inputs of all programs: [t | q | q̇ | parameters], with the rates of states in the places of their velocities.
  void make_pack() {
    std::vector<Expr> rates;
    for (int k = facts_.num_coordinates; k < n(); ++k)
      for (const StateVariable& z : facts_.model.states)
        if (z.name == facts_.system.coordinate(facts_.coordinates[static_cast<std::size_t>(k)]))
          rates.push_back(z.rate);
    if (facts_.num_states > 0) add_function("rates_values", rates, plain_);
    std::string text = R"(
static void @pack(double t, const double *q, const double *v, const double *p, const double *mode, double *x)
{
  int i;
  x[0] = t;
  for (i = 0; i < @N; ++i) x[1 + @at_coordinate[i]] = q[i];
  for (i = 0; i < @COORDINATES; ++i) x[1 + @N + @at_coordinate[i]] = v[i];
  for (i = 0; i < @PARAMETERS; ++i) x[1 + 2*@N + i] = p[i];
  (void)mode;
)";
    for (std::size_t k = 0; k < facts_.modes.size(); ++k)
      text += fmt::format("  if (mode) x[{}] = mode[{}];\n", 1 + 2 * n() + facts_.modes[k], k);
    if (facts_.num_states > 0)
      text += R"(  {
    double rates[@STATES];
    for (i = @COORDINATES; i < @N; ++i) x[1 + @N + @at_coordinate[i]] = 0;
    @rates_values(x, rates);
    for (i = @COORDINATES; i < @N; ++i) x[1 + @N + @at_coordinate[i]] = rates[i - @COORDINATES];
  }
)";
    add_text(text + "}\n\n");
  }

  /// M, A, Q, b and what contacts say beyond: where pivots are not to be trusted, for forces, and for what changes on the way.
  void make_numbers() {
    std::vector<Expr> values;
    std::vector<int> M_at, A_at, T_at;
    for (const auto& e : eqs_.M.entries) values.push_back(e.value), M_at.push_back(e.row * n() + e.col);
    for (const auto& e : eqs_.A.entries) values.push_back(e.value), A_at.push_back(e.row * n() + e.col);
    values.insert(values.end(), eqs_.Q.begin(), eqs_.Q.end());
    values.insert(values.end(), eqs_.b.begin(), eqs_.b.end());
    const bool with_C = eqs_.has_C && !needs_reactions_;
    if (with_C) values.insert(values.end(), eqs_.C.begin(), eqs_.C.end());
    const std::size_t num_plain = values.size();
    std::vector<Expr> slip_b, slip, friction, restitution;
    for (std::size_t c = 0; c < eqs_.contacts.size(); ++c) {
      const ContactRow& contact = eqs_.contacts[c];
      for (const auto& e : contact.T.entries) {
        values.push_back(e.value);
        T_at.push_back((facts_.contacts[c].first_slip + e.row) * n() + e.col);
      }
      slip_b.insert(slip_b.end(), contact.slip_b.begin(), contact.slip_b.end());
      slip.insert(slip.end(), contact.slip.begin(), contact.slip.end());
      friction.push_back(contact.friction), restitution.push_back(contact.restitution);
    }
    for (const auto* part : {&slip_b, &slip, &friction, &restitution})
      values.insert(values.end(), part->begin(), part->end());
    add_function("values", values, plain_);
    std::vector<Expr> residuals;
    for (const Row& row : eqs_.rows) {
      residuals.push_back(row.level == Level::acceleration ? Expr(0.0) : row.residual);
      residuals.push_back(row.rate);
    }
    add_function("residuals_values", residuals, plain_);
    const std::size_t num_M = M_at.size(), num_A = A_at.size(), num_T = T_at.size();
    add_text(fmt::format("static const int @M_at[] = {};\nstatic const int @A_at[] = {};\n", integers(M_at),
                         integers(A_at)));
    if (facts_.switches) add_text(fmt::format("static const int @T_at[] = {};\n", integers(T_at)));
    // C is Q + C, as far as it is known before the forces are.
    add_text(fmt::format(
        "typedef struct {{\n  double M[@N*@N], A[@R*@N + 1], Q[@N], b[@R + 1], C[@N];\n{}}} @numbers;\n",
        facts_.switches ? "  double T[@SLIPS*@N + 1], slip_b[@SLIPS + 1], slip[@SLIPS + 1], friction[@CONTACTS + 1], "
                          "restitution[@CONTACTS + 1], residual[@R + 1], rate[@R + 1];\n"
                        : ""));
    std::string text = fmt::format(R"(
static int @number(const double *x, @numbers *s)
{{
  double y[{0}];
  int i;
  @values(x, y);
  for (i = 0; i < {0}; ++i) if (!isfinite(y[i])) return @NOT_FINITE;
  for (i = 0; i < @N*@N; ++i) s->M[i] = 0;
  for (i = 0; i < @R*@N; ++i) s->A[i] = 0;
  for (i = 0; i < {1}; ++i) s->M[@M_at[i]] = y[i];
  for (i = 0; i < {2}; ++i) s->A[@A_at[i]] = y[{1} + i];
  for (i = 0; i < @N; ++i) s->Q[i] = s->C[i] = y[{3} + i];
  for (i = 0; i < @R; ++i) s->b[i] = y[{3} + @N + i];
)",
                                   std::max<std::size_t>(values.size(), 1), num_M, num_A, num_M + num_A);
    if (with_C) text += fmt::format("  for (i = 0; i < @N; ++i) s->C[i] += y[{} + @N + @R + i];\n", num_M + num_A);
    if (facts_.switches)
      text += fmt::format(R"(  for (i = 0; i < @SLIPS*@N; ++i) s->T[i] = 0;
  for (i = 0; i < {0}; ++i) s->T[@T_at[i]] = y[{1} + i];
  for (i = 0; i < @SLIPS; ++i) s->slip_b[i] = y[{2} + i], s->slip[i] = y[{2} + @SLIPS + i];
  for (i = 0; i < @CONTACTS; ++i) s->friction[i] = y[{2} + 2*@SLIPS + i], s->restitution[i] = y[{2} + 2*@SLIPS + @CONTACTS + i];
  for (i = 0; i < @CONTACTS; ++i) if (!(s->friction[i] >= 0 && s->restitution[i] >= 0 && s->restitution[i] <= 1)) return @NOT_FINITE;
  {{
    double both[2*@R + 1];
    @residuals_values(x, both);
    for (i = 0; i < 2*@R; ++i) if (!isfinite(both[i])) return @NOT_FINITE;
    for (i = 0; i < @R; ++i) s->residual[i] = both[2*i], s->rate[i] = both[2*i + 1];
  }}
)",
                          num_T, num_plain, num_plain + num_T);
    add_text(text + "  return 0;\n}\n");
  }

  std::string with_contacts(std::string_view text) const {
    std::string out(text);
    for (const char* place :
         {"CONTACTS_ARGUMENT", "CONTACTS_SIZES", "CONTACTS_COUNT", "CONTACTS_FILL", "CONTACTS_TAKE"})
      out = with(out, {{place, facts_.switches ? std::string(c_row_contacts(place)) : ""}});
    return out;
  }

  void make_solvers() {
    if (solves_generally_) {
      add_text(c_elimination());
      add_text(with_contacts(c_rows()));
    }
    if (facts_.switches) {
      add_text(c_sizes());
      add_text(c_floor());
      add_text(c_contact_law());
      return;
    }
    if (has_program_) {
      AccelerationOptions wanted;
      static_cast<ProgramOptions&>(wanted) = options_;
      wanted.multipliers = true;
      AccelerationProgramResult made = make_acceleration_program(eqs_, wanted);
      if (made.made) acceleration_ = std::move(*made.made);
      if (!made.made && !solves_generally_) refuse(made.reason);
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
      text += fmt::format(R"(  double y[{}];
  int i;
  @straight(x, y);
  if (y[{}] > 0) {{
    for (i = 0; i < @N; ++i) a[i] = y[i];
    for (i = 0; i < @R; ++i) lambda[i] = y[{} + i];
    return 0;
  }}
)",
                          acceleration_.program.num_outputs(), acceleration_.at_vouch, acceleration_.at_multipliers);
    add_text(text +
             (solves_generally_ ? "  return @solve_generally(x, a, lambda);\n}\n" : "  return @NOT_VOUCHED;\n}\n"));
  }

  void make_general_solver() {
    if (needs_reactions_) {
      ProgramOptions sides = plain_;
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
  }

  void make_functions() {
    const Model& model = facts_.model;
    Expr kinetic = 0.0;
    for (const auto& e : eqs_.M.entries)
      kinetic = kinetic + Expr(0.5) * e.value * eqs_.qd[static_cast<std::size_t>(e.row)] *
                              eqs_.qd[static_cast<std::size_t>(e.col)];
    add_function("energy_values", {model.kinetic.value_or(kinetic), model.potential.value_or(Expr(0.0))}, plain_);
    add_function("output_values", facts_.outputs, extended_plain());
    add_function("event_values", facts_.events, extended_plain());
    for (std::size_t e = 0; e < model.events.size(); ++e)
      for (std::size_t k = 0; k < model.events[e].changes.size(); ++k)
        if (model.events[e].changes[k].what == EventChange::What::set)
          add_function(fmt::format("change{}_{}", e, k), {model.events[e].changes[k].value}, extended_plain());
    std::vector<Expr> start;
    for (const auto* values : {&model.start.position, &model.start.velocity})
      for (int i = 0; i < (values == &model.start.position ? n() : facts_.num_coordinates); ++i) {
        const int at = facts_.coordinates[static_cast<std::size_t>(i)];
        const auto found = values->find(facts_.system.coordinate(at));
        const double number = values == &model.start.position ? facts_.start.q(at) : facts_.start.qd(at);
        start.push_back(!facts_.starts_as_stated ? Expr(number) : found == values->end() ? Expr(0.0) : found->second);
      }
    start.push_back(facts_.starts_as_stated ? model.start.time : Expr(facts_.start.t));
    add_function("start_values", start, plain_);
    std::vector<Expr> derived;
    for (std::size_t i = 0; i < facts_.derived.size(); ++i)
      if (facts_.is_derived[i]) derived.push_back(facts_.derived[i]);
    if (!derived.empty()) add_function("derived_values", derived, plain_);
  }

  ProgramOptions extended_plain() const {
    ProgramOptions options = plain_;
    options.sides = facts_.extensions;
    return options;
  }

  /// Projection by straight-line code, with the general one behind it.
  void make_projection(ProjectionOf what, std::string_view which, std::string_view moved) {
    ProjectionProgramResult made;
    if (has_program_) made = make_projection_program(eqs_, what, options_);
    const bool nothing = has_program_ && !made.made && made.reason == "nothing to project onto";
    const char* behind = what == ProjectionOf::positions ? "0" : "1";
    if (!made.made) {
      add_text(fmt::format("static int @project_{}(double t, double *q, double *v, const double *p)\n{{\n{}}}\n", which,
                           nothing || !solves_generally_
                               ? "  (void)t, (void)q, (void)v, (void)p;\n  return 0;\n"
                               : fmt::format("  return @project_generally(t, q, v, p, {});\n", behind)));
      return;
    }
    add(made.made->program, fmt::format("nearer_{}", which));
    add_text(
        fmt::format(R"(
static int @project_{0}(double t, double *q, double *v, const double *p)
{{
  double x[@X], y[{2}], last = INFINITY;
  int i, k;
  for (k = 0; k < 12; ++k) {{
    double change = 0, size = 0;
    @pack(t, q, v, p, 0, x);
    @nearer_{0}(x, y);
    if (!(y[{3}] > 0)) return {4};
    for (i = 0; i < @COORDINATES; ++i) {{
      const double by = y[@at_coordinate[i]];
      {1}[i] += by;
      if (fabs(by) > change) change = fabs(by);
      if (fabs({1}[i]) > size) size = fabs({1}[i]);
    }}
    if (change <= 4e-16*size || (k > 0 && change >= 0.5*last && change <= 1e-12*size)) return 0;
    last = change;
  }}
  return @NOT_PROJECTED;
}}
)",
                    which, moved, made.made->program.num_outputs(), made.made->at_vouch,
                    solves_generally_ ? fmt::format("@project_generally(t, q, v, p, {})", behind) : "@NOT_VOUCHED"));
  }

  void make_projections() {
    if (facts_.switches) {
      add_text(with(c_general_projection(),
                    {{"PROJECTED_MODES",
                      "@modes d = m->d;\n  int c;\n  double slips[@SLIPS + 1] = {0}, rub[@SLIPS + 1] = {0};\n  "
                      "for (c = 0; c < @CONTACTS; ++c) if (d.status[c] == @SLIDES || (d.status[c] == @STICKS "
                      "&& !velocities)) d.status[c] = @HOLDS;"},
                     {"PROJECTED_ROWS",
                      "for (j = 0; j < @R; ++j) act[j] = (char)(act[j] && @acts(&d, j));\n"
                      "    for (j = 0; j < @SLIPS; ++j) slips[j] = -s.slip[j];"},
                     {"PROJECTED_FLOOR", "size = @size_of(size, @floor_of(m, &s, velocities));"},
                     {"PROJECTED_PASSED", "&d, slips,"},
                     {"PROJECTED_SLIPS", "rub"},
                     {"MOTION_ARGUMENT", "const @motion *m,"},
                     {"MODE_VALUES", "m->d.mode"}}));
      add_text(R"(
static int @project_state(const @motion *m, double t, double *q, double *v, const double *p)
{
  const int status = @project_generally(m, t, q, v, p, 0);
  return status ? status : @project_generally(m, t, q, v, p, 1);
}
)");
    } else {
      if (solves_generally_ && projects())
        add_text(with(c_general_projection(), {{"PROJECTED_MODES", ""},
                                               {"PROJECTED_ROWS", ""},
                                               {"PROJECTED_PASSED", ""},
                                               {"PROJECTED_FLOOR", ""},
                                               {"PROJECTED_SLIPS", "0"},
                                               {"MOTION_ARGUMENT", ""},
                                               {"MODE_VALUES", "0"}}));
      if (projects()) {
        make_projection(ProjectionOf::positions, "positions", "q");
        make_projection(ProjectionOf::velocities, "velocities", "v");
      }
      add_text(fmt::format(R"(
static int @project_state(const @motion *m, double t, double *q, double *v, const double *p)
{{
  (void)m, (void)t, (void)q, (void)v, (void)p;
{}  return 0;
}}
)",
                           projects()
                               ? "  {\n    int status = @project_positions(t, q, v, p);\n    if (!status) status = "
                                 "@project_velocities(t, q, v, p);\n    if (status) return status;\n  }\n"
                               : ""));
    }
    add_text("\nint @project(@motion *m, const double *p)\n{\n  return @project_state(m, m->t, m->q, m->v, p);\n}\n");
  }

  void make_motion() {
    if (!facts_.switches) add_text(c_sizes());
    make_projections();
    if (facts_.switches) {
      add_text(c_impacts());
      add_text(c_phases());
      add_text(c_guards());
    }
    add_text(c_forces(facts_));
    add_text(with(c_rate(), {{"MODE_VALUES", mode_values()}}));
    add_text(c_instant(facts_));
    add_text(c_state_at());
    if (has_events()) {
      add_text(c_watch(facts_));
      const bool changes = std::any_of(facts_.model.events.begin(), facts_.model.events.end(),
                                       [](const Event& e) { return !e.changes.empty(); });
      if (changes) add_text(c_changes(facts_));
      add_text(
          with(c_events(),
               {{"KEEP_ARMED", facts_.switches
                                   ? "for (i = 0; i < @GUARDS; ++i) m->d.armed[i] = arm[i];\n  @keep_directions(m, p);"
                                   : "(void)i;"},
                {"HAPPEN_CONTACTS", facts_.switches ? R"({
      char crossed[@GUARDS + 1];
      for (i = 0; i < @GUARDS; ++i) crossed[i] = guard[i] < 0, any |= crossed[i];
      if (any && (status = @settle(m, p, crossed, 0)) != 0) return status;
    })"
                                                    : ""},
                {"HAPPEN_CHANGES", changes ? "if ((status = @apply(m, p, i)) != 0) return status;" : ""},
                {"PROJECT_CUT", facts_.switches || projects() ? "if ((k = @project(m, p)) != 0) return k;" : ""}}));
    }
    make_steps();
  }

  void make_steps() {
    add_text(fmt::format("static const double @c[16] = {};\n", numbers(dop853::c, 16)));
    add_text("static const double @a[16][16] = {\n");
    for (const auto& row : dop853::a) add_text(fmt::format("  {},\n", numbers(row, 16)));
    add_text(fmt::format("}};\nstatic const double @e5[12] = {};\nstatic const double @b3[3] = {};\n",
                         numbers(dop853::e5, 12), numbers(dop853::b3, 3)));
    add_text("static const double @d[4][16] = {\n");
    for (const auto& row : dop853::d) add_text(fmt::format("  {},\n", numbers(row, 16)));
    add_text("};\n");
    add_text(with(c_adaptive_step(), {{"STEP_END", has_events() ? "return m->status = @search(m, p);" : "return 0;"}}));
    if (facts_.switches || facts_.num_states > 0) {
      add_text(c_fixed_step());
      if (facts_.switches) {
        add_text(c_fixed_step_with_events());
        return;
      }
      add_text(R"(
int @step_rk4(@motion *m, const double *p, double h)
{
  double y[@Y];
  int i;
  const int status = @rk4(m, p, h, y);
  if (status) return status;
  for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = y[i];
  for (i = 0; i < @COORDINATES; ++i) m->v[i] = y[@COORDINATES + @STATES + i];
  m->t += h;
  return 0;
}
)");
      return;
    }
    make_step_of_the_engine();
  }

  /// With the bits of the engine's fixed steps.
  void make_step_of_the_engine() {
    const StepProgramResult step = has_program_ ? make_step_program(eqs_, options_) : StepProgramResult{};
    const bool written = step.made && step.made->program.steps.size() <= longest_step_program;
    add_text(c_classical_step());
    if (written) add(step.made->program, "step_program");
    add_text(fmt::format(R"(
int @step_rk4(@motion *m, const double *p, double h)
{{
  double {0}y[{1}];
  int i, status = 0;
{2}  {3}status = @rk4(m->t, h, m->q, m->v, p, y, y + @COORDINATES);
  if (status) return status;
  for (i = 0; i < @COORDINATES; ++i) m->q[i] = y[i], m->v[i] = y[@COORDINATES + i];
  m->t += h;
  return 0;
}}
)",
                         written ? fmt::format("x[{}], ", num_inputs() + 1) : "",
                         written ? step.made->program.num_outputs() : 2 * n(),
                         written ? "  x[0] = m->t, x[1] = h;\n  for (i = 0; i < @COORDINATES; ++i) x[2 + i] = m->q[i], "
                                   "x[2 + @COORDINATES + i] = "
                                   "m->v[i];\n  for (i = 0; i < @PARAMETERS; ++i) x[2 + 2*@COORDINATES + i] = p[i];\n  "
                                   "@step_program(x, y);\n"
                                 : "",
                         written ? fmt::format("if (!(y[{}] > 0)) ", step.made->at_vouch()) : ""));
  }

  bool make_tangents() {
    if (!tangents_ || !solves_generally_ || needs_reactions_) return false;
    std::vector<int> left_out = options_.dropped;
    left_out.insert(left_out.end(), options_.inert.begin(), options_.inert.end());
    const CTangent made = make_c_tangent(facts_, left_out);
    add(made.rates, "tangent_rates"), add(made.equations, "tangent_equations"),
        add(made.quantities, "tangent_quantities");
    add_text(made.text);
    return true;
  }

  void make_interface() { add_text(c_functions(facts_)); }

  const CFacts& facts_;
  const Equations& eqs_;
  std::string name_, prefix_;
  bool tangents_ = false;
  ProgramOptions options_, extended_;
  const ProgramOptions plain_;  ///< of functions of the state
  AccelerationProgram acceleration_;
  bool needs_reactions_ = false, solves_generally_ = false, has_program_ = false;
  int largest_ = 0;
  CTables tables_;
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
  return export_c(CFacts(system, start), name);
}

CSources export_c(const CFacts& facts, const std::string& name, const COptions& options) {
  return CWriter(facts, name, options.tangents).write();
}

}  // namespace mechanician
