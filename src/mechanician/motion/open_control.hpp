#pragma once

/// Efforts from the numbers that compiled code leaves open (compile/control_draft.hpp), for what acts as it is: the programme of
/// solve/control.hpp without a search, by elimination in as many unknowns as there are efforts. Nothing is allocated.
///
/// With R = L Lᵀ of the efforts that are at no limit, v = Lᵀτ has the cost as its length, and rows w = L⁻¹Gᵀ:
///
///     W v = r,  ‖v + c‖² least        v = −c + Wᵀ(W Wᵀ)⁻¹(r + W c)         c = L⁻¹R τ of those at their limits
///
/// Rows are taken by priority for as long as there are efforts for them; where a first stage has more, its weighted squares are made least.
/// Whatever is not clear, rows that are nearly dependent or hardly felt, is left to solve_control_mode().

#include <span>
#include <vector>

#include "mechanician/equations/equations.hpp"
#include "mechanician/solve/control.hpp"

namespace mechanician {

class OpenEfforts {
 public:
  OpenEfforts() = default;
  explicit OpenEfforts(const ControlEquations& control);

  /// From OpenControl::numbers. False: not clear.
  bool solve(const double* numbers, const ControlMode& mode);
  const std::vector<double>& efforts() const { return tau_; }
  /// calc_limit_pulls() of the last solve(), up to factors above zero. False: not clear.
  bool calc_pulls(const ControlMode& mode);
  double pull(int actuator) const { return pulls_[static_cast<std::size_t>(actuator)]; }
  /// Of actuators, infinite where there is none; of the last solve().
  double low(int actuator) const { return low_[static_cast<std::size_t>(actuator)]; }
  double high(int actuator) const { return high_[static_cast<std::size_t>(actuator)]; }
  /// G_j τ − r_j, of the last solve().
  double excess(int requirement) const;

 private:
  struct Row {
    int stage = 0;
    bool one_sided = false, weighted = false;
  };
  bool take_rows(const ControlMode& mode, int free);
  bool calc_pull_of_cost(int actuator);
  bool calc_pull_of_rows(int actuator, const ControlMode& mode);
  bool is_taken(int j, const ControlMode& mode) const {
    return !rows_[static_cast<std::size_t>(j)].one_sided || mode.held[static_cast<std::size_t>(j)];
  }
  double cost(int i, int k) const { return actuators_ > 0 ? R_[i * columns_ + k] : G_[i * columns_ + k]; }

  int columns_ = 0, actuators_ = 0, num_stages_ = 0, num_free_ = 0;
  bool limited_ = false, weighs_ = false;
  int missed_ = -1;  // the first stage that is missed, as far as rows and efforts tell; −1: none
  std::vector<Row> rows_;
  std::vector<char> has_low_, has_high_;
  const double *G_ = nullptr, *r_ = nullptr, *size_ = nullptr, *R_ = nullptr, *weight_ = nullptr;
  std::vector<double> low_, high_, tau_, pulls_, mu_, L_, W_, S_, v_, c_, left_;
  std::vector<int> free_, taken_;
};

}  // namespace mechanician
