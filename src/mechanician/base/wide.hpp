#pragma once

/// Loops over numbers for the widest vectors that the CPU has. Nothing is contracted (-ffp-contract=off) and sums have the same
/// parts whatever the width, so that all versions give the same bits.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(MECHANICIAN_SANITIZED)
#define MECHANICIAN_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MECHANICIAN_WIDEST
#endif

namespace mechanician::wide {

/// What one register holds on most machines.
typedef double Four __attribute__((vector_size(4 * sizeof(double))));

/// Two registers. A vector type of eight goes through memory where registers hold four, and takes five times as long.
struct Eight {
  Four low, high;
  __attribute__((always_inline)) Eight& operator+=(const Eight& x) { return low += x.low, high += x.high, *this; }
  __attribute__((always_inline)) Eight& operator-=(const Eight& x) { return low -= x.low, high -= x.high, *this; }
  __attribute__((always_inline)) friend Eight operator+(const Eight& x, const Eight& y) {
    return {x.low + y.low, x.high + y.high};
  }
  __attribute__((always_inline)) friend Eight operator*(double s, const Eight& x) { return {s * x.low, s * x.high}; }
  __attribute__((always_inline)) friend Eight operator*(const Eight& x, const Eight& y) {
    return {x.low * y.low, x.high * y.high};
  }
};

/// The same anywhere in memory. Copies by memcpy would go through the stack in pieces of two.
typedef double FourAnywhere __attribute__((vector_size(4 * sizeof(double)), aligned(8), may_alias));

__attribute__((always_inline)) inline void load(const double* from, Four& to) {
  to = *reinterpret_cast<const FourAnywhere*>(from);
}
__attribute__((always_inline)) inline void store(const Four& from, double* to) {
  *reinterpret_cast<FourAnywhere*>(to) = from;
}
__attribute__((always_inline)) inline void load(const double* from, Eight& to) {
  load(from, to.low), load(from + 4, to.high);
}
__attribute__((always_inline)) inline void store(const Eight& from, double* to) {
  store(from.low, to), store(from.high, to + 4);
}

}  // namespace mechanician::wide
