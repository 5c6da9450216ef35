#include "mechanician/motion/summary_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr int N = 16;  // of the polynomials
constexpr double eps = std::numeric_limits<double>::epsilon(), infinity = std::numeric_limits<double>::infinity();

/// Coefficients at the end of a series that are this small beside the largest value do not count.
constexpr double resolved = 1e-12;
/// Values of a motion have errors that no cut makes smaller: where the end of a series is this small and cuts leave it as
/// it was, it is they that are seen. At a kink it halves with each, and three make an eighth of it.
constexpr double may_be_noise = 1e-9, as_it_was = 0.35;
constexpr int cuts_to_tell = 3;
constexpr int deepest = 60;
constexpr std::size_t most_pieces =
    200;  ///< of one step: a kink takes some forty, and rounding as many as there may be

/// The points of Chebyshev on [−1, 1], from −1 to 1, the weights of Clenshaw and Curtis, cosines for coefficients.
struct Points {
  std::array<double, N + 1> x{}, weight{};
  std::array<std::array<double, N + 1>, N + 1> cosine{};  ///< [k][j] = T_k(x_j)

  Points() {
    for (int j = 0; j <= N; ++j) x[static_cast<std::size_t>(j)] = -std::cos(std::numbers::pi * j / N);
    x[0] = -1.0, x[N] = 1.0, x[N / 2] = 0.0;
    for (int k = 0; k <= N; ++k)
      for (int j = 0; j <= N; ++j)
        cosine[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)] = std::cos(std::numbers::pi * k * (N - j) / N);
    // ∫ T_k = 2/(1 − k²) for even k; coefficients are sums over the points, ends halved.
    for (int j = 0; j <= N; ++j) {
      double w = 0.0;
      for (int k = 0; k <= N; k += 2)
        w += (k == 0 || k == N ? 1.0 : 2.0) / N * 2.0 / (1.0 - k * k) *
             cosine[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)];
      weight[static_cast<std::size_t>(j)] = j == 0 || j == N ? 0.5 * w : w;
    }
  }
};
const Points& points() {
  static const Points made;
  return made;
}

using Series = std::array<double, N + 1>;

/// Coefficients of T_k from values at the points.
template <class F>
Series coefficients_of(F&& f) {
  const Points& p = points();
  Series a{};
  for (std::size_t k = 0; k <= N; ++k) {
    double sum = 0.0;
    for (std::size_t j = 0; j <= N; ++j) sum += (j == 0 || j == N ? 0.5 : 1.0) * f(j) * p.cosine[k][j];
    a[k] = (k == 0 || k == N ? 1.0 : 2.0) / N * sum;
  }
  return a;
}

/// Clenshaw's sum.
double value_of(const Series& a, double x) {
  double b1 = 0.0, b2 = 0.0;
  for (std::size_t k = N; k >= 1; --k) {
    const double b = a[k] + 2.0 * x * b1 - b2;
    b2 = b1, b1 = b;
  }
  return a[0] + x * b1 - b2;
}

Series derivative_of(const Series& a) {
  Series d{};
  double next = 0.0, after = 0.0;  // d_{k+1}, d_{k+2}
  for (std::size_t k = N; k >= 1; --k) {
    const double now = after + 2.0 * static_cast<double>(k) * a[k];
    after = next, next = now;
    d[k - 1] = now;
  }
  d[0] *= 0.5;
  return d;
}

/// ∫ T_i T_j = 1/(1 − (i + j)²) + 1/(1 − (i − j)²) where i + j is even.
double integral_of_square(const Series& a) {
  double sum = 0.0;
  for (int i = 0; i <= N; ++i)
    for (int j = i % 2; j <= N; j += 2)
      sum += a[static_cast<std::size_t>(i)] * a[static_cast<std::size_t>(j)] *
             (1.0 / (1.0 - (i + j) * (i + j)) + 1.0 / (1.0 - (i - j) * (i - j)));
  return sum;
}

/// Sum with the rounding of what was added before.
void add(double& sum, double& lost, double more) {
  const double y = more - lost, t = sum + y;
  lost = (t - sum) - y;
  sum = t;
}

