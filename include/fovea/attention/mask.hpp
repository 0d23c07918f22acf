// Where attention may look, and what positions add to it. "Query i stands at i + keys - queries": the last query stands
// at the last key, so a decoder's few queries line up with its longer cache.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/var.hpp"

namespace fovea {

/// Which pairs may look at each other: bytes, 1 = may, broadcastable to [batch, heads, queries, keys]. Copying copies
/// the handle.
class Mask {
 public:
  Mask() = default;  // everything may look everywhere
  /// Copies `allowed`. Throws ShapeError unless there are shape.size() of them.
  [[nodiscard]] static Mask of(const Shape& shape, std::span<const std::uint8_t> allowed);

  explicit operator bool() const { return static_cast<bool>(bytes_); }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::uint8_t* data() const;

 private:
  Shape shape_;
  Tensor bytes_;
};

/// The slopes m_h of ALiBi (Press et al. 2022), score -= m_h |i - j|: 2^(-8 h / H) for H a power of two; else those of
/// the next lower power P, then every other one of 2P.
[[nodiscard]] Tensor alibi_slopes(std::int64_t heads);  // [heads]

/// T5's learned bias per head and distance (Raffel et al. 2020): score += table[bucket(j - i), h]. Near distances have
/// a bucket each, far ones share logarithmically up to max_distance. Bidirectional: half of the buckets for keys to
/// the right; else those all fall into bucket 0. Linear memory: the bias is a function of j - i alone.
struct RelativeBias {
  Var table{};  // [buckets, heads]
  std::int64_t max_distance = 128;
  bool bidirectional = true;
};

/// The bucket of distance j - i.
[[nodiscard]] std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, const RelativeBias& how);

/// Rotary positions (Su et al. 2021): pairs of features turn by position * base^(-2p/d).
struct Rotary {
  float base = 10000;
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

/// Luong et al. 2015, section 3.2: query i sees only keys within half_width of its centre; the weights are multiplied
/// by exp(-(j - centre)^2 / (2 sigma^2)), sigma = half_width / 2, if gaussian. Local-m: no centre given, query i's is
/// i. Local-p: the centre is predicted, see predict_centers.
struct Local {
  std::int64_t half_width = 10;
  Var centers{};  // [B, queries] or [B, H, queries], optional
  bool gaussian = false;
};

/// S sigmoid(v . tanh(W q)) for q [B, T, dq]: [B, T]; S = lengths[b], or `keys` where no lengths are given.
[[nodiscard]] Var predict_centers(const Var& query, const Var& w /* [h, dq] */, const Var& v /* [h] */,
                                  std::int64_t keys, std::span<const std::int64_t> lengths = {});

/// Query i sees the keys column[row_start[i]] to column[row_start[i + 1] - 1], in every sequence and head: attention on
/// a graph. Work and memory grow with the edges, not with queries * keys.
struct Edges {
  std::span<const std::int64_t> row_start{};  // [queries + 1]
  std::span<const std::int64_t> column{};     // [edges], each 0 to keys - 1
};

}  // namespace fovea
