#pragma once

/// A motion with contacts, run to its end.

#include <gtest/gtest.h>

#include <vector>

#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {

/// With nothing to complain about.
struct Ran {
  Ran(const Loaded& model, double to, double tolerance = 1e-12)
      : integrator(model.integrator({.to = to, .tolerance = tolerance})), last(run_to_end(integrator)) {
    EXPECT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    const Certificate c = integrator.certificate();
    EXPECT_TRUE(c.holds) << (c.reasons.empty() ? "" : c.reasons.front());
    EXPECT_DOUBLE_EQ(last.t, to);
  }
  std::vector<MotionEvent> events(EventKind kind) const {
    std::vector<MotionEvent> result;
    for (const MotionEvent& e : integrator.events())
      if (e.kind == kind) result.push_back(e);
    return result;
  }
  Integrator integrator;
  Sample last;
};

}  // namespace mechanician
