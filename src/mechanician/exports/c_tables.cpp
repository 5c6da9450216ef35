#include "mechanician/exports/c_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "mechanician/exports/c_printer.hpp"
#include "mechanician/expression/table_pieces.hpp"

namespace mechanician {

namespace {

/// Where a number lies among points: the engine's table_lookup.cpp in C.
constexpr std::string_view location = R"(
/* Where x lies among points: its piece and the way from there. where: 0 inside, 1 constant beyond an end, 2 zero, 3 nowhere. */
typedef struct { int piece, where; double s; } @place;
static @place @locate(const double *points, int n, int pieces, int outside, int steps, double x)
{
  @place at = {0, 0, 0};
  const double first = points[0], last = points[n - 1];
  int low = 0, high = n;
  if (outside == 0) {
    const double slack = 8*2.220446049250313e-16*(fabs(first) > fabs(last) ? fabs(first) : fabs(last));
    if (!(x >= first - slack && x <= last + slack)) { at.where = 3; return at; }
  } else if (outside == 3) {
    x = x - floor((x - first)/(last - first))*(last - first);
  } else if (!(x >= first && x <= last)) {
    at.where = outside == 1 ? 1 : 2;
    if (outside == 1 && x > last) at.piece = pieces - 1, at.s = steps ? 0 : points[pieces] - points[pieces - 1];
    return at;
  }
  while (low < high) {
    const int middle = (low + high)/2;
    if (points[middle] <= x) low = middle + 1; else high = middle;
  }
  at.piece = low > 0 ? low - 1 : 0;
  if (at.piece > pieces - 1) at.piece = pieces - 1;
  at.s = x - points[at.piece];
  if (!isfinite(at.s)) at.where = 3;
  return at;
}
)";

/// Regions that end where values or slopes jump, and their polynomials beyond their ends: the engine's in C. A table is
/// described by its points, how it goes on outside, and which of its points regions end at.
constexpr std::string_view regions = R"(
typedef struct { const double *points; int n, pieces, outside, steps, fine; long first, count, apart; } @axis;
typedef struct { long number; double from, to; } @region;
static @region @make_region(const @axis *a, long number)
{
  @region r = {0, -INFINITY, INFINITY};
  r.number = number;
  if (a->outside == 3) {
    const long turn = number >= 0 ? number/a->count : -((-number + a->count - 1)/a->count), k = number - turn*a->count;
    const double shift = (double)turn*(a->points[a->n - 1] - a->points[0]);
    r.from = a->points[k] + shift, r.to = a->points[k + 1] + shift;
    return r;
  }
  if (number > 0) r.from = a->points[a->first + (number - 1)*a->apart];
  if (number < a->count) r.to = a->points[a->first + number*a->apart];
  return r;
}

/* The last point that is not beyond x; 0 where all are. */
static int @last_point(const @axis *a, double x)
{
  int low = 0, high = a->n;
  while (low < high) {
    const int middle = (low + high)/2;
    if (a->points[middle] <= x) low = middle + 1; else high = middle;
  }
  return low > 0 ? low - 1 : 0;
}

static @region @region_at(const @axis *a, double x)
{
  const double period = a->points[a->n - 1] - a->points[0];
  @region r = {0, -INFINITY, INFINITY};
  long k;
  if (a->outside == 3) {
    const double turn = floor((x - a->points[0])/period);
    long number;
    if (!(fabs(turn) < 1e15)) return r;
    k = @last_point(a, x - turn*period);
    number = (long)turn*a->count + (k < a->count - 1 ? k : a->count - 1);
    /* Rounding may leave it in the region beside. */
    r = @make_region(a, number);
    if (x < r.from) r = @make_region(a, --number);
    if (x >= r.to) r = @make_region(a, ++number);
    return r;
  }
  if (a->count == 0) return r;
  k = @last_point(a, x);
  if (x < a->points[0] || k < a->first) return @make_region(a, 0);
  k = (k - a->first)/a->apart + 1;
  return @make_region(a, k < a->count ? k : a->count);
}

/* Positive in even regions, negative in odd ones, zero in between; or its derivatives. */
static double @guard_at(const @axis *a, double x, int order)
{
  @region r;
  double sign, w;
  if (isnan(x)) return x;
  r = @region_at(a, x), sign = r.number%2 == 0 ? 1 : -1, w = r.to - r.from;
  if (order > 2) return 0;
  if (isfinite(w)) return sign*(order == 0 ? (x - r.from)*(r.to - x)/w : order == 1 ? 1 - 2*(x - r.from)/w : -2/w);
  if (order == 2) return 0;
  if (isfinite(r.to)) return sign*(order == 0 ? r.to - x : -1);
  if (isfinite(r.from)) return sign*(order == 0 ? x - r.from : 1);
  return order == 0 ? sign : 0;
}

/* Among the polynomials of the nearest region of a side, which x need not lie in. */
static @place @locate_held(const @axis *a, double x, int side)
{
  @place at = {0, 0, 0};
  const double first = a->points[0], last = a->points[a->n - 1];
  @region r;
  int below, above;
  if (a->outside == 0) {
    const double slack = 8*2.220446049250313e-16*(fabs(first) > fabs(last) ? fabs(first) : fabs(last));
    if (!(x >= first - slack && x <= last + slack)) { at.where = 3; return at; }
  }
  r = @region_at(a, x);
  if ((r.number%2 == 0) != (side > 0)) {
    const double left = x - r.from, right = r.to - x;
    if (isfinite(left) || isfinite(right)) r = @make_region(a, r.number + (left <= right ? -1 : 1));
  }
  if (a->outside == 3) {
    const long k = ((r.number%a->count) + a->count)%a->count;
    at.piece = (int)k, at.s = x - r.from;
    if (!isfinite(at.s)) at.where = 3;
    return at;
  }
  below = a->count > 0 && r.number == 0 && a->first == 0;
  above = a->count > 0 && r.number == a->count && a->first + (a->count - 1)*a->apart == a->n - 1 && !(a->steps && a->outside != 2);
  if (below || above) {
    at.where = a->outside == 1 ? 1 : 2;
    if (a->outside == 1 && above) at.piece = a->pieces - 1, at.s = a->steps ? 0 : a->points[a->pieces] - a->points[a->pieces - 1];
    return at;
  }
  if (a->fine) at.piece = (int)(a->first + r.number > 1 ? a->first + r.number - 1 : 0);
  else at.piece = @last_point(a, x < first ? first : x > last ? last : x);
  if (at.piece > a->pieces - 1) at.piece = a->pieces - 1;
  at.s = x - a->points[at.piece];
  if (!isfinite(at.s)) at.where = 3;
  return at;
}
)";

