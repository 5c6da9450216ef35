#include "mechanician/ensemble/lane_kernels.hpp"

#include "mechanician/base/wide.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician::lanes {

namespace {

// The lanes of one number; packs have a multiple of four.
using wide::Four, wide::load, wide::store;

inline __attribute__((always_inline)) void make_abs(Four& x) { x = x < 0.0 ? -x : x; }
inline __attribute__((always_inline)) void raise(Four& x, const Four& y) { x = x < y ? y : x; }

/// For whole vectors: i begins a vector, lane its first lane.
#define EACH_VECTOR                           \
  for (int lane = 0; lane < lanes; lane += 4) \
    for (int i = lane; i < size; i += lanes)

}  // namespace

MECHANICIAN_WIDEST void add_weighted(int size, int lanes, int count, const double* w, const double* const* k,
                                     const double* y, const double* h, double* out) {
  EACH_VECTOR {
    Four sum = {}, x, step;
    for (int j = 0; j < count; ++j) load(k[j] + i, x), sum += w[j] * x;
    load(y + i, x), load(h + lane, step);
    store(x + step * sum, out + i);
  }
}

MECHANICIAN_WIDEST void largest_ratio(int size, int lanes, int count, const double* w, const double* const* k,
                                      const double* h, const double* scale, double* largest) {
  EACH_VECTOR {
    Four sum = {}, x, most;
    for (int j = 0; j < count; ++j) load(k[j] + i, x), sum += w[j] * x;
    load(h + lane, x), sum *= x, make_abs(sum);
    load(scale + i, x), load(largest + lane, most);
    raise(most, Four(sum / x));
    store(most, largest + lane);
  }
}

MECHANICIAN_WIDEST void largest_size(int size, int lanes, const double* x, const double* per_unit, double* largest) {
  EACH_VECTOR {
    Four value, most;
    load(x + i, value), make_abs(value), load(largest + lane, most);
    raise(most, Four(per_unit[i / lanes] * value));
    store(most, largest + lane);
  }
}

MECHANICIAN_WIDEST void see(int size, int lanes, const double* x, double* seen) {
  EACH_VECTOR {
    Four value, most;
    load(x + i, value), make_abs(value), load(seen + i, most);
    raise(most, value);
    store(most, seen + i);
  }
}

MECHANICIAN_WIDEST void make_scale(int size, int lanes, double tolerance, const double* x, const double* y,
                                   const double* seen, const double* unit, const double* least, const double* noise,
                                   double* scale) {
  EACH_VECTOR {
    Four a, b, typical, floor, more, s;
    load(x + i, a), load(y + i, b), load(seen + i, typical), load(least + lane, floor), load(noise + lane, more);
    make_abs(a), make_abs(b), raise(a, b);
    raise(typical, a), raise(typical, Four(unit[i / lanes] * floor));
    step_control::make_scale(tolerance, typical, a, Four(unit[i / lanes] * more), s);
    store(s, scale + i);
  }
}

MECHANICIAN_WIDEST void add_and_measure(int size, int lanes, const double* move, const double* d, const double* unit,
                                        const double* extent, double* x, double* largest) {
  const Four zero = {};
  EACH_VECTOR {
    Four step, value, moves, most, s;
    load(d + i, step), load(x + i, value), load(move + lane, moves), load(largest + lane, most);
    load(extent + lane, s), s = unit[i / lanes] * s;
    step = moves > 0.0 ? step : zero;
    Four before = value, far = step, here = value + step;
    store(here, x + i);
    make_abs(before), raise(s, before), make_abs(here), raise(s, here), make_abs(far);
    raise(most, Four(far / s));
    store(most, largest + lane);
  }
}

MECHANICIAN_WIDEST void between(int size, int lanes, double theta, const double* h, const double* x, const double* y,
                                const double* a, const double* b, double* out) {
  const double down = 1.0 - theta, ahead = theta * theta * (3.0 - 2.0 * theta), first = theta * down * down,
               last = -theta * theta * down;
  EACH_VECTOR {
    Four from, to, slope, end, step;
    load(x + i, from), load(y + i, to), load(a + i, slope), load(b + i, end), load(h + lane, step);
    store(from + ahead * (to - from) + step * (first * slope + last * end), out + i);
  }
}

}  // namespace mechanician::lanes
