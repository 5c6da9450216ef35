#include "mechanician/ensemble/lane_kernels.hpp"

#include <cstring>

#include "mechanician/motion/step_control.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(MECHANICIAN_SANITIZED)
#define MECHANICIAN_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MECHANICIAN_WIDEST
#endif

namespace mechanician::lanes {

namespace {

/// The lanes of one number; packs have a multiple of four.
typedef double Four __attribute__((vector_size(4 * sizeof(double))));
typedef double Eight __attribute__((vector_size(8 * sizeof(double))));

template <class V>
inline __attribute__((always_inline)) void load(const double* from, V& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class V>
inline __attribute__((always_inline)) void store(const V& from, double* to) {
  std::memcpy(to, &from, sizeof from);
}
template <class V>
inline __attribute__((always_inline)) void make_abs(V& x) {
  x = x < 0.0 ? -x : x;
}
template <class V>
inline __attribute__((always_inline)) void raise(V& x, const V& y) {
  x = x < y ? y : x;
}

/// Calls body(i, lane) for whole vectors: i begins a vector, lane its first lane.
#define EACH_VECTOR(V)                                   \
  constexpr int width = static_cast<int>(sizeof(V) / 8); \
  for (int lane = 0; lane < lanes; lane += width)        \
    for (int i = lane; i < size; i += lanes)

template <class V>
inline __attribute__((always_inline)) void add_weighted_by(int size, int lanes, int count, const double* w,
                                                           const double* const* k, const double* y, const double* h,
                                                           double* out) {
  EACH_VECTOR(V) {
    V sum = {}, x, step;
    for (int j = 0; j < count; ++j) load(k[j] + i, x), sum += w[j] * x;
    load(y + i, x), load(h + lane, step);
    store(x + step * sum, out + i);
  }
}
template <class V>
inline __attribute__((always_inline)) void largest_ratio_by(int size, int lanes, int count, const double* w,
                                                            const double* const* k, const double* h,
                                                            const double* scale, double* largest) {
  EACH_VECTOR(V) {
    V sum = {}, x, most;
    for (int j = 0; j < count; ++j) load(k[j] + i, x), sum += w[j] * x;
    load(h + lane, x), sum *= x, make_abs(sum);
    load(scale + i, x), load(largest + lane, most);
    raise(most, V(sum / x));
    store(most, largest + lane);
  }
}

}  // namespace

MECHANICIAN_WIDEST void add_weighted(int size, int lanes, int count, const double* w, const double* const* k,
                                     const double* y, const double* h, double* out) {
  if (lanes % 8 == 0)
    add_weighted_by<Eight>(size, lanes, count, w, k, y, h, out);
  else
    add_weighted_by<Four>(size, lanes, count, w, k, y, h, out);
}

MECHANICIAN_WIDEST void largest_ratio(int size, int lanes, int count, const double* w, const double* const* k,
                                      const double* h, const double* scale, double* largest) {
  if (lanes % 8 == 0)
    largest_ratio_by<Eight>(size, lanes, count, w, k, h, scale, largest);
  else
    largest_ratio_by<Four>(size, lanes, count, w, k, h, scale, largest);
}

MECHANICIAN_WIDEST void largest_size(int size, int lanes, const double* x, double* largest) {
  EACH_VECTOR(Four) {
    Four value, most;
    load(x + i, value), make_abs(value), load(largest + lane, most);
    raise(most, value);
    store(most, largest + lane);
  }
}

MECHANICIAN_WIDEST void make_scale(int size, int lanes, double tolerance, const double* x, const double* y,
                                   const double* extra, double* scale) {
  const Four one = {1.0, 1.0, 1.0, 1.0};
  EACH_VECTOR(Four) {
    Four a, b, more;
    load(x + i, a), load(y + i, b), load(extra + lane, more);
    make_abs(a), make_abs(b), raise(a, b);
    b = one, raise(b, a);
    Four s;
    step_control::make_scale(tolerance, b, a, more, s);
    store(s, scale + i);
  }
}

MECHANICIAN_WIDEST void add_and_measure(int size, int lanes, const double* move, const double* d, double* x,
                                        double* largest) {
  const Four one = {1.0, 1.0, 1.0, 1.0}, zero = {};
  EACH_VECTOR(Four) {
    Four step, value, moves, most, s = one;
    load(d + i, step), load(x + i, value), load(move + lane, moves), load(largest + lane, most);
    step = moves > 0.0 ? step : zero;
    Four old = value, far = step;
    make_abs(old), raise(s, old), make_abs(far);
    raise(most, Four(far / s));
    store(value + step, x + i), store(most, largest + lane);
  }
}

MECHANICIAN_WIDEST void between(int size, int lanes, double theta, const double* h, const double* x, const double* y,
                                const double* a, const double* b, double* out) {
  const double down = 1.0 - theta, ahead = theta * theta * (3.0 - 2.0 * theta), first = theta * down * down,
               last = -theta * theta * down;
  EACH_VECTOR(Four) {
    Four from, to, slope, end, step;
    load(x + i, from), load(y + i, to), load(a + i, slope), load(b + i, end), load(h + lane, step);
    store(from + ahead * (to - from) + step * (first * slope + last * end), out + i);
  }
}

}  // namespace mechanician::lanes
