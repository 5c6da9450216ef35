// All loops of the sparse elimination, compiled once for each kind of processor.
#pragma once

#include "mechanician/solve/sparse_kernels_bands_internal.hpp"
#include "mechanician/solve/sparse_kernels_core_internal.hpp"
#include "mechanician/solve/sparse_kernels_runs_internal.hpp"

namespace mechanician::sparse {
namespace {

int invert(int count, const double* M, const int* slot, double* W) {
  int not_positive = 0;
  if (slot == nullptr) {
    for (int i = 0; i < count; ++i) {
      W[i] = 1.0 / M[i];
      not_positive += M[i] <= 0;
    }
    return not_positive;
  }
  for (int i = 0; i < count; ++i) {
    if (slot[i] < 0) {
      W[i] = 0.0;
      continue;
    }
    const double mass = M[slot[i]];
    W[i] = 1.0 / mass;
    not_positive += mass <= 0;
  }
  return not_positive;
}

void scale(int count, const int* slots, const double* A, const int* coordinate, const double* W, double* B) {
  if (slots == nullptr)
    for (int s = 0; s < count; ++s) B[s] = -A[s] * W[coordinate[s]];
  else
    for (int k = 0; k < count; ++k) B[slots[k]] = -A[slots[k]] * W[coordinate[slots[k]]];
}

void form(Index count, const int* target, const int* begin, const int* pairs, double factor, const double* B,
          const double* A, double* values) {
  for (Index t = 0; t < count; ++t) {
    double sum = 0;
    for (int p = begin[t]; p < begin[t + 1]; ++p) sum += B[pairs[2 * Index(p)]] * A[pairs[2 * Index(p) + 1]];
    values[target[t]] = factor * sum;
  }
}

constexpr Kernels table = {invert,       scale,         form, run,        run_forward, run_backward,  core,
                           core_forward, core_backward, band, band_sizes, residual,    strip_residual};

}  // namespace
}  // namespace mechanician::sparse
