#include "mechanician/motion/roots.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double smallest = std::numeric_limits<double>::min();
constexpr double infinity = std::numeric_limits<double>::infinity();

int sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// The polynomial has a clear sign here; u in [0, 1].
struct Witness {
  double u, value;
};

/// The polynomial through samples at the Chebyshev–Lobatto nodes of [0, 1], and the runs of its sign.
class SamplePolynomial {
 public:
  explicit SamplePolynomial(int samples) : degree_(static_cast<std::size_t>(samples) + 1), matrix_(size() * size()) {
    assert(samples >= 1 && samples <= 20);
    const auto n = static_cast<double>(degree_);
    for (std::size_t j = 0; j <= degree_; ++j) {
      const double angle = std::numbers::pi * static_cast<double>(j) / n, half = j == 0 || j == degree_ ? 0.5 : 1.0;
      nodes_.push_back(std::pow(std::sin(angle / 2), 2));
      for (std::size_t k = 0; k < std::min(num_highest, degree_); ++k)
        highest_[k].push_back(half * (k == 0 ? 1 : 2) / n * std::cos((n - static_cast<double>(k)) * angle));
    }
    nodes_.back() = 1.0;
    invert_bernstein();
  }

  std::size_t size() const { return degree_ + 1; }
  double node(std::size_t j) const { return nodes_[j]; }

  /// How far the polynomial may be from the function: what its highest terms still contribute.
  double error_of(std::span<const double> samples) const {
    double sum = 0;
    for (const std::vector<double>& to_coefficient : highest_)
      sum += std::abs(std::inner_product(to_coefficient.begin(), to_coefficient.end(), samples.begin(), 0.0));
    return sum;
  }
  /// Rounding of Bernstein coefficients, for samples up to 1.
  double rounding() const { return 4 * eps * norm_; }

