// Tables between bounds, and how fast they can vary there. See table_lookup.hpp, interval.hpp and variation.hpp.

#include <algorithm>
#include <cmath>

#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/table_content_internal.hpp"

namespace mechanician {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Pieces that are looked at one by one; of more the bounds of the whole table are taken.
constexpr std::size_t most_pieces = 64, most_cells = 64;
/// Points that are looked at to see whether a table is smooth.
constexpr std::size_t most_points = std::size_t{1} << 16;

void add(Interval& to, double x) { to = {std::min(to.low, x), std::max(to.high, x)}; }

}  // namespace

/// Of the polynomial of a piece, s from `from` to `to`: at the ends and where its slope is zero.
Interval TableContent::bound_piece(std::size_t piece, double from, double to, int order) const {
  Interval found(polynomial(piece, from, order));
  add(found, polynomial(piece, to, order));
  if (stride_ < 4 || order > 1) return found;
  const double* c = coefficients_.data() + piece * static_cast<std::size_t>(stride_);
  const auto inside = [&](double s) {
    if (s > from && s < to) add(found, polynomial(piece, s, order));
  };
  if (order == 1) {
    inside(-c[2] / (3.0 * c[3]));
    return found;
  }
  // c₁ + 2 c₂ s + 3 c₃ s² = 0
  const double root = c[2] * c[2] - 3.0 * c[1] * c[3];
  if (!(root >= 0.0)) return found;
  const double q = -(c[2] + std::copysign(std::sqrt(root), c[2]));
  inside(q / (3.0 * c[3])), inside(c[1] / q);
  return found;
}

/// The polynomial of a region, beyond its ends too.
Interval TableContent::bound_region(const Interval& x, const Region& region, bool fine, int order) const {
  const TableAxis& axis = axes_[0];
  const At low = locate_in(axis, x.low, region, fine), high = locate_in(axis, x.high, region, fine);
  if (low.zero) return Interval(0.0);
  if (low.constant) return Interval(order > 0 ? 0.0 : polynomial(low.piece, low.s, 0));
  if (low.piece == high.piece) return bound_piece(low.piece, low.s, high.s, order);
  // Between the first and the last point, and beyond.
  if (high.piece - low.piece > most_pieces) {
    Interval all = order < stride_
                       ? Interval(least_[static_cast<std::size_t>(order)], largest_[static_cast<std::size_t>(order)])
                       : Interval(0.0);
    all = Interval::hull(all, bound_piece(low.piece, low.s, std::max(low.s, axis.step(low.piece)), order));
    return Interval::hull(all, bound_piece(high.piece, std::min(0.0, high.s), high.s, order));
  }
  Interval all = bound_piece(low.piece, low.s, axis.step(low.piece), order);
  for (std::size_t k = low.piece + 1; k < high.piece; ++k)
    all = Interval::hull(all, bound_piece(k, 0.0, axis.step(k), order));
  return Interval::hull(all, bound_piece(high.piece, 0.0, high.s, order));
}

