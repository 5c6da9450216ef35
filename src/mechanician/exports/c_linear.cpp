// Linear algebra of exported C, for where straight-line code does not vouch for its answer and for what changes on the way.

#include "mechanician/exports/c_runtime.hpp"

namespace mechanician {

std::string_view c_elimination() {
  return R"(
/* K z = r by elimination with complete pivoting, for `count` r at once; K has `size` rows of size + count numbers, those of r the last of each,
   and is used up. Rows and columns are taken in units of what they weigh; what is below 1e-8 of them counts as zero: so far a state that somebody else integrates is off what
   constraints have in common. What is not determined is 0, and sure[i] tells what is. The rank is at most `most`: what is left then follows from the
   rest, but for `allowed` of the largest r. Of each row its largest number is kept in mind: rows that a pivot does not touch are not looked at. */
static int @eliminate_to(int most, double allowed, int size, int count, double *K, double *z, char *sure)
{
  double scale[@LARGEST], top[@LARGEST], largest = 0, *row[@LARGEST], *held;
  int col[@LARGEST], at[@LARGEST], there[@LARGEST*@LARGEST], many[@LARGEST], rank, width = size + count, i, j, k, r;
  for (i = 0; i < size; ++i) {
    int *const mine = there + i*size;
    scale[i] = 1, row[i] = K + i*width, col[i] = i, many[i] = 0;
    for (j = 0; j < size; ++j) {
      if (!isfinite(row[i][j])) return @NOT_FINITE;
      mine[many[i]] = j, many[i] += row[i][j] > 0 || row[i][j] < 0;
    }
    for (; j < width; ++j) if (!isfinite(row[i][j])) return @NOT_FINITE;
  }
  for (k = 0; k < 3; ++k) for (i = 0; i < size; ++i) {
    double most = 0;
    for (j = 0; j < many[i]; ++j) if (fabs(row[i][there[i*size + j]])*scale[there[i*size + j]] > most) most = fabs(row[i][there[i*size + j]])*scale[there[i*size + j]];
    if (most > 0) scale[i] = sqrt(scale[i]/most);
  }
  for (i = 0; i < size; ++i) {
    for (top[i] = 0, at[i] = 0, j = 0; j < many[i]; ++j) {
      const int c = there[i*size + j];
      if (fabs(row[i][c] *= scale[i]*scale[c]) > top[i]) top[i] = fabs(row[i][c]), at[i] = c;
    }
    for (r = size; r < width; ++r) row[i][r] *= scale[i];
    if (top[i] > largest) largest = top[i];
  }
  for (r = 0; r < count; ++r) {
    z[r] = 0;
    for (i = 0; i < size; ++i) if (fabs(row[i][size + r]) > z[r]) z[r] = fabs(row[i][size + r]);
  }
  for (rank = 0; rank < most; ++rank) {
    double best = 1e-8*largest, *pivot, swapped;
    int from = -1, c, filled = 0;
    for (i = rank; i < size; ++i) if (top[i] > best) best = top[i], from = i;
    if (from < 0) break;
    c = at[from], pivot = row[from];
    row[from] = row[rank], top[from] = top[rank], at[from] = at[rank], row[rank] = pivot;
    for (i = 0; i < size && c != rank; ++i) swapped = row[i][rank], row[i][rank] = row[i][c], row[i][c] = swapped;
    i = col[rank], col[rank] = col[c], col[c] = i;
    for (j = rank + 1; j < size; ++j) there[filled] = j, filled += pivot[j] > 0 || pivot[j] < 0;
    for (i = rank + 1; i < size; ++i) {
      const double factor = row[i][rank]/pivot[rank];
      held = row[i];
      if (at[i] == rank) at[i] = c;
      if (!(factor > 0 || factor < 0)) continue;
      for (j = 0; j < filled; ++j) held[there[j]] -= factor*pivot[there[j]];
      for (j = size; j < width; ++j) held[j] -= factor*pivot[j];
      for (top[i] = 0, at[i] = rank + 1, j = rank + 1; j < size; ++j) if (fabs(held[j]) > top[i]) top[i] = fabs(held[j]), at[i] = j;
    }
  }
  for (r = 0; r < count; ++r)
    for (k = rank; k < size; ++k) if (fabs(row[k][size + r]) > allowed*(z[r] > 0 ? z[r] : 1)) return @CONTRADICTION;
  for (k = rank; k-- > 0; ) for (i = 0; i < k; ++i) {
    const double factor = row[i][k]/row[k][k];
    if (factor > 0 || factor < 0) for (j = rank; j < width; ++j) row[i][j] -= factor*row[k][j];
  }
  for (i = 0; i < size*count; ++i) z[i] = 0;
  for (k = 0; k < size; ++k) sure[col[k]] = (char)(k < rank);
  for (k = 0; k < rank; ++k) {
    for (r = 0; r < count; ++r) z[r*size + col[k]] = row[k][size + r]/row[k][k]*scale[col[k]];
    for (j = rank; j < size; ++j) if (fabs(row[k][j]) > allowed*fabs(row[k][k])) sure[col[k]] = 0;
  }
  return 0;
}

static int @eliminate(int size, int count, double *K, double *z, char *sure) { return @eliminate_to(size, 1e-6, size, count, K, z, sure); }
)";
}

