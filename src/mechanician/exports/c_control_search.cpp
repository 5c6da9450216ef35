// Least squares of control in exported C: what acts of limits and one-sided requirements is searched for at every evaluation, not held through a
// step. Efforts are continuous, and the error test sees their kinks.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_control_algebra() {
  return R"(
/* P V with columns orthogonal to each other, the longest first, in the place of P; V orthogonal, s their lengths: Jacobi's rotations from one side.
   Rows of P and V are KMAX long. */
static void @split(int rows, int cols, double *P, double *V, double *s)
{
  double largest = 0;
  int i, j, k, sweep, rotated = 1;
  for (i = 0; i < cols; ++i) for (j = 0; j < cols; ++j) V[i*@KMAX + j] = i == j;
  for (i = 0; i < rows; ++i) for (j = 0; j < cols; ++j) largest = fabs(P[i*@KMAX + j]) > largest ? fabs(P[i*@KMAX + j]) : largest;
  for (sweep = 0; sweep < 60 && rotated; ++sweep) {
    rotated = 0;
    for (j = 0; j < cols; ++j) for (k = j + 1; k < cols; ++k) {
      double a = 0, b = 0, c = 0, zeta, t, cosine, sine;
      for (i = 0; i < rows; ++i) {
        a += P[i*@KMAX + j]*P[i*@KMAX + j], b += P[i*@KMAX + k]*P[i*@KMAX + k], c += P[i*@KMAX + j]*P[i*@KMAX + k];
      }
      if (!(fabs(c) > 4e-16*sqrt(a)*sqrt(b)) || sqrt(a < b ? a : b) <= 1e-17*largest) continue;
      zeta = (b - a)/(2*c);
      t = (zeta < 0 ? -1 : 1)/(fabs(zeta) + sqrt(1 + zeta*zeta));
      cosine = 1/sqrt(1 + t*t), sine = cosine*t, rotated = 1;
      for (i = 0; i < rows + cols; ++i) {
        double *x = i < rows ? P + i*@KMAX : V + (i - rows)*@KMAX;
        const double left = x[j], right = x[k];
        x[j] = cosine*left - sine*right, x[k] = sine*left + cosine*right;
      }
    }
  }
  for (j = 0; j < cols; ++j) {
    s[j] = 0;
    for (i = 0; i < rows; ++i) s[j] += P[i*@KMAX + j]*P[i*@KMAX + j];
    s[j] = sqrt(s[j]);
  }
  for (j = 0; j < cols; ++j) {
    int best = j;
    for (k = j + 1; k < cols; ++k) if (s[k] > s[best]) best = k;
    if (best == j) continue;
    for (i = 0; i < rows + cols; ++i) {
      double *x = i < rows ? P + i*@KMAX : V + (i - rows)*@KMAX;
      const double left = x[j];
      x[j] = x[best], x[best] = left;
    }
    { const double left = s[j]; s[j] = s[best], s[best] = left; }
  }
}

static int @rank_of(int cols, const double *s, double zero)
{
  int rank = 0;
  while (rank < cols && s[rank] > zero*s[0]) ++rank;
  return rank;
}

/* Of all w with |P w - right| least the shortest, of a P that has been split. */
static void @shortest(int rows, int cols, int rank, const double *P, const double *V, const double *s, const double *right, double *w)
{
  int i, j;
  for (j = 0; j < cols; ++j) w[j] = 0;
  for (j = 0; j < rank; ++j) if (s[j] > 0) {
    double along = 0;
    for (i = 0; i < rows; ++i) along += P[i*@KMAX + j]*right[i];
    for (i = 0; i < cols; ++i) w[i] += V[i*@KMAX + j]*(along/s[j]/s[j]);
  }
}

static double @length_of(int count, const double *x) { double sum = 0; int i; for (i = 0; i < count; ++i) sum += x[i]*x[i]; return sqrt(sum); }

