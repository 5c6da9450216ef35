#pragma once

/// The equations of motion as compiled programs, elimination and all: what a small written-out system is fastest by.
///
/// Each answer comes with what vouches for it (compile/acceleration_program.hpp); where that fails, KktFactors answers.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/motion/kkt_factors.hpp"
#include "mechanician/motion/written_equations.hpp"

namespace mechanician {

struct CompiledPrograms {
  std::unique_ptr<CompiledPrograms> clone() const { return std::make_unique<CompiledPrograms>(*this); }

  struct Acceleration {
    CompiledFunction function;
    int at_powers = 0, at_velocities = 0, at_vouch = 0;
    int at_control = 0, num_columns = 0;  ///< where control is left open; no columns: it is not
    std::vector<double> outputs;
    explicit Acceleration(AccelerationProgram made);
    Acceleration() = default;
    /// False: not vouched for.
    bool run(const std::vector<double>& state) {
      function(state.data(), outputs.data());
      return outputs[static_cast<std::size_t>(at_vouch)] > 0.0;
    }
    /// OpenControl::numbers of the last run.
    const double* control_numbers(int num_works, int n) const {
      return outputs.data() + at_control + num_columns * (n + num_works);
    }
    /// What efforts do becomes a part of q̈ and powers.
    void add_efforts(std::span<const double> tau, int num_works, int n);
  };
  Acceleration acceleration;
  Acceleration held;  ///< brings velocities onto the constraints first; none where that takes more than one step
  CompiledFunction rank, rank_of_four;  ///< of one state, and of four side by side
  std::vector<int> sine_rows;           ///< that these are about
  std::vector<double> inputs_of_four, pivots_of_four, sines_of_four;
  std::vector<double> pivots;  ///< [1/s | P] of the rank program
  /// One Newton step each; none where no rows take part.
  struct Projection {
    CompiledFunction step;
    int at_residuals = 0, at_vouch = 0;
    bool missing = false;  ///< there are rows, but no program
    std::vector<double> outputs;
  };
  Projection positions, velocities;
  std::vector<double> inputs;  ///< [t | q | q̇ | parameters that are inputs | sides]
  int at_sides = 0;

  void set_inputs(double t, const double* y, int n, const std::vector<double>& sides);
};

/// Which rows the programs are made for.
struct ProgramRows {
  const RowSet *all, *positions, *velocities;
  const std::vector<char>* inert;
  bool singular_mass = false;
};

/// Compiled code for motions with different parameters: what one of them compiles, the others find. Parameters that are
/// varied become inputs, the others are built in. Not for several threads.
struct KeptCode {
  std::vector<int> varied;
  std::vector<double> values;     ///< of the parameters, nominal
  std::vector<double> reference;  ///< [t | q | q̇ | varied | sides], nominal
  struct Made {
    std::shared_ptr<const CompiledPrograms> programs;  ///< null: none, and why says the path
    std::string path;
  };
  std::map<std::vector<int>, Made> made;  ///< by the rows that are kept
};

/// `reference`: [t | q | q̇ | varied | sides]. Null where there is none; `path`: how accelerations are computed, or why not by
/// programs.
std::unique_ptr<CompiledPrograms> make_programs(const WrittenEquations& equations, const ProgramRows& rows,
                                                const std::vector<double>& reference, const KeptCode* kept,
                                                std::string& path);

}  // namespace mechanician
