#pragma once

/// The compiled functions of a model that adaptive motions in lanes use, over the same number of lanes: of the motion in
/// free flight, where there are contacts, with sides of switches held (equations/switches.hpp).

#include <optional>
#include <string>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/ensemble/watch_program.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/expression/variation.hpp"

namespace mechanician {

struct AdaptiveCode {
  int n = 0, lanes = 1;
  CompiledFunction acceleration;
  int at_powers = 0, at_vouch = 0;
  /// One Newton step; none where no rows take part.
  struct Projection {
    CompiledFunction step;
    int at_vouch = 0;
  };
  Projection positions, velocities;
  bool one_velocity_step = true;  ///< rows are linear in velocities
  CompiledFunction rank;          ///< [1/s | P] of num_rows rows; none without rows
  int num_rows = 0;
  CompiledFunction watch, divisors;
  WatchProgram watched;  ///< without its program
  /// Whose zeros end what is smooth, or are looked for: [switches | events | gaps].
  CompiledFunction guards;
  struct LookedFor {
    EventDirection direction = EventDirection::both;
    bool stops = false;
  };
  std::vector<LookedFor> events;
  int num_switches = 0, num_gaps = 0;
  int num_guards() const { return num_switches + static_cast<int>(events.size()) + num_gaps; }
  bool depends_on_time = false;
  NarrowFunctions narrow;  ///< in the equations, and what they are functions of
  Tape narrow_arguments;
  std::vector<double> units;  ///< of the coordinates (motion/sizes.hpp), at the nominal state
};

struct AdaptiveCodeResult {
  std::optional<AdaptiveCode> made;
  std::optional<AdaptiveCode> wider;  ///< the same over more lanes, not before is_ready()
  std::string reason;
};

/// `flight`: the system with all contacts open, or the whole one where there are none. lanes = 0: four lanes at once, and as many as the processor has as soon as LLVM has made the code, in the
/// background. Else so many lanes; waits for LLVM.
AdaptiveCodeResult make_adaptive_code(const System& whole, const System& flight, ProgramOptions options,
                                      const RowsLeftOut& dependent, int lanes);

bool is_ready(const AdaptiveCode& code);

}  // namespace mechanician
