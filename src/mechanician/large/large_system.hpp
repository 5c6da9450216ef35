#pragma once

/// The equations of a model with families, member by member in loops: M, Q, A, b as numbers on a fixed sparse pattern.
///
///     M q̈ = Q + Aᵀλ,   A q̈ = b          each a sum over the members of the terms of the model
///
/// A term (m/2·x[i]'², a rod between x[i − 1] and x[i]) is differentiated once, in the few coordinates that one member
/// of it has, and compiled once, for four members side by side; what does not depend on the state is worked out when
/// the system is made. So deriving and compiling do not grow with the size, and an evaluation is linear in it. Nothing
/// is allocated in evaluate(). One object serves one caller at a time; threads share terms of very many members.
///
/// Kinks are held by sides (motion/switches.hpp), one for each member that has one: numbers that the programs read like
/// those of a list. With `Kinks::as_written` there are none.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/large/member_functions.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/term_members.hpp"
#include "mechanician/solve/sparse_memory.hpp"
#include "mechanician/solve/sparse_threads.hpp"

namespace mechanician {

class LargeSystem {
 public:
  /// Throws ModelError for what find_members() finds wrong, and for kinetic energies that are not quadratic in
  /// velocities.
  /// num_threads: as in SparseOptions.
  enum class Kinks { as_written, held };
  explicit LargeSystem(FamilyModel model, int num_threads = 0, Kinks kinks = Kinks::as_written);

  const FamilyModel& model() const { return model_; }
  int n() const { return n_; }
  int m() const { return m_; }

  struct Entry {
    int row, col;
  };
  const std::vector<Entry>& M_pattern() const { return M_pattern_; }  ///< lower triangle, each once
  const std::vector<Entry>& A_pattern() const { return A_pattern_; }  ///< each once
  bool mass_is_constant() const { return mass_is_constant_; }
  bool force_is_constant() const { return force_is_constant_; }

  struct Values {
    LargeVector M, Q, A, b;  ///< M and A in the order of their patterns
  };
  /// Of the right size, with what does not change in it.
  Values make_values() const;
  void evaluate(double t, std::span<const double> q, std::span<const double> qd, Values& values);

  /// φ or ψ of every row, and φ̇ of those on positions (ψ again of the others).
  void evaluate_rows(double t, std::span<const double> q, std::span<const double> qd, std::span<double> residual,
                     std::span<double> rate);
  bool is_position_row(int row) const;
  /// Of the family that a row belongs to.
  struct RowKinds {
    bool on_positions = true, linear = true, powerless = true;
    Place place;
  };
  const RowKinds& row_kinds(int row) const;
  bool depends_on_time() const { return depends_on_time_; }

  /// Sides of the switches, all +1 at first.
  std::vector<double>& sides() { return sides_; }
  /// The equations as they are written: sides become the signs of what switches, inner ones first.
  void settle_sides(double t, std::span<const double> q, std::span<const double> qd);
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
  const std::vector<Entry>& derivative_pattern();
  void calc_derivatives(const MemberPoint& point, const double* lambda, std::span<double> by_q,
                        std::span<double> by_qd);
  bool rows_are_linear() const { return rows_are_linear_; }  ///< in velocities
  /// ½ q̇ᵀṀ q̇: what a mass matrix that changes adds to the power of the forces.
  double calc_mass_power(double t, std::span<const double> q, std::span<const double> qd);

  struct Start {
    double t = 0.0;
    std::vector<double> q, qd;
  };
  Start start() const;
  std::string row_name(int row) const;
  /// Which number of the equations has no value there, and why: one sentence, empty where all have. Slow.
  std::string explain_not_finite(double t, std::span<const double> q, std::span<const double> qd) const;
  double seconds_of_deriving() const {
    return seconds_of_deriving_;
  }  ///< and compiling: what does not grow with the size

 private:
  static constexpr std::int64_t lanes = 4, batch = 16;  ///< members side by side in a block; blocks at a time
  struct Kernel;
  struct Desk;
  void add_kernel(const Term& term);
  void add_members();
  void add_switches();
  void find_patterns();
  void find_sums();
  void evaluate_constants();
  void set_up_sources();
  void set_up_desks();
  static void differentiate(Kernel& kernel, const FamilyModel& model);
  std::string quantity_name(const Kernel& kernel, int output, std::int64_t member) const;
  static std::int64_t block_begin(std::int64_t k, std::int64_t here);
  std::int64_t gather(const Kernel& kernel, double* inputs, std::int64_t begin, double t, std::span<const double> q,
                      std::span<const double> qd) const;
  void evaluate_members(const Kernel& kernel, Desk& desk, std::int64_t from, std::int64_t to, double t,
                        std::span<const double> q, std::span<const double> qd, Values& values) const;

  FamilyModel model_;
  int n_ = 0, m_ = 0;
  double seconds_of_deriving_ = 0.0;
  std::vector<Entry> M_pattern_, A_pattern_, derivative_pattern_;
  bool derivatives_made_ = false;
  bool mass_is_constant_ = true, force_is_constant_ = true, rows_are_linear_ = true, depends_on_time_ = false;
  Kinks kinks_;
  std::vector<double> sides_;
  int num_divisors_ = 0;
  bool is_sum_[4] = {};  ///< M, Q, A, b
  std::vector<std::shared_ptr<Kernel>> kernels_;
  Values constant_;
  std::shared_ptr<SparseThreads> threads_;
};

}  // namespace mechanician