constexpr std::string_view polynomial = R"(
static double @polynomial(const double *c, int stride, double s, int order)
{
  if (order >= stride) return 0;
  if (stride == 1) return c[0];
  if (stride == 2) return order == 0 ? c[0] + c[1]*s : c[1];
  return order == 0 ? c[0] + s*(c[1] + s*(c[2] + s*c[3])) : order == 1 ? c[1] + s*(2*c[2] + s*3*c[3]) : order == 2 ? 2*c[2] + s*6*c[3] : 6*c[3];
}
)";

constexpr std::string_view weights = R"(
/* What the values and slopes at both ends of a piece of length h count at s, differentiated by s. */
static void @end_weights(double s, double h, int order, int cubic, double *w)
{
  const double u = s/h, v = 1 - u;
  double d;
  w[0] = w[1] = w[2] = w[3] = 0;
  if (!cubic) {
    if (order == 0) w[0] = 1 - u, w[1] = u;
    if (order == 1) w[0] = -1/h, w[1] = 1/h;
    return;
  }
  switch (order) {
    case 0: w[0] = (1 + 2*u)*v*v, w[1] = u*u*(3 - 2*u), w[2] = s*v*v, w[3] = -s*u*v; break;
    case 1: d = 6*u*v/h, w[0] = -d, w[1] = d, w[2] = (1 - 3*u)*v, w[3] = u*(3*u - 2); break;
    case 2: d = (12*u - 6)/(h*h), w[0] = d, w[1] = -d, w[2] = (6*u - 4)/h, w[3] = (6*u - 2)/h; break;
    case 3: d = 12/(h*h*h), w[0] = d, w[1] = -d, w[2] = 6/(h*h), w[3] = 6/(h*h); break;
    default: break;
  }
}
)";

