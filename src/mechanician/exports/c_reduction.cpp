// Contacts in exported C, by the few forces that they exert: what everything else does is eliminated once, for all modes.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_reduction() {
  return R"(
/* What contacts can do where all other rows act: a = a0 + Y g, with g the forces of their rows and, behind these, those along their slips. G g = open
   is what closed gaps and slips that stick ask for: one of many modes is a few rows of it. */
enum { @PUSHES = @CONTACTS + @SLIPS };
typedef struct {
  double a[@N], lambda[@R + 1], Y[@PUSHES*@N + 1], L[@PUSHES*@R + 1], G[@PUSHES*@PUSHES + 1], open[@PUSHES + 1];
  int made;
} @pushes;

static void @find_pushes(const @numbers *s, const @modes *d, const double *force, const double *b, const double *slip_b, @pushes *w)
{
  double K[(@N + @R)*(@N + @R + 1 + @PUSHES)], z[(@N + @R)*(1 + @PUSHES)];
  const double *push[@PUSHES + 1];
  char sure[@LARGEST];
  int at_row[@R + 1], size = @N, width, i, j, u, v;
  for (u = 0; u < @PUSHES; ++u) push[u] = u < @CONTACTS ? s->A + @contact[u].row*@N : s->T + (u - @CONTACTS)*@N;
  for (j = 0; j < @R; ++j) at_row[j] = @contact_at[j] < 0 && @acts(d, j) ? size++ : -1;
  width = size + 1 + @PUSHES;
  for (i = 0; i < size*width; ++i) K[i] = 0;
  for (i = 0; i < @N; ++i) {
    for (j = 0; j < @N; ++j) K[i*width + j] = s->M[i*@N + j];
    K[i*width + size] = force[i];
    for (u = 0; u < @PUSHES; ++u) K[i*width + size + 1 + u] = push[u][i];
  }
  for (j = 0; j < @R; ++j) if (at_row[j] >= 0) {
    for (i = 0; i < @N; ++i) K[i*width + at_row[j]] = -s->A[j*@N + i], K[at_row[j]*width + i] = s->A[j*@N + i];
    K[at_row[j]*width + size] = b[j];
  }
  w->made = !@eliminate(size, 1 + @PUSHES, K, z, sure);
  for (i = 0; i < size && w->made; ++i) w->made = sure[i];
  if (!w->made) return;
  for (i = 0; i < @N; ++i) w->a[i] = z[i];
  for (j = 0; j < @R; ++j) w->lambda[j] = at_row[j] >= 0 ? z[at_row[j]] : 0;
  for (u = 0; u < @PUSHES; ++u) {
    const double *mine = z + (1 + u)*size;
    for (i = 0; i < @N; ++i) w->Y[u*@N + i] = mine[i];
    for (j = 0; j < @R; ++j) w->L[u*@R + j] = at_row[j] >= 0 ? mine[at_row[j]] : 0;
    for (v = 0; v < @PUSHES; ++v) w->G[v*@PUSHES + u] = @dot(push[v], mine);
    w->open[u] = (u < @CONTACTS ? b[@contact[u].row] : slip_b[u - @CONTACTS]) - @dot(push[u], w->a);
  }
}

/* One mode. What is not determined must not matter: where friction follows forces that is for the whole system to say. */
static int @solve_mode(const @pushes *w, const @numbers *s, const char *act, const @modes *d, const double *slip_b, const double *force, const double *b, double *a,
                       double *lambda, double *f, char *sure)
{
  double K[@PUSHES*(@PUSHES + 1) + 1], z[@PUSHES + 1], g[@PUSHES + 1];
  char known[@LARGEST];
  int at[@PUSHES + 1], row[@PUSHES + 1], size = 0, width, status, slides = 0, c, i, k, u, v;
  if (!w->made) return @solve_rows(0, s, act, d, slip_b, force, b, a, lambda, f, sure);
  for (u = 0; u < @PUSHES; ++u) at[u] = -1, g[u] = 0;
  for (c = 0; c < @CONTACTS; ++c) {
    if (act[@contact[c].row]) row[size] = c, at[c] = size++;
    for (k = 0; k < @contact[c].slips && d->status[c] == @STICKS; ++k) u = @CONTACTS + @contact[c].first + k, row[size] = u, at[u] = size++;
    slides |= d->status[c] == @SLIDES && !@contact[c].limited;
  }
  width = size + 1;
  for (i = 0; i < size; ++i) {
    const double *G = w->G + row[i]*@PUSHES;
    double *mine = K + i*width;
    for (v = 0; v < size; ++v) mine[v] = G[row[v]];
    mine[size] = w->open[row[i]];
    for (c = 0; c < @CONTACTS; ++c) if (d->status[c] == @SLIDES) for (k = 0; k < @contact[c].slips; ++k) {
      const double by = s->friction[c]*d->direction[c][k]*G[@CONTACTS + @contact[c].first + k];
      if (@contact[c].limited) mine[size] += by; else mine[at[c]] -= d->sign[c]*by;
    }
  }
  if ((status = @eliminate(size, 1, K, z, known)) != 0) return status;
  for (i = 0; i < size; ++i) if (!known[i] && slides) return @solve_rows(0, s, act, d, slip_b, force, b, a, lambda, f, sure);
  for (i = 0; i < size; ++i) g[row[i]] = z[i];
  for (i = 0; i < @N + @R + @SLIPS; ++i) sure[i] = 1;
  for (c = 0; c < @CONTACTS; ++c) {
    if (at[c] >= 0) sure[@N + @contact[c].row] = known[at[c]];
    for (k = 0; k < @contact[c].slips; ++k) {
      u = @CONTACTS + @contact[c].first + k;
      if (at[u] >= 0) sure[@N + @R + @contact[c].first + k] = known[at[u]];
      if (d->status[c] == @SLIDES) g[u] = -s->friction[c]*(@contact[c].limited ? 1 : d->sign[c]*g[c])*d->direction[c][k];
      f[@contact[c].first + k] = g[u];
    }
  }
  for (i = 0; i < @N; ++i) a[i] = w->a[i];
  for (i = 0; i < @R; ++i) lambda[i] = w->lambda[i];
  for (u = 0; u < @PUSHES; ++u) if (g[u] > 0 || g[u] < 0) {
    for (i = 0; i < @N; ++i) a[i] += g[u]*w->Y[u*@N + i];
    for (i = 0; i < @R; ++i) lambda[i] += g[u]*w->L[u*@R + i];
  }
  for (c = 0; c < @CONTACTS; ++c) if (!@contact[c].bare) lambda[@contact[c].row] = g[c];
  return 0;
}
)";
}

}  // namespace mechanician
