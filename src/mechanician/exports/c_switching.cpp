// What changes on the way, in exported C: contacts that open, close, stick and slide, and what events release, engage or set.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_phases() {
  return R"(
/* All numbers at the state of a motion; its velocities, states' included, in v. */
static int @number_now(const @motion *m, const double *p, double *x, @numbers *s, double *v)
{
  int i;
  @pack(m->t, m->q, m->v, p, m->d.mode, m->side, x);
  for (i = 0; i < @N; ++i) v[i] = x[1 + @N + i];
  return @number(x, s);
}

/* What gaps, rates and slips of a contact are small against. */
static double @gap_size(const @motion *m, const @numbers *s, int j)
{
  double sum = 0, largest = 0;
  int i;
  for (i = 0; i < @COORDINATES; ++i) if (m->size[i] > largest) largest = m->size[i];
  for (i = 0; i < @COORDINATES; ++i) sum += fabs(s->A[j*@N + @at_coordinate[i]])*(m->size[i] > 1e-3*largest ? m->size[i] : 1e-3*largest);
  return sum;
}
static double @rate_size(const @motion *m, const @numbers *s, const double *row, double moving)
{
  double sum = fabs(moving), least = 1e-3*@floor_of(m, s, 1);
  int i;
  for (i = 0; i < @COORDINATES; ++i) sum += fabs(row[@at_coordinate[i]])*@size_of(m->size[@COORDINATES + @STATES + i], least);
  return sum;
}

/* What each contact does from now on. crossed: by guard, what has come to its end; null: nothing is known but the state. changed: an event has changed
   the system, and velocities may have to jump. */
