#pragma once

/// Many motions on all cores, and with others on many machines.
///
///     Work work(ranges that are still to be done, motions per block);
///     run_sweep(maker, work, {.threads = 4}, on_block, on_progress);
///
/// Blocks go to whoever is free. A motion depends on its number alone, so that results are the same bits for any number of
/// threads and ranks; on_block gets the blocks in the order in which they are finished, one at a time, in the calling thread.

#include <functional>
#include <vector>

#include "mechanician/ensemble/ranks.hpp"
#include "mechanician/ensemble/sweep_block.hpp"

namespace mechanician {

/// What is still to be done, handed out from front to back.
class Work {
 public:
  /// Of `count` motions those that are in none of `done`, which may come in any order.
  Work(std::int64_t count, std::vector<MotionRange> done, std::int64_t block);
  std::int64_t left() const { return left_; }
  std::int64_t block() const { return block_; }
  /// Whether the next block begins at this motion.
  bool continues(std::int64_t motion) const { return at_ < todo_.size() && todo_[at_].first == motion; }
  /// The next block; nothing when all are handed out.
  std::optional<MotionRange> next();

 private:
  std::vector<MotionRange> todo_;
  std::size_t at_ = 0;
  std::int64_t block_, left_ = 0;
};

struct SweepProgress {
  std::int64_t motions = 0;  ///< of the sweep
  SweepCounts now;           ///< those of this call, over all ranks
  std::int64_t before = 0;   ///< that were done already
  double seconds = 0.0;      ///< since the begin of this call
};

struct SweepRun {
  int threads = 0;           ///< 0: as many as this process may use
  std::int64_t motions = 0;  ///< of the sweep, for the progress
};

struct SweepEnd {
  SweepCounts counts;  ///< of this process
  bool interrupted = false;
  int threads = 0;
};

/// `on_progress` is called some ten times a second and returns false to stop: motions that are under way are finished. `ranks`: none
/// where this process is alone; there `work` matters to rank 0 only.
SweepEnd run_sweep(const BlockMaker& maker, Work& work, const SweepRun& run,
                   const std::function<void(SweepBlock)>& on_block,
                   const std::function<bool(const SweepProgress&)>& on_progress, Ranks* ranks = nullptr);

/// Motions per block: what keeps the runner busy, but so many blocks that all cores have some, whole packs of lanes in each.
std::int64_t preferred_block(const MotionRunner& runner, std::int64_t motions);

/// Cores that this process may use, its share of them where other ranks are on the same machine.
int default_threads(const Ranks* ranks);

}  // namespace mechanician
