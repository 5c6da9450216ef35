// Projections and steps of exported C.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/compile/rank_program.hpp"
#include "mechanician/compile/step_program.hpp"
#include "mechanician/exports/c_interface.hpp"
#include "mechanician/exports/c_runtime.hpp"
#include "mechanician/exports/c_writer_internal.hpp"
#include "mechanician/motion/dop853_tableau.hpp"

namespace mechanician {

void CWriter::make_projection(ProjectionOf what, std::string_view which, std::string_view moved) {
  ProjectionProgramResult made;
  if (has_program_) made = make_projection_program(eqs_, what, options_);
  // Of long models the general projection does: accelerations are what time goes to.
  if (compact_ && solves_generally_) made.made.reset();
  const bool nothing = has_program_ && !made.made && made.reason == "nothing to project onto";
  const char* behind = what == ProjectionOf::positions ? "0" : "1";
  if (!made.made) {
    add_text(fmt::format(
        "static int @project_{}(double t, double *q, double *v, const double *p, const double *side)\n{{\n{}}}\n",
        which,
        nothing || !solves_generally_ ? "  (void)t, (void)q, (void)v, (void)p, (void)side;\n  return 0;\n"
                                      : fmt::format("  return @project_generally(t, q, v, p, side, {});\n", behind)));
    return;
  }
  add(made.made->program, fmt::format("nearer_{}", which));
  add_text(fmt::format(
      R"(
static int @project_{0}(double t, double *q, double *v, const double *p, const double *side)
{{
  double x[@X], y[{2}];
  int i, k;
  for (k = 0; k < 6; ++k) {{
    double change = 0, size = 0;
    @pack(t, q, v, p, 0, side, x);
    @nearer_{0}(x, y);
    if (!(y[{3}] > 0)) return {4};
    for (i = 0; i < @COORDINATES; ++i) {{
      const double by = y[@at_coordinate[i]];
      {1}[i] += by;
      if (fabs(by) > change) change = fabs(by);
      if (fabs({1}[i]) > size) size = fabs({1}[i]);
    }}
    /* What is left after so small a Newton step is below rounding. */
    if (change <= 1e-9*size) return 0;
  }}
  return {4};
}}
)",
      which, moved, made.made->program.num_outputs(), made.made->at_vouch,
      solves_generally_ ? fmt::format("@project_generally(t, q, v, p, side, {})", behind) : "@NOT_VOUCHED", behind));
}

