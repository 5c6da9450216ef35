#include "mechanician/compile/program_order.hpp"

#include "mechanician/compile/machine_code.hpp"

namespace mechanician {

Program with_calls_first(const Program& program) {
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  const int first = program.num_inputs + static_cast<int>(program.constants.size());
  const int count = static_cast<int>(program.steps.size());
  std::vector<char> early(program.steps.size(), 0);
  for (int i = count; i-- > 0;) {
    const Step& s = program.steps[index(i)];
    if (is_op(s.action) && function_table()[static_cast<int>(s.action)]) early[index(i)] = 1;
    if (!early[index(i)]) continue;
    for (const int r : {s.a, s.b, s.c})
      if (r >= first) early[index(r - first)] = 1;
  }

  Program result{program.num_inputs, program.constants, {}, {}};
  result.steps.reserve(program.steps.size());
  std::vector<std::int32_t> place(program.steps.size());
  const auto moved = [&](std::int32_t r) { return r < first ? r : place[index(r - first)]; };
  for (const bool now : {true, false})
    for (int i = 0; i < count; ++i) {
      if ((early[index(i)] != 0) != now) continue;
      const Step& s = program.steps[index(i)];
      place[index(i)] = first + static_cast<std::int32_t>(result.steps.size());
      result.steps.push_back({s.action, moved(s.a), moved(s.b), moved(s.c)});
    }
  for (const std::int32_t r : program.outputs) result.outputs.push_back(moved(r));
  return result;
}

}  // namespace mechanician