std::size_t at(int j, std::size_t count, std::size_t k) { return static_cast<std::size_t>(j) * count + k; }

}  // namespace

SummaryWatch::SummaryWatch(std::vector<SummaryItem> items, double start, double tolerance, std::vector<double> from)
    : items_(std::move(items)), tolerance_(tolerance), end_(start), from_(std::move(from)), now_(items_.size()) {
  from_.resize(items_.size(), start);
  static_assert(degree == N);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  kept_.resize(items_.size());
  for (Kept& k : kept_) k.most = {-infinity, none, -infinity}, k.least = {infinity, none, infinity};
}

template <class Do>
void SummaryWatch::each_number(Kept& k, Do&& number) {
  number(k.most.value), number(k.most.time), number(k.most.time_value);
  number(k.least.value), number(k.least.time), number(k.least.time_value);
  number(k.integral), number(k.square), number(k.lost_integral), number(k.lost_square);
  number(k.size), number(k.missing), number(k.unresolved);
}

void SummaryWatch::save(std::vector<double>& to) const {
  to.push_back(end_);
  for (Kept k : kept_) each_number(k, [&](double& x) { to.push_back(x); });
}

void SummaryWatch::restore(std::span<const double> from) {
  if (from.size() != num_numbers()) throw std::invalid_argument("the checkpoint does not fit the [summary]");
  std::size_t next = 0;
  end_ = from[next++];
  for (Kept& k : kept_) each_number(k, [&](double& x) { x = from[next++]; });
}

std::vector<std::string> SummaryWatch::take_notes() { return std::exchange(notes_, {}); }

void SummaryWatch::see(std::size_t k, double time, double value) {
  Kept& kept = kept_[k];
  kept.size = std::max(kept.size, std::abs(value));
  const double more = tolerance_ * kept.size;
  if (value > kept.most.value) kept.most.value = value;
  if (value > kept.most.time_value + more || std::isnan(kept.most.time))
    kept.most.time = time, kept.most.time_value = value;
  if (value < kept.least.value) kept.least.value = value;
  if (value < kept.least.time_value - more || std::isnan(kept.least.time))
    kept.least.time = time, kept.least.time_value = value;
}

void SummaryWatch::sample(Piece& piece, const Values& values, const Piece* from) {
  const std::size_t count = items_.size();
  piece.f.resize((N + 1) * count);
  const double middle = 0.5 * (piece.begin + piece.end), half = 0.5 * (piece.end - piece.begin);
  for (int j = 0; j <= N; ++j) {
    const std::span<double> to(piece.f.data() + at(j, count, 0), count);
    // Ends that another piece has been to already.
    if (from && j == 0 && piece.begin == from->begin) {
      std::copy_n(from->f.begin(), count, to.begin());
      continue;
    }
    if (from && j == N && piece.end == from->end) {
      std::copy_n(from->f.end() - static_cast<std::ptrdiff_t>(count), count, to.begin());
      continue;
    }
    const double time =
        j == 0   ? piece.begin
        : j == N ? piece.end
                 : std::clamp(middle + half * points().x[static_cast<std::size_t>(j)], piece.begin, piece.end);
    values(time, to);
    for (std::size_t k = 0; k < count; ++k) {
      if (piece.begin < from_[k]) continue;
      if (std::isfinite(to[k])) kept_[k].size = std::max(kept_[k].size, std::abs(to[k]));
      if (std::isfinite(to[k]) || kept_[k].missing != 0.0) continue;
      kept_[k].missing = 1.0;
      notes_.push_back(fmt::format("[summary] `{}`: the quantity has no value at t = {}, and so this has none",
                                   items_[k].name, short_number(time)));
    }
  }
}

