// Switches in exported C: which sides a motion is on, where inside a step it comes to another one, and what holds there.

#include <fmt/format.h>

#include "mechanician/exports/c_interface.hpp"
#include "mechanician/exports/c_text.hpp"
#include "mechanician/exports/c_writer_internal.hpp"
#include "mechanician/expression/differentiate.hpp"

namespace mechanician {

void CWriter::make_switches() {
  std::vector<Expr> g, looked;
  std::vector<int> cut, jumps, of_time(facts_.is_of_time.begin(), facts_.is_of_time.end());
  for (const Switch& s : facts_.sides) g.push_back(s.g), cut.push_back(s.is_cut), jumps.push_back(s.is_discontinuous);
  looked = g;
  looked.insert(looked.end(), facts_.turns.begin(), facts_.turns.end());
  add_function("switch_values", looked);
  std::vector<Tangent> along{{eqs_.t, 1.0}};
  for (std::size_t i = 0; i < eqs_.q.size(); ++i)
    along.push_back({eqs_.q[i], eqs_.qd[i]}), along.push_back({eqs_.qd[i], eqs_.qdd[i]});
  ProgramOptions accelerations;
  accelerations.sides = eqs_.qdd;
  add_function("switch_rates", directional(g, along), accelerations);
  add_text(
      fmt::format("/* Switching functions, and behind them what they go through turns with. */\nenum {{ @LOOKED = {} "
                  "}};\nstatic const char @is_cut[] = {}, @jumps[] = {}, @is_of_time[] = {};\n",
                  looked.size(), c_integers(cut), c_integers(jumps), c_integers(of_time)));
  add_text(with(R"(
/* The sides that the state itself tells, none where it lies between two. */
static void @free_sides(double *x)
{
  double g[@LOOKED], *side = x + @X - @SWITCHES;
  int i, round, turned = 1;
  for (i = 0; i < @SWITCHES; ++i) side[i] = 1;
  for (round = 0; round <= @SWITCHES && turned; ++round) {
    FREE_RATES
    @switch_values(x, g);
    for (turned = i = 0; i < @SWITCHES; ++i) {
      const double now = g[i] > 0 ? 1 : g[i] < 0 ? -1 : @is_cut[i] || isnan(g[i]) ? side[i] : 0;
      turned |= now < side[i] || now > side[i];
      side[i] = now;
    }
  }
  FREE_RATES
}
)",
                {{"FREE_RATES", facts_.num_states > 0 ? "@set_rates(x);" : ""}}));
}

