#pragma once

/// An axis: its range, its ticks at round numbers, their labels.
///
/// Labels are short: a power of ten that they have in common, and a constant that they share, are taken out and stand
/// once at the end of the axis. value = (label · 10^exponent) + offset.

#include <string>
#include <vector>

namespace mechanician {

struct Range {
  double low = 0.0, high = 0.0;
  double size() const { return high - low; }
};

/// Text in pieces, of which some are raised: 10 with an exponent.
struct TextRun {
  std::string text;
  bool raised = false;
};
using RichText = std::vector<TextRun>;

struct Tick {
  double value = 0.0;
  RichText label;
};

struct Axis {
  Range range;
  bool log = false;
  std::vector<Tick> ticks;
  std::vector<double> minor;  ///< values of ticks without labels
  RichText factor;            ///< "×10⁻⁹ + 19.62"; empty: labels are the values

  /// From 0 at range.low to 1 at range.high.
  double place(double value) const;
};

/// The smallest range that holds all finite values (for log: all positive ones); nothing found: low > high.
class RangeFinder {
 public:
  explicit RangeFinder(bool log) : log_(log) {}
  void add(double value);
  bool empty() const { return !(range_.low <= range_.high); }
  Range range() const { return range_; }

 private:
  Range range_{1.0, 0.0};
  bool log_, any_ = false;
};

/// A range that can be drawn: one of no size is widened, `margin` (a part of its size) is added at both ends.
Range widened(Range range, bool log, double margin);

/// Ticks for this range, at most about `most` of them.
Axis make_axis(Range range, bool log, int most);

/// A number for labels: with a proper minus sign.
std::string signed_number(double value, int decimals);

}  // namespace mechanician
