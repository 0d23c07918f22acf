// One call of attend(), resolved: sizes, the layout of every array, what was chosen. Both paths, fused and by rows,
// read it; the backward keeps it.
//
// Letters: B batch, H heads, G = H / kv_heads query heads per key head, Tq queries, Tk keys, d width of query and key
// after the score's transformation, dv width of the values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/modifiers.hpp"
#include "attention/visibility.hpp"
#include "base/arena.hpp"
#include "fovea/attention/attend.hpp"

namespace fovea::attention {

using Int = std::int64_t;

/// Rows of one array: row t of head h of sequence b is at data + b * batch + h * head + t * row.
struct View {
  float* data = nullptr;
  Int batch = 0, head = 0, row = 0;

  [[nodiscard]] float* at(Int b, Int h, Int t = 0) const { return data + b * batch + h * head + t * row; }
  explicit operator bool() const { return data != nullptr; }

  /// Of a tensor [B, heads, T, d], [B, T, heads * d], or [T, heads * d] for all sequences; its last axis is packed.
  static View of(const Tensor& t, Int heads) {
    const Int width = t.dim(-1) / heads;
    if (t.rank() == 2) return {t.data(), 0, width, t.stride(0)};
    if (t.rank() == 3) return {t.data(), t.stride(0), width, t.stride(1)};
    return {t.data(), t.stride(0), t.stride(1), t.stride(2)};
  }
};

/// The scores everything comes down to.
enum class Kind {
  dot,       // scale q . k
  additive,  // w . activation(q + k)
  pairwise,  // the user's, by pair
  block,     // the user's, by block
};

/// What gradients can flow into. Parameters of a block score follow from `parameters` on, then those of modifiers.
enum Input : int {
  query,
  key,
  value,
  vector,
  bias,
  distance_bias,
  row_term,
  sink,
  alphas,
  shaw_keys,
  shaw_values,
  centers,
  parameters
};

using Ints = std::vector<Int, ArenaAllocator<Int>>;

struct Plan final : detail::Counted {
  Int batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, dim = 0, key_dim = 0, value_dim = 0;

  Kind kind = Kind::dot;
  float scale = 1;
  Activation activation = Activation::tanh;
  score::Pairwise pairwise;
  score::Block block;
  float softcap = 0;
  std::optional<Modifiers> modifiers;  // what they need to be called; empty: none
  std::size_t first_modifier_input = 0;
  Normalizer normalizer;
  float temperature = 1;

  Tensor q_holder, k_holder, v_holder, w_holder, bias_holder, shaw_k_holder, shaw_v_holder, center_holder,
      alibi;           // [H]
  Ints length_holder;  // [B] or empty
  Mask mask_holder;    // all of these own the memory of:
  View q, k, v;
  const float* w = nullptr;  // [dim] of the additive score
  Visibility visibility;
  View row_term;        // one value per query; row = 1
  Tensor sinks;         // [H]
  Tensor alphas;        // [H], of entmax where they are learned
  View shaw_k, shaw_v;  // rows 0 to 2K
  Int shaw_reach = 0;   // K
  bool local = false, gaussian = false;
  Int half_width = 0;
  View center;                   // one value per query
  BlockMask blocks;              // owns the memory of visibility.blocks
  Ints edge_start, edge_column;  // CSR or empty
  float dropout = 0;
  std::uint64_t dropout_seed = 0;

  // What is reported of the weights.
  bool want_weights = false;
  Ints row_slot, head_slot;  // where a chosen row or head goes, -1 for the others; empty: all in order
  Int weight_rows = 0, weight_heads = 0;
  Int top = 0;
  bool want_column_sums = false, want_entropy = false, want_scores = false, want_log_sum = false;
  const WeightEditor* editor = nullptr;

  Int packed_heads = 1, packed_kv_heads = 1;  // heads side by side in rows of q and context, of k and v
  bool location = false;                      // k is a table [L, d] for all sequences and heads

  [[nodiscard]] View query_view(const Tensor& t) const { return View::of(t, packed_heads); }
  [[nodiscard]] View key_view(const Tensor& t) const {
    return location ? View{t.data(), 0, 0, t.stride(0)} : View::of(t, packed_kv_heads);
  }
  [[nodiscard]] View value_view(const Tensor& t) const { return View::of(t, packed_kv_heads); }

  std::vector<Var, ArenaAllocator<Var>> inputs;  // by Input; empty Vars where not used

  [[nodiscard]] Int group() const { return heads / kv_heads; }
  [[nodiscard]] Int length(Int b) const { return visibility.lengths == nullptr ? keys : visibility.lengths[b]; }
  /// Whether scores are changed between scale and biases.
  [[nodiscard]] bool changes_scores() const { return softcap > 0 || modifiers.has_value(); }
  [[nodiscard]] bool has_edges() const { return !edge_start.empty(); }
  [[nodiscard]] bool sampled() const { return std::holds_alternative<normalizer::Sampled>(normalizer); }
  [[nodiscard]] const Var& input(int which) const { return inputs[static_cast<std::size_t>(which)]; }
  [[nodiscard]] bool wants_grad(int which) const { return input(which) && input(which).requires_grad(); }
};

/// What forward fills. Empty views are not wanted.
struct Outputs {
  View context{};    // rows of dv
  Tensor weights{};  // [B, weight_heads, weight_rows, Tk], or [B, weight_heads, E] with edges
  View log_probability{};
  Tensor log_sum{};     // [B, H, Tq]
  Tensor top_weight{};  // [B, H, Tq, top]
  Int* top_index = nullptr;
  Tensor column_sums{};       // [B, H, Tk]
  Tensor entropy{};           // [B, H, Tq]
  Tensor scores{}, masked{};  // [B, H, Tq, Tk]
};

}  // namespace fovea::attention
