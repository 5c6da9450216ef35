#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "mechanician/compile/compile_queue_internal.hpp"
#include "mechanician/compile/llvm_object.hpp"

namespace mechanician {

CompileQueue& CompileQueue::instance() {
  static auto* const queue = new CompileQueue;
  return *queue;
}

/// Destroyed with its thread. The C library destroys what belongs to the thread that calls exit() before all else.
struct CompileQueue::Watch {
  bool seen = false;
  ~Watch() {
    if (seen && started && ::getpid() == ::gettid()) instance().stop();
  }
  static inline std::atomic<bool> started{false};
};

void CompileQueue::watch_this_thread() {
  thread_local Watch watch;
  watch.seen = true;
}

CompileQueue::CompileQueue() {
  Watch::started = true;
  std::atexit([] { instance().stop(); });
}

bool CompileQueue::add(Job job) {
  watch_this_thread();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    try {
      if (!thread_.joinable()) start();
    } catch (const std::system_error&) {
      return false;  // no thread to be had
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void CompileQueue::start() {
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { work(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void CompileQueue::work() {
  ::setpriority(PRIO_PROCESS, 0, 5);  // of this thread: it must not hold up those that compute
  bool opened = false;
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job([&] {
      // What is registered now runs before the destructors of LLVM's static objects.
      if (!opened && can_compile_objects()) {
        opened = true;
        std::atexit([] { instance().stop(); });
      }
      return stopping_.load();
    });
  }
}

void CompileQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.get_id() == std::this_thread::get_id()) return;  // the compiler itself ended the process
  if (thread_.joinable()) thread_.join();
  jobs_.clear();
}

}  // namespace mechanician
