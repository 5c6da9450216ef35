#include "mechanician/motion/motion_family.hpp"

#include <utility>

#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

MotionFamily::MotionFamily(const System& system, State nominal, std::vector<int> varied)
    : system_(system),
      nominal_{std::move(nominal), system.parameters(), std::move(varied)},
      phases_(system_, nominal_) {}

MotionFamily::~MotionFamily() = default;

StageSystems& MotionFamily::stages() {
  if (!stages_) stages_ = std::make_unique<StageSystems>(system_, nominal_.state, nominal_.parameters, nominal_.varied);
  return *stages_;
}

const System& MotionFamily::system_at_start() {
  if (!system_.is_staged()) return system_;
  MotionFamily& first = *stages().of(engaged_at_start(system_)).family;
  first.set_parameters(system_.parameters());
  return first.system();
}

std::unique_ptr<MotionFamily> MotionFamily::clone() const {
  System system = system_;
  system.set_parameters(nominal_.parameters);
  return std::make_unique<MotionFamily>(system, nominal_.state, nominal_.varied);
}

void MotionFamily::set_parameters(std::span<const double> values) {
  system_.set_parameters(values);
  phases_.set_parameters(values);
}

const Dynamics& MotionFamily::dynamics() {
  if (!dynamics_) {
    dynamics_ = std::make_unique<Dynamics>(system_);
    dynamics_->keep_code(nominal_);
  }
  return *dynamics_;
}

}  // namespace mechanician
