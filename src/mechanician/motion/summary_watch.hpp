#pragma once

/// What [summary] asks of a whole motion, followed step by step on its dense output.
///
///     watch.look(step);     // after each accepted step
///     watch.values()        // of the motion so far
///
/// A step is cut into pieces on which every quantity f(t) is a polynomial as far as rounding can tell: its values at 17
/// points of Chebyshev say so by the size of its last coefficients. A kink or a jump is cut out to where it counts no
/// more, its two sides apart. On a piece
///
///     ∫ f dt, ∫ f² dt    are sums over the points (Clenshaw and Curtis),
///     max f, min f       are at its ends or where the derivative of the polynomial vanishes; f is evaluated there.
///
/// What all points miss is told by bounds of the quantities over the piece, where these are known (expression/variation.hpp).
///
/// A time of a maximum is the first at which it is reached up to the tolerance, so that rounding does not choose between
/// equal peaks. Deterministic: what a look finds depends on the step and on what was found before, which a checkpoint holds.

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/expression/interval.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

class SummaryWatch {
 public:
  /// Quantity k of what is sampled belongs to item k. `from`: times from which on items are looked at; empty: all from the start on.
  SummaryWatch(std::vector<SummaryItem> items, double start, double tolerance, std::vector<double> from = {});

  /// f(t) of all quantities, at a time of the step [begin, end].
  using Values = std::function<void(double t, std::span<double> f)>;
  /// Bounds between two times, and by how much f may vary there without 17 points showing it. May be empty.
  struct Unseen {
    Interval range;
    double by = 0.0;
  };
  using Bounds = std::function<void(double begin, double end, std::span<Unseen> f)>;
  void look(double begin, double end, const Values& values, const Bounds& bounds = {});
  std::vector<SummaryValue> values() const;
  /// What to tell the user, each once: quantities without a value.
  std::vector<std::string> take_notes();

  /// For checkpoints.
  std::size_t num_numbers() const { return kept_.size() * numbers_of_one + 1; }
  void save(std::vector<double>& to) const;
  void restore(std::span<const double> from);

 private:
  static constexpr int degree = 16;
  struct Extreme {
    double value, time, time_value;  ///< time_value: what was there; value may be a little more
  };
  struct Kept {
    Extreme most, least;
    double integral = 0.0, square = 0.0, lost_integral = 0.0, lost_square = 0.0;  ///< with what rounding took away
    double size = 0.0;                                                            ///< largest |f|
    double missing = 0.0;                                                         ///< 1: it had no value somewhere
    double unresolved = 0.0;  ///< 1: it varied faster than could be followed
  };
  static constexpr std::size_t numbers_of_one = 13;
  template <class Do>
  static void each_number(Kept& kept, Do&& number);

  /// f of all quantities at the points of a piece, from its begin to its end.
  struct Piece {
    double begin, end;
    std::vector<double> f;     ///< (degree + 1) × quantities
    std::vector<double> tail;  ///< of a piece that it was cut from, by quantity
    std::vector<int> cuts;     ///< how many since
    int depth = 0;
    std::vector<double> missed = {};  ///< by quantity: what its points may not show
    std::vector<char> rough = {};     ///< by quantity: a polynomial shows it only up to errors of the motion, or a kink
  };
  template <class Good, class Take>
  void cut(std::vector<Piece> waiting, const Values& values, Good&& good, Take&& take_piece);
  void look_at(double begin, double end, const Values& values, const Bounds& bounds);
  void sample(Piece& piece, const Values& values, const Piece* from);
  bool is_resolved(Piece& piece, double whole);
  bool is_seen(Piece& piece, double whole, const Bounds& bounds);
  void take(const Piece& piece, const Values& values);
  void doubt(const Piece& piece);
  void see(std::size_t k, double time, double value);
  void find_extremes(std::size_t k, const Piece& piece, const Values& values);
  void climb(std::size_t k, const Piece& piece, double sign, const Values& values);

  std::vector<SummaryItem> items_;
  double tolerance_, end_;
  std::vector<double> from_;
  std::vector<Kept> kept_;
  std::vector<double> now_;  ///< at one time
  std::vector<Unseen> unseen_;
  std::vector<std::string> notes_;
};

}  // namespace mechanician
