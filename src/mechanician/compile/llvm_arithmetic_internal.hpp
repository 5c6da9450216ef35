#pragma once

/// Arithmetic on vectors of any number of lanes that writes LLVM instructions (device_functions.hpp says what it is asked
/// for).

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mechanician/compile/llvm_library_internal.hpp"

namespace mechanician {

class LlvmArithmetic {
 public:
  using F = LLVMValueRef;
  using I = LLVMValueRef;
  /// Truth values, one for each vector of the processor: together in one mask they would have to be put together and
  /// taken apart, where a mask of one vector is combined with the next comparison at no cost.
  using P = std::vector<LLVMValueRef>;

  LlvmArithmetic(const LlvmLibrary& llvm, LLVMContextRef context, LLVMModuleRef module, LLVMBuilderRef builder,
                 int lanes)
      : llvm_(&llvm), context_(context), module_(module), builder_(builder), lanes_(lanes) {
    bits_ = lanes % 8 == 0 && std::has_single_bit(static_cast<unsigned>(lanes)) ? 8 : lanes;
    scalar_ = llvm.DoubleTypeInContext(context);
    number_ = vector_of(scalar_, lanes);
    word_ = vector_of(llvm.Int64TypeInContext(context), lanes);
  }

  LLVMTypeRef scalar() const { return scalar_; }
  LLVMTypeRef number() const { return number_; }
  LLVMTypeRef mask() const { return vector_of(llvm_->Int1TypeInContext(context_), bits_); }
  int num_masks() const { return lanes_ / bits_; }

  F constant(double x) const { return all(llvm_->ConstReal(scalar_, x), lanes_); }
  P truth(bool x) const {
    return P(static_cast<std::size_t>(num_masks()),
             all(llvm_->ConstInt(llvm_->Int1TypeInContext(context_), x ? 1 : 0, 0), bits_));
  }

  F add(F a, F b) { return llvm_->BuildFAdd(builder_, a, b, ""); }
  F sub(F a, F b) { return llvm_->BuildFSub(builder_, a, b, ""); }
  F mul(F a, F b) { return llvm_->BuildFMul(builder_, a, b, ""); }
  F neg(F a) { return llvm_->BuildFNeg(builder_, a, ""); }
  /// For processors that have it.
  F fma(F a, F b, F c) { return intrinsic("llvm.fma", {a, b, c}); }
  F abs(F a) { return intrinsic("llvm.fabs", {a}); }
  F sqrt(F a) { return intrinsic("llvm.sqrt", {a}); }

  P compare(LLVMRealPredicate predicate, F a, F b) {
    return each(
        [&](int part) { return llvm_->BuildFCmp(builder_, predicate, part_of(a, part), part_of(b, part), ""); });
  }
  P less(F a, F b) { return compare(LLVMRealOLT, a, b); }
  P not_less_equal(F a, F b) { return compare(LLVMRealUGT, a, b); }
  P both(const P& a, const P& b) {
    return each([&](int k) { return llvm_->BuildAnd(builder_, a[at(k)], b[at(k)], ""); });
  }
  P either(const P& a, const P& b) {
    return each([&](int k) { return llvm_->BuildOr(builder_, a[at(k)], b[at(k)], ""); });
  }
  P negated(const P& a) {
    return each([&](int k) { return llvm_->BuildNot(builder_, a[at(k)], ""); });
  }
  /// Whether it is so in any lane, as one bit.
  LLVMValueRef any(const P& a) {
    LLVMValueRef one = a[0];
    for (std::size_t k = 1; k < a.size(); ++k) one = llvm_->BuildOr(builder_, one, a[k], "");
    if (lanes_ == 1) return one;
    const LLVMTypeRef whole = llvm_->IntTypeInContext(context_, static_cast<unsigned>(bits_));
    return llvm_->BuildICmp(builder_, LLVMIntNE, llvm_->BuildBitCast(builder_, one, whole, ""),
                            llvm_->ConstInt(whole, 0, 0), "");
  }
  F select(const P& condition, F a, F b) {
    P parts =
        each([&](int k) { return llvm_->BuildSelect(builder_, condition[at(k)], part_of(a, k), part_of(b, k), ""); });
    // Put together two by two.
    for (int width = bits_; parts.size() > 1; width *= 2) {
      P wider;
      for (std::size_t k = 0; k + 1 < parts.size(); k += 2)
        wider.push_back(llvm_->BuildShuffleVector(builder_, parts[k], parts[k + 1], indices(0, 2 * width), ""));
      parts = std::move(wider);
    }
    return parts[0];
  }

