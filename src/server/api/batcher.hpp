// Lines of many requests, decoded together.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fovea/translator.hpp"
#include "server/http/metrics.hpp"

namespace fovea::server {

/// What a request wants of a model.
struct Job {
  std::vector<std::string> lines;
  TranslateOptions how;
  bool trace = false;  // every layer and head and the beam, instead of a translation

  // The answer: one entry per line. `error` is set instead when something went wrong.
  std::vector<std::vector<Translation>> translations;
  std::vector<TranslationTrace> traces;
  std::string error;
  std::function<void()> done;  // called once, from a thread of the batcher; must not throw

 private:
  friend class Batcher;
  std::size_t taken_ = 0, finished_ = 0;
};

/// As many threads as there are cores, each of which decodes a share of what waits: batches as large as there is work,
/// and no larger than keeps answers prompt. Lines are taken from the waiting jobs in turn, so that a long text does not
/// hold up short ones. A line's result does not depend on what it is decoded with.
class Batcher {
 public:
  enum class Taken { yes, full, closed };

  /// `most_waiting`: jobs that may wait; more are refused.
  Batcher(std::shared_ptr<const Translator> translator, std::string name, int most_waiting, Metrics& metrics);
  /// Finishes what it has.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// A job has at least one line.
  [[nodiscard]] Taken submit(const std::shared_ptr<Job>& job);
  [[nodiscard]] int waiting() const;
  /// Ends what waits with an error; only lines that are being decoded are finished.
  void abandon();
  /// Takes no more jobs, finishes those it has.
  void close();

 private:
  struct Item {
    std::shared_ptr<Job> job;
    std::size_t line;
  };
  void work();
  [[nodiscard]] std::vector<Item> take();  // under the lock
  void decode(const std::vector<Item>& items);
  void trace(const Item& item);
  void fail(Job& job, std::string error);
  void finish(const std::vector<Item>& items);

  const std::shared_ptr<const Translator> translator_;
  const std::string name_;
  const int most_waiting_;
  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;  // jobs with lines that nobody has taken
  int busy_ = 0;                            // threads that decode
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fovea::server
