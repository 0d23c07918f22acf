// Attention whose weights are the output: pointing at the source, and copying from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of Pointer.
struct PointerOptions {
  std::int64_t query_dim = 0, key_dim = 0;  // widths of queries and keys
  std::int64_t hidden = 0;                  // h
};

/// p(j | i) = softmax_j(v . tanh(W q_i + U k_j))  (pointer networks, Vinyals et al. 2015).
///
///     const Pointer pointer(parameters, "pointer", {.query_dim = 64, .key_dim = 64, .hidden = 32});
///     const Var loss = pointing_loss(pointer(queries, keys, lengths), targets);
struct Pointer {
  Pointer() = default;
  /// Weights NAME.w, NAME.u and NAME.v.
  Pointer(Parameters& p, const std::string& name, const PointerOptions& options);

  /// Probabilities [B, Tq, Tk]. `mask` hides, for example, what was chosen before.
  [[nodiscard]] Var operator()(const Var& query, const Var& key, std::span<const std::int64_t> lengths = {},
                               const Mask& mask = {}) const;

  Var w{}, u{};  // [h, dq], [h, dk]
  Var v{};       // [h]
};

/// P(word) = g P_vocabulary(word) + (1 - g) sum over the source positions j that hold the word of w_j
/// (pointer-generator, See et al. 2017, eq. 9). vocabulary [B, T, V], gate g [B, T], weights w [B, T, S], source ids [B
/// * S], each below size, negative: padding; gives [B, T, size]. Ids from V on are words that only the source has:
/// size >= V.
[[nodiscard]] Var copy_mixture(const Var& vocabulary, const Var& gate, const Var& weights,
                               std::span<const std::int64_t> source, std::int64_t size);

/// Sizes of CopyGate.
struct CopyGateOptions {
  std::int64_t context_dim = 0, state_dim = 0, input_dim = 0;  // widths of its three inputs
};

/// The gate of the mixture: g = sigmoid(context . w_c + state . w_s + input . w_x + b)  (See et al. 2017, eq. 8).
struct CopyGate {
  CopyGate() = default;
  /// Weights NAME.w_context, NAME.w_state, NAME.w_input and NAME.b.
  CopyGate(Parameters& p, const std::string& name, const CopyGateOptions& options);

  /// [B, T, d] each, to [B, T].
  [[nodiscard]] Var operator()(const Var& context, const Var& state, const Var& input) const;

  Var w_context{}, w_state{}, w_input{};  // [1, d] each
  Var b{};                                // [1]
};

/// -mean log p[target] over all rows of probabilities [..., n] whose target is not negative.
[[nodiscard]] Var pointing_loss(const Var& probabilities, std::span<const std::int64_t> targets);

}  // namespace fovea