  /// Points in rising order between which the polynomial changes its sign at most once, as far as |value| > noise shows
  /// it and its roots are further apart than 2^−max_depth. (Descartes' rule: as many roots as changes of sign among the
  /// coefficients at most, and at most one change means exactly one root.)
  void separate(std::span<const double> samples, double noise, std::vector<Witness>& found) {
    stack_.clear();
    stack_.resize(size());
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < size(); ++j) stack_[i] += matrix_[i * size() + j] * samples[j];
    intervals_.assign(1, {0.0, 1.0});
    for (int count = 0; !intervals_.empty(); ++count) {
      const auto [u, width] = intervals_.back();
      const std::span<double> c = std::span(stack_).last(size());
      const auto [low, high] = std::minmax_element(c.begin(), c.end());
      const bool never_turns = *low > -noise || *high < noise;
      const bool turns_once = changes(c) == 1 && std::abs(c.front()) > noise && std::abs(c.back()) > noise;
      if (never_turns || turns_once || width < min_width || count > max_intervals) {
        if (std::abs(c.front()) > noise) found.push_back({u, c.front()});
        if (std::abs(c.back()) > noise) found.push_back({u + width, c.back()});
        stack_.resize(stack_.size() - size());
        intervals_.pop_back();
      } else {
        halve();
      }
    }
  }

 private:
  /// One alone may vanish by symmetry or, for a kink, by where it lies.
  static constexpr std::size_t num_highest = 4;
  static constexpr double min_width = 1.0 / (1 << 14);
  static constexpr int max_intervals = 400;  // flat near zero: then nothing more is to be seen anyway

  static int changes(std::span<const double> c) {
    int n = 0, last = 0;
    for (const double x : c) {
      const int s = sign_of(x);
      if (s != 0 && last != 0 && s != last) ++n;
      if (s != 0) last = s;
    }
    return n;
  }

  /// De Casteljau: the top of the stack becomes its right half with the left half above it.
  void halve() {
    const std::size_t top = stack_.size() - size();
    stack_.resize(stack_.size() + size());
    double* right = stack_.data() + top;
    double* left = right + size();
    for (std::size_t k = 0; k < size(); ++k) {
      left[k] = right[0];
      for (std::size_t i = 0; i + k + 1 < size(); ++i) right[i] = 0.5 * (right[i] + right[i + 1]);
    }
    // What was left behind at the end of each round are the coefficients of the right half.
    auto& [u, width] = intervals_.back();
    width *= 0.5;
    const double begin = std::exchange(u, u + width);
    intervals_.push_back({begin, width});
  }

  /// matrix_: samples → coefficients. In extended precision by Gauss and Jordan, once.
  void invert_bernstein() {
    const std::size_t n = size();
    std::vector<long double> a(n * 2 * n, 0.0L);
    const auto at = [&](std::size_t i, std::size_t j) -> long double& { return a[i * 2 * n + j]; };
    for (std::size_t i = 0; i < n; ++i) {
      const long double u = nodes_[i];
      long double binomial = 1;
      for (std::size_t j = 0; j < n; ++j) {
        at(i, j) = binomial * std::pow(u, static_cast<long double>(j)) *
                   std::pow(1 - u, static_cast<long double>(degree_ - j));
        binomial = binomial * static_cast<long double>(degree_ - j) / static_cast<long double>(j + 1);
      }
      at(i, n + i) = 1;
    }
    for (std::size_t j = 0; j < n; ++j) {
      std::size_t pivot = j;
      for (std::size_t i = j + 1; i < n; ++i)
        if (std::abs(at(i, j)) > std::abs(at(pivot, j))) pivot = i;
      for (std::size_t l = 0; l < 2 * n; ++l) std::swap(at(j, l), at(pivot, l));
      const long double d = at(j, j);
      for (std::size_t l = 0; l < 2 * n; ++l) at(j, l) /= d;
      for (std::size_t i = 0; i < n; ++i) {
        if (i == j) continue;
        const long double f = at(i, j);
        for (std::size_t l = 0; l < 2 * n; ++l) at(i, l) -= f * at(j, l);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      double row = 0;
      for (std::size_t j = 0; j < n; ++j) {
        matrix_[i * n + j] = static_cast<double>(at(i, n + j));
        row += std::abs(matrix_[i * n + j]);
      }
      norm_ = std::max(norm_, row);
    }
  }

  struct Interval {
    double u, width;
  };
  std::size_t degree_;
  std::vector<double> nodes_, matrix_;
  std::array<std::vector<double>, num_highest> highest_;  ///< samples → Chebyshev coefficients, the last first
  double norm_ = 0.0;
  std::vector<double> stack_;  ///< coefficients of the intervals
  std::vector<Interval> intervals_;
};

/// The lowest point of the parabola through three points, l < m < r.
struct Vertex {
  double t, value;
};
Vertex vertex_of(double l, double fl, double m, double fm, double r, double fr) {
  const double slope_l = (fm - fl) / (m - l), slope_r = (fr - fm) / (r - m);
  const double curvature = (slope_r - slope_l) / (r - l);  // half the second derivative
  const double slope = slope_l + curvature * (m - l);      // at m
  const double shift = -slope / (2 * curvature);
  return {m + shift, fm + 0.5 * slope * shift};
}

/// Its matrix takes as long to make as a hundred searches: made once in a thread.
const SamplePolynomial& polynomial_of(int samples) {
  thread_local std::array<std::optional<SamplePolynomial>, 21> made;
  std::optional<SamplePolynomial>& found = made[static_cast<std::size_t>(samples)];
  if (!found) found.emplace(samples);
  return *found;
}

}  // namespace

class RootFinder::Impl {
 public:
  Impl(int num_functions, int samples)
      : k_(static_cast<std::size_t>(num_functions)),
        polynomial_(polynomial_of(samples)),
        errors_(k_),
        trial_(k_),
        far_(k_),
        at_root_(k_),
        end_(k_) {}

