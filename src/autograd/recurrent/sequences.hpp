// Sequences of unequal length in one padded array, and the positions of their rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "fovea/tensor.hpp"

namespace fovea {

/// The layout of a batch: rows in the user's padded array, rows in compact arrays that hold no padding, and chunks of
/// sequences that one thread carries through all time steps. A chunk is sorted longest first, so that the
/// sequences that are still running at a step are adjacent.
class Sequences {
 public:
  /// Throws ShapeError naming `op` unless there are no or `batch` lengths, each 0 to `steps`.
  Sequences(const char* op, std::int64_t batch, std::int64_t steps, std::span<const std::int64_t> lengths,
            bool time_major);

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }  // without padding
  [[nodiscard]] std::int64_t length(std::int64_t b) const { return length_[static_cast<std::size_t>(b)]; }
  /// Whether there is no padding: then compact rows are the user's rows.
  [[nodiscard]] bool dense() const { return rows_ == batch_ * steps_; }

  [[nodiscard]] std::int64_t user_row(std::int64_t b, std::int64_t t) const {
    return time_major_ ? t * batch_ + b : b * steps_ + t;
  }
  [[nodiscard]] std::int64_t row(std::int64_t b, std::int64_t t) const {
    return dense() ? user_row(b, t) : start_[static_cast<std::size_t>(b)] + t;
  }

  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  [[nodiscard]] std::span<const std::int32_t> chunk(std::int64_t c) const;

  /// How many of a chunk's first `count` sequences, which are sorted longest first, are still running at `step`.
  [[nodiscard]] std::int64_t running(std::span<const std::int32_t> chunk, std::int64_t count, std::int64_t step) const {
    while (count > 0 && length(chunk[static_cast<std::size_t>(count - 1)]) <= step) --count;
    return count;
  }

  /// The rows of `padded` [any, width] without padding: itself when dense, else a compact copy [rows(), width].
  [[nodiscard]] Tensor compact(const Tensor& padded) const;
  /// Writes or adds compact rows to the user's; writing puts zeros where there is padding.
  void expand(const Tensor& compact, const Tensor& padded, bool add) const;

 private:
  template <class T>
  using Vector = std::vector<T, ArenaAllocator<T>>;

  std::int64_t batch_;
  std::int64_t steps_;
  std::int64_t rows_ = 0;
  std::int64_t chunks_ = 0;
  std::int64_t per_chunk_ = 0;
  bool time_major_;
  Vector<std::int64_t> length_;
  Vector<std::int64_t> start_;
  Vector<std::int32_t> order_;
};

}  // namespace fovea
