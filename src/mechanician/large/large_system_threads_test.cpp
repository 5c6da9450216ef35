#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "mechanician/large/large_system.hpp"

namespace mechanician {
namespace {

bool same_bits(const LargeVector& a, const LargeVector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Long enough to be shared. The state is anything: what is compared is arithmetic.
TEST(LargeSystem, GivesTheSameBitsForEveryNumberOfThreads) {
  const std::string model = MECHANICIAN_SOURCE_DIR "/bench/models/chain.toml";
  LargeSystem one(read_family_model(model, {{"N", 100'000.0}}), 1),
      three(read_family_model(model, {{"N", 100'000.0}}), 3);
  std::vector<double> q(static_cast<std::size_t>(one.n())), qd(q.size());
  for (std::size_t i = 0; i < q.size(); ++i)
    q[i] = std::sin(0.3 * static_cast<double>(i)), qd[i] = std::cos(0.7 * static_cast<double>(i));
  LargeSystem::Values a = one.make_values(), b = three.make_values();
  for (int round = 0; round < 2; ++round) {
    one.evaluate({0.0, q, qd, {}}, a);
    three.evaluate({0.0, q, qd, {}}, b);
  }
  EXPECT_TRUE(same_bits(a.A, b.A));
  EXPECT_TRUE(same_bits(a.b, b.b));
  EXPECT_TRUE(same_bits(a.Q, b.Q));
  EXPECT_NE(a.b.back(), 0.0);
}

}  // namespace
}  // namespace mechanician
