#include "mechanician/analysis/branch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/project.hpp"

namespace mechanician {

namespace {

using Eigen::Index;

/// A direction of the curve, in typical sizes: dq/scale and dp/range, of unit length together.
struct Direction {
  Eigen::VectorXd q;
  double p = 0.0;
  double dot(const Direction& other) const { return q.dot(other.q) + p * other.p; }
};

struct Point {
  Eigen::VectorXd q;
  double p = 0.0;
  Direction along;    ///< where the branch goes on
  double sign = 0.0;  ///< of det S
  BranchPoint shown;
  std::vector<double> guards;  ///< RestModes::guards
};

/// Guards that are less are passed.
constexpr double passed = -1e-9;

class Follower {
 public:
  Follower(RestModes& modes, const BranchOptions& options)
      : modes_(modes), search_(&modes.open()), options_(options), range_(options.to - options.from) {}

  Branches run() {
    struct Begin {
      Eigen::VectorXd q;
      double p;
      Closed closed;
    };
    std::vector<Begin> begins;
    for (const double p : {options_.from, options_.to}) {
      modes_.set_parameter(p);
      for (const RestState& s : modes_.find_all(options_.rest)) {
        if (s.isolated)
          begins.push_back({s.linear.state.q, p, s.closed});
        else
          note(fmt::format("at {} = {}: a state of rest that has others next to it: no branch is followed from it",
                           search_->varied(), short_number(p)));
      }
    }
    for (const Begin& begin : begins) modes_.see(begin.q);
    for (const Begin& begin : begins) {
      take_mode(begin.closed);
      begin_at(begin.q, begin.p);
    }
    // Crossings are added as they are found.
    for (std::size_t k = 0; k < crossings_.size(); ++k) follow_crossing(Crossing(crossings_[k]));
    // Where branches cross at a right angle one of them turns in p there, which is no fold.
    std::erase_if(found_.special, [&](const SpecialPoint& fold) {
      return fold.kind == SpecialKind::fold &&
             std::any_of(found_.special.begin(), found_.special.end(), [&](const SpecialPoint& other) {
               return other.kind == SpecialKind::crossing &&
                      std::abs(other.parameter - fold.parameter) < 1e-6 * range_ &&
                      search_->distance(other.q, fold.q) < 1e-4;
             });
    });
    return std::move(found_);
  }

 private:
  using Closed = RestModes::Closed;
  struct Crossing {
    Eigen::VectorXd q;
    double p;
    Direction along, across;
    Closed closed;
  };

  void take_mode(const Closed& closed) { closed_ = closed, search_ = &modes_.of(closed); }

  void note(std::string text) {
    if (std::find(found_.notes.begin(), found_.notes.end(), text) == found_.notes.end())
      found_.notes.push_back(std::move(text));
  }

  Direction difference(const Eigen::VectorXd& q, double p, const Eigen::VectorXd& q0, double p0) const {
    return {(q - q0).cwiseQuotient(search_->scale()), (p - p0) / range_};
  }

  RestSearch::Equations evaluate(const Eigen::VectorXd& q, double p) {
    if (p != search_->parameter()) modes_.set_parameter(p), search_ = &modes_.of(closed_);
    return search_->evaluate(q);
  }

  /// [S r_p; across] in (δx, δp/range), and what its solution is in all coordinates.
  Eigen::MatrixXd bordered(const RestSearch::Equations& at, const Direction& plane) const {
    const Index n = at.r.size();
    Eigen::MatrixXd K(n + 1, n + 1);
    K.topLeftCorner(n, n) = at.S;
    K.topRightCorner(n, 1) = range_ * at.r_p;
    const Eigen::VectorXd weights = plane.q.cwiseQuotient(search_->scale());
    K.bottomLeftCorner(1, n) = weights.transpose() * at.linear.q.leftCols(n);
    K(n, n) = plane.p + range_ * weights.dot(at.q_p);
    for (Index i = 0; i < n; ++i)
      if (const double size = K.row(i).cwiseAbs().maxCoeff(); size > 0.0) K.row(i) /= size;
    return K;
  }
  Eigen::VectorXd scaled_residual(const RestSearch::Equations& at) const {
    Eigen::VectorXd r = at.r;
    for (Index i = 0; i < r.size(); ++i)
      if (const double size = std::max(at.S.row(i).cwiseAbs().maxCoeff(), std::abs(range_ * at.r_p(i))); size > 0.0)
        r(i) /= size;
    return r;
  }
  Direction expand(const RestSearch::Equations& at, const Eigen::VectorXd& x) const {
    const Index n = at.r.size();
    const Eigen::VectorXd dx = x.head(n), dq = at.linear.q.leftCols(n) * dx + range_ * x(n) * at.q_p;
    return {dq.cwiseQuotient(search_->scale()), x(n)};
  }