Interval TableContent::bound_axis(const Interval& x, const TableView& view) const {
  const TableAxis& axis = axes_[0];
  const int order = view.order_x;
  if (order >= stride_) return Interval(0.0);
  Interval everywhere(least_[static_cast<std::size_t>(order)], largest_[static_cast<std::size_t>(order)]);
  if (outside_ == Outside::zero || (outside_ == Outside::hold && order > 0)) add(everywhere, 0.0);
  Interval at = x;
  if (outside_ == Outside::error) {
    // As far as it has a value.
    if (!(x.high >= axis.first() && x.low <= axis.last())) return Interval::everything();
    at = {std::max(x.low, axis.first()), std::min(x.high, axis.last())};
  } else if (outside_ == Outside::periodic) {
    if (!(x.high - x.low < axis.period())) return view.side_x == 0 ? everywhere : Interval::everything();
  }
  const bool fine = view.fine || outside_ == Outside::periodic || outside_ == Outside::error || view.side_x == 0;
  const Region first = region_at(axis, at.low, fine), last = region_at(axis, at.high, fine);
  if (view.side_x == 0 && last.number - first.number > static_cast<long>(most_pieces)) return everywhere;
  if (view.side_x != 0 && last.number - first.number > static_cast<long>(most_pieces)) return Interval::everything();
  Interval all;
  bool any = false;
  for (long r = first.number - 1; r <= last.number + 1; ++r) {
    const bool held = view.side_x != 0 && (std::abs(r) % 2 == 0) == (view.side_x > 0);
    if (view.side_x != 0 ? !held : r < first.number || r > last.number) continue;
    const Regions known = regions(axis, fine);
    if (outside_ != Outside::periodic && (r < 0 || r > known.count)) continue;
    const Region region = make_region(axis, r, fine);
    // Where it is taken: in it, and up to the middle of the regions beside.
    double from = region.from, to = region.to;
    if (view.side_x != 0) {
      const auto reach = [&](long beside, bool below) {
        if (outside_ != Outside::periodic && (beside < 0 || beside > known.count))
          return below ? region.from : region.to;
        const Region other = make_region(axis, beside, fine);
        const double middle = 0.5 * (other.from + other.to);
        return std::isnan(middle) || std::isinf(middle) ? (below ? -infinity : infinity) : middle;
      };
      from = std::isfinite(region.from) ? reach(r - 1, true) : from;
      to = std::isfinite(region.to) ? reach(r + 1, false) : to;
    }
    const Interval part{std::max(at.low, from), std::min(at.high, to)};
    if (!(part.low <= part.high)) continue;
    const Interval bound = bound_region(part, region, fine, order);
    all = any ? Interval::hull(all, bound) : bound;
    any = true;
  }
  return any ? all : everywhere;
}

Interval TableContent::bound_guard(const TableAxis& axis, const Interval& x, int order, bool fine) const {
  if (!std::isfinite(x.low) || !std::isfinite(x.high)) return Interval::everything();
  const Region a = region_at(axis, x.low, fine), b = region_at(axis, x.high, fine);
  if (order > 2) return Interval(0.0);
  Interval all(guard(axis, x.low, order, fine));
  add(all, guard(axis, x.high, order, fine));
  const auto extremes = [&](const Region& r) {
    const double w = r.to - r.from;
    if (!std::isfinite(w)) return;
    const double middle = r.from + 0.5 * w;
    if (order == 0 && x.contains(middle)) add(all, guard(axis, middle, 0, fine));
    if (order > 0) all = Interval::hull(all, order == 1 ? Interval(-1.0, 1.0) : Interval(-2.0 / w, 2.0 / w));
  };
  if (a.number == b.number) {
    if (order == 0) extremes(a);
    return all;
  }
  if (b.number - a.number > static_cast<long>(most_pieces)) {
    const double w = x.high - x.low;
    return order == 2   ? Interval::everything()
           : order == 1 ? Interval(-1.0, 1.0)
                        : Interval(std::min(all.low, -w), std::max(all.high, w));
  }
  for (long r = a.number; r <= b.number; ++r) extremes(make_region(axis, r, fine));
  add(all, 0.0);
  return all;
}

namespace {
Interval sum(const Interval& a, const Interval& b) { return evaluate_operator<Interval>(Op::add, a, b, a); }
Interval product(const Interval& a, const Interval& b) { return evaluate_operator<Interval>(Op::mul, a, b, a); }
}  // namespace

