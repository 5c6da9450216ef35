#include "mechanician/compile/ptx_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace mechanician {

namespace {

/// Of all tables of a program: 20 bytes of text each.
constexpr std::size_t most_numbers = 400'000;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t num_pieces(const TablePieces& table, int argument) {
  const std::size_t points = table.points[argument].size();
  return table.interpolation == Interpolation::steps && table.outside != Outside::periodic ? points : points - 1;
}

}  // namespace

const char* why_no_tables(const Program& program) {
  std::map<double, std::size_t> sizes;
  for (const Step& s : program.steps) {
    if (s.action != action_of(Op::lookup)) continue;
    const int constant = s.c - program.num_inputs;
    if (constant < 0 || constant >= static_cast<int>(program.constants.size()))
      return "which table is looked up is not known beforehand";
    const double key = program.constants[static_cast<std::size_t>(constant)];
    if (sizes.contains(key)) continue;
    const auto table = find_pieces(key);
    if (!table || table->guard != 0 || table->side[0] != 0 || table->side[1] != 0)
      return "sides of tables are held on the processor";
    sizes[key] = table->points[0].size() + table->points[1].size() + table->coefficients.size() +
                 (table->num_arguments > 1 ? table->values.size() + table->nodes.size() : 0);
  }
  std::size_t all = 0;
  for (const auto& [key, size] : sizes) all += size;
  return all > most_numbers ? "its tables are too long for a GPU" : nullptr;
}

PtxText::I PtxTables::array(const std::vector<double>& numbers) {
  const int which = arrays_.try_emplace(numbers, static_cast<int>(arrays_.size())).first->second;
  return o_.address_of(fmt::format("table{}", which));
}

PtxText::F PtxTables::load(I base, I at) { return o_.load(o_.sum(base, o_.shift_left(at, 3))); }

std::string PtxTables::data() const {
  std::string text;
  for (const auto& [numbers, which] : arrays_) {
    text += fmt::format(".global .align 8 .f64 table{}[{}] = {{", which, numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      text += (i > 0 ? ", " : "") + PtxText::name(PtxText::constant(numbers[i]));
    text += "};\n";
  }
  return text;
}

PtxTables::At PtxTables::locate(const TablePieces& table, int argument, F x) {
  const std::vector<double>& points = table.points[argument];
  const F first = PtxText::constant(points.front()), last = PtxText::constant(points.back());
  At at;
  F inside = x;
  if (table.outside == Outside::periodic) {
    const F period = PtxText::constant(points.back() - points.front());
    inside = o_.sub(x, o_.mul(o_.floor(o_.div(o_.sub(x, first), period)), period));
  } else if (table.outside == Outside::error) {
    const double slack =
        8.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(points.front()), std::abs(points.back()));
    at.nowhere = o_.negated(o_.both(o_.less_equal(PtxText::constant(points.front() - slack), x),
                                    o_.less_equal(x, PtxText::constant(points.back() + slack))));
  } else {
    at.outside = o_.either(o_.less(x, first), o_.less(last, x));
  }
  // The last point that is not beyond; behind the last one of all there are points at infinity, to a power of two.
  std::vector<double> padded = points;
  padded.resize(std::bit_ceil(points.size()), infinity);
  const I base = array(padded);
  I found = o_.whole(0);
  for (std::uint64_t half = padded.size() / 2; half > 0; half /= 2) {
    const I next = o_.plus(found, half);
    found = o_.select(o_.less_equal(load(base, next), inside), next, found);
  }
  const std::size_t pieces = num_pieces(table, argument);
  at.piece = o_.least(found, pieces - 1);
  const F from = load(base, at.piece);
  const bool steps = table.interpolation == Interpolation::steps;
  at.step = steps ? from : o_.sub(load(base, o_.plus(at.piece, 1)), from);
  at.s = o_.sub(inside, from);
  if (table.outside == Outside::hold) {
    const double length = steps ? 0.0 : points[pieces] - points[pieces - 1];
    at.s = o_.select(o_.less(x, first), PtxText::constant(0.0), at.s);
    at.s = o_.select(o_.less(last, x), PtxText::constant(length), at.s);
  }
  return at;
}

PtxText::F PtxTables::polynomial(const TablePieces& table, I piece, F s) {
  const int stride = table.stride, order = table.order_x;
  const F zero = PtxText::constant(0.0);
  if (order >= stride) return zero;
  const I base = array(table.coefficients), first = o_.times(piece, static_cast<std::uint64_t>(stride));
  const auto c = [&](int k) { return load(base, o_.plus(first, static_cast<std::uint64_t>(k))); };
  const auto number = [](double x) { return PtxText::constant(x); };
  if (stride == 1) return c(0);
  if (stride == 2) return order == 0 ? o_.add(c(0), o_.mul(c(1), s)) : c(1);
  switch (order) {
    case 0:
      return o_.add(c(0), o_.mul(s, o_.add(c(1), o_.mul(s, o_.add(c(2), o_.mul(s, c(3)))))));
    case 1:
      return o_.add(c(1), o_.mul(s, o_.add(o_.mul(number(2.0), c(2)), o_.mul(o_.mul(s, number(3.0)), c(3)))));
    case 2:
      return o_.add(o_.mul(number(2.0), c(2)), o_.mul(o_.mul(s, number(6.0)), c(3)));
    default:
      return o_.mul(number(6.0), c(3));
  }
}