  /// The point of the branch on the plane through a guess; nothing where Newton's iteration does not converge.
  std::optional<Point> correct(Eigen::VectorXd q, double p, const Direction& plane, bool hold_p = false) {
    if (options_.rest.between) options_.rest.between();
    const Eigen::VectorXd q0 = q;
    const double p0 = p;
    Direction border = plane;
    if (hold_p) border.q.setZero(), border.p = 1.0;
    for (int round = 0; round < 12; ++round) {
      const RestSearch::Equations at = evaluate(q, p);
      if (!at.ok) return std::nullopt;
      const Index n = at.r.size();
      Eigen::VectorXd right(n + 1);
      right.head(n) = -scaled_residual(at);
      right(n) = -border.dot(difference(at.linear.state.q, p, q0, p0));
      const Eigen::MatrixXd K = bordered(at, border);
      const Eigen::FullPivLU<Eigen::MatrixXd> lu(K);
      const Eigen::VectorXd x = lu.solve(right);
      if (!x.allFinite()) return std::nullopt;
      const Direction step = expand(at, x);
      const double length = std::sqrt(step.dot(step));
      if (length > 0.5) return std::nullopt;
      q = at.linear.state.q + step.q.cwiseProduct(search_->scale());
      p += range_ * step.p;
      if (length < 1e-12 || (length < 1e-9 && at.balances())) return finish(q, p, plane);
    }
    return std::nullopt;
  }

  /// Tangent and stability there.
  std::optional<Point> finish(const Eigen::VectorXd& q, double p, const Direction& before) {
    const RestSearch::Equations at = evaluate(q, p);
    if (!at.ok) return std::nullopt;
    Point point;
    point.q = at.linear.state.q, point.p = p;
    const Index n = at.r.size();
    Eigen::VectorXd right = Eigen::VectorXd::Zero(n + 1);
    right(n) = 1.0;
    const Eigen::MatrixXd K = bordered(at, before);
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(K);
    point.along = expand(at, lu.solve(right));
    const double length = std::sqrt(point.along.dot(point.along));
    if (!(length > 0.0) || !std::isfinite(length)) return std::nullopt;
    const double turn = point.along.dot(before) < 0.0 ? -1.0 : 1.0;
    point.along.q *= turn / length, point.along.p *= turn / length;
    const Eigen::MatrixXd S = at.S;
    point.sign = n > 0 ? Eigen::FullPivLU<Eigen::MatrixXd>(S).determinant() : 1.0;
    Linearisation linear = at.linear;
    linear.at = Linearisation::At::rest;
    const Spectrum spectrum = find_spectrum(linear, {.vectors = false});
    point.shown = {p, point.q, 0, spectrum.eigenvalues.empty() ? 0.0 : spectrum.eigenvalues.back().value.real()};
    for (const Eigenvalue& e : spectrum.eigenvalues) point.shown.num_unstable += e.value.real() > 0.0;
    point.guards = modes_.guards(closed_, at.linear);
    return point;
  }

  /// On a branch that is known already: on one of its points, or as near to the line between two as a curve of such steps is.
  bool is_known(const Eigen::VectorXd& q, double p) const {
    for (const auto& branch : found_.branches)
      for (std::size_t k = 0; k < branch.size(); ++k) {
        if (std::abs(branch[k].parameter - p) < 1e-9 * range_ && search_->distance(branch[k].q, q) < 1e-6) return true;
        if (k == 0) continue;
        const Direction chord = difference(branch[k].q, branch[k].parameter, branch[k - 1].q, branch[k - 1].parameter),
                        to = difference(q, p, branch[k - 1].q, branch[k - 1].parameter);
        const double length = chord.dot(chord), part = length > 0.0 ? to.dot(chord) / length : -1.0;
        if (part < 0.0 || part > 1.0) continue;
        const Direction off{to.q - part * chord.q, to.p - part * chord.p};
        if (off.dot(off) < 1e-3 * length) return true;
      }
    return false;
  }

