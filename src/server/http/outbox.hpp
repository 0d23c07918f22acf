// Passes responses from any thread to the connection thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "fovea/error.hpp"
#include "server/http/request.hpp"

namespace fovea::server {

class Outbox {
 public:
  struct Answer {
    std::uint64_t connection;
    Response response;
  };

  Outbox() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (event_ < 0) throw Error("server: no file descriptor is left");
  }
  ~Outbox() { ::close(event_); }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  void push(Answer answer) {
    {
      const std::lock_guard lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    wake();
  }
  [[nodiscard]] std::vector<Answer> take() {
    std::uint64_t count = 0;
    (void)!::read(event_, &count, sizeof(count));
    const std::lock_guard lock(mutex_);
    return std::exchange(answers_, {});
  }
  void wake() const {
    const std::uint64_t one = 1;
    (void)!::write(event_, &one, sizeof(one));
  }
  [[nodiscard]] int event() const { return event_; }  // a file descriptor, readable when there are answers

 private:
  const int event_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
};

/// The Reply to one request of one connection.
class Exchange final : public Reply {
 public:
  Exchange(std::shared_ptr<Outbox> outbox, std::shared_ptr<MemoryBudget> budget, std::uint64_t connection)
      : outbox_(std::move(outbox)), budget_(std::move(budget)), connection_(connection) {}

  void with(Response response) override {
    if (answered_.exchange(true) || gone_) return;
    // Small responses are not accounted for, so that an error can always be sent.
    constexpr std::size_t small = 4096;
    // The unused capacity of a long string takes no memory, that of a short one does.
    if (response.body.size() < kMappedBytes) response.body.shrink_to_fit();
    const std::size_t bytes = response.body.size() > small ? response.body.size() : 0;
    if (response.memory.bytes() == 0) response.memory = MemoryReservation(budget_);
    response.memory.shrink(bytes);
    if (!response.memory.grow(bytes - response.memory.bytes())) {
      response = {503, R"({"error":"Slowdown: too many answers wait for their clients"})", "application/json",
                  std::move(response.headers)};
      response.headers.emplace_back("Retry-After", "2");
    }
    outbox_->push({connection_, std::move(response)});
  }
  [[nodiscard]] bool gone() const override { return gone_; }
  void leave() { gone_ = true; }

 private:
  const std::shared_ptr<Outbox> outbox_;
  const std::shared_ptr<MemoryBudget> budget_;
  const std::uint64_t connection_;
  std::atomic<bool> answered_{false};
  std::atomic<bool> gone_{false};
};

}  // namespace fovea::server
