// Everything about a sparse elimination that depends on the pattern alone: order, places, lists for the loops.
//
//   M x − Aᵀλ = f,  A x = g.   Unknowns at positions: coupled coordinates and rows; uncoupled coordinates (their mass
//   stands alone) are eliminated at once and leave −T = −A M⁻¹Aᵀ between rows:
//
//   [H Gᵀ; G −T] (x_c; −λ) = (f_c; g − A M⁻¹f)
//
// `values` holds, one after the other: the diagonal by position (later the inverse pivots), one entry for each row of a
// run, the entries of the core. Memory: about 100 bytes for each row of a chain in strips, else 8 bytes for each
// product of T, 4 for each target of a small pivot.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_kernels.hpp"
#include "mechanician/solve/sparse_order.hpp"
#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

struct SparsePlan {
  int n = 0, m = 0;
  std::vector<int> A_row, A_col;            // by slot
  std::vector<int> M_row, M_col;            // by slot
  SparseLists row_slots, col_slots;         // slots of A by row and by coordinate
  bool rows_in_order = false;               // row_slots.items[k] = k
  std::vector<int> mass_slot;               // diagonal of M by coordinate, −1 where the coordinate is coupled
  bool mass_in_order = false;               // mass_slot[i] = i
  std::vector<int> position_of_coordinate;  // −1 where uncoupled
  std::vector<int> position_of_row;
  std::vector<int> row_at;     // by position: row, or −1−coordinate
  std::vector<int> massless;   // coordinates without mass that no row touches: nothing determines them
  std::vector<int> augmented;  // rows r that enter H as w_r a_rᵀa_r, because M alone is singular there
  int first_core = 0;
  sparse::Index num_values = 0, core_values = 0;  // the core's begin at core_values

  std::vector<sparse::Run> runs;
  std::vector<int> run_level;
  std::vector<sparse::Strip> strips;
  std::vector<sparse::Task> tasks;
  std::vector<sparse::Part> parts;  // of the core, children first; one where it is not worth more
  std::vector<int> part_children;
  /// Columns of a part that follow each other, and their values.
  struct Stretch {
    int first, last;
    sparse::Index values, values_end;
  };
  std::vector<Stretch> stretches;
  int num_positions = 0;  // with those of fronts
  std::vector<sparse::SmallPivots> small;
  std::vector<sparse::Supernode> supernodes;
  std::vector<sparse::Piece> pieces;
  std::vector<int> rows, targets, relative;
  std::vector<sparse::Index> origins;
  sparse::Index work_size = 0;

  std::vector<int> form_target, form_begin, form_pairs;
  std::vector<int> form_slots;  // that occur in pairs; empty for all
  struct Copy {
    int target, slot;
  };
  std::vector<Copy> copies_M, copies_A;
  struct Product {
    int target, a, b, row;
  };
  std::vector<Product> augmenting;  // target += w_row A[a] A[b]

  std::vector<int> loose_rows;  // positions outside strips
  struct Range {
    int from, to;
  };
  std::vector<Range> uneven_rows;  // in no strip with a direction
  bool has_uncoupled = false;      // rows touch uncoupled coordinates
  std::vector<sparse::Band> bands;
  std::vector<int> loose_coordinates;  // uncoupled, in no band

  SparseOrdering ordering = SparseOrdering::least_degree;
  double num_products = 0;  // of one factorisation, T included
  double num_core_products = 0;

  sparse::Lists lists() const;
  sparse::Index diagonal(int position) const {
    return position < first_core ? position : origins[2 * (position - first_core) + 1];
  }
  double bytes() const;
};

struct SparsePlanOptions {
  SparseOrdering ordering = SparseOrdering::automatic;
  bool augment_all = false;     // all rows enter H; else those that touch coordinates without mass
  double least_products = 4e6;  // of a core that is cut into parts for threads
};

/// std::invalid_argument where an entry lies outside, is there twice, or M's lies above the diagonal; std::length_error
/// where the factor has more than 2³¹ entries.
SparsePlan make_sparse_plan(const SparsePattern& pattern, const SparsePlanOptions& options);

}  // namespace mechanician
