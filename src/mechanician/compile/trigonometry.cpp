#include "mechanician/compile/trigonometry.hpp"

#include <bit>
#include <cmath>

namespace mechanician {

namespace {

constexpr double largest = 0x1p20;

/// Straight-line code without branches, so that the compiler makes vectors of it. No product is fused but where it says
/// so (-ffp-contract=off): the bits are the same with and without vectors.
[[gnu::always_inline]] inline SineCosine reduced_sine_cosine(double x) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  constexpr double P1 = 0x1.921fb54442d18p+0, P2 = 0x1.1a62633145c07p-54, P3 = -0x1.f1976b7ed8fbcp-110;  // π/2
  constexpr double S0 = -0x1.5555555555549p-3, S1 = 0x1.111111110f881p-7, S2 = -0x1.a01a019c126c1p-13,
                   S3 = 0x1.71de357875419p-19, S4 = -0x1.ae5e66d594c9dp-26, S5 = 0x1.5d932f7c42389p-33;
  constexpr double C0 = 0x1.555555555554cp-5, C1 = -0x1.6c16c16c15184p-10, C2 = 0x1.a01a019cb2701p-16,
                   C3 = -0x1.27e4f80a77278p-22, C4 = 0x1.1ee9ec484435bp-29, C5 = -0x1.8faecf7d650f1p-37;
  const auto fma = [](double a, double b, double c) __attribute__((always_inline)) { return __builtin_fma(a, b, c); };

  // n is rounded by a number so large that its last bit counts ones; its last bits tell the quadrant.
  constexpr double large = 0x1.8p52;
  const double shifted = fma(x, two_over_pi, large);
  const double n = shifted - large;
  const auto quadrant = std::bit_cast<std::uint64_t>(shifted);

  // r + t = x − n·π/2. The first difference is exact; the second with its rounding error (two-sum), which is all that
  // is left of r if x is next to a multiple of π/2.
  const double r1 = fma(-n, P1, x);
  const double high = n * P2, low = fma(n, P2, -high);
  const double sum = r1 - high, back = sum - r1;
  const double error = (r1 - (sum - back)) - (high + back);
  const double r = sum, t = fma(-n, P3, error - low);

  // Polynomials in z = r², in a form with short chains; cos r with the rounding error of z, as it matters most there.
  const double z = r * r, z2 = z * z;
  const double S = fma(z2, fma(z2, fma(z, S5, S4), fma(z, S3, S2)), fma(z, S1, S0));
  const double C = fma(z2, fma(z2, fma(z, C5, C4), fma(z, C3, C2)), fma(z, C1, C0));
  const double half = 0.5 * z, w = 1.0 - half, half_error = 0.5 * fma(r, r, -z);
  double sine = r + fma(r * z, S, t * w);
  const double cosine = w + (((1.0 - w) - half) + fma(z2, C, -fma(r, t, half_error)));
  sine = std::abs(x) < 0x1p-27 ? x : sine;  // and the sign of zero

  // Odd quadrants exchange the two, the last two of four change the sign of the sine.
  const auto s = std::bit_cast<std::uint64_t>(sine), c = std::bit_cast<std::uint64_t>(cosine);
  const std::uint64_t odd = 0 - (quadrant & 1);
  const std::uint64_t sign_s = (quadrant & 2) << 62, sign_c = ((quadrant + 1) & 2) << 62;
  return {std::bit_cast<double>(((s & ~odd) | (c & odd)) ^ sign_s),
          std::bit_cast<double>(((c & ~odd) | (s & odd)) ^ sign_c)};
}

SineCosine by_library(double x) { return {std::sin(x), std::cos(x)}; }

[[gnu::always_inline]] inline void many(const double* x, double* sines, double* cosines, std::int64_t count) {
  for (std::int64_t start = 0; start < count; start += 8) {
    const double* const from = x + start;
    double s[8], c[8];
    std::uint64_t far[8];
    for (int k = 0; k < 8; ++k) {
      const SineCosine y = reduced_sine_cosine(from[k]);
      s[k] = y.sine;
      c[k] = y.cosine;
      far[k] = std::abs(from[k]) <= largest ? 0 : 1;
    }
    for (int k = 0; k < 8; ++k) sines[start + k] = s[k];
    for (int k = 0; k < 8; ++k) cosines[start + k] = c[k];
    std::uint64_t any = 0;
    for (int k = 0; k < 8; ++k) any |= far[k];
    if (any == 0) [[likely]]
      continue;
    for (int k = 0; k < 8 && start + k < count; ++k) {
      if (!far[k]) continue;
      const SineCosine y = by_library(from[k]);
      sines[start + k] = y.sine;
      cosines[start + k] = y.cosine;
    }
  }
}

void many_plain(const double* x, double* sines, double* cosines, std::int64_t count) { many(x, sines, cosines, count); }
SineCosine one_plain(double x) { return std::abs(x) <= largest ? reduced_sine_cosine(x) : by_library(x); }

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) void many_avx2(const double* x, double* sines, double* cosines,
                                                   std::int64_t count) {
  many(x, sines, cosines, count);
}
#if defined(__clang__)
#define MECHANICIAN_WIDE  // takes the width from the processor
#else
#define MECHANICIAN_WIDE ",prefer-vector-width=512"
#endif
__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma" MECHANICIAN_WIDE))) void many_avx512(const double* x,
                                                                                                double* sines,
                                                                                                double* cosines,
                                                                                                std::int64_t count) {
  many(x, sines, cosines, count);
}
__attribute__((target("fma"))) SineCosine one_fma(double x) {
  return std::abs(x) <= largest ? reduced_sine_cosine(x) : by_library(x);
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
const auto chosen_one = __builtin_cpu_supports("fma") ? one_fma : one_plain;
const auto chosen_few = has_avx2() ? many_avx2 : many_plain;
const auto chosen_many = has_avx512() ? many_avx512 : chosen_few;

#else

const auto chosen_one = one_plain;
const auto chosen_few = many_plain;
const auto chosen_many = many_plain;

#endif

}  // namespace

SineCosine sine_cosine(double x) { return chosen_one(x); }

void sines_and_cosines(const double* x, double* sines, double* cosines, std::int64_t count) {
  // Few angles are better off with shorter vectors: while the longest are at work, the processor does less beside them.
  (count <= 8 ? chosen_few : chosen_many)(x, sines, cosines, count);
}

namespace detail {

SinesAndCosines sines_and_cosines_plain() { return many_plain; }
#if defined(__x86_64__)
SinesAndCosines sines_and_cosines_avx2() { return has_avx2() ? many_avx2 : nullptr; }
SinesAndCosines sines_and_cosines_avx512() { return has_avx512() ? many_avx512 : nullptr; }
#else
SinesAndCosines sines_and_cosines_avx2() { return nullptr; }
SinesAndCosines sines_and_cosines_avx512() { return nullptr; }
#endif

}  // namespace detail

}  // namespace mechanician
