// Arrays of numbers for large systems: on large pages where the system has them, since a pass over a million bodies
// reads from a dozen places at once and would spend a fifth of its time on looking up pages. Writes past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
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

/// Numbers written one after the other and not read soon, in whole lines past the caches: a write through these reads
/// the line first. `most` at a time.
template <std::ptrdiff_t most>
class LineWriter {
 public:
  void begin(double* to) {
    to_ = to, count_ = 0;
    // The first line may not be a whole one.
    head_ = (64 - static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) % 64)) / 8 % 8;
  }
  /// Where the next numbers go to before they are written.
  double* room() { return kept_ + count_; }
  void write(std::ptrdiff_t count) {
    count_ += count;
    std::ptrdiff_t done = 0;
    if (head_ > 0) {
      if (count_ < head_) return;
      copy(0, head_), done = head_, head_ = 0;
    }
    for (; done + 8 <= count_; done += 8) stream(done);
    to_ += done, count_ -= done;
    for (std::ptrdiff_t j = 0; j < count_; ++j) kept_[j] = kept_[done + j];
  }
  void finish() {
    copy(0, count_);
#ifdef __SSE2__
    _mm_sfence();
#endif
  }

 private:
  void copy(std::ptrdiff_t from, std::ptrdiff_t to) {
    for (std::ptrdiff_t j = from; j < to; ++j) to_[j] = kept_[j];
  }
  void stream(std::ptrdiff_t at) {
#ifdef __SSE2__
    for (std::ptrdiff_t j = at; j < at + 8; j += 2) _mm_stream_pd(to_ + j, _mm_loadu_pd(kept_ + j));
#else
    copy(at, at + 8);
#endif
  }

  double kept_[most + 8] = {};
  double* to_ = nullptr;
  std::ptrdiff_t count_ = 0, head_ = 0;
};

/// For values, right-hand sides and results too.
using LargeVector = std::vector<double, LargePages<double>>;

}  // namespace mechanician
