#include "mechanician/compile/program_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "mechanician/compile/machine_code.hpp"

namespace mechanician {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

bool is_sine(const Step& s) { return s.action == action_of(Op::sin) || s.action == action_of(Op::cos); }

Program reordered(const Program& program, const std::vector<int>& order) {
  const int first = program.num_inputs + static_cast<int>(program.constants.size());
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

  return reordered(program, order);
}

namespace {

/// Until the result of a step can be used, in halves of a cycle: two steps begin per cycle.
int latency(const Step& s) {
  if (!is_op(s.action)) return 8;
  switch (static_cast<Op>(s.action)) {
    case Op::div:
      return 28;
    case Op::sqrt:
      return 36;
    case Op::min:
    case Op::max:
      return 10;
    case Op::neg:
    case Op::abs:
      return 2;
    default:
      return 8;
  }
}

/// Steps that are considered at a time: those that a processor may have under way, less what the registers can take.
constexpr int window = 200;

/// List scheduling of steps [begin, count): in a simulated processor that begins two steps per cycle, of those whose
/// operands are there the one with the longest way to the end.
class Scheduler {
 public:
  Scheduler(const Program& program, int begin)
      : program_(program),
        first_(program.num_inputs + static_cast<int>(program.constants.size())),
        begin_(begin),
        count_(static_cast<int>(program.steps.size())),
        way_(program.steps.size(), 0),
        missing_(program.steps.size(), 0),
        ready_(program.steps.size(), 0),
        users_begin_(program.steps.size() + 1, 0) {
    for (int i = count_; i-- > begin_;) {
      way_[index(i)] += latency(program_.steps[index(i)]);
      longest_ = std::max(longest_, way_[index(i)]);
      for_operands(i, [&](int k) {
        way_[index(k)] = std::max(way_[index(k)], way_[index(i)]);
        ++missing_[index(i)];
        ++users_begin_[index(k) + 1];
      });
    }
    std::partial_sum(users_begin_.begin(), users_begin_.end(), users_begin_.begin());
    users_.resize(index(users_begin_.back()));
    std::vector<int> fill(users_begin_.begin(), users_begin_.end() - 1);
    for (int i = begin_; i < count_; ++i) for_operands(i, [&](int k) { users_[index(fill[index(k)]++)] = i; });
  }

  /// Whether the longest chain takes longer than all steps.
  bool limited_by_chains() const { return longest_ > count_ - begin_; }

  std::vector<int> order() {
    std::vector<int> result;
    std::vector<char> done(program_.steps.size(), 0);
    int oldest = begin_, entered = begin_, now = 0;
    while (oldest < count_) {
      for (; entered < std::min(count_, oldest + window); ++entered)
        if (missing_[index(entered)] == 0) put(waiting_, {-ready_[index(entered)], -entered});
      for (; !waiting_.empty() && -waiting_.front().first <= now;) {
        const int i = -take(waiting_).second;
        put(able_, {way_[index(i)], -i});
      }
      if (able_.empty()) {
        now = -waiting_.front().first;
        continue;
      }
      const int i = -take(able_).second;
      result.push_back(i);
      done[index(i)] = 1;
      while (oldest < count_ && done[index(oldest)]) ++oldest;
      const int finished = now + latency(program_.steps[index(i)]);
      for (int u = users_begin_[index(i)]; u < users_begin_[index(i) + 1]; ++u) {
        const int user = users_[index(u)];
        ready_[index(user)] = std::max(ready_[index(user)], finished);
        if (--missing_[index(user)] == 0 && user < entered) put(waiting_, {-ready_[index(user)], -user});
      }
      ++now;
    }
    return result;
  }

 private:
  /// A heap: the largest first; of equals, the step that comes first.
  using Heap = std::vector<std::pair<int, int>>;
  static void put(Heap& heap, std::pair<int, int> x) {
    heap.push_back(x);
    std::push_heap(heap.begin(), heap.end());
  }
  static std::pair<int, int> take(Heap& heap) {
    std::pop_heap(heap.begin(), heap.end());
    const auto x = heap.back();
    heap.pop_back();
    return x;
  }
  /// Steps from begin_ on that step i needs, each once.
  template <class F>
  void for_operands(int i, F f) const {
    const Step& s = program_.steps[index(i)];
    const int a = s.a - first_, b = s.b - first_, c = s.c - first_;
    if (a >= begin_) f(a);
    if (b >= begin_ && b != a) f(b);
    if (c >= begin_ && c != a && c != b) f(c);
  }

  const Program& program_;
  const int first_, begin_, count_;
  std::vector<int> way_;      ///< from the start of a step to the end of the last that needs it
  std::vector<int> missing_;  ///< operands that are not there yet
  std::vector<int> ready_;    ///< when the operands are there
  std::vector<int> users_begin_, users_;
  Heap waiting_, able_;
  int longest_ = 0;
};

}  // namespace

Program with_long_chains_first(const Program& program) {
  const int count = static_cast<int>(program.steps.size());
  int begin = count;
  while (begin > 0 && !is_call(program.steps[index(begin - 1)])) --begin;
  Scheduler scheduler(program, begin);
  if (!scheduler.limited_by_chains()) return program;
  std::vector<int> order(index(begin));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int> rest = scheduler.order();
  order.insert(order.end(), rest.begin(), rest.end());
  return reordered(program, order);
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
