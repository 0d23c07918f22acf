// Attention on a graph.
#pragma once

#include <cstdint>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// Graph attention (Velickovic et al. 2018): h = x W, and for every head
///   w_ij = softmax over the edges i -> j of LeakyReLU(a . [h_i; h_j]),  y_i = sum_j w_ij h_j
/// Heads stand side by side in the result; nonlinearity and average are the caller's.
struct GraphAttention {
  Var w{};                     // [d, heads * out]
  Var a_target{}, a_source{};  // [heads, out] each: the halves of a
  std::int64_t heads = 1;

  [[nodiscard]] static GraphAttention make(std::int64_t dim, std::int64_t out, std::int64_t heads, std::uint64_t seed);
  /// x [nodes, d] to context [1, nodes, heads * out]; weights, when wanted, [1, heads, edges].
  [[nodiscard]] Attended operator()(const Var& x, const Edges& edges, const WeightsRequest& want = {}) const;
  [[nodiscard]] NamedVars parameters() const { return {{"w", w}, {"a_target", a_target}, {"a_source", a_source}}; }
};

}  // namespace fovea
