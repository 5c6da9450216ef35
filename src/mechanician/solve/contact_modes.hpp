// The modes of a group of contacts: for each contact open, held, sticking or sliding in a direction. A mode is a square
// linear system in the forces that it leaves unknown, and signs and cones that its solution must meet:
//
//   unknown  λ̂ of closed contacts, f of sticking ones, z          f = −μ σ λ̂ d where it slides, σ = sign of λ̂
//   equation w_n = 0 (closed), λ̂ = λ̂₀ + λ̂·f (two-sided), w_t = 0 (sticking), Uᵀ(g + Z f) = 0
//   sign     σ λ̂ ≥ 0, w_n ≥ 0 (open), d·w_t ≥ 0 (starts to slide), ‖f‖ ≤ μ σ λ̂ (sticking)
//
// Singular systems: least norm among the solutions that meet signs and cones (least_distance.hpp; cones by cutting
// planes), and a check whether these all have the same acceleration.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mechanician/solve/contact_system.hpp"
#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

inline constexpr double mode_tolerance = 1e-11;   // of signs, as a fraction of sizes in the metric
inline constexpr double distinct_answers = 1e-7;  // accelerations further apart than this fraction are different

struct UnitMode {
  enum class Choice { open, held, sticking, sliding };
  Choice choice = Choice::open;
  int sign = 1;                    // σ
  Eigen::VectorXd direction = {};  // where sliding; empty: to be found
};

using GroupMode = std::vector<UnitMode>;

struct ModeSolution {
  GroupMode mode;
  Eigen::VectorXd f;                         // p, zero outside the group
  Eigen::VectorXd z;                         // u
  Eigen::VectorXd lambda;                    // λ̂ by unit of the group
  Eigen::VectorXd qdd;                       // n, what the group adds to q̈₀
  double violation = 0;                      // fraction by which signs and cones are missed
  bool distributed = false;                  // the forces are not unique
  std::vector<Eigen::VectorXd> others = {};  // q̈ of further solutions of the same mode: a continuum
};

class ModeTree;

class ContactGroup {
 public:
  ContactGroup(const ContactSystem& system, std::vector<std::size_t> units);

  const std::vector<std::size_t>& units() const { return units_; }
  const ContactUnit& unit(std::size_t i) const { return s_.units[units_[i]]; }

  /// Contacts that may begin to slip in any direction of a plane.
  std::size_t num_free() const;

  /// What each contact can do; directions to be found stay empty.
  std::vector<std::vector<UnitMode>> options() const;

  /// Calls `visit` for every combination of these choices, directions all given, that cannot be excluded at once.
  void visit_possible(const std::vector<std::vector<UnitMode>>& choices,
                      const std::function<void(const GroupMode&)>& visit) const;

  /// The mode's equations; all directions given. Nothing where they have no solution. `enforce`: choose among forces
  /// that are not unique such that signs are met, nothing where that cannot be.
  struct Signs {
    bool enforce = true;
  };
  std::optional<ModeSolution> solve(const GroupMode& mode, Signs signs) const;

  /// All acceptable solutions of a mode, directions found; `complete` becomes false where some may be missing.
  std::vector<ModeSolution> find(const GroupMode& mode, bool& complete) const;

  /// Whether no contact that acts in `mode` opens in a solution.
  bool keeps_closed(const ModeSolution& solution, const GroupMode& mode) const;

  /// Whether Gershgorin's discs prove that the answer is unique: μ ‖W‖ < λ_min(W), no two-sided contacts.
  bool surely_unique() const;

  /// One acceptable mode by exchanging unknowns, one at a time; for groups too large to enumerate. Nothing: none was found.
  std::optional<ModeSolution> find_by_pivoting(long& num_modes) const;

  /// One acceptable mode by making friction smooth, and less and less so; one-sided contacts only.
  std::optional<ModeSolution> find_by_smoothing(long& num_modes) const;

  /// Relaxation over the contacts from zero forces, modes tried on the way; where that finds nothing either.
  std::optional<ModeSolution> relax(long& num_modes) const;

 private:
  friend class ModeTree;
  struct Equations;
  Equations assemble(const GroupMode& mode) const;
  std::optional<Eigen::VectorXd> choose(const GroupMode& mode, const Equations& e, const Eigen::VectorXd& x,
                                        const Eigen::MatrixXd& null, ModeSolution& result) const;
  double violation(const GroupMode& mode, const Equations& e, const Eigen::VectorXd& x) const;
  void choose_independent(const GroupMode& mode, std::vector<Eigen::Index>& rows,
                          std::vector<Eigen::Index>& columns) const;
  struct SlipSample {
    double determinant = 0;
    Eigen::VectorXd slip;
  };
  SlipSample sample_slip(const GroupMode& mode, std::size_t i, const std::vector<Eigen::Index>& rows,
                         const std::vector<Eigen::Index>& columns) const;
  std::vector<double> directions(GroupMode mode, std::size_t free) const;
  struct Smoothed;
  struct Pivoting;
  void place(Pivoting& pivoting) const;
  std::optional<GroupMode> pivot(const Pivoting& pivoting) const;
  /// By contact of `free` the angle from the assumed direction to the slip that it causes: zero, not ±π, at an answer.
  std::optional<Eigen::VectorXd> miss_directions(GroupMode& mode, const std::vector<std::size_t>& free,
                                                 const Eigen::VectorXd& angles) const;
  /// Newton's method from these angles of the slips of `free`; adds what it comes to, if it is an answer.
  void follow_directions(const GroupMode& mode, const std::vector<std::size_t>& free, Eigen::VectorXd angles,
                         std::vector<ModeSolution>& found) const;
  void search_directions(const GroupMode& mode, const std::vector<std::size_t>& free,
                         std::vector<ModeSolution>& found) const;
  Eigen::VectorXd slip(const ModeSolution& solution, std::size_t i) const;
  GroupMode read_mode(const Eigen::VectorXd& f, const Eigen::VectorXd& w, double zero) const;

  const ContactSystem& s_;
  std::vector<std::size_t> units_;
  std::vector<Eigen::Index> columns_;           // of the group's forces
  std::vector<Eigen::Index> normal_, tangent_;  // by unit, positions in columns_
  Eigen::MatrixXd W_, X_, UG_;
  Eigen::VectorXd w0_;
  std::vector<Eigen::RowVectorXd> lambda_;  // by unit, two-sided only
};

}  // namespace mechanician
