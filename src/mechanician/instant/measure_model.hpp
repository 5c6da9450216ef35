#pragma once

/// What a model costs: making the program of its constrained acceleration, machine code for it, and one evaluation. Where
/// numbers come from kernels there is no program of the whole: kernels and a sparse elimination are what is measured.
///
/// Times are medians over rounds of evaluations at states near the start, projected onto the constraints, one after the
/// other, so that no result is there already and no branch is learnt by heart. A state that generated code does not
/// vouch for is answered by the robust path, within the time that is measured. One-sided constraints that are open have no
/// part in the program, which does not vouch for states where one closes; where one touches at the start, and with friction of what always acts, there
/// is no program, and the start is the only state.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct MeasureOptions {
  int num_states = 64;                ///< fewer where finding them takes longer than a second
  double spread = 1e-2;               ///< of coordinates and velocities about the start, relative to max(1, |value|)
  double seconds = 0.2;               ///< for each time that is measured
  bool parameters_as_inputs = false;  ///< of the program, behind the velocities; else they are built in
  bool beside_contacts = false;  ///< a program of what does not touch and does not stick, also where the start does
};

/// The time of one evaluation: median over rounds, and the quickest and a slow round (nine of ten are quicker).
struct Nanoseconds {
  double median = 0.0, least = 0.0, most = 0.0;
};

struct CodeMeasurement {
  Tier tier = Tier::interpreter;
  double made_ms = 0.0;  ///< machine code only
  Nanoseconds time;
};

struct ModelMeasurement {
  int n = 0, m = 0;
  std::int64_t num_operations = 0;     ///< steps of the program; without one, operations of M, Q, A and b
  std::string path;                    ///< the solve: of the program, "sparse", or "qr: why there is no program"
  double program_ms = 0.0;             ///< from the equations to the program
  std::vector<CodeMeasurement> code;   ///< a program in each tier there is; empty without a program
  int in_use = -1;                     ///< the quickest of them
  std::optional<Nanoseconds> kernels;  ///< by kernels and sparse elimination
  Nanoseconds robust;
  int num_lanes = 0;  ///< 0: not possible
  double lanes_made_ms = 0.0;
  Nanoseconds lanes;  ///< for each instance

  int num_states = 0, num_not_vouched = 0;
  /// Over the states that are vouched for: largest difference of an acceleration to the robust path, relative to the
  /// largest acceleration there.
  std::optional<double> difference;

  const CodeMeasurement* best() const { return in_use < 0 ? nullptr : &code[static_cast<std::size_t>(in_use)]; }
  const Nanoseconds& acceleration() const { return best() ? best()->time : kernels ? *kernels : robust; }
  double compile_ms() const { return best() ? program_ms + best()->made_ms : 0.0; }
};

/// The program that is measured. The rows that it leaves out are those that depend on others at a general state near
/// the start.
AccelerationProgramResult make_program_near(const System& system, const State& start,
                                            const MeasureOptions& options = {});

/// What programs of the system need to know of it near a start: its parameters, which rows depend on others, whether its mass is
/// singular. Nothing where the general solver must decide, with the reason in `why_not`.
std::optional<ProgramOptions> find_program_options(const System& system, const State& start,
                                                   const MeasureOptions& options, std::string& why_not);

/// States about `start` on the constraints that have an acceleration; the start itself where there is no other.
std::vector<State> states_near(const System& system, const State& start, const MeasureOptions& options = {});

/// There must be an acceleration at the start.
ModelMeasurement measure_model(const System& system, const State& start, const MeasureOptions& options = {});

}  // namespace mechanician
