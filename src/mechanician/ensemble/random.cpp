#include "mechanician/ensemble/random.hpp"

#include <bit>
#include <cassert>
#include <cmath>

namespace mechanician {

PhiloxCounter philox(PhiloxCounter x, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53u} * x[0], right = std::uint64_t{0xCD9E8D57u} * x[2];
    x = {static_cast<std::uint32_t>(right >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(right),
         static_cast<std::uint32_t>(left >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(left)};
    key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u;
  }
  return x;
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t instance, std::uint32_t dimension, RandomUse use) {
  const PhiloxCounter made = philox({static_cast<std::uint32_t>(instance), static_cast<std::uint32_t>(instance >> 32),
                                     dimension, static_cast<std::uint32_t>(use)},
                                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return std::uint64_t{made[0]} << 32 | made[1];
}

double unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

double inverse_normal(double p) {
  assert(p > 0.0 && p < 1.0);
  // Numerators and denominators from the constant on.
  static constexpr double middle[2][8] = {
      {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
       4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
      {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
       3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}};
  static constexpr double outer[2][8] = {
      {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
       1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
      {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
       1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
  static constexpr double tail[2][8] = {
      {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
       2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
      {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
       1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};
  const auto ratio = [](const double(&of)[2][8], double r) {
    double above = of[0][7], below = of[1][7];
    for (int i = 6; i >= 0; --i) above = above * r + of[0][i], below = below * r + of[1][i];
    return above / below;
  };
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return q * ratio(middle, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0.0 ? p : 1.0 - p));
  const double x = r <= 5.0 ? ratio(outer, r - 1.6) : ratio(tail, r - 5.0);
  return q < 0.0 ? -x : x;
}

std::uint64_t permuted(std::uint64_t index, std::uint64_t count, std::uint64_t seed, std::uint32_t dimension,
                       std::uint64_t which) {
  assert(index < count);
  if (count < 2) return index;
  const auto half = static_cast<int>((std::bit_width(count - 1) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  // The rounds need a key of their own for each permutation.
  const std::uint64_t key = random_bits(seed, which, dimension, RandomUse::order);
  do {
    std::uint64_t left = index >> half, right = index & mask;
    for (std::uint32_t round = 0; round < 6; ++round) {
      const std::uint64_t next = left ^ (random_bits(key, right, round, RandomUse::order) & mask);
      left = right, right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

namespace {

/// Of dimensions 1, 2, …: degree and inner coefficients of a primitive polynomial, first direction numbers. Dimension 0 has
/// none: its directions are 1/2, 1/4, ….
struct Direction {
  int degree;
  unsigned inner;
  std::array<std::uint32_t, 7> first;
};
constexpr std::array<Direction, most_sobol_dimensions - 1> directions{{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
}};

constexpr int sobol_digits = 52;
using DirectionTable = std::array<std::array<std::uint64_t, sobol_digits>, most_sobol_dimensions>;

DirectionTable make_directions() {
  DirectionTable v{};
  for (int k = 0; k < sobol_digits; ++k) v[0][static_cast<std::size_t>(k)] = std::uint64_t{1} << (sobol_digits - 1 - k);
  for (std::size_t d = 1; d < v.size(); ++d) {
    const Direction& from = directions[d - 1];
    const auto s = static_cast<std::size_t>(from.degree);
    for (std::size_t k = 0; k < v[d].size(); ++k) {
      if (k < s) {
        v[d][k] = std::uint64_t{from.first[k]} << (sobol_digits - 1 - static_cast<int>(k));
        continue;
      }
      std::uint64_t x = v[d][k - s] ^ (v[d][k - s] >> s);
      for (std::size_t i = 1; i < s; ++i)
        if ((from.inner >> (s - 1 - i)) & 1u) x ^= v[d][k - i];
      v[d][k] = x;
    }
  }
  return v;
}

}  // namespace

std::uint64_t sobol_bits(std::uint64_t index, int dimension) {
  assert(dimension >= 0 && dimension < most_sobol_dimensions && index >> sobol_digits == 0);
  static const DirectionTable table = make_directions();
  const auto& v = table[static_cast<std::size_t>(dimension)];
  std::uint64_t x = 0;
  for (std::size_t k = 0; index != 0; ++k, index >>= 1)
    if (index & 1u) x ^= v[k];
  return x;
}

}  // namespace mechanician
