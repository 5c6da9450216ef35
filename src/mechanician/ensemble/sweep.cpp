#include "mechanician/ensemble/sweep.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace mechanician {

Work::Work(std::int64_t count, std::vector<MotionRange> done, std::int64_t block)
    : block_(std::max<std::int64_t>(block, 1)) {
  std::sort(done.begin(), done.end(), [](const MotionRange& a, const MotionRange& b) { return a.first < b.first; });
  std::int64_t at = 0;
  const auto add = [&](std::int64_t to) {
    if (to > at) todo_.push_back({at, to - at}), left_ += to - at;
  };
  for (const MotionRange& range : done) {
    add(std::min(range.first, count));
    at = std::max(at, range.first + range.count);
  }
  add(count);
}

std::optional<MotionRange> Work::next() {
  if (at_ == todo_.size()) return std::nullopt;
  MotionRange& range = todo_[at_];
  // Blocks begin at multiples of their size wherever they can: the same ones after an interruption.
  const std::int64_t to = std::min(range.first + range.count, (range.first / block_ + 1) * block_);
  const MotionRange taken{range.first, to - range.first};
  range.first += taken.count, range.count -= taken.count, left_ -= taken.count;
  if (range.count == 0) ++at_;
  return taken;
}

int default_threads(const Ranks* ranks) {
  const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  cpu_set_t allowed;
  const int mine = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : all;
  const auto online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  // A launcher that binds its ranks has shared the cores out already.
  if (!ranks || mine < online) return mine;
  return std::max(1, mine / ranks->node_size());
}

namespace {

using Clock = std::chrono::steady_clock;

SweepCounts counts_of(const BatchResult& result) {
  SweepCounts counts;
  for (std::size_t i = 0; i < result.outcome.size(); ++i) {
    ++counts.motions;
    counts.steps += result.steps[i];
    counts.suspect += result.outcome[i] == Outcome::suspect;
    counts.stopped += result.outcome[i] == Outcome::stopped;
    counts.failed += result.outcome[i] == Outcome::failed;
    if (result.outcome[i] != Outcome::failed && result.violation[i] > counts.violation)
      counts.violation = result.violation[i];
  }
  return counts;
}

/// Blocks on their way through the threads of this process. Threads are made when there is something to do for one more. Where the
/// system gives none, those that there are do the work, and without any the caller does it in take().
class Pool {
 public:
  Pool(const BlockMaker& maker, int threads) : maker_(maker), most_(static_cast<std::size_t>(threads)) {}
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      waiting_.clear();  // what is left in the case of trouble is not wanted
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Begun and not yet taken.
  int outstanding() const {
    const std::lock_guard lock(mutex_);
    return running_ + static_cast<int>(waiting_.size() + finished_.size());
  }

  void begin(MotionRange range) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(range);
    if (static_cast<std::size_t>(idle_threads_) < waiting_.size() && threads_.size() < most_ && !full_) try {
        threads_.emplace_back([this] { serve(); });
        ++alive_, ++idle_threads_;
      } catch (const std::exception&) {
        full_ = true;  // no more threads to be had
      }
    changed_.notify_all();
  }

