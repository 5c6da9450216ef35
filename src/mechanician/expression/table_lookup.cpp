// Values of tables, and what expressions are made of them. See table_lookup.hpp.

#include "mechanician/expression/table_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/latex_letters.hpp"
#include "mechanician/expression/node.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table_content_internal.hpp"

namespace mechanician {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
}  // namespace

// ---- points

TableAxis::TableAxis(std::vector<double> points) : points_(std::move(points)) {
  scale_ = static_cast<double>(points_.size()) / (last() - first());
  if (!std::isfinite(scale_)) scale_ = 0.0;
  begin_.assign(points_.size() + 2, 0);
  for (const double p : points_) ++begin_[bucket(p) + 1];
  for (std::size_t b = 1; b < begin_.size(); ++b) begin_[b] += begin_[b - 1];
}

/// Never descends as x ascends, whatever rounding does: a point in a bucket before that of x lies before x.
std::size_t TableAxis::bucket(double x) const {
  const double b = (x - points_.front()) * scale_;
  return b > 0.0 ? std::min(static_cast<std::size_t>(std::min(b, 1e18)), points_.size()) : 0;
}

std::size_t TableAxis::find(double x) const {
  const std::size_t b = bucket(x);
  std::size_t low = begin_[b], high = begin_[b + 1];  // points before low are not beyond x, those from high on are
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    (points_[middle] <= x ? low : high) = points_[middle] <= x ? middle + 1 : middle;
  }
  return low > 0 ? low - 1 : 0;
}

// ---- regions

TableContent::Regions TableContent::regions(const TableAxis& axis, bool fine) const {
  const auto n = static_cast<long>(axis.size());
  if (outside_ == Outside::periodic) return {0, n - 1, 1};
  if (!fine) return {0, 2, n - 1};
  const bool steps = interpolation_ == Interpolation::steps;
  const bool first_too = outside_ == Outside::zero || (outside_ == Outside::hold && !steps),
             last_too = outside_ != Outside::error || steps;
  const long first = first_too ? 0 : 1, last = last_too ? n - 1 : n - 2;
  return {first, std::max(0L, last - first + 1), 1};
}

TableContent::Region TableContent::make_region(const TableAxis& axis, long number, bool fine) const {
  const Regions r = regions(axis, fine);
  if (outside_ == Outside::periodic) {
    const long turn = number >= 0 ? number / r.count : -((-number + r.count - 1) / r.count),
               k = number - turn * r.count;
    const double shift = static_cast<double>(turn) * axis.period();
    return {number, axis[static_cast<std::size_t>(k)] + shift, axis[static_cast<std::size_t>(k) + 1] + shift};
  }
  const auto point = [&](long k) { return axis[static_cast<std::size_t>(r.first + k * r.apart)]; };
  return {number, number > 0 ? point(number - 1) : -infinity, number < r.count ? point(number) : infinity};
}

TableContent::Region TableContent::region_at(const TableAxis& axis, double x, bool fine) const {
  const Regions r = regions(axis, fine);
  if (outside_ == Outside::periodic) {
    const double turn = std::floor((x - axis.first()) / axis.period());
    if (!(std::abs(turn) < 1e15)) return {0, -infinity, infinity};
    const double inside = x - turn * axis.period();
    long number = static_cast<long>(turn) * r.count + std::min(static_cast<long>(axis.find(inside)), r.count - 1);
    // Rounding may leave it in the region beside.
    Region found = make_region(axis, number, fine);
    if (x < found.from) found = make_region(axis, --number, fine);
    if (x >= found.to) found = make_region(axis, ++number, fine);
    return found;
  }
  if (r.count == 0) return {0, -infinity, infinity};
  const auto k = static_cast<long>(axis.find(x));  // the last point not beyond x
  const long before = x < axis.first() || k < r.first ? 0 : std::min((k - r.first) / r.apart + 1, r.count);
  return make_region(axis, before, fine);
}

TableContent::Region TableContent::held_region(const TableAxis& axis, double x, int side, bool fine) const {
  const Region r = region_at(axis, x, fine);
  if (side == 0 || (r.number % 2 == 0) == (side > 0)) return r;
  const double left = x - r.from, right = r.to - x;
  if (!std::isfinite(left) && !std::isfinite(right)) return r;
  return make_region(axis, r.number + (left <= right ? -1 : 1), fine);
}

