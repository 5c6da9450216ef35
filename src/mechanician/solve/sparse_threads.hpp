// Threads for one large system (TBB). What is shared out is cut into pieces that do not depend on how many threads there
// are, and each number is computed within one piece: results are the same bits for every number of threads.
//
// Cost: some microseconds for each call with more than one piece; nothing is allocated by operator new.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace mechanician {

class SparseThreads {
 public:
  /// 0: all cores that the process may use.
  explicit SparseThreads(int wanted);
  ~SparseThreads();
  int count() const { return count_; }
  /// Has the threads ready, so that the first use does not wait for them.
  void start();

  /// body(piece, slot) for all pieces, in any order. No two pieces have the same slot, below count(), at the same time.
  template <class Body>
  void each(int num_pieces, Body&& body) {
    if (count_ == 1 || num_pieces <= 1) {
      for (int piece = 0; piece < num_pieces; ++piece) body(piece, 0);
      return;
    }
    using Called = std::remove_reference_t<Body>;
    run(
        num_pieces,
        [](const void* context, int piece, int slot) { (*static_cast<const Called*>(context))(piece, slot); }, &body);
  }

  /// body(from, to, slot) for pieces of 0 … size − 1.
  template <class Body>
  void ranges(std::ptrdiff_t size, std::ptrdiff_t piece, Body&& body) {
    each(static_cast<int>((size + piece - 1) / piece),
         [&](int k, int slot) { body(k * piece, std::min(size, (k + 1) * piece), slot); });
  }

 private:
  void run(int num_pieces, void (*call)(const void*, int, int), const void* context);

  struct Arena;
  int count_ = 1;
  std::unique_ptr<Arena> arena_;
};

}  // namespace mechanician
