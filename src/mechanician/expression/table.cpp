#include "mechanician/expression/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/interval.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/table_content_internal.hpp"

namespace mechanician {

std::size_t least_points(Interpolation interpolation) { return interpolation == Interpolation::cubic ? 4 : 2; }

std::vector<TableProblem> find_problems(const TableData& data) {
  std::vector<TableProblem> problems;
  const auto add = [&](std::string message, std::string hint = {}, int argument = -1,
                       std::optional<std::size_t> point = std::nullopt) {
    problems.push_back({std::move(message), std::move(hint), argument, point});
  };
  const auto name = [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    return k < data.argument_names.size() ? data.argument_names[k] : std::string(i == 0 ? "x" : "y");
  };
  if (data.arguments.empty() || data.arguments.size() > 2) {
    add("a table has one argument or two");
    return problems;
  }
  if (data.arguments.size() == 2 && data.interpolation == Interpolation::monotone)
    add("`monotone` is for tables of one argument", "on a grid there are \"linear\", \"cubic\" and \"steps\"");
  std::size_t count = 1;
  for (int a = 0; const std::vector<double>& points : data.arguments) {
    count *= points.size();
    const std::size_t least = least_points(data.interpolation);
    if (points.size() < least)
      add(fmt::format("{} of `{}` {} too few: {} at least {}", count_noun(points.size(), "point"), name(a),
                      points.size() == 1 ? "is" : "are",
                      data.interpolation == Interpolation::cubic ? "a cubic spline needs" : "a table has", least),
          data.interpolation == Interpolation::cubic ? "\"linear\" and \"monotone\" take two" : "", a);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(points[i])) {
        add(fmt::format("point {} of `{}` is no number", i + 1, name(a)), "", a, i);
        break;
      }
      if (i == 0 || points[i] > points[i - 1]) continue;
      add(points[i] == points[i - 1] ? fmt::format("`{}` = {} is there twice", name(a), number_text(points[i]))
                                     : fmt::format("`{}` does not ascend: {} comes after {}", name(a),
                                                   number_text(points[i]), number_text(points[i - 1])),
          points[i] == points[i - 1] ? "a function has one value at each place" : "sort the points by it", a, i);
      break;
    }
    ++a;
  }
  if (count != data.values.size())
    add(fmt::format("{} for {}", count_noun(data.values.size(), "value"), count_noun(count, "point")));
  const auto bad = std::find_if(data.values.begin(), data.values.end(), [](double v) { return !std::isfinite(v); });
  if (bad != data.values.end())
    add(fmt::format("value {} is no number", bad - data.values.begin() + 1), "", -1,
        static_cast<std::size_t>(bad - data.values.begin()));
  if (!problems.empty() || data.outside != Outside::periodic || data.interpolation == Interpolation::steps)
    return problems;
  // The last point is the first one of the next period.
  const auto [least, largest] = std::minmax_element(data.values.begin(), data.values.end());
  const double same = 1e-12 * std::max(std::abs(*least), std::abs(*largest));
  const std::size_t n0 = data.arguments[0].size(), n1 = data.arguments.size() > 1 ? data.arguments[1].size() : 1;
  const auto compare = [&](double first, double last, int a) {
    if (std::abs(first - last) <= same) return true;
    add(fmt::format("a periodic table ends with the value that it begins with: {} and {} differ", number_text(first),
                    number_text(last)),
        fmt::format("the last point of `{}` is the first one of the next period", name(a)), a,
        data.arguments[static_cast<std::size_t>(a)].size() - 1);
    return false;
  };
  for (std::size_t j = 0; j < n1; ++j)
    if (!compare(data.values[j], data.values[(n0 - 1) * n1 + j], 0)) return problems;
  for (std::size_t i = 0; i < n0 && n1 > 1; ++i)
    if (!compare(data.values[i * n1], data.values[i * n1 + n1 - 1], 1)) return problems;
  return problems;
}

// ---- slopes

