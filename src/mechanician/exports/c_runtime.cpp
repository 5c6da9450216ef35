#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_classical_step() {
  return R"(
/* An acceleration as the engine's fixed steps have it; where it is not vouched for, the other way. */
static int @stage(double t, const double *q, const double *v, const double *p, int first, double *a)
{
  STAGE
  return @acceleration(t, q, v, p, a, 0, 0);
}

int @step_rk4(@motion *m, const double *p, double h)
{
  enum { n = @COORDINATES };
  double k1[n], k2[n], k3[n], k4[n], qs[n], vs[n];
  const double t = m->t, *const q = m->q, *const v = m->v;
  int i, status;
  if (!(h >= 0) || !isfinite(h)) return h < 0 ? @BACKWARDS : @NO_NUMBER;
  if ((status = @stage(t, q, v, p, 1, k1)) != 0) return status;
  for (i = 0; i < n; ++i) qs[i] = fma(0.5*h, v[i], q[i]), vs[i] = fma(0.5*h, k1[i], v[i]);
  if ((status = @stage(t + 0.5*h, qs, vs, p, 0, k2)) != 0) return status;
  for (i = 0; i < n; ++i) qs[i] = fma(0.25*(h*h), k1[i], qs[i]), vs[i] = fma(0.5*h, k2[i], v[i]);
  if ((status = @stage(t + 0.5*h, qs, vs, p, 0, k3)) != 0) return status;
  for (i = 0; i < n; ++i) qs[i] = fma(0.5*(h*h), k2[i], fma(h, v[i], q[i])), vs[i] = fma(h, k3[i], v[i]);
  if ((status = @stage(t + h, qs, vs, p, 0, k4)) != 0) return status;
  for (i = 0; i < n; ++i) {
    const double middles = k2[i] + k3[i], first = k1[i] + middles, last = middles + k4[i];
    m->q[i] = fma(h*h/6, first, fma(h, v[i], q[i]));
    m->v[i] = fma(h/6, first + last, v[i]);
  }
  m->t += h;
  return @is_off(m, p) ? @project(m, p) : 0;
}
)";
}

std::string_view c_rate() {
  return R"(
/* f(t, y) of y = (q, states, v). */
static int @rate(const @motion *m, double t, const double *y, const double *p, double *dy)
{
  double x[@X], a[@N];
  int i, status;
  @pack(t, y, y + @COORDINATES + @STATES, p, MODE_VALUES, x);
  if ((status = @solve_now(m, x, a)) != 0) return status;
  for (i = 0; i < @COORDINATES; ++i) dy[i] = y[@COORDINATES + @STATES + i], dy[@COORDINATES + @STATES + i] = a[@at_coordinate[i]];
  for (i = 0; i < @STATES; ++i) dy[@COORDINATES + i] = x[1 + @N + @at_coordinate[@COORDINATES + i]];
  return 0;
}
)";
}

std::string_view c_fixed_step() {
  return R"(
/* Runge and Kutta's step of y. */
static int @rk4(const @motion *m, const double *p, double h, double *y)
{
  double k[4][@Y], begin[@Y], stage[@Y];
  int i, j, status;
  for (i = 0; i < @COORDINATES + @STATES; ++i) begin[i] = m->q[i];
  for (i = 0; i < @COORDINATES; ++i) begin[@COORDINATES + @STATES + i] = m->v[i];
  for (j = 0; j < 4; ++j) {
    const double part = j == 0 ? 0 : j == 3 ? h : 0.5*h;
    for (i = 0; i < @Y; ++i) stage[i] = j ? begin[i] + part*k[j - 1][i] : begin[i];
    if ((status = @rate(m, m->t + part, stage, p, k[j])) != 0) return status;
  }
  for (i = 0; i < @Y; ++i) y[i] = begin[i] + h/6*(k[0][i] + 2*(k[1][i] + k[2][i]) + k[3][i]);
  return 0;
}
)";
}

std::string_view c_sampled_steps() {
  return R"(
/* Samples of control lie between steps: one that is due where a step ends is taken where the next begins. */
int @step_rk4(@motion *m, const double *p, double h)
{
  const double end = m->t + h;
  if (!(h >= 0) || !isfinite(h)) return h < 0 ? @BACKWARDS : @NO_NUMBER;
  while (m->t < end) {
    double to = end;
    int status = @sample(m, p);
    if (status) return m->status = status;
    if (to > @next_sample(m)) to = @next_sample(m);
    if ((status = @fixed_step(m, p, to - m->t)) != 0) return status;
    m->t = to;
  }
  return 0;
}
)";
}

