// Softmax attention of one head of one sequence, tiled: no [queries, keys] array ever exists.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// Which keys a query may look at, and what is added to its scores. All of it is resolved per tile: tiles that no
/// query of the tile can see are skipped.
struct Sight {
  std::int64_t length = 0;    // keys from here on are padding
  std::int64_t offset = 0;    // keys - queries, for causal, window and ALiBi: query i stands at position i + offset
  bool causal = false;        // sees keys j <= i + offset
  std::int64_t window = -1;   // sees keys |i + offset - j| <= window; -1: no limit
  const std::uint8_t* mask = nullptr;  // [queries, keys], 1 = may look
  std::int64_t mask_stride = 0;        // between rows; 0: one row for all queries
  const float* bias = nullptr;         // added to the scaled score
  std::int64_t bias_row = 0;           // distances between rows and columns of bias; 0 broadcasts
  std::int64_t bias_column = 0;
  float alibi_slope = 0;               // score -= slope * |i + offset - j|
};

/// Dropout on weights: a counter-based mask from seed and (counter + i * keys + j), the same forward and backward.
struct WeightDropout {
  float rate = 0;
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
};

/// softmax(scale * q k' + bias) v and its gradient. Row r of an array stands at pointer + r * stride.
struct DotHead {
  std::int64_t queries = 0, keys = 0, dim = 0, value_dim = 0;
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  std::int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  float scale = 1;
  Sight sight;
  WeightDropout dropout;
  float* out = nullptr;  // [queries, value_dim]
  std::int64_t out_stride = 0;
  float* lse = nullptr;  // [queries], log of the sum of exp(score); -inf for a query that sees nothing
};

/// softmax(v' tanh(a_i + b_j)) values, with a = W q and b = U k (+ bias) computed before: the additive family.
/// Shapes as in DotHead with dim = h; `w` is the vector v of the score.
struct AdditiveHead {
  std::int64_t queries = 0, keys = 0, dim = 0, value_dim = 0;
  const float* a = nullptr;  // [queries, dim]
  const float* b = nullptr;  // [keys, dim]
  const float* w = nullptr;  // [dim]
  const float* v = nullptr;  // [keys, value_dim]
  std::int64_t a_stride = 0, b_stride = 0, v_stride = 0;
  Sight sight;
  WeightDropout dropout;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  float* lse = nullptr;
};

}  // namespace fovea::kernels
