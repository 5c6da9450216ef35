#pragma once

/// The force that control takes for right by the system itself, beside constraints and contacts (controller.cpp).

#include "mechanician/instant/control.hpp"

namespace mechanician {

/// As accelerate_with_control(), where nothing is held and nothing else is believed.
Instant find_control(const System& system, const Evaluation& now, const AccelerateOptions& options,
                     const std::vector<Contact>& contacts, const Plant& plant);

}  // namespace mechanician
