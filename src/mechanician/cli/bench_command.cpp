#include <fmt/format.h>

#include <chrono>

#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/bench_output.hpp"

namespace mechanician {

namespace {

/// A motion has no rows of gaps that are open: those of the start are left out, as limits of a robot are between them.
void leave_out_open(Loaded& loaded, const Instant& instant) {
  const System& system = loaded.system;
  if (instant.contacts.empty() || system.kernels() || system.is_staged()) return;
  std::vector<char> there = engaged_at_start(system);
  bool any = false;
  for (const Contact& c : instant.contacts) {
    const bool open = c.status == ContactStatus::open || c.status == ContactStatus::separating;
    const auto row = static_cast<std::size_t>(c.values.row);
    if (open && row < system.model().constraints.size()) there[row] = 0, any = true;
  }
  if (any) loaded.system = System(engaged_model(system.model(), there), system.parameters(), System::Checked::already);
}

}  // namespace

Exit run_bench(const CommandOptions& options) {
  if (options.json && options.listing) throw UsageError("bench: --json and --listing exclude each other");
  const auto begin = std::chrono::steady_clock::now();
  Loaded loaded = load(options);
  if (!assemble_start(loaded, options)) return Exit::refused;
  const double derive_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const Instant instant = accelerate(loaded.system, loaded.start, {.diagnose = true});
  if (refuse(loaded.system, instant)) return Exit::refused;
  leave_out_open(loaded, instant);
  if (options.listing) {
    const AccelerationProgramResult made = make_program_near(loaded.system, loaded.start);
    if (made.made) {
      show(program_listing(loaded.system, *made.made));
      return Exit::done;
    }
    say("mechanician: nothing is compiled: {}\n", made.reason);
    return Exit::refused;
  }
  const ModelMeasurement measured = measure_model(loaded.system, loaded.start);
  options.json ? write_out(bench_json(measured, derive_ms)) : show(bench_text(loaded.system, measured, derive_ms));
  return Exit::done;
}

}  // namespace mechanician