/// A grid on a box: the polynomials of its cells in powers of both, each by the rule of Horner on intervals.
Interval TableContent::bound_grid(const Interval& x, const Interval& y, const TableView& view) const {
  const TableAxis &ax = axes_[0], &ay = axes_[1];
  const int orders = std::max(view.order_x, view.order_y);
  if (orders > degree()) return Interval(0.0);
  // Between two breaks what is held is the table itself. Else it goes on beyond its cell, by half a cell, or without end beyond the grid.
  const auto is_held_beyond = [&](const TableAxis& axis, const Interval& at, int side) {
    if (side == 0) return false;
    const Region low = region_at(axis, at.low, view.fine), high = region_at(axis, at.high, view.fine);
    return low.number != high.number || (low.number % 2 == 0) != (side > 0);
  };
  if (!std::isfinite(x.low) || !std::isfinite(x.high) || !std::isfinite(y.low) || !std::isfinite(y.high))
    return Interval::everything();
  const int side_x = is_held_beyond(ax, x, view.side_x) ? view.side_x : 0,
            side_y = is_held_beyond(ay, y, view.side_y) ? view.side_y : 0;
  struct Range {
    std::size_t first, last;
    bool outside;
    Interval inside;
  };
  const auto range_of = [&](const TableAxis& axis, const Interval& at, int side) -> Range {
    Interval in = at;
    bool outside = false;
    if (outside_ == Outside::periodic) {
      const double turn = std::floor((at.low - axis.first()) / axis.period());
      in = {at.low - turn * axis.period(), at.high - turn * axis.period()};
      if (!(in.high <= axis.last())) in = {axis.first(), axis.last()};
    } else {
      outside = !(at.low >= axis.first() && at.high <= axis.last());
      if (!(at.high >= axis.first() && at.low <= axis.last()))
        in = at.high < axis.first() ? Interval(axis.first()) : Interval(axis.last());
      in = {std::clamp(in.low, axis.first(), axis.last()), std::clamp(in.high, axis.first(), axis.last())};
    }
    const std::size_t most = num_pieces(axis) - 1;
    std::size_t first = std::min(axis.find(in.low), most), last = std::min(axis.find(in.high), most);
    if (side != 0) first = first > 0 ? first - 1 : 0, last = std::min(last + 1, most);
    return Range{first, last, outside, in};
  };
  const auto rx = range_of(ax, x, side_x), ry = range_of(ay, y, side_y);
  if (outside_ == Outside::error && (rx.outside || ry.outside) &&
      !(x.high >= ax.first() && x.low <= ax.last() && y.high >= ay.first() && y.low <= ay.last()))
    return Interval::everything();
  if ((side_x != 0 && rx.outside) || (side_y != 0 && ry.outside)) return Interval::everything();
  if ((rx.last - rx.first + 1) * (ry.last - ry.first + 1) > most_cells) return Interval::everything();
  Interval all;
  bool any = false;
  const auto join = [&](const Interval& part) {
    all = any ? Interval::hull(all, part) : part;
    any = true;
  };
  // Beyond the grid, where a side that is held may lie too.
  if ((rx.outside || ry.outside || side_x != 0 || side_y != 0) && (outside_ == Outside::zero || orders > 0))
    join(Interval(0.0));
  for (std::size_t i = rx.first; i <= rx.last; ++i)
    for (std::size_t j = ry.first; j <= ry.last; ++j) {
      if (interpolation_ == Interpolation::steps) {
        join(Interval(on_grid({.piece = i}, {.piece = j}, view.order_x, view.order_y)));
        continue;
      }
      const auto within = [&](const TableAxis& axis, std::size_t k, const Interval& in, int side) {
        if (side != 0) {
          const double before = k > 0 ? axis.step(k - 1) : 0.0, behind = k + 2 < axis.size() ? axis.step(k + 1) : 0.0;
          return Interval(-0.5 * before, axis.step(k) + 0.5 * behind);
        }
        const double low = std::max(in.low - axis[k], 0.0), high = std::min(in.high - axis[k], axis.step(k));
        return Interval(std::min(low, high), std::max(low, high));
      };
      const Interval s = within(ax, i, rx.inside, side_x), w = within(ay, j, ry.inside, side_y);
      // Taylor's polynomial at the corner of the cell.
      Interval by_x(0.0);
      double factorial_x = 1.0;
      std::array<double, 8> below_x{};
      for (int p = 0; p <= degree() - view.order_x; ++p) {
        below_x[static_cast<std::size_t>(p)] = factorial_x;
        factorial_x *= p + 1;
      }
      for (int p = degree() - view.order_x; p >= 0; --p) {
        Interval by_y(0.0);
        std::array<double, 8> below_y{};
        double factorial_y = 1.0;
        for (int q = 0; q <= degree() - view.order_y; ++q) {
          below_y[static_cast<std::size_t>(q)] = factorial_y;
          factorial_y *= q + 1;
        }
        for (int q = degree() - view.order_y; q >= 0; --q)
          by_y =
              sum(product(by_y, w), Interval(on_grid({.piece = i}, {.piece = j}, view.order_x + p, view.order_y + q) /
                                             below_y[static_cast<std::size_t>(q)]));
        by_x = sum(product(by_x, s), product(by_y, Interval(1.0 / below_x[static_cast<std::size_t>(p)])));
      }
      join(by_x);
    }
  return all;
}

