#pragma once

/// The functions of the Functional Mock-up Interface in C, around an exported model. @ stands for the prefix of the model.

#include <string_view>

namespace mechanician {

/// What both versions share: an instance, its values by reference, steps between communication points.
std::string_view fmu_instance();
/// Directional derivatives; where there are none.
std::string_view fmu_directional();
std::string_view fmu_no_directional();
std::string_view fmu_functions_2();
std::string_view fmu_functions_3();

}  // namespace mechanician
