#include "mechanician/compile/ptx_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "mechanician/compile/device_functions.hpp"
#include "mechanician/compile/ptx_tables.hpp"
#include "mechanician/compile/ptx_text_internal.hpp"

namespace mechanician {

namespace {

using F = PtxText::F;
using P = PtxText::P;

/// Writes the steps of a program.
class BodyWriter {
 public:
  explicit BodyWriter(PtxInstructions& to) : to_(&to), o_(to), functions_(o_), tables_(to) {}

  /// `varies`: by input. Steps that depend on none of those that do are written first, and are what `invariant` gets: they
  /// are done once, before the loop.
  std::vector<F> write(const Program& program, std::span<const F> inputs, std::vector<bool> varies,
                       std::string& invariant) {
    assert(static_cast<int>(inputs.size()) == program.num_inputs);
    std::vector<F> values(inputs.begin(), inputs.end());
    for (const double x : program.constants) values.push_back(PtxText::constant(x));
    const std::size_t first = values.size();
    values.resize(first + program.steps.size());
    varies.resize(first, false);
    for (const Step& s : program.steps) {
      const auto at = [&](std::int32_t i) { return varies[static_cast<std::size_t>(i)]; };
      varies.push_back(at(s.a) || at(s.b) || at(s.c));
    }
    for (const bool now : {false, true}) {
      for (std::size_t k = 0; k < program.steps.size(); ++k) {
        if (varies[first + k] != now) continue;
        const Step& s = program.steps[k];
        const auto at = [&](std::int32_t i) { return values[static_cast<std::size_t>(i)]; };
        values[first + k] = write(s, at(s.a), at(s.b), at(s.c));
      }
      if (!now) invariant = std::exchange(to_->text, {});
    }
    std::vector<F> outputs;
    for (const std::int32_t i : program.outputs) outputs.push_back(values[static_cast<std::size_t>(i)]);
    return outputs;
  }
  std::string data() const { return tables_.data(); }
  P is_positive(F a) { return truths_.contains(a.what) && !a.is_constant ? truths_.at(a.what) : o_.less(zero, a); }
  P is_true(F a) {
    const auto found = a.is_constant ? truths_.end() : truths_.find(a.what);
    return found == truths_.end() ? o_.differs(a, zero) : found->second;
  }

 private:
  F write(const Step& step, F a, F b, F c) {
    switch (step.action) {
      case Action::fma:
        return o_.fma(a, b, c);
      case Action::fms:
        return o_.fma(a, b, o_.neg(c));
      case Action::fnma:
        return o_.fma(o_.neg(a), b, c);
      default:
        return write(static_cast<Op>(step.action), a, b, c);
    }
  }

  F write(Op op, F a, F b, F c) {
    switch (op) {
      case Op::constant:
      case Op::symbol:
      case Op::table:
        return a;
      case Op::add:
        return o_.add(a, b);
      case Op::sub:
        return o_.sub(a, b);
      case Op::mul:
        return o_.mul(a, b);
      case Op::div:
        return o_.div(a, b);
      case Op::pow:
        return functions_.pow(a, b);
      case Op::neg:
        return o_.neg(a);
      case Op::sin:
        return sine_cosine(a).sine;
      case Op::cos:
        return sine_cosine(a).cosine;
      case Op::tan:
        return functions_.tan(a);
      case Op::asin:
        return functions_.asin(a);
      case Op::acos:
        return functions_.acos(a);
      case Op::atan:
        return functions_.atan(a);
      case Op::atan2:
        return functions_.atan2(a, b);
      case Op::sinh:
        return functions_.sinh(a);
      case Op::cosh:
        return functions_.cosh(a);
      case Op::tanh:
        return functions_.tanh(a);
      case Op::asinh:
        return functions_.asinh(a);
      case Op::acosh:
        return functions_.acosh(a);
      case Op::atanh:
        return functions_.atanh(a);
      case Op::exp:
        return functions_.exp(a);
      case Op::log:
        return functions_.log(a);
      case Op::sqrt:
        return o_.sqrt(a);
      case Op::abs:
        return o_.abs(a);
      case Op::sign: {
        const F below = o_.select(o_.less(a, zero), PtxText::constant(-1.0), o_.select(o_.equal(a, zero), zero, a));
        return o_.select(o_.less(zero, a), one, below);
      }
      // What is not a number stays so, whichever argument it is.
      case Op::min:
        return o_.select(o_.differs(a, a), a, o_.select(o_.either(o_.less(b, a), o_.differs(b, b)), b, a));
      case Op::max:
        return o_.select(o_.differs(a, a), a, o_.select(o_.either(o_.less(a, b), o_.differs(b, b)), b, a));
      case Op::hypot:
        return functions_.hypot(a, b);
      case Op::mod: {
        // Rounding of the quotient may leave one b too many or too few.
        const F rest = o_.fma(o_.neg(b), o_.floor(o_.div(a, b)), a);
        const F raised = o_.select(o_.less(o_.mul(rest, b), zero), o_.add(rest, b), rest);
        return o_.select(o_.less(o_.abs(raised), o_.abs(b)), raised, o_.sub(raised, b));
      }
      case Op::select:
        return o_.select(is_true(a), b, c);
      case Op::lookup:
        return tables_.look_up(a, b, std::bit_cast<double>(c.what));  // why_no_tables(): asked before
      case Op::lt:
        return truth(o_.less(a, b));
      case Op::le:
        return truth(o_.less_equal(a, b));
      case Op::gt:
        return truth(o_.less(b, a));
      case Op::ge:
        return truth(o_.less_equal(b, a));
      case Op::eq:
        return truth(o_.equal(a, b));
      case Op::logical_and:
        return truth(o_.both(is_true(a), is_true(b)));
      case Op::logical_or:
        return truth(o_.either(is_true(a), is_true(b)));
      case Op::logical_not:
        return truth(o_.negated(is_true(a)));
    }
    return a;
  }

