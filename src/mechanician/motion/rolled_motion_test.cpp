// Motions of bodies that are alike, by kernels that run over all of them, beside those of the same equations written out.

#include <gtest/gtest.h>

#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/instant/rolled_bodies_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

TEST(RolledMotion, IsThatOfTheModelWrittenOut) {
  for (const std::string& text : {chain_of_balls, chain_of_hinges})
    for (const double count : {3.0, 30.0}) {
      const Both both(text, {{"N", count}});
      constexpr double to = 0.1;
      const MotionOptions options{.to = to, .tolerance = 1e-9};
      Integrator one(both.written, both.start, options), two(both.kernels, both.kernels.start(), options);
      while (one.advance()) {
      }
      while (two.advance()) {
      }
      ASSERT_TRUE(one.t() == to && two.t() == to) << one.stop().message << two.stop().message;
      const Sample a = one.sample(to), b = two.sample(to);
      EXPECT_LT((a.q - b.q).lpNorm<Eigen::Infinity>(), 1e-12);
      EXPECT_LT((a.qd - b.qd).lpNorm<Eigen::Infinity>(), 1e-11);
      EXPECT_LT((a.qdd - b.qdd).lpNorm<Eigen::Infinity>(), 1e-9);
      EXPECT_LT((a.multipliers - b.multipliers).lpNorm<Eigen::Infinity>(), 1e-10);
      ASSERT_EQ(a.outputs.size(), b.outputs.size());
      if (a.outputs.size() > 0) {
        EXPECT_LT((a.outputs - b.outputs).lpNorm<Eigen::Infinity>(), 1e-12);
      }
      const Certificate &c = one.certificate(), &d = two.certificate();
      EXPECT_EQ(c.holds, d.holds);
      EXPECT_NEAR(c.kinetic_end, d.kinetic_end, 1e-12);
      EXPECT_NEAR(c.balance, d.balance, 1e-12);
    }
}

}  // namespace
}  // namespace mechanician
