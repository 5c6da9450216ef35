#pragma once

/// A checkpoint as numbers: a version, a size, then everything that `each_number` visits.

#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace mechanician {

struct CheckpointKind {
  double version, size;
};

/// `each_number(visit)` calls visit(x) for each number of the state, in a fixed order.
template <class EachNumber>
std::vector<double> write_checkpoint(const CheckpointKind& kind, EachNumber&& each_number) {
  std::vector<double> out{kind.version, kind.size};
  each_number([&](auto& x) { out.push_back(static_cast<double>(x)); });
  return out;
}

/// Throws std::invalid_argument where the checkpoint is not of this kind.
template <class EachNumber>
void read_checkpoint(const CheckpointKind& kind, std::span<const double> from, EachNumber&& each_number) {
  if (from.size() < 2 || from[0] != kind.version || from[1] != kind.size)
    throw std::invalid_argument("the checkpoint is of another program version or model");
  std::size_t at = 2;
  each_number([&](auto& x) {
    if (at >= from.size()) throw std::invalid_argument("the checkpoint is cut off");
    x = static_cast<std::remove_reference_t<decltype(x)>>(from[at++]);
  });
  if (at != from.size()) throw std::invalid_argument("the checkpoint is too long");
}

}  // namespace mechanician
