#include <algorithm>

#include "attention/tiled/fused_heads.hpp"
#include "fovea/tensor.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"

namespace fovea {

void fused_weights(const FusedAttention& attention, const FusedWeights& wanted) {
  const auto& kernel = *kernels::active().attention;
  const FusedShape& s = attention.shape;
  const std::int64_t rows = wanted.rows.end - wanted.rows.begin;
  const std::int64_t heads = s.batch * s.heads;
  if (rows <= 0 || heads == 0) {
    if (wanted.column_sums != nullptr) std::fill(wanted.column_sums, wanted.column_sums + heads * s.keys, 0.0F);
    return;
  }
  const std::int64_t scratch = kernel.scratch(s.keys, s.dim, s.value_dim);
  // Each task sums columns in a row of its own; at most 16 tasks per head keep that linear.
  const std::int64_t task_rows = std::max<std::int64_t>(128, (rows + 16 * 64 - 1) / (16 * 64) * 64);
  const std::int64_t per_head = (rows + task_rows - 1) / task_rows;
  const detail::ModifierTask modifiers{attention.modifiers, nullptr};
  Tensor sums;
  if (wanted.column_sums != nullptr) sums = Tensor::zeros({heads, per_head, s.keys});
  parallel_for(heads * per_head, 1, [&](std::int64_t begin, std::int64_t end) {
    float* memory = detail::kept_scratch(scratch);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t head = task / per_head;
      const std::int64_t first = task % per_head * task_rows;  // of the rows wanted
      const std::int64_t at = head * rows + first;
      kernels::WeightsWanted w;
      if (wanted.weights != nullptr) w.weights = wanted.weights + at * s.keys;
      w.weights_stride = s.keys;
      w.top = wanted.top;
      if (wanted.top_index != nullptr) w.top_index = wanted.top_index + at * wanted.top;
      if (wanted.top_weight != nullptr) w.top_weight = wanted.top_weight + at * wanted.top;
      if (wanted.entropy != nullptr) w.entropy = wanted.entropy + at;
      if (sums) w.column_sums = sums.data() + task * s.keys;
      const kernels::Range range{wanted.rows.begin + first, wanted.rows.begin + std::min(first + task_rows, rows)};
      if (attention.w == nullptr) {
        kernel.dot_weights(detail::dot_head(attention, head / s.heads, head % s.heads, modifiers), w, range, memory);
      } else {
        kernel.additive_weights(detail::additive_head(attention, head / s.heads, head % s.heads, modifiers), w, range,
                                memory);
      }
    }
  });
  if (!sums) return;
  parallel_for(heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t head = begin; head < end; ++head) {
      float* to = wanted.column_sums + head * s.keys;
      std::fill(to, to + s.keys, 0.0F);
      for (std::int64_t part = 0; part < per_head; ++part) {
        const float* from = sums.data() + (head * per_head + part) * s.keys;
        for (std::int64_t j = 0; j < s.keys; ++j) to[j] += from[j];
      }
    }
  });
}

}  // namespace fovea
