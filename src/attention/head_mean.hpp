// The mean of attention weights over layers and heads.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/kind.hpp"

namespace fovea {

/// The weights of one layer: that of a head, query and key is data[head * head_stride + query * query_stride + key].
struct LayerWeights {
  const float* data = nullptr;
  std::int64_t heads = 0, head_stride = 0, query_stride = 0;
};

/// Writes the mean over the chosen heads to `out` [queries, keys]. Heads are added in their order, so that the same
/// weights give the same bytes in every layout.
void mean_over_heads(std::span<const LayerWeights> layers, const AttentionChoice& choice, std::int64_t queries,
                     std::int64_t keys, float* out);

}  // namespace fovea
