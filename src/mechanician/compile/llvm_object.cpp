#include "mechanician/compile/llvm_object.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

#include "mechanician/compile/machine_code.hpp"
#include "mechanician/compile/object_file.hpp"
#include "mechanician/compile/program_order.hpp"

#if defined(MECHANICIAN_LLVM)
#include "mechanician/compile/device_functions.hpp"
#include "mechanician/compile/llvm_arithmetic_internal.hpp"
#include "mechanician/compile/llvm_library_internal.hpp"
#endif

namespace mechanician {

namespace {

int steps_per_part(const Program& program, const ObjectOptions& options) {
  if (options.carried > 0) return std::max(1, static_cast<int>(program.steps.size()));
  if (options.steps_per_part > 0) return options.steps_per_part;
  return options.level == CodeLevel::quick ? 250 : 500;
}

/// Which values cross from one part to a later one, and where they are kept meanwhile.
struct Crossings {
  Crossings(const Program& program, const ObjectOptions& options)
      : size(steps_per_part(program, options)),
        first(program.num_inputs + static_cast<int>(program.constants.size())),
        slot(program.steps.size(), -1) {
    const int count = static_cast<int>(program.steps.size());
    // Stores of inputs and constants are shared out too: LLVM takes time that grows with the square of their number.
    const auto plain = static_cast<int>(
        std::count_if(program.outputs.begin(), program.outputs.end(), [&](int output) { return output < first; }));
    num_parts = options.carried > 0 ? 1 : std::max({1, (count + size - 1) / size, (plain + size - 1) / size});
    plain_per_part = (plain + num_parts - 1) / num_parts;
    // The results of a batch are written to memory; there they stay.
    const int least = options.lanes > 1 ? 1 : 3, unit = std::max(1, 8 / options.lanes);
    for (int part = 0; part < num_parts; ++part) {
      batches.push_back(sine_batches(program, std::min(count, part * size), std::min(count, (part + 1) * size), least));
      for (const SineBatch& batch : batches.back()) {
        const int room = (static_cast<int>(batch.arguments.size()) + unit - 1) / unit * unit;
        areas.push_back({num_slots, room});
        for (int i = batch.begin; i < batch.end; ++i) {
          const bool sine = program.steps[static_cast<std::size_t>(i)].action == action_of(Op::sin);
          slot[static_cast<std::size_t>(i)] =
              num_slots + room * (sine ? 1 : 2) + batch.which[static_cast<std::size_t>(i - batch.begin)];
        }
        num_slots += 3 * room;
      }
    }
    for (int i = 0; i < count; ++i) {
      const Step& s = program.steps[static_cast<std::size_t>(i)];
      for (const int operand : {s.a, s.b, s.c}) {
        const int k = operand - first;
        if (k >= 0 && k / size != i / size && slot[static_cast<std::size_t>(k)] < 0)
          slot[static_cast<std::size_t>(k)] = num_slots++;
      }
    }
  }
  int size, first, num_parts = 0, num_slots = 0, plain_per_part = 0;
  std::vector<int> slot;                        ///< by step; −1: not needed
  std::vector<std::vector<SineBatch>> batches;  ///< by part
  struct Area {
    int begin, room;  ///< arguments, sines, cosines: `room` places each
  };
  std::vector<Area> areas;  ///< by batch, over all parts
};

}  // namespace

std::size_t scratch_size(const Program& program, const ObjectOptions& options) {
  return static_cast<std::size_t>(Crossings(program, options).num_slots * options.lanes);
}

#if defined(MECHANICIAN_LLVM)

namespace {

/// Sines in the loop over steps, without calls: up to so many angles, as each takes some fifty instructions for a vector.
constexpr std::size_t most_angles_inside = 48;

/// Emits one part of a program as a module of its own.
class PartEmitter {
 public:
  PartEmitter(const LlvmLibrary& llvm, const Program& program, const ObjectOptions& options, const Crossings& crossings)
      : llvm_(llvm),
        program_(program),
        lanes_(options.lanes),
        carried_(options.carried),
        crossings_(crossings),
        values_(static_cast<std::size_t>(program.num_registers()), nullptr),
        conditions_(program.steps.size()),
        outputs_of_(program.steps.size()) {
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
      const int step = program.outputs[i] - crossings_.first;
      if (step >= 0)
        outputs_of_[static_cast<std::size_t>(step)].push_back(static_cast<int>(i));
      else
        plain_outputs_.push_back(static_cast<int>(i));
    }
    std::size_t num_angles = 0;
    for (const auto& part : crossings_.batches)
      for (const SineBatch& batch : part) num_angles += batch.arguments.size();
    sines_inside_ = carried_ > 0 && lanes_ > 1 && num_angles <= most_angles_inside && __builtin_cpu_supports("fma");
    const int level = options.level == CodeLevel::quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
    machine_ = llvm_.CreateTargetMachine(llvm_.target, llvm_.triple, llvm_.cpu, llvm_.features,
                                         static_cast<LLVMCodeGenOptLevel>(level), LLVMRelocPIC, LLVMCodeModelSmall);
  }
  PartEmitter(const PartEmitter&) = delete;
  PartEmitter& operator=(const PartEmitter&) = delete;
  ~PartEmitter() { llvm_.DisposeTargetMachine(machine_); }

