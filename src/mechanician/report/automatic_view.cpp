#include "mechanician/report/automatic_view.hpp"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

namespace {

using Vector3 = Eigen::Vector3d;

constexpr std::size_t most_traced = 6;
constexpr double parallel = 1e-8;  // what two directions may differ by, relative

/// A point of the picture and the coordinate of each of its components, −1 for none.
struct Point {
  std::array<int, 3> of{-1, -1, -1};
  int count() const {
    return static_cast<int>(std::count_if(of.begin(), of.end(), [](int i) { return i >= 0; }));
  }
};

struct Points {
  std::vector<Point> points;
  std::vector<int> point_of;  ///< by coordinate, −1 for none
  int dimension = 2;
};

Points find_points(const Equations& eqs) {
  std::map<std::string, Point> by_ending;
  std::vector<std::string> order;
  bool only_x = true;
  for (int i = 0; i < eqs.n(); ++i) {
    // A state called z is no place.
    if (std::any_of(eqs.states.begin(), eqs.states.end(), [&](const StateRow& s) { return s.coordinate == i; }))
      continue;
    const std::string& name = eqs.coordinates[static_cast<std::size_t>(i)];
    const int axis = name.empty() ? -1 : name[0] - 'x';
    only_x = only_x && axis == 0;
    if (axis < 0 || axis > 2) continue;
    const std::string ending = name.substr(1);
    if (!by_ending.contains(ending)) order.push_back(ending);
    by_ending[ending].of[static_cast<std::size_t>(axis)] = i;
  }
  Points found;
  found.point_of.assign(static_cast<std::size_t>(eqs.n()), -1);
  bool any_z = false, any_y = false;
  for (const std::string& ending : order) {
    const Point& point = by_ending[ending];
    if (point.count() < 2 && !only_x) continue;
    any_y = any_y || point.of[1] >= 0;
    any_z = any_z || point.of[2] >= 0;
    for (const int i : point.of)
      if (i >= 0) found.point_of[static_cast<std::size_t>(i)] = static_cast<int>(found.points.size());
    found.points.push_back(point);
  }
  found.dimension = any_y && any_z ? 3 : 2;
  // A plane through x and z is drawn with z upwards.
  if (any_z && !any_y)
    for (Point& point : found.points) std::swap(point.of[1], point.of[2]);
  return found;
}

/// What a constraint joins: two points, or one point and a fixed place.
struct Rod {
  int a = -1, b = -1;
  Vector3 anchor = Vector3::Zero();
};

/// What a one-sided constraint keeps a point on one side of.
struct Floor {
  Vector3 at = Vector3::Zero(), normal = Vector3::Zero();
};

class RodFinder {
 public:
  RodFinder(const System& system, const State& start, const Points& points)
      : system_(system), eqs_(system.equations()), points_(points) {
    inputs_.push_back(eqs_.t);
    inputs_.insert(inputs_.end(), eqs_.q.begin(), eqs_.q.end());
    inputs_.insert(inputs_.end(), eqs_.parameters.begin(), eqs_.parameters.end());
    std::mt19937_64 random(1993);
    std::uniform_real_distribution<double> around(-1.0, 1.0);
    for (Eigen::VectorXd& q : states_) {
      q = start.q;
      for (Eigen::Index i = 0; i < q.size(); ++i) q(i) += (1.0 + std::abs(q(i))) * around(random);
    }
  }

  std::optional<Rod> rod_of(int row) const {
    const Row& r = eqs_.rows[static_cast<std::size_t>(row)];
    if (r.level != Level::position || r.rheonomic || r.kind != RowKind::constraint || r.one_sided) return std::nullopt;
    std::vector<Expr> entries;
    std::vector<int> columns;
    std::set<int> joined;
    for (const auto& e : eqs_.A.entries) {
      if (e.row != row) continue;
      const int point = points_.point_of[static_cast<std::size_t>(e.col)];
      if (point < 0) return std::nullopt;
      joined.insert(point);
      entries.push_back(e.value);
      columns.push_back(e.col);
    }
    if (joined.empty() || joined.size() > 2) return std::nullopt;
    const Tape tape(entries, inputs_);
    std::array<Vector3, num_states> p, g, p2, g2;
    const int a = *joined.begin(), b = *joined.rbegin();
    for (std::size_t k = 0; k < num_states; ++k) {
      const std::vector<double> values = tape(std::span<const double>(inputs(states_[k])));
      p[k] = place(a, states_[k]), p2[k] = place(b, states_[k]);
      g[k] = gradient(a, columns, values), g2[k] = gradient(b, columns, values);
    }
    return joined.size() == 2 ? between(a, b, p, g, p2, g2) : to_anchor(a, p, g);
  }

