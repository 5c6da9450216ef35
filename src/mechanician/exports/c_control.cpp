// Control in exported C: the programme of solve/control.hpp, in arrays whose sizes are known when the model is written.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_control_force() {
  return R"(
/* What forces do under the constraints that act: M x = F + A' l, A x = 0. Of multipliers that are not unique the least. */
static int @respond(const @numbers *s, const char *act, int count, const double *F, double *X, double *L)
{
  double K[@LARGEST*(@LARGEST + @FORCES + 1)], z[@LARGEST*(@FORCES + 1)] = {0};
  char known[@LARGEST] = {0};
  int at_row[@R + 1] = {0}, size = @N, width, status, i, j, k, sure = 1;
  for (j = 0; j < @R; ++j) at_row[j] = act[j] ? size++ : -1;
  width = size + count;
  for (i = 0; i < size*width; ++i) K[i] = 0;
  for (i = 0; i < @N; ++i) {
    for (j = 0; j < @N; ++j) K[i*width + j] = s->M[i*@N + j];
    for (k = 0; k < count; ++k) K[i*width + size + k] = F[k*@N + i];
  }
  for (j = 0; j < @R; ++j) if (act[j])
    for (i = 0; i < @N; ++i) K[i*width + at_row[j]] = -s->A[j*@N + i], K[at_row[j]*width + i] = s->A[j*@N + i];
  if ((status = @eliminate(size, count, K, z, known)) != 0) return status;
  for (i = 0; i < size; ++i) { if (!known[i] && i < @N) return @NOT_UNIQUE; sure &= known[i]; }
  for (k = 0; k < count; ++k) {
    for (i = 0; i < @N; ++i) X[k*@N + i] = z[k*size + i];
    for (j = 0; j < @R; ++j) L[k*@R + j] = act[j] ? z[k*size + at_row[j]] : 0;
    if (!sure && (status = @least_norm(s, act, F + k*@N, X + k*@N, L + k*@R)) != 0) return status;
  }
  return 0;
}

/* The control force beside the constraints that act, for an acceleration a without it; da, dlambda: what it changes. */
typedef struct { double u[@N], tau[@FORCES], cost, da[@N], dlambda[@R + 1]; } @efforts;

