// Lines of many requests, worked on together.
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

#include "server/http/budget.hpp"
#include "server/http/metrics.hpp"

namespace fovea::server {

/// What a request wants of a model. Each task derives from it what it wants and what it gets: options for all lines,
/// and a result for each.
struct Job {
  static constexpr const char* kNoMemory = "Slowdown: too much attention is being computed";

  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::vector<std::string> lines;         // each is worked on by itself
  const char* failure = "Cannot answer";  // begins the error that a client is told
  std::string error;                      // when something went wrong
  bool no_memory = false;                 // the error is that the server holds too much already
  Lease memory;                           // of the lines, and of the results as they come
  std::function<bool()> unwanted;         // whether nobody waits for it any more; may be empty
  std::function<void()> done;             // called once, from a thread of the batcher; must not throw

  /// Makes room for a result per line; called when the job is taken.
  virtual void prepare() = 0;
  /// Throws Refusal if something went wrong.
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

/// Accounts for the memory of results, and reports what went wrong with a job, while others work on the same one.
class Desk {
 public:
  virtual ~Desk() = default;
  /// Bytes that a job will hold until its last line is done.
  virtual void hold(Job& job, std::size_t bytes) = 0;
  /// Bytes that it was to hold and does not need.
  virtual void give_back(Job& job, std::size_t bytes) = 0;
  virtual void fail(Job& job, std::string error) = 0;
};

/// What works on lines: a model of any task.
class Worker {
 public:
  virtual ~Worker() = default;

  /// How much was done, for the metrics.
  struct Done {
    std::int64_t read = 0, written = 0;  // tokens
  };
  /// Whether lines of both may stand in one batch; asked of a job and itself, whether its own lines may.
  [[nodiscard]] virtual bool together(const Job& a, const Job& b) const = 0;
  /// What a line's result takes at most, held from before it is worked on; run() gives back what it does not. Nothing
  /// where run() holds it. Does not throw.
  [[nodiscard]] virtual std::size_t needs(const Item& /*item*/) const { return 0; }
  /// Puts the results of the items' lines into their jobs. When it throws, each item is tried alone; what throws then
  /// is its job's error; OutOfMemory: that there is no room for it now.
  virtual Done run(std::span<const Item> items, Desk& desk) const = 0;
};

/// As many threads as there are cores, each of which works on a share of what waits: batches as large as there is work,
/// and no larger than keeps answers prompt. Lines are taken from the waiting jobs in turn, so that a long text does not
/// hold up short ones. A line's result does not depend on what it is worked on with.
class Batcher final : Desk {
 public:
  enum class Taken { yes, full, closed };

  /// `most_waiting`: jobs that may wait; more are refused. The worker must outlive it.
  Batcher(const Worker& worker, std::string name, int most_waiting, Metrics& metrics);
  /// Finishes what it has.
  ~Batcher() override;
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// A job has at least one line.
  [[nodiscard]] Taken submit(const std::shared_ptr<Job>& job);
  [[nodiscard]] int waiting() const;
  /// Ends what waits with an error; only lines that are being worked on are finished.
  void abandon();
  /// Takes no more jobs, finishes those it has.
  void close();

 private:
  void work();
  [[nodiscard]] std::vector<Item> take();                            // under the lock
  [[nodiscard]] std::vector<std::shared_ptr<Job>> forget_useless();  // under the lock: those that are over by it
  void hold(Job& job, std::size_t bytes) override;
  void give_back(Job& job, std::size_t bytes) override;
  void fail(Job& job, std::string error) override;
  static void refuse(Job& job);  // under the lock
  void run_in_parts(std::vector<Item> left);
  void run(std::span<const Item> items);
  std::size_t finish(std::vector<Item> items);

  const Worker& worker_;
  const std::string name_;
  const int most_waiting_;
  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable room_;            // a thread has done what it was at
  std::deque<std::shared_ptr<Job>> queue_;  // jobs with lines that nobody has taken
  int busy_ = 0;                            // threads that work
  int running_ = 0;                         // of them, those whose lines have room
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fovea::server
