#pragma once

/// A system along the tree of its joints at a state, as it is with every body by itself: read again (model/bodies.hpp), with its
/// parameters. What would depend on the coordinates that a formulation has is asked there, so that formulations agree: reactions that are
/// not determined, and the start on the joints that is nearest to a given one.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Where the bodies are that the state does not move away from the start of the system.
enum class Unmoved {
  in_file,  ///< where the file puts them, joints closed or not
  on_tree,  ///< on their joints
};

struct BodiesApart {
  System system;
  State state;
};
/// Nothing where every body is by itself already, there are none, or the state cannot be said in such a way: the first body of a tree
/// has been moved.
std::optional<BodiesApart> take_apart(const System& system, const State& state, Unmoved unmoved);

/// Whether a start is off what projections meet (project.hpp) by more than the way onto it could make a difference for, or the file puts
/// its bodies beside the joints of the tree. Then project_start() moves the bodies as they are apart, from where the file puts them: the
/// nearest state is the same in every formulation.
bool is_apart_in_file(const System& system);
bool begins_off(const System& system, const State& start);
bool is_off_constraints(const System& system, const State& state);

/// The system alone, read with these parameters.
std::optional<System> read_apart(const System& system, ParameterOverrides overrides);

/// Back: what the coordinates of a system are where bodies are as another one has them.
class JointsFound {
 public:
  /// Nothing where there are coordinates that the bodies do not tell.
  static std::optional<JointsFound> make(const System& system, const System& apart);
  /// `parameters`: of the one with every body by itself.
  State operator()(const State& apart, std::span<const double> parameters) const;

 private:
  int n_ = 0;
  std::vector<std::pair<int, int>> same_;  ///< coordinates that both have
  std::vector<int> told_;                  ///< the others
  Tape tape_;  ///< their values, then their rates, of t, q and q̇ one after the other, and parameters
};

}  // namespace mechanician