  std::span<const Root> find_all(const RootStep& step, RootFunctions evaluate) {
    begin(step, evaluate);
    confirm_suspects(Wanted::all);
    for (int i = 0; i < num_functions(); ++i)
      scan(i, [&](const Bracket& b) {
        roots_.push_back({locate(b, row(b.far_row)), i, -b.side});
        return true;
      });
    std::sort(roots_.begin(), roots_.end(),
              [](const Root& a, const Root& b) { return std::tie(a.t, a.function) < std::tie(b.t, b.function); });
    return roots_;
  }

  std::optional<Root> find_first(const RootStep& step, RootFunctions evaluate) {
    begin(step, evaluate);
    confirm_suspects(Wanted::first);

    // The bracket that ends first most likely holds the first root; the values there tell who else turned before it.
    brackets_.clear();
    for (int i = 0; i < num_functions(); ++i)
      if (const auto b = first_bracket(i)) brackets_.push_back(*b);
    std::sort(brackets_.begin(), brackets_.end(),
              [](const Bracket& x, const Bracket& y) { return std::tie(x.b, x.function) < std::tie(y.b, y.function); });
    std::optional<Root> first;
    for (Bracket& b : brackets_) {
      if (first && b.a >= first->t) continue;
      if (first && b.b >= first->t) {
        b.b = first->t;
        b.fb = at_root_[static_cast<std::size_t>(b.function)];
        if (!is_far(b.fb, b.side)) continue;
      }
      const double t = locate(b, first && b.b == first->t ? std::span<const double>(at_root_) : row(b.far_row));
      if (first && t >= first->t) continue;
      first = Root{t, b.function, -b.side};
      std::swap(at_root_, far_);
    }
    return first;
  }

  std::span<const double> at_root() const { return at_root_; }
  std::span<const double> end() const { return end_; }
  long evaluations() const { return evaluations_; }

 private:
  /// A change of sign of a function between two samples.
  struct Bracket {
    double a, fa, b, fb;
    int side;  ///< at a: +1 or −1
    int function;
    std::size_t far_row;  ///< at b
  };
  /// Where a function may have another sign than the samples around it.
  struct Suspect {
    double left, t, right;
    int function;
    int side;  ///< at left and right
  };

  int num_functions() const { return static_cast<int>(k_); }
  std::span<double> row(std::size_t r) { return std::span(values_).subspan(r * k_, k_); }
  double value(std::size_t r, int i) const { return values_[r * k_ + static_cast<std::size_t>(i)]; }
  double floor(int i) const { return step_.floor.empty() ? 0.0 : step_.floor[static_cast<std::size_t>(i)]; }
  bool is_clear(double g, int i) const { return std::abs(g) > floor(i); }
  static bool is_far(double g, int side) { return side > 0 ? g <= 0 : g >= 0; }
  double time_of(double u) const { return u == 1.0 ? step_.t1 : step_.t0 + u * (step_.t1 - step_.t0); }
  /// Neighbouring times that can still be told apart, and those that need not be.
  double tight() const { return 2 * eps * std::max(std::abs(step_.t0), std::abs(step_.t1)); }
  double loose() const { return std::max(step_.time_tolerance, tight()); }

  void evaluate(double t, std::span<double> values) {
    ++evaluations_;
    (*functions_)(t, values);
  }

  /// The place of the new row by time.
  std::size_t insert_row(double t) {
    const std::size_t r = times_.size();
    times_.push_back(t);
    values_.resize(values_.size() + k_);
    evaluate(t, row(r));
    const auto after =
        std::upper_bound(order_.begin(), order_.end(), t, [&](double x, std::size_t o) { return x < times_[o]; });
    const auto place = static_cast<std::size_t>(after - order_.begin());
    order_.insert(after, r);
    return place;
  }

