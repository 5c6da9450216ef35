#include "mechanician/compile/program.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

#include "mechanician/compile/traced_internal.hpp"
#include "mechanician/compile/trigonometry.hpp"

namespace mechanician {

namespace {

constexpr int code_of(Op op) { return static_cast<int>(op); }
constexpr int code_of(Action action) { return static_cast<int>(action); }

/// The loop of the interpreter. What is frequent stands here; the rest is behind one more branch.
[[gnu::always_inline]] inline void run(const Step* step, std::size_t count, double* r, double* next) {
  const auto at = [r](std::int32_t i) { return r[static_cast<std::size_t>(i)]; };
  for (const Step* const end = step + count; step != end; ++step) {
    const double a = at(step->a), b = at(step->b), c = at(step->c);
    double value;
    switch (code_of(step->action)) {
      case code_of(Op::add):
        value = a + b;
        break;
      case code_of(Op::sub):
        value = a - b;
        break;
      case code_of(Op::mul):
        value = a * b;
        break;
      case code_of(Op::div):
        value = a / b;
        break;
      case code_of(Op::neg):
        value = -a;
        break;
      case code_of(Action::fma):
        value = __builtin_fma(a, b, c);
        break;
      case code_of(Action::fms):
        value = __builtin_fma(a, b, -c);
        break;
      case code_of(Action::fnma):
        value = __builtin_fma(-a, b, c);
        break;
      case code_of(Op::sin):
        value = sine_cosine(a).sine;
        break;
      case code_of(Op::cos):
        value = sine_cosine(a).cosine;
        break;
      default:
        value = evaluate_operator<double>(static_cast<Op>(step->action), a, b, c);
    }
    *next++ = value;
  }
}

using Loop = void (*)(const Step*, std::size_t, double*, double*);

void run_anywhere(const Step* step, std::size_t count, double* r, double* next) { run(step, count, r, next); }

#if defined(__x86_64__)
/// Without this, fma is a call of the library: the same bits, slowly.
__attribute__((target("fma"))) void run_with_fma(const Step* step, std::size_t count, double* r, double* next) {
  run(step, count, r, next);
}
const Loop loop = __builtin_cpu_supports("fma") ? run_with_fma : run_anywhere;
#else
const Loop loop = run_anywhere;
#endif

bool is_commutative(Op op) {
  return op == Op::add || op == Op::mul || op == Op::hypot || op == Op::eq || op == Op::logical_and ||
         op == Op::logical_or;
}

std::size_t hash_of(const Step& s) {
  auto h = static_cast<std::uint64_t>(s.action);
  for (const std::int32_t x : {s.a, s.b, s.c})
    h = (h ^ static_cast<std::uint32_t>(x)) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
  return static_cast<std::size_t>(h);
}

/// 1/x if that is exact.
bool has_exact_reciprocal(double x) {
  int exponent;
  return std::abs(std::frexp(x, &exponent)) == 0.5 && std::abs(exponent) < 1000;
}

}  // namespace

void Program::evaluate(const double* inputs, double* registers, double* values) const {
  double* next = std::copy(inputs, inputs + num_inputs, registers);
  next = std::copy(constants.begin(), constants.end(), next);
  loop(steps.data(), steps.size(), registers, next);
  for (const std::int32_t i : outputs) *values++ = registers[static_cast<std::size_t>(i)];
}

ProgramBuilder::ProgramBuilder(int num_inputs) : table_(64, -1) {
  for (std::int32_t i = 0; i < num_inputs; ++i) nodes_.push_back({action_of(Op::symbol), i, i, i});
  total_.assign(nodes_.size(), 1);
}

ProgramBuilder::Value ProgramBuilder::constant(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return find_or_make({action_of(Op::constant), 0, static_cast<std::int32_t>(bits & 0xffffffffu),
                       static_cast<std::int32_t>(bits >> 32)});
}

double ProgramBuilder::number(Value v) const {
  const Node& n = at(v);
  assert(n.action == action_of(Op::constant));
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.c)) << 32 |
                               static_cast<std::uint32_t>(n.b));
}