std::string_view c_fixed_step_with_events() {
  return R"(
FIXED_STEP(@motion *m, const double *p, double h)
{
  const double end = m->t + h;
  double y[@Y], left = h;
  int i, k, over, status = m->status;
  if (status) return status;
  if (!(h >= 0) || !isfinite(h)) return h < 0 ? @BACKWARDS : @NO_NUMBER;
  if (!m->ordered) @find_orders(m, p);
  while (left > 0) {
    double low = 0, high = left;
    if ((status = @rk4(m, p, left, y)) != 0) return status;
    if ((over = @is_over(m, p, m->t + left, y)) < 0) return -over;
    for (k = 0; over && k < 60 && high - low > 2.2e-16*fabs(m->t + high); ++k) {
      const double middle = 0.5*(low + high);
      int there;
      if ((status = @rk4(m, p, middle, y)) != 0) return status;
      if ((there = @is_over(m, p, m->t + middle, y)) < 0) return -there;
      if (there) high = middle; else low = middle;
    }
    if (over && (status = @rk4(m, p, high, y)) != 0) return status;
    m->t = high < left ? m->t + high : end;
    left = high < left ? end - m->t : 0;
    for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = y[i];
    for (i = 0; i < @COORDINATES; ++i) m->v[i] = y[@COORDINATES + @STATES + i];
    @note_sizes(m);
    if (@is_off(m, p) && (status = @project(m, p)) != 0) return m->status = status;
    if (over && (status = @happen(m, p)) != 0) return m->status = status;
    if (!over) @keep_signs(m, p);
  }
  return 0;
}
)";
}

std::string_view c_sizes() {
  return R"(
static double @size_of(double a, double b) { return a > b ? a : b; }

/* What errors count against: the tolerance times the largest that each number has been. */
static void @note_sizes(@motion *m)
{
  int i;
  for (i = 0; i < @COORDINATES + @STATES; ++i) m->size[i] = @size_of(m->size[i], fabs(m->q[i]));
  for (i = 0; i < @COORDINATES; ++i) m->size[@COORDINATES + @STATES + i] = @size_of(m->size[@COORDINATES + @STATES + i], fabs(m->v[i]));
}
)";
}

std::string_view c_look_ahead() {
  return R"(
/* The least square of the sine between a row and those before it, so far ahead. */
static double @sine_ahead(const @motion *m, const double *p, double tau)
{
  enum { at_v = @COORDINATES + @STATES };
  double y[@Y], x[@X], r[2*KEPT_ROWS], most = 1;
  int i;
  for (i = 0; i < @COORDINATES; ++i) y[i] = m->y[i] + tau*(m->y[at_v + i] + 0.5*tau*m->k[0][at_v + i]);
  for (i = @COORDINATES; i < @Y; ++i) y[i] = m->y[i] + tau*m->k[0][i];
  @pack(m->t + tau, y, y + at_v, p, MODE_VALUES, x);
  @rank_values(x, r);
  for (i = 0; i < KEPT_ROWS; ++i) if (!(r[i]*r[KEPT_ROWS + i] <= most)) most = r[i]*r[KEPT_ROWS + i];
  return isfinite(most) ? 1/most : 0;
}

/* How far ahead the next singular configuration is; what is not within the next step may be anywhere. Squares of sines are parabolas there. */
static double @singular_ahead(@motion *m, const double *p)
{
  const double now = @sine_ahead(m, p, 0), speed = fabs(sqrt(now) - m->sine)/(m->t - m->t_sine), part = 0.35*m->h;
  double g[5], tau, width = part;
  int k, least = 0;
  m->sine = sqrt(now), m->t_sine = m->t;
  if (m->sine - 3.5*m->h*speed > 0.05) return INFINITY;
  for (g[0] = now, k = 1; k < 5; ++k) if ((g[k] = @sine_ahead(m, p, part*k)) < g[least]) least = k;
  least = least < 1 ? 1 : least > 3 ? 3 : least;
  tau = part*least, g[0] = g[least - 1], g[1] = g[least], g[2] = g[least + 1];
  for (k = 0; ; ++k) {
    const double curve = 0.5*(g[2] + g[0]) - g[1], place = 0.25*(g[0] - g[2])/curve, left = g[1] - curve*place*place;
    if (!(curve > 0) || !(tau + place*width > 0)) return INFINITY;
    tau += (place > 4 ? 4 : place < -4 ? -4 : place)*width;
    if (k == 3) return left < 0.25*now && left < 0.09*curve*(tau/width)*(tau/width) ? tau : INFINITY;
    width = (k ? 0.02 : 0.1)*tau;
    g[0] = @sine_ahead(m, p, tau - width), g[1] = @sine_ahead(m, p, tau), g[2] = @sine_ahead(m, p, tau + width);
  }
}
)";
}

