#include "mechanician/ensemble/make_runner.hpp"

#include <stdexcept>

#include "mechanician/ensemble/single_runner.hpp"

namespace mechanician {

std::string_view name_of(Device device) {
  switch (device) {
    case Device::automatic: return "auto";
    case Device::cpu: return "cpu";
    case Device::gpu: return "gpu";
  }
  return "auto";
}

std::unique_ptr<MotionRunner> make_runner(const System& system, const State&, const EnsembleOptions& options, Device device,
                                          const std::vector<std::string>&) {
  if (device == Device::gpu) throw std::invalid_argument("this program has no code for GPUs: use --device cpu or auto");
  return std::make_unique<SingleRunner>(system, options);
}

}  // namespace mechanician
