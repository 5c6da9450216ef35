#pragma once

/// One system with other parameter values from motion to motion.

#include <span>

#include "mechanician/instant/system.hpp"

namespace mechanician {

class VariedSystem {
 public:
  explicit VariedSystem(const System& system) : system_(system) {}

  const System& system() const { return system_; }
  /// The values are not checked (validate_values). The same system each time.
  const System& with(std::span<const double> parameters) {
    system_.set_parameters(parameters);
    return system_;
  }

 private:
  System system_;
};

}  // namespace mechanician
