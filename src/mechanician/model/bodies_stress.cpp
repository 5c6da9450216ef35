// What joints can carry against each other. See bodies.hpp.
//
// Forces and torques of all joints on all bodies, G x, are in balance with what acts: G x = f. What is left open is where G x = 0 has
// solutions, as in a door with two hinges that are pressed together. Which parts of x have a share in these is found at the start, in numbers,
// by elimination with full pivoting.

#include <array>
#include <cmath>
#include <numbers>

#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

/// Forces and torques in balance up to which all of them are looked at; among more, all are taken to be open.
constexpr std::size_t most_columns = 600;
/// A pivot below it, against the first, is none.
constexpr double rounding = 1e-9;

using Numbers3 = std::array<double, 3>;

Numbers3 crossed(const Numbers3& a, const Numbers3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Which unknowns of G x = 0 are not zero in all solutions.
std::vector<bool> open_unknowns(std::vector<std::vector<double>> G, std::size_t num_columns) {
  std::vector<std::size_t> order(num_columns);
  for (std::size_t j = 0; j < num_columns; ++j) order[j] = j;
  std::size_t rank = 0;
  double first = 0.0;
  for (; rank < std::min(G.size(), num_columns); ++rank) {
    std::size_t row = rank, column = rank;
    double largest = 0.0;
    for (std::size_t i = rank; i < G.size(); ++i)
      for (std::size_t j = rank; j < num_columns; ++j)
        if (std::abs(G[i][order[j]]) > largest) largest = std::abs(G[i][order[j]]), row = i, column = j;
    if (rank == 0) first = largest;
    if (!(largest > rounding * first)) break;
    std::swap(G[rank], G[row]), std::swap(order[rank], order[column]);
    for (std::size_t i = 0; i < G.size(); ++i) {
      const double factor = G[i][order[rank]] / G[rank][order[rank]];
      if (i == rank || factor == 0.0) continue;
      for (std::size_t j = rank; j < num_columns; ++j) G[i][order[j]] -= factor * G[rank][order[j]];
    }
  }
  std::vector<bool> open(num_columns, false);
  for (std::size_t j = rank; j < num_columns; ++j) {
    open[order[j]] = true;
    for (std::size_t i = 0; i < rank; ++i)
      if (std::abs(G[i][order[j]]) > rounding * std::abs(G[i][order[i]])) open[order[i]] = true;
  }
  return open;
}

}  // namespace

std::vector<Layer::OpenForces> Layer::find_open_forces() const {
  std::vector<OpenForces> found(joints_.size());
  struct Column {
    std::size_t joint;
    bool extra;  ///< of a drive or a limit
    Numbers3 force, moment;
  };
  std::vector<Column> columns;
  for (std::size_t n = 0; n < joints_.size(); ++n) {
    const Joint& j = joints_[n];
    const Body &one = bodies_[static_cast<std::size_t>(j.first)], &two = bodies_[static_cast<std::size_t>(j.second)];
    if (j.type == JointType::rolling) {
      const Vector at = two.at - j.radius * (one.R * j.normal);
      for (const int k : {0, 1, 2}) {
        Numbers3 e{0.0, 0.0, 0.0};
        e[static_cast<std::size_t>(k)] = 1.0;
        columns.push_back({n, false, e, crossed(worths(at), e)});
      }
      continue;
    }
    const Matrix G1 = one.R * j.F1, G2 = two.R * j.F2;
    const Numbers3 at = worths(two.at + two.R * j.r2), e1 = worths(column(G1, 0)), f1 = worths(column(G1, 1)),
                   a1 = worths(column(G1, 2)), e2 = worths(column(G2, 0)), a2 = worths(column(G2, 2));
    const Numbers3 none{0.0, 0.0, 0.0};
    const auto push = [&](const Numbers3& force, const Numbers3& torque, bool extra = false) {
      Numbers3 moment = crossed(at, force);
      for (std::size_t k = 0; k < 3; ++k) moment[k] += torque[k];
      columns.push_back({n, extra, force, moment});
    };
    const auto meet = [&] { push({1, 0, 0}, none), push({0, 1, 0}, none), push({0, 0, 1}, none); };
    const auto across_it = [&] { push(e1, none), push(f1, none); };
    const auto aligned = [&] { push(none, e1), push(none, f1); };
    switch (j.type) {
      case JointType::fixed:
        meet(), aligned(), push(none, a1);
        break;
      case JointType::revolute:
        meet(), aligned();
        break;
      case JointType::prismatic:
        across_it(), aligned(), push(none, a1);
        break;
      case JointType::cylindrical:
        across_it(), aligned();
        break;
      case JointType::spherical:
        meet();
        break;
      case JointType::planar:
        push(a1, none), aligned();
        break;
      case JointType::universal:
        meet(), push(none, crossed(e2, a1));
        break;
      case JointType::screw: {
        const double lead = j.pitch.value / (2.0 * std::numbers::pi);
        across_it(), aligned(), push(a1, {-lead * a1[0], -lead * a1[1], -lead * a1[2]});
        break;
      }
      case JointType::distance: {
        const Numbers3 apart = worths(two.at + two.R * j.r2 - one.at - one.R * j.r1);
        const double length = std::hypot(apart[0], apart[1], apart[2]);
        push({apart[0] / length, apart[1] / length, apart[2] / length}, none);
        break;
      }
      case JointType::point_on_line:
        across_it();
        break;
      case JointType::point_on_plane:
        push(a1, none);
        break;
      case JointType::parallel:
        aligned();
        break;
      case JointType::perpendicular:
        push(none, crossed(a2, a1));
        break;
      case JointType::rolling:
        break;
    }
    if (j.table->find("drive") || j.table->find("limits"))
      for (const JointCoordinate& c : j.coordinates) {
        if (j.type == JointType::screw && !c.turns) continue;
        if (c.turns)
          push(none, c.key == "angle2" ? e2 : a1, true);
        else
          push(j.type == JointType::planar ? (c.key == "distance" ? e1 : f1) : a1, none, true);
      }
  }
  if (columns.size() > most_columns) {
    for (OpenForces& open : found) open.reaction = open.extra = true;
    return found;
  }
  std::vector<std::vector<double>> G;
  for (std::size_t b = 1; b < bodies_.size(); ++b)
    for (std::size_t k = 0; k < 6; ++k) {
      if (k >= 3 && !bodies_[b].turns) continue;
      std::vector<double> row(columns.size(), 0.0);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const Joint& j = joints_[columns[c].joint];
        const double value = k < 3 ? columns[c].force[k] : columns[c].moment[k - 3];
        if (static_cast<std::size_t>(j.second) == b) row[c] = value;
        if (static_cast<std::size_t>(j.first) == b) row[c] = -value;
      }
      // In the plane nothing holds what leads out of it, and nothing has to.
      if (is_planar()) {
        const auto normal = worths(normal_);
        if ((std::abs(normal[k % 3]) > 0.5) == (k < 3)) continue;
      }
      G.push_back(std::move(row));
    }
  const std::vector<bool> open = open_unknowns(std::move(G), columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (open[c]) (columns[c].extra ? found[columns[c].joint].extra : found[columns[c].joint].reaction) = true;
  return found;
}

}  // namespace mechanician::bodies
