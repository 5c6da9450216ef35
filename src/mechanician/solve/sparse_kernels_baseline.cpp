// The loops of the sparse elimination for any processor.
#include "mechanician/solve/sparse_kernels_body_internal.hpp"

namespace mechanician::sparse {

const Kernels baseline_kernels = table;

}  // namespace mechanician::sparse