  /// φ = n·p + d ≥ 0 for a point p: a floor or a wall.
  std::optional<Floor> floor_of(int row) const {
    const Row& r = eqs_.rows[static_cast<std::size_t>(row)];
    if (r.level != Level::position || r.rheonomic || !r.one_sided) return std::nullopt;
    std::vector<Expr> entries{r.residual};
    std::vector<int> columns{-1};
    int point = -1;
    for (const auto& e : eqs_.A.entries) {
      if (e.row != row) continue;
      const int p = points_.point_of[static_cast<std::size_t>(e.col)];
      if (p < 0 || (point >= 0 && p != point)) return std::nullopt;
      point = p;
      entries.push_back(e.value);
      columns.push_back(e.col);
    }
    if (point < 0) return std::nullopt;
    const Tape tape(entries, inputs_);
    Floor floor;
    for (std::size_t k = 0; k < num_states; ++k) {
      const std::vector<double> values = tape(std::span<const double>(inputs(states_[k])));
      const Vector3 n = gradient(point, columns, values), p = place(point, states_[k]);
      const Vector3 at = p - values[0] / n.squaredNorm() * n;
      if (k == 0) floor = {at, n};
      const double off = std::abs((at - floor.at).dot(n));
      if (!at.allFinite() || !((n - floor.normal).norm() <= parallel * n.norm()) ||
          !(off <= parallel * n.norm() * (1.0 + p.norm())))
        return std::nullopt;
    }
    // The place of the plane that is nearest to the origin.
    floor.at = floor.at.dot(floor.normal) / floor.normal.squaredNorm() * floor.normal;
    return floor;
  }

 private:
  static constexpr std::size_t num_states = 4;
  using Vectors = std::array<Vector3, num_states>;

  std::vector<double> inputs(const Eigen::VectorXd& q) const {
    std::vector<double> x{0.0};
    x.insert(x.end(), q.data(), q.data() + q.size());
    x.insert(x.end(), system_.parameters().begin(), system_.parameters().end());
    return x;
  }
  Vector3 place(int point, const Eigen::VectorXd& q) const {
    Vector3 p = Vector3::Zero();
    for (int axis = 0; axis < 3; ++axis)
      if (const int i = points_.points[static_cast<std::size_t>(point)].of[static_cast<std::size_t>(axis)]; i >= 0)
        p(axis) = q(i);
    return p;
  }
  Vector3 gradient(int point, const std::vector<int>& columns, const std::vector<double>& values) const {
    Vector3 g = Vector3::Zero();
    for (int axis = 0; axis < 3; ++axis) {
      const int i = points_.points[static_cast<std::size_t>(point)].of[static_cast<std::size_t>(axis)];
      for (std::size_t k = 0; k < columns.size(); ++k)
        if (i >= 0 && columns[k] == i) g(axis) = values[k];
    }
    return g;
  }

  /// ∂φ/∂a = −∂φ/∂b, along the line between them: φ depends on their distance alone.
  static std::optional<Rod> between(int a, int b, const Vectors& p, const Vectors& g, const Vectors& p2,
                                    const Vectors& g2) {
    for (std::size_t k = 0; k < num_states; ++k) {
      const Vector3 d = p[k] - p2[k];
      const double size = g[k].norm();
      if (!std::isfinite(size) || size == 0.0 || !((g[k] + g2[k]).norm() <= parallel * size)) return std::nullopt;
      if (!((g[k] - g[k].dot(d) / d.squaredNorm() * d).norm() <= parallel * size)) return std::nullopt;
    }
    return Rod{.a = a, .b = b};
  }

