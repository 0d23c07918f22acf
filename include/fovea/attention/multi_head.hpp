// Multi-head attention: several learned views of the same sequences, side by side.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of MultiHead.
struct MultiHeadOptions {
  std::int64_t dim = 0;              // of the queries and of the output
  std::int64_t heads = 1;            // divides dim
  std::int64_t kv_heads = 0;         // divides heads; 0: as many as heads, 1: multi-query
  std::int64_t memory_dim = 0;       // of the keys' and values' sequence; 0: dim
  bool bias = true;                  // whether the four maps have one
  Score score = score::ScaledDot{};  // without parameters of its own
};

/// head_h = attend(x W_Q^h, m W_K^h, m W_V^h),  y = [head_1; ...; head_H] W_O  (Vaswani et al. 2017, section 3.2.2).
/// With `how.trace` it leaves NAME.query, .key, .value, .scores, .masked, .weights, .context (the heads side by side)
/// and .output there; queries and keys as the scores take them, turned where positions are rotary.
/// With fewer key heads than query heads it is grouped-query attention (Ainslie et al. 2023), with one multi-query
/// attention (Shazeer 2019).
///
/// Padding never changes a result or a gradient, provided it is finite: the gradient of a map adds 0 times each row of
/// padding, which NaN or infinity would turn into NaN.
///
///     const MultiHead layer(parameters, "encoder.0.self", {.dim = 512, .heads = 8});
///     const Var y = layer(x, memory, {.lengths = lengths}).context;  // cross-attention
///     const Var z = layer(x, x, {.causal = true}).context;           // self-attention
struct MultiHead {
  MultiHead() = default;
  /// Weights NAME.query, NAME.key, NAME.value and NAME.output. Throws UsageError for sizes that do not divide.
  MultiHead(Parameters& p, const std::string& weights, const MultiHeadOptions& options);

  /// x [B, Tq, dim] attends to memory [B, Tk, memory_dim]; context [B, Tq, dim]. `how.heads`, `how.kv_heads` and
  /// `how.score` are set here.
  [[nodiscard]] Attended operator()(const Var& x, const Var& memory, AttendOptions how = {}) const;

  /// The memory's keys and values, computed once for many calls of attend().
  struct KeysValues {
    Var keys{}, values{};  // [B, Tk, kv_heads * dim / heads]
  };
  /// Keys and values for attend().
  [[nodiscard]] KeysValues project(const Var& memory) const { return {key(memory), value(memory)}; }
  /// As the call operator, with a memory that is projected already.
  [[nodiscard]] Attended attend(const Var& x, const KeysValues& memory, AttendOptions how = {}) const;
  /// The same with queries that are projected already, [B, Tq, dim].
  [[nodiscard]] Attended attend_projected(const Var& queries, const KeysValues& memory, AttendOptions how = {}) const;

  Linear query{}, key{}, value{}, output{};  // the four maps
  std::int64_t heads = 1, kv_heads = 1;      // of queries; of keys and values
  Score score = score::ScaledDot{};          // of every head
  std::string name{};                        // of its weights, and of what it leaves in a trace
};

/// A sequence that attends to itself (Cheng et al. 2016; Vaswani et al. 2017): queries, keys and values are maps of x.
struct SelfAttention {
  SelfAttention() = default;
  /// Weights as MultiHead has them.
  SelfAttention(Parameters& p, const std::string& name, const MultiHeadOptions& options) : heads(p, name, options) {}
  /// x [B, T, dim] to context [B, T, dim].
  [[nodiscard]] Attended operator()(const Var& x, const AttendOptions& how = {}) const { return heads(x, x, how); }

  MultiHead heads{};  // the attention itself
};

/// One sequence that attends to another (Bahdanau et al. 2015): any score, no maps of its own.
/// c_i = sum_j w_ij m_j.
struct CrossAttention {
  Score score = score::ScaledDot{};               // how x and memory are compared
  Normalizer normalizer = normalizer::Softmax{};  // turns scores into weights

  /// x [B, Tq, d] attends to memory [B, Tk, d]; `how.score` and `how.normalizer` are set here.
  [[nodiscard]] Attended operator()(const Var& x, const Var& memory, AttendOptions how = {}) const;
};

}  // namespace fovea
