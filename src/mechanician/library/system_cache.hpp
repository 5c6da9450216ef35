#pragma once

/// Models that were read before, in this process. To read a file of bodies and to derive its equations takes longer than many a run of it, and
/// programs load the same file again and again.
///
/// A model is taken from here where everything that it was made of is the same: its name and text, the values that were set, the folder
/// of now, and all files that were read with it (parts, tables, robots), which are read once more and compared byte for byte. What is handed out is a System
/// of its own: parameters belong to it, and what it shares with others never changes.

#include <functional>
#include <map>
#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

struct ModelKey {
  std::string name;  ///< of the file
  std::string text;  ///< where there is no file
  bool is_file = false;
  std::map<std::string, double> set;
  std::string folder = {};  ///< that relative names count from
};

/// The model of this key, or the one that is made now.
System cached_system(ModelKey key, const std::function<System()>& make);

}  // namespace mechanician
