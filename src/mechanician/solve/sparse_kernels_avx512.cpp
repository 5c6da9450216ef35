// The loops of the sparse elimination for processors with AVX-512.
#include "mechanician/solve/sparse_kernels_body_internal.hpp"

namespace mechanician::sparse {

const Kernels avx512_kernels = table;

}  // namespace mechanician::sparse
