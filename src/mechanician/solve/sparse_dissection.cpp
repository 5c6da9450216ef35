#include "mechanician/solve/sparse_dissection.hpp"

#include <algorithm>

#ifdef MECHANICIAN_METIS
#include <dlfcn.h>
#include <metis.h>
#endif

namespace mechanician {

namespace {

/// The parts in turn, from an explicit stack; `part` says to which part a node belongs at the moment.
class Dissection {
 public:
  explicit Dissection(const SparseLists& near) : near_(near), part_(near.size(), 0), level_(near.size(), -1) {}

  std::vector<int> order() {
    std::vector<int> all(near_.size());
    for (int v = 0; v < near_.size(); ++v) all[v] = v;
    result_.reserve(all.size());
    parts_.push_back(std::move(all));
    // Separators are put down before what they separate, and everything is turned round in the end.
    while (!parts_.empty()) {
      std::vector<int> nodes = std::move(parts_.back());
      parts_.pop_back();
      cut(nodes);
    }
    std::reverse(result_.begin(), result_.end());
    return std::move(result_);
  }

 private:
  /// Breadth first within the part of `start`; nodes in the order they are met, with levels.
  const std::vector<int>& search(int start) {
    queue_.assign(1, start);
    level_[start] = 0;
    for (std::size_t k = 0; k < queue_.size(); ++k)
      for (const int* u = near_.first(queue_[k]); u != near_.last(queue_[k]); ++u)
        if (part_[*u] == part_[start] && level_[*u] < 0) {
          level_[*u] = level_[queue_[k]] + 1;
          queue_.push_back(*u);
        }
    return queue_;
  }
  void forget() {
    for (const int v : queue_) level_[v] = -1;
  }

  void cut(const std::vector<int>& nodes) {
    const int own = ++num_parts_;
    for (const int v : nodes) part_[v] = own;
    if (nodes.size() < 64) {
      result_.insert(result_.end(), nodes.begin(), nodes.end());
      return;
    }
    int start = search(nodes[0]).back();
    forget();
    start = search(start).back();
    forget();
    search(start);
    if (queue_.size() < nodes.size()) {  // not connected: this component, and the others
      std::vector<int> here = queue_, rest;
      for (const int v : nodes)
        if (level_[v] < 0) rest.push_back(v);
      forget();
      parts_.push_back(std::move(rest));
      parts_.push_back(std::move(here));
      return;
    }
    const int depth = level_[queue_.back()];
    std::vector<int> width(depth + 1, 0);
    for (const int v : queue_) ++width[level_[v]];
    // The narrowest level that leaves at least a third on each side, or the middle.
    int best = -1, before = 0;
    const int total = static_cast<int>(nodes.size());
    for (int k = 0; k <= depth; before += width[k], ++k) {
      const bool balanced = before >= total * 2 / 5 && total - before - width[k] >= total * 2 / 5;
      if (balanced && (best < 0 || width[k] < width[best])) best = k;
    }
    if (best < 0) {
      before = 0;
      for (best = 0; best < depth && before + width[best] < total / 2;) before += width[best++];
    }
    if (best == 0 || best >= depth) {
      forget();
      result_.insert(result_.end(), nodes.begin(), nodes.end());
      return;
    }
    std::vector<int> low, high;
    for (const int v : queue_) {
      const bool on = level_[v] == best;
      const bool touches_high = on && std::any_of(near_.first(v), near_.last(v),
                                                  [&](int u) { return part_[u] == own && level_[u] == best + 1; });
      if (touches_high)
        result_.push_back(v);
      else
        (level_[v] <= best ? low : high).push_back(v);
    }
    forget();
    parts_.push_back(std::move(low));
    parts_.push_back(std::move(high));
  }

  const SparseLists& near_;
  std::vector<int> part_, level_, queue_, result_;
  std::vector<std::vector<int>> parts_;
  int num_parts_ = 0;
};

#ifdef MECHANICIAN_METIS
/// Empty where the library is not on this machine or refuses.
std::vector<int> dissect_by_metis(const SparseLists& neighbours) {
  // Opened when the first net comes along, as it is of no use to others; never closed.
  static void* const library = dlopen(MECHANICIAN_METIS, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  const auto set_options =
      reinterpret_cast<decltype(&METIS_SetDefaultOptions)>(dlsym(library, "METIS_SetDefaultOptions"));
  const auto node_nd = reinterpret_cast<decltype(&METIS_NodeND)>(dlsym(library, "METIS_NodeND"));
  if (set_options == nullptr || node_nd == nullptr) return {};
  idx_t size = neighbours.size();
  std::vector<idx_t> begin(neighbours.begin.begin(), neighbours.begin.end());
  std::vector<idx_t> items(neighbours.items.begin(), neighbours.items.end());
  std::vector<idx_t> order(size), position(size), options(METIS_NOPTIONS);
  set_options(options.data());
  options[METIS_OPTION_SEED] = 1;
  if (node_nd(&size, begin.data(), items.data(), nullptr, options.data(), order.data(), position.data()) != METIS_OK)
    return {};
  return {order.begin(), order.end()};
}
#endif

}  // namespace

std::vector<int> dissect(const SparseLists& neighbours) {
#ifdef MECHANICIAN_METIS
  if (neighbours.size() > 1)
    if (std::vector<int> order = dissect_by_metis(neighbours); !order.empty()) return order;
#endif
  return Dissection(neighbours).order();
}

std::vector<int> find_middle(const SparseLists& neighbours, int most) {
  const int size = neighbours.size();
  if (size < 64) return {};
  std::vector<int> queue, level;
  int start = 0;
  for (int pass = 0; pass < 3; ++pass) {
    queue.assign(1, start);
    level.assign(size, -1);
    level[start] = 0;
    for (std::size_t k = 0; k < queue.size(); ++k)
      for (const int* u = neighbours.first(queue[k]); u != neighbours.last(queue[k]); ++u)
        if (level[*u] < 0) level[*u] = level[queue[k]] + 1, queue.push_back(*u);
    if (static_cast<int>(queue.size()) < size) return {};
    start = queue.back();
  }
  const int middle = level[queue[size / 2]];
  if (middle < 8 || level[queue.back()] < middle + 8) return {};
  std::vector<int> result;
  for (const int v : queue)
    if (level[v] == middle &&
        std::any_of(neighbours.first(v), neighbours.last(v), [&](int u) { return level[u] == middle + 1; }))
      result.push_back(v);
  if (static_cast<int>(result.size()) > most) return {};
  return result;
}

std::vector<int> dissect_by_levels(const SparseLists& neighbours) { return Dissection(neighbours).order(); }

}  // namespace mechanician
