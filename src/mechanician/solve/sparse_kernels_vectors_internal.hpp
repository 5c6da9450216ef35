// What all loops of the sparse elimination share: vectors of the processor at hand, and pivots with their witnesses.
// Each kind of processor compiles these files once. No header of the standard library with code in it may be included
// here: the linker would be free to use that code, made for AVX-512, everywhere.
#pragma once

#include "mechanician/solve/sparse_kernels.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace mechanician::sparse {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 8;
#elif defined(__AVX2__)
constexpr int lanes = 4;
#else
constexpr int lanes = 2;
#endif
typedef double Vec __attribute__((vector_size(lanes * sizeof(double)), aligned(8), may_alias));
typedef long long Mask __attribute__((vector_size(lanes * sizeof(double))));

inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(double* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

inline double larger(double a, double b) { return a > b ? a : b; }

/// The pivot s of a row that its coordinates give P: 1/s, or zero where the row is masked.
struct RowPivots {
  PivotLimits limits;
  double growth = 0;
  int masked = 0, grey = 0, not_finite = 0;

  explicit RowPivots(const PivotLimits& given) : limits(given) {}
  inline double inverse(double s, double P) {
    const double least = limits.dependent * P;
    if (__builtin_expect(!(s > least), 0)) {
      ++masked;
      not_finite += !(s <= least);
      return 0.0;
    }
    grey += s < limits.grey * P;
    const double inv = 1.0 / s;
    growth = larger(growth, P * inv);
    return inv;
  }
  void add_to(PivotCount& count) const {
    count.row_growth = larger(count.row_growth, growth);
    count.num_masked += masked;
    count.num_grey += grey;
    count.num_not_finite += not_finite;
  }
};

struct MassPivots {
  double least, growth = 0;
  int indefinite = 0;
  inline double inverse(double d, double H) {
    if (__builtin_expect(!(d > least * H), 0)) {
      ++indefinite;
      return 0.0;
    }
    const double inv = 1.0 / d;
    growth = larger(growth, H * inv);
    return inv;
  }
  void add_to(PivotCount& count) const {
    count.mass_growth = larger(count.mass_growth, growth);
    count.num_indefinite += indefinite;
  }
};

}  // namespace
}  // namespace mechanician::sparse