/// Whether polynomials are what the quantities are on a piece, as far as that counts in a step of length `whole`.
bool SummaryWatch::is_resolved(Piece& piece, double whole) {
  const std::size_t count = items_.size();
  std::vector<double> tails(count, 0.0);
  bool good = true;
  piece.cuts.resize(count, 0);
  piece.rough.assign(count, 0);
  for (std::size_t k = 0; k < count; ++k) {
    if (kept_[k].missing != 0.0 || piece.begin < from_[k]) continue;
    const Series a = coefficients_of([&](std::size_t j) { return piece.f[at(static_cast<int>(j), count, k)]; });
    double size = kept_[k].size;
    for (int j = 0; j <= N; ++j) size = std::max(size, std::abs(piece.f[at(j, count, k)]));
    double tail = 0.0;
    for (std::size_t i = N - 2; i <= N; ++i) tail = std::max(tail, std::abs(a[i]));
    tails[k] = tail;
    if (tail <= resolved * size) continue;
    piece.rough[k] = 1;
    const bool can_tell = !piece.tail.empty() && piece.cuts[k] >= cuts_to_tell;
    if (can_tell && tail > as_it_was * piece.tail[k] && tail <= std::max(may_be_noise, tolerance_) * size) continue;
    if (!piece.tail.empty() && !can_tell) tails[k] = piece.tail[k], ++piece.cuts[k];
    if (piece.tail.empty() || can_tell) piece.cuts[k] = 1;
    // For sums what matters is the area.
    const SummaryKind kind = items_[k].kind;
    const bool is_sum = kind == SummaryKind::mean || kind == SummaryKind::rms || kind == SummaryKind::integral;
    if (is_sum && tail * (piece.end - piece.begin) <= resolved * size * whole) continue;
    // What could not be followed once, and was said, is rounding of something that is zero, or as good as that.
    constexpr int enough = 4;
    if (kept_[k].unresolved != 0.0 && piece.depth >= enough) continue;
    good = false;
  }
  piece.tail = std::move(tails);
  return good;
}

/// Whether what points may have missed is nothing: for sums by its area, for extremes by how far it may lie beyond what is known.
bool SummaryWatch::is_seen(Piece& piece, double whole, const Bounds& bounds) {
  const std::size_t count = items_.size();
  unseen_.assign(count, {});
  piece.missed.assign(count, 0.0);
  bounds(piece.begin, piece.end, unseen_);
  bool seen = true;
  for (std::size_t k = 0; k < count; ++k) {
    const Kept& kept = kept_[k];
    if (kept.missing != 0.0 || kept.unresolved != 0.0 || piece.begin < from_[k]) continue;
    const auto& [range, by] = unseen_[k];
    double most = kept.most.value, least = kept.least.value;
    for (int j = 0; j <= N; ++j) {
      const double f = piece.f[at(j, count, k)];
      most = std::max(most, f), least = std::min(least, f);
    }
    const double size = std::max({kept.size, std::abs(most), std::abs(least), by});
    double missed = by;
    switch (items_[k].kind) {
      case SummaryKind::max:
      case SummaryKind::time_of_max:
        missed = std::min(by, range.high - most);
        break;
      case SummaryKind::min:
      case SummaryKind::time_of_min:
        missed = std::min(by, least - range.low);
        break;
      case SummaryKind::mean:
      case SummaryKind::rms:
      case SummaryKind::integral:
        missed = by * (piece.end - piece.begin) / whole;
        break;
    }
    if (missed <= resolved * size) continue;
    piece.missed[k] = missed;
    seen = false;
  }
  return seen;
}

void SummaryWatch::doubt(const Piece& piece) {
  for (std::size_t k = 0; k < items_.size(); ++k) {
    const double off = std::max(piece.tail.empty() ? 0.0 : piece.tail[k], piece.missed.empty() ? 0.0 : piece.missed[k]);
    if (kept_[k].unresolved != 0.0 || kept_[k].missing != 0.0 || !(off > resolved * kept_[k].size)) continue;
    kept_[k].unresolved = 1.0;
    notes_.push_back(
        fmt::format("[summary] `{}`: the quantity varies so fast near t = {} that it is only known there up to {}",
                    items_[k].name, short_number(piece.begin), short_number(off)));
  }
}

