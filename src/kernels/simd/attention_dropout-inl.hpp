// Dropout on the weights of a tile.
#pragma once

#include "kernels/simd/attention_tile-inl.hpp"
#include "kernels/weight_dropout.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

/// Makes 0 of the weights that are dropped; the factor 1 / (1 - rate) is the caller's.
HWY_INLINE void drop(const WeightDropout& dropout, std::int64_t all_keys, const Tile& t, float* s, int stride) {
  for (int a = 0; a < t.keys; ++a) {
    for (int b = 0; b < t.queries; ++b) {
      if (!weight_kept(dropout, (t.row0 + b) * all_keys + t.key0 + a)) s[a * stride + b] = 0;
    }
  }
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
