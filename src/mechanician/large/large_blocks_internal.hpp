#pragma once

/// Numbers of members between arrays, where they follow each other, and blocks of four side by side.
///
/// Block k holds members 4k … 4k + 3 of `count`, at `stride` numbers from the block before; the last one the last four, so
/// that it overlaps the one before rather than being half empty. count ≥ 4.

#include <cstdint>

namespace mechanician {

inline constexpr std::int64_t block_lanes = 4;

struct BlockCopies {
  void (*spread)(const double* from, std::int64_t count, double* blocks, std::int64_t stride);
  void (*collect)(const double* blocks, std::int64_t stride, std::int64_t count, double* to);
};

/// For the vectors that the processor has.
const BlockCopies& block_copies();

}  // namespace mechanician
