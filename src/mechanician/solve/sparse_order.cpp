#include "mechanician/solve/sparse_order.hpp"

#include <algorithm>
#include <numeric>

#include "mechanician/solve/eigen_sparse.hpp"
#include "mechanician/solve/sparse_dissection.hpp"

namespace mechanician {

SparseRuns strip_trees(const SparseGraph& graph) {
  const int size = graph.size();
  const SparseLists& near = graph.neighbours;
  std::vector<int> degree(size), parent(size, -1), children(size, 0), level(size, 0);
  // Rows that touch coupled coordinates wait for these and belong to the core.
  std::vector<char> may(size), gone(size, 0);
  std::vector<int> order;
  for (int v = 0; v < size; ++v) {
    degree[v] = near.count(v);
    may[v] = graph.is_row[v] && std::all_of(near.first(v), near.last(v), [&](int u) { return graph.is_row[u] != 0; });
  }
  // A short path is taken from one end: there are others to be worked on beside it, and each run has its price.
  constexpr int short_path = 64;
  const auto other_end = [&](int v) {
    int last = -1, at = v;
    for (int steps = 0; steps < short_path; ++steps) {
      int next = -1;
      for (const int* u = near.first(at); u != near.last(at); ++u)
        if (*u != last) next = *u;
      if (next < 0 || degree[next] > 2 || !may[next]) return -1;
      if (degree[next] == 1) return next;
      last = at, at = next;
    }
    return -1;
  };
  std::vector<char> queued(size, 0);
  const auto enqueue = [&](int v) {
    if (!queued[v]) order.push_back(v), queued[v] = 1;
  };
  for (int v = 0; v < size; ++v) {
    if (!may[v] || degree[v] > 1 || (degree[v] == 1 && other_end(v) >= 0 && other_end(v) < v)) continue;
    enqueue(v);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int v = order[k];
    gone[v] = 1;
    for (const int* u = near.first(v); u != near.last(v); ++u) {
      if (gone[*u]) continue;
      parent[v] = *u;
      ++children[*u];
      if (--degree[*u] <= 1 && may[*u]) enqueue(*u);
    }
  }

  struct Run {
    int head, length, level;
  };
  std::vector<Run> runs;
  std::vector<int> run_level(size, 0);  // at the head: one more than the runs that end there
  const auto continues = [&](int v) { return parent[v] >= 0 && gone[parent[v]] && children[parent[v]] == 1; };
  std::vector<char> inside(size, 0);
  for (const int v : order)
    if (continues(v)) inside[parent[v]] = 1;
  for (const int v : order) {
    if (inside[v]) continue;
    Run run{v, 1, run_level[v]};
    int at = v;
    for (; continues(at); at = parent[at]) ++run.length;
    if (parent[at] >= 0) run_level[parent[at]] = std::max(run_level[parent[at]], run.level + 1);
    runs.push_back(run);
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.level != b.level ? a.level < b.level : a.length > b.length;
  });
  SparseRuns result;
  result.nodes.reserve(order.size());
  for (const Run& run : runs) {
    int at = run.head;
    result.nodes.push_back(at);
    for (int k = 1; k < run.length; ++k) result.nodes.push_back(at = parent[at]);
    result.begin.push_back(static_cast<int>(result.nodes.size()));
    result.parent.push_back(parent[at]);
    result.level.push_back(run.level);
  }
  return result;
}

namespace {

std::vector<int> least_degree(const SparseLists& near) {
  const int size = near.size();
  Eigen::SparseMatrix<double> pattern(size, size);
  std::vector<int> counts(size);
  for (int v = 0; v < size; ++v) counts[v] = near.count(v) + 1;
  pattern.reserve(counts);
  for (int v = 0; v < size; ++v) {
    bool diagonal = false;
    for (const int* u = near.first(v); u != near.last(v); ++u) {
      if (*u > v && !diagonal) pattern.insert(v, v) = 1, diagonal = true;
      pattern.insert(*u, v) = 1;
    }
    if (!diagonal) pattern.insert(v, v) = 1;
  }
  pattern.makeCompressed();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), permutation);
  return {permutation.indices().data(), permutation.indices().data() + size};
}