static int @settle(@motion *m, const double *p, const char *crossed, int changed)
{
  @numbers s = {0};
  double x[@X], v[@N], a[@N] = {0}, lambda[@R + 1] = {0}, f[@SLIPS + 1] = {0};
  char touches[@CONTACTS + 1], directed[@CONTACTS + 1], closing[@CONTACTS + 1], lifted[@CONTACTS + 1], pushed[@CONTACTS + 1], low[@CONTACTS + 1], plain[@CONTACTS + 1];
  @modes d = m->d, found;
  int c, i, j, k, status, round, jumped = 0, again;
  for (m->ordered = i = 0; i < 3; ++i) m->order[i].size = 0;
  if ((status = @number_now(m, p, x, &s, v)) != 0) return status;
  if (crossed) {
    char act[@R + 1], sure[@LARGEST];
    for (j = 0; j < @R; ++j) act[j] = (char)@acts(&m->d, j);
    status = @solve_rows(0, &s, act, &m->d, s.slip_b, s.C, s.b, a, lambda, f, sure);
    if (!status) status = @share(&s, &m->d, lambda, f, sure);
    if (status && !changed) return status;
  }
  for (c = 0; c < @CONTACTS; ++c) {
    const int first = @contact[c].guard, old = m->d.status[c];
    const double *A = s.A + @contact[c].row*@N, rate = @contact[c].velocity ? s.residual[@contact[c].row] : s.rate[@contact[c].row];
    const double small = 1e-9*@rate_size(m, &s, A, rate - @dot(A, v)), gap = @contact[c].velocity ? 0 : s.residual[@contact[c].row];
    double slip = 0, slip_size = 0;
    j = @contact[c].row;
    touches[c] = closing[c] = lifted[c] = pushed[c] = low[c] = directed[c] = plain[c] = 0;
    if (!m->d.engaged[j]) continue;
    if (!@contact[c].one_sided) touches[c] = 1;
    else if (crossed && old != @OPEN) {
      touches[c] = (char)!crossed[first];
      lifted[c] = crossed[first];
    } else if (crossed && crossed[first]) {
      touches[c] = (char)(@contact[c].velocity || fabs(rate) <= small);
      closing[c] = (char)(!touches[c] && rate < 0);
    } else if (@contact[c].velocity ? rate <= small : gap <= 1e-9*@gap_size(m, &s, j)) {
      touches[c] = (char)(@contact[c].velocity || fabs(rate) <= small);
      closing[c] = (char)(!touches[c] && rate < 0);
    }
    for (k = 0; k < @contact[c].slips; ++k) {
      const int at = @contact[c].first + k;
      slip += s.slip[at]*s.slip[at];
      slip_size += @rate_size(m, &s, s.T + at*@N, s.slip[at] - @dot(s.T + at*@N, v));
    }
    slip = sqrt(slip);
    if (@contact[c].slips > 0 && (slip > 1e-9*slip_size || (crossed && old == @SLIDES))) {
      const double rest = (m->tolerance > 1e-12 ? 1e12*m->tolerance : 1)*1e-9*slip_size;
      directed[c] = 1;
      if (crossed && old == @SLIDES && crossed[first + 1] && slip <= rest) directed[c] = 0;
      if (crossed && old == @STICKS) directed[c] = 0;
      if (directed[c] && slip > 1e-9*slip_size) for (k = 0; k < @contact[c].slips; ++k) d.direction[c][k] = s.slip[@contact[c].first + k]/slip;
    }
    if (crossed && old == @STICKS && crossed[first + 1]) {
      /* The slip begins against the friction that held it. */
      double size = 0;
      for (k = 0; k < @contact[c].slips; ++k) size += f[@contact[c].first + k]*f[@contact[c].first + k];
      size = sqrt(size);
      if (size > 0) {
        for (k = 0; k < @contact[c].slips; ++k) d.direction[c][k] = -f[@contact[c].first + k]/size;
        directed[c] = pushed[c] = 1;
      }
    }
  }
  for (round = 0; ; ++round) {
    int closes = 0, off = 0;
    for (c = 0; c < @CONTACTS; ++c) closes |= closing[c];
    for (j = 0; changed && j < @R && round < 20; ++j) if (m->d.engaged[j] && @contact_at[j] < 0 && @row_level[j] < 2) {
      const double rate = @row_level[j] == 0 ? s.rate[j] : s.residual[j];
      off |= fabs(rate) > 1e-12*@rate_size(m, &s, s.A + j*@N, rate - @dot(s.A + j*@N, v));
    }
    if (!closes && !off) break;
    if (round == 1000) return @STORM;
    {
      char part[@CONTACTS + 1], hurled[@CONTACTS + 1], was[@CONTACTS + 1];
      for (c = 0; c < @CONTACTS; ++c) {
        part[c] = (char)(touches[c] || closing[c] || (@contact[c].velocity && @contact[c].one_sided));
        was[c] = (char)(touches[c] || closing[c] || lifted[c]);
        hurled[c] = (char)(closing[c] && s.restitution[c] > 0);
      }
      if ((status = @jump(&s, &d, part, v, closes)) != 0) return status;
      for (i = 0; i < @COORDINATES; ++i) m->v[i] = v[@at_coordinate[i]];
      jumped = 1;
      if ((status = @number_now(m, p, x, &s, v)) != 0) return status;
      for (c = 0; c < @CONTACTS; ++c) {
        const double *A = s.A + @contact[c].row*@N, rate = @contact[c].velocity ? s.residual[@contact[c].row] : s.rate[@contact[c].row];
        double slip = 0, slip_size = 0;
        closing[c] = 0, pushed[c] = 0;
        if (@contact[c].one_sided) {
          const double small = 1e-9*@rate_size(m, &s, A, rate - @dot(A, v));
          touches[c] = (char)((was[c] || (@contact[c].velocity && rate <= small)) && fabs(rate) <= small && !(hurled[c] && rate > 0));
          closing[c] = (char)(was[c] && !touches[c] && rate < 0);
          lifted[c] = 0;
          low[c] = (char)(was[c] && !touches[c] && !closing[c]);
        }
        directed[c] = 0;
        for (k = 0; k < @contact[c].slips; ++k) {
          const int at = @contact[c].first + k;
          slip += s.slip[at]*s.slip[at];
          slip_size += @rate_size(m, &s, s.T + at*@N, s.slip[at] - @dot(s.T + at*@N, v));
        }
        slip = sqrt(slip);
        if (@contact[c].slips > 0 && slip > 1e-9*slip_size) {
          directed[c] = 1;
          for (k = 0; k < @contact[c].slips; ++k) d.direction[c][k] = s.slip[@contact[c].first + k]/slip;
        }
      }
    }
  }
  do {
    again = 0;
    if ((status = @resolve(&s, &d, touches, directed, plain, s.C, s.b, s.slip_b, &found, a, lambda, f)) != 0) return status;
    for (c = 0; c < @CONTACTS; ++c) {
      const double *A = s.A + @contact[c].row*@N, b = s.b[@contact[c].row];
      if (lifted[c] && @dot(A, a) - b < -1e-7*(@terms(A, a) + fabs(b))) touches[c] = 1, lifted[c] = 0, again = 1;
      if (pushed[c] && found.status[c] == @SLIDES) {
        double pull = 0, size = 0;
        for (k = 0; k < @contact[c].slips; ++k) {
          const double *T = s.T + (@contact[c].first + k)*@N;
          pull += (@dot(T, a) - s.slip_b[@contact[c].first + k])*found.direction[c][k];
          size += @terms(T, a) + fabs(s.slip_b[@contact[c].first + k]);
        }
        if (pull < -1e-7*size) directed[c] = pushed[c] = 0, again = 1;
      }
    }
  } while (again);
  /* Rebounds too low to be followed end in contact. */
  for (c = 0; jumped && c < @CONTACTS; ++c) {
    const double *A = s.A + @contact[c].row*@N, rate = s.rate[@contact[c].row], falls = s.b[@contact[c].row] - @dot(A, a);
    if (!low[c] || @contact[c].velocity) continue;
    low[c] = (char)(falls > 0 && (rate <= (m->tolerance > 1e-9 ? m->tolerance : 1e-9)*@rate_size(m, &s, A, rate - @dot(A, v)) ||
                                  rate*rate/(2*falls) <= 5*m->slack*@gap_size(m, &s, @contact[c].row) || 2*rate/falls <= 1e5*2.2e-16*fabs(m->t)));
  }
  for (again = jumped; again; ) {
    @modes held;
    char trial[@CONTACTS + 1];
    double a2[@N];
    int any = 0;
    again = 0;
    for (c = 0; c < @CONTACTS; ++c) trial[c] = (char)(touches[c] || (low[c] && !@contact[c].velocity)), any |= trial[c] != touches[c];
    if (!any || @resolve(&s, &d, trial, directed, plain, s.C, s.b, s.slip_b, &held, a2, lambda, f)) break;
    for (c = 0; c < @CONTACTS; ++c) if (trial[c] && !touches[c] && held.status[c] == @OPEN) low[c] = 0, again = 1;
    if (!again) found = held;
  }
  for (c = 0; c < @CONTACTS; ++c) {
    if (!@contact[c].one_sided && !@contact[c].bare && found.status[c] != @SLIDES) found.sign[c] = lambda[@contact[c].row] < 0 ? -1 : 1;
    found.armed[@contact[c].guard] = 0;
    if (@contact[c].slips > 0) found.armed[@contact[c].guard + 1] = 0;
  }
  /* A gap that is left below zero would be found closing again; a hop is looked at before it is over. */
  m->d = found, m->h = 0, again = 0;
  for (c = 0; c < @CONTACTS; ++c) if (@contact[c].one_sided && !@contact[c].velocity && found.status[c] == @OPEN && m->d.engaged[@contact[c].row]) {
    const double *A = s.A + @contact[c].row*@N, rate = s.rate[@contact[c].row], falls = s.b[@contact[c].row] - @dot(A, a);
    if (s.residual[@contact[c].row] < 0) m->d.status[c] = @HOLDS, again = 1;
    if (fabs(s.residual[@contact[c].row]) <= 1e-9*@gap_size(m, &s, @contact[c].row) && rate > 0 && falls > 0 && (!(m->h > 0) || rate/falls < m->h)) m->h = rate/falls;
  }
  if (again) {
    /* Where loops decide how far what opens is from what closes the gap stays, as far below zero as the state is off, and counts as zero. */
    double q[@COORDINATES + @STATES];
    for (i = 0; i < @COORDINATES + @STATES; ++i) q[i] = m->q[i];
    if (@project_generally(m, m->t, m->q, m->v, p, m->side, 0)) {
      for (i = 0; i < @COORDINATES + @STATES; ++i) m->q[i] = q[i];
      for (c = 0; c < @CONTACTS; ++c) if (m->d.status[c] != found.status[c]) {
        const double below = -2*s.residual[@contact[c].row]/@gap_size(m, &s, @contact[c].row);
        if (below > m->slack && below < 1e-6) m->slack = below;
      }
    }
  }
  m->d = found;
  if ((status = @project(m, p)) != 0) return status;
  @note_sizes(m);
  /* What rests has a size all the same. */
  for (i = 0; i < @COORDINATES; ++i) m->size[@COORDINATES + @STATES + i] = @size_of(m->size[@COORDINATES + @STATES + i], 1e-3*@floor_of(m, &s, 1));
  return 0;
}
)";
}

