#pragma once

/// Zeros of scalar functions of time on one step: where events happen and expressions switch.
///
/// A root is a change of sign. All functions are sampled together at the ends of the step and at Chebyshev nodes in
/// between. Where the samples cannot show it (a pair of roots between two nodes), the polynomial through the samples of
/// a function can: its sign runs are separated by subdivision in Bernstein form, at no evaluation, and a run that no
/// sample confirms is confirmed by one. Functions that the polynomial does not resolve are searched for dips at their
/// local minima. Each change of sign is then located by inverse quadratic interpolation, safeguarded by bisection
/// (Chandrupatla), which also closes in on jumps. A touch without change of sign is no root.
///
/// Cost: `samples` + 1 evaluations where nothing happens, about 8 more for each root; no allocation once warm.

#include <cmath>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace mechanician {

/// Refers to a callable void(double t, std::span<double> values) that fills the values of all functions at t.
class RootFunctions {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, RootFunctions>)
      RootFunctions(F&& f)  // NOLINT(google-explicit-constructor): stands for the callable during one call
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, double t, std::span<double> values) {
          (*static_cast<std::remove_reference_t<F>*>(object))(t, values);
        }) {}
  void operator()(double t, std::span<double> values) const { call_(object_, t, values); }

 private:
  void* object_;
  void (*call_)(void*, double, std::span<double>);
};

struct Root {
  double t;
  int function;
  int direction;  ///< +1 up, −1 down
};

/// One step, t0 < t1, and what is known of the functions on it.
struct RootStep {
  double t0, t1;
  /// Values at t0. Their signs are the sides that the functions are on, also below `floor`: after a root at t0 give |g|
  /// with the sign of the new side, and it is not found again. 0 and NaN: on no side yet; taking one is no root.
  std::span<const double> begin;
  /// Values at t1. Empty: they are evaluated.
  std::span<const double> end = {};
  /// |g| up to here is rounding: a change of sign counts once |g| is larger on the far side. Empty: zeros.
  std::span<const double> floor = {};
  double time_tolerance = 0.0;  ///< absolute; what is cheap to have beyond it is had, up to the rounding of t
};

/// Whether a function jumps where it changes its sign, from its values there and shortly before: by far more than it changed on
/// the way.
inline bool is_jump(double earlier, double before, double after, double noise) {
  return std::abs(after - before) > 1e3 * std::abs(before - earlier) + 10.0 * noise;
}

class RootFinder {
 public:
  /// `samples` nodes inside a step, 1 to 20.
  explicit RootFinder(int num_functions, int samples = 8);
  ~RootFinder();
  RootFinder(RootFinder&&) noexcept;
  RootFinder& operator=(RootFinder&&) noexcept;

  /// All roots in (t0, t1], by time. At the time given the function is zero or has its new sign; at most the tolerance
  /// earlier it has the old one. Values that are not numbers have no sign: a change across them is found where the new
  /// sign appears. Zero at t1 is no change yet: it is found on the next step. Valid until the next call.
  std::span<const Root> find_all(const RootStep& step, RootFunctions evaluate);
  /// The first of all functions; cheaper.
  std::optional<Root> find_first(const RootStep& step, RootFunctions evaluate);

  /// After find_first with a root: the values of all functions there (others may have turned at the same time).
  std::span<const double> at_root() const;
  /// Values at t1 with the signs of the sides that the functions are on there: `begin` of the next step.
  std::span<const double> end() const;
  /// Calls of the functions since construction.
  long evaluations() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mechanician
