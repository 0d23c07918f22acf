// Your own function of the scores, computed inside the tiled kernels: forward, backward and for the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// A part of the scores of one head: `queries` queries from `query0`, `keys` keys from `key0`. The score of query
/// query0 + q and key key0 + k is at(q, k). Rows of queries are contiguous in the tiled kernels (query_stride 1), so
/// the inner loop should run over queries; each() does.
struct ScoreTile {
  std::int64_t batch = 0, head = 0;               // of the scores
  std::int64_t query0 = 0, key0 = 0;              // first query and key
  std::int64_t queries = 0, keys = 0;             // of this tile
  std::int64_t offset = 0;                        // all keys - all queries: query i is at position i + offset
  std::int64_t query_stride = 0, key_stride = 0;  // of `scores`
  float* scores = nullptr;                        // changed in place

  /// One score; `q` and `k` count from the tile's first query and key.
  [[nodiscard]] float& at(std::int64_t q, std::int64_t k) const { return scores[q * query_stride + k * key_stride]; }
  /// Calls body(score, query, key) for every pair, with the score as a reference and both positions counted over the
  /// whole sequence, where the last query is at the last key.
  template <class Body>
  void each(Body&& body) const {
    for (std::int64_t k = 0; k < keys; ++k) {
      float* row = scores + k * key_stride;
      const std::int64_t key = key0 + k;
      const std::int64_t first = query0 + offset;
      if (query_stride == 1) {
        for (std::int64_t q = 0; q < queries; ++q) body(row[q], first + q, key);
      } else {
        for (std::int64_t q = 0; q < queries; ++q) body(row[q * query_stride], first + q, key);
      }
    }
  }
};

/// Changes scores after the scale and the soft cap, before biases and masks. Several apply in order. Threads call it at
/// the same time. Pairs that are hidden may be among those it is given; what it makes of them does not matter.
class ScoreModifier {
 public:
  ScoreModifier() = default;
  virtual ~ScoreModifier() = default;
  ScoreModifier(const ScoreModifier&) = delete;
  ScoreModifier& operator=(const ScoreModifier&) = delete;

  /// Named in errors.
  [[nodiscard]] virtual std::string name() const { return "modifier"; }
  /// What it learns. Their gradients are summed over the batch.
  [[nodiscard]] virtual std::vector<Var> parameters() const { return {}; }
  /// Throws UsageError or ShapeError where it does not fit a call.
  virtual void check(std::int64_t /*batch*/, std::int64_t /*heads*/, std::int64_t /*queries*/,
                     std::int64_t /*keys*/) const {}
  /// Changes the scores in place.
  virtual void apply(const ScoreTile& scores) const = 0;
  /// Whether backward() is implemented. Without it attend() throws UsageError where a gradient is wanted.
  [[nodiscard]] virtual bool differentiable() const { return false; }
  /// `before` holds what apply() was given. `gradient` holds the gradient of what it made and becomes that of what it
  /// was given; hidden pairs have 0. `parameters` points to the gradient of each parameter, to be added to.
  virtual void backward(const ScoreTile& /*before*/, const ScoreTile& /*gradient*/,
                        std::span<float* const> /*parameters*/) const {}
};

/// A list of them, applied in order.
using ScoreModifiers = std::vector<std::shared_ptr<const ScoreModifier>>;

/// A modifier from two functions: value(score, query, key) is the new score, slope(score, query, key) its derivative by
/// the old one. Both are inlined into the loop over a tile.
///
///     auto recency = fovea::score_modifier([](float s, auto q, auto k) { return s - 0.1F * float(q - k); },
///                                          [](float, auto, auto) { return 1.0F; });
///     attend(x, {.causal = true, .modifiers = {recency}});
template <class Value, class Slope>
[[nodiscard]] std::shared_ptr<const ScoreModifier> score_modifier(Value value, Slope slope) {
  class Pointwise final : public ScoreModifier {
   public:
    Pointwise(Value v, Slope s) : value_(std::move(v)), slope_(std::move(s)) {}
    void apply(const ScoreTile& scores) const override {
      scores.each([this](float& s, std::int64_t q, std::int64_t k) { s = value_(s, q, k); });
    }
    [[nodiscard]] bool differentiable() const override { return true; }
    void backward(const ScoreTile& before, const ScoreTile& gradient, std::span<float* const>) const override {
      const float* old = before.scores;
      gradient.each([&, this](float& g, std::int64_t q, std::int64_t k) {
        const std::int64_t at =
            (q - before.query0 - before.offset) * before.query_stride + (k - before.key0) * before.key_stride;
        g *= slope_(old[at], q, k);
      });
    }

   private:
    Value value_;
    Slope slope_;
  };
  return std::make_shared<Pointwise>(std::move(value), std::move(slope));
}

namespace modifier {

/// score += table[head, clip(query - key, -K, K) + K] for a table [heads, 2K + 1] or, for all heads, [1, 2K + 1]: a
/// learned bias for each distance.
[[nodiscard]] std::shared_ptr<const ScoreModifier> distance_bias(const Var& table);

/// score *= factor[head] (Henry et al. 2020: with normalized queries and keys, a learned temperature).
[[nodiscard]] std::shared_ptr<const ScoreModifier> head_scale(const Var& factor /* [heads] */);

/// score -= rate[head] * |time of the query - time of the key| for times [batch, tokens] of a self-attention.
[[nodiscard]] std::shared_ptr<const ScoreModifier> time_decay(const Var& rate /* [heads] */, const Tensor& times);

}  // namespace modifier
}  // namespace fovea