  /// The object of a part, empty if LLVM fails; or its assembly.
  std::string emit(int part, LLVMCodeGenFileType type) {
    start();
    if (carried_ > 0) {
      emit_loop();
      return finish(type);
    }
    const int count = static_cast<int>(program_.steps.size()), begin = std::min(count, part * crossings_.size),
              end = std::min(count, begin + crossings_.size);
    const int num_plain = static_cast<int>(plain_outputs_.size()), share = crossings_.plain_per_part;
    for (int i = std::min(num_plain, part * share); i < std::min(num_plain, (part + 1) * share); ++i) {
      const int output = plain_outputs_[static_cast<std::size_t>(i)];
      store(value(program_.outputs[static_cast<std::size_t>(output)]), outputs_, output);
    }
    const std::vector<SineBatch>& batches = crossings_.batches[static_cast<std::size_t>(part)];
    find_pairs(begin, end, batches);
    std::size_t area = 0;
    for (int p = 0; p < part; ++p) area += crossings_.batches[static_cast<std::size_t>(p)].size();
    emit_steps(begin, end, batches, area);
    llvm_.BuildRetVoid(builder_);
    return finish(type);
  }

 private:
  /// Steps [begin, end) but for those that are known already.
  void emit_steps(int begin, int end, const std::vector<SineBatch>& batches, std::size_t area) {
    auto next_batch = batches.begin();
    for (int i = begin; i < end; ++i) {
      if (next_batch != batches.end() && next_batch->begin == i) {
        emit(*next_batch, crossings_.areas[area++]);
        i = next_batch++->end - 1;
        continue;
      }
      const auto k = static_cast<std::size_t>(i);
      if (values_[static_cast<std::size_t>(crossings_.first + i)]) continue;
      const LLVMValueRef v = emit(i, program_.steps[k]);
      set(crossings_.first + i, v);
      if (carried_ > 0) continue;
      for (const int output : outputs_of_[k]) store(v, outputs_, output);
      if (crossings_.slot[k] >= 0) store(v, scratch_, crossings_.slot[k]);
    }
  }

