// One head of a FusedAttention as the kernels take it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention/tiled/fused.hpp"

namespace fovea::detail {

/// Memory of this thread for `floats` floats, 64-byte aligned, kept until a larger one is asked for.
[[nodiscard]] float* kept_scratch(std::int64_t floats);

/// `task` is what the head's modifiers are given, where the attention has some; it must outlive the head.
using ModifierTask = attention::Modifiers::Task;
[[nodiscard]] kernels::DotHead dot_head(const FusedAttention& attention, std::int64_t b, std::int64_t h,
                                        const ModifierTask& task);
[[nodiscard]] kernels::AdditiveHead additive_head(const FusedAttention& attention, std::int64_t b, std::int64_t h,
                                                  const ModifierTask& task);

// Inlined always: g++ takes a function that does nothing but prefetch for one without effect, and leaves out its calls.
template <class T>
[[gnu::always_inline]] inline void prefetch(const HeadArray<T>& array, std::int64_t b, std::int64_t h,
                                            std::int64_t rows, std::int64_t width) {
  constexpr std::int64_t kLine = 64 / sizeof(float);
  if (array.data == nullptr) return;
  const T* row = array.data + b * array.batch + h * array.head;
  for (std::int64_t r = 0; r < rows; ++r, row += array.row) {
    for (std::int64_t i = 0; i < width; i += kLine) __builtin_prefetch(row + i);
  }
}

/// Asks for the rows of a short head while another is worked on: a short one is over before the machine notices what is
/// read next. A backward pass reads `dout` too.
[[gnu::always_inline]] inline void prefetch_head(const FusedAttention& attention, std::int64_t b, std::int64_t h,
                                                 const HeadArray<const float>& dout = {}) {
  constexpr std::int64_t kFloats = 1024;  // of an array of a head: all of them fit into the first-level cache
  const FusedShape& s = attention.shape;
  if (std::max(s.queries, s.keys) * std::max(s.dim, s.value_dim) > kFloats) return;
  const std::int64_t kh = h / (s.heads / s.key_heads);
  prefetch(attention.q, b, h, s.queries, s.dim);
  prefetch(attention.k, b, kh, s.keys, s.dim);
  prefetch(attention.v, b, kh, s.keys, s.value_dim);
  prefetch(attention.out, b, h, s.queries, s.value_dim);
  prefetch(HeadArray<float>{attention.stats, s.heads * 2 * s.queries, 2 * s.queries, 0}, b, h, 1, 2 * s.queries);
  prefetch(dout, b, h, s.queries, s.value_dim);
}

[[nodiscard]] inline kernels::GradRows grad_rows(const HeadArray<float>& array, std::int64_t b, std::int64_t h) {
  if (array.data == nullptr) return {};
  return {array.data + b * array.batch + h * array.head, array.row, array.add};
}

}  // namespace fovea::detail
