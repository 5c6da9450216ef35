// The loops of the sparse elimination for processors with AVX2 and FMA.
#include "mechanician/solve/sparse_kernels_body_internal.hpp"

namespace mechanician::sparse {

const Kernels avx2_kernels = table;

}  // namespace mechanician::sparse
