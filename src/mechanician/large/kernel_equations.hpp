#pragma once

/// The equations of a large system as a motion takes them (motion/equation_values.hpp): kernels over the members of terms,
/// never written out.

#include <memory>
#include <optional>
#include <vector>

#include "mechanician/large/large_quantities.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/motion/equation_values.hpp"
#include "mechanician/motion/motion_steps.hpp"

namespace mechanician {

class KernelEquations final : public EquationValues {
 public:
  /// The system must outlive it, have its kinks held, and serve no other thread meanwhile. Throws ModelError where outputs
  /// or events cannot be made.
  explicit KernelEquations(LargeSystem& system);

  std::unique_ptr<EquationValues> clone() const override { return std::make_unique<KernelEquations>(*system_); }
  std::string row_name(int row) const override { return system_->row_name(row); }
  std::string coordinate_name(int i) const override { return system_->model().name_of(i); }
  std::string divisor_text(int i) const override { return system_->divisor_text(i); }

  bool evaluate(double t, const double* q, const double* qd) override;
  Numbers numbers() const override;
  bool evaluate_rows(double t, const double* q, const double* qd) override;
  RowNumbers row_numbers() const override;
  void calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) override;
  const double* calc_C(const Point&) override { return nullptr; }
  bool calc_switches(const Point& point, std::span<double> g) override;
  void calc_switch_noise(const Point& point, std::span<double> noise) override;
  bool calc_switch_rates(const Point& point, std::span<double> rates, std::span<double> noise) override;
  void calc_divisors(const Point& point, std::span<double> values) override;
  std::span<const SparseEntry> derivative_pattern() override;
  bool calc_derivatives(const Point& point, std::span<double> by_q, std::span<double> by_qd) override;
  std::span<const double> calc_quantities(const Point& point) override;
  void calc_quantity_noise(const Point& point, std::span<double> noise) override;
  std::span<const double> calc_sliding(const Point&) override { return {}; }
  Verdict judge(const State& state, bool diagnose) override;
  GenericRank find_generic_rank(const State&) override { return {}; }

 private:
  void set_facts();
  void set_quantities();
  MemberPoint member_point(const Point& point);
  void take_sides() { std::copy(sides.begin(), sides.end(), system_->sides().begin()); }

  LargeSystem* system_;
  LargeSystem::Values values_, row_values_;
  std::vector<double> residual_, rate_, quantities_, moved_;
  std::vector<SparseEntry> derivative_pattern_;
  double mass_power_ = 0.0;
  std::vector<std::unique_ptr<FamilyQuantity>> kinks_;  ///< zeros of what switches in events
  std::optional<LargeQuantities> outputs_, events_, event_kinks_;
};

/// Names of the outputs of a large system, those of families member by member. Throws ModelError as LargeQuantities does.
std::vector<std::string> output_names(const FamilyModel& model);

/// The motion of a large system, as an Integrator drives it. The system must outlive it. Throws std::invalid_argument for
/// options that make no sense.
std::unique_ptr<MotionSteps> make_large_steps(LargeSystem& system, const State& start, const MotionOptions& options);
/// The start of a large system as a state.
State state_of(const LargeSystem::Start& start);

}  // namespace mechanician
