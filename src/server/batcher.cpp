#include "server/batcher.hpp"

#include <algorithm>

#include "fovea/threads.hpp"

namespace fovea::server {
namespace {

// Lines decoded together by each thread: more would not be faster, and the first answers would wait for the last.
constexpr std::size_t kLinesPerThread = 64;

bool together(const Job& a, const Job& b) {
  return !a.look && !b.look && a.how.search.beam == b.how.search.beam && a.how.search.n_best == b.how.search.n_best &&
         a.how.search.want_attention == b.how.search.want_attention && a.how.merge_words == b.how.merge_words;
}

}  // namespace

Batcher::Batcher(std::shared_ptr<const Translator> translator, std::string name, int most_waiting, Metrics& metrics)
    : translator_(std::move(translator)),
      name_(std::move(name)),
      most_waiting_(most_waiting),
      metrics_(metrics),
      thread_([this] { work(); }) {}

Batcher::~Batcher() {
  close();
}

void Batcher::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Batcher::Taken Batcher::submit(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Taken::closed;
    if (static_cast<int>(queue_.size()) >= most_waiting_) return Taken::full;
    job->translations.resize(job->look ? 0 : job->lines.size());
    job->looks.resize(job->look ? job->lines.size() : 0);
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
  for (;;) {
    std::vector<Item> items;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty()) return;
      items = take();
    }
    if (items[0].job->look) {
      look(items[0]);
    } else {
      decode(items);
    }
    finish(items);
  }
}

// A line of each job in turn, of those that can be decoded with the first one. Under the lock.
std::vector<Batcher::Item> Batcher::take() {
  const std::shared_ptr<Job> first = queue_.front();
  const std::size_t most = first->look ? 1 : kLinesPerThread * static_cast<std::size_t>(threads());
  std::vector<Item> items;
  for (bool more = true; more && items.size() < most;) {
    more = false;
    for (const auto& job : queue_) {
      if (items.size() == most) break;
      if ((job != first && !together(*first, *job)) || job->taken == job->lines.size()) continue;
      items.push_back({job, job->taken++});
      more = true;
    }
  }
  std::erase_if(queue_, [](const auto& job) { return job->taken == job->lines.size(); });
  // A job that needs more than one round goes behind those that have not had any.
  if (!queue_.empty() && queue_.front() == first) {
    queue_.pop_front();
    queue_.push_back(first);
  }
  return items;
}

void Batcher::decode(const std::vector<Item>& items) {
  std::vector<std::string> lines;
  for (const Item& item : items) lines.push_back(item.job->lines[item.line]);
  try {
    auto results = translator_->translate(lines, items[0].job->how);
    std::int64_t read = 0;
    std::int64_t written = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      Job& job = *items[i].job;
      if (results[i].empty()) {
        job.error = "the model gave no output";
        continue;
      }
      read += results[i][0].tokens_read;
      written += results[i][0].tokens_written;
      job.translations[items[i].line] = std::move(results[i]);
    }
    metrics_.decoded(name_, static_cast<std::int64_t>(items.size()), read, written);
  } catch (const std::exception& error) {
    if (items.size() == 1) {
      items[0].job->error = error.what();
      return;
    }
    for (const Item& item : items) decode({item});  // so that one that cannot be decoded costs no other its answer
  }
}

void Batcher::look(const Item& item) {
  Job& job = *item.job;
  try {
    job.looks[item.line] = translator_->look(job.lines[item.line], job.how);
    const Translation& t = job.looks[item.line].translation;
    metrics_.decoded(name_, 1, t.tokens_read, t.tokens_written);
  } catch (const std::exception& error) {
    job.error = error.what();
  }
}

void Batcher::finish(const std::vector<Item>& items) {
  for (const Item& item : items) {
    Job& job = *item.job;
    if (++job.finished < job.lines.size()) continue;
    job.done();
    job.done = nullptr;  // it may hold the job
  }
}

}  // namespace fovea::server
