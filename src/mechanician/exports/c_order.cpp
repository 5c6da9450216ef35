// The equations of contacts in exported C: as a matrix, and an order of its elimination that is kept from state to state.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_contact_matrix() {
  return R"(
enum { @OF_ACCELERATIONS, @OF_POSITIONS, @OF_VELOCITIES };

/* M a = force + A' lambda + T' f, A a = b for the rows that act, T a = slip_b where a contact sticks; where it slides, f is against the slip. Returns how
   many rows K has; at: where unknowns of rows and, behind them, of slips are, -1: nowhere. */
static int @fill(const @numbers *s, const char *act, const @modes *d, const double *slip_b, const double *force, const double *b, int *at, double *K)
{
  int size = @N, width, c, i, j, k;
  for (j = 0; j < @R; ++j) at[j] = act[j] ? size++ : -1;
  for (c = 0; c < @CONTACTS; ++c) for (k = 0; k < @contact[c].slips; ++k) at[@R + @contact[c].first + k] = d->status[c] == @STICKS ? size++ : -1;
  width = size + 1;
  for (i = 0; i < size*width; ++i) K[i] = 0;
  for (i = 0; i < @N; ++i) K[i*width + i] = s->M[i*@N + i], K[i*width + size] = force[i];
  for (k = 0; k < @M_ENTRIES; ++k) K[@M_at[k]/@N*width + @M_at[k]%@N] = s->M[@M_at[k]];
  for (k = 0; k < @A_ENTRIES; ++k) if ((j = at[@A_at[k]/@N]) >= 0) {
    i = @A_at[k]%@N;
    K[i*width + j] = -s->A[@A_at[k]], K[j*width + i] = s->A[@A_at[k]];
  }
  for (j = 0; j < @R; ++j) if (at[j] >= 0) K[at[j]*width + size] = b[j];
  for (k = 0; k < @SLIPS; ++k) if (at[@R + k] >= 0) K[at[@R + k]*width + size] = slip_b[k];
  for (k = 0; k < @T_ENTRIES; ++k) {
    const int slip = @T_at[k]/@N;
    const double T = s->T[@T_at[k]];
    c = @slip_of[slip], j = at[@R + slip], i = @T_at[k]%@N;
    if (j >= 0) K[i*width + j] = -T, K[j*width + i] = T;
    if (d->status[c] != @SLIDES) continue;
    if (@contact[c].limited) K[i*width + size] -= s->friction[c]*T*d->direction[c][slip - @contact[c].first];
    else K[i*width + at[@contact[c].row]] += s->friction[c]*d->sign[c]*T*d->direction[c][slip - @contact[c].first];
  }
  return size;
}

/* Whether an answer is one, as far as rounding can tell, in units of what rows weigh. */
static int @balances(const @order *o, const int *at, const @numbers *s, const double *slip_b, const double *force, const double *b, const double *a, const double *lambda, const double *f)
{
  double off[@LARGEST], size[@LARGEST], term, worst = 0, largest = 0;
  int i, j, k;
  for (i = 0; i < @LARGEST; ++i) {
    off[i] = i < @N ? -force[i] : i < @N + @R ? -b[i - @N] : -slip_b[i - @N - @R];
    size[i] = fabs(off[i]);
  }
  for (i = 0; i < @N; ++i) term = s->M[i*@N + i]*a[i], off[i] += term, size[i] += fabs(term);
  for (k = 0; k < @M_ENTRIES; ++k) {
    i = @M_at[k]/@N, j = @M_at[k]%@N;
    if (i != j) term = s->M[@M_at[k]]*a[j], off[i] += term, size[i] += fabs(term);
  }
  for (k = 0; k < @A_ENTRIES; ++k) {
    i = @A_at[k]%@N, j = @A_at[k]/@N;
    term = s->A[@A_at[k]]*lambda[j], off[i] -= term, size[i] += fabs(term);
    term = s->A[@A_at[k]]*a[i], off[@N + j] += term, size[@N + j] += fabs(term);
  }
  for (k = 0; k < @T_ENTRIES; ++k) {
    i = @T_at[k]%@N, j = @T_at[k]/@N;
    term = s->T[@T_at[k]]*f[j], off[i] -= term, size[i] += fabs(term);
    term = s->T[@T_at[k]]*a[i], off[@N + @R + j] += term, size[@N + @R + j] += fabs(term);
  }
  for (i = 0; i < @LARGEST; ++i) if ((j = i < @N ? i : at[i - @N]) >= 0) {
    if (!(fabs(off[i])*o->scale[j] <= worst)) worst = fabs(off[i])*o->scale[j];
    if (size[i]*o->scale[j] > largest) largest = size[i]*o->scale[j];
  }
  return worst <= 1e-11*largest;
}

)";
}

