#include <algorithm>

#include "mechanician/analysis/eigenvalues.hpp"

namespace mechanician {

/// Tarjan's algorithm, without recursion. An edge leads from j to i where A(i, j) ≠ 0: j acts on i. Components are found after all that
/// they act on, which is the order that is wanted.
std::vector<std::vector<int>> find_blocks(const Eigen::MatrixXd& A) {
  const int n = static_cast<int>(A.rows());
  std::vector<std::vector<int>> blocks;
  std::vector<int> number(static_cast<std::size_t>(n), -1), low(number), stack;
  std::vector<char> on_stack(static_cast<std::size_t>(n), 0);
  struct Frame {
    int j, next;
  };
  std::vector<Frame> frames;
  int count = 0;
  const auto enter = [&](int j) {
    number[j] = low[j] = count++;
    stack.push_back(j), on_stack[j] = 1;
    frames.push_back({j, 0});
  };
  for (int root = 0; root < n; ++root) {
    if (number[root] >= 0) continue;
    enter(root);
    while (!frames.empty()) {
      auto& [j, next] = frames.back();
      while (next < n && (next == j || A(next, j) == 0.0)) ++next;
      if (next < n) {
        const int i = next++;
        if (number[i] < 0)
          enter(i);
        else if (on_stack[i])
          low[j] = std::min(low[j], number[i]);
        continue;
      }
      const int done = j;
      frames.pop_back();
      if (!frames.empty()) low[frames.back().j] = std::min(low[frames.back().j], low[done]);
      if (low[done] != number[done]) continue;
      std::vector<int>& block = blocks.emplace_back();
      int member = -1;
      do {
        member = stack.back();
        stack.pop_back(), on_stack[member] = 0;
        block.push_back(member);
      } while (member != done);
      std::sort(block.begin(), block.end());
    }
  }
  return blocks;
}

}  // namespace mechanician
