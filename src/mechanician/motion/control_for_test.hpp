#pragma once

/// Models and checks that tests of control share.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {

/// A load of 2 kg on the floor, and a hoist that is to take it along a path; `more`: of the hoist.
inline std::string lifted(const std::string& path, const std::string& more = "") {
  return fmt::format(R"(
coordinates = ["z"]
[dynamics]
kinetic   = "z'^2"
potential = "2*9.81*z"
[constraints]
floor = "z >= 0"
[actuators]
hoist = {{ z = "1"{} }}
[control.height]
equation = "{}"
)",
                     more, path);
}

/// A particle of mass 1 that is to be at x = 1, with a sample each quarter of a second.
inline const std::string sampled_slider = R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[control.place]
equation  = "x = 1"
frequency = 2.0
[control]
every = 0.25
)";

/// A motion that is over: at its end, with a certificate that holds.
inline void expect_done(Integrator& motion, double to) {
  EXPECT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
  EXPECT_NEAR(motion.t(), to, 1e-12);
  const Certificate certificate = motion.certificate();
  EXPECT_TRUE(certificate.holds) << (certificate.reasons.empty() ? "" : certificate.reasons.front());
}

inline double time_of(const Integrator& motion, EventKind kind) {
  for (const MotionEvent& e : motion.events())
    if (e.kind == kind) return e.time;
  return std::nan("");
}

}  // namespace mechanician