double TableContent::guard(const TableAxis& axis, double x, int order, bool fine) const {
  if (std::isnan(x)) return x;
  const Region r = region_at(axis, x, fine);
  const double sign = r.number % 2 == 0 ? 1.0 : -1.0, w = r.to - r.from;
  if (order > 2) return 0.0;
  if (std::isfinite(w)) {
    const double s = x - r.from;
    return sign * (order == 0 ? s * (r.to - x) / w : order == 1 ? 1.0 - 2.0 * s / w : -2.0 / w);
  }
  if (order == 2) return 0.0;
  if (std::isfinite(r.to)) return sign * (order == 0 ? r.to - x : -1.0);
  if (std::isfinite(r.from)) return sign * (order == 0 ? x - r.from : 1.0);
  return order == 0 ? sign : 0.0;
}

// ---- values

double TableContent::slack(const TableAxis& axis) const {
  return 8.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(axis.first()), std::abs(axis.last()));
}

TableContent::At TableContent::at_end(const TableAxis& axis, bool upper) const {
  At at;
  at.constant = true;
  if (!upper) return at;
  at.piece = num_pieces(axis) - 1;
  at.s = interpolation_ == Interpolation::steps ? 0.0 : axis.step(at.piece);
  return at;
}

TableContent::At TableContent::locate(const TableAxis& axis, double x, int side, bool fine) const {
  At at;
  if (outside_ == Outside::error && !(x >= axis.first() - slack(axis) && x <= axis.last() + slack(axis))) {
    at.nowhere = true;
    return at;
  }
  // Between the ends, on the side that is held: the commonest case, without a look at regions. There are three of them.
  const bool amid = side < 0 && !fine && outside_ != Outside::periodic && x >= axis.first() && x < axis.last();
  if (side != 0 && !amid) return locate_in(axis, x, held_region(axis, x, side, fine), fine);
  double inside = x;
  if (outside_ == Outside::periodic) {
    inside = x - std::floor((x - axis.first()) / axis.period()) * axis.period();
  } else if (outside_ != Outside::error && !(x >= axis.first() && x <= axis.last())) {
    if (outside_ == Outside::hold) return at_end(axis, x > axis.last());
    at.zero = true;
    return at;
  }
  at.piece = std::min(axis.find(inside), num_pieces(axis) - 1);
  at.s = inside - axis[at.piece];
  return at;
}

/// With the polynomial of the region, which x need not lie in.
TableContent::At TableContent::locate_in(const TableAxis& axis, double x, const Region& region, bool fine) const {
  At at;
  const auto n = static_cast<long>(axis.size());
  if (outside_ == Outside::periodic) {
    const long count = n - 1, k = ((region.number % count) + count) % count;
    at.piece = static_cast<std::size_t>(k), at.s = x - region.from;
    return at;
  }
  const Regions r = regions(axis, fine);
  const bool outside_below = r.count > 0 && region.number == 0 && r.first == 0,
             outside_above = r.count > 0 && region.number == r.count && r.first + (r.count - 1) * r.apart == n - 1 &&
                             !(interpolation_ == Interpolation::steps && outside_ != Outside::zero);
  if (outside_below || outside_above) {
    if (outside_ == Outside::hold) return at_end(axis, outside_above);
    at.zero = true;
    return at;
  }
  if (fine)
    at.piece = static_cast<std::size_t>(std::max(0L, r.first + region.number - 1));
  else
    at.piece = axis.find(std::clamp(x, axis.first(), axis.last()));
  at.piece = std::min(at.piece, num_pieces(axis) - 1);
  at.s = x - axis[at.piece];
  return at;
}

double TableContent::polynomial(std::size_t piece, double s, int order) const {
  const double* c = coefficients_.data() + piece * static_cast<std::size_t>(stride_);
  if (order >= stride_) return 0.0;
  switch (stride_) {
    case 1:
      return c[0];
    case 2:
      return order == 0 ? c[0] + c[1] * s : c[1];
    default:
      switch (order) {
        case 0:
          return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
        case 1:
          return c[1] + s * (2.0 * c[2] + s * 3.0 * c[3]);
        case 2:
          return 2.0 * c[2] + s * 6.0 * c[3];
        default:
          return 6.0 * c[3];
      }
  }
}

