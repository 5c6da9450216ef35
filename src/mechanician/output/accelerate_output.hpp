#pragma once

/// An instant as JSON (the contract of `accelerate --json`) and as text for a person.

#include <string>

#include "mechanician/instant/accelerate.hpp"

namespace mechanician {

class JsonWriter;

/// "depends": {"twice": {"rod": 2}}, "depends_complete": true
void depends_json(JsonWriter& json, const System& system, const Diagnosis& diagnosis);

std::string accelerate_json(const System& system, const Instant& instant);
std::string accelerate_text(const System& system, const Instant& instant);

/// The parts of the motion in words, with this instant's numbers (theory of U02, U05, U23, K93).
std::string explain_text(const System& system, const Instant& instant);

}  // namespace mechanician