std::string array(const std::string& name, const std::vector<double>& values) {
  std::string out = fmt::format("static const double {}[] = {{", name);
  for (std::size_t i = 0; i < values.size(); ++i) out += (i % 8 == 0 ? "\n  " : " ") + c_number(values[i]) + ",";
  return out + "};\n";
}

int number_of(Outside outside) {
  return outside == Outside::error ? 0 : outside == Outside::hold ? 1 : outside == Outside::zero ? 2 : 3;
}

/// The pieces of an argument, of which the last may begin at its last point.
std::size_t count_pieces(const TablePieces& t, int argument) {
  const std::size_t n = t.points[argument].size();
  return t.interpolation == Interpolation::steps && t.outside != Outside::periodic ? n : n - 1;
}

std::string axis_of(const TablePieces& t, int table, int argument) {
  const TablePieces::Regions& r = t.regions[argument];
  return fmt::format("  static const @axis axis{} = {{@points{}_{}, {}, {}, {}, {}, {}, {}, {}, {}}};\n", argument,
                     table, argument, t.points[argument].size(), count_pieces(t, argument), number_of(t.outside),
                     t.interpolation == Interpolation::steps ? 1 : 0, t.fine ? 1 : 0, r.first, r.count, r.apart);
}

std::string located(const TablePieces& t, int table, int argument, const char* x) {
  if (t.side[argument] != 0) return fmt::format("@locate_held(&axis{}, {}, {})", argument, x, t.side[argument]);
  return fmt::format("@locate(@points{}_{}, {}, {}, {}, {}, {})", table, argument, t.points[argument].size(),
                     count_pieces(t, argument), number_of(t.outside), t.interpolation == Interpolation::steps ? 1 : 0,
                     x);
}

