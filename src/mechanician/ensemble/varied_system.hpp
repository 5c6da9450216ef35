#pragma once

/// One system with other parameter values from motion to motion. Nothing is done where they are those of the motion before.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mechanician/instant/system.hpp"

namespace mechanician {

class VariedSystem {
 public:
  explicit VariedSystem(const System& system) : system_(std::make_shared<const System>(system)) {}

  const System& system() const { return *system_; }
  /// The values are not checked (validate_values). The last one stays valid until the next call.
  const System& with(std::span<const double> parameters) {
    // By bits: 0 and −0 are not the same to everybody.
    const auto same_bits = [](double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); };
    const std::vector<double>& now = system_->parameters();
    if (!std::equal(parameters.begin(), parameters.end(), now.begin(), now.end(), same_bits))
      system_ = std::make_shared<const System>(system_->model(), std::vector<double>(parameters.begin(), parameters.end()), System::Checked::already);
    return *system_;
  }

 private:
  std::shared_ptr<const System> system_;
};

}  // namespace mechanician