bool ProgramBuilder::is_constant(Value v, double x) const { return is_constant(v) && number(v) == x; }

void ProgramBuilder::grow() {
  const std::vector<Value> old = std::exchange(table_, std::vector<Value>(2 * table_.size(), -1));
  for (const Value v : old) {
    if (v < 0) continue;
    std::size_t k = hash_of(at(v)) & (table_.size() - 1);
    while (table_[k] >= 0) k = (k + 1) & (table_.size() - 1);
    table_[k] = v;
  }
}

ProgramBuilder::Value ProgramBuilder::find_or_make(Node node) {
  if (2 * num_known_ >= table_.size()) grow();
  std::size_t k = hash_of(node) & (table_.size() - 1);
  for (; table_[k] >= 0; k = (k + 1) & (table_.size() - 1))
    if (at(table_[k]) == node) return table_[k];
  table_[k] = static_cast<Value>(nodes_.size());
  total_.push_back(is_total(node));
  nodes_.push_back(node);
  ++num_known_;
  return table_[k];
}

bool ProgramBuilder::is_total(const Node& node) const {
  if (node.action == action_of(Op::constant)) return true;
  const Op op = static_cast<Op>(node.action);
  const auto total = [&](Value v) { return total_[static_cast<std::size_t>(v)] != 0; };
  if (!total(node.a) || !total(node.b) || !total(node.c)) return false;
  if (!is_op(node.action)) return true;
  switch (row_of(op).domain) {
    case Domain::everywhere:
      return true;
    case Domain::by_denominator:
      return is_constant(node.b) && number(node.b) != 0.0;
    case Domain::by_exponent:
      return is_constant(node.b) && number(node.b) >= 0.0 && number(node.b) == std::floor(number(node.b));
    case Domain::by_table:
      return is_constant(node.c) && is_total_lookup(number(node.c));
    case Domain::somewhere:
      break;
  }
  return false;
}

ProgramBuilder::Value ProgramBuilder::simplified(Op op, Value a, Value b, Value c) {
  const auto none = Value{-1};
  switch (op) {
    case Op::add:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      if (is(b, Op::neg)) return sub(a, at(b).a);
      if (is(a, Op::neg)) return sub(b, at(a).a);
      return none;
    case Op::sub:
      if (is_constant(b, 0)) return a;
      if (is_constant(a, 0)) return neg(b);
      if (is(b, Op::neg)) return add(a, at(b).a);
      return none;
    case Op::mul:
      // 0·√x has no value where √x has none.
      if (is_constant(a, 0) && total_[static_cast<std::size_t>(b)]) return constant(0);
      if (is_constant(b, 0) && total_[static_cast<std::size_t>(a)]) return constant(0);
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, -1)) return neg(b);
      if (is_constant(b, -1)) return neg(a);
      // Signs move outwards, where they turn a sum into a difference or cancel.
      if (is(a, Op::neg)) return neg(mul(at(a).a, b));
      if (is(b, Op::neg)) return neg(mul(a, at(b).a));
      return none;
    case Op::div:
      if (is_constant(b, 1)) return a;
      if (is_constant(b, -1)) return neg(a);
      if (is_constant(b) && has_exact_reciprocal(number(b))) return mul(a, constant(1 / number(b)));
      if (is(a, Op::neg)) return neg(div(at(a).a, b));
      if (is(b, Op::neg)) return neg(div(a, at(b).a));
      return none;
    case Op::pow:
      if (is_constant(b, 2)) return mul(a, a);
      if (is_constant(b, 3)) return mul(mul(a, a), a);
      if (is_constant(b, -1)) return div(constant(1), a);
      if (is_constant(b, 1)) return a;
      return none;
    case Op::neg:
      return is(a, Op::neg) ? at(a).a : none;
    case Op::select:
      if (is_constant(a)) return number(a) != 0 ? b : c;
      return b == c ? b : none;
    default:
      return none;
  }
}