std::string c_sides(const CFacts& facts) {
  return with(R"(
static void @switches_at(const @motion *m, double t, const double *y, const double *p, double *g)
{
  double x[@X];
  @pack(t, y, y + @COORDINATES + @STATES, p, HELD, x);
  @switch_values(x, g);
}
static void @switches_now(const @motion *m, const double *p, double *g)
{
  double x[@X];
  @pack(m->t, m->q, m->v, p, HELD, x);
  @switch_values(x, g);
}
static int @is_beyond(const @motion *m, const double *g, int i) { return m->side[i]*g[i] < -m->level[i]; }

/* Below this a switching function does not tell its side: rounding; what was left of it where it was turned, until it has left that. */
static void @set_levels(@motion *m, const double *p)
{
  double x[@X], z[@X], g[@LOOKED], other[@LOOKED];
  int i, k;
  @pack(m->t, m->q, m->v, p, HELD, x);
  @switch_values(x, g);
  for (i = 0; i < @SWITCHES; ++i) {
    if (m->side[i]*g[i] > m->floor[i]) m->floor[i] = 0;
    m->level[i] = 0;
  }
  /* How large what it is made of is: by what a little of everything changes. */
  for (k = 0; k < 2; ++k) {
    for (i = 0; i < @X; ++i) z[i] = i < @X - @SWITCHES ? x[i]*(1 + 1e-7*(fmod((k ? 0.618 : 0.414)*i, 1) - 0.25*k)) : x[i];
    @switch_values(z, other);
    for (i = 0; i < @SWITCHES; ++i) if (fabs(other[i] - g[i]) > m->level[i]) m->level[i] = fabs(other[i] - g[i]);
  }
  for (i = 0; i < @SWITCHES; ++i) m->level[i] = @size_of(16*2.2e-9*m->level[i], m->floor[i]);
}

/* The side that the motion comes to with this side of a switch; 0: none. */
static double @ahead(@motion *m, const double *p, int i, double side)
{
  double y[@Y], rate[@Y], there[@Y], g[@LOOKED], tau;
  int j;
  m->side[i] = side;
  for (j = 0; j < @COORDINATES + @STATES; ++j) y[j] = m->q[j];
  for (j = 0; j < @COORDINATES; ++j) y[@COORDINATES + @STATES + j] = m->v[j];
  if (@rate(m, m->t, y, p, rate)) return 0;
  for (tau = 1e-9; tau < 1e-2; tau *= 10) {
    for (j = 0; j < @Y; ++j) there[j] = y[j] + tau*rate[j] + (j < @COORDINATES ? 0.5*tau*tau*rate[@COORDINATES + @STATES + j] : 0);
    @switches_at(m, m->t + tau, there, p, g);
    if (fabs(g[i]) > 16*m->level[i]) return g[i] > 0 ? 1 : -1;
  }
  return 0;
}

/* Sides at a state: as it tells. */
static void @take_sides(@motion *m, const double *p)
{
  double x[@X];
  int i;
  @pack(m->t, m->q, m->v, p, FREE, x);
  for (i = 0; i < @SWITCHES; ++i) m->side[i] = x[@X - @SWITCHES + i] < 0 ? -1 : 1, m->floor[i] = 0;
  @set_levels(m, p);
}

/* Between two sides the motion itself decides: looked at a little ahead. */
static int @first_sides(@motion *m, const double *p)
{
  double g[@LOOKED];
  int i;
  @take_sides(m, p);
  @switches_now(m, p, g);
  for (i = 0; i < @SWITCHES; ++i) if (fabs(g[i]) <= m->level[i]) {
    const double up = @ahead(m, p, i, 1), down = @ahead(m, p, i, -1);
    m->side[i] = up >= 0 ? 1 : -1;
    if (@jumps[i] && up > 0 && down < 0) return @UNDECIDED;
    if (@jumps[i] && up < 0 && down > 0) return @ALONG;
  }
  return 0;
}

/* From now on on other sides: by switch the new one, or 0. */
static int @cross(@motion *m, const double *p, const double *turned)
{
  double x[@X + @N], g[@LOOKED], rates[@SWITCHES], others[@SWITCHES], a[@N], before[2*@COORDINATES];
  char passed[@SWITCHES];
  int i, round, any = 1, status;
  m->goes_on = 0;
  @switches_now(m, p, g);
  for (i = 0; i < @SWITCHES; ++i) {
    passed[i] = turned[i]*m->side[i] < 0;
    if (passed[i]) m->side[i] = turned[i], m->floor[i] = turned[i]*g[i] < 0 ? 4*fabs(g[i]) : 0; /* it may not be quite there */
  }
  /* Those around them may have jumped across their own zeros. */
  for (round = 0; round <= @SWITCHES && any; ++round) {
    @switches_now(m, p, g);
    for (any = i = 0; i < @SWITCHES; ++i) if (!passed[i] && @is_beyond(m, g, i)) m->side[i] = -m->side[i], m->floor[i] = 0, any = 1;
  }
  @set_levels(m, p);
  /* Constraints that switch have to fit together: what is moved is what an integrator has drifted by. */
  if (@is_off(m, p)) {
    double moved = 0, size = 0;
    for (i = 0; i < @COORDINATES; ++i) before[i] = m->q[i], before[@COORDINATES + i] = m->v[i];
    if ((status = @project(m, p)) != 0) return status;
    for (i = 0; i < @COORDINATES; ++i) {
      moved = @size_of(moved, @size_of(fabs(m->q[i] - before[i]), fabs(m->v[i] - before[@COORDINATES + i])));
      size = @size_of(size, @size_of(fabs(m->q[i]), fabs(m->v[i])));
    }
    if (moved > (1e-6 + 100*m->tolerance)*size) return @NOT_PROJECTED;
  }
  @pack(m->t, m->q, m->v, p, HELD, x);
  if ((status = @solve_now(m, x, a)) != 0) return status;
  for (i = 0; i < @N; ++i) x[@X + i] = a[i];
  /* Of the function whose zero this was: that of an angle depends on its own side. */
  for (i = 0; i < @SWITCHES; ++i) if (passed[i] && @is_cut[i]) x[@X - @SWITCHES + i] = -m->side[i];
  @switch_rates(x, rates);
  for (i = 0; i < @X + @N; ++i) if (i < @X - @SWITCHES || i >= @X) x[i] *= 1 + 1e-7*(fmod(0.618*i, 1) - 0.5);
  @switch_rates(x, others);
  for (i = 0; i < @SWITCHES; ++i) if (passed[i] && @jumps[i] && m->side[i]*rates[i] < -1e-5*fabs(others[i] - rates[i])) return @ALONG;
  /* Ever more often. */
  for (any = i = 0; i < @SWITCHES; ++i) any |= passed[i];
  if (any && ++m->turns%200 == 0) {
    if (m->t - m->turns_since < 1e-5*m->span) return @ALONG;
    m->turns_since = m->t;
  }
  return 0;
}

static int @any_turns(const double *turned)
{
  int i, any = 0;
  for (i = 0; i < @SWITCHES; ++i) any |= fabs(turned[i]) > 0;
  return any;
}

/* What has come to another side at the state of now; any: whether something has. What goes back at once, because somebody else has moved the state by a
   little, stays. */
static int @cross_beyond(@motion *m, const double *p, int *any)
{
  const double span = RUN_TO > m->t_first ? RUN_TO - m->t_first : @size_of(m->span, 1e-3);
  double x[@X + @N], g[@LOOKED], turned[@SWITCHES], rates[@SWITCHES], a[@N];
  int i, status;
  @pack(m->t, m->q, m->v, p, HELD, x);
  @switch_values(x, g);
  for (i = 0; i < @SWITCHES; ++i) turned[i] = @is_beyond(m, g, i) ? -m->side[i] : 0;
  if (!@any_turns(turned)) return 0;
  if ((status = @solve_now(m, x, a)) != 0) return status;
  for (i = 0; i < @N; ++i) x[@X + i] = a[i];
  @switch_rates(x, rates);
  for (i = 0; i < @SWITCHES; ++i) if (turned[i]*rates[i] < 0 && fabs(g[i]) < 1e-8*span*fabs(rates[i])) {
    turned[i] = 0;
    m->floor[i] = 4*fabs(g[i]), m->level[i] = @size_of(m->level[i], m->floor[i]);
  }
  if (!@any_turns(turned)) return 0;
  *any = 1;
  return @cross(m, p, turned);
}

static int @beyond_at(const @motion *m, double t, const double *y, const double *p)
{
  double g[@LOOKED];
  int i;
  @switches_at(m, t, y, p, g);
  for (i = 0; i < @SWITCHES; ++i) if (@is_beyond(m, g, i)) return 1;
  return 0;
}

/* When within the step up to `end` the motion first comes to another side, and of which switches; infinite: it does not. Samples are so close to each other
   that no function goes through more than a part of a turn in between, and closer where one comes near zero and goes back. */
static double @find_switch(const @motion *m, const double *p, double end, double *turned)
{
  const double begin = m->t_begin, most = (end - begin)/8;
  double low = begin, step = most, a[@LOOKED], b[@LOOKED], c[@LOOKED], y[@Y];
  int i, k;
  for (i = 0; i < @SWITCHES; ++i) turned[i] = 0;
  @switches_at(m, begin, m->y, p, a);
  while (low < end) {
    double high = low + 1.25*step >= end ? end : low + step, middle = 0.5*(low + high);
    int close = 0, dips = 0, over = 0;
    if (!(middle > low && middle < high)) break;
    @state_at(m, m->dense[0], middle, y);
    @switches_at(m, middle, y, p, b);
    @state_at(m, m->dense[0], high, y);
    @switches_at(m, high, y, p, c);
    for (i = @SWITCHES; i < @LOOKED; ++i) close |= fabs(b[i] - a[i]) > 1 || fabs(c[i] - b[i]) > 1;
    if (close && high - low > 1e-6*(end - begin)) { step = 0.5*(high - low); continue; }
    for (i = 0; i < @SWITCHES; ++i) {
      const double first = m->side[i]*a[i], second = m->side[i]*b[i], third = m->side[i]*c[i], bend = first - 2*second + third;
      if (@is_beyond(m, b, i)) over |= 1;
      else if (@is_beyond(m, c, i)) over |= 2;
      else if (bend > 0 && fabs(third - first) < 2*bend) {
        const double least = second - (third - first)*(third - first)/(8*bend), largest = @size_of(first, third);
        dips |= least < 0.02*(largest - least);
      }
    }
    if (!over && dips && high - low > 1e-4*(end - begin)) { step = 0.5*(high - low); continue; }
    if (over) {
      if (over & 1) high = middle; else low = middle;
      for (k = 0; k < 80; ++k) {
        middle = 0.5*(low + high);
        if (!(middle > low && middle < high)) break;
        @state_at(m, m->dense[0], middle, y);
        if (@beyond_at(m, middle, y, p)) high = middle; else low = middle;
      }
      @state_at(m, m->dense[0], high, y);
      @switches_at(m, high, y, p, c);
      for (i = 0; i < @SWITCHES; ++i) if (@is_beyond(m, c, i)) turned[i] = -m->side[i];
      return high;
    }
    low = high, step = 2*step < most ? 2*step : most;
    for (i = 0; i < @LOOKED; ++i) a[i] = c[i];
  }
  return INFINITY;
}

/* For integrators of one's own: a time that they should not step beyond without looking at switches again. */
double @next_look(const @motion *m, const double *p)
{
  double y[@Y], rate[@Y], there[@Y], a[@LOOKED], b[@LOOKED], h = (RUN_TO - m->t_first)/LEAST_STEPS, low = m->t, high;
  int i, j, k, close = 1;
  if (!(h > 0)) h = m->span > 0 ? m->span/LEAST_STEPS : 1;
  for (j = 0; j < @COORDINATES + @STATES; ++j) y[j] = m->q[j];
  for (j = 0; j < @COORDINATES; ++j) y[@COORDINATES + @STATES + j] = m->v[j];
  if (@rate(m, m->t, y, p, rate)) return m->t + h;
  @switches_at(m, m->t, y, p, a);
  for (k = 0; k < 30 && close; ++k) {
    for (j = 0; j < @Y; ++j) there[j] = y[j] + h*rate[j] + (j < @COORDINATES ? 0.5*h*h*rate[@COORDINATES + @STATES + j] : 0);
    @switches_at(m, m->t + h, there, p, b);
    for (close = 0, i = @SWITCHES; i < @LOOKED; ++i) close |= fabs(b[i] - a[i]) > 1;
    if (close) h *= 0.5;
  }
  /* What the time alone decides on is known. */
  for (k = 1; k <= 8; ++k) {
    high = m->t + h*k/8;
    @switches_at(m, high, y, p, b);
    for (i = 0; i < @SWITCHES; ++i) if (@is_of_time[i] && @is_beyond(m, b, i)) break;
    if (i == @SWITCHES) { low = high; continue; }
    for (k = 0; k < 80; ++k) {
      const double middle = 0.5*(low + high);
      if (!(middle > low && middle < high)) break;
      @switches_at(m, middle, y, p, b);
      for (i = 0; i < @SWITCHES; ++i) if (@is_of_time[i] && @is_beyond(m, b, i)) break;
      if (i < @SWITCHES) high = middle; else low = middle;
    }
    return high;
  }
  return m->t + h;
}

/* The same: whether a step of somebody else's, from `before` to now, has passed a switch and come back. */
int @missed(const @motion *before, const @motion *m, const double *p)
{
  double y[2][@Y], rate[2][@Y], there[@Y], g[@LOOKED], least[@SWITCHES], most[@SWITCHES];
  const double h = m->t - before->t;
  int i, j, k;
  for (i = 0; i < @SWITCHES; ++i) if (m->side[i]*before->side[i] < 0) return 0;
  if (!(h > 0)) return 0;
  for (k = 0; k < 2; ++k) {
    const @motion *at = k ? m : before;
    for (j = 0; j < @COORDINATES + @STATES; ++j) y[k][j] = at->q[j];
    for (j = 0; j < @COORDINATES; ++j) y[k][@COORDINATES + @STATES + j] = at->v[j];
    if (@rate(m, at->t, y[k], p, rate[k])) return 0;
  }
  for (i = 0; i < @SWITCHES; ++i) least[i] = INFINITY, most[i] = -INFINITY;
  for (k = 0; k <= 16; ++k) {
    const double u = k/16.0, w = 1 - u;
    for (j = 0; j < @Y; ++j) there[j] = (1 + 2*u)*w*w*y[0][j] + u*u*(3 - 2*u)*y[1][j] + h*u*w*(w*rate[0][j] - u*rate[1][j]);
    @switches_at(m, before->t + u*h, there, p, g);
    for (i = 0; i < @SWITCHES; ++i) {
      const double value = m->side[i]*g[i];
      if (k == 16 && @is_beyond(m, g, i)) least[i] = INFINITY; /* it is seen */
      else if (value < least[i]) least[i] = value;
      if (value > most[i]) most[i] = value;
    }
  }
  for (i = 0; i < @SWITCHES; ++i) if (least[i] < -m->level[i] - 1e-3*(most[i] - least[i])) return 1;
  return 0;
}
)",
              {{"HELD", facts.held_values()},
               {"FREE", facts.switches ? "m->d.mode, 0" : "0, 0"},
               {"RUN_TO", c_number(facts.system.run_settings().to.value_or(-1e300))},
               {"LEAST_STEPS", "100"}});
}

}  // namespace mechanician