std::string_view c_plan() {
  return R"(if (!across && singular < 1.35*m->h) {
      /* In the middle of the widest gap between stages, or so far away that it can be there next: whatever end is asked for. */
      const double before = singular - 0.396667*m->h;
      if (m->t + before < to) {
        across = singular <= 0.476*m->h;
        if (across) wanted = singular/0.466667;
        else if (wanted > before) wanted = before;
        last = 0;
      }
    })";
}

std::string_view c_leap() {
  return R"(
/* The state within a step that may end beyond it, on the constraints where they let it. */
static int @come_to(@motion *m, const double *p, double t)
{
  enum { at_v = @COORDINATES + @STATES };
  double y[@Y], held[@Y], dense[@Y][7];
  int i, status;
  m->beyond = t < m->t_last;
  for (i = 0; i < @Y; ++i) y[i] = held[i] = m->last[i];
  if (m->beyond) {
    if ((status = @extend_step(m, p, m->t_begin, m->length, m->last, dense)) != 0) return status;
    @state_at(m, dense[0], t, y);
    for (i = 0; i < @Y; ++i) held[i] = y[i];
    if (!@project_state(m, t, held, held + at_v, p)) for (i = 0; i < @Y; ++i) y[i] = held[i];
  }
  m->t = m->t_end = m->beyond ? t : m->t_last;
  for (i = 0; i < at_v; ++i) m->q[i] = m->end[i] = y[i];
  for (i = 0; i < @COORDINATES; ++i) m->v[i] = m->end[at_v + i] = y[at_v + i];
  @note_sizes(m);
  return 0;
}
)";
}

