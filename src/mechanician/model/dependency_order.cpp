#include "mechanician/model/dependency_order.hpp"

#include <algorithm>
#include <cstdint>

namespace mechanician {

namespace {

constexpr std::size_t most_cycles = 20;  // a tangle of n items can have 2ⁿ of them

}  // namespace

DependencyOrder dependency_order(std::span<const std::vector<int>> needs) {
  enum class Mark : std::uint8_t { fresh, open, done };
  struct Visit {
    int item;
    std::size_t next;
  };
  DependencyOrder result;
  std::vector<Mark> marks(needs.size(), Mark::fresh);
  std::vector<Visit> path;
  for (std::size_t root = 0; root < needs.size(); ++root) {
    if (marks[root] != Mark::fresh) continue;
    marks[root] = Mark::open;
    path.push_back({static_cast<int>(root), 0});
    while (!path.empty()) {
      Visit& top = path.back();
      const auto& children = needs[static_cast<std::size_t>(top.item)];
      if (top.next == children.size()) {
        marks[static_cast<std::size_t>(top.item)] = Mark::done;
        result.order.push_back(top.item);
        path.pop_back();
        continue;
      }
      const int child = children[top.next++];
      Mark& mark = marks[static_cast<std::size_t>(child)];
      if (mark == Mark::fresh) {
        mark = Mark::open;
        path.push_back({child, 0});
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
