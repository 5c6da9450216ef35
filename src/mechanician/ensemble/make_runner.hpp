#pragma once

/// Which runner computes the motions of a model: a GPU, vector lanes, or one motion after the other.

#include <cstdint>
#include <memory>
#include <string_view>

#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

enum class Device : std::uint8_t { automatic, cpu, gpu };
std::string_view name_of(Device device);  ///< "auto", "cpu", "gpu"

struct RunnerOptions {
  Device device = Device::automatic;
  Varied varied = {};        ///< parameters that differ from motion to motion; none given: any may
  std::int64_t motions = 0;  ///< few are not worth a GPU
};

/// `nominal`: a start of the model that is like those of the motions. Throws std::invalid_argument for options that make no sense
/// for this model, and for a device that is not there.
std::unique_ptr<MotionRunner> make_runner(const System& system, const State& nominal, const EnsembleOptions& options,
                                          const RunnerOptions& runner);

}  // namespace mechanician
