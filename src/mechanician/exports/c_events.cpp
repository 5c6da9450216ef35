// Events inside a step of exported C.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_state_at() {
  return R"(
static void @state_at(const @motion *m, const double *dense, double t, double *y)
{
  const double theta = m->length > 0 ? (t - m->t_begin)/m->length : 1;
  int i, j;
  for (i = 0; i < @Y; ++i) {
    const double *F = dense + 7*i;
    double sum = 0;
    for (j = 6; j >= 0; --j) sum = (F[j] + sum)*((j & 1) ? 1 - theta : theta);
    y[i] = m->y[i] + sum;
  }
}
)";
}

std::string_view c_events() {
  return R"(
/* Whether an event has come to the other side of zero, or onto it. */
static int @passed(double sign, double value) { return (sign > 0 && value <= 0) || (sign < 0 && value >= 0); }

/* 1 where something ends or happens at this state, 0 where nothing does; -status. */
static int @is_over(const @motion *m, const double *p, double t, const double *y)
{
  double guard[@GUARDS + 1], event[@EVENTS + 1];
  const int status = @watch(m, t, y, y + @COORDINATES + @STATES, p, guard, event, 0);
  int i;
  if (status) return -status;
  for (i = 0; i < @GUARDS; ++i) if (guard[i] < 0) return 1;
  for (i = 0; i < @EVENTS; ++i) if (@passed(m->sign[i], event[i])) return 1;
  return IS_BEYOND;
}

/* On which side of its events a motion is. */
static void @keep_signs(@motion *m, const double *p)
{
  double guard[@GUARDS + 1], event[@EVENTS + 1];
  char arm[@GUARDS + 1];
  int i;
  if (@watch(m, m->t, m->q, m->v, p, guard, event, arm)) return;
  for (i = 0; i < @EVENTS; ++i) {
    m->seen[i] = @size_of(m->seen[i], fabs(event[i]));
    if (!(fabs(m->sign[i]) > 0) && fabs(event[i]) > 1e-12*m->seen[i]) m->sign[i] = event[i] > 0 ? 1 : -1;
  }
  KEEP_ARMED
  KEEP_LEVELS
}

/* What happens at the state of now, until nothing does any more. */
int @happen(@motion *m, const double *p)
{
  int round, i;
  m->goes_on = 0;
  /* Events that follow each other at once, without end. */
  if (fabs(m->t - m->storm_since) > 1e-9*fabs(m->t)) m->storm_since = m->t, m->storm = 0;
  if (++m->storm > 2000) return @STORM;
  for (round = 0; round < 100; ++round) {
    double guard[@GUARDS + 1], event[@EVENTS + 1];
    int any = 0, status = @watch(m, m->t, m->q, m->v, p, guard, event, 0);
    if (status) return status;
    HAPPEN_SWITCHES
    HAPPEN_CONTACTS
    for (i = 0; i < @EVENTS && any != 1; ++i) if (@passed(m->sign[i], event[i])) {
      /* Its side is known again when it has left zero. */
      const double side = -m->sign[i];
      m->sign[i] = 0;
      if (@event_fact[i].direction*side < 0) { any = 2; continue; }
      m->event = i, any = 1;
      if (@event_fact[i].stops) m->stopped = 1;
      HAPPEN_CHANGES
    }
    @keep_signs(m, p);
    if (any != 1) return 0;
  }
  return @STORM;
}

int @completed(@motion *m, const double *p)
{
  double y[@Y];
  int i, over;
  KEEP_ORDER
  @note_sizes(m);
  for (i = 0; i < @COORDINATES + @STATES; ++i) y[i] = m->q[i];
  for (i = 0; i < @COORDINATES; ++i) y[@COORDINATES + @STATES + i] = m->v[i];
  over = @is_over(m, p, m->t, y);
  if (!over) @keep_signs(m, p);
  return over != 0;
}

/* Where within the last step something ends or happens: the step is cut there. */
static int @search(@motion *m, const double *p)
{
  enum { looks = 6 };
  const double begin = m->t_begin, end = m->t;
  double y[@Y], low = begin, high = begin;
  int i, k, over = 0;
  for (k = 1; k <= looks && !over; ++k) {
    low = high, high = k < looks ? begin + (end - begin)*k/looks : end;
    @state_at(m, m->dense[0], high, y);
    if ((over = @is_over(m, p, high, y)) < 0) return -over;
  }
  if (!over) { @keep_signs(m, p); return 0; }
  for (k = 0; k < 80 && high - low > 2.2e-16*(fabs(high) > high - low ? fabs(high) : high - low); ++k) {
    const double middle = 0.5*(low + high);
    int there;
    if (!(middle > low && middle < high)) break;
    @state_at(m, m->dense[0], middle, y);
    if ((there = @is_over(m, p, middle, y)) < 0) return -there;
    if (there) high = middle; else low = middle;
  }
  @state_at(m, m->dense[0], high, y);
  if (high < end) {
    m->t = high;
    for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = y[i];
    for (i = 0; i < @COORDINATES; ++i) m->v[i] = y[@COORDINATES + @STATES + i];
    PROJECT_CUT
  }
  return @happen(m, p);
}
)";
}

}  // namespace mechanician
