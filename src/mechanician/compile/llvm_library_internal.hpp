#pragma once

/// LLVM, opened while the program runs and only when it is wanted: a program that never compiles does not wait for it
/// (opening costs some 30 ms), and one without it on the machine still works.

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

namespace mechanician {

// The functions of LLVM's C interface that we use, without their prefix.
// clang-format off
#define MECHANICIAN_LLVM_FUNCTIONS(X)                                                                                  \
  X(GetVersion) X(InitializeX86TargetInfo) X(InitializeX86Target) X(InitializeX86TargetMC)                             \
  X(InitializeX86AsmPrinter) X(GetDefaultTargetTriple) X(GetHostCPUName) X(GetHostCPUFeatures)                         \
  X(GetTargetFromTriple) X(CreateTargetMachine) X(DisposeTargetMachine) X(CreateTargetDataLayout)                      \
  X(DisposeTargetData) X(SetModuleDataLayout) X(SetTarget) X(TargetMachineEmitToMemoryBuffer) X(GetBufferStart)        \
  X(GetBufferSize) X(DisposeMemoryBuffer) X(DisposeMessage) X(ContextCreate) X(ContextDispose)                         \
  X(ModuleCreateWithNameInContext) X(DisposeModule) X(VerifyModule) X(DoubleTypeInContext) X(VectorType)               \
  X(PointerTypeInContext) X(VoidTypeInContext) X(Int32TypeInContext) X(Int64TypeInContext) X(FunctionType)             \
  X(StructTypeInContext) X(AddFunction) X(AppendBasicBlockInContext) X(GetParam) X(CreateBuilderInContext)             \
  X(DisposeBuilder) X(PositionBuilderAtEnd) X(GetInsertBlock) X(BuildFAdd) X(BuildFSub) X(BuildFMul) X(BuildFDiv)      \
  X(BuildFNeg) X(BuildFCmp) X(BuildSelect) X(BuildAnd) X(BuildOr) X(BuildNot) X(BuildPhi) X(AddIncoming) X(BuildBr)    \
  X(BuildCondBr) X(BuildAdd) X(BuildICmp) X(BuildShuffleVector) X(Int1TypeInContext) X(Int8TypeInContext)              \
  X(IntTypeInContext) X(BuildBitCast) X(BuildXor) X(BuildShl) X(MDStringInContext2) X(MDNodeInContext2)                \
  X(ValueAsMetadata) X(MetadataAsValue) X(GetMDKindIDInContext) X(SetMetadata)                                         \
  X(BuildLoad2) X(BuildStore) X(SetAlignment) X(BuildInBoundsGEP2) X(BuildCall2) X(BuildExtractValue)                  \
  X(BuildExtractElement) X(BuildInsertElement) X(BuildRetVoid) X(ConstReal) X(ConstInt) X(ConstVector) X(GetPoison)    \
  X(LookupIntrinsicID) X(GetIntrinsicDeclaration) X(GetEnumAttributeKindForName) X(CreateEnumAttribute)                \
  X(AddAttributeAtIndex)
// clang-format on

struct LlvmLibrary {
#define X(name) decltype(&::LLVM##name) name = nullptr;
  MECHANICIAN_LLVM_FUNCTIONS(X)
#undef X
  char* triple = nullptr;
  char* cpu = nullptr;
  char* features = nullptr;
  LLVMTargetRef target = nullptr;
};

/// Null where there is no LLVM of the right version. Opened at the first call; may be called from any thread.
/// MECHANICIAN_LLVM in the environment names the library, or is "off".
const LlvmLibrary* llvm_library();

}  // namespace mechanician
