#include "mechanician/cli/commands.hpp"

#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/model/plain_model.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/check_output.hpp"

#ifdef MECHANICIAN_PROGRAM_SPQR
#include "mechanician/solve/instant_pattern.hpp"
#include "mechanician/suitesparse/sparse_rank.hpp"
#endif

namespace mechanician {

namespace {

/// As it begins: what is engaged at the start.
Loaded load_start(const CommandOptions& options) {
  Loaded loaded = load(options);
  loaded.system = system_at_start(loaded.system);
  return loaded;
}

/// The start, with all that can be said of it. A rank that is too near to tell counts where SPQR, asked beside, finds the same.
Instant examine(const Loaded& loaded, const AccelerateOptions& options = {}) {
  Instant instant = accelerate(loaded.system, loaded.start, options);
#ifdef MECHANICIAN_PROGRAM_SPQR
  if (instant.diagnosis && instant.diagnosis->rank_doubtful && !loaded.system.has_contacts()) {
    const InstantPattern pattern(instant.values.M, instant.values.A);
    const auto M = pattern.values_of_mass(instant.values.M), A = pattern.values_of_rows(instant.values.A, {});
    if (M && A && find_sparse_rank(pattern.sparse(), *M, *A).rank == instant.diagnosis->rank)
      instant.diagnosis->rank_doubtful = instant.solution.rank_doubtful = false;
  }
#endif
  return instant;
}

}  // namespace

Exit run_accelerate(const CommandOptions& options) {
  Loaded loaded = load_start(options);
  if (!assemble_start(loaded, options)) return Exit::refused;
  const Instant instant =
      examine(loaded, {.form = options.form, .diagnose = true, .parts = options.parts || options.explain});
  const bool refused = refuse(loaded.system, instant);
  if (nothing_to_show(instant)) return Exit::refused;
  if (options.json) {
    write_out(accelerate_json(loaded.system, instant));
  } else if (instant.has_some_acceleration()) {
    show(accelerate_text(loaded.system, instant));
    if (instant.has_acceleration() && (options.parts || options.explain))
      show("\n" + explain_text(loaded.system, instant));
  }
  if (!refused) warn(loaded.system, instant);
  return refused ? Exit::refused : Exit::done;
}

Exit run_check(const CommandOptions& options) {
  Loaded loaded = load_start(options);
  if (!assemble_start(loaded, options)) return Exit::refused;
  const Instant instant = examine(loaded);
  if (!nothing_to_show(instant))
    options.json ? write_out(check_json(loaded.system, instant)) : show(check_text(loaded.system, instant));
  bool refused = false;
  if (instant.impact)  // how some motions begin
    for (const Remark& r : refusals(loaded.system, instant)) say(r, "note", loaded.system);
  else
    refused = refuse(loaded.system, instant);
  refused |= refuse_start(loaded.system, instant);
  if (!refused) warn(loaded.system, instant);
  say_notes(loaded.system, options);
  return refused ? Exit::refused : Exit::done;
}

Exit run_project(const CommandOptions& options) {
  const Loaded loaded = load_start(options);
  const Instant instant =
      accelerate(loaded.system, loaded.start, {.form = Form::automatic, .diagnose = false, .parts = false});
  if (nothing_to_show(instant)) {
    refuse(loaded.system, instant);
    return Exit::refused;
  }
  const Projection projection = project_start(loaded.system, loaded.start);
  if (!projection.converged) {
    say(projection_offer(loaded.system, loaded.start, projection), "error", loaded.system);
    return Exit::refused;
  }
  options.json ? write_out(project_json(loaded.system, projection.state, projection.moved))
               : show(project_text(loaded.system, projection.state, projection.moved));
  return Exit::done;
}

}  // namespace mechanician