std::string_view c_guards() {
  return R"(
/* What lasts as long as it is positive, two for a contact with friction: gap or force; cone or slip. Of what has just begun at zero the sign counts
   only beyond rounding. */
static void @guards_of(const @motion *m, const @numbers *s, const double *v, const double *a, const double *lambda, const double *f, double *guard, char *arm)
{
  const double small = @size_of(1e-9, m->slack);
  double load[@R + 1];
  int c, k, g;
  @weigh(s, s->Q, a, load);
  for (c = 0; c < @CONTACTS; ++c) {
    const int j = @contact[c].row, first = @contact[c].guard;
    const double *A = s->A + j*@N;
    double value[2] = {1, 1}, noise[2] = {0, 0};
    if (m->d.engaged[j]) {
      const double force = load[j];
      if (m->d.status[c] == @OPEN && @contact[c].one_sided) {
        value[0] = s->residual[j];
        noise[0] = @contact[c].velocity ? @size_of(1e-12, m->slack)*@rate_size(m, s, A, s->residual[j] - @dot(A, v)) : m->slack*@gap_size(m, s, j);
      } else if (@contact[c].one_sided) value[0] = lambda[j], noise[0] = small*force;
      else if (!@contact[c].bare && m->d.status[c] == @SLIDES) value[0] = m->d.sign[c]*lambda[j], noise[0] = small*force;
      if (m->d.status[c] == @STICKS) {
        double size = 0;
        for (k = 0; k < @contact[c].slips; ++k) size += f[@contact[c].first + k]*f[@contact[c].first + k];
        value[1] = s->friction[c]*(@contact[c].limited ? 1 : fabs(lambda[j])) - sqrt(size);
        noise[1] = small*(s->friction[c]*(@contact[c].limited ? 1 : fabs(lambda[j])) + force*1e-3);
      } else if (m->d.status[c] == @SLIDES) {
        value[1] = 0;
        for (k = 0; k < @contact[c].slips; ++k) {
          const int at = @contact[c].first + k;
          value[1] += s->slip[at]*m->d.direction[c][k];
          noise[1] += small*@rate_size(m, s, s->T + at*@N, s->slip[at] - @dot(s->T + at*@N, v));
        }
      }
    }
    for (g = 0; g < (@contact[c].slips > 0 ? 2 : 1); ++g) {
      if (arm) arm[first + g] = (char)(value[g] > noise[g]);
      guard[first + g] = value[g] < -noise[g] || (m->d.armed[first + g] && value[g] <= 0) ? value[g] - 1e-300 : fabs(value[g]) + 1e-300;
    }
  }
}
)";
}

}  // namespace mechanician