/// hᵢ sᵢ₋₁ + 2(hᵢ₋₁ + hᵢ) sᵢ + hᵢ₋₁ sᵢ₊₁ = 3(hᵢ Δᵢ₋₁ + hᵢ₋₁ Δᵢ): continuous second derivatives. Not-a-knot ends add that the third
/// one is continuous at the next point. All pivots are positive.
std::vector<double> spline_slopes(const TableAxis& axis, const double* values, std::size_t apart, bool periodic) {
  const std::size_t n = axis.size();
  const auto h = [&](std::size_t i) { return axis.step(i); };
  const auto delta = [&](std::size_t i) { return (values[(i + 1) * apart] - values[i * apart]) / h(i); };
  std::vector<double> diagonal(n), upper(n), slope(n);
  // Eliminates downwards, then puts in upwards; `lower` multiplies the slope before.
  const auto row = [&](std::size_t i, double lower, double d, double u, double right) {
    const double factor = i == 0 ? 0.0 : lower / diagonal[i - 1];
    diagonal[i] = d - (i == 0 ? 0.0 : factor * upper[i - 1]);
    upper[i] = u;
    slope[i] = right - (i == 0 ? 0.0 : factor * slope[i - 1]);
  };
  const auto finish = [&](std::size_t count) {
    for (std::size_t i = count; i-- > 0;)
      slope[i] = (slope[i] - (i + 1 < count ? upper[i] * slope[i + 1] : 0.0)) / diagonal[i];
  };
  if (!periodic) {
    const double d0 = axis[2] - axis[0], d1 = axis[n - 1] - axis[n - 3];
    row(0, 0.0, h(1), d0, ((h(0) + 2.0 * d0) * h(1) * delta(0) + h(0) * h(0) * delta(1)) / d0);
    for (std::size_t i = 1; i + 1 < n; ++i)
      row(i, h(i), 2.0 * (h(i - 1) + h(i)), h(i - 1), 3.0 * (h(i) * delta(i - 1) + h(i - 1) * delta(i)));
    row(n - 1, d1, h(n - 3), 0.0,
        (h(n - 2) * h(n - 2) * delta(n - 3) + (2.0 * d1 + h(n - 2)) * h(n - 3) * delta(n - 2)) / d1);
    finish(n);
    return slope;
  }
  // Round the circle of n − 1 points: without the last of them as a function of it (twice), then its own equation.
  const std::size_t m = n - 1;
  const auto before = [&](std::size_t i) { return i == 0 ? m - 1 : i - 1; };
  const auto right = [&](std::size_t i) { return 3.0 * (h(i) * delta(before(i)) + h(before(i)) * delta(i)); };
  const auto solve = [&](bool homogeneous) {
    for (std::size_t i = 0; i + 1 < m; ++i) {
      double r = homogeneous ? 0.0 : right(i);
      if (homogeneous && i == 0) r -= h(0);
      if (homogeneous && i + 2 == m) r -= h(before(i));
      row(i, h(i), 2.0 * (h(before(i)) + h(i)), h(before(i)), r);
    }
    finish(m - 1);
    return std::vector<double>(slope.begin(), slope.begin() + static_cast<std::ptrdiff_t>(m - 1));
  };
  const std::vector<double> u = solve(false), w = solve(true);
  const std::size_t l = m - 1;
  const double last =
      (right(l) - h(l) * u[l - 1] - h(l - 1) * u[0]) / (2.0 * (h(l - 1) + h(l)) + h(l) * w[l - 1] + h(l - 1) * w[0]);
  for (std::size_t i = 0; i < l; ++i) slope[i] = u[i] + last * w[i];
  slope[l] = last, slope[m] = slope[0];
  return slope;
}

