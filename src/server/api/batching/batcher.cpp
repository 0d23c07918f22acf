#include "server/api/batching/batcher.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/arena.hpp"
#include "base/serial_scope.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {
namespace {

// Lines of a batch. Larger batches are no faster and delay the first answers.
constexpr std::size_t kMostLines = 64;

// The arena keeps the memory of every batch size for reuse. It is returned to the system after some batches, when the
// server is idle, and at once after much of it was freed, such as the attention of long texts.
constexpr int kBatchesBetweenTrims = 200;
constexpr std::size_t kMostKept = std::size_t{16} << 20;
constexpr std::chrono::seconds kIdle(10);

void return_memory() {
  arena_trim();
  (void)::malloc_trim(0);
}

}  // namespace

void Job::check() const {
  if (error.empty()) return;
  if (no_memory) throw Refusal(503, error, 2);
  if (invalid) throw Refusal(400, "Invalid request: " + error);
  throw Refusal(500, std::string(failure) + ": " + error);
}

Batcher::Batcher(const BatchProcessor& processor, std::string name, int most_waiting, Metrics& metrics)
    : processor_(processor), name_(std::move(name)), most_waiting_(most_waiting), metrics_(metrics) {
  try {
    for (int i = 0; i < threads(); ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    close();
    throw;
  }
}

Batcher::~Batcher() {
  close();
}

void Batcher::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Batcher::abandon() {
  Jobs over;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& job : queue_) {
      job->error = "the server is stopping";
      job->finished_ += job->lines.size() - job->taken_;  // never taken
      if (job->finished_ == job->lines.size()) over.push_back(job);
    }
    queue_.clear();
  }
  complete(over);
}

void Batcher::complete(const Jobs& jobs) {
  for (const auto& job : jobs) {
    job->done();
    job->done = nullptr;  // it may own the job
  }
}

Batcher::Taken Batcher::submit(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Taken::closed;
    if (static_cast<int>(queue_.size()) >= most_waiting_) return Taken::full;
    job->prepare();
    queue_.push_back(job);
  }
  wake_.notify_one();
  return Taken::yes;
}

int Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(queue_.size());
}

void Batcher::work() {
  std::unique_lock lock(mutex_);
  std::size_t freed = 0;  // bytes of finished jobs since memory was last returned
  for (int batches = 0;;) {
    const auto ready = [this] { return closed_ || !queue_.empty(); };
    if (batches > 0 && !wake_.wait_for(lock, kIdle, ready)) {
      batches = 0;
      lock.unlock();
      return_memory();
      lock.lock();
    }
    wake_.wait(lock, ready);
    if (queue_.empty()) return;
    if (const auto over = forget_useless(); !over.empty()) {
      lock.unlock();
      complete(over);
      lock.lock();
      continue;
    }
    if (queue_.empty()) continue;
    std::vector<Item> items = take();
    if (!queue_.empty()) wake_.notify_one();  // another thread takes the next share
    // A batch uses all cores only while no other batch runs or waits.
    std::optional<SerialScope> serial;
    if (busy_ > 0 || !queue_.empty()) serial.emplace();
    ++busy_;
    lock.unlock();
    run_in_parts(items);
    freed += finish(items);
    serial.reset();
    if (++batches % kBatchesBetweenTrims == 0 || freed > kMostKept) {
      return_memory();
      freed = 0;
    }
    lock.lock();
    --busy_;
  }
}

// Discards the waiting lines of jobs that have failed or whose clients have disconnected.
Batcher::Jobs Batcher::forget_useless() {
  Jobs over;
  std::erase_if(queue_, [&over](const std::shared_ptr<Job>& job) {
    if (job->error.empty() && !(job->canceled && job->canceled())) return false;
    job->finished_ += job->lines.size() - job->taken_;
    if (job->error.empty()) job->error = "the client has disconnected";
    if (job->finished_ == job->lines.size()) over.push_back(job);
    return true;
  });
  return over;
}

// Takes a fair share for one idle thread: lines in turn from all jobs that may share a batch with the first one.
std::vector<Item> Batcher::take() {
  const std::shared_ptr<Job> first = queue_.front();
  std::size_t waiting = 0;
  for (const auto& job : queue_) waiting += job->lines.size() - job->taken_;
  const auto idle = threads_.size() - static_cast<std::size_t>(busy_);
  const std::size_t most = !processor_.together(*first, *first)
                               ? 1
                               : std::min(kMostLines, (waiting + idle - 1) / std::max<std::size_t>(1, idle));
  std::vector<Item> items;
  for (bool more = true; more && items.size() < most;) {
    more = false;
    for (const auto& job : queue_) {
      if (items.size() == most) break;
      if ((job != first && !processor_.together(*first, *job)) || job->taken_ == job->lines.size()) continue;
      items.push_back({job, job->taken_++});
      more = true;
    }
  }
  std::erase_if(queue_, [](const auto& job) { return job->taken_ == job->lines.size(); });
  // The first job goes to the back if it has lines left.
  if (!queue_.empty() && queue_.front() == first) {
    queue_.pop_front();
    queue_.push_back(first);
  }
  return items;
}

void Batcher::fail(Job& job, std::string error) {
  const std::lock_guard lock(mutex_);
  job.error = std::move(error);
}

void Batcher::release(Job& job, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  job.memory.shrink(job.memory.bytes() - std::min(bytes, job.memory.bytes()));
}

void Batcher::reserve(Job& job, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!job.memory.grow(bytes)) refuse(job);
}

void Batcher::refuse(Job& job) {
  job.error = Job::kNoMemory;
  job.no_memory = true;
}

// Runs as many items at a time as the memory budget allows; every part releases what its results did not need. While
// nothing fits, other threads may still release memory.
void Batcher::run_in_parts(std::vector<Item> left) {
  while (!left.empty()) {
    std::vector<Item> fitting;
    {
      std::unique_lock lock(mutex_);
      std::erase_if(left, [&](const Item& item) {
        if (!item.job->memory.grow(processor_.needs(item))) return false;
        fitting.push_back(item);
        return true;
      });
      if (fitting.empty() && running_ > 0) {
        room_.wait(lock);
        continue;
      }
      if (fitting.empty()) {
        for (const Item& item : left) refuse(*item.job);
        return;
      }
      ++running_;
    }
    run(fitting);
    {
      const std::lock_guard lock(mutex_);
      --running_;
    }
    room_.notify_all();
  }
}

void Batcher::run(std::span<const Item> items) {
  try {
    const BatchTokens done = processor_.run(items, *this);
    metrics_.decoded(name_, static_cast<std::int64_t>(items.size()), done.read, done.written);
  } catch (const std::exception& error) {
    if (items.size() == 1) {
      const std::lock_guard lock(mutex_);
      items[0].job->error = error.what();
      items[0].job->no_memory = dynamic_cast<const OutOfMemory*>(&error) != nullptr;
      items[0].job->invalid = dynamic_cast<const UsageError*>(&error) != nullptr;
      return;
    }
    // One failing line must not fail the others.
    for (std::size_t i = 0; i < items.size(); ++i) run(items.subspan(i, 1));
  }
}

// Completes jobs whose last line is finished; returns the bytes that they held.
std::size_t Batcher::finish(const std::vector<Item>& items) {
  std::size_t freed = 0;
  for (const Item& item : items) {
    Job& job = *item.job;
    {
      const std::lock_guard lock(mutex_);
      if (++job.finished_ < job.lines.size()) continue;
      freed += job.memory.bytes();
    }
    complete({item.job});
  }
  return freed;
}

}  // namespace fovea::server
