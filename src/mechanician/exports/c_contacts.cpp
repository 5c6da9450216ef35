// The laws of contacts in exported C: those of instant/contacts.hpp and instant/impact.hpp; of few contacts all modes are tried.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_acting() {
  return R"(
static int @acts(const @modes *d, int j)
{
  const int c = @contact_at[j];
  if (!d->engaged[j]) return 0;
  return c < 0 || (!@contact[c].bare && (!@contact[c].one_sided || d->status[c] != @OPEN));
}

/* What a contact does in a projection: its gap stays closed, and where it sticks velocities do not slip. */
static void @rest(@modes *d, int c, int velocities) { if (d->status[c] == @SLIDES || (d->status[c] == @STICKS && !velocities)) d->status[c] = @HOLDS; }

static double @dot(const double *a, const double *b) { double sum = 0; int i; for (i = 0; i < @N; ++i) sum += a[i]*b[i]; return sum; }
static double @terms(const double *a, const double *b) { double sum = 0; int i; for (i = 0; i < @N; ++i) sum += fabs(a[i]*b[i]); return sum; }
)";
}

std::string_view c_contact_law() {
  return R"(
/* The k-th thing that a contact may do: how many there are, and that one in d. Directions of slips that begin in a plane are found by iteration. */
static int @option(const char *touches, const char *directed, const char *plain, int c, int k, @modes *d)
{
  const int rubs = @contact[c].slips > 0 && !plain[c], two_sided = !@contact[c].one_sided && !@contact[c].bare;
  const int ways = !rubs ? 1 : directed[c] ? 1 : @contact[c].slips == 1 ? 3 : 2;
  const int signs = two_sided && rubs ? 2 : 1, opens = @contact[c].one_sided;
  int way = k, sign = 0;
  if (!d->engaged[@contact[c].row] || (@contact[c].one_sided && !touches[c])) { d->status[c] = @OPEN; return 1; }
  if (opens && k == ways) { d->status[c] = @OPEN; return ways + 1; }
  /* Sticking needs no sign. */
  if (signs == 2 && (directed[c] || k > 0)) way = directed[c] ? 0 : 1 + (k - 1)/2, sign = directed[c] ? k : (k - 1)%2;
  d->sign[c] = sign ? -1 : 1;
  if (!rubs) d->status[c] = @HOLDS;
  else if (!directed[c] && way == 0) d->status[c] = @STICKS;
  else {
    d->status[c] = @SLIDES;
    if (!directed[c] && @contact[c].slips == 1) d->direction[c][0] = way == 1 ? 1 : -1, d->direction[c][1] = 0;
  }
  return opens ? ways + 1 : signs == 1 ? ways : directed[c] ? 2 : 1 + 2*(ways - 1);
}

/* How large A a would be if nothing held. */
static double @freely(const @numbers *s, const double *A, const double *given)
{
  double sum = 0;
  int i;
  for (i = 0; i < @N; ++i) if (s->M[i*@N + i] > 0) sum += fabs(A[i]*given[i])/s->M[i*@N + i];
  return sum;
}

/* By row, what forces and inertia come to along it, if it alone had to hold them. */
static void @weigh(const @numbers *s, const double *given, const double *a, double *load)
{
  double w[@N];
  int i;
  for (i = 0; i < @R; ++i) load[i] = 0;
  for (i = 0; i < @N; ++i) w[i] = fabs(given[i]);
  for (i = 0; i < @M_ENTRIES; ++i) w[@M_at[i]/@N] += fabs(s->M[@M_at[i]]*a[@M_at[i]%@N]);
  for (i = 0; i < @A_ENTRIES; ++i) {
    const double A = fabs(s->A[@A_at[i]]), here = w[@A_at[i]%@N];
    if (A > 0 && here > load[@A_at[i]/@N]*A) load[@A_at[i]/@N] = here/A;
  }
}

/* Whether a mode obeys the law, with these answers. How contacts that stick share what they hold is found last. */
static int @obeys(const @numbers *s, const @modes *d, const char *touches, const char *directed, const double *given, const double *b, const double *slip_b, const double *a,
                  const double *lambda, double *f, char *sure)
{
  double load[@R + 1];
  int c, k;
  @weigh(s, given, a, load);
  for (c = 0; c < @CONTACTS; ++c) {
    const int j = @contact[c].row;
    const double *A = s->A + j*@N, force = load[j];
    double pull = 0;
    if (!d->engaged[j]) continue;
    if (d->status[c] == @OPEN) {
      if (touches[c] && @contact[c].one_sided && @dot(A, a) - b[j] < -1e-9*(@terms(A, a) + fabs(b[j]) + @freely(s, A, given))) return 0;
      continue;
    }
    if (!@contact[c].bare && !sure[@N + j]) return 0;
    if (@contact[c].one_sided && lambda[j] < -1e-10*force) return 0;
    if (d->status[c] == @SLIDES && !@contact[c].one_sided && !@contact[c].bare && d->sign[c]*lambda[j] < -1e-10*force) return 0;
    for (k = 0; k < @contact[c].slips && d->status[c] == @SLIDES && !directed[c]; ++k) {
      const int at = @contact[c].first + k;
      const double *T = s->T + at*@N;
      pull += (@dot(T, a) - slip_b[at])*d->direction[c][k];
      if (k + 1 == @contact[c].slips && pull < -1e-9*(@terms(T, a) + fabs(slip_b[at]) + @freely(s, T, given))) return 0;
    }
  }
  if (@share(s, d, lambda, f, sure)) return 0;
  for (c = 0; c < @CONTACTS; ++c) if (d->engaged[@contact[c].row] && d->status[c] == @STICKS) {
    const int j = @contact[c].row;
    double size = 0;
    for (k = 0; k < @contact[c].slips; ++k) {
      if (!sure[@N + @R + @contact[c].first + k]) return 0;
      size += f[@contact[c].first + k]*f[@contact[c].first + k];
    }
    if (sqrt(size) > s->friction[c]*(@contact[c].limited ? 1 : fabs(@contact[c].bare ? 0 : lambda[j]))*(1 + 1e-10) + 1e-12*load[j]) return 0;
  }
  return 1;
}

/* Without friction, one change after the other, the first that is needed: Murty's pivots. What depends on others and is not needed is left open. */
static int @pivot(const @pushes *way, const @numbers *s, const @modes *now, const char *touches, const double *force, const double *b, const double *slip_b,
                  @modes *d, double *a, double *lambda, double *f)
{
  double load[@R + 1];
  char act[@R + 1], sure[@LARGEST];
  int c, j, turns, status;
  *d = *now;
  for (c = 0; c < @CONTACTS; ++c) {
    d->status[c] = d->engaged[@contact[c].row] && (touches[c] || !@contact[c].one_sided) ? @HOLDS : @OPEN;
    d->sign[c] = 1;
  }
  for (turns = 0; turns < 100 + 20*@CONTACTS; ++turns) {
    int wrong = -1;
    for (j = 0; j < @R; ++j) act[j] = (char)@acts(d, j);
    status = @solve_mode(way, s, act, d, slip_b, force, b, a, lambda, f, sure);
    if (status == @NOT_FINITE || status == @NOT_UNIQUE) return status;
    @weigh(s, force, a, load);
    for (c = 0; c < @CONTACTS && wrong < 0; ++c) {
      const double *A = s->A + @contact[c].row*@N;
      j = @contact[c].row;
      if (!@contact[c].one_sided || !touches[c] || !d->engaged[j]) continue;
      if (d->status[c] == @OPEN) {
        if (!status && @dot(A, a) - b[j] < -1e-9*(@terms(A, a) + fabs(b[j]) + @freely(s, A, force))) wrong = c;
      } else if (status || !sure[@N + j] || lambda[j] < -1e-10*load[j]) wrong = c;
    }
    /* The answer itself is that of the whole system. */
    if (wrong < 0) return status || !way->made ? status : @solve_rows(0, s, act, d, slip_b, force, b, a, lambda, f, sure);
    d->status[wrong] = d->status[wrong] == @OPEN ? @HOLDS : @OPEN;
  }
  return @NO_MODE;
}

/* Which contacts hold, stick and slide, of those that touch, and what follows from it: accelerations, or velocities after an impact. */
static int @resolve(const @numbers *s, const @modes *now, const char *touches, const char *directed, const char *plain, const double *force,
                    const double *b, const double *slip_b, @modes *found, double *a, double *lambda, double *f)
{
  double a2[@N], lambda2[@R + 1], f2[@SLIPS + 2];
  char act[@R + 1], sure[@LARGEST];
  @pushes way;
  long total = 1, n;
  int c, j, k, valid = 0, rubs = 0, planes = 0, trouble = @NO_MODE, most = 200;
  for (c = 0; c < @CONTACTS; ++c) {
    @modes d = *now;
    total *= @option(touches, directed, plain, c, 0, &d);
    rubs |= @contact[c].slips > 0 && !plain[c];
    planes += @contact[c].slips == 2 && !plain[c] && !directed[c] && d.engaged[@contact[c].row] && (touches[c] || !@contact[c].one_sided);
    if (total > 20000) total = 20001;
  }
  if (total > 20000 && rubs) return @TOO_MANY;
  @find_pushes(s, now, force, b, slip_b, &way);
  if (!rubs) return @pivot(&way, s, now, touches, force, b, slip_b, found, a, lambda, f);
  if (total > 64) most = 40;
  /* First without slips that begin in a plane, then with one of them, then with several. Where several contacts could begin such a slip the first that are
     found do: what else there might be is not looked for, as by the engine. */
  for (n = 0; n < (planes > 1 ? 3 : planes + 1)*total; ++n) {
    @modes d = *now;
    long rest = n%total;
    int status, turns, in_plane = 0;
    if (valid && planes > 1 && rest == 0) break;
    for (c = 0; c < @CONTACTS; ++c) {
      const int options = @option(touches, directed, plain, c, 0, &d);
      @option(touches, directed, plain, c, (int)(rest%options), &d);
      rest /= options;
      if (d.status[c] == @SLIDES && !directed[c] && @contact[c].slips == 2) {
        ++in_plane;
        if (fabs(now->direction[c][0]) + fabs(now->direction[c][1]) > 0) d.direction[c][0] = now->direction[c][0], d.direction[c][1] = now->direction[c][1];
        else d.direction[c][0] = 1, d.direction[c][1] = 0;
      }
    }
    if ((in_plane > 2 ? 2 : in_plane) != n/total) continue;
    for (j = 0; j < @R; ++j) act[j] = (char)@acts(&d, j);
    if (in_plane) {
      /* A slip begins against the force that would have held it, or nearly. */
      @modes stuck = d;
      for (c = 0; c < @CONTACTS; ++c) if (d.status[c] == @SLIDES && !directed[c] && @contact[c].slips == 2) stuck.status[c] = @STICKS;
      if (!@solve_mode(&way, s, act, &stuck, slip_b, force, b, a2, lambda2, f2, sure))
        for (c = 0; c < @CONTACTS; ++c) if (stuck.status[c] != d.status[c]) {
          const double *held = f2 + @contact[c].first, size = sqrt(held[0]*held[0] + held[1]*held[1]);
          for (k = 0; k < 2 && size > 0; ++k) d.direction[c][k] = -held[k]/size;
        }
    }
    status = @solve_mode(&way, s, act, &d, slip_b, force, b, a2, lambda2, f2, sure);
    for (turns = 0; !status && in_plane && turns < most; ++turns) {
      double change = 0;
      for (c = 0; c < @CONTACTS; ++c) if (d.status[c] == @SLIDES && !directed[c] && @contact[c].slips == 2) {
        double slip[2], size;
        for (k = 0; k < 2; ++k) slip[k] = @dot(s->T + (@contact[c].first + k)*@N, a2) - slip_b[@contact[c].first + k];
        size = sqrt(slip[0]*slip[0] + slip[1]*slip[1]);
        if (!(size > 0)) continue;
        /* Strong friction throws the direction about: then half of the way. */
        for (k = 0; k < 2 && turns > 20; ++k) slip[k] = slip[k]/size + d.direction[c][k];
        if (turns > 20) size = sqrt(slip[0]*slip[0] + slip[1]*slip[1]);
        if (!(size > 0)) continue;
        for (k = 0; k < 2; ++k) {
          const double next = slip[k]/size;
          if (fabs(next - d.direction[c][k]) > change) change = fabs(next - d.direction[c][k]);
          d.direction[c][k] = next;
        }
      }
      if (change < 1e-14) break;
      status = @solve_mode(&way, s, act, &d, slip_b, force, b, a2, lambda2, f2, sure);
    }
    if (status == @NOT_FINITE) return status;
    if (status) { if (trouble == @NO_MODE) trouble = status; continue; }
    if (turns == most || !@obeys(s, &d, touches, directed, force, b, slip_b, a2, lambda2, f2, sure)) continue;
    if (valid) {
      double size = 0;
      for (j = 0; j < @N; ++j) {
        const double freely = s->M[j*@N + j] > 0 ? fabs(force[j])/s->M[j*@N + j] : 0, larger = fabs(a[j]) > fabs(a2[j]) ? fabs(a[j]) : fabs(a2[j]);
        if (larger > size) size = larger;
        if (freely > size) size = freely;
      }
      for (j = 0; j < @N; ++j) if (fabs(a[j] - a2[j]) > 1e-7*size) return @SEVERAL;
      continue;
    }
    valid = 1, *found = d;
    for (j = 0; j < @N; ++j) a[j] = a2[j];
    for (j = 0; j < @R; ++j) lambda[j] = lambda2[j];
    for (j = 0; j < @SLIPS; ++j) f[j] = f2[j];
  }
  if (!valid || !way.made) return valid ? 0 : trouble;
  /* The answer itself is that of the whole system. */
  for (j = 0; j < @R; ++j) act[j] = (char)@acts(found, j);
  trouble = @solve_rows(0, s, act, found, slip_b, force, b, a, lambda, f, sure);
  return trouble ? trouble : @share(s, found, lambda, f, sure);
}
)";
}