std::string function_of(const TablePieces& t, int table, std::size_t function) {
  std::string out = fmt::format("static double @lookup{}(double x, double y)\n{{\n", function);
  if (t.guard != 0)
    return out + axis_of(t, table, t.guard - 1) +
           fmt::format("  (void)y;\n  return @guard_at(&axis{}, x, {});\n}}\n", t.guard - 1, t.order_x);
  for (int i = 0; i < t.num_arguments; ++i)
    if (t.side[i] != 0) out += axis_of(t, table, i);
  if (t.num_arguments == 1) {
    out +=
        fmt::format("  @place a;\n  (void)y;\n  if (isnan(x)) return x;\n  a = {};\n  if (a.where == 3) return NAN;\n",
                    located(t, table, 0, "x"));
    out += fmt::format("  if (a.where == 2{}) return 0;\n", t.order_x > 0 ? " || a.where == 1" : "");
    return out + fmt::format("  return @polynomial(@pieces{0} + a.piece*{1}, {1}, a.s, {2});\n}}\n", table, t.stride,
                             t.order_x);
  }
  out += fmt::format(
      "  @place a, b;\n  int at;\n  if (isnan(x)) return x;\n  a = {};\n  if (a.where == 3) return NAN;\n  if "
      "(isnan(y)) "
      "return y;\n  b = {};\n  if (b.where == 3) return NAN;\n",
      located(t, table, 0, "x"), located(t, table, 1, "y"));
  out += fmt::format("  if (a.where == 2 || b.where == 2{}{}) return 0;\n", t.order_x > 0 ? " || a.where == 1" : "",
                     t.order_y > 0 ? " || b.where == 1" : "");
  const std::size_t n1 = t.points[1].size();
  out += fmt::format("  at = a.piece*{} + b.piece;\n", n1);
  if (t.interpolation == Interpolation::steps)
    return out + (t.order_x + t.order_y > 0 ? std::string("  (void)at;\n  return 0;\n}\n")
                                            : fmt::format("  return @pieces{}[at];\n}}\n", table));
  const bool linear = t.interpolation == Interpolation::linear;
  out += fmt::format(
      "  {{\n    double p[4], q[4];\n    @end_weights(a.s, @points{0}_0[a.piece + 1] - @points{0}_0[a.piece], {1}, "
      "{3}, p);\n"
      "    @end_weights(b.s, @points{0}_1[b.piece + 1] - @points{0}_1[b.piece], {2}, {3}, q);\n",
      table, t.order_x, t.order_y, linear ? 0 : 1);
  if (linear)
    return out +
           fmt::format(
               "    return p[0]*(q[0]*@pieces{0}[at] + q[1]*@pieces{0}[at + 1]) + p[1]*(q[0]*@pieces{0}[at + {1}] + "
               "q[1]*@pieces{0}[at + {1} + 1]);\n  }}\n}}\n",
               table, n1);
  const auto along_y = [&](std::size_t node, int part) {
    return fmt::format("(q[0]*f[{0}] + q[1]*f[{1}] + q[2]*f[{2}] + q[3]*f[{3}])", 4 * node + part, 4 * node + 4 + part,
                       4 * node + 2 + part, 4 * node + 6 + part);
  };
  return out +
         fmt::format(
             "    const double *f = @pieces{} + 4*at;\n    return p[0]*{} + p[1]*{} + p[2]*{} + p[3]*{};\n  }}\n}}\n",
             table, along_y(0, 0), along_y(n1, 0), along_y(0, 1), along_y(n1, 1));
}

}  // namespace

std::string CTables::name_of(double key) {
  const auto bits = std::bit_cast<std::uint64_t>(key);
  if (!find_pieces(key)) throw std::invalid_argument("C has no way to write what a table of this model is asked for");
  auto found = std::find(keys_.begin(), keys_.end(), bits);
  if (found == keys_.end()) found = keys_.insert(keys_.end(), bits);
  return fmt::format("@lookup{}", found - keys_.begin() + 1);
}

std::string CTables::code() const {
  if (keys_.empty()) return {};
  std::string data, functions;
  std::map<std::uint64_t, int> tables;  // by id, the key without what is asked
  bool one = false, grid = false, held = false;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const TablePieces t = *find_pieces(std::bit_cast<double>(keys_[k]));
    const auto [found, is_new] = tables.emplace(keys_[k] >> 13, static_cast<int>(tables.size()) + 1);
    const int table = found->second;
    if (is_new) {
      for (int i = 0; i < t.num_arguments; ++i) data += array(fmt::format("@points{}_{}", table, i), t.points[i]);
      const bool cubic_grid = t.num_arguments > 1 && !t.nodes.empty();
      data += array(fmt::format("@pieces{}", table), t.num_arguments == 1 ? t.coefficients
                                                     : cubic_grid         ? t.nodes
                                                                          : t.values);
    }
    functions += function_of(t, table, k + 1);
    held |= t.guard != 0 || t.side[0] != 0 || t.side[1] != 0;
    one |= t.num_arguments == 1 && t.guard == 0;
    grid |= t.num_arguments > 1 && t.guard == 0 && t.interpolation != Interpolation::steps;
  }
  return fmt::format("{}{}{}{}{}{}\n", location, held ? regions : "", one ? polynomial : "", grid ? weights : "", data,
                     functions);
}

}  // namespace mechanician