static int @control(const @numbers *s, const char *act, const double *a, @efforts *e)
{
  double F[(@FORCES + 1)*@N] = {0}, X[(@FORCES + 1)*@N] = {0}, L[(@FORCES + 1)*(@R + 1)] = {0}, R[@FORCES*@KMAX] = {0}, V[@KMAX*@KMAX] = {0}, cost[@KMAX] = {0}, scale[@FORCES] = {0}, units[@N] = {0}, y[@KMAX] = {0}, felt = 0, length;
  @programme c = {{0}, {0}, {0}, {0}, {0}, {0}, 0};
  int i, j, k, h, status, columns = @FORCES;
  for (i = 0; i < @N; ++i) units[i] = s->M[i*@N + i] > 0 ? 1/sqrt(s->M[i*@N + i]) : 0;
  /* What has no mass moves with what has one. */
  for (i = 0; i < @N; ++i) if (!(s->M[i*@N + i] > 0)) {
    double most = 0;
    for (j = 0; j < @R; ++j) if (act[j] && fabs(s->A[j*@N + i]) > 0) for (h = 0; h < @N; ++h) if (s->M[h*@N + h] > 0) {
      const double moved = fabs(s->A[j*@N + h])*units[h]/fabs(s->A[j*@N + i]);
      if (moved > most) most = moved;
    }
    units[i] = most;
  }
  for (k = 0; k < @FORCES; ++k) for (i = 0; i < @N; ++i) F[k*@N + i] = @ACTUATORS > 0 ? s->E[i*@ACTUATORS + k] : s->A[(@FIRST_REQUIREMENT + k)*@N + i];
  FREE_COLUMN
  if ((status = @respond(s, act, columns, F, X, L)) != 0) return status;
  for (j = 0; j < @REQUIREMENTS; ++j) {
    const double *A = s->A + (@FIRST_REQUIREMENT + j)*@N;
    c.size[j] = 0;
    for (i = 0; i < @N; ++i) c.size[j] += A[i]*units[i]*A[i]*units[i];
    c.size[j] = sqrt(c.size[j]);
  }
  /* Cost, in units of its columns; y is what has it as its length. */
  for (k = 0; k < @FORCES; ++k) {
    double force = 0;
    for (h = 0; h < @FORCES; ++h) {
      double sum = 0;
      if (@ACTUATORS > 0) sum = 0.5*(s->R[k*@FORCES + h] + s->R[h*@FORCES + k]);
      else for (i = 0; i < @N; ++i) sum += 0.5*(F[k*@N + i]*X[h*@N + i] + F[h*@N + i]*X[k*@N + i]);
      R[k*@KMAX + h] = sum;
    }
    scale[k] = @ACTUATORS > 0 ? sqrt(s->R[k*@FORCES + k]) : c.size[k < @REQUIREMENTS ? k : 0];
    for (i = 0; i < @N; ++i) force += F[k*@N + i]*units[i]*F[k*@N + i]*units[i];
    if (@ACTUATORS > 0) {
      felt += force/s->R[k*@FORCES + k];
      if (!(s->R[k*@FORCES + k] > 0)) return @NOT_FINITE;
      if (s->low[k] > s->high[k]) return @NOT_MET;
    }
  }
  for (k = 0; k < @FORCES; ++k) for (h = 0; h < @FORCES; ++h) R[k*@KMAX + h] *= scale[k] > 0 && scale[h] > 0 ? 1/(scale[k]*scale[h]) : 0;
  @split(@FORCES, @FORCES, R, V, cost);
  for (c.k = 0; c.k < @FORCES && cost[c.k] > (@ACTUATORS > 0 ? 1e-14 : 1e-13); ) ++c.k;
  for (h = 0; h < c.k; ++h) {
    for (k = 0; k < @FORCES; ++k) c.T[k*@KMAX + h] = scale[k] > 0 ? V[k*@KMAX + h]/scale[k]/sqrt(cost[h]) : 0;
    for (i = 0; i < @N; ++i) {
      c.D[i*@KMAX + h] = 0;
      for (k = 0; k < @FORCES; ++k) c.D[i*@KMAX + h] += X[k*@N + i]*c.T[k*@KMAX + h];
    }
  }
  for (j = 0; j < @REQUIREMENTS; ++j) {
    const double *A = s->A + (@FIRST_REQUIREMENT + j)*@N;
    c.r[j] = s->b[@FIRST_REQUIREMENT + j], c.r_size[j] = fabs(c.r[j]);
    for (i = 0; i < @N; ++i) c.r[j] -= A[i]*a[i], c.r_size[j] += fabs(A[i]*a[i]);
    for (h = 0; h < c.k; ++h) {
      c.G[j*@KMAX + h] = 0;
      for (i = 0; i < @N; ++i) c.G[j*@KMAX + h] += A[i]*c.D[i*@KMAX + h];
    }
    if (@ACTUATORS > 0) c.size[j] *= sqrt(felt);
  }
  SOLVE_PROGRAMME
  length = @length_of(c.k, y);
  for (j = 0; j < @REQUIREMENTS; ++j) if (@ask[j].must && !(s->weight[j] > 0)) {
    double missing = c.r[j];
    for (h = 0; h < c.k; ++h) missing -= c.G[j*@KMAX + h]*y[h];
    if (!(fabs(missing) <= 1e-6*(c.r_size[j] + c.size[j]*length))) return @NOT_MET;
  }
  for (k = 0; k < @FORCES; ++k) {
    e->tau[k] = 0;
    for (h = 0; h < c.k; ++h) e->tau[k] += c.T[k*@KMAX + h]*y[h];
    if (@ACTUATORS > 0) e->tau[k] = e->tau[k] > s->high[k] ? s->high[k] : e->tau[k] < s->low[k] ? s->low[k] : e->tau[k];
  }
  e->cost = 0;
  for (j = 0; j < @R; ++j) {
    e->dlambda[j] = 0;
    for (k = 0; k < @ACTUATORS; ++k) e->dlambda[j] += L[k*@R + j]*e->tau[k];
  }
  for (i = 0; i < @N; ++i) {
    e->da[i] = e->u[i] = 0;
    if (@ACTUATORS > 0) for (k = 0; k < @FORCES; ++k) e->u[i] += F[k*@N + i]*e->tau[k], e->da[i] += X[k*@N + i]*e->tau[k];
    else for (h = 0; h < c.k; ++h) e->da[i] += c.D[i*@KMAX + h]*y[h];
  }
  if (@ACTUATORS > 0) {
    for (k = 0; k < @FORCES; ++k) for (h = 0; h < @FORCES; ++h) e->cost += e->tau[k]*s->R[k*@FORCES + h]*e->tau[h];
    return 0;
  }
  for (i = 0; i < @N; ++i) for (h = 0; h < @N; ++h) e->u[i] += s->M[i*@N + h]*e->da[h];
  FREE_FORCE
  for (i = 0; i < @N; ++i) for (h = 0; h < @N; ++h) e->cost += e->da[i]*s->M[i*@N + h]*e->da[h];
  return 0;
}
)";
}

