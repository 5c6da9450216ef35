#include "mechanician/cli/saying.hpp"

#include <fmt/format.h>

namespace mechanician {

void say(const Remark& remark, std::string_view severity, const SourceText& source) {
  say("{}\n", render(remark, severity, source));
}

void say(const Remark& remark, std::string_view severity, const System& system) {
  say(remark, severity, system.source());
}

bool refuse(const System& system, const Instant& instant) {
  const auto reasons = refusals(system, instant);
  for (const Remark& r : reasons) say(r, "error", system);
  return !reasons.empty();
}

bool nothing_to_show(const Instant& instant) {
  const SolveStatus s = instant.solution.status;
  return instant.not_finite || !instant.multiplier_not_unique.empty() || s == SolveStatus::mass_indefinite ||
         s == SolveStatus::mass_not_symmetric || s == SolveStatus::weights_not_definite ||
         s == SolveStatus::form_not_applicable || s == SolveStatus::not_finite;
}

void warn(const System& system, const Instant& instant) {
  for (const Remark& r : warnings(system, instant)) say(r, "note", system);
}

bool refuse_start(const System& system, const Instant& instant) {
  const auto reasons = start_refusals(system, instant);
  for (const Remark& r : reasons) say(r, "error", system);
  if (reasons.empty()) return false;
  const SolveStatus s = instant.solution.status;
  if (s != SolveStatus::mass_indefinite && s != SolveStatus::mass_not_symmetric)
    say(projection_offer(system, instant.state, project_start(system, instant.state)), "note", system);
  return true;
}

}  // namespace mechanician
