#include "server/api/batching/task_queue.hpp"

#include <utility>

namespace fovea::server {

TaskQueue::TaskQueue(int threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    close();
    throw;
  }
}

TaskQueue::~TaskQueue() {
  close();
}

void TaskQueue::close() {
  std::deque<std::function<void()>> forgotten;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    forgotten = std::exchange(queue_, {});
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool TaskQueue::submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || queue_.size() >= most_waiting_) return false;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

void TaskQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace fovea::server
