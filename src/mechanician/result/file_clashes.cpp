#include "mechanician/result/file_clashes.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "mechanician/result/part_file.hpp"

namespace mechanician {

namespace {

/// A place on the disk: what is there, and where it is or would be.
struct Spot {
  bool exists = false;
  dev_t device = 0;
  ino_t inode = 0;
  std::string path;
};

Spot spot_of(const std::string& path) {
  Spot spot;
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0) spot.exists = true, spot.device = there.st_dev, spot.inode = there.st_ino;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(resolve_links(path), error);
  spot.path = std::filesystem::weakly_canonical(whole, error).string();
  if (error || spot.path.empty()) spot.path = whole.lexically_normal().string();
  return spot;
}

bool is_same(const Spot& a, const Spot& b) {
  return (a.exists && b.exists && a.device == b.device && a.inode == b.inode) || a.path == b.path;
}

/// All that writing a result touches: itself, its part, its scratch file.
std::vector<Spot> touched_by(const std::string& output) {
  const std::string file = resolve_links(output), part = PartFile::part_of(file);
  return {spot_of(file), spot_of(part), spot_of(PartFile::scratch_of(file))};
}

}  // namespace

std::optional<std::string> find_clash(std::span<const UsedFile> outputs, std::span<const UsedFile> inputs) {
  std::vector<std::vector<Spot>> touched;
  for (const UsedFile& output : outputs) touched.push_back(touched_by(output.path));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const UsedFile& input : inputs) {
      const Spot read = spot_of(input.path);
      for (std::size_t k = 0; k < touched[i].size(); ++k)
        if (is_same(touched[i][k], read))
          return fmt::format("{}: {} {}, which would be overwritten{}", outputs[i].what,
                             k == 0 ? "this is" : fmt::format("writing it takes `{}`, which is", touched[i][k].path),
                             input.what, k == 0 ? "" : "; give another name");
    }
    for (std::size_t j = 0; j < i; ++j)
      for (const Spot& a : touched[i])
        for (const Spot& b : touched[j])
          if (is_same(a, b))
            return fmt::format("{} and {}: both would write the same file", outputs[j].what, outputs[i].what);
  }
  return std::nullopt;
}

}  // namespace mechanician
