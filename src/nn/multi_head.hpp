// Multi-head attention as the Transformer's layers use it (Vaswani et al. 2017, section 3.2.2), on packed weights when
// decoding, and with keys and values that were computed before.
#pragma once

#include <span>
#include <string>

#include "fovea/attention.hpp"
#include "nn/linear.hpp"
#include "nn/pass.hpp"

namespace fovea {

struct MultiHeadLayer {
  struct Options {
    bool causal = false;
    std::span<const std::int64_t> lengths{};
    bool rotary = false;
    bool alibi = false;
    bool want_weights = false;
  };
  struct Result {
    Var output;      // [batch, queries, width]
    Tensor weights;  // [batch, heads, queries, keys], when wanted
  };

  MultiHeadLayer() = default;
  /// Scores are divided by the root of a head's width unless told otherwise.
  MultiHeadLayer(Parameters& p, const std::string& name, std::int64_t width, std::int64_t memory_width,
                 std::int64_t head_count, bool divide = true);

  /// x [batch, queries, width] looks at `memory` [batch, keys, memory width].
  Result operator()(const Var& x, const Var& memory, const Options& how, Pass& pass) const;
  /// The same with keys and values computed before, [batch, keys, width].
  Result look(const Var& x, const Var& keys, const Var& values, const Options& how, Pass& pass) const;

  /// The same with queries computed before, too, [batch, queries, width].
  Result attend_to(const Var& queries, const Var& keys, const Var& values, const Options& how, Pass& pass) const;

  Linear query, key, value, output;
  std::int64_t heads = 1;
  bool divided = true;
};

}  // namespace fovea
