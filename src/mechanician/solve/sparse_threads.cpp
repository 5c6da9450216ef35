#include "mechanician/solve/sparse_threads.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace mechanician {

struct SparseThreads::Arena {
  explicit Arena(int count) : arena(count) {}
  tbb::task_arena arena;
};

SparseThreads::SparseThreads(int wanted)
    : count_(std::max(1, wanted > 0 ? wanted : tbb::info::default_concurrency())) {}

SparseThreads::~SparseThreads() = default;

void SparseThreads::start() {
  if (!arena_) arena_ = std::make_unique<Arena>(count_);
  each(2 * count_, [](int, int) {});
}

void SparseThreads::run(int num_pieces, void (*call)(const void*, int, int), const void* context) {
  if (!arena_) arena_ = std::make_unique<Arena>(count_);
  arena_->arena.execute([&] {
    // Isolated: whoever waits for the last piece must not begin with one of somebody else, in the same slot.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          0, num_pieces, [&](int piece) { call(context, piece, tbb::this_task_arena::current_thread_index()); },
          tbb::simple_partitioner());
    });
  });
}

}  // namespace mechanician