void CWriter::make_projections() {
  if (facts_.switches) {
    add_text(with(c_general_projection(),
                  {{"PROJECTED_MODES",
                    "@modes d = m->d;\n  int c;\n  double slips[@SLIPS + 1] = {0}, rub[@SLIPS + 1] = {0};\n  "
                    "for (c = 0; c < @CONTACTS; ++c) @rest(&d, c, velocities);"},
                   {"PROJECTED_ROWS",
                    "for (j = 0; j < @R; ++j) act[j] = (char)(act[j] && @acts(&d, j));\n"
                    "    for (j = 0; j < @SLIPS; ++j) slips[j] = -s.slip[j];"},
                   {"PROJECTED_FROM", "k >= 0"},
                   {"PROJECTED_OFF",
                    "for (j = 0; j < @SLIPS; ++j) if (d.status[@slip_of[j]] == @STICKS) off |= fabs(slips[j]) > "
                    "1e-14*@terms(s.T + j*@N, x + 1 + @N);"},
                   {"PROJECTED_FLOOR", "size = @size_of(size, @floor_of(m, &s, velocities));"},
                   {"PROJECTED_PASSED", "&d, slips,"},
                   {"PROJECTED_ORDER", "m->order + (velocities ? @OF_VELOCITIES : @OF_POSITIONS), "},
                   {"PROJECTED_SLIPS", "rub"},
                   {"PROJECTED_NAME", "@project_generally"},
                   {"PROJECTED_FOLLOWING", ""},
                   {"PROJECTED_FOLLOW", ""},
                   {"MOTION_ARGUMENT", "const @motion *m,"},
                   {"MODE_VALUES", "m->d.mode, side"}}));
    add_text(R"(
static int @project_state(const @motion *m, double t, double *q, double *v, const double *p)
{
  const int status = @project_generally(m, t, q, v, p, m->side, 0);
  return status ? status : @project_generally(m, t, q, v, p, m->side, 1);
}
)");
  } else {
    if (solves_generally_ && projects()) {
      add_text(with(c_general_projection(),
                    {{"PROJECTED_MODES", ""},
                     {"PROJECTED_ROWS", ""},
                     {"PROJECTED_PASSED", ""},
                     {"PROJECTED_ORDER", ""},
                     {"PROJECTED_FROM", "k > 0"},
                     {"PROJECTED_OFF", ""},
                     {"PROJECTED_FLOOR", ""},
                     {"PROJECTED_SLIPS", "0"},
                     {"PROJECTED_NAME", has_following() ? "@project_rows" : "@project_generally"},
                     {"PROJECTED_FOLLOWING", has_following() ? ", char following" : ""},
                     {"PROJECTED_FOLLOW", has_following() ? "if (act[j] && @follows[j]) act[j] = following;" : ""},
                     {"MOTION_ARGUMENT", ""},
                     {"MODE_VALUES", "0, side"}}));
      if (has_following()) add_text(c_following_rows());
    }
    if (projects()) {
      make_projection(ProjectionOf::positions, "positions", "q");
      make_projection(ProjectionOf::velocities, "velocities", "v");
    }
    add_text(fmt::format(
        R"(
static int @project_state(const @motion *m, double t, double *q, double *v, const double *p)
{{
  (void)m, (void)t, (void)q, (void)v, (void)p;
{}  return 0;
}}
)",
        projects() ? "  {\n    int status = @project_positions(t, q, v, p, m->side);\n    if (!status) status = "
                     "@project_velocities(t, q, v, p, m->side);\n    if (status) return status;\n  }\n"
                   : ""));
  }
  add_text("\nint @project(@motion *m, const double *p)\n{\n  return @project_state(m, m->t, m->q, m->v, p);\n}\n");
}

void CWriter::make_motion() {
  if (!facts_.switches) add_text(c_sizes());
  make_projections();
  if (facts_.switches) {
    add_text(c_impacts());
    add_text(c_phases());
    add_text(c_orders());
    add_text(c_guards());
  }
  add_text(c_forces(facts_));
  add_text(with(c_rate(), {{"MODE_VALUES", mode_values()}}));
  // Fixed steps do not look for what switches: every stage is on the side that it is on.
  if (has_free_rate()) add_text(with(c_rate(), {{"MODE_VALUES", "0, 0"}, {"@rate(", "@free_rate("}}));
  add_text(c_instant(facts_));
  add_text(c_state_at());
  const bool sides = !facts_.sides.empty();
  if (has_events()) {
    if (sides) {
      add_text("int @is_off(const @motion *m, const double *p);\n");
      add_text(c_sides(facts_));
    }
    add_text(c_watch(facts_));
    const bool changes = std::any_of(facts_.model.events.begin(), facts_.model.events.end(),
                                     [](const Event& e) { return !e.changes.empty(); });
    if (changes) add_text(c_changes(facts_));
    add_text(with(c_events(),
                  {{"KEEP_ARMED",
                    facts_.switches ? "for (i = 0; i < @GUARDS; ++i) m->d.armed[i] = arm[i];\n  @keep_directions(m, p);"
                                    : "(void)i;"},
                   {"HAPPEN_CONTACTS", facts_.switches ? R"({
      char crossed[@GUARDS + 1];
      for (i = 0; i < @GUARDS; ++i) crossed[i] = guard[i] < 0, any |= crossed[i];
      if (any && (status = @settle(m, p, crossed, 0)) != 0) return status;
    })"
                                                       : ""},
                   {"KEEP_ORDER", facts_.switches ? "if (!m->ordered) @find_orders(m, p);" : ""},
                   {"KEEP_LEVELS", sides ? "@set_levels(m, p);" : ""},
                   {"IS_BEYOND", sides ? "@beyond_at(m, t, y, p)" : "0"},
                   {"HAPPEN_SWITCHES", sides ? "if ((status = @cross_beyond(m, p, &any)) != 0) return status;" : ""},
                   {"HAPPEN_CHANGES", changes ? "if ((status = @apply(m, p, i)) != 0) return status;" : ""},
                   {"PROJECT_CUT", facts_.switches || projects() ? "if ((k = @project(m, p)) != 0) return k;" : ""}}));
  }
  make_steps();
}

