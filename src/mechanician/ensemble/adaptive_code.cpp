#include "mechanician/ensemble/adaptive_code.hpp"

#include <algorithm>
#include <utility>

#include "mechanician/compile/given_power.hpp"
#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/rank_program.hpp"
#include "mechanician/compile/step_function.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

namespace {

/// Beyond this, code by LLVM is waited for too long; the quick code has four lanes.
constexpr std::size_t most_steps_to_wait_for = 20'000;

}  // namespace

AdaptiveCodeResult make_adaptive_code(const System& system, const ProgramOptions& options, const DependentRows& dependent, int lanes) {
  const Equations& eqs = system.equations();
  if (system.has_contacts()) return {std::nullopt, "contacts"};
  if (!eqs.measured.empty()) return {std::nullopt, "measured constraints"};
  if (!system.model().events.empty()) return {std::nullopt, "events"};
  if (options.singular_mass) return {std::nullopt, "a mass matrix that may be singular"};
  const Dynamics dynamics(system);
  if (!dynamics.switches().empty()) return {std::nullopt, "expressions that switch"};
  AdaptiveCode code;
  code.n = system.n();
  code.depends_on_time = dynamics.depends_on_time();
  AccelerationOptions wanted;
  static_cast<ProgramOptions&>(wanted) = options;
  wanted.powers = wanted.joint_pivots = true;
  wanted.given_power = make_given_power(system.model());
  AccelerationProgramResult acceleration = make_acceleration_program(eqs, wanted);
  if (!acceleration.made) return {std::nullopt, acceleration.reason};
  code.at_powers = acceleration.made->at_powers, code.at_vouch = acceleration.made->at_vouch;

  Program projection[2], rank;
  for (const ProjectionOf what : {ProjectionOf::positions, ProjectionOf::velocities}) {
    const bool of_positions = what == ProjectionOf::positions;
    const RowSet& set = of_positions ? dynamics.positions : dynamics.velocities;
    if (set.candidates.empty()) continue;
    ProgramOptions own = options;
    own.dropped = of_positions ? dependent.positions : dependent.velocities;
    ProjectionProgramResult made = make_projection_program(eqs, what, own);
    if (!made.made) return {std::nullopt, made.reason};
    (of_positions ? code.positions : code.velocities).at_vouch = made.made->at_vouch;
    projection[of_positions ? 0 : 1] = std::move(made.made->program);
  }
  std::vector<int> rows;
  if (system.m() > 0) {
    RankProgramResult made = make_rank_program(eqs, options);
    if (!made.made) return {std::nullopt, made.reason};
    rows = made.made->rows;
    rank = std::move(made.made->program);
  }
  code.num_rows = static_cast<int>(rows.size());
  for (const Row& row : eqs.rows) code.one_velocity_step &= row.level != Level::velocity || row.linear;
  code.watched = make_watch_program(eqs, options, rows, dynamics.divisors());
  Program watch = std::exchange(code.watched.program, {});
  Program divisors = make_divisor_program(eqs, options, dynamics.divisors());

  const std::size_t size = acceleration.made->program.steps.size() + projection[0].steps.size() + projection[1].steps.size() +
                           rank.steps.size() + watch.steps.size() + divisors.steps.size();
  const bool by_llvm = size <= most_steps_to_wait_for && can_compile_objects();
  code.lanes = lanes > 0 ? lanes : by_llvm ? std::max(4, widest_lanes()) : 4;
  const auto compile = [&](Program&& program, CompiledFunction& function) {
    if (program.outputs.empty()) return;
    function = CompiledFunction(std::move(program), {.tier = by_llvm ? TierPolicy::optimised : TierPolicy::automatic,
                                                     .background = !by_llvm, .lanes = code.lanes});
    if (!by_llvm) function.make_quick_code();
  };
  compile(std::move(acceleration.made->program), code.acceleration);
  compile(std::move(projection[0]), code.positions.step), compile(std::move(projection[1]), code.velocities.step);
  if (code.num_rows > 0) compile(std::move(rank), code.rank);
  compile(std::move(watch), code.watch), compile(std::move(divisors), code.divisors);
  return {std::move(code), {}};
}

}  // namespace mechanician