namespace {

/// What the values and slopes at both ends of a piece of length h count at s = u·h, differentiated by s.
struct EndWeights {
  double value0, value1, slope0, slope1;
};
EndWeights hermite(double s, double h, int order) {
  const double u = s / h, v = 1.0 - u;
  switch (order) {
    case 0:
      return {(1.0 + 2.0 * u) * v * v, u * u * (3.0 - 2.0 * u), s * v * v, -s * u * v};
    case 1: {
      const double d = 6.0 * u * v / h;
      return {-d, d, (1.0 - 3.0 * u) * v, u * (3.0 * u - 2.0)};
    }
    case 2: {
      const double d = (12.0 * u - 6.0) / (h * h);
      return {d, -d, (6.0 * u - 4.0) / h, (6.0 * u - 2.0) / h};
    }
    case 3: {
      const double d = 12.0 / (h * h * h);
      return {d, -d, 6.0 / (h * h), 6.0 / (h * h)};
    }
    default:
      return {0.0, 0.0, 0.0, 0.0};
  }
}
EndWeights straight(double s, double h, int order) {
  if (order == 0) return {1.0 - s / h, s / h, 0.0, 0.0};
  if (order == 1) return {-1.0 / h, 1.0 / h, 0.0, 0.0};
  return {0.0, 0.0, 0.0, 0.0};
}

}  // namespace

double TableContent::on_grid(const At& x, const At& y, int order_x, int order_y) const {
  const std::size_t n1 = axes_[1].size(), at = x.piece * n1 + y.piece;
  if (interpolation_ == Interpolation::steps) return order_x + order_y == 0 ? values_[at] : 0.0;
  const bool linear = interpolation_ == Interpolation::linear;
  const auto weights = linear ? straight : hermite;
  const EndWeights p = weights(x.s, axes_[0].step(x.piece), order_x), q = weights(y.s, axes_[1].step(y.piece), order_y);
  if (linear)
    return p.value0 * (q.value0 * values_[at] + q.value1 * values_[at + 1]) +
           p.value1 * (q.value0 * values_[at + n1] + q.value1 * values_[at + n1 + 1]);
  // f, ∂x f, ∂y f, ∂x∂y f
  const auto along_y = [&](std::size_t node, std::size_t part) {
    const double *a = nodes_.data() + 4 * node + part, *b = a + 4;
    return q.value0 * a[0] + q.value1 * b[0] + q.slope0 * a[2] + q.slope1 * b[2];
  };
  return p.value0 * along_y(at, 0) + p.value1 * along_y(at + n1, 0) + p.slope0 * along_y(at, 1) +
         p.slope1 * along_y(at + n1, 1);
}

double TableContent::evaluate(double x, double y, const TableView& view) const {
  switch (view.kind) {
    case TableView::Kind::guard_x:
      return guard(axes_[0], x, view.order_x, view.fine);
    case TableView::Kind::guard_y:
      return guard(axes_[1], x, view.order_x, view.fine);
    case TableView::Kind::size:
      return calc_size(view.order_x);
    case TableView::Kind::value:
      break;
  }
  if (std::isnan(x)) return x;
  const At a = locate(axes_[0], x, view.side_x, view.fine);
  if (a.nowhere) return nothing;
  if (num_arguments_ == 1) {
    if (a.zero || (a.constant && view.order_x > 0)) return 0.0;
    return std::isfinite(a.s) ? polynomial(a.piece, a.s, view.order_x) : nothing;
  }
  if (std::isnan(y)) return y;
  const At b = locate(axes_[1], y, view.side_y, view.fine);
  if (b.nowhere) return nothing;
  if (a.zero || b.zero || (a.constant && view.order_x > 0) || (b.constant && view.order_y > 0)) return 0.0;
  return std::isfinite(a.s) && std::isfinite(b.s) ? on_grid(a, b, view.order_x, view.order_y) : nothing;
}

/// Of a derivative of one argument; on a grid that of the values, for all.
double TableContent::calc_size(int order) const {
  const auto k = static_cast<std::size_t>(order);
  if (num_arguments_ > 1) return size_;
  return k < least_.size() ? std::max(std::abs(least_[k]), std::abs(largest_[k])) : 0.0;
}

std::string TableContent::explain(double x, double y) const {
  if (outside_ != Outside::error) return {};
  const double at[2] = {x, y};
  for (int i = 0; i < num_arguments_; ++i)
    if (!(at[i] >= axis(i).first() - slack(axis(i)) && at[i] <= axis(i).last() + slack(axis(i))))
      return fmt::format("the table `{}` goes from {} = {} to {}, and {} is outside", name_, argument_name(i),
                         number_text(axis(i).first()), number_text(axis(i).last()), number_text(at[i]));
  return {};
}