std::string_view c_adaptive_step() {
  return R"(
/* y + h sum a[j] k[j] */
static void @combine(const @motion *m, const double *a, int count, double h, double *out)
{
  int i, j;
  for (i = 0; i < @Y; ++i) out[i] = 0;
  for (j = 0; j < count; ++j) if (a[j] > 0 || a[j] < 0) for (i = 0; i < @Y; ++i) out[i] += a[j]*m->k[j][i];
  for (i = 0; i < @Y; ++i) out[i] = m->y[i] + h*out[i];
}


/* Whether the motion goes on from where the last step ended, with the same parameters: then its rate is known. */
static int @goes_on(const @motion *m, const double *p)
{
  int i, other = !m->goes_on || m->t < m->t_end || m->t > m->t_end;
  for (i = 0; i < @Y && !other; ++i) {
    const double now = i < @COORDINATES + @STATES ? m->q[i] : m->v[i - @COORDINATES - @STATES];
    other = now < m->end[i] || now > m->end[i];
  }
  for (i = 0; i < @PARAMETERS && !other; ++i) other = p[i] < m->with[i] || p[i] > m->with[i] || !isnan(p[i]) != !isnan(m->with[i]);
  return !other;
}

static double @error(const @motion *m, const double *y_new, double h)
{
  double five = 0, three = 0, largest_q = 0, largest_v = 0;
  int i, j;
  /* From rest, velocities count against what the first accelerations come to. */
  for (i = 0; i < @COORDINATES; ++i) {
    largest_q = @size_of(largest_q, m->size[i]);
    largest_v = @size_of(largest_v, @size_of(m->size[@COORDINATES + @STATES + i], fabs(h*m->k[0][@COORDINATES + @STATES + i])));
  }
  for (i = 0; i < @Y; ++i) {
    /* States are of kinds of their own. */
    const int is_q = i < @COORDINATES, is_state = !is_q && i < @COORDINATES + @STATES;
    const double floor = is_q ? @size_of(1e-2*largest_q, fabs(h)*largest_v) : is_state ? fabs(h)*@size_of(fabs(m->k[0][i]), m->rate_size[i - @COORDINATES]) : 1e-2*largest_v;
    double e5 = 0, e3 = 0, scale = @size_of(@size_of(m->size[i], fabs(y_new[i])), floor);
    if (!(scale > 0)) scale = 1;
    scale *= m->tolerance;
    for (j = 0; j < 12; ++j) e5 += @e5[j]*m->k[j][i], e3 += @a[12][j]*m->k[j][i];
    e3 -= @b3[0]*m->k[0][i] + @b3[1]*m->k[8][i] + @b3[2]*m->k[11][i];
    five = @size_of(five, fabs(h*e5)/scale), three = @size_of(three, fabs(h*e3)/scale);
    if (isnan(e5) || isnan(e3)) return INFINITY;
  }
  if (!(five > 0)) return 0;
  return five/sqrt(1 + 0.01*(three/five)*(three/five));
}

/* The continuous extension of order 7, of three more stages. */
static int @extend_step(const @motion *m, const double *p, double begin, double h, const double *y_new, double dense[@Y][7])
{
  double k[16][@Y], stage[@Y], sum[4][@Y];
  int i, j, s, status;
  for (s = 0; s < 13; ++s) for (i = 0; i < @Y; ++i) k[s][i] = m->k[s][i];
  for (s = 13; s < 16; ++s) {
    for (i = 0; i < @Y; ++i) stage[i] = 0;
    for (j = 0; j < s; ++j) if (@a[s][j] > 0 || @a[s][j] < 0) for (i = 0; i < @Y; ++i) stage[i] += @a[s][j]*k[j][i];
    for (i = 0; i < @Y; ++i) stage[i] = m->y[i] + h*stage[i];
    if ((status = @rate(m, begin + @c[s]*h, stage, p, k[s])) != 0) return status;
  }
  for (j = 0; j < 4; ++j) {
    for (i = 0; i < @Y; ++i) sum[j][i] = 0;
    for (s = 0; s < 16; ++s) if (@d[j][s] > 0 || @d[j][s] < 0) for (i = 0; i < @Y; ++i) sum[j][i] += @d[j][s]*k[s][i];
  }
  for (i = 0; i < @Y; ++i) {
    const double difference = y_new[i] - m->y[i];
    double *F = dense[i];
    F[0] = difference;
    F[1] = h*k[0][i] - difference;
    F[2] = 2*difference - h*(k[12][i] + k[0][i]);
    for (j = 0; j < 4; ++j) F[3 + j] = h*sum[j][i];
  }
  return 0;
}

COME_TO
int @step(@motion *m, const double *p, double to)
{
  enum { n = @COORDINATES, at_v = @COORDINATES + @STATES };
  double y_new[@Y], stage[@Y], h, error, t_new;
  double landing_at = 0, shrunk = 0;
  int i, tries, leaps = 0, since = 0, landing = 0, status = m->status;
  STEP_SIDES
  if (status) return status;
  if (!isfinite(to) || !(m->tolerance > 0)) return @NO_NUMBER;
  if (!(to > m->t)) return to < m->t ? @BACKWARDS : 0;
  m->event = -1;
  STEP_WITHIN
  /* Nearer to each other than the clock can tell. */
  if (to - m->t <= 8e-16*@size_of(fabs(m->t), fabs(to))) { m->t = to; return 0; }
  TAKE_SAMPLE
  STEP_ORDER
  for (i = 0; i < at_v; ++i) m->y[i] = m->q[i];
  for (i = 0; i < n; ++i) m->y[at_v + i] = m->v[i];
  if (@goes_on(m, p)) for (i = 0; i < @Y; ++i) m->k[0][i] = m->k[12][i];
  else {
    STEP_REFRESH
    if ((status = @rate(m, m->t, m->y, p, m->k[0])) != 0) return status;
  }
  /* What depends on the time may happen while nothing else does, and events are looked for on samples of a step. */
  m->span = @size_of(to, RUN_TO) - m->t_first;
  if (m->h > m->span/LEAST_STEPS) m->h = m->span/LEAST_STEPS;
  if (!(m->h > 0)) {
    double change = INFINITY, largest = 0, fastest = 0, hardest = 0;
    for (i = 0; i < n; ++i) largest = @size_of(largest, m->size[i]), fastest = @size_of(fastest, fabs(m->v[i])), hardest = @size_of(hardest, fabs(m->k[0][at_v + i]));
    /* Positions may be zero, or the rounding of it: the way on which velocities become others counts too. */
    if (largest > 0 && hardest > 0) largest = @size_of(largest, fastest*fastest/hardest);
    for (i = 0; i < n; ++i) {
      const double speed = fabs(m->v[i]), force = fabs(m->k[0][at_v + i]), length = largest > 0 ? @size_of(m->size[i], 1e-2*largest) : 1;
      if (speed > 0 && length/speed < change) change = length/speed;
      if (force > 0 && sqrt(length/force) < change) change = sqrt(length/force);
    }
    for (i = n; i < at_v; ++i) if (fabs(m->k[0][i]) > 0 && @size_of(m->size[i], 1e-3)/fabs(m->k[0][i]) < change) change = @size_of(m->size[i], 1e-3)/fabs(m->k[0][i]);
    m->h = change < INFINITY ? change*pow(0.01*m->tolerance, 0.125) : (to - m->t)/100;
  }
  STEP_LOOK
  /* Near a singular configuration short steps do not help: a stage that is close to it, or off the constraints, spoils the error. One of these leaps across, with stages on the constraints. */
  for (tries = 0; ; ++tries) {
    static const double leap[] = {0.7, 1, 1.3, 0.5, 1.7, 0.35, 2.2, 0.25, 0.18, 0.13, 0.09, 0.06};
    double wanted;
    int across, last;
    if (landing == 2) { STEP_LANDS_NOT landing = 0; }
    if (!leaps && tries > 0 && @ROWS > @REQUIREMENTS && m->h < 0.05*m->usual) shrunk = m->h;
    if (shrunk > 0) {
      if (leaps < 12) m->h = leap[leaps++]*m->usual, since = 0, landing = 0;
      else m->h = shrunk, shrunk = 0;
    }
    wanted = m->h, across = shrunk > 0, last = STEP_CUT m->t + wanted >= to;
    STEP_PLAN
    t_new = landing ? landing_at : last ? to : m->t + wanted;
    if (landing) landing = 2; /* if it fails, it is not where it was looked for */
    h = t_new - m->t;
    if ((!landing && !(h > 4e-16*@size_of(fabs(m->t), fabs(to - m->t)*1e-6))) || tries > 300) return status ? status : @STEP_TOO_SMALL;
    status = 0;
    for (i = 1; i < 12 && !status; ++i) {
      @combine(m, @a[i], i, h, stage);
      if (across) status = @project_state(m, m->t + @c[i]*h, stage, stage + at_v, p);
      if (!status) status = @rate(m, m->t + @c[i]*h, stage, p, m->k[i]);
    }
    if (status) { m->h = 0.25*h; continue; }
    @combine(m, @a[12], 12, h, y_new);
    error = @error(m, y_new, h);
    STEP_NOISE
    if (error > 1) {
      /* Where something has a kink, errors shrink as the step does, not as its eighth power. */
      const double factor = @size_of(0.2, 0.9*pow(error, -0.125));
      m->h = h*(++since > 2 && factor > 0.5 ? 0.5 : factor);
      continue;
    }
    {
      status = @project_state(m, t_new, y_new, y_new + at_v, p);
      if (status) { m->h = 0.5*h; continue; }
    }
    if ((status = @rate(m, t_new, y_new, p, m->k[12])) != 0) { m->h = 0.5*h; continue; }
    STEP_DENSE
    STEP_SWITCH
    break;
  }
  {
    const double growth = error > 0 ? 0.9*pow(error, -0.125) : 10, planned = m->h;
    m->h = h*(growth > 10 ? 10 : growth < 0.2 ? 0.2 : growth);
    if (h < 0.5*planned && m->h < planned) m->h = planned;
    /* One that was cut would have been as long as planned. */
    m->usual = @size_of(t_new < to ? h : planned, 0.95*m->usual);
  }
  m->t_begin = m->t, m->t = landing STEP_PASSED ? t_new : h < to - m->t ? m->t + h : to, m->length = m->t - m->t_begin;
  for (i = 0; i < at_v; ++i) m->q[i] = y_new[i];
  for (i = 0; i < n; ++i) m->v[i] = y_new[at_v + i];
  for (i = 0; i < @PARAMETERS; ++i) m->with[i] = p[i];
  for (i = 0; i < @Y; ++i) m->end[i] = y_new[i];
  m->t_end = m->t, m->goes_on = 1;
  @note_sizes(m);
  ++m->steps;
  STEP_END
}

void @dense(const @motion *m, double t, double *q, double *v)
{
  double y[@Y];
  int i;
  DENSE_STATE
  for (i = 0; i < @COORDINATES + @STATES; ++i) q[i] = y[i];
  for (i = 0; i < @COORDINATES; ++i) v[i] = y[@COORDINATES + @STATES + i];
}
)";
}

}  // namespace mechanician