  /// The whole function of a loop.
  void emit_loop() {
    const int count = static_cast<int>(program_.steps.size());
    const LLVMBasicBlockRef before = llvm_.GetInsertBlock(builder_),
                            body = llvm_.AppendBasicBlockInContext(context_, function_, ""),
                            after = llvm_.AppendBasicBlockInContext(context_, function_, "");
    find_pairs(0, count, crossings_.batches[0]);
    emit_invariant_steps();
    const LLVMTypeRef integer = llvm_.Int64TypeInContext(context_);
    // What is carried from one step to the next, as it comes into the loop.
    struct Carried {
      LLVMValueRef first, now;
    };
    const auto whole = [&](int k) { return llvm_.ConstInt(integer, static_cast<unsigned long long>(k), 0); };
    const LLVMValueRef number_of_steps =
        llvm_.BuildLoad2(builder_, integer, place(number_, inputs_, program_.num_inputs + 1), "");
    Carried index{whole(0), nullptr}, k{load(inputs_, program_.num_inputs), nullptr};
    std::vector<Carried> x, good;
    for (const LLVMValueRef all : o_->truth(true)) good.push_back({all, nullptr});
    for (int i = 0; i < carried_; ++i) x.push_back({load(inputs_, 2 + i), nullptr});
    llvm_.BuildBr(builder_, body);

    llvm_.PositionBuilderAtEnd(builder_, body);
    index.now = llvm_.BuildPhi(builder_, integer, "");
    k.now = llvm_.BuildPhi(builder_, number_, "");
    for (Carried& part : good) part.now = llvm_.BuildPhi(builder_, o_->mask(), "");
    for (int i = 0; i < carried_; ++i) {
      x[static_cast<std::size_t>(i)].now = llvm_.BuildPhi(builder_, number_, "");
      set(2 + i, x[static_cast<std::size_t>(i)].now);
    }
    set(0, fma(k.now, value(1), start_time_));
    emit_steps(0, count, crossings_.batches[0], 0);
    const LLVMBasicBlockRef end = llvm_.GetInsertBlock(builder_);
    const auto carry = [&](const Carried& c, LLVMValueRef next) {
      LLVMValueRef values[] = {c.first, next};
      LLVMBasicBlockRef blocks[] = {before, end};
      llvm_.AddIncoming(c.now, values, blocks, 2);
      return next;
    };
    std::vector<LLVMValueRef> last;
    for (int i = 0; i < carried_; ++i)
      last.push_back(carry(x[static_cast<std::size_t>(i)], value(program_.outputs[static_cast<std::size_t>(i)])));
    Bits vouch = condition(program_.outputs[static_cast<std::size_t>(carried_)]);
    for (std::size_t part = 0; part < good.size(); ++part)
      vouch[part] = carry(good[part], llvm_.BuildAnd(builder_, good[part].now, vouch[part], ""));
    carry(k, llvm_.BuildFAdd(builder_, k.now, constant(1), ""));
    const LLVMValueRef next = carry(index, llvm_.BuildAdd(builder_, index.now, whole(1), ""));
    llvm_.BuildCondBr(builder_, llvm_.BuildICmp(builder_, LLVMIntULT, next, number_of_steps, ""), body, after);

    llvm_.PositionBuilderAtEnd(builder_, after);
    for (int i = 0; i < carried_; ++i) store(last[static_cast<std::size_t>(i)], outputs_, i);
    store(o_->select(vouch, constant(1), constant(0)), outputs_, carried_);
    llvm_.BuildRetVoid(builder_);
  }

  /// What depends on neither time nor state is done once, before the loop.
  void emit_invariant_steps() {
    start_time_ = load(inputs_, 0);
    std::vector<char> fixed(static_cast<std::size_t>(program_.num_registers()), 0);
    const auto is_fixed = [&](int r) -> char& { return fixed[static_cast<std::size_t>(r)]; };
    for (int r = 1; r < crossings_.first; ++r) is_fixed(r) = r == 1 || r >= 2 + carried_;
    for (int r = 1; r < program_.num_inputs; ++r)
      if (is_fixed(r)) value(r);
    for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i) {
      const Step& s = program_.steps[static_cast<std::size_t>(i)];
      if (!is_fixed(s.a) || !is_fixed(s.b) || !is_fixed(s.c) || is_call(s)) continue;
      is_fixed(crossings_.first + i) = 1;
      set(crossings_.first + i, emit(i, s));
    }
  }