std::string_view c_order() {
  return R"(
/* An order of elimination for what contacts do now: pivots that are not much smaller than others and touch few rows and columns. What can be there counts,
   not what is there at this state. */
static void @find_order(const @numbers *s, const char *act, const @modes *d, @order *o)
{
  static const double none[@LARGEST];
  @numbers ones = {0};
  @modes all = *d;
  double K[@LARGEST*(@LARGEST + 1)], K2[@LARGEST*(@LARGEST + 1)], top[@LARGEST] = {0};
  char there[@LARGEST*@LARGEST], done_row[@LARGEST] = {0}, done_col[@LARGEST] = {0};
  int at[@R + @SLIPS + 1], in_row[@LARGEST] = {0}, in_col[@LARGEST] = {0}, size, width, rank, many = 0, c, i, j, k;
  for (k = 0; k < @M_ENTRIES; ++k) ones.M[@M_at[k]] = 1;
  for (i = 0; i < @N; ++i) ones.M[i*@N + i] = 1;
  for (k = 0; k < @A_ENTRIES; ++k) ones.A[@A_at[k]] = 1;
  for (k = 0; k < @T_ENTRIES; ++k) ones.T[@T_at[k]] = 2;
  for (c = 0; c < @CONTACTS; ++c) ones.friction[c] = all.sign[c] = all.direction[c][0] = all.direction[c][1] = 1;
  o->size = 0;
  @fill(&ones, act, &all, none, none, none, at, K2);
  size = @fill(s, act, d, none, none, none, at, K), width = size + 1;
  for (i = 0; i < size; ++i) for (o->scale[i] = 1, j = 0; j < size; ++j) {
    if (!isfinite(K[i*width + j])) return;
    there[i*size + j] = K2[i*width + j] > 0 || K2[i*width + j] < 0;
  }
  for (k = 0; k < 3; ++k) for (i = 0; i < size; ++i) {
    double most = 0;
    for (j = 0; j < size; ++j) if (fabs(K[i*width + j])*o->scale[j] > most) most = fabs(K[i*width + j])*o->scale[j];
    if (most > 0) o->scale[i] = sqrt(o->scale[i]/most);
  }
  for (i = 0; i < size; ++i) for (j = 0; j < size; ++j) {
    K[i*width + j] *= o->scale[i]*o->scale[j];
    in_row[i] += there[i*size + j], in_col[j] += there[i*size + j];
    if (fabs(K[i*width + j]) > top[i]) top[i] = fabs(K[i*width + j]);
  }
  for (rank = 0; rank < size; ++rank) {
    double best = 0;
    int r = -1, q = -1;
    for (i = 0; i < size; ++i) if (!done_row[i] && top[i] > best) best = top[i];
    if (best < 1e-8) break;
    for (i = 0; i < size; ++i) if (!done_row[i] && top[i] >= 0.1*best && (r < 0 || in_row[i] < in_row[r])) r = i;
    for (j = 0; j < size; ++j) if (!done_col[j] && fabs(K[r*width + j]) >= 0.1*best && (q < 0 || in_col[j] < in_col[q])) q = j;
    o->row[rank] = (unsigned char)r, o->col[rank] = (unsigned char)q, done_row[r] = done_col[q] = 1;
    o->first[2*rank] = (short)many;
    for (i = 0; i < size; ++i) if (!done_row[i] && there[i*size + q]) o->there[many++] = (unsigned char)i;
    o->first[2*rank + 1] = (short)many;
    for (j = 0; j < size; ++j) if (!done_col[j] && there[r*size + j]) o->there[many++] = (unsigned char)j;
    for (i = o->first[2*rank + 1]; i < many; ++i) --in_col[o->there[i]];
    for (k = o->first[2*rank]; k < o->first[2*rank + 1]; ++k) {
      const int to = o->there[k];
      const double factor = K[to*width + q]/K[r*width + q];
      --in_row[to], top[to] = 0;
      for (i = o->first[2*rank + 1]; i < many; ++i) {
        j = o->there[i], K[to*width + j] -= factor*K[r*width + j];
        if (!there[to*size + j]) there[to*size + j] = 1, ++in_row[to], ++in_col[j];
      }
      for (j = 0; j < size; ++j) if (!done_col[j] && fabs(K[to*width + j]) > top[to]) top[to] = fabs(K[to*width + j]);
    }
  }
  o->first[2*rank] = (short)many, o->rank = rank, o->size = size;
  for (i = 0, k = rank; i < size; ++i) if (!done_row[i]) o->row[k++] = (unsigned char)i;
  for (j = 0, k = rank; j < size; ++j) if (!done_col[j]) o->col[k++] = (unsigned char)j;
}

/* K z = r, in this order, as @eliminate has it. 0: the order does not serve here. */
static int @follow(const @order *o, double *K, double *z, char *sure)
{
  const int size = o->size, rank = o->rank, width = size + 1;
  double largest = 0;
  int i, j, k, n;
  for (i = 0; i < size && rank < size; ++i) if (fabs(K[i*width + size])*o->scale[i] > largest) largest = fabs(K[i*width + size])*o->scale[i];
  for (k = 0; k < rank; ++k) {
    const double *const pivot = K + o->row[k]*width, at = pivot[o->col[k]], part = 1/at;
    const unsigned char *const lower = o->there + o->first[2*k], *const upper = o->there + o->first[2*k + 1], *const end = o->there + o->first[2*k + 2], *u, *l;
    if (!(fabs(at)*o->scale[o->row[k]]*o->scale[o->col[k]] > 1e-5)) return 0;
    for (l = lower; l < upper; ++l) {
      double *const held = K + *l*width, factor = held[o->col[k]]*part;
      if (!(factor > 0 || factor < 0)) continue;
      for (u = upper; u < end; ++u) held[*u] -= factor*pivot[*u];
      held[size] -= factor*pivot[size];
    }
  }
  for (i = rank; i < size; ++i) {
    for (j = rank; j < size; ++j) if (!(fabs(K[o->row[i]*width + o->col[j]])*o->scale[o->row[i]]*o->scale[o->col[j]] <= 1e-8)) return 0;
    if (!(fabs(K[o->row[i]*width + size])*o->scale[o->row[i]] <= 1e-6*(largest > 0 ? largest : 1))) return 0;
  }
  for (i = 0; i < size; ++i) sure[o->col[i]] = (char)(i < rank);
  /* First what is not determined, one after the other: what changes with it is not either. */
  for (n = size; n-- >= rank; ) {
    for (i = rank; i < size; ++i) z[o->col[i]] = i == n ? o->scale[o->col[i]] : 0;
    for (k = rank; k-- > 0; ) {
      const double *const pivot = K + o->row[k]*width;
      double sum = n < rank ? pivot[size] : 0;
      for (i = o->first[2*k + 1]; i < o->first[2*k + 2]; ++i) sum -= pivot[o->there[i]]*z[o->there[i]];
      z[o->col[k]] = sum/pivot[o->col[k]];
      if (n >= rank && fabs(z[o->col[k]]) > 1e-6*o->scale[o->col[k]]) sure[o->col[k]] = 0;
    }
  }
  return 1;
}
)";
}

