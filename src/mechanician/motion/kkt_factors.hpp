#pragma once

/// The linear algebra of a motion: everything that it asks of M and of a set of rows of A at one state.
///
///     M x − A_Sᵀλ = f,   A_S x = g            S: the rows that are kept, independent of each other
///
/// Accelerations are f = Q, g = b; a projection f = 0, g = −residual, least in the mass norm; the part of a vector v
/// along the constraints v − x with g = A v; what a force changes f = C, g = 0. Where M is singular, M + AᵀWA with
/// f + AᵀWg stands for it: on A x = g both have the same minimum of Gauss's function, and it is positive definite
/// exactly where x is unique (U23 lemma 3).
///
/// Two of a kind, chosen by make_kkt_factors from the pattern: dense, by Cholesky's factor L of M and Householder's QR of
/// L⁻¹A_Sᵀ, which loses no digits near singular states; and sparse, by elimination on the pattern
/// (solve/sparse_elimination.hpp), in time proportional to its factor, with sparse_robust.hpp where it cannot vouch. Rows
/// that are not kept are switched off there by values that are zero, so that no plan is made anew.
///
/// factor(), solve(), calc_pivots() allocate nothing, but for the robust path of the sparse kind.

#include <memory>
#include <span>
#include <vector>

#include "mechanician/motion/equation_values.hpp"
#include "mechanician/motion/rank_limits.hpp"
#include "mechanician/solve/mass.hpp"

namespace mechanician {

/// Rows that act together in one place: all of them on accelerations, fewer in projections.
struct RowSet {
  std::vector<int> candidates = {};
  int rank = -1;                   ///< generic rank; −1: as found at each choice
  std::vector<int> kept = {};      ///< increasing
  std::vector<double> pivot = {};  ///< |R_ii| of unit columns, decreasing, one more than kept where there is one
  /// |R_11|/|R_rr| of unit columns: how much rounding is magnified.
  double condition() const;
};

class KktFactors {
 public:
  virtual ~KktFactors() = default;
  virtual std::unique_ptr<KktFactors> clone() const = 0;
  virtual bool is_sparse() const = 0;

  /// In the order of the pattern. They must stay where they are until the next factor().
  struct Matrices {
    const double *M, *A;
  };
  /// What M is where it is singular. For accelerations, as above. In projections fewer rows take part and may leave
  /// directions without mass: there the Euclidean norm decides, where nothing else does.
  enum class Mass { exact, loose };

  /// M is not clearly definite (solve/clear_mass.hpp): M + AᵀWA takes its place. A definite M that comes near to being singular
  /// later on changes it.
  bool singular_mass = false;
  /// Near singular states, where digits count: as exactly as it can be had, whatever it costs.
  bool careful = false;
  long robust_solutions = 0;  ///< that the quick method could not vouch for

  /// Definite (only where that is clear), singular, or no mass matrix at all.
  virtual MassKind judge_mass(const Matrices& at) = 0;
  /// The largest set of independent rows among the candidates that are not `off`, by pivots; where set.rank is known, not
  /// fewer. Until then pivots up to `rounding` times the first do not count. False where M is no mass matrix.
  virtual bool choose(const Matrices& at, RowSet& set, const std::vector<char>& off, Mass mass,
                      double rounding = rank_limits::of_start) = 0;
  /// False where there is no factor; a sparse one may tell only when it is used.
  virtual bool factor(const Matrices& at, const RowSet& set, Mass mass) = 0;
  /// f may be null: zero; so may g. λ by row, zero of rows that are not kept; it may be null. False: no answer.
  virtual bool solve(const double* f, const double* g, double* x, double* lambda) = 0;
  /// Sizes of the terms that the multipliers of kept rows are the difference of, for f and g; by row, zero of others.
  virtual void calc_multiplier_sizes(const double* f, const double* g, double* size) = 0;
  /// λ = G(GᵀG)⁻¹λ_S with A = G A_S: the multipliers of least norm with the same force, over all rows that are not `off`.
  virtual bool spread(const RowSet& set, const std::vector<char>& off, double* lambda) = 0;

  /// The multipliers of least norm, of all rows, that come nearest to a force: Aᵀλ = force. Needs no factor.
  virtual bool calc_multipliers(const Matrices& at, const double* force, double* lambda) = 0;

  /// For rows in an order that the kind may choose once and for all: P, the square of the size of each in the metric, and
  /// 1/s, s/P the square of the sine of its angle to those before it. The metric is that of the masses, or where M is
  /// singular the scale of the coordinates at the start, which does not hide rows. Where masses are coupled, elimination
  /// puts rows before some coordinates: these are heavier then, by what the rows hold, and P is that much less.
  virtual bool calc_pivots(const Matrices& at, std::span<const int> rows, std::span<double> inverse_pivots,
                           std::span<double> sizes) = 0;
  /// The smallest pivot that counts, of `count`, of a choice among rows each scaled to unit size times `shrunk`.
  virtual double calc_weakest(const Matrices& at, std::span<const int> rows, std::span<const double> shrunk,
                              std::size_t count) = 0;

  /// The metric itself, of a factor L with L Lᵀ = M (or its stand-in above), until the next make_metric().
  virtual bool make_metric(const Matrices& at) = 0;
  virtual void to_metric(double* x) const = 0;    ///< x ← L⁻¹x, a row of A or a force
  virtual void from_metric(double* x) const = 0;  ///< x ← L⁻ᵀx, a direction

  /// What each coordinate weighs, typically, and whether it has mass anywhere around the first state (compile/row_weights.hpp):
  /// the units of coordinates where M is singular. Once, before anything is chosen or factored.
  void set_typical(std::span<const double> weights, std::vector<char> has_mass);
  /// By coordinate, 1/√ of that.
  const std::vector<double>& typical_units() const { return coordinate_scale_; }
  /// For each coordinate what a unit of it is in the metric of the diagonal of M, 1/√M_ii, or its scale.
  void calc_units(const Matrices& at, double* units) const;

 protected:
  explicit KktFactors(const EquationFacts& facts);
  /// What makes rows of unit norm, where coordinates are in units of their own mass: at this very state, or of a part of what
  /// they weigh elsewhere.
  void calc_row_weights(const Matrices& at);

  int n_, m_;
  SparsePattern pattern_;
  SparseLists row_slots_;
  bool mass_is_constant_;
  std::vector<double> weights_;  ///< by row: 1/size² in the scale of the coordinates
  std::vector<double>
      coordinate_scale_;  ///< 1/√ of what each weighs, typically: a scale that follows M would hide what vanishes
  std::vector<char> has_mass_;  ///< by coordinate
  std::vector<double> mass_here_;
  bool was_definite_ = false;  ///< clearly, where it was judged first
};

std::unique_ptr<KktFactors> make_dense_kkt(const EquationFacts& facts);
std::unique_ptr<KktFactors> make_sparse_kkt(const EquationFacts& facts);
/// Whichever is quicker, by the number of operations on the pattern.
std::unique_ptr<KktFactors> make_kkt_factors(const EquationFacts& facts);

}  // namespace mechanician