void SummaryWatch::find_extremes(std::size_t k, const Piece& piece, const Values& values) {
  const std::size_t count = items_.size();
  const auto f = [&](std::size_t j) { return piece.f[at(static_cast<int>(j), count, k)]; };
  const SummaryKind kind = items_[k].kind;
  const bool wants_most = kind == SummaryKind::max || kind == SummaryKind::time_of_max,
             wants_least = kind == SummaryKind::min || kind == SummaryKind::time_of_min;
  if (!wants_most && !wants_least) return;
  const double sign = wants_most ? 1.0 : -1.0;
  const Series a = coefficients_of([&](std::size_t j) { return sign * f(j); });
  // No value lies beyond the largest at a point by more than a part of what the values differ by.
  double most = -infinity, least = infinity;
  for (std::size_t j = 0; j <= N; ++j) most = std::max(most, sign * f(j)), least = std::min(least, sign * f(j));
  const double known = wants_most ? kept_[k].most.time_value : -kept_[k].least.time_value;
  if (most + 0.1 * (most - least) < known) return;
  if (piece.rough[k]) return climb(k, piece, sign, values);
  const Series d = derivative_of(a);
  constexpr int grid = 4 * N;
  const auto place = [](int i) { return -std::cos(std::numbers::pi * i / grid); };
  const double middle = 0.5 * (piece.begin + piece.end), half = 0.5 * (piece.end - piece.begin);
  double left = -1.0, at_left = value_of(d, left);
  for (int i = 1; i <= grid; ++i) {
    const double right = i == grid ? 1.0 : place(i), at_right = value_of(d, right);
    if (at_left > 0.0 && at_right <= 0.0) {
      double lo = left, hi = right;
      for (int n = 0; n < 60 && hi - lo > 2.0 * eps; ++n) {
        const double mid = 0.5 * (lo + hi);
        (value_of(d, mid) > 0.0 ? lo : hi) = mid;
      }
      const double x = 0.5 * (lo + hi);
      if (value_of(a, x) > known - tolerance_ * kept_[k].size) {
        const double time = std::clamp(middle + half * x, piece.begin, piece.end);
        values(time, now_);
        if (std::isfinite(now_[k])) see(k, time, now_[k]);
      }
    }
    left = right, at_left = at_right;
  }
}

/// Up to a kink between the points beside the highest one: by values alone, golden section.
void SummaryWatch::climb(std::size_t k, const Piece& piece, double sign, const Values& values) {
  constexpr double golden = 0.6180339887498949;
  const std::size_t count = items_.size();
  int best = 0;
  for (int j = 1; j <= N; ++j)
    if (sign * piece.f[at(j, count, k)] > sign * piece.f[at(best, count, k)]) best = j;
  const double middle = 0.5 * (piece.begin + piece.end), half = 0.5 * (piece.end - piece.begin);
  const auto time = [&](int j) { return middle + half * points().x[static_cast<std::size_t>(std::clamp(j, 0, N))]; };
  double low = std::clamp(time(best - 1), piece.begin, piece.end),
         high = std::clamp(time(best + 1), piece.begin, piece.end);
  const auto calc = [&](double t) {
    values(t, now_);
    if (!std::isfinite(now_[k])) return -infinity;
    see(k, t, now_[k]);
    return sign * now_[k];
  };
  double left = high - golden * (high - low), right = low + golden * (high - low), f_left = calc(left),
         f_right = calc(right);
  for (int n = 0; n < 60 && high - low > 4.0 * eps * std::max(std::abs(low), std::abs(high)); ++n) {
    if (f_left < f_right) {
      low = left, left = right, f_left = f_right, right = low + golden * (high - low), f_right = calc(right);
    } else {
      high = right, right = left, f_right = f_left, left = high - golden * (high - low), f_left = calc(left);
    }
  }
}