std::string_view c_contact_rows() {
  return R"(
/* By the order o where it serves. sure: of all coordinates, rows and slips. */
static int @solve_rows(const @order *o, const @numbers *s, const char *act, const @modes *d, const double *slip_b, const double *force, const double *b, double *a,
                       double *lambda, double *f, char *sure)
{
  double K[@LARGEST*(@LARGEST + 1)], z[@LARGEST];
  char known[@LARGEST];
  int at[@R + @SLIPS + 1], size, status, turn, c, i, j, k;
  for (turn = o && o->size > 0 ? 0 : 1; turn < 2; ++turn) {
    size = @fill(s, act, d, slip_b, force, b, at, K);
    if (turn == 0 && (o->size != size || !@follow(o, K, z, known))) continue;
    if (turn == 1 && (status = @eliminate(size, 1, K, z, known)) != 0) return status;
    for (i = 0; i < @N; ++i) { a[i] = z[i]; if (!known[i]) return @NOT_UNIQUE; }
    for (j = 0; j < @R; ++j) lambda[j] = act[j] ? z[at[j]] : 0, sure[@N + j] = act[j] ? known[at[j]] : 1;
    for (i = 0; i < @N; ++i) sure[i] = 1;
    for (c = 0; c < @CONTACTS; ++c) for (k = 0; k < @contact[c].slips; ++k) {
      const int slip = @contact[c].first + k;
      f[slip] = d->status[c] == @STICKS ? z[at[@R + slip]] : d->status[c] == @SLIDES ?
                -s->friction[c]*(@contact[c].limited ? 1 : d->sign[c]*lambda[@contact[c].row])*d->direction[c][k] : 0;
      sure[@N + @R + slip] = d->status[c] == @STICKS ? known[at[@R + slip]] : 1;
    }
    if (turn == 1 || @balances(o, at, s, slip_b, force, b, a, lambda, f)) return 0;
  }
  return 0;
}
)";
}

std::string_view c_orders() {
  return R"(
/* What contacts do decides on the rows of accelerations and of projections: orders for them are good until it changes. */
static void @find_orders(@motion *m, const double *p)
{
  @numbers s;
  double x[@X], v[@N];
  char act[@R + 1];
  int c, j, k;
  m->ordered = 1;
  for (k = 0; k < 3; ++k) m->order[k].size = 0;
  if (@number_now(m, p, x, &s, v)) return;
  for (k = 0; k < 3; ++k) {
    @modes d = m->d;
    for (c = 0; c < @CONTACTS && k > 0; ++c) @rest(&d, c, k == @OF_VELOCITIES);
    for (j = 0; j < @R; ++j) act[j] = (char)(@acts(&d, j) && (k == @OF_ACCELERATIONS || @row_level[j] == 0 || (@row_level[j] == 1 && k == @OF_VELOCITIES)));
    if (k == @OF_POSITIONS) @hold_states(&s, 0);
    @find_order(&s, act, &d, m->order + k);
  }
}
)";
}

}  // namespace mechanician