  /// Samples at the nodes, and the sides at t1.
  void begin(const RootStep& step, const RootFunctions& evaluate_all) {
    assert(step.t0 < step.t1 && step.begin.size() == k_);
    assert((step.end.empty() || step.end.size() == k_) && (step.floor.empty() || step.floor.size() == k_));
    step_ = step;
    functions_ = &evaluate_all;
    times_.clear();
    values_.assign(polynomial_.size() * k_, 0.0);
    order_.clear();
    suspects_.clear();
    roots_.clear();
    const std::size_t last = polynomial_.size() - 1;
    for (std::size_t j = 0; j <= last; ++j) {
      times_.push_back(time_of(polynomial_.node(j)));
      order_.push_back(j);
      if (j == 0)
        std::copy(step.begin.begin(), step.begin.end(), row(j).begin());
      else if (j == last && !step.end.empty())
        std::copy(step.end.begin(), step.end.end(), row(j).begin());
      else
        evaluate(times_[j], row(j));
    }
    for (int i = 0; i < num_functions(); ++i) {
      const double g = value(last, i);
      const int side = scan(i, [](const Bracket&) { return true; });
      // A side is kept also by a value that is zero or not a number.
      end_[static_cast<std::size_t>(i)] =
          side == 0 ? g : std::copysign(std::isnan(g) ? smallest : std::max(std::abs(g), smallest), side);
    }
  }

  /// Calls found(bracket) at each change of sign while it returns true; the side at the end.
  template <class Found>
  int scan(int i, Found found) const {
    int side = sign_of(value(0, i));
    std::size_t near = 0;
    for (const std::size_t r : std::span(order_).subspan(1)) {
      const double g = value(r, i);
      if (!is_clear(g, i)) continue;
      const int s = sign_of(g);
      if (side != 0 && s != side && !found(Bracket{times_[near], value(near, i), times_[r], g, side, i, r}))
        return side;
      side = s;
      near = r;
    }
    return side;
  }

  std::optional<Bracket> first_bracket(int i) const {
    std::optional<Bracket> first;
    scan(i, [&](const Bracket& b) {
      first = b;
      return false;
    });
    return first;
  }

  // ---- what the samples do not show --------------------------------------------------------------------------------

  enum class Wanted { all, first };

  /// Evaluates where suspects are; for the first root only as long as they lie before a change of sign that is known.
  void confirm_suspects(Wanted wanted) {
    double limit = infinity;
    const auto lower_limit = [&](int i) {
      if (const auto b = first_bracket(i)) limit = std::min(limit, b->b);
    };
    for (int i = 0; i < num_functions(); ++i) {
      find_suspects(i);
      if (wanted == Wanted::first) lower_limit(i);
    }
    std::sort(suspects_.begin(), suspects_.end(),
              [](const Suspect& a, const Suspect& b) { return std::tie(a.t, a.function) < std::tie(b.t, b.function); });
    for (const Suspect& s : suspects_) {
      if (s.t >= limit) break;
      if (is_confirmed(s)) continue;
      probe(s);
      if (wanted == Wanted::first) lower_limit(s.function);
    }
  }

  void find_suspects(int i) {
    samples_.clear();
    double largest = 0, least = infinity;
    bool turns = false;
    for (std::size_t j = 0; j < polynomial_.size(); ++j) {
      samples_.push_back(value(j, i));
      largest = std::max(largest, std::abs(samples_[j]));
      least = std::min(least, std::abs(samples_[j]));
      turns |= sign_of(samples_[j]) != sign_of(samples_[0]);
      if (!std::isfinite(samples_[j])) return;
    }
    if (largest <= floor(i)) return;
    // Between Chebyshev nodes a polynomial leaves the range of its samples by less than that range.
    if (!turns && least > floor(i) && least > largest - least) return;
    const double error = polynomial_.error_of(samples_);
    errors_[static_cast<std::size_t>(i)] = error;
    suspect_runs(i, polynomial_.rounding() * largest + floor(i));
    if (least <= error_factor * error && error > polynomial_.rounding() * largest) suspect_dips(i);
  }