Breaks TableContent::breaks(int order) const {
  // Where this derivative has no continuous derivative of its own.
  const int smooth = interpolation_ == Interpolation::cubic ? 1 : interpolation_ == Interpolation::monotone ? 0 : -1;
  if (order > smooth) return Breaks::points;
  return outside_ == Outside::hold || outside_ == Outside::zero ? Breaks::ends : Breaks::none;
}

double TableContent::next_break(double x, const TableView& view) const {
  return region_at(axes_[view.kind == TableView::Kind::guard_y ? 1 : 0], x, view.fine).to;
}

// ---- keys

TableView view_of(double key) {
  const auto v = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(key) & 0x1fff);
  const auto bits = [v](int from, int count) { return static_cast<int>(v >> from & ((1u << count) - 1)); };
  return {bits(0, 3),      bits(3, 3), bits(6, 2) - 1, bits(8, 2) - 1, static_cast<TableView::Kind>(bits(10, 2)),
          bits(12, 1) != 0};
}

double TableContent::key(int order_x, int order_y) const {
  // Sides of 0 are 1, so that −1 is 0 and 1 is 2.
  const std::uint64_t view = static_cast<std::uint64_t>(order_x | order_y << 3 | 1 << 6 | 1 << 8);
  return std::bit_cast<double>(std::uint64_t{0x3ff} << 52 | id_ << 13 | view);
}

double calc_lookup(double x, double y, double key) {
  const TableContent* table = TableStore::instance().find(key);
  return table ? table->evaluate(x, y, view_of(key)) : nothing;
}

double next_break(double x, double key) {
  const TableContent* table = TableStore::instance().find(key);
  return table ? table->next_break(x, view_of(key)) : infinity;
}

bool is_value_of_table(double key) { return view_of(key).kind == TableView::Kind::value; }

bool is_total_lookup(double key) {
  const TableContent* table = TableStore::instance().find(key);
  return table && (table->outside() != Outside::error || view_of(key).kind != TableView::Kind::value);
}

std::string explain_lookup(double x, double y, double key) {
  const TableContent* table = TableStore::instance().find(key);
  return table ? table->explain(x, y) : std::string();
}

// ---- expressions

namespace {

/// The leaf below what is added to it.
const ExprNode* leaf_of(const Expr& lookup) {
  if (lookup.op() != Op::lookup) return nullptr;
  const ExprNode* n = lookup.node()->args[2];
  while (n->op == Op::add || n->op == Op::sub) n = n->args[0];
  return n->op == Op::table ? n : nullptr;
}
int order_of(const ExprNode* leaf, int argument) { return leaf->symbol->orders[static_cast<std::size_t>(argument)]; }
bool is_guard(const Expr& lookup) {
  const ExprNode* n = lookup.node()->args[2];
  if (n->op != Op::add || n->args[1]->op != Op::constant) return false;
  const TableView::Kind kind = view_of(1.0 + n->args[1]->value).kind;
  return kind == TableView::Kind::guard_x || kind == TableView::Kind::guard_y;
}

}  // namespace

const TableContent* table_of(const Expr& lookup) {
  const ExprNode* leaf = leaf_of(lookup);
  return leaf ? leaf->symbol->table.get() : nullptr;
}

Breaks breaks_of(const Expr& lookup, int argument) {
  const ExprNode* leaf = leaf_of(lookup);
  if (!leaf || lookup.node()->args[2] != leaf) return Breaks::none;  // held before
  const TableContent& table = *leaf->symbol->table;
  if (argument >= table.num_arguments()) return Breaks::none;
  Breaks found = table.breaks(order_of(leaf, argument));
  // Where second derivatives jump, errors of steps over a point are far above their estimate; of the time steps know the points.
  constexpr KindSet clock = kind_bit(SymbolKind::time) | kind_bit(SymbolKind::parameter);
  if (table.interpolation() == Interpolation::monotone && (lookup.arg(argument).kinds() & ~clock) != 0)
    found = Breaks::points;
  // Of a grid both arguments are held alike: points count for both where they do for one.
  if (found == Breaks::ends && table.num_arguments() == 2 &&
      table.breaks(order_of(leaf, 1 - argument)) == Breaks::points)
    found = Breaks::points;
  const bool alone = found == Breaks::points && table.outside() == Outside::error && table.axis(argument).size() < 3 &&
                     table.interpolation() != Interpolation::steps;
  return alone ? Breaks::none : found;
}