  /// Blocks that no thread has begun are left.
  void stop() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
  }
  /// Those that are under way, too.
  void abandon() { abandon_ = true; }

  std::vector<SweepBlock> take(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    if (alive_ == 0 && !waiting_.empty() && !trouble_) work(lock);
    changed_.wait_for(lock, wait, [&] { return !finished_.empty() || trouble_; });
    if (trouble_) std::rethrow_exception(trouble_);
    return std::exchange(finished_, {});
  }

  /// Those that computed, where fewer could be had than were asked for.
  int threads() const {
    const std::lock_guard lock(mutex_);
    return full_ ? std::max(1, alive_) : static_cast<int>(most_);
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      --idle_threads_;
      const bool goes_on = !waiting_.empty() && work(lock);
      if (!goes_on) break;
      ++idle_threads_;
    }
    --alive_;
    changed_.notify_all();
  }

  /// The next block. False where there is no memory for so many at once and others go on with it.
  bool work(std::unique_lock<std::mutex>& lock) {
    const MotionRange range = waiting_.front();
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    std::exception_ptr trouble;
    SweepBlock block;
    bool no_memory = false;
    try {
      std::unique_ptr<BlockMaker> mine = borrow();
      block = mine->make(range, &abandon_);
      const std::lock_guard again(mutex_);
      idle_.push_back(std::move(mine));
    } catch (const MotionBatch::Abandoned&) {
      lock.lock();
      --running_;
      changed_.notify_all();
      return true;
    } catch (const std::bad_alloc&) {
      no_memory = true;
      trouble = std::current_exception();
    } catch (...) {
      trouble = std::current_exception();
    }
    lock.lock();
    --running_;
    if (no_memory && alive_ > 1) {
      waiting_.push_front(range);
      full_ = true;
      idle_.clear();
    } else if (trouble) {
      trouble_ = trouble;
    } else {
      finished_.push_back(std::move(block));
    }
    changed_.notify_all();
    return !trouble;
  }

  /// As many makers as blocks are ever computed at once.
  std::unique_ptr<BlockMaker> borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<BlockMaker> maker = std::move(idle_.back());
        idle_.pop_back();
        return maker;
      }
    }
    return std::make_unique<BlockMaker>(maker_);
  }

  const BlockMaker& maker_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  std::deque<MotionRange> waiting_;
  int running_ = 0, alive_ = 0, idle_threads_ = 0;
  bool ending_ = false, full_ = false;
  std::atomic<bool> abandon_{false};
  std::vector<SweepBlock> finished_;
  std::vector<std::unique_ptr<BlockMaker>> idle_;
  std::exception_ptr trouble_;
};

// What ranks say to each other.
constexpr int tag_request = 1, tag_reply = 2, tag_counts = 3, tag_end = 4;
struct Request {
  std::int32_t blocks;
};
struct Reply {
  std::int64_t first, count;  ///< no motions: there are no more
};
struct Ending {
  SweepCounts counts;
  std::int32_t interrupted;
};

/// Where a process gets its blocks from.
class Source {
 public:
  Source(Work& work, Ranks* ranks, std::int64_t block) : work_(work), ranks_(ranks), block_(block) {
    if (ranks_ && ranks_->rank() == 0)
      of_ranks_.resize(static_cast<std::size_t>(ranks_->size())), left_ = ranks_->size() - 1;
  }

  bool is_first() const { return !ranks_ || ranks_->rank() == 0; }
  /// Nothing now; exhausted() says whether there may be something later.
  std::optional<MotionRange> next() {
    if (stopped_) return std::nullopt;
    if (is_first()) {
      auto range = work_.next();
      exhausted_ = !range;
      return range;
    }
    if (have_.count == 0) return std::nullopt;
    const std::int64_t to = std::min(have_.first + have_.count, (have_.first / block_ + 1) * block_);
    const MotionRange taken{have_.first, to - have_.first};
    have_.first += taken.count, have_.count -= taken.count;
    return taken;
  }
  bool exhausted() const { return stopped_ || (exhausted_ && have_.count == 0); }
  void stop() { stopped_ = true; }

  /// Asks, answers and listens; never waits.
  void talk(const SweepCounts& mine, int threads) {
    if (!ranks_) return;
    int from = 0;
    if (is_first()) {
      for (Request request; ranks_->try_receive(tag_request, request, from);) answer(from, request);
      SweepCounts counts;
      while (ranks_->try_receive(tag_counts, counts, from)) of_ranks_[static_cast<std::size_t>(from)] = counts;
      for (Ending end; ranks_->try_receive(tag_end, end, from);) {
        of_ranks_[static_cast<std::size_t>(from)] = end.counts;
        if (end.interrupted) others_interrupted_ = true;
        --left_;
      }
      return;
    }
    if (Reply reply; asked_ && ranks_->try_receive(tag_reply, reply, from)) {
      asked_ = false;
      have_ = {reply.first, reply.count};
      exhausted_ = reply.count == 0;
    }
    if (!asked_ && !exhausted_ && !stopped_ && have_.count == 0)
      ranks_->send(0, tag_request, Request{2 * threads}), asked_ = true;
    if (const auto now = Clock::now(); now >= tell_at_)
      tell_at_ = now + std::chrono::milliseconds(200), ranks_->send(0, tag_counts, mine);
  }

