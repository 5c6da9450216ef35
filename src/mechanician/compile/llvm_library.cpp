#if defined(MECHANICIAN_LLVM)

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "mechanician/compile/llvm_library_internal.hpp"

namespace mechanician {

namespace {

void* open_library() {
  if (const char* name = std::getenv("MECHANICIAN_LLVM"); name && *name)
    return std::strcmp(name, "off") == 0 ? nullptr : ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  for (const char* name : {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"})
    if (void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return library;
  return nullptr;
}

const LlvmLibrary* load() {
#if defined(__x86_64__)
  void* library = open_library();
  if (!library) return nullptr;
  // Never closed and never deleted: a thread may be compiling until the very end of the process.
  auto* llvm = new LlvmLibrary;
#define X(name)                                                                        \
  llvm->name = reinterpret_cast<decltype(llvm->name)>(::dlsym(library, "LLVM" #name)); \
  if (!llvm->name) return nullptr;
  MECHANICIAN_LLVM_FUNCTIONS(X)
#undef X
  unsigned major = 0, minor = 0, patch = 0;
  llvm->GetVersion(&major, &minor, &patch);
  if (major != LLVM_VERSION_MAJOR) return nullptr;
  llvm->InitializeX86TargetInfo();
  llvm->InitializeX86Target();
  llvm->InitializeX86TargetMC();
  llvm->InitializeX86AsmPrinter();
  llvm->triple = llvm->GetDefaultTargetTriple();
  llvm->cpu = llvm->GetHostCPUName();
  llvm->features = llvm->GetHostCPUFeatures();
  char* message = nullptr;
  if (llvm->GetTargetFromTriple(llvm->triple, &llvm->target, &message)) return nullptr;
  return llvm;
#else
  // Our loader of objects knows x86-64 only.
  return nullptr;
#endif
}

}  // namespace

const LlvmLibrary* llvm_library() {
  static const LlvmLibrary* const library = load();
  return library;
}

}  // namespace mechanician

#endif