/* Points y + Z w, Z with `left` columns: of these the ones with least squares of A y = b. size: of the rows of A if nothing cancelled. */
static void @reduce(int k, double *y, double *Z, int *left, int rows, const double *A, const double *b, const double *size)
{
  double P[@LINES*@KMAX] = {0}, unit[@LINES*@KMAX] = {0}, V[@KMAX*@KMAX] = {0}, U[@KMAX*@KMAX] = {0}, s[@KMAX] = {0}, w[@KMAX] = {0}, missing[@LINES] = {0}, of_unit[@LINES] = {0}, kept[@KMAX] = {0};
  int i, j, h, rank, open = 0;
  const int cols = *left;
  if (rows == 0 || cols == 0) return;
  for (j = 0; j < rows; ++j) {
    double norm;
    missing[j] = b[j];
    for (i = 0; i < k; ++i) missing[j] -= A[j*@KMAX + i]*y[i];
    for (h = 0; h < cols; ++h) {
      double sum = 0;
      for (i = 0; i < k; ++i) sum += A[j*@KMAX + i]*Z[i*@KMAX + h];
      P[j*@KMAX + h] = sum;
    }
    /* A row that what came before leaves no room for is rounding here. Rows may be of very different sizes: unit rows have their rank, and tell
       whether all can be met. */
    norm = @length_of(cols, P + j*@KMAX);
    if (norm <= 1e-9*size[j]) norm = 0;
    for (h = 0; h < cols; ++h) {
      if (!(norm > 0)) P[j*@KMAX + h] = 0;
      unit[j*@KMAX + h] = norm > 0 ? P[j*@KMAX + h]/norm : 0;
    }
    of_unit[j] = norm > 0 ? missing[j]/norm : missing[j];
  }
  @split(rows, cols, unit, V, s);
  rank = @rank_of(cols, s, 1e-9);
  @shortest(rows, cols, rank, unit, V, s, of_unit, w);
  for (j = 0; j < rows && !open; ++j) {
    const double norm = @length_of(cols, P + j*@KMAX);
    double sum = of_unit[j];
    for (h = 0; h < cols && norm > 0; ++h) sum -= P[j*@KMAX + h]/norm*w[h];
    open = fabs(sum) > 1e-9*(fabs(of_unit[j]) + @length_of(cols, w));
  }
  if (open) {
    /* Not all: it is the rows as they are whose squares are least. */
    @split(rows, cols, P, U, s);
    @shortest(rows, cols, rank, P, U, s, missing, w);
    for (i = 0; i < cols; ++i) for (h = 0; h < cols; ++h) V[i*@KMAX + h] = U[i*@KMAX + h];
  }
  for (i = 0; i < k; ++i) {
    for (h = 0; h < cols; ++h) y[i] += Z[i*@KMAX + h]*w[h], kept[h] = Z[i*@KMAX + h];
    for (j = rank; j < cols; ++j) {
      double sum = 0;
      for (h = 0; h < cols; ++h) sum += kept[h]*V[h*@KMAX + j];
      Z[i*@KMAX + j - rank] = sum;
    }
  }
  *left = cols - rank;
}

/* Minimise |y| over G y = r, G y >= r (one-sided), low <= T y <= high: y is the control force, its length the cost. */
typedef struct { double G[@REQUIREMENTS*@KMAX], r[@REQUIREMENTS], size[@REQUIREMENTS], r_size[@REQUIREMENTS], T[@FORCES*@KMAX], D[@N*@KMAX]; int k; } @programme;

static int @is_of_stage(const @numbers *s, int stage, int j) { return @ask[j].rank == stage/2 && (s->weight[j] > 0) == (stage & 1); }
static double @root_weight(const @numbers *s, int j) { return s->weight[j] > 0 ? sqrt(s->weight[j]) : 1; }

/* With what acts as it is. */
static void @solve_acting(const @numbers *s, const @programme *c, const int *at_limit, const char *held, double *y)
{
  double Z[@KMAX*@KMAX] = {0}, A[@LINES*@KMAX] = {0}, b[@LINES] = {0}, size[@LINES] = {0};
  int i, j, stage, rows = 0, left = c->k;
  (void)at_limit, (void)held;
  for (i = 0; i < c->k; ++i) { y[i] = 0; for (j = 0; j < c->k; ++j) Z[i*@KMAX + j] = i == j; }
  LIMITS_THAT_ACT
  for (stage = 0; stage < 2*@RANKS; ++stage) {
    for (j = rows = 0; j < @REQUIREMENTS; ++j) if (@is_of_stage(s, stage, j) && (!@ask[j].one_sided || held[j])) {
      const double w = @root_weight(s, j);
      for (i = 0; i < c->k; ++i) A[rows*@KMAX + i] = w*c->G[j*@KMAX + i];
      b[rows] = w*c->r[j], size[rows] = w*c->size[j], ++rows;
    }
    @reduce(c->k, y, Z, &left, rows, A, b, size);
  }
  for (j = 0; j < left; ++j) {
    double along = 0;
    for (i = 0; i < c->k; ++i) along += Z[i*@KMAX + j]*y[i];
    for (i = 0; i < c->k; ++i) y[i] -= Z[i*@KMAX + j]*along;
  }
}
)";
}

