#include "mechanician/cli/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "mechanician/base/text.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/check_output.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician {

namespace {

void say(const Remark& remark, std::string_view severity, const System& system) {
  fmt::print(stderr, "{}\n", render(remark, severity, system.model().source));
}

/// Prints why there is no acceleration; true if there is none.
bool refuse(const System& system, const Instant& instant) {
  const auto reasons = refusals(system, instant);
  for (const Remark& r : reasons) say(r, "error", system);
  return !reasons.empty();
}

/// Whether nothing of the instant can be shown: no number, or no mass matrix.
bool nothing_to_show(const Instant& instant) {
  const SolveStatus s = instant.solution.status;
  return instant.not_finite || !instant.multiplier_not_unique.empty() || s == SolveStatus::mass_indefinite ||
         s == SolveStatus::mass_not_symmetric || s == SolveStatus::weights_not_definite ||
         s == SolveStatus::form_not_applicable || s == SolveStatus::not_finite;
}

void warn(const System& system, const Instant& instant) {
  for (const Remark& r : warnings(system, instant)) say(r, "note", system);
}

/// Refuses a start off the constraints and offers the nearest one on them.
bool refuse_start(const System& system, const Instant& instant) {
  const auto reasons = start_refusals(system, instant);
  for (const Remark& r : reasons) say(r, "error", system);
  if (reasons.empty()) return false;
  const SolveStatus s = instant.solution.status;
  if (s != SolveStatus::mass_indefinite && s != SolveStatus::mass_not_symmetric)
    say(projection_offer(system, instant.state, project(system, instant.state)), "note", system);
  return true;
}

}  // namespace

Exit run_accelerate(const CommandOptions& options) {
  const Loaded loaded = load(options);
  const Instant instant = accelerate(
      loaded.system, loaded.start, {.form = options.form, .diagnose = true, .parts = options.parts || options.explain});
  const bool refused = refuse(loaded.system, instant);
  if (nothing_to_show(instant)) return Exit::refused;
  if (options.json) {
    write_out(accelerate_json(loaded.system, instant));
  } else if (instant.has_acceleration()) {
    write_out(accelerate_text(loaded.system, instant));
    if (options.parts || options.explain) write_out("\n" + explain_text(loaded.system, instant));
  }
  if (!refused) warn(loaded.system, instant);
  return refused ? Exit::refused : Exit::done;
}

Exit run_check(const CommandOptions& options) {
  const Loaded loaded = load(options);
  const Instant instant = accelerate(loaded.system, loaded.start);
  if (!nothing_to_show(instant))
    write_out(options.json ? check_json(loaded.system, instant) : check_text(loaded.system, instant));
  bool refused = refuse(loaded.system, instant);
  refused |= refuse_start(loaded.system, instant);
  if (!refused) warn(loaded.system, instant);
  return refused ? Exit::refused : Exit::done;
}

Exit run_project(const CommandOptions& options) {
  const Loaded loaded = load(options);
  const Instant instant =
      accelerate(loaded.system, loaded.start, {.form = Form::automatic, .diagnose = false, .parts = false});
  if (nothing_to_show(instant)) {
    refuse(loaded.system, instant);
    return Exit::refused;
  }
  const Projection projection = project(loaded.system, loaded.start);
  if (!projection.converged) {
    say(projection_offer(loaded.system, loaded.start, projection), "error", loaded.system);
    return Exit::refused;
  }
  write_out(options.json ? project_json(loaded.system, projection.state, projection.moved)
                         : project_text(loaded.system, projection.state, projection.moved));
  return Exit::done;
}

Exit run_run(const CommandOptions& options) {
  const Loaded loaded = load(options);
  const Instant instant = accelerate(loaded.system, loaded.start);
  bool refused = refuse(loaded.system, instant);
  refused |= refuse_start(loaded.system, instant);
  if (refused) return Exit::refused;
  fmt::print(stderr,
             "{}: the model is sound, but motions are not supported yet: `check`, `equations`, `accelerate` and "
             "`project` are\n",
             options.model);
  return Exit::stopped;
}

}  // namespace mechanician
