#pragma once

/// Robots in URDF and MJCF as model files.
///
/// Links become bodies, joints become joints between them, all placed as they stand where every joint is at zero. The frame of a link is
/// that of the body. What is not read is named.

#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

struct ImportedRobot {
  std::string text;                ///< a model file
  std::vector<std::string> notes;  ///< what was not read
};

/// Throws ModelError. `floating`: the first link moves freely; else it is held.
ImportedRobot import_urdf(std::string_view xml, const std::string& file, bool floating);

/// MuJoCo's XML. Throws ModelError.
ImportedRobot import_mjcf(std::string_view xml, const std::string& file);

/// By its ending: .urdf, or .xml for MJCF.
bool is_robot(std::string_view file);
/// Either of them.
ImportedRobot import_robot(std::string_view xml, const std::string& file, bool floating = false);

}  // namespace mechanician