  void start() {
    context_ = llvm_.ContextCreate();
    module_ = llvm_.ModuleCreateWithNameInContext("program", context_);
    llvm_.SetTarget(module_, llvm_.triple);
    const LLVMTargetDataRef layout = llvm_.CreateTargetDataLayout(machine_);
    llvm_.SetModuleDataLayout(module_, layout);
    llvm_.DisposeTargetData(layout);
    builder_ = llvm_.CreateBuilderInContext(context_);
    o_.emplace(llvm_, context_, module_, builder_, lanes_);
    scalar_ = o_->scalar();
    number_ = o_->number();
    pointer_ = llvm_.PointerTypeInContext(context_, 0);
    LLVMTypeRef arguments[] = {pointer_, pointer_, pointer_, pointer_};
    const LLVMTypeRef type = llvm_.FunctionType(llvm_.VoidTypeInContext(context_), arguments, 4, 0);
    function_ = llvm_.AddFunction(module_, entry_symbol, type);
    add_attribute(LLVMAttributeFunctionIndex, "nounwind");
    for (unsigned i = 1; i <= 4; ++i) add_attribute(i, "noalias");
    for (const unsigned i : {1u, 4u}) add_attribute(i, "readonly");
    inputs_ = llvm_.GetParam(function_, 0);
    outputs_ = llvm_.GetParam(function_, 1);
    scratch_ = llvm_.GetParam(function_, 2);
    functions_ = llvm_.GetParam(function_, 3);
    llvm_.PositionBuilderAtEnd(builder_, llvm_.AppendBasicBlockInContext(context_, function_, ""));
  }

  std::string finish(LLVMCodeGenFileType type) {
    std::string object;
    LLVMMemoryBufferRef buffer = nullptr;
    char* message = nullptr;
    assert(!llvm_.VerifyModule(module_, LLVMReturnStatusAction, nullptr));
    if (!llvm_.TargetMachineEmitToMemoryBuffer(machine_, module_, type, &message, &buffer))
      object.assign(llvm_.GetBufferStart(buffer), llvm_.GetBufferSize(buffer));
    if (message) llvm_.DisposeMessage(message);
    if (buffer) llvm_.DisposeMemoryBuffer(buffer);
    llvm_.DisposeBuilder(builder_);
    llvm_.DisposeModule(module_);
    llvm_.ContextDispose(context_);
    for (const int r : touched_) values_[static_cast<std::size_t>(r)] = nullptr;
    touched_.clear();
    for (const int step : decided_) conditions_[static_cast<std::size_t>(step)].clear();
    decided_.clear();
    return object;
  }

  void add_attribute(unsigned index, std::string_view name) {
    const unsigned kind = llvm_.GetEnumAttributeKindForName(name.data(), name.size());
    llvm_.AddAttributeAtIndex(function_, index, llvm_.CreateEnumAttribute(context_, kind, 0));
  }

  LLVMValueRef constant(double x) { return o_->constant(x); }
  LLVMValueRef place(LLVMTypeRef type, LLVMValueRef base, int i) {
    LLVMValueRef index = llvm_.ConstInt(llvm_.Int64TypeInContext(context_), static_cast<unsigned long long>(i), 0);
    return llvm_.BuildInBoundsGEP2(builder_, type, base, &index, 1, "");
  }
  LLVMValueRef load(LLVMValueRef base, int i) {
    const LLVMValueRef v = llvm_.BuildLoad2(builder_, number_, place(number_, base, i), "");
    llvm_.SetAlignment(v, sizeof(double));
    return v;
  }
  void store(LLVMValueRef v, LLVMValueRef base, int i) {
    llvm_.SetAlignment(llvm_.BuildStore(builder_, v, place(number_, base, i)), sizeof(double));
  }