void SummaryWatch::take(const Piece& piece, const Values& values) {
  const std::size_t count = items_.size();
  const Points& p = points();
  const double half = 0.5 * (piece.end - piece.begin);
  for (std::size_t k = 0; k < count; ++k) {
    Kept& kept = kept_[k];
    if (kept.missing != 0.0 || piece.begin < from_[k]) continue;
    double sum = 0.0;
    for (std::size_t j = 0; j <= N; ++j) sum += p.weight[j] * piece.f[at(static_cast<int>(j), count, k)];
    add(kept.integral, kept.lost_integral, half * sum);
    if (items_[k].kind == SummaryKind::rms) {
      const Series a = coefficients_of([&](std::size_t j) { return piece.f[at(static_cast<int>(j), count, k)]; });
      add(kept.square, kept.lost_square, half * integral_of_square(a));
    }
    see(k, piece.begin, piece.f[at(0, count, k)]);
    find_extremes(k, piece, values);
    see(k, piece.end, piece.f[at(N, count, k)]);
  }
}

void SummaryWatch::look(double begin, double end, const Values& values, const Bounds& bounds) {
  if (!(end > begin) || items_.empty()) return;
  // Where an item begins, a piece does.
  double next = end;
  for (const double from : from_)
    if (from > begin) next = std::min(next, from);
  look_at(begin, next, values, bounds);
  if (next < end) look(next, end, values, bounds);
}

/// Pieces by time, each halved until it is `good`; the most that there may be come to `most` and those given.
template <class Good, class Take>
void SummaryWatch::cut(std::vector<Piece> waiting, const Values& values, Good&& good, Take&& take_piece) {
  const std::size_t most = waiting.size() + most_pieces;
  std::size_t pieces = waiting.size();
  std::reverse(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    Piece piece = std::move(waiting.back());
    waiting.pop_back();
    const double middle = 0.5 * (piece.begin + piece.end);
    const bool can_cut = middle > piece.begin && middle < piece.end && piece.depth < deepest && pieces < most;
    const bool is_good = good(piece);
    if (is_good || !can_cut) {
      if (!is_good && pieces >= most) doubt(piece);
      take_piece(std::move(piece));
      continue;
    }
    ++pieces;
    Piece second{middle, piece.end, {}, piece.tail, piece.cuts, piece.depth + 1};
    Piece first{piece.begin, middle, {}, piece.tail, piece.cuts, piece.depth + 1};
    sample(first, values, &piece);
    sample(second, values, &piece);
    waiting.push_back(std::move(second));
    waiting.push_back(std::move(first));
  }
}

void SummaryWatch::look_at(double begin, double end, const Values& values, const Bounds& bounds) {
  const double whole = end - begin;
  std::vector<Piece> pieces{{begin, end, {}, {}, {}, 0}};
  sample(pieces.back(), values, nullptr);
  // First until nothing is hidden: then it is known how large the quantities become, and on what little they are elsewhere no cut is lost.
  if (bounds) {
    std::vector<Piece> seen;
    cut(
        std::exchange(pieces, {}), values, [&](Piece& piece) { return is_seen(piece, whole, bounds); },
        [&](Piece&& piece) { seen.push_back(std::move(piece)); });
    pieces = std::move(seen);
    for (Piece& piece : pieces) piece.depth = 0;
  }
  cut(
      std::move(pieces), values, [&](Piece& piece) { return is_resolved(piece, whole); },
      [&](Piece&& piece) { take(piece, values); });
  end_ = end;
}

std::vector<SummaryValue> SummaryWatch::values() const {
  std::vector<SummaryValue> result;
  for (std::size_t k = 0; k < items_.size(); ++k) {
    const Kept& kept = kept_[k];
    const double time = end_ - from_[k];
    double value = std::numeric_limits<double>::quiet_NaN();
    if (kept.missing == 0.0 && time > 0.0) switch (items_[k].kind) {
        case SummaryKind::max:
          value = kept.most.value;
          break;
        case SummaryKind::min:
          value = kept.least.value;
          break;
        case SummaryKind::mean:
          value = kept.integral / time;
          break;
        case SummaryKind::rms:
          value = std::sqrt(std::max(kept.square, 0.0) / time);
          break;
        case SummaryKind::integral:
          value = kept.integral;
          break;
        case SummaryKind::time_of_max:
          value = kept.most.time;
          break;
        case SummaryKind::time_of_min:
          value = kept.least.time;
          break;
      }
    result.push_back({items_[k].name, value});
  }
  return result;
}

}  // namespace mechanician