  I bits(F a) { return llvm_->BuildBitCast(builder_, a, word_, ""); }
  F flip(F a, I sign) {
    return llvm_->BuildBitCast(builder_, llvm_->BuildXor(builder_, bits(a), sign, ""), number_, "");
  }
  I bit_and(I a, std::uint64_t b) { return llvm_->BuildAnd(builder_, a, word(b, lanes_), ""); }
  P is_set(I a, std::uint64_t bit) {
    const I found = bit_and(a, bit);
    return each([&](int k) { return llvm_->BuildICmp(builder_, LLVMIntNE, part_of(found, k), word(0, bits_), ""); });
  }
  I plus(I a, std::uint64_t b) { return llvm_->BuildAdd(builder_, a, word(b, lanes_), ""); }
  I shift_left(I a, int by) { return llvm_->BuildShl(builder_, a, word(static_cast<std::uint64_t>(by), lanes_), ""); }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  LLVMTypeRef vector_of(LLVMTypeRef type, int lanes) const {
    return lanes == 1 ? type : llvm_->VectorType(type, static_cast<unsigned>(lanes));
  }
  LLVMValueRef all(LLVMValueRef one, int lanes) const {
    if (lanes == 1) return one;
    std::vector<LLVMValueRef> copies(at(lanes), one);
    return llvm_->ConstVector(copies.data(), static_cast<unsigned>(lanes));
  }
  LLVMValueRef word(std::uint64_t x, int lanes) const {
    return all(llvm_->ConstInt(llvm_->Int64TypeInContext(context_), x, 0), lanes);
  }
  /// begin, begin + 1, … end − 1, as a shuffle wants them.
  LLVMValueRef indices(int begin, int end) const {
    std::vector<LLVMValueRef> which;
    for (int k = begin; k < end; ++k)
      which.push_back(llvm_->ConstInt(llvm_->Int32TypeInContext(context_), static_cast<unsigned long long>(k), 0));
    return llvm_->ConstVector(which.data(), static_cast<unsigned>(end - begin));
  }
  /// Lanes of mask k.
  LLVMValueRef part_of(LLVMValueRef x, int k) {
    if (lanes_ == bits_) return x;
    return llvm_->BuildShuffleVector(builder_, x, x, indices(k * bits_, (k + 1) * bits_), "");
  }
  template <class Make>
  P each(Make make) {
    P parts;
    for (int k = 0; k < num_masks(); ++k) parts.push_back(make(k));
    return parts;
  }
  LLVMValueRef intrinsic(std::string_view name, std::vector<LLVMValueRef> arguments) {
    const unsigned id = llvm_->LookupIntrinsicID(name.data(), name.size());
    LLVMTypeRef type_of_number = number_;
    const LLVMValueRef callee = llvm_->GetIntrinsicDeclaration(module_, id, &type_of_number, 1);
    std::vector<LLVMTypeRef> types(arguments.size(), number_);
    const LLVMTypeRef type = llvm_->FunctionType(number_, types.data(), static_cast<unsigned>(types.size()), 0);
    return llvm_->BuildCall2(builder_, type, callee, arguments.data(), static_cast<unsigned>(arguments.size()), "");
  }

  const LlvmLibrary* llvm_;
  LLVMContextRef context_;
  LLVMModuleRef module_;
  LLVMBuilderRef builder_;
  int lanes_, bits_;  ///< bits_: lanes of one mask
  LLVMTypeRef scalar_, number_, word_;
};

}  // namespace mechanician
