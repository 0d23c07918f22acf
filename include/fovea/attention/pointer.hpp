// Attention whose weights are the output: pointing at the source.
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

/// -mean log p[target] over all rows of probabilities [..., n] whose target is not negative.
[[nodiscard]] Var pointing_loss(const Var& probabilities, std::span<const std::int64_t> targets);

}  // namespace fovea
