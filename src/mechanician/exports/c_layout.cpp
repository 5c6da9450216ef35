// Sizes, inputs and numbers of a model, as C.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/exports/c_writer_internal.hpp"

namespace mechanician {

void CWriter::make_facts() {
  std::vector<int> levels, contact_at(static_cast<std::size_t>(m()), -1), states(static_cast<std::size_t>(n()), 0);
  for (const CFacts::Level level : facts_.levels) levels.push_back(level);
  for (std::size_t c = 0; c < facts_.contacts.size(); ++c)
    contact_at[static_cast<std::size_t>(facts_.contacts[c].row)] = static_cast<int>(c);
  for (const StateRow& z : eqs_.states) states[static_cast<std::size_t>(z.coordinate)] = 1;
  add_text(fmt::format("enum {{ @N = {}, @R = {}, @X = {}, @Y = {}, @LARGEST = {}, @HAS_C = {} }};\n", n(), m(),
                       num_inputs(), facts_.num_motion(), largest_, eqs_.has_C ? 1 : 0));
  add_text(fmt::format("static const int @at_coordinate[] = {};\n", c_integers(facts_.coordinates)));
  add_text(fmt::format("static const int @at_row[] = {};\n", c_integers(facts_.rows)));
  if (solves_generally_ && (projects() || facts_.switches))
    add_text(fmt::format("static const char @is_state[] = {};\nstatic const int @row_level[] = {};\n",
                         c_integers(states), c_integers(levels)));
  if (has_following()) {
    std::vector<int> follows(static_cast<std::size_t>(m()), 0);
    for (const int j : options_.dropped) follows[static_cast<std::size_t>(j)] = 1;
    add_text(fmt::format("static const char @follows[] = {};\n", c_integers(follows)));
  }
  if (facts_.switches) {
    add_text(fmt::format("static const int @contact_at[] = {};\n", c_integers(contact_at)));
    add_text(
        "static const struct { int row, one_sided, velocity, bare, first, slips, limited, guard; } @contact[] = {\n");
    for (const CFacts::Contact& c : facts_.contacts)
      add_text(fmt::format("  {{{}, {:d}, {:d}, {:d}, {}, {}, {:d}, {}}},\n", c.row, c.one_sided, c.of_velocity, c.bare,
                           c.first_slip, c.num_slips, c.limited, c.first_guard));
    add_text("  {0, 0, 0, 0, 0, 0, 0, 0}};\nenum { @OPEN, @HOLDS, @STICKS, @SLIDES };\n");
  }
  if (has_control()) make_control_facts();
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

void CWriter::make_pack() {
  if (facts_.num_states > 0) {
    add_function("rates_values", facts_.state_rates);
    add_text(R"(
/* Rates of states in the places of their velocities. */
static void @set_rates(double *x)
{
  double rates[@STATES];
  int i;
  for (i = @COORDINATES; i < @N; ++i) x[1 + @N + @at_coordinate[i]] = 0;
  @rates_values(x, rates);
  for (i = @COORDINATES; i < @N; ++i) x[1 + @N + @at_coordinate[i]] = rates[i - @COORDINATES];
}
)");
  }
  if (!facts_.sides.empty()) make_switches();
  std::string text = R"(
static void @pack(double t, const double *q, const double *v, const double *p, const double *mode, const double *side, double *x)
{
  int i;
  x[0] = t;
  for (i = 0; i < @N; ++i) x[1 + @at_coordinate[i]] = q[i];
  for (i = 0; i < @COORDINATES; ++i) x[1 + @N + @at_coordinate[i]] = v[i];
  for (i = 0; i < @PARAMETERS; ++i) x[1 + 2*@N + i] = p[i];
  (void)mode, (void)side;
)";
  // An input that is an expression is none until it is set.
  for (std::size_t k = 0; k < facts_.given_flag.size(); ++k)
    if (facts_.given_flag[k] >= 0)
      text += fmt::format("  x[{0}] = isnan(p[{1}]) ? 0 : 1;\n  if (isnan(p[{1}])) x[{2}] = 0;\n",
                          1 + 2 * n() + facts_.given_flag[k], k, 1 + 2 * static_cast<std::size_t>(n()) + k);
  for (std::size_t k = 0; k < facts_.modes.size(); ++k)
    text += fmt::format("  if (mode) x[{}] = mode[{}];\n", 1 + 2 * n() + facts_.modes[k], k);
  if (!facts_.sides.empty())
    text +=
        "  if (!side) { @free_sides(x); return; }\n  for (i = 0; i < @SWITCHES; ++i) x[@X - @SWITCHES + i] = "
        "side[i];\n";
  if (facts_.num_states > 0) text += "  @set_rates(x);\n";
  add_text(text + "}\n\n");
}

void CWriter::make_numbers() {
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
  const std::size_t at_control = values.size();
  values.insert(values.end(), eqs_.control.numbers.begin(), eqs_.control.numbers.end());
  add_function("values", values);
  std::vector<Expr> residuals;
  for (const Row& row : eqs_.rows) {
    residuals.push_back(row.level == Level::acceleration ? Expr(0.0) : row.residual);
    residuals.push_back(row.rate);
  }
  add_function("residuals_values", residuals);
  const std::size_t num_M = M_at.size(), num_A = A_at.size(), num_T = T_at.size();
  add_text(fmt::format("static const int @M_at[] = {};\nstatic const int @A_at[] = {};\n", c_integers(M_at),
                       c_integers(A_at)));
  if (facts_.switches) {
    std::vector<int> slip_of;
    for (std::size_t c = 0; c < facts_.contacts.size(); ++c)
      slip_of.insert(slip_of.end(), static_cast<std::size_t>(facts_.contacts[c].num_slips), static_cast<int>(c));
    add_text(
        fmt::format("static const int @T_at[] = {};\nstatic const int @slip_of[] = {};\n"
                    "enum {{ @M_ENTRIES = {}, @A_ENTRIES = {}, @T_ENTRIES = {} }};\n",
                    c_integers(T_at), c_integers(slip_of), num_M, num_A, num_T));
  }
  // C is Q + C, as far as it is known before the forces are.
  add_text(fmt::format(
      "typedef struct {{\n  double M[@N*@N], A[@R*@N + 1], Q[@N], b[@R + 1], C[@N];\n{}{}}} @numbers;\n",
      facts_.switches ? "  double T[@SLIPS*@N + 1], slip_b[@SLIPS + 1], slip[@SLIPS + 1], friction[@CONTACTS + 1], "
                        "restitution[@CONTACTS + 1], residual[@R + 1], rate[@R + 1];\n"
                      : "",
      has_control() ? "  double E[@N*@ACTUATORS + 1], low[@ACTUATORS + 1], high[@ACTUATORS + 1], "
                      "R[@FORCES*@FORCES + 1], weight[@REQUIREMENTS + 1], free[@N];\n"
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
  if (has_control()) text += control_numbers(at_control);
  add_text(text + "  return 0;\n}\n");
}

void CWriter::make_functions() {
  const Model& model = facts_.model;
  Expr kinetic = 0.0;
  for (const auto& e : eqs_.M.entries)
    kinetic = kinetic +
              Expr(0.5) * e.value * eqs_.qd[static_cast<std::size_t>(e.row)] * eqs_.qd[static_cast<std::size_t>(e.col)];
  add_function("energy_values", {model.kinetic.value_or(kinetic), model.potential.value_or(Expr(0.0))});
  add_function("output_values", facts_.outputs, extended());
  add_function("event_values", facts_.events, extended());
  add_function("input_values", facts_.input_values, extended());
  for (std::size_t e = 0; e < model.events.size(); ++e)
    for (std::size_t k = 0; k < model.events[e].changes.size(); ++k)
      if (model.events[e].changes[k].what == EventChange::What::set)
        add_function(fmt::format("change{}_{}", e, k), {model.events[e].changes[k].value}, extended());
  std::vector<Expr> start;
  for (const auto* values : {&model.start.position, &model.start.velocity})
    for (int i = 0; i < (values == &model.start.position ? n() : facts_.num_coordinates); ++i) {
      const int at = facts_.coordinates[static_cast<std::size_t>(i)];
      const auto found = values->find(facts_.system.coordinate(at));
      const double number = values == &model.start.position ? facts_.start.q(at) : facts_.start.qd(at);
      start.push_back(!facts_.starts_as_stated ? Expr(number) : found == values->end() ? Expr(0.0) : found->second);
    }
  start.push_back(facts_.starts_as_stated ? model.start.time : Expr(facts_.start.t));
  add_function("start_values", start);
  std::vector<Expr> derived;
  for (std::size_t i = 0; i < facts_.derived.size(); ++i)
    if (facts_.is_derived[i]) derived.push_back(facts_.derived[i]);
  if (!derived.empty()) add_function("derived_values", derived);
}

}  // namespace mechanician
