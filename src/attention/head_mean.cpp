#include "attention/head_mean.hpp"

#include <algorithm>

namespace fovea {

void mean_over_heads(std::span<const LayerWeights> layers, const AttentionChoice& choice, std::int64_t queries,
                     std::int64_t keys, float* out) {
  std::fill(out, out + queries * keys, 0.0F);
  std::int64_t count = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::int64_t h = 0; h < layers[l].heads; ++h) {
      if (!choice.has(static_cast<int>(l), static_cast<int>(h))) continue;
      ++count;
      for (std::int64_t q = 0; q < queries; ++q) {
        const float* in = layers[l].data + h * layers[l].head_stride + q * layers[l].query_stride;
        float* to = out + q * keys;
        for (std::int64_t k = 0; k < keys; ++k) to[k] += in[k];
      }
    }
  }
  const auto divisor = static_cast<double>(std::max<std::int64_t>(1, count));
  for (std::int64_t i = 0; i < queries * keys; ++i) out[i] = static_cast<float>(out[i] / divisor);
}

}  // namespace fovea