/// Rows that come too early are put off until after the last of their coordinates.
std::vector<int> put_off_rows(const SparseGraph& graph, const std::vector<int>& order) {
  const int size = graph.size();
  std::vector<int> position(size);
  for (int k = 0; k < size; ++k) position[order[k]] = k;
  std::vector<int> next(size, -1), waiting(size, -1);
  std::vector<char> is_put_off(size, 0);
  for (int k = size - 1; k >= 0; --k) {
    const int v = order[k];
    if (!graph.is_row[v]) continue;
    int last = -1;
    for (const int* u = graph.neighbours.first(v); u != graph.neighbours.last(v); ++u)
      if (!graph.is_row[*u]) last = std::max(last, position[*u]);
    if (last < k) continue;
    is_put_off[v] = 1;
    next[v] = waiting[last];
    waiting[last] = v;
  }
  std::vector<int> result;
  result.reserve(size);
  for (int k = 0; k < size; ++k) {
    if (!is_put_off[order[k]]) result.push_back(order[k]);
    for (int v = waiting[k]; v >= 0; v = next[v]) result.push_back(v);
  }
  return result;
}

/// The graph in which rows that touch coordinates are gone and join what they touch. Rows that touch very much are left
/// out: they wait until the end whatever the order is.
struct JoinedGraph {
  SparseLists neighbours;
  std::vector<int> nodes;
};

JoinedGraph join_rows(const SparseGraph& graph) {
  const int size = graph.size();
  const SparseLists& near = graph.neighbours;
  JoinedGraph joined;
  std::vector<int> index(size, -1), coordinate_of(size, -1);
  for (int v = 0; v < size; ++v) {
    if (graph.is_row[v])
      for (const int* u = near.first(v); u != near.last(v); ++u)
        if (!graph.is_row[*u]) coordinate_of[v] = *u;
    if (coordinate_of[v] >= 0) continue;
    index[v] = static_cast<int>(joined.nodes.size());
    joined.nodes.push_back(v);
  }
  std::vector<SparseEntry> edges;
  const auto join = [&](int a, int b) {
    if (a != b) edges.push_back({index[a], index[b]}), edges.push_back({index[b], index[a]});
  };
  constexpr int very_much = 64;
  std::vector<int> touched;
  for (int v = 0; v < size; ++v) {
    if (coordinate_of[v] < 0) {
      for (const int* u = near.first(v); u != near.last(v); ++u)
        if (*u > v && index[*u] >= 0) join(v, *u);
      continue;
    }
    touched.clear();
    for (const int* u = near.first(v); u != near.last(v); ++u)
      touched.push_back(coordinate_of[*u] >= 0 ? coordinate_of[*u] : *u);
    if (touched.size() > very_much) continue;
    for (std::size_t a = 0; a < touched.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) join(touched[a], touched[b]);
  }
  std::sort(edges.begin(), edges.end(),
            [](const SparseEntry& a, const SparseEntry& b) { return a.row != b.row ? a.row < b.row : a.col < b.col; });
  joined.neighbours.begin.assign(joined.nodes.size() + 1, 0);
  int last_row = -1, last_col = -1;
  for (const SparseEntry& edge : edges) {
    if (edge.row == last_row && edge.col == last_col) continue;
    last_row = edge.row, last_col = edge.col;
    ++joined.neighbours.begin[edge.row + 1];
    joined.neighbours.items.push_back(edge.col);
  }
  std::partial_sum(joined.neighbours.begin.begin(), joined.neighbours.begin.end(), joined.neighbours.begin.begin());
  return joined;
}

