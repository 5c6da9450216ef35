#include <fmt/format.h>

#include <chrono>

#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/output/bench_output.hpp"

namespace mechanician {

Exit run_bench(const CommandOptions& options) {
  if (options.json && options.listing) throw UsageError("bench: --json and --listing exclude each other");
  const auto begin = std::chrono::steady_clock::now();
  Loaded loaded = load(options);
  if (!assemble_start(loaded, options)) return Exit::refused;
  const double derive_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const Instant instant = accelerate(loaded.system, loaded.start, {.diagnose = true});
  if (refuse(loaded.system, instant)) return Exit::refused;
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
