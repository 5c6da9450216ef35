#include "mechanician/model/inside_folder.hpp"

#include <algorithm>
#include <filesystem>

namespace mechanician {

FileBeside file_beside(const std::string& model_file, const std::string& name, const std::string& what) {
  const std::filesystem::path relative(name);
  bool inside = relative.is_relative();
  for (const auto& part : relative) inside &= part != "..";
  if (!inside) return {{}, what + " lies in the folder of the model, or below it", "give its path from there"};
  const std::filesystem::path beside = std::filesystem::path(model_file).parent_path(), whole = beside / relative;
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(beside.empty() ? "." : beside, error);
  const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(whole, error),
                                                      error);  // also where there is no such file
  if (error || std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first != folder.end())
    return {{}, "this leads out of the folder of the model", {}};
  return {whole.string(), {}, {}};
}

bool is_mesh(const std::string& name) {
  std::string ending = std::filesystem::path(name).extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return ending == ".stl" || ending == ".obj";
}

}  // namespace mechanician
