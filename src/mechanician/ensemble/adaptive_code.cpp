#include "mechanician/ensemble/adaptive_code.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "mechanician/compile/given_power.hpp"
#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/rank_program.hpp"
#include "mechanician/compile/step_function.hpp"
#include "mechanician/ensemble/single_runner.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/switch_watch.hpp"

namespace mechanician {

namespace {

/// Beyond this, code by LLVM takes too long to make.
constexpr std::size_t most_steps_for_llvm = 20'000;
constexpr int quick_lanes = 4;

/// Whether an expression may come to zero and back within a small part of a step, between the samples that lanes take of it.
bool may_be_narrow(const Expr& whole) {
  constexpr KindSet moving = ~kind_bit(SymbolKind::parameter);
  constexpr double most_power = 4.0;
  std::vector<Expr> stack{whole};
  std::unordered_set<const ExprNode*> seen;
  while (!stack.empty()) {
    const Expr f = stack.back();
    stack.pop_back();
    if (!seen.insert(f.node()).second || (f.kinds() & moving) == 0) continue;
    if (is_narrow(f, most_power, false) || f.op() == Op::select || f.op() == Op::sign || f.op() == Op::mod) return true;
    for (int k = 0; k < f.num_args(); ++k) stack.push_back(f.arg(k));
  }
  return false;
}

/// With the inputs of all programs: parameters that do not vary are numbers.
void add_narrow(const WrittenEquations& written, const ProgramOptions& options, AdaptiveCode& code) {
  const Equations& eqs = written.frozen();
  std::vector<Expr> inputs{eqs.t}, arguments;
  inputs.insert(inputs.end(), eqs.q.begin(), eqs.q.end()), inputs.insert(inputs.end(), eqs.qd.begin(), eqs.qd.end());
  for (const int i : options.varied) inputs.push_back(eqs.parameters[static_cast<std::size_t>(i)]);
  inputs.insert(inputs.end(), options.sides.begin(), options.sides.end());
  std::vector<Replacement> built_in;
  for (std::size_t i = 0; i < eqs.parameters.size(); ++i)
    if (std::find(options.varied.begin(), options.varied.end(), static_cast<int>(i)) == options.varied.end())
      built_in.push_back({eqs.parameters[i], Expr(written.system().parameters()[i])});
  for (const Expr& argument : written.narrow().arguments()) arguments.push_back(substitute(argument, built_in));
  code.narrow = written.narrow();
  code.narrow_arguments = Tape(arguments, inputs);
}

}  // namespace

AdaptiveCodeResult make_adaptive_code(const System& whole, const System& flight, ProgramOptions options,
                                      const RowsLeftOut& dependent, int lanes) {
  const auto no = [](std::string reason) { return AdaptiveCodeResult{std::nullopt, std::nullopt, std::move(reason)}; };
  if (!flight.equations().measured.empty()) return no("measured constraints");
  if (options.singular_mass) return no("a mass matrix that may be singular");
  Dynamics dynamics(flight);
  const WrittenEquations& written = *dynamics.written();
  const Equations& eqs = written.frozen();
  if (written.facts().events_use_acceleration) return no("events that use accelerations");
  if (needs_single_runs(whole)) return no("forces in outputs and events, or events that change the system");
  // Steps over the points of a record are judged by themselves.
  if (!points_of_time(written.narrow(), eqs.parameters, flight.parameters()).empty()) return no("tables of the time");
  AdaptiveCode code;
  code.n = flight.n();
  code.depends_on_time = written.facts().depends_on_time;
  std::vector<Expr> guards;
  for (const Switch& s : written.switches()) {
    if (s.g.contains(SymbolKind::ideal_force) || s.g.contains(SymbolKind::multiplier))
      return no("expressions that switch with the forces of constraints");
    if (may_be_narrow(s.g)) return no("expressions that may switch twice in a part of a step");
    guards.push_back(s.g);
    options.sides.push_back(s.side);
  }
  // Inner switches come first, so a few rounds settle the sides of the nominal state.
  std::vector<double> y(static_cast<std::size_t>(dynamics.size())), g(dynamics.switches().size());
  std::copy_n(options.reference.begin() + 1, 2 * code.n, y.begin());
  for (std::size_t round = 0; round <= g.size() && !g.empty(); ++round)
    if (!dynamics.calc_switches(options.reference[0], y.data(), g) || !update_sides(g, dynamics.sides())) break;
  options.reference.insert(options.reference.end(), dynamics.sides().begin(), dynamics.sides().end());
  for (const Event& e : whole.model().events) {
    if (may_be_narrow(e.when)) return no("events that may be over in a part of a step");
    guards.push_back(e.when);
    code.events.push_back({e.direction, e.action == EventAction::stop});
  }
  for (const ContactRow& c : whole.equations().contacts) {
    guards.push_back(whole.equations().rows[static_cast<std::size_t>(c.row)].residual);
    if (may_be_narrow(guards.back())) return no("gaps that may close for a part of a step");
  }
  code.num_switches = static_cast<int>(dynamics.switches().size());
  code.num_gaps = static_cast<int>(whole.equations().contacts.size());
  AccelerationOptions wanted;
  static_cast<ProgramOptions&>(wanted) = options;
  wanted.powers = wanted.joint_pivots = true;
  wanted.given_power = code.num_switches > 0 ? written.given_power() : make_given_power(flight.model());
  AccelerationProgramResult acceleration = make_acceleration_program(eqs, wanted);
  if (!acceleration.made) return no(acceleration.reason);
  code.at_powers = acceleration.made->at_powers, code.at_vouch = acceleration.made->at_vouch;

  Program projection[2], rank;
  for (const ProjectionOf what : {ProjectionOf::positions, ProjectionOf::velocities}) {
    const bool of_positions = what == ProjectionOf::positions;
    const RowSet& set = of_positions ? dynamics.positions : dynamics.velocities;
    if (set.candidates.empty()) continue;
    ProgramOptions own = options;
    own.dropped = of_positions ? dependent.positions : dependent.velocities;
    ProjectionProgramResult made = make_projection_program(eqs, what, own);
    if (!made.made) return no(made.reason);
    (of_positions ? code.positions : code.velocities).at_vouch = made.made->at_vouch;
    projection[of_positions ? 0 : 1] = std::move(made.made->program);
  }
  std::vector<int> rows;
  if (flight.m() > 0) {
    RankProgramResult made = make_rank_program(eqs, options);
    if (!made.made) return no(made.reason);
    rows = made.made->rows;
    rank = std::move(made.made->program);
  }
  code.num_rows = static_cast<int>(rows.size());
  for (const Row& row : eqs.rows) code.one_velocity_step &= row.level != Level::velocity || row.linear;
  const Eigen::Map<const Eigen::VectorXd> reference(y.data(), 2 * code.n);
  dynamics.measure({options.reference[0], reference.head(code.n), reference.tail(code.n)});
  code.units = dynamics.factors().typical_units();
  code.watched = make_watch_program(eqs, options, rows, written.divisors(), code.units);
  const Program watch = std::exchange(code.watched.program, {});
  const Program divisors = make_values_program(eqs, options, written.divisors());
  const Program guard_values = make_values_program(eqs, options, guards);
  if (written.narrow().any()) add_narrow(written, options, code);

  const std::size_t size = acceleration.made->program.steps.size() + projection[0].steps.size() +
                           projection[1].steps.size() + rank.steps.size() + watch.steps.size() + divisors.steps.size() +
                           guard_values.steps.size();
  const auto compile = [&](int width, TierPolicy tier, bool background) {
    AdaptiveCode compiled = code;
    compiled.lanes = width;
    const auto one = [&](const Program& program, CompiledFunction& function) {
      if (program.outputs.empty()) return;
      function = CompiledFunction(program, {.tier = tier, .background = background, .lanes = width});
      function.make_quick_code();
    };
    one(acceleration.made->program, compiled.acceleration);
    one(projection[0], compiled.positions.step), one(projection[1], compiled.velocities.step);
    if (code.num_rows > 0) one(rank, compiled.rank);
    one(watch, compiled.watch), one(divisors, compiled.divisors), one(guard_values, compiled.guards);
    return compiled;
  };
  AdaptiveCodeResult result;
  if (lanes > 0) {
    result.made = compile(lanes, can_compile_objects() ? TierPolicy::optimised : TierPolicy::automatic, false);
    return result;
  }
  result.made = compile(quick_lanes, TierPolicy::automatic, true);
  if (size <= most_steps_for_llvm && widest_lanes() > quick_lanes && !compiler_version().empty())
    result.wider = compile(widest_lanes(), TierPolicy::optimised, true);
  return result;
}

bool is_ready(const AdaptiveCode& code) {
  const auto ready = [](const CompiledFunction& f) { return !f || f.tier() == Tier::optimised; };
  return ready(code.acceleration) && ready(code.positions.step) && ready(code.velocities.step) && ready(code.rank) &&
         ready(code.watch) && ready(code.divisors) && ready(code.guards);
}

}  // namespace mechanician
