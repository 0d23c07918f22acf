// Threads that play the processes of a job.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/processes.hpp"

namespace fovea::test {

/// Messages on their way.
class Post {
 public:
  void put(int channel, int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{channel, from, to}].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  bool has(int channel, int from, int to, std::size_t count) {
    const std::lock_guard lock(mutex_);
    return boxes_[{channel, from, to}].size() >= count;
  }
  void take(int channel, int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{channel, from, to}];
    arrived_.wait(lock, [&box] { return !box.empty(); });
    ASSERT_EQ(box.front().size(), bytes.size());
    std::copy(box.front().begin(), box.front().end(), bytes.begin());
    box.pop_front();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> boxes_;
};

class ThreadProcesses final : public Processes {
 public:
  ThreadProcesses(Post& post, int rank, int count) : post_(post), rank_(rank), count_(count) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }
  [[nodiscard]] int start(int channel, std::span<const Outgoing> send, std::span<const Incoming> receive) override {
    for (const Outgoing& message : send) {
      sent += static_cast<std::int64_t>(message.bytes.size());
      post_.put(channel, rank_, message.to, message.bytes);
    }
    started_.push_back({channel, {receive.begin(), receive.end()}});
    return static_cast<int>(started_.size()) - 1;
  }
  [[nodiscard]] bool done(int ticket) override {
    Started& one = started_[static_cast<std::size_t>(ticket)];
    std::map<int, std::size_t> wanted;
    for (const Incoming& message : one.receive) ++wanted[message.from];
    for (const auto& [from, count] : wanted) {
      if (!post_.has(one.channel, from, rank_, count)) return false;
    }
    wait(ticket);
    return true;
  }
  void wait(int ticket) override {
    Started& one = started_[static_cast<std::size_t>(ticket)];
    for (const Incoming& message : one.receive) post_.take(one.channel, message.from, rank_, message.bytes);
    one.receive.clear();
  }
  std::int64_t sent = 0;  // bytes

 private:
  struct Started {
    int channel;
    std::vector<Incoming> receive;
  };
  Post& post_;
  int rank_, count_;
  std::vector<Started> started_;
};

/// Calls body(processes) in each of `count` processes, and waits for all.
inline void in_processes(int count, const std::function<void(ThreadProcesses&)>& body) {
  Post post;
  std::vector<std::thread> all;
  for (int rank = 0; rank < count; ++rank) {
    all.emplace_back([&, rank] {
      ThreadProcesses own(post, rank, count);
      body(own);
    });
  }
  for (std::thread& one : all) one.join();
}

}  // namespace fovea::test