  /// Most truth values are only asked whether they are true: the number is then left out by the driver's compiler.
  F truth(P p) {
    const F number = o_.select(p, one, zero);
    truths_.emplace(number.what, p);
    return number;
  }
  DeviceFunctions<PtxText>::Both sine_cosine(F a) {
    const auto key = std::pair(a.is_constant, a.what);
    const auto found = angles_.find(key);
    if (found != angles_.end()) return found->second;
    return angles_.emplace(key, functions_.sine_cosine(a)).first->second;
  }

  static constexpr F zero{true, 0}, one{true, 0x3ff0000000000000};
  PtxInstructions* to_;
  PtxText o_;
  std::map<std::uint64_t, P> truths_;  ///< by register
  DeviceFunctions<PtxText> functions_;
  PtxTables tables_;
  std::map<std::pair<bool, std::uint64_t>, DeviceFunctions<PtxText>::Both> angles_;  ///< both come from one reduction
};

std::string assemble(const std::string& data, const char* entry, const char* parameters, const std::string& begin,
                     const PtxInstructions& body, const std::string& end) {
  return fmt::format(
      "// mechanician\n.version 6.4\n.target sm_60\n.address_size 64\n\n{}.visible .entry {}(\n{})\n{{\n"
      "\t.reg .f64 %fd<{}>;\n\t.reg .b64 %rd<{}>;\n\t.reg .pred %p<{}>;\n"
      "\t.reg .b64 %at, %row, %count, %me, %base;\n\t.reg .b32 %x, %y, %z, %done, %first, %last;\n\t.reg .pred %out;\n"
      "{}{}{}}}\n",
      data, entry, parameters, body.num_doubles + 1, body.num_words + 1, body.num_predicates + 1, begin, body.text,
      end);
}

/// %me: the number of the instance; what is beyond the last one leaves.
constexpr const char* find_instance =
    "\tmov.u32 %x, %ctaid.x;\n\tmov.u32 %y, %ntid.x;\n\tmov.u32 %z, %tid.x;\n"
    "\tmul.wide.u32 %me, %x, %y;\n\tcvt.u64.u32 %row, %z;\n\tadd.u64 %me, %me, %row;\n"
    "\tsetp.ge.u64 %out, %me, %count;\n\t@%out bra LEAVE;\n";

/// %row: where the doubles of this instance begin, in an array of `width` each.
std::string find_row(const char* array, int width) {
  return fmt::format(
      "\tld.param.u64 %base, [{}];\n\tcvta.to.global.u64 %base, %base;\n\tmul.lo.u64 %row, %me, {};\n"
      "\tadd.u64 %row, %base, %row;\n",
      array, 8L * width);
}

std::string load(F to, int i) { return fmt::format("\tld.global.f64 {}, [%row+{}];\n", PtxText::name(to), 8L * i); }
std::string store(F from, int i) {
  return fmt::format("\tst.global.f64 [%row+{}], {};\n", 8L * i, PtxText::name(from));
}
std::string copy(F to, F from) { return fmt::format("\tmov.f64 {}, {};\n", PtxText::name(to), PtxText::name(from)); }

}  // namespace

std::string make_ptx_step(const Program& step, int n) {
  assert(step.num_inputs >= 2 + 2 * n && step.num_outputs() == 2 * n + 1);
  const int num_parameters = step.num_inputs - 2 - 2 * n;
  PtxInstructions body;
  PtxText o(body);
  std::vector<F> inputs;
  for (int i = 0; i < step.num_inputs; ++i) inputs.push_back(o.next());
  const std::span state = std::span(inputs).subspan(2, static_cast<std::size_t>(2 * n));
  std::vector<bool> varies(inputs.size(), false);
  std::fill_n(varies.begin(), 2 + 2 * n, true);
  varies[1] = false;  // h
  std::string invariant;
  BodyWriter writer(body);
  const std::vector<F> outputs = writer.write(step, inputs, varies, invariant);

  std::string begin = "\tld.param.u64 %count, [count];\n" + std::string(find_instance);
  begin +=
      "\tld.param.u64 %base, [done];\n\tcvta.to.global.u64 %base, %base;\n\tshl.b64 %at, %me, 2;\n"
      "\tadd.u64 %at, %base, %at;\n\tld.global.u32 %done, [%at];\n\tld.param.u32 %first, [first];\n"
      "\tsetp.ne.u32 %out, %done, %first;\n\t@%out bra LEAVE;\n"
      "\tld.param.u32 %last, [steps];\n\tadd.u32 %last, %first, %last;\n";
  begin += find_row("rows", 1 + 2 * n + num_parameters);
  for (int i = 0; i < 2 * n + num_parameters; ++i) begin += load(inputs[static_cast<std::size_t>(2 + i)], 1 + i);
  begin += fmt::format("\tld.param.f64 {}, [h];\n", PtxText::name(inputs[1])) + invariant;
  // t of a step is that of step `origin` plus whole steps: it does not drift, nor depend on how launches are cut.
  const F begin_t = o.next(), number = o.next();
  begin += fmt::format(
      "\tld.param.f64 {0}, [t];\nSTEP:\n\tld.param.u32 %x, [origin];\n\tsub.u32 %x, %done, %x;\n"
      "\tcvt.rn.f64.u32 {1}, %x;\n\tfma.rn.f64 {2}, {1}, {3}, {0};\n"
      "\tsetp.ge.u32 %out, %done, %last;\n\t@%out bra STORE;\n",
      PtxText::name(begin_t), PtxText::name(number), PtxText::name(inputs[0]), PtxText::name(inputs[1]));

  const P good = writer.is_positive(outputs.back());
  std::string end = fmt::format("\t@!{} bra STORE;\n", PtxText::name(good));
  // Outputs may be inputs under other names: all are read before one is written.
  std::vector<F> spare;
  for (std::size_t i = 0; i < state.size(); ++i) spare.push_back(o.next());
  for (std::size_t i = 0; i < state.size(); ++i) end += copy(spare[i], outputs[i]);
  for (std::size_t i = 0; i < state.size(); ++i) end += copy(state[i], spare[i]);
  end += "\tadd.u32 %done, %done, 1;\n\tbra STEP;\nSTORE:\n" + store(inputs[0], 0);
  for (std::size_t i = 0; i < state.size(); ++i) end += store(state[i], 1 + static_cast<int>(i));
  end += "\tst.global.u32 [%at], %done;\nLEAVE:\n\tret;\n";
  return assemble(writer.data(), ptx_step_entry,
                  "\t.param .u64 rows,\n\t.param .u64 done,\n\t.param .u64 count,\n\t.param .f64 t,\n\t.param .f64 h,\n"
                  "\t.param .u32 origin,\n\t.param .u32 first,\n\t.param .u32 steps\n",
                  begin, body, end);
}

std::string make_ptx_map(const Program& program) {
  PtxInstructions body;
  PtxText o(body);
  std::vector<F> inputs;
  for (int i = 0; i < program.num_inputs; ++i) inputs.push_back(o.next());
  std::string invariant;
  BodyWriter writer(body);
  const std::vector<F> outputs = writer.write(program, inputs, std::vector<bool>(inputs.size(), true), invariant);
  std::string begin = "\tld.param.u64 %count, [count];\n" + std::string(find_instance) + invariant;
  begin += find_row("inputs", program.num_inputs);
  for (int i = 0; i < program.num_inputs; ++i) begin += load(inputs[static_cast<std::size_t>(i)], i);
  std::string end = find_row("outputs", program.num_outputs());
  for (int i = 0; i < program.num_outputs(); ++i) end += store(outputs[static_cast<std::size_t>(i)], i);
  end += "LEAVE:\n\tret;\n";
  return assemble(writer.data(), ptx_map_entry, "\t.param .u64 inputs,\n\t.param .u64 outputs,\n\t.param .u64 count\n",
                  begin, body, end);
}

}  // namespace mechanician
