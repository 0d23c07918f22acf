#include "server/api/batcher.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/arena.hpp"
#include "base/serial_scope.hpp"
#include "fovea/threads.hpp"

namespace fovea::server {
namespace {

// Lines decoded together: more would not be faster, and the first answers would wait for the last.
constexpr std::size_t kMostLines = 64;

// Batches come in all sizes, and what each size needed is kept for the next of its kind. Now and then that is given
// back, and when there is nothing to do.
constexpr int kBatchesBetweenTrims = 200;
constexpr std::chrono::seconds kIdle(10);

void give_memory_back() {
  arena_trim();
  (void)::malloc_trim(0);
}

// Without the end of sequence.
std::int64_t tokens_of(const std::vector<std::string>& tokens) {
  return tokens.empty() ? 0 : static_cast<std::int64_t>(tokens.size()) - 1;
}

bool together(const Job& a, const Job& b) {
  return !a.trace && !b.trace && a.how.beam == b.how.beam && a.how.n_best == b.how.n_best &&
         a.how.attention == b.how.attention && a.how.merge_words == b.how.merge_words;
}

}  // namespace

Batcher::Batcher(std::shared_ptr<const Translator> translator, std::string name, int most_waiting, Metrics& metrics)
    : translator_(std::move(translator)), name_(std::move(name)), most_waiting_(most_waiting), metrics_(metrics) {
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
  std::vector<std::shared_ptr<Job>> over;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& job : queue_) {
      job->error = "the server is stopping";
      job->finished_ += job->lines.size() - job->taken_;  // nobody will decode these
      if (job->finished_ == job->lines.size()) over.push_back(job);
    }
    queue_.clear();
  }
  for (const auto& job : over) {
    job->done();
    job->done = nullptr;
  }
}

Batcher::Taken Batcher::submit(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Taken::closed;
    if (static_cast<int>(queue_.size()) >= most_waiting_) return Taken::full;
    job->translations.resize(job->trace ? 0 : job->lines.size());
    job->traces.resize(job->trace ? job->lines.size() : 0);
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
  for (int batches = 0;;) {
    const auto ready = [this] { return closed_ || !queue_.empty(); };
    if (batches > 0 && !wake_.wait_for(lock, kIdle, ready)) {
      batches = 0;
      lock.unlock();
      give_memory_back();
      lock.lock();
    }
    wake_.wait(lock, ready);
    if (queue_.empty()) return;
    const std::vector<Item> items = take();
    if (!queue_.empty()) wake_.notify_one();  // there is more than one share: the next thread takes its own
    // Alone and with nothing else to come, a batch may have all cores; else each has its own.
    std::optional<SerialScope> serial;
    if (busy_ > 0 || !queue_.empty()) serial.emplace();
    ++busy_;
    lock.unlock();
    if (items[0].job->trace) {
      trace(items[0]);
    } else {
      decode(items);
    }
    finish(items);
    serial.reset();
    if (++batches % kBatchesBetweenTrims == 0) give_memory_back();
    lock.lock();
    --busy_;
  }
}

// A fair share for each idle thread: a line of each job in turn, of those that can be decoded with the first one.
std::vector<Batcher::Item> Batcher::take() {
  const std::shared_ptr<Job> first = queue_.front();
  std::size_t waiting = 0;
  for (const auto& job : queue_) waiting += job->lines.size() - job->taken_;
  const auto idle = threads_.size() - static_cast<std::size_t>(busy_);
  const std::size_t most =
      first->trace ? 1 : std::min(kMostLines, (waiting + idle - 1) / std::max<std::size_t>(1, idle));
  std::vector<Item> items;
  for (bool more = true; more && items.size() < most;) {
    more = false;
    for (const auto& job : queue_) {
      if (items.size() == most) break;
      if ((job != first && !together(*first, *job)) || job->taken_ == job->lines.size()) continue;
      items.push_back({job, job->taken_++});
      more = true;
    }
  }
  std::erase_if(queue_, [](const auto& job) { return job->taken_ == job->lines.size(); });
  // A job that needs more than one round goes behind those that have not had any.
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

void Batcher::decode(const std::vector<Item>& items) {
  std::vector<std::string> lines;
  lines.reserve(items.size());
  for (const Item& item : items) lines.push_back(item.job->lines[item.line]);
  try {
    auto results = translator_->translate(lines, items[0].job->how);
    std::int64_t read = 0;
    std::int64_t written = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      Job& job = *items[i].job;
      if (results[i].empty()) {
        fail(job, "the model gave no output");
        continue;
      }
      read += tokens_of(results[i][0].source_tokens);
      written += tokens_of(results[i][0].target_tokens);
      job.translations[items[i].line] = std::move(results[i]);
    }
    metrics_.decoded(name_, static_cast<std::int64_t>(items.size()), read, written);
  } catch (const std::exception& error) {
    if (items.size() == 1) {
      fail(*items[0].job, error.what());
      return;
    }
    for (const Item& item : items) decode({item});  // so that one that cannot be decoded costs no other its answer
  }
}

void Batcher::trace(const Item& item) {
  Job& job = *item.job;
  try {
    job.traces[item.line] = translator_->trace(job.lines[item.line], job.how);
    const Translation& t = job.traces[item.line].translation;
    metrics_.decoded(name_, 1, tokens_of(t.source_tokens), tokens_of(t.target_tokens));
  } catch (const std::exception& error) {
    fail(job, error.what());
  }
}

void Batcher::finish(const std::vector<Item>& items) {
  for (const Item& item : items) {
    Job& job = *item.job;
    {
      const std::lock_guard lock(mutex_);
      if (++job.finished_ < job.lines.size()) continue;
    }
    job.done();
    job.done = nullptr;  // it may hold the job
  }
}

}  // namespace fovea::server
