#include "mechanician/solve/sparse_structure.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace mechanician {

using sparse::Index;

namespace {

constexpr int small_limit = 12;  // columns and rows of a node whose columns stay single

int rounded(int k) { return (k + 7) / 8 * 8; }

struct Joined {
  int first, width, below;  // rows below the last column
  double zeros;
};

double triangle(double width, double below) { return width * (width - 1) / 2 + width * below; }

/// Columns in groups: equal structure first, then relaxed.
std::vector<Joined> join_columns(const SparseOrder& order) {
  const int size = static_cast<int>(order.nodes.size());
  std::vector<Joined> nodes;
  for (int k = 0; k < size; ++k) {
    if (k > 0 && order.parent[k - 1] == k && order.count[k - 1] == order.count[k] + 1) {
      ++nodes.back().width;
      nodes.back().below = order.count[k];
    } else {
      nodes.push_back({k, 1, order.count[k], 0});
    }
  }
  std::vector<Joined> kept;
  for (Joined node : nodes) {
    while (!kept.empty()) {
      const Joined& child = kept.back();
      const int last = child.first + child.width - 1, parent = order.parent[last];
      if (parent < node.first || parent >= node.first + node.width) break;
      const int width = child.width + node.width;
      if (width + node.below <= small_limit) break;
      const double all = triangle(width, node.below);
      const double zeros =
          all - (triangle(child.width, child.below) - child.zeros) - (triangle(node.width, node.below) - node.zeros);
      const double share = zeros / all;
      if (!(width <= 4 || (width <= 16 && share < 0.8) || (width <= 48 && share < 0.1) || share < 0.05)) break;
      node = {child.first, width, node.below, zeros};
      kept.pop_back();
    }
    kept.push_back(node);
  }
  return kept;
}

}  // namespace

int SparseStructure::place(const Node& node, int row) const {
  if (row < node.first + node.width) return row - node.first;
  const auto k = static_cast<int>(std::lower_bound(node.rows.begin(), node.rows.end(), row) - node.rows.begin());
  return (node.dense ? rounded(node.width) : node.width) + k;
}

Index SparseStructure::entry(int row, int column) const {
  return origins[2 * static_cast<std::size_t>(column)] + place(nodes[node_of[column]], row);
}