/// Weighted harmonic means of the slopes on either side; none where these have different signs.
std::vector<double> monotone_slopes(const TableAxis& axis, const double* values, std::size_t apart, bool periodic) {
  const std::size_t n = axis.size(), m = n - 1;
  const auto h = [&](std::size_t i) { return axis.step(i); };
  const auto delta = [&](std::size_t i) { return (values[(i + 1) * apart] - values[i * apart]) / h(i); };
  const auto mean = [&](std::size_t left, std::size_t right) {
    const double a = delta(left), b = delta(right);
    if (!(a * b > 0.0) && !((a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0))) return 0.0;
    const double w1 = 2.0 * h(right) + h(left), w2 = h(right) + 2.0 * h(left);
    return 1.0 / ((w1 / a + w2 / b) / (w1 + w2));
  };
  const auto sign = [](double x) { return x > 0.0 ? 1 : x < 0.0 ? -1 : 0; };
  // By three points, as far as that is monotone.
  const auto end = [&](std::size_t i, std::size_t inner) {
    const double h0 = h(i), h1 = h(inner), m0 = delta(i), m1 = delta(inner);
    const double d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1);
    if (sign(d) != sign(m0)) return 0.0;
    return sign(m0) != sign(m1) && std::abs(d) > 3.0 * std::abs(m0) ? 3.0 * m0 : d;
  };
  std::vector<double> slope(n);
  for (std::size_t i = 1; i < m; ++i) slope[i] = mean(i - 1, i);
  if (m == 1)
    slope[0] = slope[1] = periodic ? 0.0 : delta(0);
  else if (periodic)
    slope[0] = slope[m] = mean(m - 1, 0);
  else
    slope[0] = end(0, 1), slope[m] = end(m - 1, m - 2);
  return slope;
}

// ---- content

int TableContent::degree() const {
  return interpolation_ == Interpolation::steps ? 0 : interpolation_ == Interpolation::linear ? 1 : 3;
}

TableContent::TableContent(TableData data)
    : name_(std::move(data.name)),
      argument_names_(std::move(data.argument_names)),
      num_arguments_(static_cast<int>(data.arguments.size())),
      interpolation_(data.interpolation),
      outside_(data.outside),
      values_(std::move(data.values)) {
  for (std::size_t i = 0; i < data.arguments.size(); ++i) axes_[i] = TableAxis(std::move(data.arguments[i]));
  if (num_arguments_ == 1)
    make_polynomials();
  else
    make_grid();
  make_sizes();
}

TableContent::~TableContent() { TableStore::instance().forget(*this); }

bool TableContent::same_as(const TableData& data) const {
  if (data.name != name_ || data.interpolation != interpolation_ || data.outside != outside_ ||
      data.values != values_ || static_cast<int>(data.arguments.size()) != num_arguments_ ||
      data.argument_names != argument_names_)
    return false;
  for (int i = 0; i < num_arguments_; ++i)
    if (data.arguments[static_cast<std::size_t>(i)] != axis(i).points()) return false;
  return true;
}

/// Of steps the last one too, which goes on beyond the last point; not where the next period begins there.
std::size_t TableContent::num_pieces(const TableAxis& axis) const {
  return interpolation_ == Interpolation::steps && outside_ != Outside::periodic ? axis.size() : axis.size() - 1;
}

void TableContent::make_polynomials() {
  const TableAxis& x = axes_[0];
  const std::size_t pieces = num_pieces(x);
  const bool periodic = outside_ == Outside::periodic;
  stride_ = degree() + 1;
  coefficients_.resize(pieces * static_cast<std::size_t>(stride_));
  const std::vector<double> slopes =
      interpolation_ == Interpolation::cubic      ? spline_slopes(x, values_.data(), 1, periodic)
      : interpolation_ == Interpolation::monotone ? monotone_slopes(x, values_.data(), 1, periodic)
                                                  : std::vector<double>();
  for (std::size_t i = 0; i < pieces; ++i) {
    double* c = coefficients_.data() + i * static_cast<std::size_t>(stride_);
    c[0] = values_[i];
    if (stride_ == 1) continue;
    const double h = x.step(i), delta = (values_[i + 1] - values_[i]) / h;
    if (stride_ == 2) {
      c[1] = delta;
      continue;
    }
    const double m0 = slopes[i], m1 = slopes[i + 1];
    c[1] = m0;
    c[2] = (3.0 * delta - 2.0 * m0 - m1) / h;
    c[3] = (m0 + m1 - 2.0 * delta) / (h * h);
  }
}