std::string_view c_rows() {
  return R"(
enum { @FOLLOWS = 2, @FOLLOWS_NEARLY = 3 };

/* M a = force + A' lambda, A a = b for the rows that act. sure: of all coordinates and rows. As many rows follow from the others as act in that way: which ones is for the pivots to say. */
static int @solve_rows(const @numbers *s, const char *act, const double *force, const double *b, double *a, double *lambda, double *f, char *sure)
{
  double K[@LARGEST*(@LARGEST + 1)], z[@LARGEST];
  char known[@LARGEST];
  int at_row[@R + 1], size = @N, width, status, i, j, follow = 0, nearly = 0;
  for (j = 0; j < @R; ++j) at_row[j] = act[j] ? size++ : -1, follow += act[j] > 1, nearly |= act[j] == @FOLLOWS_NEARLY;
  width = size + 1;
  for (i = 0; i < size*width; ++i) K[i] = 0;
  for (i = 0; i < @N; ++i) {
    for (j = 0; j < @N; ++j) K[i*width + j] = s->M[i*@N + j];
    K[i*width + size] = force[i];
  }
  for (j = 0; j < @R; ++j) if (act[j]) {
    for (i = 0; i < @N; ++i) K[i*width + at_row[j]] = -s->A[j*@N + i], K[at_row[j]*width + i] = s->A[j*@N + i];
    K[at_row[j]*width + size] = b[j];
  }
  if ((status = @eliminate_to(size - follow, nearly ? INFINITY : follow ? 1e-3 : 1e-6, size, 1, K, z, known)) != 0) return status;
  for (i = 0; i < @N; ++i) { a[i] = z[i]; if (!known[i]) return @NOT_UNIQUE; }
  for (j = 0; j < @R; ++j) lambda[j] = act[j] ? z[at_row[j]] : 0, sure[@N + j] = act[j] ? known[at_row[j]] : 1;
  for (i = 0; i < @N; ++i) sure[i] = 1;
  (void)f;
  return 0;
}
)";
}