Interval TableContent::bound(const Interval& x, const Interval& y, const TableView& view) const {
  if (std::isnan(x.low) || std::isnan(x.high)) return Interval::everything();
  switch (view.kind) {
    case TableView::Kind::guard_x:
      return bound_guard(axes_[0], x, view.order_x, view.fine);
    case TableView::Kind::guard_y:
      return bound_guard(axes_[1], x, view.order_x, view.fine);
    case TableView::Kind::size:
      return Interval(calc_size(view.order_x));
    case TableView::Kind::value:
      break;
  }
  if (x.is_point() && (num_arguments_ == 1 || y.is_point())) {
    const double value = evaluate(x.low, y.low, view);
    return std::isnan(value) ? Interval::everything() : Interval(value);
  }
  return num_arguments_ == 1 ? bound_axis(x, view) : bound_grid(x, y, view);
}

namespace {
/// Pieces that begin between bounds, and by how much the shortest is shorter than they are on average: points stand close where something happens.
struct PiecesIn {
  double crossed = 0.0, uneven = 1.0;
};
PiecesIn count_pieces(const TableAxis& axis, const Interval& in) {
  const std::size_t first = axis.find(in.low), last = axis.find(in.high);
  PiecesIn pieces{.crossed = static_cast<double>(last - first)};
  if (first == last || last - first > most_points) return pieces;
  const double whole = std::min(in.high, axis.last()) - std::max(in.low, axis.first());
  double shortest = whole;
  for (std::size_t i = first; i <= last && i + 1 < axis.size(); ++i) shortest = std::min(shortest, axis.step(i));
  pieces.uneven = whole / (shortest * pieces.crossed);
  return pieces;
}
/// Of pieces that differ by less, as many samples as pieces show what there is.
constexpr double nearly_even = 4.0;
}  // namespace

