#pragma once

/// Loops of joints that no position near the start closes: which joints stay open, and by how much at least.
///
/// A projection that finds no state (project.hpp) gives up somewhere, with all rows off by a little: the lengths of quaternions too, which
/// are no joints. What can be said is found by cutting the loop at one joint. With everything else met, what is left of its rows c is
/// made as small as it can be,
///
///     minimise ½|c(q)|²  over r(q) = 0 of all other rows and held coordinates as they are,
///
/// by steps of Gauss and Newton in the null space of r_q, with a Levenberg–Marquardt term. Where no single joint can be cut, loops are open in
/// several places: then all joints count together.

#include <string>
#include <vector>

#include "mechanician/instant/project.hpp"

namespace mechanician {

struct OpenJoint {
  std::string name;
  double length = 0.0;  ///< between what should meet, in m
  double angle = 0.0;   ///< between what should point one way or be square, in radians
};

/// Empty where no joint is among what is not met, or nothing can be said.
std::vector<OpenJoint> find_open_joints(const System& system, const Projection& ended);

}  // namespace mechanician