std::string_view c_shared_friction() {
  return R"(
/* Contacts that stick side by side share what they hold in many ways: as far as can be, each in the measure of what it can hold. */
static int @share(const @numbers *s, const @modes *d, const double *lambda, double *f, char *sure)
{
  double K[@LARGEST*(@LARGEST + 1)], z[@LARGEST], most = 0;
  char known[@LARGEST];
  int at[@SLIPS + 1] = {0}, count = 0, open = 0, size, width, status, c, i, k;
  for (c = 0; c < @CONTACTS; ++c) for (k = 0; k < @contact[c].slips; ++k) if (d->status[c] == @STICKS) {
    const double bound = s->friction[c]*(@contact[c].limited ? 1 : fabs(lambda[@contact[c].row]));
    if (bound > most) most = bound;
    open |= !sure[@N + @R + @contact[c].first + k];
    at[@contact[c].first + k] = count++;
  }
  /* Where loads are not known either nothing is. */
  for (c = 0; c < @CONTACTS; ++c) if (d->status[c] == @STICKS && !@contact[c].bare && !sure[@N + @contact[c].row]) return 0;
  if (!open || !(most > 0)) return 0;
  size = count + @N, width = size + 1;
  for (i = 0; i < size*width; ++i) K[i] = 0;
  for (c = 0; c < @CONTACTS; ++c) for (k = 0; k < @contact[c].slips; ++k) if (d->status[c] == @STICKS) {
    const double bound = s->friction[c]*(@contact[c].limited ? 1 : fabs(lambda[@contact[c].row])), share = (bound > 1e-6*most ? bound : 1e-6*most)/most;
    const double *T = s->T + (@contact[c].first + k)*@N;
    const int row = at[@contact[c].first + k];
    K[row*width + row] = 1/share;
    for (i = 0; i < @N; ++i) {
      K[row*width + count + i] = K[(count + i)*width + row] = T[i];
      K[(count + i)*width + size] += T[i]*f[@contact[c].first + k];
    }
  }
  if ((status = @eliminate(size, 1, K, z, known)) != 0) return status;
  for (c = 0; c < @CONTACTS; ++c) for (k = 0; k < @contact[c].slips; ++k) if (d->status[c] == @STICKS)
    f[@contact[c].first + k] = z[at[@contact[c].first + k]], sure[@N + @R + @contact[c].first + k] = 1;
  return 0;
}
)";
}

std::string_view c_general_solver() {
  return R"(
/* The acceleration without straight-line code: for rows that depend on each other and masses that vanish. lambda is that of C = 0, of least norm
   where it is not unique. */
static int @solve_plant(const double *x, @numbers *s, const char *act, double *a, double *lambda)
{
  double joint[@R + 1];
  char sure[@LARGEST];
  int i, status, is_sure = 1;
  if ((status = @solve_rows(s, act, s->Q, s->b, a, lambda, 0, sure)) != 0) return status;
  for (i = 0; i < @R; ++i) if (!sure[@N + i] || act[i] > 1) is_sure = 0;
  if (!is_sure && (status = @least_norm(s, act, s->Q, a, lambda)) != 0) return status;
  if (!@HAS_C) return 0;
  if ((status = @other_forces(x, s, a, lambda)) != 0) return status;
  return @solve_rows(s, act, s->C, s->b, a, joint, 0, sure);
}
)";
}

std::string_view c_least_norm() {
  return R"(
/* Of all lambda of rows that act with A' lambda = M a - force the one of least norm. */
static int @least_norm(const @numbers *s, const char *act, const double *force, const double *a, double *lambda)
{
  enum { size = @N + @R, width = @N + @R + 1 };
  double K[@LARGEST*(@LARGEST + 1)], z[@LARGEST];
  char sure[@LARGEST];
  int i, j, status;
  for (i = 0; i < size*width; ++i) K[i] = 0;
  for (j = 0; j < @R; ++j) {
    K[j*width + j] = 1;
    for (i = 0; i < @N && act[j]; ++i) K[j*width + @R + i] = K[(@R + i)*width + j] = s->A[j*@N + i];
  }
  for (i = 0; i < @N; ++i) {
    double sum = -force[i];
    for (j = 0; j < @N; ++j) sum += s->M[i*@N + j]*a[j];
    K[(@R + i)*width + size] = sum;
  }
  if ((status = @eliminate(size, 1, K, z, sure)) != 0) return status;
  for (j = 0; j < @R; ++j) lambda[j] = z[j];
  return 0;
}
)";
}

std::string_view c_following_rows() {
  return R"(
/* Whether all rows hold, those too that follow from the others. */
static int @rows_hold(double t, const double *q, const double *v, const double *p, const double *side, int velocities)
{
  @numbers s;
  double x[@X], values[2*@R + 1], largest = 0;
  const double *moved = velocities ? v : q;
  int i, j;
  @pack(t, q, v, p, 0, side, x);
  if (@number(x, &s)) return 0;
  @residuals_values(x, values);
  for (i = 0; i < @COORDINATES; ++i) if (fabs(moved[i]) > largest) largest = fabs(moved[i]);
  for (j = 0; j < @R; ++j) if (@row_level[j] == 0 || (@row_level[j] == 1 && velocities)) {
    double norm = 0;
    for (i = 0; i < @N; ++i) norm += s.A[j*@N + i]*s.A[j*@N + i];
    if (!(fabs(values[2*j + (@row_level[j] == 0 && velocities ? 1 : 0)]) <= 1e-9*sqrt(norm)*largest)) return 0;
  }
  return 1;
}

/* With the rows that follow from others in mind, and if that does not do, as if there were none. */
static int @project_generally(double t, double *q, double *v, const double *p, const double *side, int velocities)
{
  double kept[@COORDINATES], *moved = velocities ? v : q;
  int i;
  for (i = 0; i < @COORDINATES; ++i) kept[i] = moved[i];
  if (!@project_rows(t, q, v, p, side, velocities, @FOLLOWS_NEARLY) && @rows_hold(t, q, v, p, side, velocities)) return 0;
  for (i = 0; i < @COORDINATES; ++i) moved[i] = kept[i];
  return @project_rows(t, q, v, p, side, velocities, 1);
}
)";
}