  /// A request that is still open is answered before the end, so that no message is left over.
  bool may_end() const { return is_first() ? left_ == 0 : !asked_; }
  void end(const SweepCounts& mine, bool interrupted) {
    if (ranks_ && !is_first()) ranks_->send(0, tag_end, Ending{mine, interrupted});
  }
  /// Of all ranks but this one, as far as they have told.
  SweepCounts others() const {
    SweepCounts sum;
    for (const SweepCounts& counts : of_ranks_) sum.add(counts);
    return sum;
  }
  bool others_interrupted() const { return others_interrupted_; }

 private:
  void answer(int to, const Request& request) {
    Reply reply{0, 0};
    // Large stretches first, small ones at the end, so that all are finished together.
    const std::int64_t blocks_left = work_.left() / block_;
    const std::int64_t fair =
        std::clamp<std::int64_t>(blocks_left / (2 * ranks_->size()), 1, std::max(1, request.blocks));
    for (std::int64_t i = 0; i < fair && !stopped_; ++i) {
      if (i > 0 && work_.left() > 0 && !work_.continues(reply.first + reply.count)) break;
      const auto range = work_.next();
      if (!range) break;
      if (i == 0) reply.first = range->first;
      reply.count += range->count;
    }
    ranks_->send(to, tag_reply, reply);
  }

  Work& work_;
  Ranks* ranks_;
  std::int64_t block_;
  bool exhausted_ = false, stopped_ = false, asked_ = false, others_interrupted_ = false;
  MotionRange have_;
  Clock::time_point tell_at_{};
  std::vector<SweepCounts> of_ranks_;
  int left_ = 0;
};

}  // namespace

SweepEnd run_sweep(const BlockMaker& maker, Work& work, const SweepRun& run,
                   const std::function<void(SweepBlock)>& on_block,
                   const std::function<bool(const SweepProgress&)>& on_progress, Ranks* ranks) {
  SweepEnd end;
  end.threads = run.threads > 0 ? run.threads : default_threads(ranks);
  const auto begin = Clock::now();
  const std::int64_t before = run.motions - work.left();
  Source source(work, ranks, work.block());
  // The pool last: it waits for its threads when it goes.
  Pool pool(maker, end.threads);
  const int most_outstanding = 3 * end.threads + 2;
  const auto tick = std::chrono::milliseconds(ranks ? 1 : 50);
  constexpr double grace = 3.0;  // seconds that motions have to come to their end once a sweep is interrupted
  double interrupted_at = 0.0;
  for (;;) {
    source.talk(end.counts, end.threads);
    while (pool.outstanding() < most_outstanding) {
      const auto range = source.next();
      if (!range) break;
      pool.begin(*range);
    }
    if (pool.outstanding() == 0 && source.exhausted() && source.may_end()) break;
    for (SweepBlock& block : pool.take(tick)) {
      end.counts.add(counts_of(block.result));
      on_block(std::move(block));
    }
    SweepProgress progress{.motions = run.motions,
                           .now = end.counts,
                           .before = before,
                           .seconds = std::chrono::duration<double>(Clock::now() - begin).count()};
    progress.now.add(source.others());
    if (!on_progress(progress) && !end.interrupted)
      end.interrupted = true, interrupted_at = progress.seconds, source.stop(), pool.stop();
    if (end.interrupted && progress.seconds - interrupted_at > grace) pool.abandon();
  }
  end.threads = pool.threads();
  source.end(end.counts, end.interrupted);
  if (source.others_interrupted()) end.interrupted = true;
  return end;
}

std::int64_t preferred_block(const MotionRunner& runner, std::int64_t motions) {
  if (runner.device() == "gpu") return runner.preferred_batch();
  const std::int64_t lanes = std::max(1, runner.lanes()), share = (motions + 31) / 32;
  return std::min<std::int64_t>(runner.preferred_batch(), (share + lanes - 1) / lanes * lanes);
}

}  // namespace mechanician
