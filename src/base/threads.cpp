#include "fovea/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/serial_scope.hpp"
#include "fovea/error.hpp"

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fovea {
namespace {

thread_local int current_index = 0;
thread_local bool inside = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// How often an idle thread looks before it sleeps: about 100 microseconds, longer than the gap between two kernels of
// one training step, short enough that a waiting process does not burn a core.
constexpr int kSpins = 4000;

constexpr int kMostThreads = 1024;

// While it lives, threads that are started take no signals: those are for the threads of the program, which may block
// them and wait for them as `fovea serve` does.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

// Where the calling thread runs; -1 where the system does not say.
int this_cpu() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// One job at a time: chunks are handed out by a counter, so that a thread that is held up costs one chunk, not half
// of the work. `ticket` counts jobs; a worker that sees it change joins in if the job is still open. The caller closes
// it when no chunk is left and waits only for the workers that joined: one that wakes late delays nothing.
class Pool {
 public:
  // Throws std::system_error when the system has no more threads.
  explicit Pool(int count) {
    const NoSignals quiet;
    try {
      for (int i = 1; i < count; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

  // False when another thread's job runs: then the caller is better off doing its work itself than waiting.
  bool run(std::int64_t count, std::int64_t grain, detail::ChunkFunction function, void* context) {
    const std::unique_lock one_job(job_mutex_, std::try_to_lock);
    if (!one_job) return false;
    function_ = function;
    context_ = context;
    count_ = count;
    grain_ = grain;
    next_.store(0, std::memory_order_relaxed);
    error_ = nullptr;
    caller_cpu_.store(this_cpu(), std::memory_order_relaxed);
    joined_.store(kOpen, std::memory_order_release);
    ticket_.fetch_add(1);
    if (sleeping_.load() > 0) {
      { const std::lock_guard lock(mutex_); }
      wake_.notify_all();
    }
    inside = true;
    drain();
    inside = false;
    joined_.fetch_and(~kOpen, std::memory_order_acq_rel);
    for (int spin = 0; joined_.load(std::memory_order_acquire) != 0; ++spin) {
      if (spin < kSpins) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return true;
  }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      ticket_.fetch_add(1);
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  void drain() {
    for (;;) {
      const std::int64_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (begin >= count_) return;
      try {
        function_(context_, begin, std::min(begin + grain_, count_));
      } catch (...) {
        next_.store(count_, std::memory_order_relaxed);
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  bool join() {
    int now = joined_.load(std::memory_order_acquire);
    while ((now & kOpen) != 0) {
      if (joined_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  void work(int index) {
    current_index = index;
    inside = true;
    std::uint64_t seen = 0;
    for (;;) {
      int spin = 0;
      while (ticket_.load(std::memory_order_acquire) == seen && spin < kSpins) {
        relax();
        // On the caller's own core it would keep the next job from coming.
        if (++spin % 64 == 1 && this_cpu() == caller_cpu_.load(std::memory_order_relaxed)) break;
      }
      if (ticket_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex_);
        sleeping_.fetch_add(1);
        wake_.wait(lock, [&] { return ticket_.load() != seen; });
        sleeping_.fetch_sub(1);
      }
      seen = ticket_.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_acquire)) return;
      if (!join()) continue;
      drain();
      joined_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::vector<std::thread> workers_;
  std::mutex job_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<int> sleeping_{0};
  static constexpr int kOpen = 1 << 30;
  std::atomic<int> joined_{0};  // how many workers are in the job, and kOpen while more may come
  std::atomic<int> caller_cpu_{-1};
  std::atomic<std::int64_t> next_{0};
  std::int64_t count_ = 0;
  std::int64_t grain_ = 1;
  detail::ChunkFunction function_ = nullptr;
  void* context_ = nullptr;
  std::exception_ptr error_;
  std::atomic<bool> stop_{false};
};

// All cores, or where the system does not give that many threads, one.
std::unique_ptr<Pool> first_pool() {
  try {
    return std::make_unique<Pool>(std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads));
  } catch (const std::system_error&) {
    return std::make_unique<Pool>(1);
  }
}

std::unique_ptr<Pool>& pool() {
  static std::unique_ptr<Pool> instance = first_pool();
  return instance;
}

}  // namespace

int threads() {
  return pool()->size();
}

void set_threads(int count) {
  if (count < 1 || count > kMostThreads) {
    throw UsageError("threads", fmt::format("{} given, 1 to {} are possible", count, kMostThreads));
  }
  if (inside) throw Error("threads: their number cannot change inside parallel work");
  if (count == threads()) return;
  try {
    pool() = std::make_unique<Pool>(count);
  } catch (const std::system_error&) {
    throw Error(fmt::format("threads: the system does not give {} of them", count));
  }
}

int free_threads() {
  return inside ? 1 : threads();
}

int thread_index() {
  return current_index;
}

SerialScope::SerialScope() : before_(std::exchange(inside, true)) {}

SerialScope::~SerialScope() {
  inside = before_;
}

namespace detail {

void parallel_for(std::int64_t count, std::int64_t grain, ChunkFunction function, void* context) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(1, grain);
  const bool alone = inside || count <= grain || threads() == 1;
  if (!alone && pool()->run(count, grain, function, context)) return;
  // Serially, but in the same chunks: what a chunk computes may depend on where it begins.
  for (std::int64_t begin = 0; begin < count; begin += grain) {
    function(context, begin, std::min(begin + grain, count));
  }
}

}  // namespace detail
}  // namespace fovea