ProgramBuilder::Value ProgramBuilder::apply(Op op, Value a, Value b, Value c) {
  assert(op != Op::constant && op != Op::symbol);
  const int arity = row_of(op).arity;
  if (arity < 2) b = a;
  if (arity < 3) c = a;
  assert(std::min({a, b, c}) >= 0 && std::max({a, b, c}) < static_cast<Value>(nodes_.size()));
  if (is_constant(a) && is_constant(b) && is_constant(c))
    return constant(evaluate_operator<double>(op, number(a), number(b), number(c)));
  if (const Value v = simplified(op, a, b, c); v >= 0) return v;
  if (is_commutative(op) && b < a) {
    std::swap(a, b);
    c = a;
  }
  return find_or_make({action_of(op), a, b, c});
}

std::vector<ProgramBuilder::Value> ProgramBuilder::append(const Tape& tape, std::span<const Value> inputs) {
  assert(static_cast<int>(inputs.size()) == tape.num_inputs());
  std::vector<Traced> traced, registers(static_cast<std::size_t>(tape.num_registers())),
      outputs(static_cast<std::size_t>(tape.num_outputs()));
  for (const Value v : inputs) traced.emplace_back(*this, v);
  tape.evaluate<Traced>(traced, registers, outputs);
  std::vector<Value> values;
  for (const Traced& x : outputs) values.push_back(value_in(*this, x));
  return values;
}

std::vector<ProgramBuilder::Value> ProgramBuilder::append(const Program& program, std::span<const Value> inputs) {
  assert(static_cast<int>(inputs.size()) == program.num_inputs);
  std::vector<Value> registers(inputs.begin(), inputs.end());
  registers.reserve(static_cast<std::size_t>(program.num_registers()));
  for (const double x : program.constants) registers.push_back(constant(x));
  const auto reg = [&](std::int32_t i) { return registers[static_cast<std::size_t>(i)]; };
  // What inputs make simpler is not fused any more.
  const auto stays = [&](const Step& s) {
    const Value a = reg(s.a), b = reg(s.b), c = reg(s.c);
    const auto goes = [&](Value v) {
      return is(v, Op::neg) || is_constant(v, 0) || is_constant(v, 1) || is_constant(v, -1);
    };
    return !is_op(s.action) && !goes(a) && !goes(b) && !goes(c) && !(is_constant(a) && is_constant(b));
  };
  for (const Step& s : program.steps) {
    Value v = -1;
    if (stays(s))
      v = find_or_make({s.action, reg(s.a), reg(s.b), reg(s.c)});
    else if (s.action == Action::fma)
      v = add(mul(reg(s.a), reg(s.b)), reg(s.c));
    else if (s.action == Action::fms)
      v = sub(mul(reg(s.a), reg(s.b)), reg(s.c));
    else if (s.action == Action::fnma)
      v = sub(reg(s.c), mul(reg(s.a), reg(s.b)));
    else
      v = apply(static_cast<Op>(s.action), reg(s.a), reg(s.b), reg(s.c));
    registers.push_back(v);
  }
  std::vector<Value> values;
  // A product is not to be fused with what is made of it: a*b − 0 is the same number.
  const auto alone = [&](Value v) {
    return is(v, Op::mul) ? find_or_make({Action::fma, at(v).a, at(v).b, constant(-0.0)}) : v;
  };
  for (const std::int32_t i : program.outputs)
    values.push_back(is(reg(i), Op::neg) ? neg(alone(at(reg(i)).a)) : alone(reg(i)));
  return values;
}

