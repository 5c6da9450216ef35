#include "mechanician/compile/x86_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <vector>

#include "mechanician/compile/program_order.hpp"
#if defined(__x86_64__)
#include "mechanician/compile/x86_assembler_internal.hpp"
#endif

namespace mechanician {

#if defined(__x86_64__)

namespace {

using namespace x86;

constexpr int never = std::numeric_limits<int>::max();
constexpr int num_vectors = 16;
constexpr int least_batch = 3;  ///< fewer angles are quicker one by one
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

class Generator {
 public:
  Generator(const Program& program, int lanes)
      : program_(program),
        lanes_(lanes),
        first_(program.num_inputs + static_cast<int>(program.constants.size())),
        count_(static_cast<int>(program.steps.size())),
        register_of_(index(program.num_registers()), -1),
        slot_of_(program.steps.size(), -1),
        next_use_(index(program.num_registers()), never),
        after_(program.steps.size()),
        partner_(program.steps.size(), -1),
        in_batch_(program.steps.size(), 0),
        outputs_begin_(program.steps.size() + 1, 0),
        code_(lanes) {
    holds_.fill(-1);
    find_uses();
    find_outputs();
    batches_ = sine_batches(program, 0, count_, least_batch);
    for (const SineBatch& batch : batches_)
      std::fill(in_batch_.begin() + batch.begin, in_batch_.begin() + batch.end, char{1});
    find_pairs();
  }

