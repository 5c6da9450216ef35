#include "mechanician/large/large_blocks_internal.hpp"

namespace mechanician {

namespace {

using Four [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;

[[gnu::always_inline]] inline void copy_four(const double* from, double* to) {
  *reinterpret_cast<Four*>(to) = *reinterpret_cast<const Four*>(from);
}

/// The same source for every processor: where there are vectors of four, each copy is one load and one store.
[[gnu::always_inline]] inline void spread_blocks(const double* from, std::int64_t count, double* blocks,
                                                 std::int64_t stride) {
  const double* const last = from + count - block_lanes;
#pragma GCC unroll 4
  for (; from < last; from += block_lanes, blocks += stride) copy_four(from, blocks);
  copy_four(last, blocks);
}

[[gnu::always_inline]] inline void collect_blocks(const double* blocks, std::int64_t stride, std::int64_t count,
                                                  double* to) {
  double* const last = to + count - block_lanes;
#pragma GCC unroll 4
  for (; to < last; to += block_lanes, blocks += stride) copy_four(blocks, to);
  copy_four(blocks, last);
}

void spread_any(const double* from, std::int64_t count, double* blocks, std::int64_t stride) {
  spread_blocks(from, count, blocks, stride);
}
void collect_any(const double* blocks, std::int64_t stride, std::int64_t count, double* to) {
  collect_blocks(blocks, stride, count, to);
}

#ifdef __x86_64__
[[gnu::target("avx")]] void spread_avx(const double* from, std::int64_t count, double* blocks, std::int64_t stride) {
  spread_blocks(from, count, blocks, stride);
}
[[gnu::target("avx")]] void collect_avx(const double* blocks, std::int64_t stride, std::int64_t count, double* to) {
  collect_blocks(blocks, stride, count, to);
}
#endif

}  // namespace

const BlockCopies& block_copies() {
  static constexpr BlockCopies any{spread_any, collect_any};
#ifdef __x86_64__
  static constexpr BlockCopies avx{spread_avx, collect_avx};
  static const BlockCopies& best = __builtin_cpu_supports("avx") ? avx : any;
  return best;
#else
  return any;
#endif
}

}  // namespace mechanician
