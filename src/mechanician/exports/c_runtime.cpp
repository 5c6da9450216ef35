#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_general_solver() {
  return R"(
/* [M A'; A 0] (a, -lambda) = (Q + C, b) by elimination with complete pivoting, for rows that depend on each other and masses that
   vanish. Multipliers that are not unique have zeros; what contradicts or leaves an acceleration open is a status. */
static int @solve_generally(const double *x, double *a, double *lambda)
{
  enum { n = @COORDINATES, m = @ROWS, size = n + m };
  double K[size][size + 1], largest = 0, scale[size];
  double values[@NUM_VALUES];
  int row_of[size], pivot_col[size], rank = 0, i, j, k;
  @values(x, values);
  for (i = 0; i < @NUM_VALUES; ++i) if (!isfinite(values[i])) return @NOT_FINITE;
  for (i = 0; i < size; ++i) for (j = 0; j <= size; ++j) K[i][j] = 0;
  @fill(values, &K[0][0]);
  /* Rows and columns in units of what they weigh. */
  for (i = 0; i < size; ++i) {
    double largest_here = 0;
    for (j = 0; j < size; ++j) if (fabs(K[i][j]) > largest_here) largest_here = fabs(K[i][j]);
    scale[i] = largest_here > 0 ? 1/sqrt(largest_here) : 1;
  }
  for (i = 0; i < size; ++i) {
    for (j = 0; j < size; ++j) K[i][j] *= scale[i]*scale[j];
    K[i][size] *= scale[i];
    row_of[i] = i, pivot_col[i] = -1;
  }
  for (i = 0; i < size; ++i) for (j = 0; j < size; ++j) if (fabs(K[i][j]) > largest) largest = fabs(K[i][j]);
  {
    char used[size];
    double right = 0;
    for (i = 0; i < size; ++i) used[i] = 0;
    for (i = 0; i < size; ++i) if (fabs(K[i][size]) > right) right = fabs(K[i][size]);
    for (k = 0; k < size; ++k) {
      int best_row = -1, best_col = -1;
      double best = 1e-11*largest;
      for (i = k; i < size; ++i) for (j = 0; j < size; ++j)
        if (!used[j] && fabs(K[row_of[i]][j]) > best) best = fabs(K[row_of[i]][j]), best_row = i, best_col = j;
      if (best_row < 0) break;
      i = row_of[k], row_of[k] = row_of[best_row], row_of[best_row] = i;
      used[best_col] = 1, pivot_col[k] = best_col;
      for (i = 0; i < size; ++i) {
        const double factor = i == k ? 0 : K[row_of[i]][best_col]/K[row_of[k]][best_col];
        if (factor > 0 || factor < 0)
          for (j = 0; j <= size; ++j) K[row_of[i]][j] -= factor*K[row_of[k]][j];
      }
      ++rank;
    }
    for (k = rank; k < size; ++k) if (fabs(K[row_of[k]][size]) > 1e-9*(right > 0 ? right : 1)) return @CONTRADICTION;
    for (j = 0; j < n; ++j) if (!used[j]) return @NOT_UNIQUE;
  }
  for (i = 0; i < n; ++i) a[i] = 0;
  for (i = 0; i < m; ++i) lambda[i] = 0;
  for (k = 0; k < rank; ++k) {
    const int col = pivot_col[k];
    const double value = K[row_of[k]][size]/K[row_of[k]][col]*scale[col];
    if (col < n) a[col] = value;
    else lambda[col - n] = -value;
  }
  return 0;
}
)";
}

