#pragma once

/// (I − γJ) δ = r, J = ∂f/∂y of the components that f depends on: what an implicit step solves in each Newton iteration.

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace mechanician {

class NewtonSystem {
 public:
  virtual ~NewtonSystem() = default;
  /// Takes J of a state, with f there. False where it has no value.
  virtual bool linearise(double t, std::span<const double> y, std::span<const double> dy) = 0;
  /// I − γJ with the last J. False where it is singular.
  virtual bool factor(double gamma) = 0;
  /// δ in the place of r.
  virtual void solve(std::span<double> r) = 0;
  /// What comes next does not depend on what was before.
  virtual void forget() {}
};

/// Dense, for any f: J by one-sided differences, `size` evaluations. q′ = q̇ is known of the first num_positions, but of those in
/// `by_rates`: f gives their rates, and their q̇ is no component of y.
class DifferenceNewton final : public NewtonSystem {
 public:
  /// f(t, y, dy): false where there is no value. dy may have more components than y.
  using Function = std::function<bool(double t, std::span<const double> y, std::span<double> dy)>;
  DifferenceNewton(int size, int num_positions, int num_rates, std::span<const int> by_rates, Function f);
  ~DifferenceNewton() override;
  bool linearise(double t, std::span<const double> y, std::span<const double> dy) override;
  bool factor(double gamma) override;
  void solve(std::span<double> r) override;

 private:
  struct Matrices;
  int num_positions_;
  std::vector<int> by_rates_;
  Function f_;
  std::vector<double> shifted_, shifted_dy_;
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace mechanician
