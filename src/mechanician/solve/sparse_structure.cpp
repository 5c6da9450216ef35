#include "mechanician/solve/sparse_structure.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "mechanician/solve/sparse_parts.hpp"

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

namespace {

/// The lists for the loops, node by node.
class ListMaker {
 public:
  ListMaker(const SparseStructure& structure, const SparseParts& parts, SparsePlan& plan)
      : s_(structure), parts_(parts), plan_(plan), base_(plan.first_core) {}

  /// Fronts: places, and positions after all others.
  void place_fronts() {
    plan_.origins = s_.origins;
    int first = static_cast<int>(plan_.row_at.size());
    for (const SparseParts::Part& part : parts_.parts) {
      sparse::Part made;
      made.parent = part.parent;
      made.depth = 0;
      made.size = part.root < 0 ? 0 : static_cast<int>(s_.nodes[part.root].rows.size());
      made.lead = rounded(made.size);
      made.first = first, made.values = plan_.num_values;
      for (int c = 0; c < made.size; ++c) {
        plan_.origins.push_back(made.values + static_cast<Index>(c) * made.lead);
        plan_.origins.push_back(plan_.origins.back() + c);
      }
      first += made.size;
      plan_.num_values += static_cast<Index>(made.size) * made.lead;
      plan_.parts.push_back(made);
    }
    plan_.num_positions = first;
    for (std::size_t k = plan_.parts.size() - 1; k-- > 0;)
      plan_.parts[k].depth = plan_.parts[plan_.parts[k].parent].depth + 1;
    if (plan_.num_values > std::numeric_limits<int>::max())
      throw std::length_error("the factor of this system has more than 2³¹ entries");
  }

  template <class IsBoundary>
  void make_part(int number, IsBoundary is_boundary) {
    part_ = number;
    const SparseParts::Part& part = parts_.parts[number];
    sparse::Part& made = plan_.parts[number];
    made.child_begin = static_cast<int>(plan_.part_children.size());
    plan_.part_children.insert(plan_.part_children.end(), part.children.begin(), part.children.end());
    made.child_end = static_cast<int>(plan_.part_children.size());
    // What the fronts of the children belong to, from here.
    for (const int child : part.children) {
      const std::vector<int>& rows = s_.nodes[parts_.parts[child].root].rows;
      sparse::Part& front = plan_.parts[child];
      front.owners = static_cast<Index>(plan_.rows.size());
      for (const int row : rows) plan_.rows.push_back(base_ + row);
      front.rows = static_cast<Index>(plan_.rows.size());
      add_pieces(rows, front.pieces_begin, front.pieces_end);
    }
    made.stretch_begin = static_cast<int>(plan_.stretches.size());
    for (std::size_t k = 0; k < part.nodes.size();) {
      const int first = part.nodes[k];
      int last = first;
      while (++k < part.nodes.size() && part.nodes[k] == last + 1) ++last;
      plan_.stretches.push_back({base_ + s_.nodes[first].first, base_ + s_.nodes[last].first + s_.nodes[last].width,
                                 s_.begin[first], s_.begin[last + 1]});
    }
    made.stretch_end = static_cast<int>(plan_.stretches.size());
    made.task_begin = static_cast<Index>(plan_.tasks.size());
    for (const int k : part.nodes) {
      if (s_.nodes[k].dense)
        add_dense(s_.nodes[k]);
      else
        add_small(s_.nodes[k], is_boundary);
    }
    made.task_end = static_cast<Index>(plan_.tasks.size());
  }

 private:
  bool in_front(int row) const { return parts_.parts[part_].root >= 0 && row >= parts_.parts[part_].end; }
  int place_in_front(int row) const {
    const std::vector<int>& rows = s_.nodes[parts_.parts[part_].root].rows;
    return static_cast<int>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
  }
  int position(int row) const { return in_front(row) ? plan_.parts[part_].first + place_in_front(row) : base_ + row; }
  Index diagonal(int row) const { return plan_.origins[2 * static_cast<std::size_t>(position(row) - base_) + 1]; }
  Index entry(int row, int column) const {
    if (!in_front(column)) return s_.entry(row, column);
    return plan_.origins[2 * static_cast<std::size_t>(position(column) - base_)] + place_in_front(row);
  }