std::string_view c_floor() {
  return R"(
/* What positions or velocities are large against: what they have been; from rest, what forces would make of them on the way of a length. */
static double @floor_of(const @motion *m, const @numbers *s, int velocities)
{
  double length = 0, speed = 0, force = 0;
  int i;
  for (i = 0; i < @COORDINATES; ++i) length = @size_of(length, m->size[i]), speed = @size_of(speed, m->size[@COORDINATES + @STATES + i]);
  if (!velocities) return length;
  for (i = 0; i < @N; ++i) if (s->M[i*@N + i] > 0) force = @size_of(force, fabs(s->Q[i])/s->M[i*@N + i]);
  return @size_of(speed, 1e-3*sqrt(force*length));
}
)";
}

std::string_view c_impacts() {
  return R"(
/* Velocities after an impact, with all restitutions times `part`. */
static int @try_jump(const @numbers *s, const @modes *d, const char *touches, const char *plain, const double *v, double part, double *after, double *gain)
{
  double force[@N], b[@R + 1] = {0}, slip_b[@SLIPS + 1] = {0}, lambda[@R + 1], f[@SLIPS + 1], surface = 0, kinetic = 0;
  char directed[@CONTACTS + 1];
  @modes found;
  int c, i, j, status;
  for (i = 0; i < @N; ++i) force[i] = @dot(s->M + i*@N, v);
  for (j = 0; j < @R; ++j) {
    const double off = @row_level[j] == 0 ? s->rate[j] : @row_level[j] == 1 || @row_level[j] == 4 ? s->residual[j] : 0;
    b[j] = @dot(s->A + j*@N, v) - off;
  }
  for (c = 0; c < @CONTACTS; ++c) {
    directed[c] = 0;
    j = @contact[c].row;
    if (@contact[c].one_sided && !@contact[c].velocity && -part*s->restitution[c]*s->rate[j] > 0) b[j] -= part*s->restitution[c]*s->rate[j];
  }
  for (i = 0; i < @SLIPS; ++i) slip_b[i] = @dot(s->T + i*@N, v) - s->slip[i];
  if ((status = @resolve(s, d, touches, directed, plain, force, b, slip_b, &found, after, lambda, f)) != 0) return status;
  for (j = 0; j < @R; ++j)
    surface += lambda[j]*(@dot(s->A + j*@N, v) - (@row_level[j] == 0 ? s->rate[j] : @row_level[j] == 1 || @row_level[j] == 4 ? s->residual[j] : 0));
  for (i = 0; i < @SLIPS; ++i) surface += f[i]*slip_b[i];
  for (i = 0; i < @N; ++i) kinetic += 0.5*(after[i] - v[i])*@dot(s->M + i*@N, after) + 0.5*v[i]*(@dot(s->M + i*@N, after) - force[i]);
  *gain = kinetic - surface;
  return 0;
}

/* Newton's and Coulomb's law together can add energy: then the restitution of the whole impact is lowered to the largest part that does not. */
static int @jump(const @numbers *s, const @modes *d, const char *touches, double *v, int with_restitution)
{
  double after[@N], gain, before = 0;
  char plain[@CONTACTS + 1];
  int c, i, status, rubs = 0;
  for (c = 0; c < @CONTACTS; ++c) {
    plain[c] = (char)(@contact[c].limited || @contact[c].bare);
    rubs |= @contact[c].slips > 0 && !plain[c];
  }
  for (i = 0; i < @N; ++i) before += 0.5*v[i]*@dot(s->M + i*@N, v);
  if ((status = @try_jump(s, d, touches, plain, v, with_restitution ? 1 : 0, after, &gain)) != 0) return status;
  if (rubs && with_restitution && gain > 1e-12*before) {
    double low = 0, high = 1, best[@N];
    if ((status = @try_jump(s, d, touches, plain, v, 0, best, &gain)) != 0) return status;
    for (i = 0; i < 60; ++i) {
      const double middle = 0.5*(low + high);
      if (!@try_jump(s, d, touches, plain, v, middle, after, &gain) && gain <= 1e-12*before) {
        low = middle;
        for (c = 0; c < @N; ++c) best[c] = after[c];
      } else high = middle;
    }
    for (i = 0; i < @N; ++i) after[i] = best[i];
  }
  for (i = 0; i < @N; ++i) v[i] = after[i];
  return 0;
}
)";
}

}  // namespace mechanician
