#pragma once

/// The constrained equations solved by steps of a program (K93 eq. 16 as a linear system, with λ as in NOTATION.md):
///
///     M x − Aᵀλ = f,   A x = g          K = [M Aᵀ; A 0] = L D Lᵀ on its own pattern, in a fixed order
///
/// Coordinates whose mass is coupled to no other are eliminated at once: what they leave is T = A M⁻¹Aᵀ, formed as a sum
/// of products in which equal ones are taken together. The rest follows elimination_order.hpp. In the partly
/// eliminated system  [H Gᵀ; G −T]  a coordinate k with pivot d and a row r with pivot −s leave
///
///     H − H_k H_kᵀ/d,  G − G_k H_kᵀ/d,  T + G_k G_kᵀ/d          H + G_rᵀG_r/s,  G − T_r G_r/s,  T − T_r T_rᵀ/s
///
/// Why no pivoting is needed. A row comes after its coordinates, so all rows so far act on the eliminated coordinates E
/// alone, and H = M_FF − M_FE (M_EE⁻¹ − M_EE⁻¹Aᵀ(A M_EE⁻¹Aᵀ)⁻¹A M_EE⁻¹) M_EF lies between the Schur complement of M and
/// M_FF: pivots of coordinates are those of a mass matrix, and what is added to H is less than what was subtracted.
/// For a row, s = P − R with P what its coordinates give it and R what earlier rows take away; s/P is the squared sine
/// of the angle between the row and the earlier ones. All terms of the row are bounded by √(P·M_ii), and a pivot is good
/// as long as s is well above eps·P: then what is solved is exactly  M x − Aᵀλ = f, A x + E λ = g  with relative errors of
/// eps in M and A (in the scale of their diagonals) and |E_jk| of about eps·√(P_j P_k). So √(ΣP λ²) tells what rounding
/// in A x is relative to, however the rows lie to each other.
/// Scaling a row by c scales P, R and s by c²: nothing here depends on the units of rows or coordinates, except through
/// rounding, so rows are not scaled.
///
/// Dependent rows are to be left out: a squared sine is only good to rounding, and rows at an angle of 1e-9, which
/// orthogonal methods tell apart, look like dependent ones here.
///
/// Error of x: a small factor × eps × κ × √(ΣP λ²), κ the condition of the rows in the mass metric, times that of M; λ may be
/// κ times larger than accelerations, hence eps·κ² at worst.
/// Steps: for d neighbours at elimination d(d+3)/2 products and one division, 2d + 1 products for each right-hand side;
/// what is constant costs nothing.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/compile/elimination_order.hpp"
#include "mechanician/compile/numbers.hpp"

namespace mechanician {

struct KktMatrix {
  struct Entry {
    int row, col;
    Number value;
  };
  int n = 0, m = 0;
  std::vector<Entry> M;  ///< lower triangle: row ≥ col, each once
  std::vector<Entry> A;  ///< each once
};

/// What a constant elimination is held to; the same for programs is up to the caller (Elimination::calc_vouch).
struct EliminationLimits {
  double growth = 1e10;       ///< largest P/s of a row: 1/sin² of its angle to earlier rows
  double mass_growth = 1e10;  ///< largest M_ii/d_i of a coordinate
  /// Beyond this, mass_growth lowers what is allowed for rows.
  double mass_growth_free = 1e4;
  /// The two rows that come last have one division in common, and neither waits for the other (see join_pivots()).
  bool joint_pivots = false;
  /// Largest P_a P_b/D of two rows that are solved for by Cramer's rule: rounding of λ grows by that much.
  double pair_growth = 4e3;
};

class Elimination {
 public:
  /// Emits the factorisation. Where that cannot be done, problem() says why and nothing else may be called.
  Elimination(Numbers& numbers, KktMatrix matrix, const EliminationLimits& limits, long most_products);

  const std::string& problem() const { return problem_; }
  const std::vector<int>& order() const { return order_; }  ///< coordinates as they are, row j as n + j