  /// Rows that increase, as columns of other nodes and of the front: positions to `rows`, places to `relative`.
  void add_pieces(const std::vector<int>& rows, Index& begin, Index& end) {
    const int below = static_cast<int>(rows.size());
    for (const int row : rows) plan_.rows.push_back(position(row));
    begin = static_cast<Index>(plan_.pieces.size());
    for (int from = 0; from < below;) {
      if (in_front(rows[from])) {
        plan_.pieces.push_back({from, below, static_cast<Index>(plan_.relative.size())});
        for (int i = from; i < below; ++i) plan_.relative.push_back(place_in_front(rows[i]));
        break;
      }
      const SparseStructure::Node& other = s_.nodes[s_.node_of[rows[from]]];
      int to = from;
      while (to < below && rows[to] < other.first + other.width) ++to;
      plan_.pieces.push_back({from, to, static_cast<Index>(plan_.relative.size())});
      // Both lists increase: one walk.
      std::size_t k = 0;
      for (int i = from; i < below; ++i) {
        if (i < to) {
          plan_.relative.push_back(rows[i] - other.first);
        } else {
          while (other.rows[k] < rows[i]) ++k;
          plan_.relative.push_back((other.dense ? rounded(other.width) : other.width) + static_cast<int>(k));
        }
      }
      from = to;
    }
    end = static_cast<Index>(plan_.pieces.size());
  }

  template <class IsBoundary>
  void add_small(const SparseStructure::Node& node, IsBoundary is_boundary) {
    const int below = static_cast<int>(node.rows.size());
    for (int c = 0; c < node.width; ++c) {
      const int column = node.first + c, degree = node.width - 1 - c + below;
      const int is_row = plan_.row_at[base_ + column] >= 0;
      const bool follows = static_cast<Index>(plan_.tasks.size()) > plan_.parts[part_].task_begin &&
                           !plan_.tasks.back().is_supernode &&
                           plan_.small.back().first + plan_.small.back().count == base_ + column;
      if (follows && plan_.small.back().degree == degree && plan_.small.back().is_row == is_row &&
          !is_boundary(column)) {
        ++plan_.small.back().count;
      } else {
        sparse::SmallPivots pivots;
        pivots.first = base_ + column, pivots.count = 1, pivots.degree = degree, pivots.is_row = is_row;
        pivots.entry = s_.origins[2 * static_cast<std::size_t>(column)] + c + 1;
        pivots.rows = static_cast<Index>(plan_.rows.size());
        pivots.targets = static_cast<Index>(plan_.targets.size());
        plan_.tasks.push_back({false, static_cast<int>(plan_.small.size())});
        plan_.small.push_back(pivots);
      }
      std::vector<int> at;
      for (int k = c + 1; k < node.width; ++k) at.push_back(node.first + k);
      at.insert(at.end(), node.rows.begin(), node.rows.end());
      for (const int row : at) plan_.rows.push_back(position(row));
      for (std::size_t i = 0; i < at.size(); ++i) {
        plan_.targets.push_back(static_cast<int>(diagonal(at[i])));
        for (std::size_t j = i + 1; j < at.size(); ++j) plan_.targets.push_back(static_cast<int>(entry(at[j], at[i])));
      }
    }
  }

  void add_dense(const SparseStructure::Node& node) {
    const int below = static_cast<int>(node.rows.size());
    sparse::Supernode super;
    super.first = base_ + node.first, super.width = node.width, super.num_rows = below;
    super.offset = rounded(node.width), super.lead = super.offset + rounded(below);
    super.values = s_.origins[2 * static_cast<std::size_t>(node.first)];
    super.rows = static_cast<Index>(plan_.rows.size());
    add_pieces(node.rows, super.pieces_begin, super.pieces_end);
    const Index work = static_cast<Index>(super.lead) * super.width + 8 * static_cast<Index>(super.lead) + 64;
    plan_.work_size = std::max(plan_.work_size, work);
    plan_.tasks.push_back({true, static_cast<int>(plan_.supernodes.size())});
    plan_.supernodes.push_back(super);
  }

  const SparseStructure& s_;
  const SparseParts& parts_;
  SparsePlan& plan_;
  const int base_;
  int part_ = 0;
};

/// The tasks of two halves in turns: while a pivot of one waits for a division, the other goes on.
void take_turns(const SparseHalves& halves, SparsePlan& plan) {
  if (halves.last[0] <= halves.first[0] || halves.last[1] <= halves.first[1]) return;
  const auto column_of = [&](const sparse::Task& task) {
    return (task.is_supernode ? plan.supernodes[task.index].first : plan.small[task.index].first) - plan.first_core;
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

}  // namespace

SparseStructure find_structure(const SparseLists& neighbours, const SparseOrder& order, SparsePlan& plan,
                               double least_products) {
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
    s.begin.push_back(values);
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
  s.begin.push_back(values);

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
  const SparseParts parts = find_parts(s, least_products);
  ListMaker maker(s, parts, plan);
  maker.place_fronts();
  for (std::size_t k = 0; k < parts.parts.size(); ++k) maker.make_part(static_cast<int>(k), is_boundary);
  if (parts.parts.size() == 1) take_turns(halves, plan);
  return s;
}

}  // namespace mechanician
