#pragma once

/// Where the numbers of the equations of motion come from: all that a motion needs to know of its system.
///
///     M q̈ = Q + C + Aᵀλ,   A q̈ = b            C may depend on Aᵀλ and λ (solve/instant_values.hpp)
///
/// M and A are lists of values on patterns that never change, so that one sparse elimination serves all states. What
/// depends on the state by kinks (abs, sign, min, max, if) is made smooth by sides that are held (switches.hpp): they
/// are numbers that every evaluation reads. There are no expressions here: the equations may be written out
/// (written_equations.hpp), or be kernels that run over the members of families (kernel_equations.hpp).
///
/// Numbers stay valid until the next call of the same function. Nothing is allocated by evaluate() and evaluate_rows().

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/variation.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

struct RowFacts {
  Level level = Level::position;
  RowKind kind = RowKind::constraint;
  bool measured = false;
  bool linear = true;      ///< in velocities
  bool bare = false;       ///< there is no such row (equations.hpp)
  bool powerless = false;  ///< λ (A q̇) = 0 wherever the row holds; not of measured ones, which need not
  Place place = {};
  bool is_rate = false;  ///< of a state (EquationFacts::states)
};

struct SwitchFacts {
  std::string text;  ///< "abs(x)"
  bool is_discontinuous = false;
  double clock =
      0.0;  ///< of a table of the time: its key (expression/table_lookup.hpp), which tells when it switches next; 0: of others
};

struct EventFacts {
  std::string name;
  EventDirection direction = EventDirection::both;
  EventAction action = EventAction::record;
  bool changes = false;  ///< the system: the motion goes on under other equations
  bool uses_forces = false;
};

/// A force that outputs or events use.
struct ForceFacts {
  SymbolKind kind = SymbolKind::multiplier;
  int at = -1;                       ///< coordinate, or row of the constraint; −1: it is not there
  std::array<int, 2> slips{-1, -1};  ///< of friction: rows that hold its slips, where there are any
  int contact = -1;                  ///< of friction: by EquationFacts::sliding
  bool in_events = false;
};

/// A constraint with friction that slides: μ, slips and ∂slips/∂q̇ are numbers of calc_sliding().
struct SlidingFacts {
  int row = 0, num_slips = 1;
  int at = 0;                  ///< of [μ or largest force | slips | entries of T]
  std::vector<SparseEntry> T;  ///< row: which slip
  bool is_force = false;       ///< it has a largest force
};

struct EquationFacts {
  int n = 0, m = 0, num_constraints = 0;  ///< rows of constraints come before those of control
  SparsePattern pattern;
  SparseLists row_slots;  ///< entries of A by row
  std::vector<RowFacts> rows;
  std::vector<StateRow> states;
  std::vector<int> family_of_state;             ///< one for each: members of one family are of one kind
  bool any_bare = false;                        ///< a row that is none
  bool has_C = false, needs_reactions = false;  ///< C depends on reactions
  std::vector<int> measured;                    ///< rows with a weight
  bool mass_is_constant = false, depends_on_time = false;
  bool can_be_narrow = false;  ///< functions in them can vary in a small part of a step
  std::vector<SwitchFacts> switches;
  int num_divisors = 0;
  int num_outputs = 0, num_event_switches = 0;
  std::vector<std::vector<int>> event_jumps;  ///< by switch: events that jump there as written, by `sign` or `if`
  std::vector<EventFacts> events;
  bool events_use_acceleration = false;
  bool events_use_forces = false;
  std::vector<ForceFacts> forces;
  std::vector<SlidingFacts> sliding;
  ControlEquations control;  ///< without its expressions
  /// The last of `switches`: limits of actuators and one-sided requirements, whose functions Dynamics knows.
  struct ControlSwitch {
    int actuator = -1;  ///< −1: of a requirement
    bool upper = false;
    int requirement = -1;
    std::string name;
  };
  std::vector<ControlSwitch> control_switches;
};

/// States between bounds.
struct StateBox {
  Interval t;
  const Interval *q, *qd;
  const Interval* qdd = nullptr;  ///< null: not needed
};

class EquationValues {
 public:
  virtual ~EquationValues() = default;
  virtual std::unique_ptr<EquationValues> clone() const = 0;

  const EquationFacts& facts() const { return facts_; }
  virtual const System& system() const = 0;
  std::string row_name(int row) const { return system().row_name(row); }
  std::string coordinate_name(int i) const { return system().coordinate(i); }
  virtual std::string divisor_text(int i) const = 0;
  /// One for each switch, +1 or −1.
  std::vector<double> sides;
  /// One for each row: it is not there, and its numbers are to be passed over; empty: all are. For phases of a motion with
  /// contacts: what is open, what slides.
  std::vector<char> absent;
  bool is_absent(int row) const {
    const auto j = static_cast<std::size_t>(row);
    return facts_.rows[j].bare || (!absent.empty() && absent[j]);
  }
  /// Whether all rows are there.
  bool is_whole() const { return absent.empty() && !facts_.any_bare; }

  /// In the order of the pattern. C: null where there is none, or where it needs reactions.
  struct Numbers {
    const double *M, *Q, *A, *b, *C;
    double mass_power;  ///< ½ q̇ᵀṀ q̇
  };
  /// There will be more evaluations than what is made when it pays by itself is worth.
  virtual void make_quick_code() {}
  /// False where one is not finite.
  virtual bool evaluate(double t, const double* q, const double* qd) = 0;
  virtual Numbers numbers() const = 0;