ProgramBuilder::Value ProgramBuilder::is_positive(Value v) {
  std::vector<Value> left{v};
  Value all = -1;
  while (!left.empty()) {
    const Value x = left.back();
    left.pop_back();
    if (is(x, Op::min)) {
      left.push_back(at(x).a), left.push_back(at(x).b);
      continue;
    }
    // x − y > 0 exactly where x > y: nothing underflows to zero.
    const Value one = is(x, Op::sub)                           ? apply(Op::gt, at(x).a, at(x).b)
                      : is(x, Op::add) && is_constant(at(x).a) ? apply(Op::gt, at(x).b, constant(-number(at(x).a)))
                      : is(x, Op::add) && is_constant(at(x).b) ? apply(Op::gt, at(x).a, constant(-number(at(x).b)))
                                                               : apply(Op::gt, x, constant(0.0));
    all = all < 0 ? one : apply(Op::logical_and, all, one);
  }
  return all;
}

Program ProgramBuilder::finish(std::span<const Value> outputs) const {
  const auto count = nodes_.size();
  const auto index = [](Value v) { return static_cast<std::size_t>(v); };
  const auto arity = [&](std::size_t i) {
    return is_op(nodes_[i].action) ? row_of(static_cast<Op>(nodes_[i].action)).arity : 3;
  };

  // Uses by what is live.
  std::vector<int> uses(count, 0);
  for (const Value v : outputs) ++uses[index(v)];
  for (std::size_t i = count; i-- > 0;) {
    if (uses[i] == 0 || is_constant(static_cast<Value>(i))) continue;
    const int num = arity(i);
    if (num > 0) ++uses[index(nodes_[i].a)];
    if (num > 1) ++uses[index(nodes_[i].b)];
    if (num > 2) ++uses[index(nodes_[i].c)];
  }

  // Which products are fused into the sum that uses them. Of two, the one that is known later: the chain gets shorter.
  std::vector<int> depth(count, 0);
  std::vector<Step> fused(nodes_.begin(), nodes_.end());
  std::vector<char> gone(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& n = nodes_[i];
    if (uses[i] == 0 || n.action == action_of(Op::constant) || n.action == action_of(Op::symbol)) continue;
    depth[i] = 1 + std::max({depth[index(n.a)], depth[index(n.b)], depth[index(n.c)]});
    const bool difference = n.action == action_of(Op::sub);
    if (!difference && n.action != action_of(Op::add)) continue;
    const auto can = [&](Value v) { return is(v, Op::mul) && uses[index(v)] == 1; };
    const bool by_a = can(n.a) && (!can(n.b) || depth[index(n.a)] >= depth[index(n.b)]);
    if (!by_a && !can(n.b)) continue;
    const Value product = by_a ? n.a : n.b, other = by_a ? n.b : n.a;
    const Action action = !difference ? Action::fma : by_a ? Action::fms : Action::fnma;
    fused[i] = {action, at(product).a, at(product).b, other};
    gone[index(product)] = 1;
    depth[i] = std::max(depth[index(product)], 1 + depth[index(other)]);
  }

  Program program;
  std::vector<std::int32_t> place(count, -1);
  for (std::size_t i = 0; i < count && is(static_cast<Value>(i), Op::symbol); ++i) place[i] = program.num_inputs++;
  for (std::size_t i = 0; i < count; ++i) {
    if (uses[i] == 0 || !is_constant(static_cast<Value>(i))) continue;
    place[i] = program.num_inputs + static_cast<std::int32_t>(program.constants.size());
    program.constants.push_back(number(static_cast<Value>(i)));
  }
  const auto first = program.num_inputs + static_cast<std::int32_t>(program.constants.size());
  for (std::size_t i = static_cast<std::size_t>(program.num_inputs); i < count; ++i) {
    if (uses[i] == 0 || gone[i] || is_constant(static_cast<Value>(i))) continue;
    const Step& s = fused[i];
    Step step{s.action, place[index(s.a)], place[index(s.b)], place[index(s.c)]};
    // An operand that is not used repeats a.
    if (is_op(s.action)) {
      const int num = arity(i);
      if (num < 2) step.b = step.a;
      if (num < 3) step.c = step.a;
    }
    place[i] = first + static_cast<std::int32_t>(program.steps.size());
    program.steps.push_back(step);
  }
  for (const Value v : outputs) program.outputs.push_back(place[index(v)]);
  return program;
}

}  // namespace mechanician
