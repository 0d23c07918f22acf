// How long matrix products take, for benchmarks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace fovea::kernels {

/// While `wanted`, every product adds the time it took, on each thread that asked for one.
struct ProductTime {
  std::atomic<bool> wanted{false};
  std::atomic<std::int64_t> nanoseconds{0};
};

inline ProductTime& product_time() {
  static ProductTime time;
  return time;
}

/// Around a product; costs nothing that can be measured unless wanted.
class TimedProduct {
 public:
  TimedProduct() : wanted_(product_time().wanted.load(std::memory_order_relaxed)) {
    if (wanted_) start_ = Clock::now();
  }
  ~TimedProduct() {
    if (!wanted_) return;
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
    product_time().nanoseconds.fetch_add(took, std::memory_order_relaxed);
  }
  TimedProduct(const TimedProduct&) = delete;
  TimedProduct& operator=(const TimedProduct&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  bool wanted_;
  Clock::time_point start_;
};

}  // namespace fovea::kernels
