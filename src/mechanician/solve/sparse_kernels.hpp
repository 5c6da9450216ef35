// The loops of the sparse elimination, and the lists they run over. Three versions of the same source: for any
// processor, for AVX2 and for AVX-512; the widest that the processor has is taken once.
#pragma once

#include <cstddef>

namespace mechanician::sparse {

using Index = std::ptrdiff_t;

/// What the pivots of a factorisation were like. Squared sines s/P of rows, d/H of coordinates.
struct PivotCount {
  double row_growth = 0;   // largest P/s of the rows that were kept
  double mass_growth = 0;  // largest H/d of coordinates
  int num_masked = 0;      // rows with s ≤ dependent·P
  int num_grey = 0;        // rows kept with s < grey·P
  int num_indefinite = 0;  // coordinates without a positive pivot
  int num_not_finite = 0;
};

struct PivotLimits {
  double dependent = 0, grey = 0, indefinite = 0;
};

inline constexpr int most_terms = 12;  // of a row in a strip
inline constexpr int most_shared = 6;  // of these, shared with the next row

/// Rows at consecutive positions whose entries lie at equal distances: no lists are needed. Row j of the strip has the
/// terms A[slot[k] + j·slot_step] at the coordinates coordinate[k] + j·coordinate_step; the first num_shared of these
/// meet A[partner[k] + j·partner_step] of the row after it in the run.
struct Strip {
  int first = 0, count = 0;  // positions
  int num_terms = 0, num_shared = 0;
  int slot[most_terms], coordinate[most_terms];
  int partner[most_shared];
  int slot_step = 0, coordinate_step = 0, partner_step = 0;
  int row = 0;  // at the first position
  // Two blocks of `dimension` terms, each of them at consecutive slots and coordinates, the first one shared: rods
  // between points. 0 where the terms do not lie so.
  int dimension = 0;
  // 1 or −1 where all steps are that, the one from row to row too: numbers of rows that follow each other do so in
  // memory. Else 0.
  int direction = 0;
  // Where f is held (SparseElimination::hold_force) and the same along each term: that, and it need not be read.
  bool even_force = false;
  double force[most_terms];
};

/// Rows at positions first … first+count−1, each with the next one as only neighbour left; after the last comes
/// `parent`.
struct Run {
  int first = 0, count = 0;
  int parent = -1;
  Index entry = 0;  // of the first row in `values`; one per row, the last one's belongs to the parent
  Index parent_diagonal = -1;
  int strip_begin = 0, strip_end = 0;  // strips that lie in this run
};

/// Pivots at consecutive positions with `degree` neighbours each: entries at values[entry …], degree by degree.
struct SmallPivots {
  int first = 0, count = 0, degree = 0;
  int is_row = 1;
  Index entry = 0;
  Index rows = 0;     // into `rows`: positions of the neighbours
  Index targets = 0;  // into `targets`: degree(degree+1)/2 places of `values` for each pivot
};

/// Columns first … first+width−1 with the same neighbours, as one dense block: `lead` values for each column, its own
/// `width` rows (padded to a multiple of 8), then num_rows further ones (padded).
struct Supernode {
  int first = 0, width = 0, num_rows = 0;
  int offset = 0, lead = 0;  // where the further rows begin; values per column
  Index values = 0;
  Index rows = 0;  // into `rows`: positions of further rows
  Index pieces_begin = 0, pieces_end = 0;
  int has_coordinates = 0;
};

/// Further rows from..to of a supernode are columns of one other: where its rows lie there.
struct Piece {
  int from = 0, to = 0;
  Index relative = 0;  // into `relative`, for the further rows from `from` on
};

struct Task {
  bool is_supernode;
  int index;  // into `supernodes` or `small`
};

/// A part of the elimination tree for one thread (sparse_parts.hpp): its tasks, and the front in which it leaves what
/// belongs to later columns. A front is a lower triangle of `size` columns, at positions of its own.
struct Part {
  Index task_begin = 0, task_end = 0;
  int parent = -1, depth = 0;
  int child_begin = 0, child_end = 0;  // into part_children
  int size = 0, lead = 0, first = 0;   // of the front; first position
  Index values = 0;
  Index rows = 0, pieces_begin = 0, pieces_end = 0;  // where its columns belong in the parent, as those of a supernode
  Index owners = 0;                                  // into `rows`: whose columns these are in the end
  int stretch_begin = 0, stretch_end = 0;            // of the plan
};

/// Coordinates c, c+1, …, in groups of `period`: each member of a group has `degree` rows at equal distances.
inline constexpr int most_period = 6, most_degree = 4;
struct Band {
  int first = 0, num_groups = 0, period = 0, degree = 0;
  int slot[most_period][most_degree], row[most_period][most_degree];
  int slot_step = 0, row_step = 0;
  bool blocks = false;  // the members of a group have consecutive slots and the same rows
  // As in Strip, where the period is 1.
  bool even_force = false;
  double force = 0;
};

/// Everything that does not change from one evaluation to the next.
struct Lists {
  const int* row_at = nullptr;  // by position: row, or −1−coordinate
  const int* rows = nullptr;
  const int* targets = nullptr;
  int first_core = 0;              // positions before that are those of runs
  const Index* origins = nullptr;  // from first_core on: where a column's entries would begin, where its diagonal is
  const int* relative = nullptr;
  const Piece* pieces = nullptr;
  const Task* tasks = nullptr;  // of the core, in the order of elimination
  const Part* parts = nullptr;
  const int* part_children = nullptr;
  // The only members that change with the numbers.
  double equal_W = 0;       // where all of W is the same, that; else 0
  bool force_held = false;  // f is the one that strips and bands know
  const SmallPivots* small = nullptr;
  const Supernode* supernodes = nullptr;
};

struct RowResidual {
  double share = 0;
  int row = -1;
};

struct Kernels {
  /// W = 1/M at the places `slot`, or at slot0 + i where slot is null.
  /// Returns how many of these are not positive.
  int (*invert)(int count, const double* M, const int* slot, double* W);
  /// B[s] = −A[s]·W[coordinate[s]] for the slots listed, for all where the list is null; zero where W is zero.
  void (*scale)(int count, const int* slots, const double* A, const int* coordinate, const double* W, double* B);
  /// values[target[t]] = factor Σ B[a]·A[b] over pairs begin[t] … begin[t+1]−1
  void (*form)(Index count, const int* target, const int* begin, const int* pairs, double factor, const double* B,
               const double* A, double* values);
  /// Factors and, where y is given, also computes y = g − A M⁻¹f and eliminates there. The two runs side by side;
  /// the second may be null.
  void (*run)(const Lists& lists, const Run* one, const Run* two, const Strip* strips, const double* A, const double* W,
              const double* f, const double* g, const PivotLimits& limits, double* values, double* P, double* y,
              PivotCount& count);
  /// The same for y alone, with the factors that are there.
  void (*run_forward)(const Lists& lists, const Run& run, const Strip* strips, const double* A, const double* W,
                      const double* f, const double* g, const double* values, double* y);
  /// Both leave y over the pivot in y: what comes now.
  void (*run_backward)(const Lists& lists, const Run* one, const Run* two, const Strip* strips, const double* values,
                       double* y, double* lambda);

