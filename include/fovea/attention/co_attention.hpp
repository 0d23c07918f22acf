// Two sequences, each read in the light of the other.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// What co-attention read of both sequences.
struct CoAttended {
  Var a{}, b{};                  // [B, d_a], [B, d_b]
  Var a_weights{}, b_weights{};  // [B, T_a], [B, T_b]
};

/// Parallel co-attention (Lu et al. 2016, section 3.3): both at once, through the affinity of all pairs.
///   C = tanh(A W B'),  H_a = tanh(A W_a + C (B W_b)),  H_b = tanh(B W_b + C' (A W_a))
///   w_a = softmax(H_a v_a),  w_b = softmax(H_b v_b),  a = w_a A,  b = w_b B
/// C is never stored: each row is a row of attention weights, tanh instead of softmax.
struct ParallelCoAttention {
  Var w{};           // [d_a, d_b]
  Var w_a{}, w_b{};  // [h, d_a], [h, d_b]
  Var v_a{}, v_b{};  // [h]

  [[nodiscard]] static ParallelCoAttention make(std::int64_t dim_a, std::int64_t dim_b, std::int64_t hidden,
                                                std::uint64_t seed);
  /// a [B, T_a, d_a], b [B, T_b, d_b].
  [[nodiscard]] CoAttended operator()(const Var& a, const Var& b, std::span<const std::int64_t> a_lengths = {},
                                      std::span<const std::int64_t> b_lengths = {}) const;
  [[nodiscard]] NamedVars parameters() const;
};

/// Alternating co-attention (Lu et al. 2016, section 3.3): a summary of b guides the reading of a, which guides the
/// reading of b. Each step is attend(x; g): w = softmax(v . tanh(W_x x + W_g g)).
struct AlternatingCoAttention {
  struct Step {
    Var w_x{};  // [h, d_x]
    Var w_g{};  // [h, d_g]; of the first step: a bias row [1, h], there is no guide yet
    Var v{};    // [h]
  };
  Step first{}, second{}, third{};  // b alone; a guided by b; b guided by a

  [[nodiscard]] static AlternatingCoAttention make(std::int64_t dim_a, std::int64_t dim_b, std::int64_t hidden,
                                                   std::uint64_t seed);
  [[nodiscard]] CoAttended operator()(const Var& a, const Var& b, std::span<const std::int64_t> a_lengths = {},
                                      std::span<const std::int64_t> b_lengths = {}) const;
  [[nodiscard]] NamedVars parameters() const;
};

}  // namespace fovea
