#include "mechanician/solve/sparse_kernels.hpp"

namespace mechanician::sparse {

const Kernels& kernels([[maybe_unused]] int most_lanes) {
#ifdef MECHANICIAN_SPARSE_WIDE
  const bool fma = __builtin_cpu_supports("fma");
  if (most_lanes >= 8 && fma && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return avx512_kernels;
  if (most_lanes >= 4 && fma && __builtin_cpu_supports("avx2")) return avx2_kernels;
#endif
  return baseline_kernels;
}

}  // namespace mechanician::sparse
