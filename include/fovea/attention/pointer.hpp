// Attention whose weights are the output: pointing at the source, and copying from it.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// p(j | i) = softmax_j(v . tanh(W q_i + U k_j))  (pointer networks, Vinyals et al. 2015).
struct Pointer {
  Var w{}, u{};  // [h, dq], [h, dk]
  Var v{};       // [h]

  [[nodiscard]] static Pointer make(std::int64_t query_dim, std::int64_t key_dim, std::int64_t hidden,
                                    std::uint64_t seed);
  /// Probabilities [B, Tq, Tk]. `mask` hides, for example, what was already chosen.
  [[nodiscard]] Var operator()(const Var& query, const Var& key, std::span<const std::int64_t> lengths = {},
                               const Mask& mask = {}) const;
  [[nodiscard]] NamedVars parameters() const { return {{"w", w}, {"u", u}, {"v", v}}; }
};

/// P(word) = g P_vocabulary(word) + (1 - g) sum over the source positions j that hold the word of w_j
/// (pointer-generator, See et al. 2017, eq. 9). vocabulary [B, T, V], gate g [B, T], weights w [B, T, S], source ids [B
/// * S], each 0 to size
/// - 1, negative: padding; gives [B, T, size]. Ids from V on are words that only the source knows: size >= V.
[[nodiscard]] Var copy_mixture(const Var& vocabulary, const Var& gate, const Var& weights,
                               std::span<const std::int64_t> source, std::int64_t size);

/// The gate of the mixture: g = sigmoid(context . w_c + state . w_s + input . w_x + b)  (See et al. 2017, eq. 8).
struct CopyGate {
  Var w_context{}, w_state{}, w_input{};  // [1, d] each
  Var b{};                                // [1]

  [[nodiscard]] static CopyGate make(std::int64_t context_dim, std::int64_t state_dim, std::int64_t input_dim,
                                     std::uint64_t seed);
  /// [B, T, d] each, to [B, T].
  [[nodiscard]] Var operator()(const Var& context, const Var& state, const Var& input) const;
  [[nodiscard]] NamedVars parameters() const {
    return {{"w_context", w_context}, {"w_state", w_state}, {"w_input", w_input}, {"b", b}};
  }
};

/// -mean log p[target] over all rows of probabilities [..., n] whose target is not negative.
[[nodiscard]] Var pointing_loss(const Var& probabilities, std::span<const std::int64_t> targets);

}  // namespace fovea