bool jumps(const Expr& lookup, int argument) {
  const ExprNode* leaf = leaf_of(lookup);
  const TableContent& table = *leaf->symbol->table;
  const int order = order_of(leaf, argument);
  const int continuous = table.interpolation() == Interpolation::steps    ? -1
                         : table.interpolation() == Interpolation::linear ? 0
                         : table.interpolation() == Interpolation::cubic  ? 2
                                                                          : 1;
  return order > continuous || table.outside() == Outside::zero || (table.outside() == Outside::hold && order > 0);
}

Expr guard_of(const Expr& lookup, int argument, Breaks breaks) {
  const ExprNode* leaf = leaf_of(lookup);
  const Expr plain = table_leaf(leaf->symbol->table, 0, 0);
  const double added =
      (argument == 0 ? table_key::guard_x : table_key::guard_y) + (breaks == Breaks::points ? table_key::fine : 0.0);
  return make_raw(Op::lookup, {lookup.arg(argument), 0.0, plain + added});
}

double clock_of(const Expr& guard) {
  const ExprNode* leaf = leaf_of(guard);
  if (!leaf || !is_guard(guard) || !same(guard.arg(0), time_symbol())) return 0.0;
  return leaf->value + guard.arg(2).arg(1).value();
}

Expr with_side(const Expr& lookup, int argument, Breaks breaks, const Expr& side) {
  Expr key = lookup.arg(2);
  if (breaks == Breaks::points && key.op() == Op::table) key = key + table_key::fine;
  key = key + (argument == 0 ? table_key::side_x : table_key::side_y) * side;
  return make_raw(Op::lookup, {lookup.arg(0), lookup.arg(1), key});
}

Expr lookup_derivative(const Expr& lookup, int argument) {
  const ExprNode* leaf = leaf_of(lookup);
  if (!leaf || argument > 1) return 0.0;
  const TableContent& table = *leaf->symbol->table;
  const bool guard = is_guard(lookup);
  int order[2] = {order_of(leaf, 0), order_of(leaf, 1)};
  const int most = guard ? 2 : table.degree();
  if (argument >= (guard ? 1 : table.num_arguments()) || ++order[argument] > most) return 0.0;
  const Expr fresh = table_leaf(leaf->symbol->table, order[0], order[1]);
  // The same sums on the new leaf.
  std::vector<const ExprNode*> sums;
  for (const ExprNode* n = lookup.node()->args[2]; n != leaf; n = n->args[0]) sums.push_back(n);
  Expr key = fresh;
  for (auto n = sums.rbegin(); n != sums.rend(); ++n) key = make_raw((*n)->op, {key, Expr::of((*n)->args[1])});
  return make_raw(Op::lookup, {lookup.arg(0), lookup.arg(1), key});
}

std::string lookup_name(const Expr& lookup, bool latex) {
  const ExprNode* leaf = leaf_of(lookup);
  if (!leaf) return "table";
  const TableContent& table = *leaf->symbol->table;
  std::string name = table.name();
  if (latex) {
    std::string escaped;
    for (std::size_t i = 0; i < name.size();) {
      const CodePoint c = decode_utf8(name, i);
      const std::string_view named = c.valid ? latex_letter(c.value) : std::string_view{};
      const std::string_view itself = std::string_view(name).substr(i, static_cast<std::size_t>(c.length));
      escaped += itself == "_"    ? "\\_"
                 : !named.empty() ? fmt::format("{{{}}}", named)
                 : c.value < 0x80 ? std::string(itself)
                                  : fmt::format("\\text{{{}}}", itself);
      i += itself.size();
    }
    name = "\\operatorname{" + escaped + "}";
  }
  const auto x = static_cast<std::size_t>(order_of(leaf, 0)), y = static_cast<std::size_t>(order_of(leaf, 1));
  if (is_guard(lookup)) return name + ".breaks";
  if (table.num_arguments() == 1) return name + std::string(x, '\'');
  if (x + y == 0) return name;
  const std::string by = std::string(x, 'x') + std::string(y, 'y');
  return latex ? name + "_{" + by + "}" : name + "_" + by;
}

}  // namespace mechanician