  void begin_at(const Eigen::VectorXd& q, double p) {
    if (found_.branches.size() >= static_cast<std::size_t>(options_.most_branches) || is_known(q, p)) return;
    Direction inwards{Eigen::VectorXd::Zero(q.size()), p < options_.from + 0.5 * range_ ? 1.0 : -1.0};
    const auto first = finish(q, p, inwards);
    if (first) follow(*first);
  }

  void follow_crossing(const Crossing& c) {
    take_mode(c.closed);
    for (const double sign : {1.0, -1.0}) {
      if (found_.branches.size() >= static_cast<std::size_t>(options_.most_branches)) return;
      Direction across{sign * c.across.q, sign * c.across.p};
      for (const double step : {options_.step, 0.3 * options_.step, 0.05 * options_.step}) {
        const auto next =
            correct(c.q + step * across.q.cwiseProduct(search_->scale()), c.p + step * range_ * across.p, across);
        if (!next || next->p < options_.from || next->p > options_.to) continue;
        const Direction off = difference(next->q, next->p, c.q, c.p);
        if (std::abs(off.dot(c.along)) > 0.99 * std::sqrt(off.dot(off))) continue;  // back on the old one
        if (is_known(next->q, next->p) || !is_admissible(*next)) break;
        Point begin = *next;
        begin.shown.parameter = c.p;
        found_.branches.push_back({{c.p, c.q, next->shown.num_unstable, 0.0}});
        go_on(begin, found_.branches.size() - 1);
        take_mode(c.closed);
        break;
      }
    }
  }

  void follow(const Point& first) {
    found_.branches.emplace_back();
    go_on(first, found_.branches.size() - 1);
  }

  void go_on(Point now, std::size_t branch) {
    found_.branches[branch].push_back(now.shown);
    const Point first = now;
    double h = options_.step;
    for (int k = 0; k < options_.most_points; ++k) {
      std::optional<Point> next;
      while (!next) {
        if (h < 1e-7) {
          next = pass_kink(now, branch);
          if (next) break;
          note(fmt::format("a branch ends at {} = {}: no state of rest was found next to it", search_->varied(),
                           short_number(now.p)));
          return;
        }
        next = correct(now.q + h * now.along.q.cwiseProduct(search_->scale()), now.p + h * range_ * now.along.p,
                       now.along);
        // A tangent that turns by much is another branch, or a step too far.
        if (next && next->along.dot(now.along) < 0.9) next.reset();
        if (!next) h *= 0.5;
      }
      if (h < 1e-7) {  // beyond a kink
        found_.branches[branch].push_back(next->shown);
        now = *next;
        h = 0.01 * options_.step;
        continue;
      }
      bool at_edge = false;
      if (next->p < options_.from || next->p > options_.to) {
        // To the edge itself.
        const double edge = next->p < options_.from ? options_.from : options_.to;
        const double part = (edge - now.p) / (next->p - now.p);
        next = correct(now.q + part * (next->q - now.q), edge, now.along, true);
        if (!next) return;
        at_edge = true;
      }
      if (!is_admissible(*next)) {
        const auto corner = turn_corner(now, *next, branch);
        if (!corner) return;
        now = *corner;
        h = std::min(h, 0.1 * options_.step);
        continue;
      }
      look_between(now, *next, branch);
      found_.branches[branch].push_back(next->shown);
      if (at_edge) return;
      if (k > 2 && std::abs(next->p - first.p) < h * range_ && search_->distance(next->q, first.q) < h &&
          next->along.dot(first.along) > 0.9)
        return;  // it has come round
      now = *next;
      h = std::min(1.3 * h, options_.step);
    }
    note(fmt::format("a branch was given up after {} points, at {} = {}", options_.most_points, search_->varied(),
                     short_number(now.p)));
  }

