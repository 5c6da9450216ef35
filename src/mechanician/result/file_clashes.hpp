#pragma once

/// Whether what a command is to write would take the place of what it reads.

#include <optional>
#include <span>
#include <string>

namespace mechanician {

struct UsedFile {
  std::string path;
  std::string what;  ///< "the model", "-o motion.csv"
};

/// The first output that is an input or another output, by whatever path or link, as words; nothing where there is none. An output
/// takes FILE.part and its scratch file, too (part_file.hpp). What does not exist yet is compared by where it would be.
std::optional<std::string> find_clash(std::span<const UsedFile> outputs, std::span<const UsedFile> inputs);

}  // namespace mechanician