PtxTables::Weights PtxTables::straight(F s, F h, int order) {
  const F zero = PtxText::constant(0.0), one = PtxText::constant(1.0);
  if (order == 0) return {o_.sub(one, o_.div(s, h)), o_.div(s, h), zero, zero};
  if (order == 1) return {o_.div(PtxText::constant(-1.0), h), o_.div(one, h), zero, zero};
  return {zero, zero, zero, zero};
}

PtxTables::Weights PtxTables::hermite(F s, F h, int order) {
  const auto k = [](double x) { return PtxText::constant(x); };
  const F u = o_.div(s, h), v = o_.sub(k(1.0), u);
  switch (order) {
    case 0:
      return {o_.mul(o_.mul(o_.add(k(1.0), o_.mul(k(2.0), u)), v), v),
              o_.mul(o_.mul(u, u), o_.sub(k(3.0), o_.mul(k(2.0), u))), o_.mul(o_.mul(s, v), v),
              o_.mul(o_.mul(o_.neg(s), u), v)};
    case 1: {
      const F d = o_.div(o_.mul(o_.mul(k(6.0), u), v), h);
      return {o_.neg(d), d, o_.mul(o_.sub(k(1.0), o_.mul(k(3.0), u)), v), o_.mul(u, o_.sub(o_.mul(k(3.0), u), k(2.0)))};
    }
    case 2: {
      const F d = o_.div(o_.sub(o_.mul(k(12.0), u), k(6.0)), o_.mul(h, h));
      return {d, o_.neg(d), o_.div(o_.sub(o_.mul(k(6.0), u), k(4.0)), h), o_.div(o_.sub(o_.mul(k(6.0), u), k(2.0)), h)};
    }
    case 3: {
      const F d = o_.div(k(12.0), o_.mul(o_.mul(h, h), h)), e = o_.div(k(6.0), o_.mul(h, h));
      return {d, o_.neg(d), e, e};
    }
    default:
      return {k(0.0), k(0.0), k(0.0), k(0.0)};
  }
}

PtxText::F PtxTables::on_grid(const TablePieces& table, const At& x, const At& y) {
  const auto width = static_cast<std::uint64_t>(table.points[1].size());
  const I at = o_.sum(o_.times(x.piece, width), y.piece);
  if (table.interpolation == Interpolation::steps)
    return table.order_x + table.order_y == 0 ? load(array(table.values), at) : PtxText::constant(0.0);
  const auto sum4 = [&](const Weights& w, F a, F b, F c, F d) {
    return o_.add(o_.add(o_.add(o_.mul(w.value0, a), o_.mul(w.value1, b)), o_.mul(w.slope0, c)), o_.mul(w.slope1, d));
  };
  if (table.interpolation == Interpolation::linear) {
    const Weights p = straight(x.s, x.step, table.order_x), q = straight(y.s, y.step, table.order_y);
    const I base = array(table.values);
    const auto along_y = [&](std::uint64_t from) {
      return o_.add(o_.mul(q.value0, load(base, o_.plus(at, from))),
                    o_.mul(q.value1, load(base, o_.plus(at, from + 1))));
    };
    return o_.add(o_.mul(p.value0, along_y(0)), o_.mul(p.value1, along_y(width)));
  }
  const Weights p = hermite(x.s, x.step, table.order_x), q = hermite(y.s, y.step, table.order_y);
  const I base = array(table.nodes), node = o_.shift_left(at, 2);
  const auto along_y = [&](std::uint64_t from, std::uint64_t part) {
    const auto number = [&](std::uint64_t k) { return load(base, o_.plus(node, 4 * from + part + k)); };
    return sum4(q, number(0), number(4), number(2), number(6));
  };
  return sum4(p, along_y(0, 0), along_y(width, 0), along_y(0, 1), along_y(width, 1));
}

PtxText::F PtxTables::look_up(F x, F y, double key) {
  const auto table = find_pieces(key);
  const F nothing = PtxText::constant(std::numeric_limits<double>::quiet_NaN()), zero = PtxText::constant(0.0);
  if (!table) return nothing;
  const bool two = table->num_arguments == 2;
  const auto is_finite = [&](F s) { return o_.less(o_.abs(s), PtxText::constant(infinity)); };
  const At a = locate(*table, 0, x);
  F value;
  P known = is_finite(a.s);
  std::vector<At> all{a};
  if (two) {
    all.push_back(locate(*table, 1, y));
    value = on_grid(*table, a, all.back());
    known = o_.both(known, is_finite(all.back().s));
  } else {
    value = polynomial(*table, a.piece, a.s);
  }
  value = o_.select(known, value, nothing);
  // What is held does not change beyond the ends; what is zero has no value but zero.
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].outside && (table->outside == Outside::zero || (i == 0 ? table->order_x : table->order_y) > 0))
      value = o_.select(*all[i].outside, zero, value);
  for (const At& at : all)
    if (at.nowhere) value = o_.select(*at.nowhere, nothing, value);
  if (two) value = o_.select(o_.differs(y, y), y, value);
  return o_.select(o_.differs(x, x), x, value);
}

}  // namespace mechanician
