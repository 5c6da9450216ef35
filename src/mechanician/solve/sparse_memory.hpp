// Arrays of numbers for large systems: on large pages where the system has them, since a pass over a million bodies
// reads from a dozen places at once and would spend a fifth of its time on looking up pages.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace mechanician {

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t count) {
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = count * sizeof(T);
    if (bytes < 2 * page) return static_cast<T*>(::operator new (bytes, std::align_val_t{64}));
    const std::size_t rounded = (bytes + page - 1) / page * page;
    void* memory = ::operator new (rounded, std::align_val_t{page});
#ifdef __linux__
    madvise(memory, rounded, MADV_HUGEPAGE);  // a wish; nothing depends on it
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    constexpr std::size_t page = std::size_t{1} << 21;
    if (count * sizeof(T) < 2 * page)
      ::operator delete (memory, std::align_val_t{64});
    else
      ::operator delete (memory, std::align_val_t{page});
  }
  bool operator==(const LargePages&) const { return true; }
};

/// For values, right-hand sides and results too.
using LargeVector = std::vector<double, LargePages<double>>;

}  // namespace mechanician