  struct Solution {
    std::vector<Number> x, lambda;
  };
  Solution solve(const std::vector<Number>& f, const std::vector<Number>& g);
  /// One step of refinement: what is missing in both equations, solved for once more.
  Solution refine(const Solution& solution, const std::vector<Number>& f, const std::vector<Number>& g);
  /// f − M x + Aᵀλ and g − A x.
  Solution calc_residual(const Solution& solution, const std::vector<Number>& f, const std::vector<Number>& g);

  /// P of each row: its size in the mass metric, as far as the order lets it be seen.
  const std::vector<Number>& row_sizes() const { return P_; }
  /// 1/s of each row: P/s is how much rounding grows in it.
  const std::vector<Number>& inverse_pivots() const { return s_inverse_; }
  /// Positive where every pivot is well above rounding. `least` (m, or empty) are sizes that no s may fall below.
  Number calc_vouch(const std::vector<double>& least);
  /// The same for whoever compares with zero and asks for no more: the least of differences, which costs less.
  /// `least_pair`: for a pair by Cramer's rule one difference will do, D may not fall below this. Otherwise `least` holds
  /// for each of the two.
  Number calc_comparisons(const std::vector<double>& least, std::optional<double> least_pair);

  /// The last two rows, where no earlier row is connected with them, neither is constant and no masses are coupled: P_a P_b
  /// and D, of which D/(P_a P_b) is the squared sine of the angle between them. Nothing where there is no such pair.
  struct Pair {
    int a, b;  ///< rows
    Number T, product, D, inverse;
  };
  const std::optional<Pair>& pair() const { return pair_; }
  /// From now on λ of the pair is (P_b g_a − T g_b)/D and (P_a g_b − T g_a)/D. That takes three products less and is as
  /// good as long as the rows are far from dependent, which calc_comparisons() then watches (pair_growth).
  void solve_pair_by_cramer() { cramer_ = pair_.has_value(); }

 private:
  struct Link {
    int node;
    Number l;
  };
  struct Pivot {
    int node;
    Number inverse;
    std::vector<Link> links;  ///< to nodes that are eliminated later: entry/pivot
  };
  bool is_row(int node) const { return node >= K_.n; }
  bool in_pair(int node) const { return cramer_ && is_row(node) && joined_[static_cast<std::size_t>(node - K_.n)]; }
  void form_T();
  bool find_order(long most_products);
  bool eliminate(int node);
  /// 1/s of rows a and b, the last two. With T between them and D = s_a P_b − T² = s_a s_b:  u = 1/(s_a D),
  /// 1/s_a = D u and 1/s_b = s_a² u. D loses as much to rounding as s_b does: eps·P_b/s_b of itself.
  void join_pivots(int a, int b, const Number& pivot);
  /// D − P_a P_b/pair_growth − least
  Number calc_pair_margin(double least);
  /// Entry between two nodes that are left, zero where there was none.
  Number& entry(int a, int b);

  Numbers* numbers_;
  KktMatrix K_;
  EliminationLimits limits_;
  std::string problem_;

  std::vector<std::vector<Link>> by_row_, by_col_;  ///< A: coordinates of a row, rows of a coordinate
  std::vector<char> uncoupled_;                     ///< by coordinate
  std::vector<Number> inverse_mass_;                ///< of uncoupled coordinates

  struct Joint {
    int a, b;
    Number value;
  };
  std::vector<Joint> joints_;                   ///< H, G, T off the diagonal, before anything coupled is eliminated
  std::vector<int> order_, position_;           ///< nodes by position, positions by node
  std::vector<std::map<int, Number>> entries_;  ///< by the node that is eliminated first
  std::vector<Number> H_;                       ///< diagonal, by coordinate
  std::vector<Number> P_, s_inverse_;           ///< by row
  std::vector<Number> s_;                       ///< by row; of the last one of two joined ones D = s_a s_b
  std::vector<char> joined_;                    ///< by row: 1/s is there already
  std::optional<Pair> pair_;
  bool cramer_ = false;
  std::vector<std::vector<Numbers::Product>> R_;  ///< terms of R, by row
  std::vector<Number> mass_inverse_;              ///< 1/d of coupled coordinates
  std::vector<Pivot> pivots_;
};

}  // namespace mechanician