  /// A part of the core whose children are done. Where y is given, it is eliminated as well. work: of supernodes,
  /// unscaled columns and eight columns of the update.
  void (*core)(const Lists& lists, const Part& part, const PivotLimits& limits, double* values, double* P, double* y,
               double* work, PivotCount& count);
  void (*core_forward)(const Lists& lists, const Part& part, const double* values, double* y, double* work);
  /// Parents first.
  void (*core_backward)(const Lists& lists, const Part& part, const double* values, double* y, double* work);

  /// x = W (f + Aᵀλ); returns zero, or not a number where some x is not finite. stream: past the caches.
  double (*band)(const Lists& lists, const Band& band, const double* A, const double* W, const double* f,
                 const double* lambda, double* x, bool stream);
  /// size = |x| + W (|f| + |Aᵀ||λ|): what rounding in x is relative to.
  void (*band_sizes)(const Band& band, const double* A, const double* W, const double* f, const double* lambda,
                     const double* x, double* size);
  /// left = g − A x for rows from … to − 1; largest share of |g| + |A|·size among rows that are not masked (null: none
  /// is).
  RowResidual (*residual)(int from, int to, const int* begin, const int* slots, const int* coordinate, const double* A,
                          const double* x, const double* size, const double* g, const char* masked, double* left);
  /// The same for a strip with a direction.
  RowResidual (*strip_residual)(const Strip& strip, const double* A, const double* x, const double* size,
                                const double* g, double* left);
};

extern const Kernels baseline_kernels, avx2_kernels, avx512_kernels;
/// The widest of the versions that the processor has, up to that number of doubles in a vector.
const Kernels& kernels(int most_lanes);

}  // namespace mechanician::sparse
