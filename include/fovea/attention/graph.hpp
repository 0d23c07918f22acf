// Attention on a graph.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of GraphAttention.
struct GraphOptions {
  std::int64_t dim = 0;    // of the nodes
  std::int64_t out = 0;    // of a head's result
  std::int64_t heads = 1;  // concatenated in the result
};

/// Graph attention (Velickovic et al. 2018): h = x W, and for every head
///   w_ij = softmax over the edges i -> j of LeakyReLU(a . [h_i; h_j]),  y_i = sum_j w_ij h_j
/// The result is the concatenation of the heads; nonlinearity and average are the caller's.
///
///     const GraphAttention layer(parameters, "graph.0", {.dim = 64, .out = 8, .heads = 8});
///     const Var y = layer(nodes, {.row_start = row_start, .column = column}).context;
struct GraphAttention {
  GraphAttention() = default;
  /// Weights NAME.w, NAME.a_target and NAME.a_source.
  GraphAttention(Parameters& p, const std::string& name, const GraphOptions& options);

  /// x [nodes, d] to context [1, nodes, heads * out]; weights, when wanted, [1, heads, edges].
  [[nodiscard]] Attended operator()(const Var& x, const Edges& edges, const WeightsRequest& want = {}) const;

  Var w{};                     // [d, heads * out]
  Var a_target{}, a_source{};  // [heads, out] each: the halves of a
  std::int64_t heads = 1;      // concatenated in the result
};

}  // namespace fovea
