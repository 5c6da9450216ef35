#pragma once

/// The equations of a model with families, member by member in loops: M, Q, A, b as numbers on a fixed sparse pattern.
///
///     M q̈ = Q + Aᵀλ,   A q̈ = b          each a sum over the members of the terms of the model
///
/// A term (m/2·x[i]'², a rod between x[i − 1] and x[i]) is differentiated once, in the few coordinates that one member
/// of it has, and compiled once, for four members side by side; what does not depend on the state is worked out when
/// the system is made. So deriving and compiling do not grow with the size, and an evaluation is linear in it. Nothing
/// is allocated in evaluate(). Callers of one object wait for each other; threads share terms of very many members.
///
/// Terms that are written member by member and say the same are rolled into one first (rolled_terms.hpp).
///
/// Kinks are held by sides (equations/switches.hpp), one for each member that has one: numbers that the programs read
/// like those of a list. With those of sides_at() the equations are as they are written.

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/not_finite.hpp"
#include "mechanician/large/member_functions.hpp"
#include "mechanician/large/rolled_terms.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/term_members.hpp"
#include "mechanician/solve/sparse_memory.hpp"
#include "mechanician/solve/sparse_pattern.hpp"
#include "mechanician/solve/sparse_threads.hpp"

namespace mechanician {

class LargeSystem {
 public:
  /// Throws ModelError for what find_members() finds wrong, and for kinetic energies that are not quadratic in
  /// velocities.
  /// num_threads: as in SparseOptions.
  explicit LargeSystem(FamilyModel model, int num_threads = 0);
  explicit LargeSystem(RolledModel model, int num_threads = 0);
  LargeSystem(const LargeSystem&) = delete;
  LargeSystem& operator=(const LargeSystem&) = delete;

  const FamilyModel& model() const { return model_; }
  int n() const { return n_; }
  int m() const { return m_; }

  const SparsePattern& pattern() const { return pattern_; }
  bool mass_is_constant() const { return mass_is_constant_; }
  bool force_is_constant() const { return force_is_constant_; }

  struct Values {
    LargeVector M, Q, A, b;  ///< M and A in the order of their patterns
  };
  /// Of the right size, with what does not change in it.
  Values make_values() const;
  /// Where, and on which sides of the kinks.
  struct At {
    double t;
    std::span<const double> q, qd, sides;
  };
  void evaluate(const At& at, Values& values);

  /// φ or ψ of every row, and φ̇ of those on positions (ψ again of the others).
  void evaluate_rows(const At& at, std::span<double> residual, std::span<double> rate);
  /// All of it with bounds of rounding (expression/rounding_error.hpp). Several times as slow, and it allocates.
  struct Bounded {
    Values values, bounds;
    std::vector<double> residual, rate, residual_bound, rate_bound;
  };
  void evaluate_with_bounds(const At& at, Bounded& to);
  /// Of the family that a row belongs to.
  const RowTraits& row(int row) const;
  const std::vector<StateRow>& states() const { return states_; }
  /// Whether a given force depends on a coordinate or its velocity.
  bool forces_depend_on(int coordinate) const;
  bool depends_on_time() const { return depends_on_time_; }
  /// Operations of one evaluation.
  std::int64_t num_operations() const;