void CWriter::make_steps() {
  add_text(fmt::format("static const double @c[16] = {};\n", c_numbers(dop853::c, 16)));
  add_text("static const double @a[16][16] = {\n");
  for (const auto& row : dop853::a) add_text(fmt::format("  {},\n", c_numbers(row, 16)));
  add_text(fmt::format("}};\nstatic const double @e5[12] = {};\nstatic const double @b3[3] = {};\n",
                       c_numbers(dop853::e5, 12), c_numbers(dop853::b3, 3)));
  add_text("static const double @d[4][16] = {\n");
  for (const auto& row : dop853::d) add_text(fmt::format("  {},\n", c_numbers(row, 16)));
  add_text("};\n");
  // Dense output is for events, or where it is asked for.
  const bool leaps = facts_.leaps();
  // Of long models leaps by trial do, with the general solver behind them.
  const RankProgramResult rank = leaps && has_program_ && !(compact_ && solves_generally_)
                                     ? make_rank_program(eqs_, options_)
                                     : RankProgramResult{};
  const bool looks = rank.made && rank.made->rows.size() > 1;
  if (looks) {
    add(rank.made->program, "rank_values");
    add_text(
        with(c_look_ahead(), {{"KEPT_ROWS", std::to_string(rank.made->rows.size())}, {"MODE_VALUES", mode_values()}}));
  }
  add_text(with(
      c_adaptive_step(),
      {{"STEP_END", leaps           ? "m->t_last = t_new;\n  for (i = 0; i < @Y; ++i) m->last[i] = y_new[i];\n  "
                                      "return t_new > to ? @come_to(m, p, to) : 0;"
                    : !has_events() ? "return 0;"
                    : facts_.sides.empty()
                        ? "return m->status = @search(m, p);"
                        : "if ((m->status = @search(m, p)) != 0) return m->status;\n  "
                          "if (!(m->t < t_new) && @any_turns(turned)) m->status = @cross(m, p, turned);\n  "
                          "return m->status;"},
       {"STEP_ORDER", facts_.switches ? "if (!m->ordered) @find_orders(m, p);" : ""},
       {"STEP_LOOK", looks ? "singular = @singular_ahead(m, p);" : ""},
       {"STEP_NOISE", looks ? R"(if (across && singular < INFINITY && error > 1 && error < 100) {
      /* What rounding makes of a stage that is 0.28 as far from it as the begin of the step. */
      const double nearest = 0.2857*m->sine, rate = m->sine/singular;
      if (error*m->tolerance < 2.2e-16*h*rate*rate/(nearest*nearest*nearest)) error = 0.99;
    })"
                            : ""},
       {"STEP_PLAN", looks ? std::string(c_plan()) : ""},
       {"double landing_at = 0,", looks ? "double singular, landing_at = 0," : "double landing_at = 0,"},
       {"COME_TO", leaps ? std::string(c_leap()) : ""},
       {"STEP_WITHIN", leaps ? "if (m->beyond && @goes_on(m, p)) return @come_to(m, p, to);\n  m->beyond = 0;" : ""},
       {"STEP_PASSED", leaps ? "|| t_new > to" : ""},
       {"STEP_CUT", leaps ? "!(shrunk > 0) &&" : ""},
       {"STEP_SIDES", facts_.sides.empty() ? "" : "double turned[@SWITCHES] = {0};"},
       {"STEP_REFRESH",
        facts_.sides.empty()
            ? ""
            : "if (@beyond_at(m, m->t, m->y, p) && (m->status = @first_sides(m, p)) != 0) return m->status;"},
       {"STEP_SWITCH", facts_.sides.empty() ? "" : R"(if (!landing) {
      m->t_begin = m->t, m->length = h;
      landing_at = @find_switch(m, p, t_new, turned);
      if (landing_at < t_new) { landing = 1; continue; }
    })"},
       {"STEP_LANDS_NOT", facts_.sides.empty() ? "" : "for (i = 0; landing && i < @SWITCHES; ++i) turned[i] = 0;"},
       {"RUN_TO", c_number(facts_.system.run_settings().to.value_or(-1e300))},
       {"LEAST_STEPS", facts_.depends_on_time || has_events() ? "100" : "50"},
       {"TAKE_SAMPLE", facts_.has_samples() ? "if ((m->status = @sample(m, p)) != 0) return m->status;\n  "
                                              "if (to > @next_sample(m)) to = @next_sample(m);"
                                            : ""},
       {"STEP_DENSE",
        facts_.keeps_dense()
            ? "if ((status = @extend_step(m, p, m->t, h, y_new, m->dense)) != 0) { m->h = 0.5*h; continue; }"
        : leaps ? "if (t_new > to) {\n      double dense[@Y][7];\n      if ((status = @extend_step(m, p, m->t, h, "
                  "y_new, dense)) != 0) { m->h = 0.5*h; continue; }\n    }"
                : ""},
       {"DENSE_STATE", facts_.keeps_dense() ? "@state_at(m, m->dense[0], t, y);" : R"(double dense[@Y][7];
  for (i = 0; i < @COORDINATES + @STATES; ++i) y[i] = m->q[i];
  for (i = 0; i < @COORDINATES; ++i) y[@COORDINATES + @STATES + i] = m->v[i];
  if (m->length > 0) {
    if (!@extend_step(m, m->with, m->t_begin, m->length, m->WHOLE_END, dense)) @state_at(m, dense[0], t, y);
    else for (i = 0; i < @Y; ++i) y[i] = NAN;
  })"},
       {"WHOLE_END", leaps ? "last" : "end"}}));
  if (facts_.switches || facts_.num_states > 0 || facts_.has_samples()) {
    const std::string name = facts_.has_samples() ? "static int @fixed_step" : "int @step_rk4";
    add_text(has_free_rate() ? with(c_fixed_step(), {{"@rate(", "@free_rate("}}) : std::string(c_fixed_step()));
    add_text(with(facts_.switches ? c_fixed_step_with_events() : std::string_view(R"(
FIXED_STEP(@motion *m, const double *p, double h)
{
  double y[@Y];
  int i, status;
  if (!(h >= 0) || !isfinite(h)) return h < 0 ? @BACKWARDS : @NO_NUMBER;
  if ((status = @rk4(m, p, h, y)) != 0) return status;
  for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = y[i];
  for (i = 0; i < @COORDINATES; ++i) m->v[i] = y[@COORDINATES + @STATES + i];
  m->t += h;
  return @is_off(m, p) ? @project(m, p) : 0;
}
)"),
                  {{"FIXED_STEP", name}}));
    if (facts_.has_samples()) add_text(c_sampled_steps());
    return;
  }
  make_step_of_the_engine();
}

void CWriter::make_step_of_the_engine() {
  const StepProgramResult step =
      has_program_ ? make_step_program(facts_.system.equations(), step_options_) : StepProgramResult{};
  std::string stage = "(void)first;";
  if (step.made && !(compact_ && n() < 20)) {
    add(step.made->first.program, "first_stage"), add(step.made->later.program, "later_stage");
    stage = fmt::format(R"(double x[@X], y[{}];
  int i;
  @pack(t, q, v, p, 0, 0, x);
  if (first) @first_stage(x, y); else @later_stage(x, y);
  if (y[first ? {} : {}] > 0) {{
    for (i = 0; i < @COORDINATES; ++i) a[i] = y[@at_coordinate[i]];
    return 0;
  }})",
                        step.made->first.program.num_outputs(), step.made->first.at_vouch, step.made->later.at_vouch);
  }
  add_text(with(c_classical_step(), {{"STAGE", stage}}));
}

}  // namespace mechanician
