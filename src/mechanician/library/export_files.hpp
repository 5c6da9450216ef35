#pragma once

/// A model as files that run without mechanician.
///
///     write_c(system, system.start(), "exported", "pendulum");                       // exported/pendulum.c, exported/pendulum.h
///     write_fmu(system, system.start(), "pendulum.fmu", FmiVersion::three);

#include <string>

#include "mechanician/exports/fmu.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct ExportedFile {
  std::string file;
  std::size_t bytes = 0;
  std::string note;  ///< what is missing in it, and why
};

/// Throw std::invalid_argument for what cannot be exported, which they name, and FileError. `name`: of functions and files; where it is empty
/// that of the model's file.
ExportedFile write_c(const System& system, const State& start, const std::string& folder, std::string name = {});
ExportedFile write_fmu(const System& system, const State& start, const std::string& file, FmiVersion version,
                       std::string name = {});

}  // namespace mechanician
