#pragma once

/// Which runner computes the motions of a model.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

enum class Device : std::uint8_t { automatic, cpu, gpu };
std::string_view name_of(Device device);  ///< "auto", "cpu", "gpu"

/// `varied`: names of parameters and starts that differ from motion to motion; `nominal`: a start that is like all of them.
/// Throws std::invalid_argument for options that make no sense for this model, and for a device that is not there.
std::unique_ptr<MotionRunner> make_runner(const System& system, const State& nominal, const EnsembleOptions& options, Device device,
                                          const std::vector<std::string>& varied);

}  // namespace mechanician
