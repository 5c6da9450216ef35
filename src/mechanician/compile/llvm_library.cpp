#if defined(MECHANICIAN_LLVM)

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
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

#if defined(__x86_64__)

int never(void (*)(void*), void*, void*) { return 0; }

/// LLVM makes static objects in the middle of a compilation, and has them destroyed at the end of the process: before
/// anything of ours that was registered earlier, and so while our thread may still use them. Those that are made from
/// now on stay: the library's own reference to the function that registers destructors is made to point elsewhere.
/// False where that reference is not found.
bool keep_static_objects(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return false;
  const ElfW(Rela) * tables[2] = {nullptr, nullptr};
  std::size_t sizes[2] = {0, 0};
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
    const auto address = [&] { return d->d_un.d_ptr; };
    if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address());
    if (d->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address());
    if (d->d_tag == DT_JMPREL) tables[0] = reinterpret_cast<const ElfW(Rela)*>(address());
    if (d->d_tag == DT_PLTRELSZ) sizes[0] = d->d_un.d_val;
    if (d->d_tag == DT_RELA) tables[1] = reinterpret_cast<const ElfW(Rela)*>(address());
    if (d->d_tag == DT_RELASZ) sizes[1] = d->d_un.d_val;
  }
  if (!symbols || !names) return false;
  bool found = false;
  for (int k = 0; k < 2; ++k)
    for (std::size_t i = 0; tables[k] && i < sizes[k] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& rela = tables[k][i];
      const auto type = ELF64_R_TYPE(rela.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (std::strcmp(names + symbols[ELF64_R_SYM(rela.r_info)].st_name, "__cxa_atexit") != 0) continue;
      const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
      const std::uintptr_t place = map->l_addr + rela.r_offset, start = place / page * page;
      if (::mprotect(reinterpret_cast<void*>(start), page, PROT_READ | PROT_WRITE) != 0) return false;
      *reinterpret_cast<int (**)(void (*)(void*), void*, void*)>(place) = &never;
      found = true;
    }
  return found;
}

#endif

const LlvmLibrary* load() {
#if defined(__x86_64__)
  void* library = open_library();
  if (!library || !keep_static_objects(library)) return nullptr;
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