  std::size_t num_sides() const { return sides_.size(); }
  /// Those of the equations as they are written: the signs of what switches, zero where it is zero.
  std::vector<double> sides_at(double t, std::span<const double> q, std::span<const double> qd);
  /// Of each side: what it is about, and whether values jump there.
  struct SwitchText {
    std::string text;
    bool is_discontinuous;
  };
  std::vector<SwitchText> describe_switches() const;
  int num_divisors() const { return num_divisors_; }
  std::string divisor_text(int divisor) const;
  /// All switching functions; their rates along the motion where there are accelerations; what stands below fraction
  /// lines. With bounds of rounding, where asked for.
  void calc_switches(const MemberPoint& point, std::span<double> g, std::span<double> bounds);
  void calc_switch_rates(const MemberPoint& point, std::span<double> rates, std::span<double> bounds);
  void calc_divisors(const MemberPoint& point, std::span<double> values);
  /// Derivatives of G = Q − M a + Aᵀλ (rows 0 … n − 1) and H = b − A a (rows n … n + m − 1) by positions and velocities, a and λ
  /// held: of each term differentiated and compiled once, when they are first asked for. point.qdd is a.
  const std::vector<SparseEntry>& derivative_pattern();
  void calc_derivatives(const MemberPoint& point, const double* lambda, std::span<double> by_q,
                        std::span<double> by_qd);
  /// What switching functions lie between where the state does.
  void bound_switches(const Interval& t, const Interval* q, const Interval* qd, const double* sides,
                      std::span<Interval> g);
  /// Whether its equations contain functions that can vary fast (expression/variation.hpp); whether any does where the state lies, and by
  /// how much the equations may vary unseen there.
  bool can_be_narrow() const { return can_be_narrow_; }
  bool varies_fast(const MemberState<Interval>& box, const double* sides);
  void calc_unseen(const MemberState<Interval>& box, const double* sides, SeenBy shown, UnseenValues& to);
  bool rows_are_linear() const { return rows_are_linear_; }  ///< in velocities
  /// ½ q̇ᵀṀ q̇: what a mass matrix that changes adds to the power of the forces.
  double calc_mass_power(const At& at);

  struct Start {
    double t = 0.0;
    std::vector<double> q, qd, scale;  ///< scale: as in StartState
  };
  Start start() const;
  std::string row_name(int row) const;
  /// Which number of the equations has no value there, and why; nothing where all have. Slow.
  std::optional<NotFinite> explain_not_finite(const At& at) const;
  double seconds_of_deriving() const {
    return seconds_of_deriving_;
  }  ///< and compiling: what does not grow with the size

 private:
  static constexpr std::int64_t lanes = 4, batch = 16;  ///< members side by side in a block; blocks at a time
  struct Kernel;
  struct Desk;
  struct Source;
  using Lock = std::lock_guard<std::mutex>;
  void take(const At& at) { std::copy(at.sides.begin(), at.sides.end(), sides_.begin()); }
  void add_kernel(const Term& term, std::size_t stated, std::shared_ptr<RolledTerm> rolled);
  void add_rows();
  void add_members();
  void add_switches();
  void find_narrow();
  template <class T>
  void calc_unseen_as(const MemberState<Interval>& box, const double* sides, UnseenValues& to);
  void find_patterns();
  void find_unfelt();
  void find_sums();
  void evaluate_constants();
  std::vector<Source> sources_of(const Kernel& kernel, const std::vector<char>& needed) const;
  void make_bounded(Kernel& kernel) const;
  void set_up_desks();
  static void differentiate(Kernel& kernel, const FamilyModel& model);
  std::string quantity_name(const Kernel& kernel, int output, std::int64_t member) const;
  static std::int64_t block_begin(std::int64_t k, std::int64_t here);
  std::int64_t gather(const Kernel& kernel, std::span<const Source> sources, double* inputs, std::int64_t begin,
                      const At& at) const;
  void evaluate_members(const Kernel& kernel, Desk& desk, std::int64_t from, std::int64_t to, const At& at,
                        Values& values) const;

  FamilyModel model_;
  int n_ = 0, m_ = 0;
  double seconds_of_deriving_ = 0.0;
  SparsePattern pattern_;
  std::vector<SparseEntry> derivative_pattern_;
  bool derivatives_made_ = false;
  bool mass_is_constant_ = true, force_is_constant_ = true, rows_are_linear_ = true, depends_on_time_ = false,
       can_be_narrow_ = false;
  std::mutex mutex_;
  std::vector<double> sides_;  ///< of the evaluation at hand
  int num_divisors_ = 0;
  bool is_sum_[4] = {};  ///< M, Q, A, b
  std::vector<std::shared_ptr<Kernel>> kernels_;
  struct RowPlace {
    std::int32_t kernel, member;
  };
  std::vector<RowPlace> row_places_;  ///< by row
  std::vector<StateRow> states_;
  Values constant_;
  std::shared_ptr<SparseThreads> threads_;
};

}  // namespace mechanician
