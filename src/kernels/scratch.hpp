// Buffers that a thread keeps for as long as it lives, so that kernels' callers need no allocation.
#pragma once

#include <cstddef>

#include "base/arena.hpp"

namespace fovea::kernels {

/// Grows and never shrinks; the values do not survive a call of get().
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { arena_release(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// At least `count` floats, 64-byte aligned.
  [[nodiscard]] float* get(std::size_t count) {
    if (count > count_) {
      arena_release(memory_);
      memory_ = nullptr;
      count_ = 0;
      memory_ = arena_allocate(count * sizeof(float));
      count_ = count;
    }
    return static_cast<float*>(memory_);
  }

 private:
  void* memory_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace fovea::kernels
