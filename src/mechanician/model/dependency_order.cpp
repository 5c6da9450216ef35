#include "mechanician/model/dependency_order.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace mechanician {

namespace {

constexpr std::size_t most_cycles = 20;  // a tangle of n items can have 2ⁿ of them

}  // namespace

DependencyOrder dependency_order(std::span<const std::vector<int>> needs) {
  return dependency_order(
      static_cast<int>(needs.size()), [&](int i) { return needs[static_cast<std::size_t>(i)]; }, [](int) {});
}

DependencyOrder dependency_order(int count, const std::function<std::vector<int>(int)>& needs,
                                 const std::function<void(int)>& finish) {
  enum class Mark : std::uint8_t { fresh, open, done };
  struct Visit {
    int item;
    std::vector<int> children;
    std::size_t next = 0;
    std::unordered_set<int> seen = {};
  };
  DependencyOrder result;
  std::vector<Mark> marks(static_cast<std::size_t>(count), Mark::fresh);
  std::vector<Visit> path;
  for (int root = 0; root < count; ++root) {
    if (marks[static_cast<std::size_t>(root)] != Mark::fresh) continue;
    marks[static_cast<std::size_t>(root)] = Mark::open;
    path.push_back({root, needs(root)});
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next == top.children.size()) {
        if (!top.children.empty()) {
          top.seen.insert(top.children.begin(), top.children.end());
          top.children = needs(top.item), top.next = 0;
          std::erase_if(top.children, [&](int i) { return top.seen.contains(i); });
          if (!top.children.empty()) continue;
        }
        const int item = top.item;
        marks[static_cast<std::size_t>(item)] = Mark::done;
        path.pop_back();
        finish(item);
        result.order.push_back(item);
        continue;
      }
      const int child = top.children[top.next++];
      Mark& mark = marks[static_cast<std::size_t>(child)];
      if (mark == Mark::fresh) {
        mark = Mark::open;
        path.push_back({child, needs(child)});
      } else if (mark == Mark::open && result.cycles.size() < most_cycles) {
        // The way back to the child is a cycle.
        auto from = std::find_if(path.rbegin(), path.rend(), [&](const Visit& v) { return v.item == child; });
        std::vector<int> cycle;
        for (auto v = from.base() - 1; v != path.end(); ++v) cycle.push_back(v->item);
        result.cycles.push_back(std::move(cycle));
      }
    }
  }
  return result;
}

std::string cycle_text(std::span<const int> cycle, const std::function<std::string(int)>& name_of) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i)
    if (i < most - 1 || i + 1 == cycle.size() || cycle.size() <= most)
      text += name_of(cycle[i]) + " → ";
    else if (i == most - 1)
      text += "… → ";
  return text + name_of(cycle.front());
}

}  // namespace mechanician