  /// Runs of one sign of the polynomial in which no sample lies.
  void suspect_runs(int i, double noise) {
    witnesses_.clear();
    polynomial_.separate(samples_, noise, witnesses_);
    const std::size_t count = witnesses_.size();
    for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
      const int sign = sign_of(witnesses_[begin].value);
      std::size_t best = begin;
      for (end = begin; end < count && sign_of(witnesses_[end].value) == sign; ++end)
        if (std::abs(witnesses_[end].value) > std::abs(witnesses_[best].value)) best = end;
      const double left = begin > 0 ? witnesses_[begin - 1].u : 0.0, right = end < count ? witnesses_[end].u : 1.0;
      bool sampled = false;
      for (std::size_t j = 0; j < polynomial_.size() && !sampled; ++j) {
        const double u = polynomial_.node(j);
        sampled = u >= left && u <= right && sign_of(samples_[j]) == sign && (j == 0 || is_clear(samples_[j], i));
      }
      if (!sampled) suspects_.push_back({time_of(left), time_of(witnesses_[best].u), time_of(right), i, -sign});
    }
  }

  /// Samples that are a local minimum of |g|, where the polynomial is too rough to say more.
  void suspect_dips(int i) {
    for (std::size_t j = 1; j + 1 < polynomial_.size(); ++j) {
      const double l = samples_[j - 1], m = samples_[j], r = samples_[j + 1];
      const int side = sign_of(m);
      if (side == 0 || sign_of(l) != side || sign_of(r) != side) continue;
      if (std::abs(m) > std::min(std::abs(l), std::abs(r))) continue;
      const Vertex v = vertex_of(times_[j - 1], l, times_[j], m, times_[j + 1], r);
      if (!(v.t > times_[j - 1] && v.t < times_[j + 1]) || v.t == times_[j]) continue;
      suspects_.push_back({times_[j - 1], v.t, times_[j + 1], i, side});
    }
  }

  bool is_confirmed(const Suspect& s) const {
    for (const std::size_t r : order_)
      if (times_[r] > s.left && times_[r] < s.right && is_clear(value(r, s.function), s.function) &&
          sign_of(value(r, s.function)) == -s.side)
        return true;
    return false;
  }

  /// Looks for the other sign: where it is expected, then by descent between the neighbouring samples as long as the
  /// error of the polynomial can hide it.
  void probe(const Suspect& s) {
    const int i = s.function;
    const std::size_t place = insert_row(s.t);
    if (place == 0 || place + 1 == order_.size()) return;
    const auto height = [&](std::size_t p) { return s.side * value(order_[p], i); };
    double l = times_[order_[place - 1]], m = s.t, r = times_[order_[place + 1]];
    double fl = height(place - 1), fm = height(place), fr = height(place + 1);
    if (!(fm <= error_factor * errors_[static_cast<std::size_t>(i)] + floor(i) && fm < fl && fm < fr)) return;
    for (int step = 0; step < max_descent && fm >= -floor(i); ++step) {
      const Vertex v = vertex_of(l, fl, m, fm, r, fr);
      if (step > 0 && v.value > 0.5 * fm && v.value > floor(i)) return;  // it stays above zero
      double x = v.t;
      if (!(x > l && x < r)) x = m - l > r - m ? m - 0.38 * (m - l) : m + 0.38 * (r - m);
      if (std::abs(x - m) <= std::max(loose(), 1e-8 * (r - l))) return;
      const double fx = height(insert_row(x));
      if (!(std::abs(fx) < infinity)) return;
      if (fx <= fm) {
        (x < m ? r : l) = m;
        (x < m ? fr : fl) = fm;
        m = x;
        fm = fx;
      } else {
        (x < m ? l : r) = x;
        (x < m ? fl : fr) = fx;
      }
    }
  }

  // ---- where exactly -----------------------------------------------------------------------------------------------

  /// The far end of the smallest bracket; far_ holds all values there. values_at_b: all values at the bracket's far
  /// end.
  double locate(const Bracket& bracket, std::span<const double> values_at_b) {
    const auto i = static_cast<std::size_t>(bracket.function);
    const int side = bracket.side;
    std::copy(values_at_b.begin(), values_at_b.end(), far_.begin());
    // x1 is the last point, x2 the other end of the bracket, x3 the point before.
    double x1 = bracket.a, f1 = bracket.fa, x2 = bracket.b, f2 = bracket.fb, x3 = x1, f3 = f1;
    bool far1 = false, fast = true;
    const auto go_to = [&](double x) {
      evaluate(x, trial_);
      const double f = trial_[i];
      const bool far = is_far(f, side);
      if (far) std::swap(far_, trial_);
      if (far != far1) {
        x3 = std::exchange(x2, x1);
        f3 = std::exchange(f2, f1);
        far1 = far;
      } else {
        x3 = x1;
        f3 = f1;
      }
      x1 = x;
      f1 = f;
    };
    // On its side at t0 by name only: perhaps it has left already.
    if (x1 == step_.t0 && std::abs(f1) <= floor(bracket.function) + 1e-10 * std::abs(f2) && x2 - x1 > loose())
      go_to(x1 + loose());
    for (int count = 0; count < 200; ++count) {
      const double width = std::abs(x2 - x1);
      if (width <= tight() || (width <= loose() && !fast)) break;
      double s = 0.5;
      fast = false;
      if (x3 == x1 || x3 == x2) {
        s = f1 / (f1 - f2);
        fast = true;
      } else {
        const double xi = (x1 - x2) / (x3 - x2), phi = (f1 - f2) / (f3 - f2);
        fast = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
        if (fast) s = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2);
      }
      if (!(s >= 0 && s <= 1)) {
        s = 0.5;
        fast = false;
      }
      // Not nearer to an end than can be told apart: the next point then lies on the other side of the root.
      const double least = 0.5 * tight() / width;
      go_to(x1 + std::clamp(s, least, 1 - least) * (x2 - x1));
    }
    return far1 ? x1 : x2;
  }

  static constexpr double error_factor = 8;  ///< the estimated error of a polynomial may be too small by this
  static constexpr int max_descent = 10;

  std::size_t k_;
  SamplePolynomial polynomial_;
  RootStep step_{};
  const RootFunctions* functions_ = nullptr;
  std::vector<double> times_, values_;  ///< rows in the order of evaluation, the nodes first
  std::vector<std::size_t> order_;      ///< rows by time
  std::vector<double> samples_;         ///< of the function at hand
  std::vector<double> errors_;          ///< of the polynomials
  std::vector<Suspect> suspects_;
  std::vector<Witness> witnesses_;
  std::vector<Bracket> brackets_;
  std::vector<double> trial_, far_, at_root_, end_;
  std::vector<Root> roots_;
  long evaluations_ = 0;
};

RootFinder::RootFinder(int num_functions, int samples) : impl_(std::make_unique<Impl>(num_functions, samples)) {}
RootFinder::~RootFinder() = default;
RootFinder::RootFinder(RootFinder&&) noexcept = default;
RootFinder& RootFinder::operator=(RootFinder&&) noexcept = default;

std::span<const Root> RootFinder::find_all(const RootStep& step, RootFunctions evaluate) {
  return impl_->find_all(step, evaluate);
}
std::optional<Root> RootFinder::find_first(const RootStep& step, RootFunctions evaluate) {
  return impl_->find_first(step, evaluate);
}
std::span<const double> RootFinder::at_root() const { return impl_->at_root(); }
std::span<const double> RootFinder::end() const { return impl_->end(); }
long RootFinder::evaluations() const { return impl_->evaluations(); }

}  // namespace mechanician
