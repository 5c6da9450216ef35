#pragma once

/// Sine and cosine of programs: of one angle or of many at once, with the same bits either way.
///
/// Mechanisms are full of them, and a library's function takes as long as thirty products. Here eight angles are done
/// at once where the processor can. Error below 0.8 units in the last place (measured: 0.77); angles beyond 2²⁰,
/// infinite ones and those that are not numbers go to the standard library.
///
///     x = n·π/2 + r,  |r| ≤ π/4;  n·π/2 to 159 bits, so that r is right however close x is to a multiple of π/2
///     sin r = r + r³·S(r²),  cos r = 1 − r²/2 + r⁴·C(r²);  S and C of least greatest error, degree 5

#include <cstdint>

namespace mechanician {

struct SineCosine {
  double sine, cosine;
};

SineCosine sine_cosine(double x);

/// sines[i] and cosines[i] of x[i], i < count. All three have room for a multiple of 8; what is beyond `count` is read
/// and written too, and means nothing.
void sines_and_cosines(const double* x, double* sines, double* cosines, std::int64_t count);

namespace detail {
/// The variants, for tests: null where the processor does not have it.
using SinesAndCosines = void (*)(const double*, double*, double*, std::int64_t);
SinesAndCosines sines_and_cosines_plain();
SinesAndCosines sines_and_cosines_avx2();
SinesAndCosines sines_and_cosines_avx512();
}  // namespace detail

}  // namespace mechanician
