// How much memory strangers may make the server hold.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace fovea::server {

/// Blocks from here on come from the system one by one and go back to it at once, as run_server() asks for; pages
/// of them that nobody has written to take no memory.
constexpr std::size_t kMappedBytes = std::size_t{256} << 10;

/// Bytes of one kind that are held for all clients together. Threads share it.
class Budget {
 public:
  explicit Budget(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] std::size_t held() const { return held_.load(); }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  /// Three quarters are in use: who is slow must go.
  [[nodiscard]] bool scarce() const { return held() > limit_ / 4 * 3; }

 private:
  friend class Lease;
  bool take(std::size_t bytes) {
    std::size_t before = held_.load();
    do {
      if (bytes > limit_ || before > limit_ - bytes) return false;
    } while (!held_.compare_exchange_weak(before, before + bytes));
    return true;
  }

  const std::size_t limit_;
  std::atomic<std::size_t> held_{0};
};

/// A share of a budget, given back when it goes.
class Lease {
 public:
  Lease() = default;
  explicit Lease(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
  ~Lease() { release(); }
  Lease(Lease&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Lease& operator=(Lease&& other) noexcept {
    if (this != &other) {
      release();
      budget_ = std::move(other.budget_);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// False when the budget has no more; what it has stays.
  [[nodiscard]] bool grow(std::size_t bytes) {
    if (budget_ == nullptr) return true;
    if (!budget_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  /// Gives back all but `bytes`.
  void shrink(std::size_t bytes) {
    if (bytes >= bytes_) return;
    budget_->held_ -= bytes_ - bytes;
    bytes_ = bytes;
  }
  void release() {
    if (budget_ != nullptr) budget_->held_ -= std::exchange(bytes_, 0);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// An empty one of the same budget.
  [[nodiscard]] Lease another() const { return Lease(budget_); }

 private:
  std::shared_ptr<Budget> budget_;
  std::size_t bytes_ = 0;
};

}  // namespace fovea::server
