// A queue of tasks with threads of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fovea::server {

/// Runs what would block the connection thread: parsing requests, detecting languages, training a lesson's model.
class TaskQueue {
 public:
  /// `most_waiting`: tasks in the queue; more are refused.
  TaskQueue(int threads, std::size_t most_waiting);
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Runs tasks in order; a task must not throw. False when the queue is full or closed.
  [[nodiscard]] bool submit(std::function<void()> task);
  /// Finishes the running tasks and discards the queue.
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
