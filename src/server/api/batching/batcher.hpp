// Batches the lines of many requests for one model.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "server/http/memory_budget.hpp"
#include "server/http/metrics.hpp"

namespace fovea::server {

/// The work of one request for a model. Each task derives a job with the options for all lines and a result per line.
struct Job {
  static constexpr const char* kNoMemory = "Slowdown: too much attention is being computed";

  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::vector<std::string> lines;         // each is an input of its own
  const char* failure = "Cannot answer";  // prefix of the client's error message
  std::string error;                      // why the job failed; empty: it did not
  bool no_memory = false;                 // it failed because the memory budget is used up
  bool invalid = false;                   // it failed because of what the client asked for
  MemoryReservation memory;               // of the lines, and of the results as they arrive
  std::function<bool()> canceled;         // whether the client has disconnected; may be empty
  std::function<void()> done;             // called once, from a thread of the batcher; must not throw

  /// Allocates a result per line; called when the batcher accepts the job.
  virtual void prepare() = 0;
  /// Throws Refusal if the job failed.
  void check() const;

 private:
  friend class Batcher;
  std::size_t taken_ = 0, finished_ = 0;
};

/// A line of a job.
struct Item {
  std::shared_ptr<Job> job;
  std::size_t line;
};

/// What a batch may do to its jobs while other threads work on the same jobs.
class BatchContext {
 public:
  virtual ~BatchContext() = default;
  /// Reserves bytes that the job holds until its last line is finished. Fails the job when the budget is used up.
  virtual void reserve(Job& job, std::size_t bytes) = 0;
  /// Releases bytes that were reserved and are not needed.
  virtual void release(Job& job, std::size_t bytes) = 0;
  virtual void fail(Job& job, std::string error) = 0;
};

/// Tokens that a batch read and wrote, for the metrics.
struct BatchTokens {
  std::int64_t read = 0, written = 0;
};

/// Runs batches of lines: a model of any task.
class BatchProcessor {
 public:
  virtual ~BatchProcessor() = default;

  /// Whether lines of both jobs may share a batch. Called with a job and itself: whether its lines may share one.
  [[nodiscard]] virtual bool together(const Job& a, const Job& b) const = 0;
  /// An upper bound of a line's result in bytes. The batcher reserves it before run(), which releases what the result
  /// does not need. 0 where run() reserves by itself. Does not throw.
  [[nodiscard]] virtual std::size_t needs(const Item& /*item*/) const { return 0; }
  /// Stores the items' results in their jobs. After an exception the batcher runs each item alone; an exception then
  /// fails its job. OutOfMemory means that the memory budget is used up for now.
  virtual BatchTokens run(std::span<const Item> items, BatchContext& context) const = 0;
};

/// Runs a thread per core. Each takes a fair share of the waiting lines, so that batches grow with the load and answers
/// stay prompt. Lines are taken from the waiting jobs in turn: a long text does not delay short ones. A line's result
/// does not depend on the other lines of its batch.
class Batcher final : BatchContext {
 public:
  enum class Taken { yes, full, closed };

  /// `most_waiting`: jobs in the queue; more are refused. The processor must outlive the batcher.
  Batcher(const BatchProcessor& processor, std::string name, int most_waiting, Metrics& metrics);
  /// Finishes all accepted jobs.
  ~Batcher() override;
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// A job has at least one line.
  [[nodiscard]] Taken submit(const std::shared_ptr<Job>& job);
  [[nodiscard]] int waiting() const;
  /// Fails all waiting lines; only lines of running batches are finished.
  void abandon();
  /// Accepts no more jobs and finishes the accepted ones.
  void close();

 private:
  using Jobs = std::vector<std::shared_ptr<Job>>;

  void work();
  [[nodiscard]] std::vector<Item> take();  // under the lock
  [[nodiscard]] Jobs forget_useless();     // under the lock; the jobs that are finished by it
  static void complete(const Jobs& jobs);
  void reserve(Job& job, std::size_t bytes) override;
  void release(Job& job, std::size_t bytes) override;
  void fail(Job& job, std::string error) override;
  static void refuse(Job& job);  // under the lock
  void run_in_parts(std::vector<Item> left);
  void run(std::span<const Item> items);
  std::size_t finish(const std::vector<Item>& items);

  const BatchProcessor& processor_;
  const std::string name_;
  const int most_waiting_;
  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable room_;            // a batch has finished and released memory
  std::deque<std::shared_ptr<Job>> queue_;  // jobs with lines that no thread has taken
  int busy_ = 0;                            // threads with a batch
  int running_ = 0;                         // of them, those with memory for their batch
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fovea::server