std::string_view c_classical_step() {
  return R"(
static int @rk4(double t, double h, const double *q, const double *v, const double *p, double *q_end, double *v_end)
{
  enum { n = @COORDINATES };
  double k1[n], k2[n], k3[n], k4[n], qs[n], vs[n];
  int i, status;
  if ((status = @acceleration(t, q, v, p, k1, 0, 0)) != 0) return status;
  for (i = 0; i < n; ++i) qs[i] = fma(0.5*h, v[i], q[i]), vs[i] = fma(0.5*h, k1[i], v[i]);
  if ((status = @acceleration(t + 0.5*h, qs, vs, p, k2, 0, 0)) != 0) return status;
  for (i = 0; i < n; ++i) qs[i] = fma(0.25*(h*h), k1[i], qs[i]), vs[i] = fma(0.5*h, k2[i], v[i]);
  if ((status = @acceleration(t + 0.5*h, qs, vs, p, k3, 0, 0)) != 0) return status;
  for (i = 0; i < n; ++i) qs[i] = fma(0.5*(h*h), k2[i], fma(h, v[i], q[i])), vs[i] = fma(h, k3[i], v[i]);
  if ((status = @acceleration(t + h, qs, vs, p, k4, 0, 0)) != 0) return status;
  for (i = 0; i < n; ++i) {
    const double middles = k2[i] + k3[i], first = k1[i] + middles, last = middles + k4[i];
    q_end[i] = fma(h*h/6, first, fma(h, v[i], q[i]));
    v_end[i] = fma(h/6, first + last, v[i]);
  }
  return 0;
}
)";
}