/// Elimination tree (Liu) by position.
std::vector<int> elimination_tree(const SparseLists& near, const std::vector<int>& order,
                                  const std::vector<int>& position) {
  const int size = near.size();
  std::vector<int> parent(size, -1), ancestor(size, -1);
  for (int k = 0; k < size; ++k) {
    const int v = order[k];
    for (const int* u = near.first(v); u != near.last(v); ++u) {
      int i = position[*u];
      while (i >= 0 && i < k) {
        const int next = ancestor[i];
        ancestor[i] = k;
        if (next < 0) parent[i] = k;
        i = next;
      }
    }
  }
  return parent;
}

std::vector<int> postorder(const std::vector<int>& parent) {
  const int size = static_cast<int>(parent.size());
  std::vector<int> first(size, -1), next(size, -1), result, stack;
  result.reserve(size);
  for (int v = size - 1; v >= 0; --v)
    if (parent[v] >= 0) next[v] = first[parent[v]], first[parent[v]] = v;
  for (int root = 0; root < size; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int v = stack.back();
      if (const int child = first[v]; child >= 0) {
        first[v] = next[child];
        stack.push_back(child);
      } else {
        stack.pop_back();
        result.push_back(v);
      }
    }
  }
  return result;
}

/// Entries below the diagonal of each column, by walking row subtrees: O(entries of the factor), no memory.
std::vector<int> count_entries(const SparseLists& near, const std::vector<int>& order, const std::vector<int>& position,
                               const std::vector<int>& parent) {
  const int size = near.size();
  std::vector<int> count(size, 0), mark(size, -1);
  for (int k = 0; k < size; ++k) {
    mark[k] = k;
    const int v = order[k];
    for (const int* u = near.first(v); u != near.last(v); ++u)
      for (int i = position[*u]; i < k && mark[i] != k; i = parent[i]) {
        mark[i] = k;
        ++count[i];
      }
  }
  return count;
}

SparseOrder finish(const SparseGraph& graph, const std::vector<int>& order, SparseOrdering chosen) {
  const int size = graph.size();
  std::vector<int> position(size);
  for (int k = 0; k < size; ++k) position[order[k]] = k;
  const std::vector<int> tree = elimination_tree(graph.neighbours, order, position), post = postorder(tree);
  SparseOrder result;
  result.chosen = chosen;
  result.nodes.resize(size);
  result.parent.assign(size, -1);
  std::vector<int> new_position(size);
  for (int k = 0; k < size; ++k) new_position[post[k]] = k;
  for (int k = 0; k < size; ++k) {
    result.nodes[k] = order[post[k]];
    if (tree[post[k]] >= 0) result.parent[k] = new_position[tree[post[k]]];
  }
  for (int k = 0; k < size; ++k) position[result.nodes[k]] = k;
  result.count = count_entries(graph.neighbours, result.nodes, position, result.parent);
  for (const double d : result.count) result.num_products += d * (d + 3) / 2;
  return result;
}

/// Least degree with `middle` last: joined to a clique of dummies it has no low degree, and elimination comes towards
/// it.
std::vector<int> order_halves(const SparseLists& near, const std::vector<int>& middle) {
  constexpr int num_dummies = 24;
  const int size = near.size();
  std::vector<char> in_middle(size, 0);
  for (const int v : middle) in_middle[v] = 1;
  SparseLists all;
  for (int v = 0; v < size; ++v) {
    all.items.insert(all.items.end(), near.first(v), near.last(v));
    for (int k = 0; in_middle[v] && k < num_dummies; ++k) all.items.push_back(size + k);
    all.begin.push_back(static_cast<int>(all.items.size()));
  }
  std::vector<int> sorted = middle;
  std::sort(sorted.begin(), sorted.end());
  for (int k = 0; k < num_dummies; ++k) {
    all.items.insert(all.items.end(), sorted.begin(), sorted.end());
    for (int j = 0; j < num_dummies; ++j)
      if (j != k) all.items.push_back(size + j);
    all.begin.push_back(static_cast<int>(all.items.size()));
  }
  std::vector<int> order;
  for (const int v : least_degree(all))
    if (v < size && !in_middle[v]) order.push_back(v);
  order.insert(order.end(), middle.begin(), middle.end());
  return order;
}

}  // namespace

