#pragma once

#include <optional>
#include <string_view>

namespace mechanician {

/// A number as it may be given on the command line: 0.5, or an expression of numbers like 2*pi or sqrt(3)/2. Nothing where it is
/// neither, or not finite.
std::optional<double> constant_value(std::string_view text);

}  // namespace mechanician
