#include "mechanician/solve/sparse_parts.hpp"

#include <algorithm>

namespace mechanician {

namespace {

constexpr double most_parts = 16;  // shares of all products that a part is worth
constexpr double least_part = 8;   // share of least_products

/// Of a factorisation; all columns of the node.
double products_of(const SparseStructure::Node& node) {
  double sum = 0;
  for (int c = 0; c < node.width; ++c) {
    const double d = node.width - 1 - c + static_cast<double>(node.rows.size());
    sum += d * (d + 3) / 2;
  }
  return sum;
}

}  // namespace

SparseParts find_parts(const SparseStructure& structure, double least_products) {
  const int size = static_cast<int>(structure.nodes.size());
  std::vector<int> parent(size, -1), part_of(size, -1);
  std::vector<double> weight(size, 0.0);
  std::vector<std::vector<int>> children(size);
  double all = 0;
  for (int k = 0; k < size; ++k) {
    const SparseStructure::Node& node = structure.nodes[k];
    const double own = products_of(node);
    all += own, weight[k] += own;
    if (node.rows.empty()) continue;
    parent[k] = structure.node_of[node.rows[0]];
    weight[parent[k]] += weight[k];
    children[parent[k]].push_back(k);
  }
  // From the roots down: where two branches are worth a part each, they are parts.
  std::vector<SparseParts::Part> found(1);  // the rest first, turned round in the end
  if (all >= least_products) {
    const double least = std::max(all / most_parts, least_products / least_part);
    std::vector<int> roots;
    for (int k = size - 1; k >= 0; --k)
      if (parent[k] < 0) roots.push_back(k);
    const auto divide = [&](const std::vector<int>& branches, int part) {
      int heavy = 0;
      for (const int k : branches) heavy += weight[k] >= least;
      for (const int k : branches) {
        part_of[k] = part;
        if (heavy < 2 || weight[k] < least) continue;
        part_of[k] = static_cast<int>(found.size());
        found.push_back({k, part, structure.nodes[k].first + structure.nodes[k].width, {}, {}});
      }
    };
    divide(roots, 0);
    for (int k = size - 1; k >= 0; --k) divide(children[k], part_of[k]);
  } else {
    std::fill(part_of.begin(), part_of.end(), 0);
  }
  // Children first, in the order of their columns.
  const int count = static_cast<int>(found.size());
  SparseParts result;
  std::vector<int> number(count);
  std::vector<int> order(count);
  for (int k = 0; k < count; ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (a == 0 || b == 0) return b == 0 && a != 0;
    return found[a].root < found[b].root;
  });
  for (int k = 0; k < count; ++k) number[order[k]] = k;
  for (const int k : order) {
    result.parts.push_back(found[k]);
    if (result.parts.back().parent >= 0) result.parts.back().parent = number[result.parts.back().parent];
  }
  for (int k = 0; k + 1 < count; ++k) result.parts[result.parts[k].parent].children.push_back(k);
  for (int k = 0; k < size; ++k) result.parts[number[part_of[k]]].nodes.push_back(k);
  return result;
}

}  // namespace mechanician