SparseHalves find_halves(const std::vector<int>& parent) {
  const int size = static_cast<int>(parent.size());
  std::vector<int> weight(size, 1), first(size + 1, -1), next(size, -1);
  for (int v = 0; v < size; ++v) {
    const int to = parent[v] < 0 ? size : parent[v];
    if (parent[v] >= 0) weight[to] += weight[v];
    next[v] = first[to], first[to] = v;
  }
  // Down the heaviest branch to where a second one has a weight of its own.
  for (int at = size; at >= 0;) {
    int heavy = -1, second = -1;
    for (int v = first[at]; v >= 0; v = next[v]) {
      if (heavy < 0 || weight[v] > weight[heavy])
        second = heavy, heavy = v;
      else if (second < 0 || weight[v] > weight[second])
        second = v;
    }
    if (heavy < 0 || weight[heavy] < 32) break;
    if (second >= 0 && weight[second] * 4 > weight[heavy]) {
      const int a = std::min(heavy, second), b = std::max(heavy, second);
      return {{a + 1 - weight[a], b + 1 - weight[b]}, {a + 1, b + 1}};
    }
    at = heavy;
  }
  return {};
}

SparseOrder find_sparse_order(const SparseGraph& graph, SparseOrdering wanted) {
  const bool coupled = std::any_of(graph.is_row.begin(), graph.is_row.end(), [](char row) { return row == 0; });
  SparseOrder best;
  const auto consider = [&](SparseOrder candidate) {
    if (best.nodes.empty() || candidate.num_products < best.num_products) best = std::move(candidate);
  };
  const bool any = wanted == SparseOrdering::automatic;
  if (graph.size() == 0) return best;
  if (any || wanted == SparseOrdering::least_degree || (wanted == SparseOrdering::joined_rows && !coupled)) {
    std::vector<int> order = least_degree(graph.neighbours);
    if (coupled) order = put_off_rows(graph, order);
    consider(finish(graph, order, SparseOrdering::least_degree));
  }
  if (coupled && (any || wanted == SparseOrdering::joined_rows)) {
    const JoinedGraph joined = join_rows(graph);
    std::vector<int> order;
    std::vector<char> placed(graph.size(), 0);
    for (const int k : least_degree(joined.neighbours)) order.push_back(joined.nodes[k]), placed[order.back()] = 1;
    // Rows in front, from where they are put off to their places.
    std::vector<int> all;
    for (int v = 0; v < graph.size(); ++v)
      if (!placed[v]) all.push_back(v);
    all.insert(all.end(), order.begin(), order.end());
    consider(finish(graph, put_off_rows(graph, all), SparseOrdering::joined_rows));
  }
  // Dissection pays where least degree leaves much to do for each node: nets, not trees or bands.
  const bool wide = any && best.num_products > 200.0 * graph.size() && graph.size() > 500;
  if (wanted == SparseOrdering::dissection || wide) {
    std::vector<int> order = dissect(graph.neighbours);
    if (coupled) order = put_off_rows(graph, order);
    consider(finish(graph, order, SparseOrdering::dissection));
  }
  constexpr int narrow = 12;
  const bool band = any && best.num_products < 200.0 * graph.size();
  if (wanted == SparseOrdering::halved || band) {
    if (const std::vector<int> middle = find_middle(graph.neighbours, narrow); !middle.empty()) {
      std::vector<int> order = order_halves(graph.neighbours, middle);
      if (coupled) order = put_off_rows(graph, order);
      SparseOrder halved = finish(graph, order, SparseOrdering::halved);
      if (best.nodes.empty() || halved.num_products < 1.1 * best.num_products) best = std::move(halved);
    } else if (best.nodes.empty()) {
      return find_sparse_order(graph, SparseOrdering::automatic);
    }
  }
  return best;
}

}  // namespace mechanician
