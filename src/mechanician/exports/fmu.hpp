#pragma once

/// A model as a Functional Mock-up Unit, for Model Exchange and Co-Simulation: description, C sources, and a library for x86-64 Linux
/// where there is a C compiler.
///
///     const Fmu fmu = export_fmu(system, system.start(), "pendulum", FmiVersion::two);      // fmu.bytes is the file

#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

enum class FmiVersion { two, three };

struct Fmu {
  std::string bytes;
  bool has_binary = false;
  std::string why_no_binary;  ///< what the compiler said
};

/// Throws std::invalid_argument for what cannot be exported, which it names. `compiler`: "cc" if empty.
Fmu export_fmu(const System& system, const State& start, const std::string& name, FmiVersion version,
               const std::string& compiler = {});

}  // namespace mechanician
