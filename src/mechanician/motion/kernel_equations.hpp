#pragma once

/// The equations of a system by kernels as a motion takes them (motion/equation_values.hpp): kernels over the members of terms,
/// never written out.

#include <memory>
#include <optional>
#include <vector>

#include "mechanician/large/large_quantities.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/motion/equation_values.hpp"

namespace mechanician {

class KernelEquations final : public EquationValues {
 public:
  /// Of a system with kernels. Throws ModelError where outputs or events cannot be made.
  explicit KernelEquations(const System& system);

  std::unique_ptr<EquationValues> clone() const override;
  const System& system() const override { return whole_; }
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
  void calc_quantity_noise(const Point& point, const Point& error, std::span<double> noise) override;
  bool bound_switches(const StateBox& box, std::span<Interval> g) override;
  bool bound_quantities(const StateBox& box, std::span<Interval> quantities) override;
  bool varies_fast(const StateBox& box) override;
  void calc_unseen(const StateBox& box, SeenBy shown, UnseenValues& to) override;
  std::span<const double> calc_sliding(const Point&) override { return {}; }
  GenericRank find_generic_rank(const State&) override { return {}; }

 private:
  void set_facts();
  void set_quantities();
  MemberPoint member_point(const Point& point);
  template <class T>
  void calc_quantities_as(const T& t, const T* q, const T* qd, const T* qdd, const T* forces, std::span<T> all);
  void set_forces();
  LargeSystem::At at(double t, const double* q, const double* qd) const {
    const auto n = static_cast<std::size_t>(facts_.n);
    return {t, {q, n}, {qd, n}, sides};
  }

  System whole_;
  LargeSystem* system_;  ///< kept alive by whole_
  LargeSystem::Values values_, row_values_;
  std::vector<double> residual_, rate_, quantities_;
  double mass_power_ = 0.0;
  std::vector<std::unique_ptr<FamilyQuantity>> kinks_;  ///< zeros of what switches in events
  std::optional<LargeQuantities> outputs_, events_, event_kinks_;
};

}  // namespace mechanician
