#pragma once

/// The equations of motion of a model, as expressions (theory of K93, U02).
///
///     M q̈ = Q + Qᶜ,   A q̈ = b,   vᵀQᶜ = vᵀC for every v with A v = 0
///
///     M = ∂²T/∂q̇∂q̇                       Q = F − ∂V/∂q + ∂T/∂q − (∂²T/∂q̇∂q) q̇ − ∂²T/∂q̇∂t
///     φ(q,t):     A = φ_q    b = −(φ_q q̇)_q q̇ − 2 φ_qt q̇ − φ_tt
///     ψ(q,q̇,t):  A = ψ_q̇   b = −ψ_q q̇ − ψ_t
///
/// A one-sided constraint φ ≥ 0 or ψ ≥ 0 has its row among the others, with b as if it were an equality: it holds as
/// A_j q̈ ≥ b_j, and only while it touches.
///
/// Entries that vanish identically are not stored. Cost: linear in the size of the model's expressions for each row.

#include <string>
#include <vector>

#include "mechanician/model/model.hpp"

namespace mechanician {

/// A matrix of expressions, by its structural non-zeros.
struct SparseExprMatrix {
  struct Entry {
    int row, col;
    Expr value;
  };
  int rows = 0, cols = 0;
  std::vector<Entry> entries;  ///< by row, then column

  /// The entry, zero where nothing is stored. Linear in the number of entries of the row at worst.
  Expr at(int row, int col) const;
};

enum class RowKind { constraint, control };

/// What a row of A q̈ = b is, the same for all members of a family, and where it comes from.
struct RowTraits {
  RowKind kind = RowKind::constraint;
  Level level = Level::position;
  bool one_sided = false;  ///< residual ≥ 0 is what holds
  bool measured = false;
  bool is_rate = false;  ///< z' = rate of a state z: ψ has z' with the coefficient 1
  bool unfelt = false;   ///< such a row, and no other mentions z: its multiplier is zero
  Place place = {};
  std::string text = {};
  // How the constraint is called, from its text: for people.
  bool rheonomic = false;    ///< time occurs
  bool acatastatic = false;  ///< does not vanish with the velocities: Σ aᵢ q̇ᵢ + a₀ = 0 with a₀ ≠ 0
  bool linear = true;        ///< in the velocities
  bool integrable = false;   ///< a velocity-level row that is proved to be the rate of a function of position and time
  bool vanishes = false;     ///< holds identically: it constrains nothing
  bool bare = false;         ///< has no equation: a place for the friction of a brake, never a row that acts

  /// λ (A q̇) = 0 wherever the row holds.
  bool powerless() const {
    return unfelt || (level == Level::position && !rheonomic) || (level == Level::velocity && linear && !acatastatic);
  }
};

/// One row of A q̈ = b.
struct Row : RowTraits {
  std::string name;
  Expr residual;  ///< φ or ψ; for acceleration-level rows left − right as written
  Expr rate;      ///< φ̇ for position-level rows, else zero
};

/// What a constraint that is one-sided or has friction says beyond its row.
///
/// Sliding friction acts along Tᵀ against the slip ψ; while the contact sticks, ψ = 0 and T q̈ = slip_b.
struct ContactRow {
  int row = 0;
  Expr restitution = 0;  ///< 0 where not given
  bool has_friction = false;
  Expr friction = 0;  ///< the coefficient, or the largest force:
  bool is_force = false;
  std::vector<Expr> slip;    ///< ψ, one or two; none without friction
  SparseExprMatrix T;        ///< ∂ψ/∂q̇, one row for each slip
  std::vector<Expr> slip_b;  ///< −ψ_q q̇ − ψ_t: the slip accelerates by T q̈ − slip_b
};

/// A state of first order: its coordinate, and the row that says its rate.
struct StateRow {
  int coordinate, row;
};

/// What control consists of beyond the rows of its requirements (theory: Control).
struct ControlEquations {
  struct Requirement {
    int priority = 1;
    bool one_sided = false, weighted = false;
  };
  struct Actuator {
    std::string name;
    bool has_low = false, has_high = false;
    Place place;
  };
  std::vector<Requirement> requirements;  ///< by row of control
  std::vector<Actuator> actuators;        ///< none: every coordinate can be forced
  SparseExprMatrix E;                     ///< n×a, by row
  bool has_free = false;
  std::optional<double> every;
  struct Believed {
    int parameter = 0;
    Expr value;  ///< of parameters
  };
  std::vector<Believed> nominal;  ///< the force is that of a model with these parameters; empty: of the model itself
  /// [entries of E | lower limits | upper limits, of those that have one | R by rows | weights of all rows, 0 where there is none | free,
  /// where there is one].
  std::vector<Expr> numbers;

  /// Rows of equal rank and nothing else: then the acceleration is that of all rows solved together.
  bool is_plain() const;
  /// Requirements of equal rank that nothing keeps from being met: the force follows at once, without a search.
  bool is_direct() const;
  bool has_limits() const;
  const Expr& cost(int i, int k) const;  ///< R
  std::span<const Expr> free() const;    ///< by coordinate; empty where there is none
};

struct Equations {
  std::vector<std::string> coordinates;
  std::vector<Expr> q, qd, qdd;
  Expr t = time_symbol();
  std::vector<Expr> parameters;   ///< symbols
  std::vector<Expr> unknowns;     ///< with all derivatives of them that occur
  std::vector<Expr> ideal;        ///< ideal(x) by coordinate, as C may use them
  std::vector<Expr> multipliers;  ///< multiplier(NAME) by constraint row

  SparseExprMatrix M, A;
  std::vector<Expr> Q, b;
  std::vector<Expr> C;  ///< n; zeros where not given
  bool has_C = false;
  std::vector<Row> rows;  ///< constraints in the order of the file, then rates of states, then controls
  std::vector<StateRow> states;
  ControlEquations control;

  /// One for every constraint that is one-sided or has friction, by row.
  std::vector<ContactRow> contacts;

  /// Weights of measured rows: row indices and their symmetric matrix.
  std::vector<int> measured;
  std::vector<std::vector<Expr>> W;

  int n() const { return static_cast<int>(q.size()); }
  int m() const { return static_cast<int>(rows.size()); }
  int num_control() const;
  int num_constraints() const { return m() - num_control(); }
};

Equations derive(const Model& model);

}  // namespace mechanician
