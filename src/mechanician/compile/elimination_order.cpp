#include "mechanician/compile/elimination_order.hpp"

#include <algorithm>
#include <cassert>
#include <set>
#include <tuple>

namespace mechanician {

namespace {

enum class Rule { degree_first, fill_first };

class Greedy {
 public:
  Greedy(const EliminationGraph& graph, Rule rule, long most) : graph_(graph), rule_(rule), most_(most) {
    const auto count = static_cast<std::size_t>(graph.num_coordinates + graph.num_rows);
    near_.resize(count);
    touched_by_.resize(count);
    waits_.assign(count, 0);
    key_.resize(count);
    depth_.assign(count, 0);
    for (const auto& [a, b] : graph.edges) {
      assert(a != b);
      near_[at(a)].insert(b), near_[at(b)].insert(a);
      if (is_row(a) != is_row(b))
        touched_by_[at(std::min(a, b))].push_back(std::max(a, b)), ++waits_[at(std::max(a, b))];
    }
  }

  std::optional<EliminationOrder> run() {
    EliminationOrder result;
    const int count = static_cast<int>(near_.size());
    for (int v = 0; v < count; ++v) offer(v);
    while (!queue_.empty()) {
      const int v = std::get<3>(*queue_.begin());
      queue_.erase(queue_.begin());
      const auto degree = static_cast<long>(near_[at(v)].size());
      result.nodes.push_back(v);
      result.num_products += 1 + degree + degree * (degree + 1) / 2 + 2 * degree;
      if (result.num_products > most_) return std::nullopt;
      eliminate(v);
    }
    assert(static_cast<int>(result.nodes.size()) == count);
    return result;
  }

 private:
  using Key = std::tuple<long, long, int, int>;
  static std::size_t at(int v) { return static_cast<std::size_t>(v); }
  bool is_row(int v) const { return v >= graph_.num_coordinates; }

  long calc_fill(int v) const {
    long missing = 0;
    for (auto a = near_[at(v)].begin(); a != near_[at(v)].end(); ++a)
      for (auto b = std::next(a); b != near_[at(v)].end(); ++b) missing += !near_[at(*a)].contains(*b);
    return missing;
  }
  void offer(int v) {
    if (waits_[at(v)] > 0) return;
    const auto degree = static_cast<long>(near_[at(v)].size());
    const long fill = calc_fill(v);
    key_[at(v)] =
        rule_ == Rule::degree_first ? Key{degree, fill, depth_[at(v)], v} : Key{fill, degree, depth_[at(v)], v};
    queue_.insert(key_[at(v)]);
  }

  void eliminate(int v) {
    const std::set<int> around = std::move(near_[at(v)]);
    // Whose degree or fill changes: neighbours, and theirs.
    std::set<int> changed(around.begin(), around.end());
    for (const int a : around) {
      near_[at(a)].erase(v);
      depth_[at(a)] = std::max(depth_[at(a)], depth_[at(v)] + 1);
      for (const int b : around)
        if (a != b) near_[at(a)].insert(b);
    }
    for (const int row : touched_by_[at(v)]) --waits_[at(row)];
    for (const int a : around) changed.insert(near_[at(a)].begin(), near_[at(a)].end());
    for (const int a : changed) queue_.erase(key_[at(a)]);
    for (const int a : changed) offer(a);
  }

  const EliminationGraph& graph_;
  Rule rule_;
  long most_;
  std::vector<std::set<int>> near_;
  std::vector<std::vector<int>> touched_by_;  ///< rows, by coordinate
  std::vector<int> waits_;                    ///< rows: coordinates that have to go first
  /// How many eliminations a node has to wait for, one after the other. Among equals the least goes first: then a chain is
  /// eliminated from both its ends, and a processor works on two pivots at a time.
  std::vector<int> depth_;
  std::vector<Key> key_;
  std::set<Key> queue_;
};

}  // namespace

std::optional<EliminationOrder> find_elimination_order(const EliminationGraph& graph, long most_products) {
  std::optional<EliminationOrder> best;
  for (const Rule rule : {Rule::degree_first, Rule::fill_first}) {
    std::optional<EliminationOrder> order = Greedy(graph, rule, most_products).run();
    if (order && (!best || order->num_products < best->num_products)) best = std::move(order);
  }
  return best;
}

}  // namespace mechanician
