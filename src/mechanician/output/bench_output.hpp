#pragma once

/// What `bench` says of a model.

#include <string>

#include "mechanician/instant/measure_model.hpp"

namespace mechanician {

std::string bench_text(const System& system, const ModelMeasurement& measured, double derive_ms);
std::string bench_json(const ModelMeasurement& measured, double derive_ms);

/// The steps of a program, one in a line, with what they are computed from: v3 = x*y + v1.
std::string program_listing(const System& system, const AccelerationProgram& made);

}  // namespace mechanician
