#pragma once

/// A model file opens nothing outside its folder.

#include <string>

namespace mechanician {

struct FileBeside {
  std::string path;           ///< to be opened
  std::string problem, hint;  ///< why not; empty: nothing is wrong
};

/// The file that a model names, from the folder of the model; `what`: "a CSV file".
FileBeside file_beside(const std::string& model_file, const std::string& name, const std::string& what);

/// By its ending: .stl or .obj.
bool is_mesh(const std::string& name);

}  // namespace mechanician