std::string_view c_control_limits() {
  return R"(for (j = 0; j < @ACTUATORS; ++j) if (at_limit[j]) {
    for (i = 0; i < c->k; ++i) A[rows*@KMAX + i] = c->T[j*@KMAX + i];
    b[rows] = at_limit[j] > 0 ? s->high[j] : s->low[j], size[rows] = @length_of(c->k, A + rows*@KMAX), ++rows;
  }
  @reduce(c->k, y, Z, &left, rows, A, b, size);)";
}

std::string_view c_control_search() {
  return R"(
/* Minimises |P z - right| over C z >= d, where working from the beginning C z = d, from a z that obeys: primal active sets, ties by the least index. */
static int @least_within(int k, int rows, const double *P, const double *right, int bounds, const double *C, const double *d, const char *fixed, double *z)
{
  double W[@LINES*@KMAX] = {0}, V[@KMAX*@KMAX] = {0}, U[@KMAX*@KMAX] = {0}, PZ[@LINES*@KMAX] = {0}, s[@KMAX] = {0}, s2[@KMAX] = {0}, missing[@LINES] = {0}, step[@KMAX] = {0}, w[@KMAX] = {0}, gradient[@KMAX] = {0}, longest = 0;
  char working[@LINES] = {0};
  int i, j, h, iteration, most = 50 + 10*bounds;
  for (i = 0; i < bounds; ++i) working[i] = fixed[i];
  for (iteration = 0; iteration < most; ++iteration) {
    double length = 1, size, P_size = 0, right_size = @length_of(rows, right), least;
    int count = 0, rank, blocking = -1, worst = -1;
    for (i = 0; i < bounds; ++i) if (working[i]) { for (h = 0; h < k; ++h) W[count*@KMAX + h] = C[i*@KMAX + h]; ++count; }
    @split(count, k, W, V, s);
    rank = @rank_of(k, s, 1e-9);
    for (j = 0; j < rows; ++j) {
      double whole = @length_of(k, P + j*@KMAX);
      missing[j] = right[j], P_size += whole*whole;
      for (h = 0; h < k; ++h) missing[j] -= P[j*@KMAX + h]*z[h];
      for (i = rank; i < k; ++i) {
        PZ[j*@KMAX + i - rank] = 0;
        for (h = 0; h < k; ++h) PZ[j*@KMAX + i - rank] += P[j*@KMAX + h]*V[h*@KMAX + i];
      }
      /* A row that what is held leaves no room for is rounding here. */
      if (@length_of(k - rank, PZ + j*@KMAX) <= 1e-9*whole) for (i = 0; i < k - rank; ++i) PZ[j*@KMAX + i] = 0;
    }
    P_size = sqrt(P_size);
    for (h = 0; h < k; ++h) step[h] = 0;
    if (rank < k) {
      @split(rows, k - rank, PZ, U, s2);
      @shortest(rows, k - rank, @rank_of(k - rank, s2, 1e-12), PZ, U, s2, missing, w);
      for (h = 0; h < k; ++h) for (i = rank; i < k; ++i) step[h] += V[h*@KMAX + i]*w[i - rank];
    }
    size = @length_of(k, step);
    if (size > longest) longest = size;
    if (size > 1e-13*(longest + @length_of(k, z))) {
      for (i = 0; i < bounds; ++i) if (!working[i]) {
        double rate = 0, room = -d[i];
        for (h = 0; h < k; ++h) rate += C[i*@KMAX + h]*step[h], room += C[i*@KMAX + h]*z[h];
        if (!(rate < -1e-14*@length_of(k, C + i*@KMAX)*size)) continue;
        if (room < 0) room = 0;
        if (room < -rate*length) length = room/-rate, blocking = i;
      }
      for (h = 0; h < k; ++h) z[h] += length*step[h];
      if (blocking >= 0) { working[blocking] = 1; continue; }
    }
    /* At the minimum of the working set: multipliers of W' l = P'(P z - right). */
    for (h = 0; h < k; ++h) gradient[h] = 0;
    for (j = 0; j < rows; ++j) {
      double off = -right[j];
      for (h = 0; h < k; ++h) off += P[j*@KMAX + h]*z[h];
      for (h = 0; h < k; ++h) gradient[h] += P[j*@KMAX + h]*off;
    }
    least = -1e-10*P_size*(P_size*@length_of(k, z) + right_size);
    for (i = j = 0; i < bounds && rank > 0; ++i) if (working[i]) {
      double l = 0;
      for (h = 0; h < rank; ++h) {
        double along = 0;
        int g;
        for (g = 0; g < k; ++g) along += V[g*@KMAX + h]*gradient[g];
        l += W[j*@KMAX + h]*along/s[h]/s[h];
      }
      ++j;
      l *= @length_of(k, C + i*@KMAX);
      if (!fixed[i] && l < least) {
        least = l, worst = i;
        if (iteration > most/2) break;
      }
    }
    if (worst < 0) return 0;
    working[worst] = 0;
  }
  return @NOT_SETTLED;
}

typedef struct { double C[@LINES*@KMAX], d[@LINES]; char fixed[@LINES]; int count; } @bounds;

static void @bound(@bounds *o, int k, const double *row, double sign, double d, int fixed)
{
  int h;
  for (h = 0; h < @KMAX; ++h) o->C[o->count*@KMAX + h] = h < k ? sign*row[h] : 0;
  o->d[o->count] = sign*d, o->fixed[o->count++] = (char)fixed;
}

/* Stage after stage within the limits, then cost decides what is left open. */
static int @search_control(const @numbers *s, const @programme *c, double *y)
{
  @bounds all;
  double P[@LINES*@KMAX] = {0}, right[@LINES] = {0}, z[@KMAX] = {0};
  int i, j, h, stage, status;
  const int k = c->k;
  all.count = 0;
  for (i = 0; i < k; ++i) y[i] = 0;
  if (@ACTUATORS > 0) {
    double T[@FORCES*@KMAX] = {0}, V[@KMAX*@KMAX] = {0}, size[@KMAX] = {0}, tau[@FORCES] = {0};
    for (i = 0; i < @ACTUATORS; ++i) {
      if (s->low[i] > -INFINITY) @bound(&all, k, c->T + i*@KMAX, 1, s->low[i], 0);
      if (s->high[i] < INFINITY) @bound(&all, k, c->T + i*@KMAX, -1, s->high[i], 0);
      tau[i] = s->low[i] > 0 ? s->low[i] : s->high[i] < 0 ? s->high[i] : 0;
      for (h = 0; h < k; ++h) T[i*@KMAX + h] = c->T[i*@KMAX + h];
    }
    @split(@ACTUATORS, k, T, V, size);
    @shortest(@ACTUATORS, k, @rank_of(k, size, 1e-15), T, V, size, tau, y);
  }
  for (stage = 0; stage < 2*@RANKS; ++stage) {
    const int before = all.count;
    int rows = 0, slacks = 0;
    for (i = 0; i < k; ++i) z[i] = y[i];
    for (j = 0; j < @REQUIREMENTS; ++j) if (@is_of_stage(s, stage, j)) {
      const double w = @root_weight(s, j), *G = c->G + j*@KMAX;
      const int influenced = @length_of(k, G) > 1e-9*c->size[j];
      for (h = 0; h < @KMAX; ++h) P[rows*@KMAX + h] = 0;
      right[rows] = 0;
      if (@ask[j].one_sided) {
        /* What it misses is an unknown of its own. */
        double slack = c->r[j];
        for (h = 0; h < k; ++h) slack -= G[h]*y[h];
        @bound(&all, k, G, 1, c->r[j], 0);
        all.C[(all.count - 1)*@KMAX + k + slacks] = 1;
        @bound(&all, 0, G, 1, 0, 0);
        all.C[(all.count - 1)*@KMAX + k + slacks] = 1;
        P[rows*@KMAX + k + slacks] = w, z[k + slacks++] = slack > 0 ? slack : 0;
      } else if (influenced) {
        for (h = 0; h < k; ++h) P[rows*@KMAX + h] = w*G[h];
        right[rows] = w*c->r[j];
      }
      ++rows;
    }
    if (rows == 0) continue;
    if ((status = @least_within(k + slacks, rows, P, right, all.count, all.C, all.d, all.fixed, z)) != 0) return status;
    all.count = before;
    for (i = 0; i < k; ++i) y[i] = z[i];
    for (j = 0; j < @REQUIREMENTS; ++j) if (@is_of_stage(s, stage, j) && @length_of(k, c->G + j*@KMAX) > 1e-9*c->size[j]) {
      double attained = 0;
      for (h = 0; h < k; ++h) attained += c->G[j*@KMAX + h]*y[h];
      @bound(&all, k, c->G + j*@KMAX, 1, @ask[j].one_sided && c->r[j] < attained ? c->r[j] : attained, !@ask[j].one_sided);
    }
  }
  for (i = 0; i < k; ++i) { right[i] = 0; for (h = 0; h < k; ++h) P[i*@KMAX + h] = i == h; }
  return @least_within(k, k, P, right, all.count, all.C, all.d, all.fixed, y);
}

/* What is best without bounds, and within them, is best; else it is searched for, and found anew from what acts then. */
static int @solve_bounded(const @numbers *s, const @programme *c, double *y)
{
  int at_limit[@ACTUATORS + 1] = {0}, i, j, h, status, outside = 0;
  char held[@REQUIREMENTS] = {0};
  double anew[@KMAX] = {0}, tau[@FORCES] = {0}, length, change = 0;
  @solve_acting(s, c, at_limit, held, y);
  for (i = 0; i < @ACTUATORS; ++i) {
    double sum = 0;
    for (h = 0; h < c->k; ++h) sum += c->T[i*@KMAX + h]*y[h];
    outside |= !(sum <= s->high[i] && sum >= s->low[i]);
  }
  for (j = 0; j < @REQUIREMENTS; ++j) if (@ask[j].one_sided) {
    double sum = -c->r[j];
    for (h = 0; h < c->k; ++h) sum += c->G[j*@KMAX + h]*y[h];
    outside |= !(sum >= 0);
  }
  if (!outside) return 0;
  if ((status = @search_control(s, c, y)) != 0) return status;
  length = @length_of(c->k, y);
  for (i = 0; i < @ACTUATORS; ++i) {
    const double size = @length_of(c->k, c->T + i*@KMAX)*length;
    tau[i] = 0;
    for (h = 0; h < c->k; ++h) tau[i] += c->T[i*@KMAX + h]*y[h];
    if (fabs(tau[i] - s->high[i]) <= 1e-9*(fabs(s->high[i]) > size ? fabs(s->high[i]) : size)) at_limit[i] = s->high[i] < INFINITY;
    else if (fabs(tau[i] - s->low[i]) <= 1e-9*(fabs(s->low[i]) > size ? fabs(s->low[i]) : size)) at_limit[i] = s->low[i] > -INFINITY ? -1 : 0;
  }
  for (j = 0; j < @REQUIREMENTS; ++j) {
    double missing = c->r[j];
    for (h = 0; h < c->k; ++h) missing -= c->G[j*@KMAX + h]*y[h];
    held[j] = (char)(@ask[j].one_sided && @length_of(c->k, c->G + j*@KMAX) > 1e-9*c->size[j] && missing > -1e-9*(c->r_size[j] + c->size[j]*length));
  }
  @solve_acting(s, c, at_limit, held, anew);
  for (i = 0; i < @ACTUATORS; ++i) {
    double sum = 0, size;
    for (h = 0; h < c->k; ++h) sum += c->T[i*@KMAX + h]*anew[h];
    size = 1e-8*(@length_of(c->k, c->T + i*@KMAX)*@length_of(c->k, anew) + fabs(tau[i]));
    if (sum > s->high[i] + size || sum < s->low[i] - size) return 0;
  }
  for (h = 0; h < c->k; ++h) change += (anew[h] - y[h])*(anew[h] - y[h]);
  if (sqrt(change) <= 1e-6*length) for (h = 0; h < c->k; ++h) y[h] = anew[h];
  return 0;
}
)";
}

}  // namespace mechanician
