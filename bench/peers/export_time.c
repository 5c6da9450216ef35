/* One acceleration by C that was written by a program: mechanician (-DNAME=panda, with its header) or CasADi (-DCASADI, with its source).

   usage: PROGRAM names | PROGRAM STATES

   `names` prints the coordinates, one by line. STATES: a line with the numbers of states, of positions and of velocities, then by line positions, velocities, accelerations. Prints
   one line of JSON: ns of a call, the quickest of some hundred batches of 3 ms, and error, the largest difference against the accelerations of the file, over their largest. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef CASADI
#include CASADI
enum { PARAMETERS = 0 };
static const char *const *coordinate_names(void) { static const char *const none[] = {0}; return none; }
static void parameters(double *p)
{
  casadi_int arguments, results, integers, numbers;
  (void)p;
  if (dynamics_work(&arguments, &results, &integers, &numbers) || arguments > 8 || results > 8 || integers > 1 << 16 || numbers > 1 << 16) exit(3);
}
static int acceleration(const double *q, const double *v, const double *p, double *a)
{
  enum { most = 1 << 16 };
  static casadi_int iw[most];
  static casadi_real w[most];
  const double *given[8];
  double *results[8];
  (void)p;
  given[0] = q, given[1] = v, results[0] = a;
  return dynamics(given, results, iw, w, 0);
}
#else
#define JOINED(a, b) a##b
#define OF(name, what) JOINED(name, what)
enum { PARAMETERS = OF(NAME, _PARAMETERS) };
static const char *const *coordinate_names(void) { return OF(NAME, _coordinate_names); }
static void parameters(double *p) { OF(NAME, _parameters)(p); }
static int acceleration(const double *q, const double *v, const double *p, double *a) { return OF(NAME, _acceleration)(0, q, v, p, a, 0, 0); }
#endif

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9*(double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  int count, nq, nv, i, k, width;
  long calls = 1, c;
  double *numbers, p[PARAMETERS + 1], *a, error = 0, largest = 0, least = INFINITY, begin, whole;
  FILE *f;
  if (argc < 2) return 2;
  if (!strcmp(argv[1], "names")) {
    for (i = 0; coordinate_names()[i]; ++i) puts(coordinate_names()[i]);
    return 0;
  }
  f = fopen(argv[1], "r");
  if (!f || fscanf(f, "%d %d %d", &count, &nq, &nv) != 3) return 2;
  width = nq + 2*nv;
  numbers = (double *)malloc(sizeof(double)*(size_t)(count*width)), a = (double *)malloc(sizeof(double)*(size_t)(nv + 8));
  for (i = 0; i < count*width; ++i) if (fscanf(f, "%lf", &numbers[i]) != 1) return 2;
  parameters(p);
  for (k = 0; k < count; ++k) {
    const double *q = numbers + k*width, *v = q + nq, *want = v + nv;
    const int status = acceleration(q, v, p, a);
    if (status) { fprintf(stderr, "state %d: status %d\n", k, status); return 1; }
    for (i = 0; i < nv; ++i) {
      if (fabs(want[i]) > largest) largest = fabs(want[i]);
      if (!(fabs(a[i] - want[i]) <= error)) error = fabs(a[i] - want[i]);
    }
  }
  for (whole = now(); now() - whole < 0.3; ) {
    begin = now();
    for (c = 0, k = 0; c < calls; ++c) {
      const double *q = numbers + k*width;
      acceleration(q, q + nq, p, a);
      if (++k == count) k = 0;
    }
    begin = now() - begin;
    if (begin < 1.5e-3) calls *= 2;
    else if (begin/(double)calls < least) least = begin/(double)calls;
  }
  printf("{\"ns\": %.6g, \"error\": %.3e}\n", 1e9*least, error/largest);
  return 0;
}