  void set(int r, LLVMValueRef v) {
    values_[static_cast<std::size_t>(r)] = v;
    touched_.push_back(r);
  }
  /// A register as this part sees it: computed here, or read where it is first needed.
  LLVMValueRef value(int r) {
    if (const LLVMValueRef v = values_[static_cast<std::size_t>(r)]) return v;
    LLVMValueRef v;
    if (r < program_.num_inputs)
      v = load(inputs_, r);
    else if (r < crossings_.first)
      v = constant(program_.constants[static_cast<std::size_t>(r - program_.num_inputs)]);
    else
      v = load(scratch_, crossings_.slot[static_cast<std::size_t>(r - crossings_.first)]);
    set(r, v);
    return v;
  }

  using Bits = LlvmArithmetic::P;

  /// Whether a register is not zero.
  Bits condition(int r) {
    const int step = r - crossings_.first;
    if (step >= 0 && !conditions_[static_cast<std::size_t>(step)].empty())
      return conditions_[static_cast<std::size_t>(step)];
    return o_->compare(LLVMRealUNE, value(r), constant(0));
  }
  LLVMValueRef truth(int step, const Bits& bits) {
    conditions_[static_cast<std::size_t>(step)] = bits;
    decided_.push_back(step);
    return o_->select(bits, constant(1), constant(0));
  }

  /// A call of a function of the table for one lane.
  LLVMValueRef call_scalar(int function, LLVMTypeRef result, std::vector<LLVMValueRef> arguments) {
    const LLVMValueRef callee = llvm_.BuildLoad2(builder_, pointer_, place(pointer_, functions_, function), "");
    std::vector<LLVMTypeRef> types(arguments.size(), scalar_);
    const LLVMTypeRef type = llvm_.FunctionType(result, types.data(), static_cast<unsigned>(types.size()), 0);
    return llvm_.BuildCall2(builder_, type, callee, arguments.data(), static_cast<unsigned>(arguments.size()), "");
  }
  LLVMValueRef lane_index(int k) {
    return llvm_.ConstInt(llvm_.Int32TypeInContext(context_), static_cast<unsigned long long>(k), 0);
  }
  LLVMValueRef call(int function, const std::vector<LLVMValueRef>& arguments) {
    if (lanes_ == 1) return call_scalar(function, scalar_, arguments);
    LLVMValueRef all = llvm_.GetPoison(number_);
    for (int k = 0; k < lanes_; ++k) {
      std::vector<LLVMValueRef> lane;
      for (const LLVMValueRef a : arguments) lane.push_back(llvm_.BuildExtractElement(builder_, a, lane_index(k), ""));
      all = llvm_.BuildInsertElement(builder_, all, call_scalar(function, scalar_, lane), lane_index(k), "");
    }
    return all;
  }

  LLVMValueRef fma(LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    if (__builtin_cpu_supports("fma")) return o_->fma(a, b, c);
    return call(function_fma, {a, b, c});
  }