std::string_view c_control_free(std::string_view place) {
  if (place == "FREE_COLUMN") return "for (i = 0; i < @N; ++i) F[@FORCES*@N + i] = s->free[i];\n  ++columns;";
  return R"(/* What the requirements would feel of the free force is taken off. */
  for (i = 0; i < @N; ++i) {
    e->da[i] += X[@FORCES*@N + i], e->u[i] += s->free[i];
    for (h = 0; h < c.k; ++h) {
      double along = 0;
      for (k = 0; k < @REQUIREMENTS; ++k) {
        double sum = 0;
        for (j = 0; j < @N; ++j) sum += F[k*@N + j]*X[@FORCES*@N + j];
        along += c.T[k*@KMAX + h]*sum;
      }
      e->da[i] -= c.D[i*@KMAX + h]*along;
      for (j = 0; j < @N; ++j) e->u[j] -= s->M[j*@N + i]*c.D[i*@KMAX + h]*along;
    }
  }
  for (j = 0; j < @R; ++j) e->dlambda[j] = L[@FORCES*@R + j];)";
}

std::string_view c_control_steer() {
  return R"(
/* Control, added to an acceleration and multipliers without it. */
static int @steer(const double *x, const @numbers *s, const char *act, double *a, double *lambda, @efforts *e)
{
  int i, j, status;
  (void)x;
  STEER_CONTROL
  for (i = 0; i < @N; ++i) a[i] += e->da[i];
  for (j = 0; j < @R; ++j) lambda[j] += e->dlambda[j];
  return 0;
}
)";
}

std::string_view c_control_held() {
  return R"(
/* Control as it was found at the last sample; actuators push along with the state. */
static int @steer_held(const @motion *m, const @numbers *s, const char *act, double *a, double *lambda, @efforts *e)
{
  int i, j, status;
  for (i = 0; i < @N; ++i) for (e->u[i] = @ACTUATORS > 0 ? 0 : m->held[i], j = 0; j < @ACTUATORS; ++j) e->u[i] += s->E[i*@ACTUATORS + j]*m->held[j];
  for (j = 0; j < @FORCES; ++j) e->tau[j] = @ACTUATORS > 0 ? m->held[j] : 0;
  e->cost = m->held[HELD];
  if ((status = @respond(s, act, 1, e->u, e->da, e->dlambda)) != 0) return status;
  for (i = 0; i < @N; ++i) a[i] += e->da[i];
  for (j = 0; j < @R; ++j) lambda[j] += e->dlambda[j];
  return 0;
}
)";
}

}  // namespace mechanician
