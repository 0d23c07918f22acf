// What the forward and the backward by rows share: the walk over a head's blocks and its memory.
#pragma once

#include <algorithm>

#include "attention/rows/rows.hpp"

namespace fovea::attention {

/// One thread's memory for a block, grown as blocks need it.
struct Scratch {
  Tensor floats, bytes, panel;

  static float* grown(Tensor& t, Int n) {
    if (!t || t.size() < n) t = Tensor::empty({n});
    return t.data();
  }
};

/// Whether rows 0 to `rows` of a head hold neither NaN nor infinity.
[[nodiscard]] inline bool all_finite(const View& view, Int b, Int h, Int rows, Int width) {
  if (!view) return true;
  float part[8] = {};  // x * 0 is 0, or NaN
  for (Int t = 0; t < rows; ++t) {
    const float* x = view.at(b, h, t);
    Int i = 0;
    for (; i + 8 <= width; i += 8) {
      for (Int lane = 0; lane < 8; ++lane) part[lane] += x[i + lane] * 0.0F;
    }
    for (; i < width; ++i) part[0] += x[i] * 0.0F;
  }
  float sum = 0;
  for (const float p : part) sum += p;
  return sum == 0.0F;
}

/// The row of a [B, heads, rows, Tk] or [B, heads, E] tensor of weights for query i, or null when it was not chosen.
[[nodiscard]] inline float* weight_row(const Plan& plan, const Tensor& weights, Int b, Int head_slot, Int i) {
  if (plan.has_edges()) {
    const auto edges = static_cast<Int>(plan.edge_column.size());
    return weights.data() + (b * plan.weight_heads + head_slot) * edges + plan.edge_start[static_cast<std::size_t>(i)];
  }
  const Int row = plan.row_slot.empty() ? i : plan.row_slot[static_cast<std::size_t>(i)];
  if (row < 0) return nullptr;
  return weights.data() + ((b * plan.weight_heads + head_slot) * plan.weight_rows + row) * plan.keys;
}

/// Calls body(block) for the blocks of queries first to last of one head; with edges a block is one query and its
/// keys and values are gathered. The arrays are not yet filled.
template <class Body>
void each_block(const Plan& plan, Int b, Int h, Int first, Int last, Scratch& scratch, Body&& body) {
  const Int kv = h / plan.group();
  const Int step = plan.has_edges() ? 1 : kRows;
  for (Int i = first; i < last; i += step) {
    Block block{.b = b, .h = h, .first = i, .rows = std::min(step, last - i)};
    if (plan.has_edges()) {
      const Int begin = plan.edge_start[static_cast<std::size_t>(i)];
      block.columns = plan.edge_start[static_cast<std::size_t>(i) + 1] - begin;
      block.list = plan.edge_column.data() + begin;
      float* panel = Scratch::grown(scratch.panel, std::max<Int>(1, block.columns * (plan.key_dim + plan.value_dim)));
      block.k = panel;
      block.v = panel + block.columns * plan.key_dim;
      block.k_row = plan.key_dim;
      block.v_row = plan.value_dim;
      for (Int c = 0; c < block.columns; ++c) {
        std::copy_n(plan.k.at(b, kv, block.list[c]), plan.key_dim, panel + c * plan.key_dim);
        std::copy_n(plan.v.at(b, kv, block.list[c]), plan.value_dim,
                    panel + block.columns * plan.key_dim + c * plan.value_dim);
      }
    } else {
      Int high = 0;
      reach(plan, b, h, i, &block.low, &high);
      block.columns = high - block.low;
      block.k = plan.k.at(b, kv, block.low);
      block.v = plan.v.at(b, kv, block.low);
      block.k_row = plan.k.row;
      block.v_row = plan.v.row;
    }
    block.pitch = std::max<Int>(16, (block.columns + 15) / 16 * 16);
    const Int size = step * block.pitch;
    float* floats = Scratch::grown(scratch.floats, 5 * size + kRows);
    block.scores = floats;
    block.weights = floats + size;
    block.gradient = floats + 2 * size;
    block.used = plan.gaussian || plan.dropout > 0 ? floats + 3 * size : block.weights;
    block.before = floats + 4 * size;
    block.log_sum = floats + 5 * size;
    block.visible = reinterpret_cast<std::uint8_t*>(Scratch::grown(scratch.bytes, size / 4));
    body(block);
  }
}

}  // namespace fovea::attention
