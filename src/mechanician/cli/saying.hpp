#pragma once

/// What commands say on standard error about a model at a state.

#include <string_view>

#include "mechanician/cli/standard_error.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician {

/// file:line:column: severity: text
void say(const Remark& remark, std::string_view severity, const SourceText& source);
void say(const Remark& remark, std::string_view severity, const System& system);

/// Says why there is no acceleration; true if there is none.
bool refuse(const System& system, const Instant& instant);

/// Whether nothing of the instant can be shown: no number, or no mass matrix.
bool nothing_to_show(const Instant& instant);

/// Dependent constraints and the like: no reason to refuse.
void warn(const System& system, const Instant& instant);

/// Says which constraints the start violates and offers the nearest one on them; true if there are any.
bool refuse_start(const System& system, const Instant& instant);

}  // namespace mechanician
