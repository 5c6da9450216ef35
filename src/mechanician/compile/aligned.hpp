#pragma once

/// Numbers that begin at a cache line: vectors of eight doubles that straddle two lines are loaded at half the speed.

#include <cstddef>
#include <new>
#include <vector>

namespace mechanician {

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  template <class U>
  bool operator==(const CacheLineAllocator<U>&) const {
    return true;
  }
};

using AlignedNumbers = std::vector<double, CacheLineAllocator<double>>;

}  // namespace mechanician