  /// A point of the branch on the other side of a kink that is next to this one: by the coordinates, whatever the parameter does.
  std::optional<Point> pass_kink(const Point& now, std::size_t branch) {
    const double length = now.along.q.norm();
    if (!(length > 1e-9)) return std::nullopt;
    const Direction ahead{now.along.q / length, 0.0};
    for (const double far : {1e-6, 1e-5, 1e-4}) {
      const auto next = correct(now.q + far * ahead.q.cwiseProduct(search_->scale()), now.p, ahead);
      if (!next || !is_admissible(*next) || next->p < options_.from || next->p > options_.to) continue;
      const Direction step = difference(next->q, next->p, now.q, now.p);
      const double s = step.q.dot(ahead.q), before = now.along.p / length, after_length = next->along.q.dot(ahead.q);
      if (!(after_length > 1e-9) || !(std::sqrt(step.dot(step)) < 1e-2)) continue;
      const double after = next->along.p / after_length;
      // Lines on both sides meet at the kink.
      const double part = (step.p - after * s) / (before - after);
      if (!(part > -0.1 * s && part < 1.1 * s)) continue;
      const double p = now.p + range_ * before * part;
      const Eigen::VectorXd q = now.q + part / s * (next->q - now.q);
      if (before * after < 0.0)
        found_.special.push_back({SpecialKind::fold, branch, p, q});
      else if (now.sign * next->sign > 0.0 && now.shown.num_unstable != next->shown.num_unstable)
        found_.special.push_back({SpecialKind::oscillation, branch, p, q});
      BranchPoint kink = next->shown;
      kink.parameter = p, kink.q = q;
      found_.branches[branch].push_back(kink);
      return next;
    }
    return std::nullopt;
  }

  static bool is_admissible(const Point& point) {
    return std::all_of(point.guards.begin(), point.guards.end(), [](double g) { return g >= passed; });
  }

  /// Between a point and one at which something is passed: to where that begins, and into the mode in which the branch goes on.
  std::optional<Point> turn_corner(const Point& from, Point to, std::size_t branch) {
    std::size_t contact = 0;
    Point corner = from;
    for (std::size_t round = 0; round <= from.guards.size() && !is_admissible(to); ++round) {
      contact = static_cast<std::size_t>(std::min_element(to.guards.begin(), to.guards.end()) - to.guards.begin());
      if (!(from.guards[contact] > 0.0)) break;  // it begins there
      const auto at = locate(from, to, [&](const Point& x) { return x.guards[contact]; });
      if (!at) break;
      to = corner = *at;
    }
    const Closed before = closed_;
    const double p = corner.p;
    if (search_->distance(corner.q, from.q) > 0.0 || p != from.p) {
      look_between(from, corner, branch);
      found_.branches[branch].push_back(corner.shown);
    }
    // That one, all that are at zero there, or another of these.
    std::vector<std::size_t> at_zero{contact};
    for (std::size_t c = 0; c < corner.guards.size(); ++c)
      if (c != contact && std::abs(corner.guards[c]) < 1e-7) at_zero.push_back(c);
    std::vector<std::vector<std::size_t>> sets{{contact}};
    if (at_zero.size() > 1) sets.push_back(at_zero);
    for (std::size_t k = 1; k < at_zero.size(); ++k) sets.push_back({at_zero[k]});
    for (const auto& set : sets) {
      Closed closed = before;
      for (const std::size_t c : set) closed[c] = !closed[c];
      take_mode(closed);
      if (auto next = leave_corner(corner, set)) {
        for (const std::size_t c : set)
          found_.special.push_back(
              {before[c] ? SpecialKind::opens : SpecialKind::closes, branch, p, corner.q, modes_.name(c)});
        return next;
      }
    }
    take_mode(before);
    note(fmt::format("a branch ends at {} = {}, where `{}` {}: no state of rest was found next to it",
                     search_->varied(), short_number(p), modes_.name(contact),
                     before[contact] ? "would pull" : "closes"));
    return std::nullopt;
  }

  /// In the mode of now: the corner with the direction in which what has changed there presses, or opens.
  std::optional<Point> leave_corner(const Point& corner, const std::vector<std::size_t>& changed) {
    Direction by_parameter{Eigen::VectorXd::Zero(corner.q.size()), 1.0};
    for (const Direction& plane : {corner.along, by_parameter}) {
      auto begin = finish(corner.q, corner.p, plane);
      if (!begin) continue;
      for (const double sign : {1.0, -1.0}) {
        Point ahead = *begin;
        ahead.along.q *= sign, ahead.along.p *= sign;
        const double h = 1e-3 * options_.step;
        const auto next = correct(ahead.q + h * ahead.along.q.cwiseProduct(search_->scale()),
                                  ahead.p + h * range_ * ahead.along.p, ahead.along);
        if (next && is_admissible(*next) &&
            std::all_of(changed.begin(), changed.end(), [&](std::size_t c) { return next->guards[c] > 0.0; }))
          return ahead;
      }
    }
    return std::nullopt;
  }

