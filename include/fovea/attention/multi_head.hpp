// Multi-head attention: several learned views of the same sequences, side by side.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fovea/attention/attend.hpp"

namespace fovea {

/// Weights by name, for an optimizer or a file.
using NamedVars = std::vector<std::pair<std::string, Var>>;

/// head_h = attend(x W_Q^h, m W_K^h, m W_V^h),  y = [head_1; ...; head_H] W_O  (Vaswani et al. 2017, section 3.2.2).
/// With fewer key heads than query heads it is grouped-query attention (Ainslie et al. 2023), with one multi-query
/// attention (Shazeer 2019). Weights are [in, out]; biases are optional.
///
///     const MultiHead layer = MultiHead::make({.dim = 512, .heads = 8}, seed);
///     const Var y = layer(x, memory, {.lengths = lengths}).context;  // cross attention
///     const Var z = layer(x, x, {.causal = true}).context;           // self-attention
struct MultiHead {
  struct Sizes {
    std::int64_t dim = 0;         // of the queries and of the output
    std::int64_t heads = 1;       // divides dim
    std::int64_t kv_heads = 0;    // divides heads; 0: as many as heads, 1: multi-query
    std::int64_t memory_dim = 0;  // of the keys' and values' sequence; 0: dim
    bool biases = true;
  };

  Var w_q{}, w_k{}, w_v{}, w_o{};  // [dim, dim], [memory, kv], [memory, kv], [dim, dim]; kv = kv_heads * dim / heads
  Var b_q{}, b_k{}, b_v{}, b_o{};  // optional
  std::int64_t heads = 1, kv_heads = 1;

  /// Xavier-uniform weights, zero biases, all parameters. Throws UsageError for sizes that do not divide.
  [[nodiscard]] static MultiHead make(const Sizes& sizes, std::uint64_t seed);

  /// x [B, Tq, dim] looks at memory [B, Tk, memory_dim]; context [B, Tq, dim]. `how.heads` and `how.kv_heads` are set
  /// here.
  [[nodiscard]] Attended operator()(const Var& x, const Var& memory, AttendOptions how = {}) const;

  /// The memory's keys and values, computed once for many calls of look().
  struct Memory {
    Var keys{}, values{};  // [B, Tk, kv]
  };
  [[nodiscard]] Memory remember(const Var& memory) const;
  [[nodiscard]] Attended look(const Var& x, const Memory& memory, AttendOptions how = {}) const;

  [[nodiscard]] NamedVars parameters() const;
};

/// A sequence that looks at itself (Cheng et al. 2016; Vaswani et al. 2017): queries, keys and values are maps of x.
struct SelfAttention {
  MultiHead heads{};

  [[nodiscard]] static SelfAttention make(const MultiHead::Sizes& sizes, std::uint64_t seed);
  [[nodiscard]] Attended operator()(const Var& x, const AttendOptions& how = {}) const { return heads(x, x, how); }
  [[nodiscard]] NamedVars parameters() const { return heads.parameters(); }
};

/// One sequence that looks at another, "distinctive" attention (Bahdanau et al. 2015): any score, no maps of its own.
/// c_i = sum_j w_ij m_j.
struct CrossAttention {
  Score score = score::ScaledDot{};
  Normalizer normalizer = normalizer::Softmax{};

  [[nodiscard]] Attended operator()(const Var& x, const Var& memory, AttendOptions how = {}) const;
};

}  // namespace fovea
