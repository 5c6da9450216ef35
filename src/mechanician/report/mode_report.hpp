#pragma once

/// The modes of a linearised motion on the page of reports: each moves for one unit of time, one after the other, as a motion would be
/// shown; events name them, so that one can be chosen.

#include <string>
#include <string_view>

#include "mechanician/output/linearise_output.hpp"

namespace mechanician {

/// Modes that are shown: more make a page that nobody looks through.
inline constexpr int most_modes_shown = 24;

/// The page with the modes in it; `system` is the model, whole.
std::string mode_report_html(std::string_view page, const System& system, const LineariseReport& report);

}  // namespace mechanician