  /// sin and cos of the same number in this part: partner_[i − begin] is the other step.
  void find_pairs(int begin, int end, const std::vector<SineBatch>& batches) {
    begin_ = begin;
    partner_.assign(static_cast<std::size_t>(std::max(0, end - begin)), -1);
    std::vector<std::pair<int, int>> known;  // argument, step
    for (int i = begin; i < end; ++i) {
      const Step& s = program_.steps[static_cast<std::size_t>(i)];
      const bool alone = std::none_of(batches.begin(), batches.end(),
                                      [&](const SineBatch& batch) { return batch.begin <= i && i < batch.end; });
      if ((s.action == action_of(Op::sin) || s.action == action_of(Op::cos)) && alone) known.emplace_back(s.a, i);
    }
    std::sort(known.begin(), known.end());
    for (std::size_t k = 1; k < known.size(); ++k) {
      const auto [argument, i] = known[k - 1];
      const auto [same, j] = known[k];
      if (argument != same || partner_[static_cast<std::size_t>(i - begin)] >= 0 ||
          program_.steps[static_cast<std::size_t>(i)].action == program_.steps[static_cast<std::size_t>(j)].action)
        continue;
      partner_[static_cast<std::size_t>(i - begin)] = j;
      partner_[static_cast<std::size_t>(j - begin)] = i;
    }
  }
  LLVMValueRef sine_or_cosine(int i, const Step& s) {
    const int partner = partner_[static_cast<std::size_t>(i - begin_)];
    const bool sine = s.action == action_of(Op::sin);
    if (partner < 0 || lanes_ > 1) return call(static_cast<int>(s.action), {value(s.a)});
    if (partner < i) return partner_value_[static_cast<std::size_t>(i - begin_)];
    LLVMTypeRef members[] = {scalar_, scalar_};
    const LLVMValueRef both =
        call_scalar(function_sincos, llvm_.StructTypeInContext(context_, members, 2, 0), {value(s.a)});
    partner_value_.resize(partner_.size());
    partner_value_[static_cast<std::size_t>(partner - begin_)] =
        llvm_.BuildExtractValue(builder_, both, sine ? 1 : 0, "");
    return llvm_.BuildExtractValue(builder_, both, sine ? 0 : 1, "");
  }

  /// All sines and cosines of a batch, in all lanes.
  void emit(const SineBatch& batch, const Crossings::Area& area) {
    if (sines_inside_)
      emit_inside(batch, area);
    else
      call(batch, area);
    for (int i = batch.begin; i < batch.end && carried_ == 0; ++i)
      for (const int output : outputs_of_[static_cast<std::size_t>(i)])
        store(value(crossings_.first + i), outputs_, output);
  }

  /// By one call, which leaves them in the area of the batch.
  void call(const SineBatch& batch, const Crossings::Area& area) {
    for (std::size_t k = 0; k < batch.arguments.size(); ++k)
      store(value(batch.arguments[k]), scratch_, area.begin + static_cast<int>(k));
    const LLVMTypeRef integer = llvm_.Int64TypeInContext(context_);
    LLVMTypeRef types[] = {pointer_, pointer_, pointer_, integer};
    LLVMValueRef arguments[] = {place(number_, scratch_, area.begin), place(number_, scratch_, area.begin + area.room),
                                place(number_, scratch_, area.begin + 2 * area.room),
                                llvm_.ConstInt(integer, batch.arguments.size() * static_cast<std::size_t>(lanes_), 0)};
    const LLVMTypeRef type = llvm_.FunctionType(llvm_.VoidTypeInContext(context_), types, 4, 0);
    const LLVMValueRef callee = llvm_.BuildLoad2(builder_, pointer_, place(pointer_, functions_, function_sines), "");
    llvm_.BuildCall2(builder_, type, callee, arguments, 4, "");
  }

