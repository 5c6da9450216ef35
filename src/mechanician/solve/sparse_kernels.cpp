#include "mechanician/solve/sparse_kernels_internal.hpp"

namespace mechanician::sparse {

const Kernels& kernels() {
#ifdef MECHANICIAN_SPARSE_WIDE
  static const Kernels& best = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma") ? avx512_kernels
                               : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2_kernels
                                                                                                  : baseline_kernels;
  return best;
#else
  return baseline_kernels;
#endif
}

}  // namespace mechanician::sparse
