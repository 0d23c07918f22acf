// Attention: scores, weights, weighted sum, each stage by choice, forward and backward.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fovea/attention/block_mask.hpp"
#include "fovea/attention/mask.hpp"
#include "fovea/attention/normalizers.hpp"
#include "fovea/attention/positions.hpp"
#include "fovea/attention/score_modifier.hpp"
#include "fovea/attention/scores.hpp"
#include "fovea/ops.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

class WeightEditor;
class Trace;

/// What attend() reports about the weights. All but `weights` of all queries and `scores` take memory linear in the
/// sequence.
struct WeightsRequest {
  bool weights = false;                   // Attended::weights; a gradient may flow into them
  std::span<const std::int64_t> rows{};   // only of these queries; empty: of all
  std::span<const std::int64_t> heads{};  // only of these heads; empty: of all
  std::int64_t top = 0;                   // the N largest of each query
  bool column_sums = false;               // the weight each key gets from all queries, summed
  bool entropy = false;                   // -sum w log w of each query, in nats
  bool scores = false;                    // Attended::scores and Attended::masked
  bool log_sum = false;                   // Attended::log_sum, of softmax; a gradient may flow into it
};

/// Everything attend() can be asked for; each field has a default.
struct AttendOptions {
  Score score = score::ScaledDot{};               // how a query and a key are compared
  Normalizer normalizer = normalizer::Softmax{};  // turns the scores of a query into weights

  std::int64_t heads = 0;     // H: the query is [B, Tq, H * d], heads side by side; 0: as the ranks say
  std::int64_t kv_heads = 0;  // with heads: key [B, Tk, kv_heads * d]; divides heads; 0: as many as heads

  bool causal = false;           // query i attends to keys j <= i + Tk - Tq only
  std::int64_t window = -1;      // ... and |i + Tk - Tq - j| <= window; -1: no limit
  std::int64_t dilation = 1;     // with window: only keys whose distance is a multiple of it
  std::int64_t global_keys = 0;  // with window: every query sees the first keys, and the first queries see every key
  std::int64_t prefix = 0;       // with causal: the first keys are visible to every query (prefix language model)
  std::span<const std::int64_t> documents{};  // [B, T], self-attention: a query sees keys with its own id; empty: all
  std::span<const std::int64_t> lengths{};    // [B], each 0 to Tk: keys from there on are padding; empty: none is
  Mask mask{};                                // which pairs are visible; empty: all
  BlockMask blocks{};                         // the same as a sparse map of tiles
  Edges edges{};                              // attention on a graph instead of all pairs; empty: all pairs
  float softcap = 0;           // score = softcap * tanh(score / softcap), before biases (Gemma 2); 0: none
  ScoreModifiers modifiers{};  // your own functions of the scores, after the soft cap
  // A logit for each head that takes part in softmax's sum and has no value, so that rows sum to less than 1: [H].
  Var sink{};
  bool off_by_one = false;  // the same with logit 0 for every head
  Var bias{};  // added to the scores, broadcastable to [B, H, Tq, Tk], of one head also to [B, Tq, Tk]; -inf hides
  bool alibi = false;                                     // adds ALiBi's penalty on distance, see alibi_slopes()
  std::optional<RelativeBias> relative_bias{};            // T5's learned bias on distance
  std::optional<Rotary> rotary{};                         // rotary positions of queries and keys
  std::optional<RelativePositions> relative_positions{};  // Shaw's vectors for distances
  std::optional<Local> local{};                           // only keys near a centre

  Dropout dropout{};  // of the weights that make the context; those that are reported are without it

  const WeightEditor* editor =
      nullptr;             // changes weights before they make the context; not where gradients are recorded
  Trace* trace = nullptr;  // where a mechanism leaves its numbers; attend() itself leaves none

  WeightsRequest want{};  // what is reported about the weights
};

/// The N largest weights of each query, largest first, the first of equals first.
struct TopWeights {
  Tensor weight{};                    // [B, Tq, N] or [B, H, Tq, N]
  std::vector<std::int64_t> index{};  // the key of each, in the same order
};

/// The context of each query and, on request, the weights it came from.
struct Attended {
  Var context{};  // the query's layout: [B, Tq, dv], [B, H, Tq, dv] or [B, Tq, H * dv]
  // [B, Tq, Tk] for a query of rank 3 without heads, else [B, H, Tq, Tk]; fewer H or Tq when chosen; [B, E] or
  // [B, H, E] with edges. A row of softmax sums to 1, or is all 0 if no key is visible to the query.
  Var weights = Var::absent("weights were not requested: set AttendOptions::want.weights");
  // ln sum_j exp(score_ij) of each query, a sink included: [B, Tq] or [B, H, Tq]; -inf where no key is visible. With it
  // attention over parts of the keys can be merged: sum_p exp(log_sum_p - log_sum) context_p.
  Var log_sum = Var::absent("log_sum was not requested: set AttendOptions::want.log_sum");
  // Of the sampled key (normalizer::Sampled): [B, Tq] or [B, H, Tq]; 0 where no key is visible.
  Var log_probability = Var::absent("log_probability is computed by normalizer::Sampled only");
  TopWeights top{};      // when asked for
  Tensor column_sums{};  // [B, Tk] or [B, H, Tk]
  Tensor entropy{};      // [B, Tq] or [B, H, Tq]
  Tensor scores{};       // [B, Tq, Tk] or [B, H, Tq, Tk]: what the score gives, its scale included
  Tensor masked{};       // the same with biases, as the normaliser takes them: -inf where a key is not visible
};

/// context_i = sum_j w_ij v_j,  w_i = normalizer(score(q_i, k_j) over the keys j visible to i).
///
///     const Attended attended = attend(q, k, v, {.causal = true, .want = {.weights = true}});
///
/// query [B, Tq, dq] or [B, H, Tq, dq], or [Tq, dq] for the same queries in every sequence; key [B, Tk, dk] or [B, Hk,
/// Tk, dk], Hk dividing H: query head h attends to key head h * Hk / H; value as the key, of any width. A query
/// without visible keys gets context 0, weights 0 and gradient 0; keys and values that no query can see never influence
/// the result. A sequence's result does not depend on the others. Throws ShapeError naming the array and what was
/// expected, UsageError for options that exclude each other.
[[nodiscard]] Attended attend(const Var& query, const Var& key, const Var& value, const AttendOptions& how = {});

/// Self-attention: a sequence attends to itself.
[[nodiscard]] inline Attended attend(const Var& sequence, const AttendOptions& how = {}) {
  return attend(sequence, sequence, sequence, how);
}

/// The loss that trains normalizer::Sampled (Williams 1992): -mean((reward - baseline) log p). reward is a constant of
/// log_probability's shape, higher is better; so is the baseline, which lowers the variance: a running mean of rewards.
[[nodiscard]] Var reinforce_loss(const Var& log_probability, const Tensor& reward, const Tensor& baseline);

}  // namespace fovea
