// Limits on the memory that all clients together make the server hold.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace fovea::server {

/// run_server() makes the allocator map blocks of this size and more one by one. They return to the system at once when
/// freed, and pages that were never written take no memory.
constexpr std::size_t kMappedBytes = std::size_t{256} << 10;

/// A limit on bytes of one kind, shared by all clients and threads.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] std::size_t held() const { return held_.load(); }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  /// Whether more than three quarters are in use: slow clients are disconnected sooner then.
  [[nodiscard]] bool scarce() const { return held() > limit_ / 4 * 3; }

 private:
  friend class MemoryReservation;
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

/// Bytes reserved from a budget, released by the destructor.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  explicit MemoryReservation(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ~MemoryReservation() { release(); }
  MemoryReservation(MemoryReservation&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    if (this != &other) {
      release();
      budget_ = std::move(other.budget_);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;

  /// False when the budget has too little left; the reservation is unchanged then.
  [[nodiscard]] bool grow(std::size_t bytes) {
    if (budget_ == nullptr) return true;
    if (!budget_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  /// Releases all but `bytes`.
  void shrink(std::size_t bytes) {
    if (bytes >= bytes_) return;
    budget_->held_ -= bytes_ - bytes;
    bytes_ = bytes;
  }
  void release() {
    if (budget_ != nullptr) budget_->held_ -= std::exchange(bytes_, 0);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// An empty reservation from the same budget.
  [[nodiscard]] MemoryReservation sibling() const { return MemoryReservation(budget_); }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::size_t bytes_ = 0;
};

}  // namespace fovea::server
