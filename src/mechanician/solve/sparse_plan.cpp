#include "mechanician/solve/sparse_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "mechanician/solve/sparse_strips.hpp"
#include "mechanician/solve/sparse_structure.hpp"

namespace mechanician {

using sparse::Index;

sparse::Lists SparsePlan::lists() const {
  sparse::Lists lists;
  lists.row_at = row_at.data();
  lists.rows = rows.data();
  lists.targets = targets.data();
  lists.first_core = first_core;
  lists.origins = origins.data();
  lists.relative = relative.data();
  lists.pieces = pieces.data();
  lists.tasks = tasks.data();
  lists.parts = parts.data();
  lists.part_children = part_children.data();
  lists.small = small.data();
  lists.supernodes = supernodes.data();
  return lists;
}

double SparsePlan::bytes() const {
  const auto size = [](const auto& v) { return static_cast<double>(v.size() * sizeof(v[0])); };
  return size(A_row) + size(A_col) + size(M_row) + size(M_col) + size(row_slots.items) + size(col_slots.items) +
         size(row_slots.begin) + size(col_slots.begin) + size(mass_slot) + size(position_of_coordinate) +
         size(position_of_row) + size(row_at) + size(runs) + size(strips) + size(tasks) + size(small) +
         size(supernodes) + size(pieces) + size(rows) + size(targets) + size(relative) + size(origins) + size(parts) +
         size(form_target) + size(form_begin) + size(form_pairs) + size(copies_M) + size(copies_A) + size(augmenting) +
         size(loose_rows) + size(bands) + size(loose_coordinates) + 8.0 * static_cast<double>(num_values + work_size);
}

namespace {

void check(const SparsePattern& pattern) {
  const auto inside = [&](const SparseEntry& e, int rows, const char* name) {
    if (e.row < 0 || e.row >= rows || e.col < 0 || e.col >= pattern.n)
      throw std::invalid_argument(
          fmt::format("{} has an entry at ({}, {}), which lies outside of {}×{}", name, e.row, e.col, rows, pattern.n));
  };
  for (const SparseEntry& e : pattern.M) {
    inside(e, pattern.n, "M");
    if (e.row < e.col)
      throw std::invalid_argument(
          fmt::format("M has an entry at ({}, {}): only the lower triangle is given", e.row, e.col));
  }
  for (const SparseEntry& e : pattern.A) inside(e, pattern.m, "A");
}

SparseLists group(int size, const std::vector<int>& key) {
  SparseLists lists;
  lists.begin.assign(size + 1, 0);
  for (const int k : key) ++lists.begin[k + 1];
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.items.resize(key.size());
  std::vector<int> at(lists.begin.begin(), lists.begin.end() - 1);
  for (std::size_t s = 0; s < key.size(); ++s) lists.items[at[key[s]]++] = static_cast<int>(s);
  return lists;
}

void check_twice(const SparseLists& row_slots, const std::vector<int>& col, int n, const char* name) {
  std::vector<int> seen(n, -1);
  for (int r = 0; r < row_slots.size(); ++r)
    for (const int* s = row_slots.first(r); s != row_slots.last(r); ++s) {
      if (seen[col[*s]] == r)
        throw std::invalid_argument(fmt::format("{} has the entry ({}, {}) twice", name, r, col[*s]));
      seen[col[*s]] = r;
    }
}

/// Calls `visit(u, v)` for every pair of different nodes that some product joins; pairs may come several times.
template <class Visit>
void visit_pairs(const SparsePlan& plan, const std::vector<int>& node_of_coordinate, int num_coupled, Visit visit) {
  for (std::size_t k = 0; k < plan.M_row.size(); ++k)
    if (plan.M_row[k] != plan.M_col[k]) visit(node_of_coordinate[plan.M_row[k]], node_of_coordinate[plan.M_col[k]]);
  for (const int r : plan.augmented)
    for (const int* a = plan.row_slots.first(r); a != plan.row_slots.last(r); ++a)
      for (const int* b = plan.row_slots.first(r); b != a; ++b)
        visit(node_of_coordinate[plan.A_col[*a]], node_of_coordinate[plan.A_col[*b]]);
  for (int i = 0; i < plan.n; ++i) {
    const bool coupled = node_of_coordinate[i] >= 0;
    for (const int* a = plan.col_slots.first(i); a != plan.col_slots.last(i); ++a) {
      if (coupled) visit(num_coupled + plan.A_row[*a], node_of_coordinate[i]);
      if (!coupled)
        for (const int* b = plan.col_slots.first(i); b != a; ++b)
          visit(num_coupled + plan.A_row[*a], num_coupled + plan.A_row[*b]);
    }
  }
}

SparseGraph make_graph(const SparsePlan& plan, const std::vector<int>& node_of_coordinate, int num_coupled) {
  SparseGraph graph;
  const int size = num_coupled + plan.m;
  graph.is_row.assign(size, 1);
  std::fill(graph.is_row.begin(), graph.is_row.begin() + num_coupled, char{0});
  std::vector<Index> begin(size + 1, 0);
  visit_pairs(plan, node_of_coordinate, num_coupled, [&](int u, int v) { ++begin[u + 1], ++begin[v + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int> items(begin.back());
  std::vector<Index> at(begin.begin(), begin.end() - 1);
  visit_pairs(plan, node_of_coordinate, num_coupled, [&](int u, int v) { items[at[u]++] = v, items[at[v]++] = u; });
  graph.neighbours.begin.assign(1, 0);
  graph.neighbours.begin.reserve(size + 1);
  Index kept = 0;
  for (int v = 0; v < size; ++v) {
    std::sort(items.begin() + begin[v], items.begin() + begin[v + 1]);
    const Index start = kept;
    for (Index k = begin[v]; k < begin[v + 1]; ++k)
      if (kept == start || items[kept - 1] != items[k]) items[kept++] = items[k];
    if (kept > std::numeric_limits<int>::max()) throw std::length_error("the rows share too many coordinates");
    graph.neighbours.begin.push_back(static_cast<int>(kept));
  }
  items.resize(kept);
  items.shrink_to_fit();
  graph.neighbours.items = std::move(items);
  return graph;
}

/// Which rows enter H, which coordinates are coupled.
std::vector<int> choose_coupled(SparsePlan& plan, const SparsePlanOptions& options, int& num_coupled) {
  std::vector<int> node(plan.n, -1);
  std::vector<char> coupled(plan.n, 0), has_mass(plan.n, 0);
  plan.mass_slot.assign(plan.n, -1);
  for (std::size_t k = 0; k < plan.M_row.size(); ++k) {
    if (plan.M_row[k] == plan.M_col[k])
      plan.mass_slot[plan.M_row[k]] = static_cast<int>(k), has_mass[plan.M_row[k]] = 1;
    else
      coupled[plan.M_row[k]] = coupled[plan.M_col[k]] = 1;
  }
  for (int r = 0; r < plan.m; ++r) {
    const int *first = plan.row_slots.first(r), *last = plan.row_slots.last(r);
    if (!options.augment_all && std::all_of(first, last, [&](int s) { return has_mass[plan.A_col[s]] != 0; })) continue;
    plan.augmented.push_back(r);
    for (const int* s = first; s != last; ++s) coupled[plan.A_col[*s]] = 1;
  }
  for (int i = 0; i < plan.n; ++i) {
    if (!has_mass[i] && !coupled[i]) plan.massless.push_back(i);
    if (coupled[i]) node[i] = num_coupled++;
  }
  return node;
}

void place_runs(SparsePlan& plan, const SparseRuns& runs, int num_coupled, std::vector<int>& position) {
  for (std::size_t k = 0; k < runs.nodes.size(); ++k) {
    position[runs.nodes[k]] = static_cast<int>(k);
    plan.row_at[k] = runs.nodes[k] - num_coupled;
  }
  plan.first_core = static_cast<int>(runs.nodes.size());
  const Index entries = static_cast<Index>(plan.row_at.size());
  plan.run_level = runs.level;
  for (std::size_t k = 0; k + 1 < runs.begin.size(); ++k) {
    sparse::Run run;
    run.first = runs.begin[k];
    run.count = runs.begin[k + 1] - run.first;
    run.parent = runs.parent[k];  // a node; a position later
    run.entry = entries + run.first;
    plan.runs.push_back(run);
  }
}

/// Where the entry between two positions lies.
Index place_of(const SparsePlan& plan, const SparseStructure& structure, int a, int b) {
  if (a == b) return plan.diagonal(a);
  const int column = std::min(a, b), row = std::max(a, b);
  if (column < plan.first_core) return static_cast<Index>(plan.row_at.size()) + column;
  return structure.entry(row - plan.first_core, column - plan.first_core);
}

void make_forming(SparsePlan& plan, const SparseStructure& structure, const std::vector<char>& in_strip) {
  const auto visit = [&](auto action) {
    for (int i = 0; i < plan.n; ++i) {
      if (plan.position_of_coordinate[i] >= 0) continue;
      for (const int* a = plan.col_slots.first(i); a != plan.col_slots.last(i); ++a)
        for (const int* b = plan.col_slots.first(i);; ++b) {
          const int p = plan.position_of_row[plan.A_row[*a]], q = plan.position_of_row[plan.A_row[*b]];
          const int column = std::min(p, q);
          if (column >= plan.first_core || !in_strip[column]) action(place_of(plan, structure, p, q), *a, *b);
          if (b == a) break;
        }
    }
  };
  std::vector<int> count;  // by place, made small where there is nothing to form
  Index num_pairs = 0;
  visit([&](Index, int, int) { ++num_pairs; });
  plan.num_products += 2.0 * static_cast<double>(num_pairs);
  if (num_pairs == 0) return;
  if (num_pairs > std::numeric_limits<int>::max() / 2) throw std::length_error("the rows share too many coordinates");
  count.assign(plan.num_values + 1, 0);
  visit([&](Index place, int, int) { ++count[place]; });
  plan.form_begin.push_back(0);
  for (Index place = 0; place < plan.num_values; ++place) {
    if (count[place] == 0) continue;
    plan.form_target.push_back(static_cast<int>(place));
    const int begin = plan.form_begin.back();
    plan.form_begin.push_back(begin + count[place]);
    count[place] = begin;
  }
  plan.form_pairs.resize(2 * num_pairs);
  visit([&](Index place, int a, int b) {
    const Index k = count[place]++;
    plan.form_pairs[2 * k] = a, plan.form_pairs[2 * k + 1] = b;
  });
  std::vector<char> used(plan.A_row.size(), 0);
  for (Index k = 0; k < num_pairs; ++k) used[plan.form_pairs[2 * k]] = 1;
  const auto num_used = std::count(used.begin(), used.end(), char{1});
  if (4 * num_used > 3 * static_cast<Index>(used.size())) return;
  plan.form_slots.reserve(num_used);
  for (std::size_t s = 0; s < used.size(); ++s)
    if (used[s]) plan.form_slots.push_back(static_cast<int>(s));
}

void make_copies(SparsePlan& plan, const SparseStructure& structure) {
  const auto position = [&](int i) { return plan.position_of_coordinate[i]; };
  for (std::size_t k = 0; k < plan.M_row.size(); ++k)
    if (position(plan.M_row[k]) >= 0)
      plan.copies_M.push_back(
          {static_cast<int>(place_of(plan, structure, position(plan.M_row[k]), position(plan.M_col[k]))),
           static_cast<int>(k)});
  for (std::size_t s = 0; s < plan.A_row.size(); ++s)
    if (position(plan.A_col[s]) >= 0)
      plan.copies_A.push_back(
          {static_cast<int>(place_of(plan, structure, plan.position_of_row[plan.A_row[s]], position(plan.A_col[s]))),
           static_cast<int>(s)});
  for (const int r : plan.augmented)
    for (const int* a = plan.row_slots.first(r); a != plan.row_slots.last(r); ++a)
      for (const int* b = plan.row_slots.first(r);; ++b) {
        plan.augmenting.push_back(
            {static_cast<int>(place_of(plan, structure, position(plan.A_col[*a]), position(plan.A_col[*b]))), *a, *b,
             r});
        if (b == a) break;
      }
  plan.num_products += static_cast<double>(plan.augmenting.size());
}

}  // namespace

SparsePlan make_sparse_plan(const SparsePattern& pattern, const SparsePlanOptions& options) {
  check(pattern);
  SparsePlan plan;
  plan.n = pattern.n, plan.m = pattern.m;
  for (const SparseEntry& e : pattern.A) plan.A_row.push_back(e.row), plan.A_col.push_back(e.col);
  for (const SparseEntry& e : pattern.M) plan.M_row.push_back(e.row), plan.M_col.push_back(e.col);
  plan.row_slots = group(plan.m, plan.A_row);
  plan.col_slots = group(plan.n, plan.A_col);
  plan.rows_in_order = true;
  for (std::size_t k = 0; k < plan.row_slots.items.size(); ++k)
    plan.rows_in_order = plan.rows_in_order && plan.row_slots.items[k] == static_cast<int>(k);
  check_twice(plan.row_slots, plan.A_col, plan.n, "A");
  check_twice(group(plan.n, plan.M_row), plan.M_col, plan.n, "M");

  int num_coupled = 0;
  const std::vector<int> node_of_coordinate = choose_coupled(plan, options, num_coupled);
  const int num_nodes = num_coupled + plan.m;
  std::vector<int> position(num_nodes, -1);
  plan.row_at.assign(num_nodes, 0);
  SparseStructure structure;
  {
    const SparseGraph graph = make_graph(plan, node_of_coordinate, num_coupled);
    place_runs(plan, strip_trees(graph), num_coupled, position);

    // The core by itself.
    std::vector<int> core_nodes, index(num_nodes, -1);
    for (int v = 0; v < num_nodes; ++v)
      if (position[v] < 0) index[v] = static_cast<int>(core_nodes.size()), core_nodes.push_back(v);
    SparseGraph core;
    for (const int v : core_nodes) {
      core.is_row.push_back(graph.is_row[v]);
      for (const int* u = graph.neighbours.first(v); u != graph.neighbours.last(v); ++u)
        if (index[*u] >= 0) core.neighbours.items.push_back(index[*u]);
      core.neighbours.begin.push_back(static_cast<int>(core.neighbours.items.size()));
    }
    const SparseOrder order = find_sparse_order(core, options.ordering);
    plan.ordering = order.chosen;
    plan.num_core_products = order.num_products;
    plan.num_products = order.num_products + 2.0 * plan.first_core;
    for (std::size_t k = 0; k < core_nodes.size(); ++k) {
      const int v = core_nodes[order.nodes[k]];
      const int at = plan.first_core + static_cast<int>(k);
      position[v] = at;
      plan.row_at[at] = v >= num_coupled ? v - num_coupled : -1;
    }
    plan.position_of_coordinate.assign(plan.n, -1);
    for (int i = 0; i < plan.n; ++i)
      if (node_of_coordinate[i] >= 0) {
        const int at = position[node_of_coordinate[i]];
        plan.position_of_coordinate[i] = at;
        plan.row_at[at] = -1 - i;
      }
    plan.position_of_row.assign(position.begin() + num_coupled, position.end());
    plan.core_values = static_cast<Index>(num_nodes) + plan.first_core;
    structure = find_structure(core.neighbours, order, plan, options.least_products);
  }
  for (sparse::Run& run : plan.runs) {
    if (run.parent < 0) continue;
    run.parent = position[run.parent];
    if (run.parent >= plan.first_core) run.parent_diagonal = plan.diagonal(run.parent);
  }
  plan.mass_in_order = num_coupled == 0;
  for (int i = 0; i < plan.n; ++i) {
    if (plan.position_of_coordinate[i] >= 0) plan.mass_slot[i] = -1;
    plan.mass_in_order = plan.mass_in_order && plan.mass_slot[i] == i;
    plan.has_uncoupled = plan.has_uncoupled || (plan.position_of_coordinate[i] < 0 && plan.col_slots.count(i) > 0);
  }

  const std::vector<char> in_strip = find_strips(plan);
  make_forming(plan, structure, in_strip);
  make_copies(plan, structure);
  find_bands(plan);
  return plan;
}

}  // namespace mechanician