  /// φ or ψ, and φ̇ of rows on positions (ψ of the others); 0 of rows on accelerations.
  struct RowNumbers {
    const double *M, *A, *residual, *rate;
  };
  virtual bool evaluate_rows(double t, const double* q, const double* qd) = 0;
  virtual RowNumbers row_numbers() const = 0;
  /// How much rounding there may be in a row of A, as a norm: for every row.
  virtual void calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) = 0;

  /// What a state is, where more than positions and velocities is asked for. Null: not known, or not needed.
  struct Point {
    double t;
    const double *q, *qd;
    const double* qdd = nullptr;
    const double *ideal = nullptr, *multipliers = nullptr;
    const double* forces = nullptr;  ///< by EquationFacts::forces
  };
  /// C at the state of the last evaluate() with these reactions; null where a value is not finite.
  virtual const double* calc_C(const Point& point) = 0;
  /// False where a value is not finite.
  virtual bool calc_switches(const Point& point, std::span<double> g) = 0;
  virtual void calc_switch_noise(const Point& point, std::span<double> noise) = 0;
  /// dg/dt along the motion (qdd given) and its rounding. Not a number where g depends on reactions. False: none is known.
  virtual bool calc_switch_rates(const Point& point, std::span<double> rates, std::span<double> noise) = 0;
  virtual void calc_divisors(const Point& point, std::span<double> values) = 0;
  /// Where G = Q + C − M a + Aᵀλ (rows 0 … n − 1) and H = b − A a (rows n … n + m − 1) depend on q or q̇, with a and λ held;
  /// each once. Made when it is first asked for. C that needs reactions is left out.
  virtual std::span<const SparseEntry> derivative_pattern() = 0;
  /// ∂/∂q and ∂/∂q̇ of these, for a = qdd and λ = multipliers. False where a value is not finite.
  virtual bool calc_derivatives(const Point& point, std::span<double> by_q, std::span<double> by_qd) = 0;
  /// [outputs | events | functions that change sign where an event has a kink].
  virtual std::span<const double> calc_quantities(const Point& point) = 0;
  /// Bounds of what is wrong with them: by rounding, and because the state is known up to `error` only (its q, q̇ and q̈).
  virtual void calc_quantity_noise(const Point& point, const Point& error, std::span<double> noise) = 0;
  /// What switching functions and quantities lie between wherever the state is in a box. False: not known.
  virtual bool bound_switches(const StateBox& box, std::span<Interval> g) = 0;
  virtual bool bound_quantities(const StateBox& box, std::span<Interval> quantities) = 0;
  /// Where facts().can_be_narrow: whether a function in the equations goes through more turns in a box than the samples of a
  /// step show (expression/variation.hpp); and by how much M, Q + C, A and b may vary unseen, by samples of a step or of a piece.
  virtual bool varies_fast(const StateBox& box) = 0;
  virtual void calc_unseen(const StateBox& box, SeenBy shown, UnseenValues& to) = 0;
  /// Numbers of ControlEquations; false where one is not finite.
  virtual bool calc_control(const Point&, std::span<const double>& numbers) { return numbers = {}, true; }
  /// Of the measured rows, a square; empty where one is not finite.
  virtual std::span<const double> calc_weights(const Point&) { return {}; }
  /// By SlidingFacts::at; empty where one is not finite.
  virtual std::span<const double> calc_sliding(const Point& point) = 0;

  /// What the general solver says of an instant (instant/accelerate.hpp). For starts and ends of motions.
  struct Verdict {
    std::string not_finite;  ///< which number has no value, and why; empty where all have
    Place place;             ///< of it
    SolveStatus status = SolveStatus::solved;
    bool consistent = true;
    struct Off {
      int row;
      double value;
    };
    std::vector<Off> off;       ///< rows that the state violates
    std::vector<int> conflict;  ///< rows that contradict each other, where asked for
    std::string why;            ///< there is no acceleration, where more can be said than the status does
    bool has_acceleration() const { return not_finite.empty() && may_accelerate; }
    bool may_accelerate = false;
  };
  Verdict judge(const State& state, bool diagnose) const;
  /// How many rows are independent at general states near by on the constraints, where that is known, and whether
  /// rounding decides it.
  struct GenericRank {
    std::optional<int> rank;
    bool doubtful = true;
  };
  virtual GenericRank find_generic_rank(const State& state) = 0;

 protected:
  EquationFacts facts_;
};

/// Those of a system, from where its numbers come from. It must outlive them.
std::unique_ptr<EquationValues> make_equation_values(const System& system);

/// Which states are members of one family, from their names: a number for each.
template <class NameOf>
std::vector<int> families_of(const std::vector<StateRow>& states, NameOf&& name_of) {
  std::map<std::string, int> known;
  std::vector<int> numbers;
  for (const StateRow& z : states) {
    const std::string name = name_of(z.coordinate);
    numbers.push_back(known.emplace(std::string(family_of(name)), static_cast<int>(known.size())).first->second);
  }
  return numbers;
}
/// Forces that outputs and events of a model use, each once: the order of EquationFacts::forces.
std::vector<Expr> list_forces(const Model& model);
/// The same without what [summary] is about.
std::vector<Expr> list_forces_of_columns(const Model& model);
/// What the row is called that holds a slip of a constraint, one of so many.
std::string slip_name(const std::string& constraint, std::size_t slip, std::size_t slips);

/// Lists of the entries of A by row.
SparseLists list_rows(const SparsePattern& pattern);

}  // namespace mechanician