  /// ∂φ/∂p = k (p − c) with the same k and c everywhere: φ is a squared distance from c.
  static std::optional<Rod> to_anchor(int a, const Vectors& p, const Vectors& g) {
    const Vector3 d = p[1] - p[0];
    const double k = (g[1] - g[0]).dot(d) / d.squaredNorm();
    if (!std::isfinite(k) || std::abs(k) < 1e-12) return std::nullopt;
    const Vector3 c = p[0] - g[0] / k;
    for (std::size_t i = 0; i < num_states; ++i)
      if (!((p[i] - g[i] / k - c).norm() <= parallel * (1.0 + c.norm() + p[i].norm()))) return std::nullopt;
    return Rod{.a = a, .b = -1, .anchor = c.unaryExpr([](double x) { return std::abs(x) < 1e-9 ? 0.0 : x; })};
  }

  const System& system_;
  const Equations& eqs_;
  const Points& points_;
  std::vector<Expr> inputs_;
  std::array<Eigen::VectorXd, num_states> states_;
};

/// Against the given forces: y, where they pull that way and not along z.
ViewVector upwards(const System& system, const State& start, const Points& points) {
  double y = 0.0, z = 0.0;
  const Evaluation now = system.evaluate(start);
  for (const Point& point : points.points) {
    if (point.of[1] >= 0) y += now.values.Q(point.of[1]);
    if (point.of[2] >= 0) z += now.values.Q(point.of[2]);
  }
  const bool y_up = std::isfinite(y + z) && y < 0.0 && y < z;
  return {Expr(0.0), Expr(y_up ? 1.0 : 0.0), Expr(y_up ? 0.0 : 1.0)};
}

}  // namespace

std::optional<View> automatic_view(const System& system, const State& start) {
  const Equations& eqs = system.equations();
  const Points points = find_points(eqs);
  if (points.points.empty()) return std::nullopt;
  View view;
  view.automatic = true;
  view.dimension = points.dimension;
  if (view.dimension == 3) view.camera.up = upwards(system, start, points);

  std::vector<ViewVector> places;
  for (const Point& point : points.points) {
    ViewItem item;
    ViewVector at{Expr(0.0), Expr(0.0), Expr(0.0)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (point.of[axis] < 0) continue;
      at[axis] = eqs.q[static_cast<std::size_t>(point.of[axis])];
      item.name += (item.name.empty() ? "" : ", ") + eqs.coordinates[static_cast<std::size_t>(point.of[axis])];
    }
    places.push_back(at);
    item.points = {at};
    view.items.push_back(std::move(item));
  }
  const RodFinder finder(system, start, points);
  std::vector<Vector3> anchors;
  for (int row = 0; row < eqs.m(); ++row) {
    const auto rod = finder.rod_of(row);
    if (!rod) continue;
    ViewItem item;
    item.kind = ViewKind::rod;
    item.name = eqs.rows[static_cast<std::size_t>(row)].name;
    ViewVector other;
    if (rod->b >= 0) {
      other = places[static_cast<std::size_t>(rod->b)];
    } else {
      for (std::size_t axis = 0; axis < 3; ++axis) other[axis] = Expr(rod->anchor(static_cast<Eigen::Index>(axis)));
      const bool known =
          std::any_of(anchors.begin(), anchors.end(), [&](const Vector3& c) { return c == rod->anchor; });
      if (!known) {
        anchors.push_back(rod->anchor);
        ViewItem pin;
        pin.colour = "grey";
        pin.points = {other};
        view.items.push_back(std::move(pin));
      }
    }
    item.points = {other, places[static_cast<std::size_t>(rod->a)]};
    view.items.push_back(std::move(item));
  }
  for (int row = 0; row < eqs.m(); ++row) {
    const auto floor = finder.floor_of(row);
    if (!floor) continue;
    ViewItem item;
    item.kind = ViewKind::ground;
    item.name = eqs.rows[static_cast<std::size_t>(row)].name;
    ViewVector at;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      at[axis] = Expr(floor->at(static_cast<Eigen::Index>(axis)));
      item.vector[axis] = Expr(floor->normal(static_cast<Eigen::Index>(axis)));
    }
    item.points = {at};
    view.items.push_back(std::move(item));
  }
  if (places.size() <= most_traced)
    for (const ViewVector& at : places) {
      ViewItem trace;
      trace.kind = ViewKind::trace;
      trace.points = {at};
      view.items.push_back(std::move(trace));
    }
  return view;
}

}  // namespace mechanician