std::string_view c_adaptive_step() {
  return R"(
/* f(t, y) of y = (q, v). */
static int @rate(double t, const double *y, const double *p, double *dy)
{
  int i;
  for (i = 0; i < @COORDINATES; ++i) dy[i] = y[@COORDINATES + i];
  return @acceleration(t, y, y + @COORDINATES, p, dy + @COORDINATES, 0, 0);
}

/* y + h sum a[j] k[j] */
static void @combine(const @motion *m, const double *a, int count, double h, double *out)
{
  int i, j;
  for (i = 0; i < 2*@COORDINATES; ++i) {
    double sum = 0;
    for (j = 0; j < count; ++j) if (a[j] > 0 || a[j] < 0) sum += a[j]*m->k[j][i];
    out[i] = m->y[i] + h*sum;
  }
}

static double @size_of(double a, double b) { return a > b ? a : b; }

/* What errors count against: the tolerance times the largest that each number has been. */
static void @note_sizes(@motion *m)
{
  int i;
  for (i = 0; i < @COORDINATES; ++i) {
    m->size[i] = @size_of(m->size[i], fabs(m->q[i]));
    m->size[@COORDINATES + i] = @size_of(m->size[@COORDINATES + i], fabs(m->v[i]));
  }
}

static double @error(const @motion *m, const double *y_new, double h)
{
  double five = 0, three = 0, largest_q = 0, largest_v = 0;
  int i, j;
  /* From rest, velocities count against what the first accelerations come to. */
  for (i = 0; i < @COORDINATES; ++i) {
    largest_q = @size_of(largest_q, m->size[i]);
    largest_v = @size_of(largest_v, @size_of(m->size[@COORDINATES + i], fabs(h*m->k[0][@COORDINATES + i])));
  }
  for (i = 0; i < 2*@COORDINATES; ++i) {
    const int is_q = i < @COORDINATES;
    const double floor = is_q ? @size_of(1e-2*largest_q, fabs(h)*largest_v) : 1e-2*largest_v;
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

int @project(@motion *m, const double *p)
{
  int status = @project_positions(m->t, m->q, m->v, p);
  return status ? status : @project_velocities(m->t, m->q, m->v, p);
}

int @step(@motion *m, const double *p, double to)
{
  enum { n = @COORDINATES };
  double y_new[2*n], stage[2*n], h, error;
  int i, j, tries, status;
  if (!(to > m->t)) return to < m->t ? @BACKWARDS : 0;
  for (i = 0; i < n; ++i) m->y[i] = m->q[i], m->y[n + i] = m->v[i];
  if ((status = @rate(m->t, m->y, p, m->k[0])) != 0) return status;
  if (!(m->h > 0)) {
    double change = INFINITY;
    for (i = 0; i < n; ++i) {
      const double speed = fabs(m->v[i]), force = fabs(m->k[0][n + i]), length = m->size[i] > 0 ? m->size[i] : 1;
      if (speed > 0 && length/speed < change) change = length/speed;
      if (force > 0 && sqrt(length/force) < change) change = sqrt(length/force);
    }
    m->h = change < INFINITY ? change*pow(0.01*m->tolerance, 0.125) : (to - m->t)/100;
  }
  for (tries = 0; ; ++tries) {
    const int last = m->t + m->h >= to;
    const double t_new = last ? to : m->t + m->h;
    h = t_new - m->t;
    if (!(h > 4e-16*@size_of(fabs(m->t), fabs(to - m->t)*1e-6)) || tries > 60) return @STEP_TOO_SMALL;
    status = 0;
    for (i = 1; i < 12 && !status; ++i) {
      @combine(m, @a[i], i, h, stage);
      status = @rate(m->t + @c[i]*h, stage, p, m->k[i]);
    }
    if (status) { m->h = 0.25*h; continue; }
    @combine(m, @a[12], 12, h, y_new);
    error = @error(m, y_new, h);
    if (error > 1) { m->h = h*@size_of(0.2, 0.9*pow(error, -0.125)); continue; }
    {
      double q[n], v[n];
      for (i = 0; i < n; ++i) q[i] = y_new[i], v[i] = y_new[n + i];
      status = @project_positions(t_new, q, v, p);
      if (!status) status = @project_velocities(t_new, q, v, p);
      if (status) { m->h = 0.5*h; continue; }
      for (i = 0; i < n; ++i) y_new[i] = q[i], y_new[n + i] = v[i];
    }
    if ((status = @rate(t_new, y_new, p, m->k[12])) != 0) { m->h = 0.5*h; continue; }
    for (i = 13; i < 16 && !status; ++i) {
      @combine(m, @a[i], i, h, stage);
      status = @rate(m->t + @c[i]*h, stage, p, m->k[i]);
    }
    if (status) { m->h = 0.5*h; continue; }
    break;
  }
  /* The continuous extension of order 7. */
  for (i = 0; i < 2*n; ++i) {
    const double difference = y_new[i] - m->y[i];
    double *F = m->dense[i];
    F[0] = difference;
    F[1] = h*m->k[0][i] - difference;
    F[2] = 2*difference - h*(m->k[12][i] + m->k[0][i]);
    for (j = 0; j < 4; ++j) {
      double sum = 0;
      int s;
      for (s = 0; s < 16; ++s) sum += @d[j][s]*m->k[s][i];
      F[3 + j] = h*sum;
    }
  }
  {
    const double growth = error > 0 ? 0.9*pow(error, -0.125) : 10, planned = m->h;
    m->h = h*(growth > 10 ? 10 : growth < 0.2 ? 0.2 : growth);
    if (h < 0.5*planned && m->h < planned) m->h = planned;
  }
  m->t_begin = m->t, m->t = h < to - m->t ? m->t + h : to;
  for (i = 0; i < n; ++i) m->q[i] = y_new[i], m->v[i] = y_new[n + i];
  @note_sizes(m);
  ++m->steps;
  return 0;
}

void @dense(const @motion *m, double t, double *q, double *v)
{
  const double h = m->t - m->t_begin, theta = h > 0 ? (t - m->t_begin)/h : 1;
  int i, j;
  for (i = 0; i < 2*@COORDINATES; ++i) {
    const double *F = m->dense[i];
    double sum = 0;
    for (j = 6; j >= 0; --j) sum = (F[j] + sum)*((j & 1) ? 1 - theta : theta);
    if (i < @COORDINATES) q[i] = m->y[i] + sum;
    else v[i - @COORDINATES] = m->y[i] + sum;
  }
}
)";
}

}  // namespace mechanician
