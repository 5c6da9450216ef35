#include "mechanician/compile/program_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mechanician/compile/machine_code.hpp"

namespace mechanician {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

bool is_sine(const Step& s) { return s.action == action_of(Op::sin) || s.action == action_of(Op::cos); }

}  // namespace

Program with_calls_first(const Program& program) {
  const int first = program.num_inputs + static_cast<int>(program.constants.size());
  const int count = static_cast<int>(program.steps.size());
  // Calls and what they need; and how many calls, one after the other, a step needs.
  std::vector<char> early(program.steps.size(), 0);
  for (int i = count; i-- > 0;) {
    const Step& s = program.steps[index(i)];
    if (is_call(s)) early[index(i)] = 1;
    if (!early[index(i)]) continue;
    for (const int r : {s.a, s.b, s.c})
      if (r >= first) early[index(r - first)] = 1;
  }
  // Sorted by: needed by a call; level; steps before sines before other calls.
  std::vector<int> level(program.steps.size(), 0), rank(program.steps.size());
  for (int i = 0; i < count; ++i) {
    const Step& s = program.steps[index(i)];
    for (const int r : {s.a, s.b, s.c})
      if (r >= first)
        level[index(i)] =
            std::max(level[index(i)], level[index(r - first)] + (is_call(program.steps[index(r - first)]) ? 1 : 0));
    rank[index(i)] = !early[index(i)] ? std::numeric_limits<int>::max()
                                      : 3 * level[index(i)] + (is_sine(s)   ? 1
                                                               : is_call(s) ? 2
                                                                            : 0);
  }
  std::vector<int> order(program.steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return rank[index(i)] < rank[index(j)]; });

  Program result{program.num_inputs, program.constants, {}, {}};
  result.steps.reserve(program.steps.size());
  std::vector<std::int32_t> place(program.steps.size());
  const auto moved = [&](std::int32_t r) { return r < first ? r : place[index(r - first)]; };
  for (const int i : order) {
    const Step& s = program.steps[index(i)];
    place[index(i)] = first + static_cast<std::int32_t>(result.steps.size());
    result.steps.push_back({s.action, moved(s.a), moved(s.b), moved(s.c)});
  }
  for (const std::int32_t r : program.outputs) result.outputs.push_back(moved(r));
  return result;
}

std::vector<SineBatch> sine_batches(const Program& program, int begin, int end, int least_arguments) {
  const int first = program.num_inputs + static_cast<int>(program.constants.size());
  std::vector<SineBatch> batches;
  for (int i = begin; i < end;) {
    SineBatch batch{i, i, {}, {}};
    for (; batch.end < end; ++batch.end) {
      const Step& s = program.steps[index(batch.end)];
      if (!is_sine(s) || s.a >= first + i) break;
      batch.arguments.push_back(s.a);
    }
    std::sort(batch.arguments.begin(), batch.arguments.end());
    batch.arguments.erase(std::unique(batch.arguments.begin(), batch.arguments.end()), batch.arguments.end());
    for (int k = batch.begin; k < batch.end; ++k)
      batch.which.push_back(
          static_cast<int>(std::lower_bound(batch.arguments.begin(), batch.arguments.end(), program.steps[index(k)].a) -
                           batch.arguments.begin()));
    i = std::max(i + 1, batch.end);
    if (!batch.which.empty() && static_cast<int>(batch.arguments.size()) >= least_arguments)
      batches.push_back(std::move(batch));
  }
  return batches;
}

}  // namespace mechanician
