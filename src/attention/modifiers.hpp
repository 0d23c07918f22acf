// The score modifiers of one call of attend(), as the kernels call them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

#include "fovea/attention/score_modifier.hpp"
#include "kernels/attention.hpp"

namespace fovea::attention {

/// The list and what went wrong in it. Kernels must not see exceptions: the first is kept and thrown by rethrow().
class Modifiers {
 public:
  Modifiers(ScoreModifiers list, std::int64_t offset);

  explicit operator bool() const { return !list_.empty(); }
  [[nodiscard]] const ScoreModifiers& list() const { return list_; }
  /// Of all modifiers.
  [[nodiscard]] std::size_t parameters() const { return first_.back(); }

  /// What a kernel is given: the modifiers, and where the gradients of their parameters are added to.
  struct Task {
    const Modifiers* all = nullptr;
    float* const* gradients = nullptr;  // of each parameter of each modifier, in order; null where none is wanted
  };
  /// The functions of kernels::ScoreChange, for a `task` that outlives them.
  static void use(kernels::ScoreChange& change, const Task& task);
  /// Throws what a modifier threw, if one did.
  void rethrow() const;

 private:
  static void modify(const void* task, const kernels::ScoreTile& tile, float* scores);
  static void modify_backward(const void* task, const kernels::ScoreTile& tile, const float* before, float* gradient);
  [[nodiscard]] ScoreTile tile_of(const kernels::ScoreTile& tile, float* scores) const;
  void keep(std::exception_ptr error) const;

  ScoreModifiers list_;
  std::vector<std::size_t> first_;  // of each modifier's parameters, and behind them all
  std::int64_t offset_;
  mutable std::atomic<bool> failed_{false};
  mutable std::exception_ptr error_;
};

}  // namespace fovea::attention
