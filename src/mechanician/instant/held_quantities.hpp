#pragma once

/// What [start] holds beside coordinates and velocities: any definition g of a model, such as where a point is or how a body is turned.
///
/// A start is moved onto the constraints with g(q, t) as it is given as one constraint more, g = g₀; with g' the velocities are, with
/// ġ = ġ₀, and g of velocities likewise. The system with these constraints is made for that and thrown away.

#include <memory>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Names that [start] holds and that are no coordinates, as they are written.
std::vector<std::string> held_quantities(const System& system);

struct HoldingSystem {
  std::shared_ptr<System> system;
  int first = 0, count = 0;       ///< its further rows
  std::vector<int> of_positions;  ///< those of positions: their rates are free
  std::optional<NotFinite> not_finite = {};
};
/// The system with these held as they are at a state. Names must be those of definitions.
HoldingSystem hold_quantities(const System& system, const State& given, const std::vector<std::string>& names);

}  // namespace mechanician
