#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attention/rows/rows.hpp"
#include "attention/rows/rows_scratch.hpp"
#include "fovea/attention/interventions.hpp"
#include "fovea/threads.hpp"

namespace fovea::attention {
namespace {

// The `top` largest of a row of weights, the first of equals first. Keys without weight fill up, the lowest first.
void report_top(const Plan& plan, const Block& block, const float* w, float* weight, Int* index) {
  const Int n = plan.top;
  Int count = 0;
  const auto rank_of = [](float x) { return std::isnan(x) ? 2.0F : x; };
  for (Int c = 0; c < block.columns; ++c) {
    const float x = rank_of(w[c]);
    if (!(x > 0) || (count == n && x <= rank_of(weight[n - 1]))) continue;
    Int at = count < n ? count++ : n - 1;
    for (; at > 0 && rank_of(weight[at - 1]) < x; --at) {
      weight[at] = weight[at - 1];
      index[at] = index[at - 1];
    }
    weight[at] = w[c];
    index[at] = block.key(c);
  }
  for (Int j = 0; count < n && j < plan.keys && block.list == nullptr; ++j) {
    const Int c = j - block.low;
    if (c >= 0 && c < block.columns && (w[c] > 0 || std::isnan(w[c]))) continue;
    weight[count] = 0;
    index[count++] = j;
  }
  for (; count < n; ++count) {  // a node with fewer edges
    weight[count] = 0;
    index[count] = -1;
  }
}

void report_weights(const Plan& plan, const Block& block, const Tensor& weights) {
  const Int head = plan.head_slot.empty() ? block.h : plan.head_slot[static_cast<std::size_t>(block.h)];
  if (head < 0) return;
  for (Int r = 0; r < block.rows; ++r) {
    float* row = weight_row(plan, weights, block.b, head, block.first + r);
    if (row == nullptr) continue;
    if (block.list == nullptr) {
      std::fill_n(row, block.low, 0.0F);
      std::fill(row + block.low + block.columns, row + plan.keys, 0.0F);
      row += block.low;
    }
    std::copy_n(block.used + r * block.pitch, block.columns, row);
  }
}

// The block's scores in an array of all pairs; `hidden` where no query of the block reaches.
void report_scores(const Plan& plan, const Block& block, const Tensor& all, float hidden) {
  if (!all) return;
  for (Int r = 0; r < block.rows; ++r) {
    float* row = all.data() + ((block.b * plan.heads + block.h) * plan.queries + block.first + r) * plan.keys;
    std::fill_n(row, plan.keys, hidden);
    std::copy_n(block.scores + r * block.pitch, block.columns, row + block.low);
  }
}

void edit_block(const Plan& plan, const Block& block) {
  for (Int r = 0; r < block.rows; ++r) {
    const auto columns = static_cast<std::size_t>(block.columns);
    plan.editor->edit({block.b, block.h, block.first + r, block.low}, {block.used + r * block.pitch, columns},
                      {block.visible + r * block.pitch, columns});
  }
}

void report(const Plan& plan, const Block& block, const Outputs& out) {
  if (out.weights) report_weights(plan, block, out.weights);
  for (Int r = 0; r < block.rows; ++r) {
    const float* w = block.used + r * block.pitch;
    const Int query = (block.b * plan.heads + block.h) * plan.queries + block.first + r;
    if (out.log_probability) {
      const Int chosen = chosen_column(block.weights + r * block.pitch, block.columns);
      *out.log_probability.at(block.b, block.h, block.first + r) =
          chosen < 0 ? 0.0F : std::log(block.scores[r * block.pitch + chosen]);
    }
    if (out.log_sum) out.log_sum.data()[query] = block.log_sum[r];
    if (out.top_weight) {
      report_top(plan, block, w, out.top_weight.data() + query * plan.top, out.top_index + query * plan.top);
    }
    if (out.column_sums) {
      float* sums = out.column_sums.data() + (block.b * plan.heads + block.h) * plan.keys;
      for (Int c = 0; c < block.columns; ++c) sums[block.key(c)] += w[c];
    }
    if (out.entropy) {
      double entropy = 0;
      for (Int c = 0; c < block.columns; ++c) {
        if (w[c] != 0.0F) entropy -= static_cast<double>(w[c]) * std::log(static_cast<double>(w[c]));
      }
      out.entropy.data()[query] = static_cast<float>(entropy);
    }
  }
}

// Whether anything of the queries first to last of a head is wanted.
bool wanted(const Plan& plan, const Outputs& out, Int h, Int first, Int last) {
  if (out.context || out.log_probability || out.log_sum || out.top_weight || out.column_sums || out.entropy)
    return true;
  if (!plan.head_slot.empty() && plan.head_slot[static_cast<std::size_t>(h)] < 0) return false;
  return plan.row_slot.empty() ||
         std::any_of(plan.row_slot.begin() + first, plan.row_slot.begin() + last, [](Int slot) { return slot >= 0; });
}

}  // namespace

void rows_forward(const Plan& plan, const Outputs& out) {
  if (out.column_sums) out.column_sums.fill(0.0F);
  if (plan.heads == 0 || plan.queries == 0) return;  // however many sequences there are
  const Int blocks = (plan.queries + kRows - 1) / kRows;
  const Int pieces = out.column_sums ? 1 : blocks;  // a head's column sums are gathered in one order
  Ints finite(static_cast<std::size_t>(plan.batch * plan.kv_heads), 1);
  if (out.context) {
    parallel_for(plan.batch * plan.kv_heads, 1, [&](Int begin, Int end) {
      for (Int u = begin; u < end; ++u) {
        const Int b = u / plan.kv_heads;
        finite[static_cast<std::size_t>(u)] =
            static_cast<Int>(all_finite(plan.v, b, u % plan.kv_heads, plan.length(b), plan.value_dim));
      }
    });
  }
  parallel_for(plan.batch * plan.heads * pieces, 1, [&](Int begin, Int end) {
    Scratch scratch;
    for (Int piece = begin; piece < end; ++piece) {
      const Int b = piece / (plan.heads * pieces);
      const Int h = piece / pieces % plan.heads;
      const Int first = pieces == 1 ? 0 : piece % pieces * kRows;
      const Int last = pieces == 1 ? plan.queries : std::min(plan.queries, first + kRows);
      if (!wanted(plan, out, h, first, last)) continue;
      const bool all = finite[static_cast<std::size_t>(b * plan.kv_heads + h / plan.group())] != 0;
      each_block(plan, b, h, first, last, scratch, [&](Block& block) {
        block.finite = all;
        see_block(plan, block);
        score_block(plan, block);
        report_scores(plan, block, out.scores, 0.0F);
        change_block(plan, block);
        bias_block(plan, block);
        report_scores(plan, block, out.masked, -std::numeric_limits<float>::infinity());
        normalize_block(plan, block);
        focus_block(plan, block);
        if (plan.editor != nullptr) edit_block(plan, block);
        report(plan, block, out);
        if (!out.context) return;
        drop_block(plan, block, block.used);
        sum_block(plan, block, out.context.at(b, h, block.first), out.context.row);
      });
    }
  });
  if (plan.modifiers) plan.modifiers->rethrow();
}

}  // namespace fovea::attention