SparseStructure find_structure(const SparseLists& neighbours, const SparseOrder& order, SparsePlan& plan) {
  SparseStructure s;
  const int size = static_cast<int>(order.nodes.size());
  s.node_of.resize(size);
  std::vector<int> position(size), mark(size, -1);
  for (int k = 0; k < size; ++k) position[order.nodes[k]] = k;

  std::vector<int> first_child, next_child;
  for (const Joined& joined : join_columns(order)) {
    const int index = static_cast<int>(s.nodes.size());
    SparseStructure::Node node;
    node.first = joined.first, node.width = joined.width;
    node.dense = joined.width + joined.below > small_limit;
    for (int k = joined.first; k < joined.first + joined.width; ++k) s.node_of[k] = index;
    s.nodes.push_back(std::move(node));
  }
  first_child.assign(s.nodes.size(), -1);
  next_child.assign(s.nodes.size(), -1);
  Index values = plan.core_values;
  s.origins.resize(2 * static_cast<std::size_t>(size));
  for (int index = 0; index < static_cast<int>(s.nodes.size()); ++index) {
    SparseStructure::Node& node = s.nodes[index];
    const int end = node.first + node.width;
    const auto add = [&](int row) {
      if (row >= end && mark[row] != index) mark[row] = index, node.rows.push_back(row);
    };
    for (int k = node.first; k < end; ++k)
      for (const int* u = neighbours.first(order.nodes[k]); u != neighbours.last(order.nodes[k]); ++u)
        add(position[*u]);
    for (int child = first_child[index]; child >= 0; child = next_child[child])
      for (const int row : s.nodes[child].rows) add(row);
    std::sort(node.rows.begin(), node.rows.end());
    if (!node.rows.empty()) {
      const int parent = s.node_of[node.rows[0]];
      next_child[index] = first_child[parent], first_child[parent] = index;
    }
    const int below = static_cast<int>(node.rows.size());
    const Index lead = rounded(node.width) + rounded(below);
    for (int c = 0; c < node.width; ++c) {
      Index* origin = &s.origins[2 * static_cast<std::size_t>(node.first + c)];
      if (node.dense) {
        origin[0] = values + c * lead;
        origin[1] = origin[0] + c;
      } else {
        origin[0] = values - c - 1;
        origin[1] = plan.first_core + node.first + c;
        values += node.width - 1 - c + below;
      }
    }
    if (node.dense) values += lead * node.width;
    if (values > std::numeric_limits<int>::max())
      throw std::length_error("the factor of this system has more than 2³¹ entries");
  }
  plan.num_values = values;

  // The lists for the loops.
  const int base = plan.first_core;
  SparseHalves halves = find_halves(order.parent);
  // A node that reaches beyond its half takes from both: it comes after them.
  for (int k = 0; k < 2; ++k)
    if (halves.last[k] > halves.first[k]) {
      const SparseStructure::Node& node = s.nodes[s.node_of[halves.last[k] - 1]];
      if (node.first + node.width > halves.last[k]) halves.last[k] = std::max(node.first, halves.first[k]);
    }
  const auto is_boundary = [&](int column) {
    return column == halves.first[0] || column == halves.first[1] || column == halves.last[0] ||
           column == halves.last[1];
  };
  for (const SparseStructure::Node& node : s.nodes) {
    const int below = static_cast<int>(node.rows.size());
    if (!node.dense) {
      for (int c = 0; c < node.width; ++c) {
        const int column = node.first + c, degree = node.width - 1 - c + below;
        const int is_row = plan.row_at[base + column] >= 0;
        const Index entry = s.origins[2 * static_cast<std::size_t>(column)] + c + 1;
        const bool joins = !plan.tasks.empty() && !plan.tasks.back().is_supernode &&
                           plan.small.back().degree == degree && plan.small.back().is_row == is_row &&
                           !is_boundary(column);
        if (joins) {
          ++plan.small.back().count;
        } else {
          sparse::SmallPivots pivots;
          pivots.first = base + column, pivots.count = 1, pivots.degree = degree, pivots.is_row = is_row;
          pivots.entry = entry;
          pivots.rows = static_cast<Index>(plan.rows.size());
          pivots.targets = static_cast<Index>(plan.targets.size());
          plan.tasks.push_back({false, static_cast<int>(plan.small.size())});
          plan.small.push_back(pivots);
        }
        std::vector<int> at;
        for (int k = c + 1; k < node.width; ++k) at.push_back(node.first + k);
        at.insert(at.end(), node.rows.begin(), node.rows.end());
        for (const int row : at) plan.rows.push_back(base + row);
        for (std::size_t i = 0; i < at.size(); ++i) {
          plan.targets.push_back(static_cast<int>(s.origins[2 * static_cast<std::size_t>(at[i]) + 1]));
          for (std::size_t j = i + 1; j < at.size(); ++j)
            plan.targets.push_back(static_cast<int>(s.entry(at[j], at[i])));
        }
      }
      continue;
    }
    sparse::Supernode super;
    super.first = base + node.first, super.width = node.width, super.num_rows = below;
    super.offset = rounded(node.width), super.lead = super.offset + rounded(below);
    super.values = s.origins[2 * static_cast<std::size_t>(node.first)];
    super.rows = static_cast<Index>(plan.rows.size());
    for (const int row : node.rows) plan.rows.push_back(base + row);
    super.pieces_begin = static_cast<Index>(plan.pieces.size());
    for (int from = 0; from < below;) {
      const SparseStructure::Node& other = s.nodes[s.node_of[node.rows[from]]];
      int to = from;
      while (to < below && node.rows[to] < other.first + other.width) ++to;
      plan.pieces.push_back({from, to, static_cast<Index>(plan.relative.size())});
      // Both lists increase: one walk.
      std::size_t k = 0;
      for (int i = from; i < below; ++i) {
        if (i < to) {
          plan.relative.push_back(node.rows[i] - other.first);
        } else {
          while (other.rows[k] < node.rows[i]) ++k;
          plan.relative.push_back((other.dense ? rounded(other.width) : other.width) + static_cast<int>(k));
        }
      }
      from = to;
    }
    super.pieces_end = static_cast<Index>(plan.pieces.size());
    const Index work = static_cast<Index>(super.lead) * super.width + 8 * static_cast<Index>(super.lead) + 64;
    plan.work_size = std::max(plan.work_size, work);
    plan.tasks.push_back({true, static_cast<int>(plan.supernodes.size())});
    plan.supernodes.push_back(super);
  }
  plan.origins = s.origins;

  // The tasks of two halves in turns: while a pivot of one waits for a division, the other goes on.
  if (halves.last[0] > halves.first[0] && halves.last[1] > halves.first[1]) {
    const auto column_of = [&](const sparse::Task& task) {
      return (task.is_supernode ? plan.supernodes[task.index].first : plan.small[task.index].first) - base;
    };
    std::vector<sparse::Task> before, half[2], after, all;
    for (const sparse::Task& task : plan.tasks) {
      const int c = column_of(task);
      if (c >= halves.first[0] && c < halves.last[0])
        half[0].push_back(task);
      else if (c >= halves.first[1] && c < halves.last[1])
        half[1].push_back(task);
      else
        (c < halves.last[0] ? before : after).push_back(task);
    }
    all = std::move(before);
    const std::size_t a = half[0].size(), b = half[1].size();
    for (std::size_t i = 0, j = 0; i < a || j < b;) {
      if (j >= b || (i < a && i * b <= j * a))
        all.push_back(half[0][i++]);
      else
        all.push_back(half[1][j++]);
    }
    all.insert(all.end(), after.begin(), after.end());
    plan.tasks = std::move(all);
  }
  return s;
}

}  // namespace mechanician