  /// Here and now; by a call, for all of them, where an angle is too far for that in some lane.
  void emit_inside(const SineBatch& batch, const Crossings::Area& area) {
    DeviceFunctions<LlvmArithmetic> functions(*o_);
    std::vector<DeviceFunctions<LlvmArithmetic>::Both> near;
    Bits far = o_->truth(false);
    for (const int r : batch.arguments) {
      near.push_back(functions.near_sine_cosine(value(r)));
      far = o_->either(far, functions.is_far(value(r)));
    }
    const LLVMBasicBlockRef here = llvm_.GetInsertBlock(builder_),
                            outside = llvm_.AppendBasicBlockInContext(context_, function_, ""),
                            after = llvm_.AppendBasicBlockInContext(context_, function_, "");
    const LLVMValueRef branch = llvm_.BuildCondBr(builder_, o_->any(far), outside, after);
    set_rare(branch);
    llvm_.PositionBuilderAtEnd(builder_, outside);
    call(batch, area);
    std::vector<LLVMValueRef> called;
    for (int i = batch.begin; i < batch.end; ++i)
      called.push_back(load(scratch_, crossings_.slot[static_cast<std::size_t>(i)]));
    llvm_.BuildBr(builder_, after);
    llvm_.PositionBuilderAtEnd(builder_, after);
    for (int i = batch.begin; i < batch.end; ++i) {
      const auto k = static_cast<std::size_t>(i - batch.begin);
      const auto& both = near[static_cast<std::size_t>(batch.which[k])];
      const bool sine = program_.steps[static_cast<std::size_t>(i)].action == action_of(Op::sin);
      LLVMValueRef values[] = {sine ? both.sine : both.cosine, called[k]};
      LLVMBasicBlockRef blocks[] = {here, outside};
      const LLVMValueRef phi = llvm_.BuildPhi(builder_, number_, "");
      llvm_.AddIncoming(phi, values, blocks, 2);
      set(crossings_.first + i, phi);
    }
  }
  /// The first way of a branch is hardly ever taken: what is saved around a call is saved there.
  void set_rare(LLVMValueRef branch) {
    const auto weight = [&](unsigned long long w) {
      return llvm_.ValueAsMetadata(llvm_.ConstInt(llvm_.Int32TypeInContext(context_), w, 0));
    };
    constexpr std::string_view name = "branch_weights", kind = "prof";
    LLVMMetadataRef parts[] = {llvm_.MDStringInContext2(context_, name.data(), name.size()), weight(1),
                               weight(1000000)};
    llvm_.SetMetadata(branch, llvm_.GetMDKindIDInContext(context_, kind.data(), static_cast<unsigned>(kind.size())),
                      llvm_.MetadataAsValue(context_, llvm_.MDNodeInContext2(context_, parts, 3)));
  }

  LLVMValueRef emit(int i, const Step& s) {
    if (s.action == Action::fma) return fma(value(s.a), value(s.b), value(s.c));
    if (s.action == Action::fms) return fma(value(s.a), value(s.b), negative(value(s.c)));
    if (s.action == Action::fnma) return fma(negative(value(s.a)), value(s.b), value(s.c));
    switch (static_cast<Op>(s.action)) {
      case Op::add:
        return llvm_.BuildFAdd(builder_, value(s.a), value(s.b), "");
      case Op::sub:
        return llvm_.BuildFSub(builder_, value(s.a), value(s.b), "");
      case Op::mul:
        return llvm_.BuildFMul(builder_, value(s.a), value(s.b), "");
      case Op::div:
        return llvm_.BuildFDiv(builder_, value(s.a), value(s.b), "");
      case Op::neg:
        return negative(value(s.a));
      case Op::sqrt:
        return o_->sqrt(value(s.a));
      case Op::abs:
        return o_->abs(value(s.a));
      case Op::sign: {
        const LLVMValueRef a = value(s.a), zero = constant(0);
        const LLVMValueRef rest = o_->select(o_->compare(LLVMRealOEQ, a, zero), zero, a);
        return o_->select(o_->compare(LLVMRealOGT, a, zero), constant(1),
                          o_->select(o_->compare(LLVMRealOLT, a, zero), constant(-1), rest));
      }
      case Op::min:
      case Op::max: {
        // As the processor has it, and b where that is not a number.
        const LLVMValueRef a = value(s.a), b = value(s.b);
        const LLVMRealPredicate better = s.action == action_of(Op::min) ? LLVMRealOLT : LLVMRealOGT;
        return o_->select(o_->compare(LLVMRealUNO, b, b), b, o_->select(o_->compare(better, b, a), b, a));
      }
      case Op::select:
        return o_->select(condition(s.a), value(s.b), value(s.c));
      case Op::lt:
        return truth(i, o_->compare(LLVMRealOLT, value(s.a), value(s.b)));
      case Op::le:
        return truth(i, o_->compare(LLVMRealOLE, value(s.a), value(s.b)));
      case Op::gt:
        return truth(i, o_->compare(LLVMRealOGT, value(s.a), value(s.b)));
      case Op::ge:
        return truth(i, o_->compare(LLVMRealOGE, value(s.a), value(s.b)));
      case Op::eq:
        return truth(i, o_->compare(LLVMRealOEQ, value(s.a), value(s.b)));
      case Op::logical_and:
        return truth(i, o_->both(condition(s.a), condition(s.b)));
      case Op::logical_or:
        return truth(i, o_->either(condition(s.a), condition(s.b)));
      case Op::logical_not:
        return truth(i, o_->negated(condition(s.a)));
      case Op::sin:
      case Op::cos:
        return sine_or_cosine(i, s);
      case Op::pow:
      case Op::atan2:
      case Op::hypot:
      case Op::mod:
        return call(static_cast<int>(s.action), {value(s.a), value(s.b)});
      case Op::lookup:
        return call(static_cast<int>(s.action), {value(s.a), value(s.b), value(s.c)});
      default:
        return call(static_cast<int>(s.action), {value(s.a)});
    }
  }
  LLVMValueRef negative(LLVMValueRef a) { return llvm_.BuildFNeg(builder_, a, ""); }

