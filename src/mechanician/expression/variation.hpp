#pragma once

/// How fast expressions can vary where their symbols lie between bounds: what a few samples between these bounds may not show.
///
/// exp(−((x − 50)/w)²) is nothing everywhere but near x = 50, and samples that all miss that place know nothing of it. Bounds
/// do (interval.hpp): the argument of exp varies by far more than 1 between samples, and its value is not next to nothing.
///
/// A function is seen by samples where it goes through few turns between them: exp by its argument, what stands below a
/// fraction line by its logarithm, atan by that of large arguments. What goes through more may do anything within the bounds of
/// its value, and what is made of it may vary, unseen, by as much as bounds of the derivatives tell.

#include <algorithm>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "mechanician/expression/expression.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

/// By which samples: the stages of a step, three over a piece of one, none. Where equations have kinks, steps end; of what stands outside of them,
/// as gaps that are open, no samples show what is at a kink between them.
enum class SeenBy { by_step, by_piece, by_nothing, but_kinks_by_step, but_kinks_by_piece };
/// Turns that they show.
inline constexpr double turns_shown(SeenBy shown) {
  switch (shown) {
    case SeenBy::by_step:
    case SeenBy::but_kinks_by_step:
      return 8.0;
    case SeenBy::by_piece:
    case SeenBy::but_kinks_by_piece:
      return 1.5;
    case SeenBy::by_nothing:
      break;
  }
  return 0.0;
}
inline constexpr bool shows_kinks(SeenBy shown) { return shown == SeenBy::by_step || shown == SeenBy::by_piece; }
/// Powers up to this are polynomials, which are as smooth as what they are made of.
inline constexpr double most_smooth_power = 16.0;

/// How many turns op(a, b) goes through between bounds; infinite at poles. 0 of operators that are never narrow by themselves.
double calc_turns(Op op, const Interval& a, const Interval& b, const Interval& c);

/// Whether an expression by itself, apart from what it is made of, can go through turns along a motion: `exp(x)`, `1/x`, `tanh(x)`, but neither
/// sin(x), which shows everywhere, nor powers from 0 to `most_power`. With `bends` also what only bends where it is fast: roots, angles.
bool is_narrow(const Expr& f, double most_power = most_smooth_power, bool bends = true);

/// The narrow functions in expressions, each once.
class NarrowFunctions {
 public:
  NarrowFunctions() = default;
  /// Functions of any of the kinds of symbols in `unknown` are left out: nothing bounds their arguments.
  explicit NarrowFunctions(std::span<const Expr> expressions, KindSet unknown = 0);

  bool any() const { return !uses_.empty(); }
  /// What they are functions of, to be bounded.
  const std::vector<Expr>& arguments() const { return arguments_; }
  /// Whether one goes through more turns than the samples of a step show.
  bool vary_fast(std::span<const Interval> bounds) const {
    for (const Use& use : uses_)
      if (!(calc_turns(use.op, bounds[use.a], bounds[use.b], bounds[use.c]) <= turns_shown(SeenBy::by_step)))
        return true;
    return false;
  }

 private:
  struct Use {
    Op op;
    std::size_t a, b, c;
  };
  std::vector<Expr> arguments_;
  std::vector<Use> uses_;
};

/// Bounds of an expression, and by how much it may vary unseen within them: evaluate_operator for both, so that a Tape runs on them.
template <SeenBy shown>
struct Varying {
  Interval range;
  double unseen = 0.0;

  Varying() = default;
  explicit Varying(double x) : range(x) {}
  explicit Varying(const Interval& bounds) : range(bounds) {}
};
/// What op(a, b, c) of such arguments varies unseen by.
double calc_unseen(Op op, const Interval& value, const Interval (&args)[3], const double (&unseen)[3], SeenBy shown);

template <SeenBy shown>
Varying<shown> vary(Op op, const Varying<shown>& a, const Varying<shown>& b, const Varying<shown>& c) {
  Varying<shown> f;
  f.range = evaluate_operator<Interval>(op, a.range, b.range, c.range);
  f.unseen = calc_unseen(op, f.range, {a.range, b.range, c.range}, {a.unseen, b.unseen, c.unseen}, shown);
  return f;
}
template <class T>
inline constexpr bool is_variation = false;
template <SeenBy shown>
inline constexpr bool is_variation<Varying<shown>> = true;
template <class T>
requires is_variation<T> T evaluate_operator(Op op, const T& a, const T& b, const T& c) { return vary(op, a, b, c); }
/// Calls f with a number of the kind that `shown` says.
template <class F>
void with_variation(SeenBy shown, F&& f) {
  switch (shown) {
    case SeenBy::by_step:
      return f(Varying<SeenBy::by_step>());
    case SeenBy::by_piece:
      return f(Varying<SeenBy::by_piece>());
    case SeenBy::by_nothing:
      return f(Varying<SeenBy::by_nothing>());
    case SeenBy::but_kinks_by_step:
      return f(Varying<SeenBy::but_kinks_by_step>());
    case SeenBy::but_kinks_by_piece:
      return f(Varying<SeenBy::but_kinks_by_piece>());
  }
}

/// Tapes on boxes, with room that is kept: [inputs | registers | values] for each kind of numbers.
class BoxRoom {
 public:
  template <class T>
  std::span<const T> evaluate(const Tape& tape, std::span<const Interval> box) {
    const auto inputs = static_cast<std::size_t>(tape.num_inputs()),
               registers = static_cast<std::size_t>(tape.num_registers()),
               values = static_cast<std::size_t>(tape.num_outputs());
    std::vector<T>& all = std::get<std::vector<T>>(room_);
    all.resize(inputs + registers + values);
    const std::span<T> room(all);
    if constexpr (std::is_same_v<T, Interval>) {
      tape.evaluate<T>(box.first(inputs), room.subspan(inputs, registers), room.last(values));
    } else {
      std::transform(box.begin(), box.begin() + tape.num_inputs(), all.begin(), [](const Interval& x) { return T(x); });
      tape.evaluate<T>(room.first(inputs), room.subspan(inputs, registers), room.last(values));
    }
    return room.last(values);
  }

 private:
  std::tuple<std::vector<Interval>, std::vector<Varying<SeenBy::by_step>>, std::vector<Varying<SeenBy::by_piece>>,
             std::vector<Varying<SeenBy::by_nothing>>, std::vector<Varying<SeenBy::but_kinks_by_step>>,
             std::vector<Varying<SeenBy::but_kinks_by_piece>>>
      room_;
};

/// By how much the numbers of the equations of motion may vary unseen, in the order of their patterns (solve/sparse_pattern.hpp).
struct UnseenValues {
  std::vector<double> M, Q, A, b;
  std::vector<double> size_of_A;  ///< largest, of entries that are not constant; 0 of others
  double friction = 0.0;          ///< of coefficients
};

}  // namespace mechanician
