#pragma once

/// The one thread of the process that compiles in the background.
///
/// LLVM has static objects, and their destructors run when the process ends. The thread must have stopped before: it is
/// waited for, which takes until the part that it compiles is done.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace mechanician {

class CompileQueue {
 public:
  /// Says whether to give up: asked between parts.
  using Abandon = std::function<bool()>;
  using Job = std::function<void(const Abandon& process_ends)>;

  /// Started at the first job, never destroyed.
  static CompileQueue& instance();

  /// False where the process is about to end or has no thread to spare: the job will not be done.
  bool add(Job job);
  /// Calls function->compile(abandon) in the background, function->finish() where that cannot be done.
  template <class Function>
  void compile_later(const std::shared_ptr<Function>& function) {
    const bool added = add([weak = std::weak_ptr<Function>(function)](const Abandon& process_ends) {
      // While it compiles, the thread owns the function too; if it is the only one left, nobody wants the code.
      const std::shared_ptr<Function> self = weak.lock();
      if (!self) return;
      try {
        self->compile([&] { return process_ends() || self.use_count() == 1; });
      } catch (const std::exception&) {  // no memory: what there is goes on
        self->finish();
      }
    });
    if (!added) function->finish();
  }
  /// To be called by a thread that has something to do with functions: if it is the main thread, the queue stops when
  /// it ends, which is before any static object of the process is destroyed, even if LLVM is just being opened. (If
  /// another thread calls exit(), the queue stops before the objects of an LLVM that is open are destroyed: see
  /// work().)
  static void watch_this_thread();

 private:
  CompileQueue();
  void start();
  void work();
  void stop();
  struct Watch;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

}  // namespace mechanician