  std::vector<std::byte> run() {
    const bool calls =
        std::any_of(program_.steps.begin(), program_.steps.end(), [](const Step& s) { return is_call(s); });
    if (calls) {
      // What survives calls; the fifth keeps the stack aligned.
      inputs_ = rbp, outputs_ = r13, scratch_ = rbx, functions_ = r14;
      for (const int r : {rbp, rbx, r13, r14, r15}) code_.push(r);
      code_.move_general(inputs_, rdi);
      code_.move_general(outputs_, rsi);
      code_.move_general(scratch_, rdx);
      code_.move_general(functions_, rcx);
    }
    copy_plain_outputs();
    auto next_batch = batches_.begin();
    for (now_ = 0; now_ < count_; ++now_) {
      if (next_batch != batches_.end() && next_batch->begin == now_)
        sines(*next_batch++);
      else
        step(program_.steps[index(now_)]);
      release();
    }
    if (calls)
      for (const int r : {r15, r14, r13, rbx, rbp}) code_.pop(r);
    code_.clear_upper_halves();
    code_.ret();
    return code_.finish();
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::int32_t places(int count) const { return 8 * lanes_ * count; }

  // What is known before the first instruction.

  void find_uses() {
    for (int i = count_; i-- > 0;) {
      const Step& s = program_.steps[index(i)];
      after_[index(i)] = {next_use_[index(s.a)], next_use_[index(s.b)], next_use_[index(s.c)]};
      for (const int r : {s.a, s.b, s.c}) next_use_[index(r)] = i;
    }
  }
  void find_outputs() {
    for (const int r : program_.outputs)
      if (r >= first_) ++outputs_begin_[index(r - first_) + 1];
    for (std::size_t i = 1; i < outputs_begin_.size(); ++i) outputs_begin_[i] += outputs_begin_[i - 1];
    outputs_list_.resize(index(outputs_begin_.back()));
    std::vector<int> fill(outputs_begin_.begin(), outputs_begin_.end() - 1);
    for (std::size_t i = 0; i < program_.outputs.size(); ++i)
      if (const int r = program_.outputs[i]; r >= first_)
        outputs_list_[index(fill[index(r - first_)]++)] = static_cast<int>(i);
  }
  /// sin and cos of the same number are one call.
  void find_pairs() {
    std::vector<std::pair<int, int>> known;  // argument, step
    for (int i = 0; i < count_; ++i) {
      const Step& s = program_.steps[index(i)];
      if (!in_batch_[index(i)] && (s.action == action_of(Op::sin) || s.action == action_of(Op::cos)))
        known.emplace_back(s.a, i);
    }
    std::sort(known.begin(), known.end());
    for (std::size_t k = 1; k < known.size(); ++k) {
      const int i = known[k - 1].second, j = known[k].second;
      if (known[k].first != known[k - 1].first || partner_[index(i)] >= 0 ||
          program_.steps[index(i)].action == program_.steps[index(j)].action)
        continue;
      partner_[index(i)] = j;
      partner_[index(j)] = i;
    }
  }

  // Registers.

  /// Where a number is in memory; it must be there.
  Operand home(int r) {
    if (r < program_.num_inputs) return Operand::at(inputs_, places(r));
    if (r < first_)
      return code_.constant(std::bit_cast<std::uint64_t>(program_.constants[index(r - program_.num_inputs)]));
    assert(slot_of_[index(r - first_)] >= 0);
    return Operand::at(scratch_, places(slot_of_[index(r - first_)]));
  }
  bool has_home(int r) const { return r < first_ || slot_of_[index(r - first_)] >= 0; }
  int new_slot() {
    if (free_slots_.empty()) return num_slots_++;
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  void keep(int r) {
    if (has_home(r)) return;
    slot_of_[index(r - first_)] = new_slot();
    code_.store(register_of_[index(r)], home(r));
  }
  void drop(int r) {
    holds_[index(register_of_[index(r)])] = -1;
    register_of_[index(r)] = -1;
  }
  void put(int r, int x) {
    register_of_[index(r)] = x;
    holds_[index(x)] = r;
  }
  void pin(int x) { pinned_ |= 1u << x; }

  /// The register to take next: a free one, or the one whose number is used last. −1: all are in use right now.
  int candidate() const {
    int best = -1, latest = -1;
    for (int x = 0; x < num_vectors; ++x) {
      if (pinned_ >> x & 1) continue;
      if (holds_[index(x)] < 0) return x;
      if (const int use = next_use_[index(holds_[index(x)])]; use > latest) best = x, latest = use;
    }
    return best;
  }
  int take() {
    const int x = candidate();
    assert(x >= 0);
    if (const int r = holds_[index(x)]; r >= 0) {
      if (next_use_[index(r)] != never) keep(r);
      drop(r);
    }
    pin(x);
    return x;
  }
  /// A number in a register, for the length of this step.
  int in_register(int r) {
    int x = register_of_[index(r)];
    if (x < 0) {
      x = take();
      code_.load(x, home(r));
      put(r, x);
    }
    pin(x);
    return x;
  }
  /// A number where it is; in a register from now on if it deserves one more than another number does.
  Operand anywhere(int r, int next) {
    if (register_of_[index(r)] >= 0) return Operand::of(in_register(r));
    if (next == never) return home(r);
    const int x = candidate();
    const bool worth = holds_[index(x)] < 0 || next_use_[index(holds_[index(x)])] > next;
    return worth ? Operand::of(in_register(r)) : home(r);
  }

  /// The operands of this step are done with: what is not used again gives its places back.
  void use_up(const Step& s) {
    const Next& next = after_[index(now_)];
    next_use_[index(s.a)] = next.a;
    next_use_[index(s.b)] = next.b;
    next_use_[index(s.c)] = next.c;
    for (const int r : {s.a, s.b, s.c}) {
      if (next_use_[index(r)] != never) continue;
      if (const int x = register_of_[index(r)]; x >= 0) {
        drop(r);
        pinned_ &= ~(1u << x);
      }
      if (r >= first_ && slot_of_[index(r - first_)] >= 0) {
        // Two steps of a batch that are the same share their place.
        if (!in_batch_[index(r - first_)]) ended_slots_.push_back(slot_of_[index(r - first_)]);
        slot_of_[index(r - first_)] = -1;
      }
    }
  }
  /// After the step: only now may a place that it reads be given to another number.
  void release() {
    pinned_ = 0;
    free_slots_.insert(free_slots_.end(), ended_slots_.begin(), ended_slots_.end());
    ended_slots_.clear();
  }

  void store_outputs(int i, int x) {
    for (int k = outputs_begin_[index(i)]; k < outputs_begin_[index(i) + 1]; ++k)
      code_.store(x, Operand::at(outputs_, places(outputs_list_[index(k)])));
  }
  /// Step i is in register x now.
  void define(int i, int x) {
    const int r = first_ + i;
    store_outputs(i, x);
    if (next_use_[index(r)] != never) put(r, x);
  }

  void copy_plain_outputs() {
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const int r = program_.outputs[i];
      if (r >= first_) continue;
      code_.load(0, home(r));
      code_.store(0, Operand::at(outputs_, places(static_cast<int>(i))));
    }
  }

  // Steps.

  void binary(std::uint8_t opcode, bool commutative, const Step& s) {
    const Next& next = after_[index(now_)];
    const bool swap = commutative && register_of_[index(s.a)] < 0 && register_of_[index(s.b)] >= 0;
    const int first = swap ? s.b : s.a, second = swap ? s.a : s.b;
    const int x = in_register(first);
    const Operand y = anywhere(second, swap ? next.a : next.b);
    use_up(s);
    const int d = take();
    code_.arithmetic(opcode, d, x, y);
    define(now_, d);
  }

  /// a·b + c and its variants; `opcode` is that of the form 132, the others are 16 and 32 further.
  void fused(std::uint8_t opcode, const Step& s) {
    const Next& next = after_[index(now_)];
    const auto form_213 = static_cast<std::uint8_t>(opcode + 0x10), form_231 = static_cast<std::uint8_t>(opcode + 0x20);
    const auto dies = [&](int r, int after, int other, int another) {
      return after == never && r != other && r != another && register_of_[index(r)] >= 0;
    };
    if (dies(s.c, next.c, s.a, s.b)) {
      const int d = in_register(s.c);
      const bool swap = register_of_[index(s.a)] < 0 && register_of_[index(s.b)] >= 0;
      const int x = in_register(swap ? s.b : s.a);
      const Operand y = anywhere(swap ? s.a : s.b, swap ? next.a : next.b);
      code_.fused(form_231, d, x, y);
      use_up(s);
      define_in(d);
      return;
    }
    const bool by_a = dies(s.a, next.a, s.b, s.c), by_b = !by_a && dies(s.b, next.b, s.a, s.c);
    if (by_a || by_b) {
      const int other = by_a ? s.b : s.a, after_other = by_a ? next.b : next.a;
      const int d = in_register(by_a ? s.a : s.b);
      if (register_of_[index(other)] >= 0) {
        const int x = in_register(other);
        const Operand z = anywhere(s.c, next.c);
        code_.fused(form_213, d, x, z);
      } else {
        const int z = in_register(s.c);
        const Operand y = anywhere(other, after_other);
        code_.fused(opcode, d, z, y);
      }
      use_up(s);
      define_in(d);
      return;
    }
    // No operand may be overwritten: the sum starts in a new register.
    const bool swap = register_of_[index(s.a)] < 0 && register_of_[index(s.b)] >= 0;
    const int x = in_register(swap ? s.b : s.a);
    const Operand y = anywhere(swap ? s.a : s.b, swap ? next.a : next.b);
    if (register_of_[index(s.c)] >= 0) pin(register_of_[index(s.c)]);
    const int d = take();
    if (register_of_[index(s.c)] >= 0)
      code_.move(d, register_of_[index(s.c)]);
    else
      code_.load(d, home(s.c));
    code_.fused(form_231, d, x, y);
    use_up(s);
    define_in(d);
  }
  /// The result is in d, whose former number, if any, is gone.
  void define_in(int d) {
    pin(d);
    define(now_, d);
  }

  void with_bits(std::uint8_t opcode, const Step& s, std::uint64_t mask) {
    const int x = in_register(s.a);
    use_up(s);
    const int d = take();
    code_.bits(opcode, d, x, code_.constant(mask, true));
    define(now_, d);
  }
  Operand wide(double x) { return code_.constant(std::bit_cast<std::uint64_t>(x), true); }
  /// d = 1 where the bits of d are set, else 0.
  void finish_truth(int d) {
    code_.bits(0x54, d, d, wide(1));
    define(now_, d);
  }
  void comparison(Compare condition, const Step& s) {
    const int x = in_register(s.a);
    const Operand y = anywhere(s.b, after_[index(now_)].b);
    use_up(s);
    const int d = take();
    code_.compare(condition, d, x, y);
    finish_truth(d);
  }
  Operand zero() { return code_.constant(0); }

  void logic(std::uint8_t opcode, const Step& s) {
    const int x = in_register(s.a), y = in_register(s.b), d = take(), e = take();
    code_.compare(Compare::not_equal, d, x, zero());
    code_.compare(Compare::not_equal, e, y, zero());
    code_.bits(opcode, d, d, Operand::of(e));
    use_up(s);
    finish_truth(d);
  }
  /// min (5d) or max (5f): the instruction gives its second operand, a, where one is not a number; if that is b, all
  /// bits are set, which is none either. The chain through a is short: minima of many are taken one after the other.
  void extremum(std::uint8_t opcode, const Step& s) {
    const int x = in_register(s.a), y = in_register(s.b), d = take(), mask = take();
    code_.compare(Compare::unordered, mask, y, Operand::of(y));
    code_.arithmetic(opcode, d, y, Operand::of(x));
    code_.bits(0x56, d, d, Operand::of(mask));
    use_up(s);
    define_in(d);
  }
  void sign(const Step& s) {
    const int x = in_register(s.a), d = take(), mask = take();
    code_.compare(Compare::greater, d, x, zero());
    code_.bits(0x54, d, d, wide(1));
    code_.compare(Compare::less, mask, x, zero());
    code_.bits(0x54, mask, mask, wide(-1));
    code_.bits(0x56, d, d, Operand::of(mask));
    code_.compare(Compare::unordered, mask, x, Operand::of(x));
    code_.blend(d, d, x, mask);
    use_up(s);
    define_in(d);
  }
  void select(const Step& s) {
    const int condition = in_register(s.a), yes = in_register(s.b), no = in_register(s.c), d = take();
    code_.compare(Compare::not_equal, d, condition, zero());
    code_.blend(d, no, yes, d);
    use_up(s);
    define_in(d);
  }

  void call(const Step& s, int arity) {
    const int partner = partner_[index(now_)];
    if (partner >= 0 && partner < now_) {  // done with its partner
      use_up(s);
      return;
    }
    if (lanes_ > 1) return call_by_lane(s, arity, partner);
    // A call leaves no vector register as it was.
    const Next next = after_[index(now_)];
    for (int x = 0; x < num_vectors; ++x) {
      const int r = holds_[index(x)];
      if (r < 0) continue;
      const bool argument = r == s.a || (arity > 1 && r == s.b) || (arity > 2 && r == s.c);
      const int use = !argument ? next_use_[index(r)] : r == s.a ? next.a : r == s.b ? next.b : next.c;
      if (use != never || (argument && arity > 1)) keep(r);
    }
    if (arity == 1 && register_of_[index(s.a)] >= 0) {
      if (register_of_[index(s.a)] != 0) code_.move(0, register_of_[index(s.a)]);
    } else {
      code_.load(0, home(s.a));
      if (arity > 1) code_.load(1, home(s.b));
      if (arity > 2) code_.load(2, home(s.c));
    }
    for (int x = 0; x < num_vectors; ++x)
      if (holds_[index(x)] >= 0) drop(holds_[index(x)]);
    use_up(s);
    const int function = partner >= 0 ? function_sincos : static_cast<int>(s.action);
    code_.call(Operand::at(functions_, 8 * function));
    const bool sine = s.action == action_of(Op::sin);
    define(now_, partner >= 0 && !sine ? 1 : 0);
    if (partner >= 0) define(partner, sine ? 1 : 0);
  }

  /// One call for each lane; the results stay in memory until they are needed.
  void call_by_lane(const Step& s, int arity, int partner) {
    for (int x = 0; x < num_vectors; ++x)
      if (const int r = holds_[index(x)]; r >= 0) {
        if (next_use_[index(r)] != never) keep(r);
        drop(r);
      }
    const Operand a = home(s.a), b = home(arity > 1 ? s.b : s.a), c = home(arity > 2 ? s.c : s.a);
    use_up(s);
    const int slots[2] = {new_slot(), partner >= 0 ? new_slot() : -1};
    const int function = partner >= 0 ? function_sincos : static_cast<int>(s.action);
    // All lanes of a constant are the same.
    const auto lane = [](Operand of, int k) {
      return of.kind == Operand::memory ? Operand::at(of.number, of.displacement + 8 * k) : of;
    };
    code_.clear_upper_halves();
    for (int k = 0; k < lanes_; ++k) {
      code_.load_one(0, lane(a, k));
      if (arity > 1) code_.load_one(1, lane(b, k));
      if (arity > 2) code_.load_one(2, lane(c, k));
      code_.call(Operand::at(functions_, 8 * function));
      for (int x = 0; x < (partner >= 0 ? 2 : 1); ++x)
        code_.store_one(x, lane(Operand::at(scratch_, places(slots[x])), k));
    }
    const bool sine = s.action == action_of(Op::sin);
    settle(now_, slots[partner >= 0 && !sine ? 1 : 0]);
    if (partner >= 0) settle(partner, slots[sine ? 1 : 0]);
  }
  /// Step i is in memory, and was made by a call: registers are free.
  void settle(int i, int slot) {
    if (outputs_begin_[index(i)] < outputs_begin_[index(i) + 1]) {
      code_.load(0, Operand::at(scratch_, places(slot)));
      store_outputs(i, 0);
    }
    if (next_use_[index(first_ + i)] != never)
      slot_of_[index(i)] = slot;
    else
      ended_slots_.push_back(slot);
  }

  /// All of a batch by one call; the results stay in memory until they are needed.
  void sines(const SineBatch& batch) {
    const int count = static_cast<int>(batch.arguments.size()), room = (count * lanes_ + 7) / 8 * 8 / lanes_;
    const int area = num_slots_;
    num_slots_ += 3 * room;
    for (int k = 0; k < count; ++k) {
      code_.store(in_register(batch.arguments[index(k)]), Operand::at(scratch_, places(area + k)));
      pinned_ = 0;
    }
    for (; now_ < batch.end; ++now_) use_up(program_.steps[index(now_)]);
    --now_;
    for (int x = 0; x < num_vectors; ++x)
      if (const int r = holds_[index(x)]; r >= 0) {
        keep(r);
        drop(r);
      }
    code_.address_of(rdi, scratch_, places(area));
    code_.address_of(rsi, scratch_, places(area + room));
    code_.address_of(rdx, scratch_, places(area + 2 * room));
    code_.set_general(rcx, count * lanes_);
    code_.clear_upper_halves();
    code_.call(Operand::at(functions_, 8 * function_sines));
    for (int i = batch.begin; i < batch.end; ++i) {
      const bool sine = program_.steps[index(i)].action == action_of(Op::sin);
      const int slot = area + room * (sine ? 1 : 2) + batch.which[index(i - batch.begin)];
      if (outputs_begin_[index(i)] < outputs_begin_[index(i) + 1]) {
        code_.load(0, Operand::at(scratch_, places(slot)));
        store_outputs(i, 0);
      }
      if (next_use_[index(first_ + i)] != never) slot_of_[index(i)] = slot;
    }
  }

  void step(const Step& s) {
    if (is_call(s)) return call(s, row_of(static_cast<Op>(s.action)).arity);
    if (s.action == Action::fma) return fused(0x99, s);
    if (s.action == Action::fms) return fused(0x9b, s);
    if (s.action == Action::fnma) return fused(0x9d, s);
    switch (static_cast<Op>(s.action)) {
      case Op::add:
        return binary(0x58, true, s);
      case Op::sub:
        return binary(0x5c, false, s);
      case Op::mul:
        return binary(0x59, true, s);
      case Op::div:
        return binary(0x5e, false, s);
      case Op::sqrt:
        return binary(0x51, false, s);
      case Op::neg:
        return with_bits(0x57, s, sign_bit);
      case Op::abs:
        return with_bits(0x54, s, ~sign_bit);
      case Op::sign:
        return sign(s);
      case Op::min:
        return extremum(0x5d, s);
      case Op::max:
        return extremum(0x5f, s);
      case Op::select:
        return select(s);
      case Op::lt:
        return comparison(Compare::less, s);
      case Op::le:
        return comparison(Compare::less_equal, s);
      case Op::gt:
        return comparison(Compare::greater, s);
      case Op::ge:
        return comparison(Compare::greater_equal, s);
      case Op::eq:
        return comparison(Compare::equal, s);
      case Op::logical_and:
        return logic(0x54, s);
      case Op::logical_or:
        return logic(0x56, s);
      case Op::logical_not: {
        const int x = in_register(s.a);
        use_up(s);
        const int d = take();
        code_.compare(Compare::equal, d, x, zero());
        return finish_truth(d);
      }
      default:
        assert(false);
    }
  }

  struct Next {
    int a, b, c;
  };

  const Program& program_;
  const int lanes_;
  const int first_, count_;
  std::vector<int> register_of_;  ///< by number of the program; −1: in none
  std::vector<int> slot_of_;      ///< by step; −1: not in memory
  std::vector<int> next_use_;     ///< by number: the step that uses it next
  std::vector<Next> after_;       ///< by step: when its operands are used next
  std::vector<int> partner_;      ///< of sin and cos
  std::vector<SineBatch> batches_;
  std::vector<char> in_batch_;
  std::vector<int> outputs_begin_, outputs_list_;
  std::array<int, num_vectors> holds_{};  ///< by vector register: its number, −1 if free
  unsigned pinned_ = 0;                   ///< registers that this step uses
  std::vector<int> free_slots_, ended_slots_;
  int num_slots_ = 0;
  int now_ = 0;
  int inputs_ = rdi, outputs_ = rsi, scratch_ = rdx, functions_ = rcx;
  Assembler code_;
};

bool processor_is_good() { return __builtin_cpu_supports("avx") && __builtin_cpu_supports("fma"); }

}  // namespace

std::shared_ptr<const MachineCode> make_x86_code(const Program& program, int lanes) {
  if (lanes != 1 && lanes != 4) return nullptr;
  // Displacements have 32 bits.
  if (!processor_is_good() || program.num_registers() > (1 << 24)) return nullptr;
  const std::vector<std::byte> image = Generator(program, lanes).run();
  return MachineCode::make(image, std::array<std::size_t, 1>{0});
}

#else

std::shared_ptr<const MachineCode> make_x86_code(const Program&, int) { return nullptr; }

#endif

}  // namespace mechanician
