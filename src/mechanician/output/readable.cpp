#include "mechanician/output/readable.hpp"

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/rational.hpp"

namespace mechanician {

Expr readable(const Expr& f) {
  RationalOptions options;
  options.singularities = Singularities::keep;
  options.max_nodes = 400;  // what is larger is not read by anybody
  const auto shorter = rational_expr(f, options);
  return shorter && tree_size(*shorter) < tree_size(f) ? *shorter : f;
}

}  // namespace mechanician
