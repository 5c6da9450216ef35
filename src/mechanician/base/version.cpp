#include "mechanician/base/version.hpp"

namespace mechanician {

std::string_view version() { return MECHANICIAN_VERSION; }

}  // namespace mechanician
