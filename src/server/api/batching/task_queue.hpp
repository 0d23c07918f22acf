// Threads for what takes too long on the one that has the connections.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fovea::server {

/// Reads requests: their JSON, their language, their sentences.
class Workers {
 public:
  /// `most_waiting`: tasks that may wait; more are refused.
  Workers(int threads, std::size_t most_waiting);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs it soon, in order; it must not throw. False when too many wait, or it is closed.
  [[nodiscard]] bool submit(std::function<void()> task);
  /// Finishes what has begun and forgets the rest.
  void close();

 private:
  void work();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fovea::server
