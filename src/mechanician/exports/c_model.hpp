#pragma once

/// A model as C99 that needs nothing but libm: the straight-line programs that the engine runs, and steps around them.
///
///     const CSources c = export_c(system, system.start(), "pendulum");     // pendulum.c, pendulum.h
///
/// No allocation, no globals, re-entrant. What the elimination cannot vouch for is solved with complete pivoting; what has no answer
/// is a status, never a number.

#include <string>

#include "mechanician/exports/c_facts.hpp"

namespace mechanician {

struct COptions {
  bool tangents = false;  ///< with NAME_tangent: derivatives along a direction, where they can be had
};

struct CSources {
  std::string source, header;
  bool has_tangents = false;
};

/// A name for C from that of a file: "four-bar.toml" is four_bar.
std::string c_name_of(const std::string& file);

/// Throws std::invalid_argument for what C cannot do, which it names.
CSources export_c(const System& system, const State& start, const std::string& name);
CSources export_c(const CFacts& facts, const std::string& name, const COptions& options = {});

}  // namespace mechanician