  /// What changes between two points.
  void look_between(const Point& a, const Point& b, std::size_t branch) {
    const bool fold = a.along.p * b.along.p < 0.0;
    if (fold) {
      if (const auto at = locate(a, b, [](const Point& x) { return x.along.p; }))
        found_.special.push_back({SpecialKind::fold, branch, at->p, at->q});
      return;
    }
    const bool crosses = a.sign * b.sign < 0.0;
    if (!crosses && a.shown.num_unstable == b.shown.num_unstable) return;
    const int count = a.shown.num_unstable;
    const auto at = crosses ? locate(a, b, [](const Point& x) { return x.sign; })
                            : locate(a, b, [&](const Point& x) { return x.shown.num_unstable == count ? 1.0 : -1.0; });
    if (!at) return;
    found_.special.push_back({crosses ? SpecialKind::crossing : SpecialKind::oscillation, branch, at->p, at->q});
    if (!crosses) return;
    // The other branch goes along the null vector of S there.
    const RestSearch::Equations eqs = evaluate(at->q, at->p);
    if (!eqs.ok) return;
    const Eigen::MatrixXd S = eqs.S;
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(S, Eigen::ComputeFullV);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(S.rows() + 1);
    x.head(S.rows()) = svd.matrixV().col(S.rows() - 1);
    Direction across = expand(eqs, x);
    const double along = across.dot(at->along);
    across.q -= along * at->along.q, across.p -= along * at->along.p;
    const double length = std::sqrt(across.dot(across));
    if (!(length > 1e-6)) return;
    across.q /= length, across.p /= length;
    crossings_.push_back({at->q, at->p, at->along, across, closed_});
  }

  /// A zero of g between two points, by bisection with secants (Illinois).
  template <class G>
  std::optional<Point> locate(Point a, Point b, G&& g) {
    double ga = g(a), gb = g(b);
    const Eigen::VectorXd q0 = a.q;
    const double p0 = a.p;
    const Direction chord = difference(b.q, b.p, a.q, a.p);
    Direction plane = chord;
    const double whole = std::sqrt(chord.dot(chord));
    if (!(whole > 0.0)) return std::nullopt;
    plane.q /= whole, plane.p /= whole;
    double left = 0.0, right = 1.0;
    std::optional<Point> best;
    int side = 0;
    for (int k = 0; k < 80; ++k) {
      double part = (left * gb - right * ga) / (gb - ga);
      if (!(part > left && part < right) || k % 4 == 3) part = 0.5 * (left + right);
      const auto mid = correct(q0 + part * whole * plane.q.cwiseProduct(search_->scale()),
                               p0 + part * whole * range_ * plane.p, plane);
      if (!mid) {
        // On the very point where branches cross nothing is determined: a little aside.
        if (best) return best;
        left = std::min(right, left + 0.37 * (right - left));
        continue;
      }
      best = mid;
      const double gm = g(*mid);
      if (gm == 0.0 || right - left < 1e-14) break;
      if ((gm < 0.0) == (ga < 0.0)) {
        left = part, ga = gm;
        if (side == -1) gb *= 0.5;
        side = -1;
      } else {
        right = part, gb = gm;
        if (side == 1) ga *= 0.5;
        side = 1;
      }
      if (right - left < 1e-13) break;
    }
    return best;
  }

  RestModes& modes_;
  RestSearch* search_;  ///< in the mode of now
  Closed closed_;
  BranchOptions options_;
  double range_;
  Branches found_;
  std::vector<Crossing> crossings_;
};

}  // namespace

std::string_view name_of(SpecialKind kind) {
  switch (kind) {
    case SpecialKind::fold:
      return "fold";
    case SpecialKind::crossing:
      return "crossing";
    case SpecialKind::oscillation:
      return "oscillation";
    case SpecialKind::closes:
      return "closes";
    case SpecialKind::opens:
      return "opens";
  }
  return "";
}

Branches follow_branches(RestModes& modes, const BranchOptions& options) { return Follower(modes, options).run(); }

}  // namespace mechanician