  const LlvmLibrary& llvm_;
  const Program& program_;
  const int lanes_, carried_;
  bool sines_inside_ = false;  ///< not by calls
  const Crossings& crossings_;
  std::vector<LLVMValueRef> values_;  ///< by register; null: not known in this part
  std::vector<int> touched_;
  std::vector<Bits> conditions_;  ///< by step; the bits of a truth value
  std::vector<int> decided_;
  std::vector<std::vector<int>> outputs_of_;
  std::vector<int> plain_outputs_;  ///< inputs and constants
  std::vector<int> partner_;
  std::vector<LLVMValueRef> partner_value_;
  int begin_ = 0;
  LLVMTargetMachineRef machine_ = nullptr;
  // of the part that is being emitted
  LLVMContextRef context_ = nullptr;
  LLVMModuleRef module_ = nullptr;
  LLVMBuilderRef builder_ = nullptr;
  std::optional<LlvmArithmetic> o_;
  LLVMTypeRef scalar_ = nullptr, number_ = nullptr, pointer_ = nullptr;
  LLVMValueRef start_time_ = nullptr;
  LLVMValueRef function_ = nullptr, inputs_ = nullptr, outputs_ = nullptr, scratch_ = nullptr, functions_ = nullptr;
};

}  // namespace

bool can_compile_objects() { return llvm_library() != nullptr; }
std::string_view compiler_version() { return MECHANICIAN_LLVM; }

std::optional<std::vector<std::string>> compile_objects(const Program& program, const ObjectOptions& options,
                                                        const std::function<bool()>& abandon) {
  if (abandon && abandon()) return std::nullopt;
  const LlvmLibrary* const llvm = llvm_library();
  if (!llvm) return std::nullopt;
  const Crossings crossings(program, options);
  PartEmitter emitter(*llvm, program, options, crossings);
  std::vector<std::string> objects;
  for (int part = 0; part < crossings.num_parts; ++part) {
    if (abandon && abandon()) return std::nullopt;
    objects.push_back(emitter.emit(part, LLVMObjectFile));
    if (objects.back().empty()) return std::nullopt;
  }
  return objects;
}

std::string listing(const Program& program, const ObjectOptions& options) {
  const LlvmLibrary* const llvm = llvm_library();
  if (!llvm) return "";
  const Crossings crossings(program, options);
  return PartEmitter(*llvm, program, options, crossings).emit(0, LLVMAssemblyFile);
}

#else

bool can_compile_objects() { return false; }
std::string_view compiler_version() { return ""; }
std::optional<std::vector<std::string>> compile_objects(const Program&, const ObjectOptions&,
                                                        const std::function<bool()>&) {
  return std::nullopt;
}
std::string listing(const Program&, const ObjectOptions&) { return ""; }

#endif

}  // namespace mechanician