void TableContent::make_grid() {
  const std::size_t n0 = axes_[0].size(), n1 = axes_[1].size();
  if (interpolation_ != Interpolation::cubic) return;
  const bool periodic = outside_ == Outside::periodic;
  nodes_.resize(4 * n0 * n1);
  for (std::size_t k = 0; k < n0 * n1; ++k) nodes_[4 * k] = values_[k];
  // By x of the values, by y of both.
  for (std::size_t j = 0; j < n1; ++j) {
    const std::vector<double> s = spline_slopes(axes_[0], nodes_.data() + 4 * j, 4 * n1, periodic);
    for (std::size_t i = 0; i < n0; ++i) nodes_[4 * (i * n1 + j) + 1] = s[i];
  }
  for (std::size_t i = 0; i < n0; ++i)
    for (const std::size_t part : {0, 1}) {
      const std::vector<double> s = spline_slopes(axes_[1], nodes_.data() + 4 * i * n1 + part, 4, periodic);
      for (std::size_t j = 0; j < n1; ++j) nodes_[4 * (i * n1 + j) + 2 + part] = s[j];
    }
}

void TableContent::make_sizes() {
  for (const double v : values_) size_ = std::max(size_, std::abs(v));
  if (num_arguments_ != 1) return;
  for (int order = 0; order <= degree(); ++order) {
    Interval all = bound_piece(0, 0.0, 0.0, order);
    for (std::size_t i = 0; i < num_pieces(axes_[0]); ++i)
      all = Interval::hull(all, bound_piece(i, 0.0, i + 1 < axes_[0].size() ? axes_[0].step(i) : 0.0, order));
    least_.push_back(all.low), largest_.push_back(all.high);
  }
}

// ---- handles

namespace {

/// The last points are the first ones of the next period: not only nearly.
void close_periods(TableData& data) {
  if (data.outside != Outside::periodic || data.interpolation == Interpolation::steps) return;
  std::vector<double>& v = data.values;
  const std::size_t n0 = data.arguments[0].size(), n1 = data.arguments.size() > 1 ? data.arguments[1].size() : 1;
  for (std::size_t j = 0; j < n1; ++j) v[(n0 - 1) * n1 + j] = v[j];
  for (std::size_t i = 0; i < n0 && n1 > 1; ++i) v[i * n1 + n1 - 1] = v[i * n1];
}

}  // namespace

Table::Table(TableData data) {
  for (const TableProblem& p : find_problems(data))
    throw std::invalid_argument(
        fmt::format("table `{}`: {}{}", data.name, p.message, p.hint.empty() ? "" : "; " + p.hint));
  const std::size_t named = data.argument_names.size();
  for (std::size_t i = named; i < data.arguments.size(); ++i) data.argument_names.push_back(i == 0 ? "x" : "y");
  close_periods(data);
  content_ = TableStore::instance().intern(std::move(data));
}

const std::string& Table::name() const { return content_->name(); }
int Table::num_arguments() const { return content_->num_arguments(); }
int Table::degree() const { return content_->degree(); }

Expr Table::operator()(const Expr& x, int order) const {
  if (num_arguments() != 1) throw std::invalid_argument(fmt::format("table `{}` has two arguments", content_->name()));
  if (order > degree()) return 0.0;
  return make_raw(Op::lookup, {x, 0.0, table_leaf(content_, order, 0)});
}

Expr Table::operator()(const Expr& x, const Expr& y, int order_x, int order_y) const {
  if (num_arguments() != 2) throw std::invalid_argument(fmt::format("table `{}` has one argument", content_->name()));
  if (order_x > degree() || order_y > degree()) return 0.0;
  return make_raw(Op::lookup, {x, y, table_leaf(content_, order_x, order_y)});
}

}  // namespace mechanician
