#pragma once

/// [control] and [actuators] of parts, put into the model that uses them. Requirements and actuators have names and come as they are; what is
/// said of control as a whole holds for all of it: costs and free forces are taken together, `every` and `robust` are alike everywhere.

#include <functional>
#include <string>
#include <vector>

#include "mechanician/model/toml_source.hpp"

namespace mechanician {

using Rename = std::function<std::string(const std::string&)>;

/// Coordinates in an actuator of a part: they are keys.
void rename_coordinates(TomlValue& actuator, const Rename& renamed);

class PartsControl {
 public:
  /// What the model says itself, before parts are joined.
  explicit PartsControl(const TomlValue& root);

  /// Message and hint.
  using Wrong = std::function<void(const std::string&, const std::string&)>;
  /// Moves what is said as a whole from [control] of a part, whose expressions have their prefix, to that of the model. `part`: as it is shown.
  void join(TomlValue& root, TomlValue& control, const std::string& part, const Rename& renamed, const Wrong& wrong);

 private:
  bool requires_ = false;  // there are requirements, of the model or of parts before
  std::vector<TomlMember> settings_;
  std::size_t own_ = 0;  // of the model itself; those of parts follow
};

}  // namespace mechanician
