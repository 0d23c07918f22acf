// Two sequences that attend to each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of a co-attention.
struct CoAttentionOptions {
  std::int64_t dim_a = 0, dim_b = 0;  // of the two sequences
  std::int64_t hidden = 0;            // h, the width in which both are compared
};

/// Both sequences as one vector each, and the weights.
struct CoAttended {
  Var a{}, b{};                  // [B, d_a], [B, d_b]
  Var a_weights{}, b_weights{};  // [B, T_a], [B, T_b]
};

/// Parallel co-attention (Lu et al. 2016, section 3.3): both at once, through the affinity of all pairs.
///   C = tanh(A W B'),  H_a = tanh(A W_a + C (B W_b)),  H_b = tanh(B W_b + C' (A W_a))
///   w_a = softmax(H_a v_a),  w_b = softmax(H_b v_b),  a = w_a A,  b = w_b B
/// C is never stored: each row is a row of attention weights, tanh instead of softmax.
///
///     const ParallelCoAttention layer(parameters, "match", {.dim_a = 64, .dim_b = 32, .hidden = 48});
///     const CoAttended pair = layer(question, picture, question_lengths);
struct ParallelCoAttention {
  ParallelCoAttention() = default;
  /// Weights NAME.w, NAME.w_a, NAME.w_b, NAME.v_a and NAME.v_b.
  ParallelCoAttention(Parameters& p, const std::string& name, const CoAttentionOptions& options);

  /// a [B, T_a, d_a], b [B, T_b, d_b].
  [[nodiscard]] CoAttended operator()(const Var& a, const Var& b, std::span<const std::int64_t> a_lengths = {},
                                      std::span<const std::int64_t> b_lengths = {}) const;

  Var w{};           // [d_a, d_b]
  Var w_a{}, w_b{};  // [h, d_a], [h, d_b]
  Var v_a{}, v_b{};  // [h]
};

/// Alternating co-attention (Lu et al. 2016, section 3.3): a summary of b guides the attention to a, whose summary
/// guides the attention to b. Each step has the weights softmax(v . tanh(W_x x + W_g g)) over the rows of x.
struct AlternatingCoAttention {
  /// The weights of one of its three attentions.
  struct Step {
    Var w_x{};  // [h, d_x]
    Var w_g{};  // [h, d_g]; of the first step: a bias row [1, h], there is no guide yet
    Var v{};    // [h]
  };

  AlternatingCoAttention() = default;
  /// Weights NAME.first.w_x, NAME.first.w_g, NAME.first.v; the same for second and third.
  AlternatingCoAttention(Parameters& p, const std::string& name, const CoAttentionOptions& options);

  /// a [B, T_a, d_a], b [B, T_b, d_b].
  [[nodiscard]] CoAttended operator()(const Var& a, const Var& b, std::span<const std::int64_t> a_lengths = {},
                                      std::span<const std::int64_t> b_lengths = {}) const;

  Step first{}, second{}, third{};  // b alone; a guided by b; b guided by a
};

}  // namespace fovea
