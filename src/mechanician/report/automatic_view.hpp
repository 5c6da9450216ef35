#pragma once

/// A picture for models that draw none, where the coordinates are recognisably Cartesian.
///
/// x, y, z with a common ending make a point (`x1, y1` and `x2, y2` are two). Two points whose distance a constraint
/// fixes are joined by a rod, and so is a point that a constraint keeps at a distance from a fixed place; which
/// constraints do so is found from their gradients at random states, however they are written. A one-sided constraint
/// on a point that is linear in it is drawn as a floor. Models that have nothing but x, x1, x2, … move on a line.
/// Everything else gets no picture.

#include <optional>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/view.hpp"

namespace mechanician {

std::optional<View> automatic_view(const System& system, const State& start);

}  // namespace mechanician
