#pragma once

/// What a file is that somebody takes for a result, by how it begins.

#include <optional>
#include <string>

namespace mechanician {

/// Why it is no HDF5 file, in words that say what it is instead; nothing where it is one. Throws FileError where it cannot be read.
std::optional<std::string> why_no_hdf5(const std::string& path);

/// How part files of sweeps begin.
inline constexpr char sweep_magic[] = "mechanician sweep 1\n";

}  // namespace mechanician
