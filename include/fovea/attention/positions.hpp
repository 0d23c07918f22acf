// What positions add to attention: ALiBi, T5's relative bias, rotary and relative positions. The position of query i is
// i + keys - queries, as in mask.hpp.
#pragma once

#include <cstdint>

#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// The slopes m_h of ALiBi (Press et al. 2022), score -= m_h |i - j|: 2^(-8 h / H) for H a power of two; else those of
/// the next lower power P, then every other one of 2P.
[[nodiscard]] Tensor alibi_slopes(std::int64_t heads);  // [heads]

/// T5's learned bias per head and distance (Raffel et al. 2020): score += table[bucket(j - i), h]. Near distances have
/// a bucket each, far ones share logarithmically up to max_distance. Bidirectional: half of the buckets for keys to
/// the right; else those all fall into bucket 0. Linear memory: the bias is a function of j - i alone.
struct RelativeBias {
  Var table{};                      // [buckets, heads]
  std::int64_t max_distance = 128;  // farther ones share a bucket
  bool bidirectional = true;        // keys to the right have buckets of their own
};

/// The bucket of distance j - i.
[[nodiscard]] std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, const RelativeBias& how);

/// Rotary positions (Su et al. 2021): pairs of features turn by position * base^(-2p/d).
struct Rotary {
  float base = 10000;        // of the angles
  std::int64_t dims = 0;     // how many leading features turn; 0: all
  bool interleaved = false;  // pairs (2p, 2p + 1) as in the paper; else (p, p + dims / 2)
};

/// x [..., T, d], or [B, T, heads * d]: row t is turned by its position `first + t`.
[[nodiscard]] Var rotary(const Var& x, const Rotary& how = {}, std::int64_t first = 0, std::int64_t heads = 1);

/// Shaw et al. 2018: score = q . (k_j + keys[r]) * scale, context = sum_j w_j (v_j + values[r]) with
/// r = clip(j - i, -K, K) + K. Dot and scaled dot only.
struct RelativePositions {
  Var keys{};    // [2K + 1, d], optional
  Var values{};  // [2K + 1, dv], optional
};

}  // namespace fovea