/// Straight lines through every 2ᵏ-th point, and how far the point in the middle of each is off. Of what is smooth that falls to a quarter from one k
/// to the next smaller one; of what has a peak between two points, or of noise, it does not fall. The last k at which it does not tells how many
/// samples are needed.
double TableContent::turns(const Interval& x, const Interval& y, const TableView& view) const {
  if (view.kind != TableView::Kind::value) return 0.0;
  const auto pieces_in = [&](const TableAxis& axis, const Interval& at) -> PiecesIn {
    Interval in = at;
    if (outside_ == Outside::periodic) {
      const double turn = std::floor((at.low - axis.first()) / axis.period()),
                   periods = std::floor((at.high - axis.first()) / axis.period()) - turn;
      if (periods > 0.0) return {.crossed = (periods + 1.0) * static_cast<double>(axis.size())};
      in = {at.low - turn * axis.period(), at.high - turn * axis.period()};
    }
    if (!(in.high >= axis.first() && in.low <= axis.last())) return {};
    return count_pieces(axis, in);
  };
  // What jumps or has kinks is held, and a step ends where the next piece begins.
  const auto is_smooth = [&](int order) { return breaks(order) != Breaks::points; };
  const auto needed = [&](const PiecesIn& pieces, int order) {
    return is_smooth(order) && pieces.uneven > nearly_even ? pieces.uneven * pieces.crossed : pieces.crossed;
  };
  const TableAxis& axis = axes_[0];
  const PiecesIn pieces = pieces_in(axis, x);
  if (num_arguments_ == 2) return needed(pieces, view.order_x) + needed(pieces_in(axes_[1], y), view.order_y);
  const double crossed = pieces.crossed;
  if (crossed <= 1.0 || !is_smooth(view.order_x) || pieces.uneven > nearly_even ||
      crossed > static_cast<double>(most_points) || crossed >= static_cast<double>(axis.size()))
    return needed(pieces, view.order_x);
  double inside = x.low;
  if (outside_ == Outside::periodic) inside -= std::floor((x.low - axis.first()) / axis.period()) * axis.period();
  const std::size_t first = axis.find(inside), count = static_cast<std::size_t>(crossed) + 1,
                    last = std::min(first + count, axis.size() - 1);
  const auto value = [&](std::size_t i) {
    return view.order_x == 0     ? values_[i]
           : i + 1 < axis.size() ? polynomial(i, 0.0, 1)
                                 : polynomial(i - 1, axis.step(i - 1), 1);
  };
  double largest = 0.0;
  for (std::size_t i = first; i <= last; ++i) largest = std::max(largest, std::abs(value(i)));
  const double floor = 1e-13 * largest;
  const std::size_t all = last - first;
  double finer = 0.0;
  for (std::size_t half = 1; half < all; half *= 2) {
    double off = 0.0;
    for (std::size_t from = first; from + half < last; from += 2 * half) {
      const std::size_t middle = from + half, to = std::min(middle + half, last);
      const double share = (axis[middle] - axis[from]) / (axis[to] - axis[from]);
      off = std::max(off, std::abs(value(middle) - (value(from) + share * (value(to) - value(from)))));
    }
    // Twice as many samples would not have halved what they miss: four for each turn.
    if (finer > floor && finer > 0.5 * off) return std::min(4.0 * crossed / static_cast<double>(half), crossed);
    finer = off;
  }
  return 1.0;
}

Interval bound_lookup(const Interval& x, const Interval& y, double key) {
  const TableContent* table = TableStore::instance().find(key);
  return table ? table->bound(x, y, view_of(key)) : Interval::everything();
}

/// Points strictly between the bounds, or ends alone; of derivatives in both directions.
bool TableContent::breaks_in(const Interval& x, const Interval& y, const TableView& view) const {
  if (view.kind != TableView::Kind::value) return true;
  const auto any = [&](const TableAxis& axis, const Interval& at, int order) {
    const Breaks kind = breaks(order);
    if (kind == Breaks::none || at.is_point()) return false;
    if (!std::isfinite(at.low) || !std::isfinite(at.high)) return true;
    return region_at(axis, at.low, kind == Breaks::points).to < at.high;
  };
  return any(axes_[0], x, view.order_x) || (num_arguments_ == 2 && any(axes_[1], y, view.order_y));
}

bool lookup_breaks(const Interval& x, const Interval& y, double key) {
  const TableContent* table = TableStore::instance().find(key);
  return !table || table->breaks_in(x, y, view_of(key));
}

double calc_lookup_turns(const Interval& x, const Interval& y, double key) {
  const TableContent* table = TableStore::instance().find(key);
  return table ? table->turns(x, y, view_of(key)) : infinity;
}

}  // namespace mechanician
