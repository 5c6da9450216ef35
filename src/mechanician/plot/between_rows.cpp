#include "mechanician/plot/between_rows.hpp"

#include <algorithm>
#include <cmath>

namespace mechanician {

namespace {

constexpr double tolerance = 1e-4;  // of the range of a column: some 0.03 pixels
constexpr int most_parts = 50;
constexpr std::size_t many_rows = 20000;  // so many lie closer than pixels

/// The columns of a pair, seen as intervals between rows.
class Pair {
 public:
  Pair(const std::vector<std::vector<double>>& columns, std::size_t time, DerivativePair pair)
      : t_(columns[time]), y_(columns[pair.value]), d_(columns[pair.derivative]) {
    double low = INFINITY, high = -INFINITY;
    for (const double y : y_)
      if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
    range_ = high - low;
  }

  /// How far the cubic of interval i may be from the chord, over the range; 0 where the chord is drawn.
  double deviation(std::size_t i, const std::vector<char>& jump) const {
    const double far = distance(i);
    return is_curved(far) && agrees(i, jump) ? far / range_ : 0.0;
  }

  /// Whether the one column is the derivative of the other: not, if it disagrees at one curved interval in five.
  bool belongs(const std::vector<char>& jump) const {
    std::size_t curved = 0, wrong = 0;
    for (std::size_t i = 0; i + 1 < t_.size(); ++i) {
      if (jump[i] || !(t_[i + 1] > t_[i]) || !is_curved(distance(i))) continue;
      ++curved;
      wrong += !agrees(i, jump);
    }
    return 5 * wrong <= curved;
  }

  double cubic(std::size_t i, double s) const {
    const double h = t_[i + 1] - t_[i], r = 1 - s;
    return r * r * (1 + 2 * s) * y_[i] + s * s * (1 + 2 * r) * y_[i + 1] + h * s * r * (r * d_[i] - s * d_[i + 1]);
  }

 private:
  /// The mean of the derivatives less the slope of the chord.
  double misfit(std::size_t i) const {
    return std::abs((d_[i] + d_[i + 1]) / 2 - (y_[i + 1] - y_[i]) / (t_[i + 1] - t_[i]));
  }
  /// A bound for the distance of the cubic from the chord: h²/8 of its second derivative, which is largest at an end.
  double distance(std::size_t i) const {
    const double h = t_[i + 1] - t_[i], slope = (y_[i + 1] - y_[i]) / h;
    return h / 8 *
           std::max(std::abs(6 * slope - 4 * d_[i] - 2 * d_[i + 1]), std::abs(6 * slope - 2 * d_[i] - 4 * d_[i + 1]));
  }
  bool is_curved(double far) const { return std::isfinite(far) && far > tolerance * range_; }

  /// For a smooth motion the misfit is h²/12 of the third derivative: little beside how the derivatives change, here or
  /// in the intervals beside it. Where a derivative is wrong at one end, it is half of that change.
  bool agrees(std::size_t i, const std::vector<char>& jump) const {
    double change = std::abs(d_[i + 1] - d_[i]);
    if (i > 0 && !jump[i - 1]) change = larger(change, d_[i] - d_[i - 1]);
    if (i + 2 < t_.size() && !jump[i + 1]) change = larger(change, d_[i + 2] - d_[i + 1]);
    return misfit(i) <= 0.25 * change;
  }

  static double larger(double a, double b) { return std::isfinite(b) ? std::max(a, std::abs(b)) : a; }
  const std::vector<double>&t_, &y_, &d_;
  double range_ = 0.0;
};

}  // namespace

std::vector<char> add_rows_between(std::vector<std::vector<double>>& columns, std::size_t time,
                                   std::span<const DerivativePair> pairs, std::vector<char>& jump) {
  const std::size_t n = columns[time].size();
  if (n > many_rows || pairs.empty()) return std::vector<char>(n, 0);
  std::vector<Pair> curves;
  std::vector<std::size_t> values;
  for (const DerivativePair& pair : pairs) {
    const Pair curve(columns, time, pair);
    if (!curve.belongs(jump)) continue;
    curves.push_back(curve);
    values.push_back(pair.value);
  }
  std::vector<std::vector<double>> all(columns.size());
  std::vector<char> added, all_jump;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c) all[c].push_back(columns[c][i]);
    added.push_back(0);
    all_jump.push_back(jump[i]);
    if (i + 1 == n || jump[i] || !(columns[time][i + 1] > columns[time][i])) continue;
    // A chord of a k-th of the interval is off by a k²-th.
    std::vector<char> curved(curves.size(), 0);
    int parts = 1;
    for (std::size_t k = 0; k < curves.size(); ++k) {
      const double far = curves[k].deviation(i, jump);
      if (!(far > 0)) continue;
      curved[k] = 1;
      parts = std::max(parts, static_cast<int>(std::min<double>(most_parts, std::ceil(std::sqrt(far / tolerance)))));
    }
    for (int part = 1; part < parts; ++part) {
      const double s = static_cast<double>(part) / parts;
      for (std::size_t c = 0; c < columns.size(); ++c)
        all[c].push_back(columns[c][i] + s * (columns[c][i + 1] - columns[c][i]));
      for (std::size_t k = 0; k < curves.size(); ++k)
        if (curved[k]) all[values[k]].back() = curves[k].cubic(i, s);
      added.push_back(1);
      all_jump.push_back(0);
    }
  }
  columns = std::move(all);
  jump = std::move(all_jump);
  return added;
}

}  // namespace mechanician
