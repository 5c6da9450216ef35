#pragma once

/// Random numbers by their place in the stream instead of by what came before: number (seed, instance, which) is the same
/// however the work is cut.
///
/// Philox 4×32 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011).

#include <array>
#include <cstdint>

namespace mechanician {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

/// What a number is for: streams of one seed that have nothing to do with each other.
enum class RandomUse : std::uint32_t { value = 0, place = 1, order = 2, shift = 3 };

/// 64 random bits.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t instance, std::uint32_t dimension, RandomUse use);

/// 53 bits as the middle of their interval: strictly between 0 and 1.
double unit_interval(std::uint64_t bits);

/// x with Φ(x) = p, Φ the distribution function of the normal distribution, 0 < p < 1. Relative error about 1e-15.
/// Wichura's rational functions (Algorithm AS 241, Applied Statistics 37, 1988).
double inverse_normal(double p);

/// A permutation of 0 … count − 1, at one place: a Feistel network on the next power of four, walked until it is back in the
/// range. Constant memory, a few rounds in the mean.
std::uint64_t permuted(std::uint64_t index, std::uint64_t count, std::uint64_t seed, std::uint32_t dimension,
                       std::uint64_t which);

/// Coordinate `dimension` of point `index` of the sequence of Sobol, as 52 bits behind the point. Direction numbers of Joe and
/// Kuo (2008).
inline constexpr int most_sobol_dimensions = 21;
std::uint64_t sobol_bits(std::uint64_t index, int dimension);

}  // namespace mechanician
