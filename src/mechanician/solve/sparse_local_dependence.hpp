// Rows of a large sparse A that depend on rows before them in their neighbourhood.
//
// The neighbourhood of a row are the rows that have all their coordinates among those of the row and of the rows it touches.
// In trusses, and where rods are there more than once, dependences are that short, if a row may be explained by rows which
// are redundant themselves. Each vector e_j − c that is found ends at its row j: they are independent, and are all there are
// if they are as many as rows too many. Cost: one small dense factorisation for each row whose coordinates rows before it
// touch. Allocates.
#pragma once

#include <span>
#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

/// a_row = Σ coefficients·a_rows with rows before it, increasing.
struct LocalDependence {
  int row = 0;
  std::vector<int> rows;
  std::vector<double> coefficients;
};

struct LocalDependenceOptions {
  double dependent = 1e-11;  // share of a row that may be left
  double negligible = 1e-9;  // share of a row that a coefficient must contribute to be named
  int most_rows = 150;       // of a neighbourhood; rows with more neighbours are passed over
};

/// `weight`: 1/mass by coordinate; lengths are taken in that metric. By increasing row.
std::vector<LocalDependence> find_local_dependences(const SparsePattern& pattern, std::span<const double> A,
                                                    std::span<const double> weight,
                                                    const LocalDependenceOptions& options = {});

}  // namespace mechanician