std::string_view c_general_projection() {
  return R"(
/* Masses for projections: states stay, and what has no mass has a little. Returns the largest so far. */
static double @hold_states(@numbers *s, double largest)
{
  int i;
  for (i = 0; i < @N; ++i) if (s->M[i*@N + i] > largest) largest = s->M[i*@N + i];
  for (i = 0; i < @N; ++i) s->M[i*@N + i] += @is_state[i] ? 1e12*(largest > 0 ? largest : 1) : 1e-10*(largest > 0 ? largest : 1)*(s->M[i*@N + i] > 0 ? 0 : 1);
  return largest;
}

/* Onto the rows that act, least in the mass norm, with complete pivoting. velocities: 0 moves q, 1 moves v. */
static int PROJECTED_NAME(MOTION_ARGUMENT double t, double *q, double *v, const double *p, const double *side, int velocities PROJECTED_FOLLOWING)
{
  @numbers s;
  double x[@X], values[2*@R + 1], change[@N], lambda[@R + 1], b[@R + 1], none[@N], largest = 0;
  char act[@R + 1], sure[@LARGEST];
  int i, j, k, status;
  (void)side;
  PROJECTED_MODES
  for (k = 0; k < 16; ++k) {
    double most = 0, size = 0;
    @pack(t, q, v, p, MODE_VALUES, x);
    if ((status = @number(x, &s)) != 0) return status;
    @residuals_values(x, values);
    for (i = 0; i < @N; ++i) none[i] = 0;
    largest = @hold_states(&s, largest);
    for (j = 0; j < @R; ++j) {
      act[j] = (char)(@row_level[j] == 0 || (@row_level[j] == 1 && velocities));
      PROJECTED_FOLLOW
      b[j] = -values[2*j + (@row_level[j] == 0 && velocities ? 1 : 0)];
    }
    PROJECTED_ROWS
    /* On the rows as far as rounding can tell: next to zero the sizes of coordinates do not say it. */
    if (PROJECTED_FROM) {
      int off = 0;
      for (j = 0; j < @R; ++j) if (act[j]) {
        double terms = 0, norm = 0;
        for (i = 0; i < @N; ++i) terms += fabs(s.A[j*@N + i]*x[1 + (velocities ? @N : 0) + i]), norm += s.A[j*@N + i]*s.A[j*@N + i];
        if (!velocities && sqrt(norm) > terms) terms = sqrt(norm);
        off |= fabs(b[j]) > 1e-14*terms;
      }
      PROJECTED_OFF
      if (!off) return 0;
    }
    if ((status = @solve_rows(PROJECTED_ORDER &s, act, PROJECTED_PASSED none, b, change, lambda, PROJECTED_SLIPS, sure)) != 0)
      return status == @CONTRADICTION ? @NOT_PROJECTED : status;
    for (i = 0; i < @COORDINATES; ++i) {
      double *moved = velocities ? v : q;
      moved[i] += change[@at_coordinate[i]];
      if (fabs(change[@at_coordinate[i]]) > most) most = fabs(change[@at_coordinate[i]]);
      if (fabs(moved[i]) > size) size = fabs(moved[i]);
    }
    PROJECTED_FLOOR
    /* What is left after so small a Newton step is below rounding. */
    if (most <= 1e-9*size) return 0;
  }
  return @NOT_PROJECTED;
}
)";
}

}  // namespace mechanician
