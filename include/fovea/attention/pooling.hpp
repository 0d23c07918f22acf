// A sequence read by queries of the model's own.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// n learned queries read a sequence: y = attend(queries, x, x), [B, T, d] to [B, n, d]  (the seeds of Lee et al. 2019;
/// with an additive score the self-attentive embedding of Lin et al. 2017).
struct LearnedPooling {
  Var queries{};  // [n, d], the same for every sequence
  Score score = score::ScaledDot{};

  /// Queries drawn normally with deviation 1 / sqrt(dim).
  [[nodiscard]] static LearnedPooling make(std::int64_t queries, std::int64_t dim, std::uint64_t seed);

  /// Context [B, n, d]; weights [B, n, T] when wanted.
  [[nodiscard]] Attended operator()(const Var& x, AttendOptions how = {}) const;
  [[nodiscard]] NamedVars parameters() const { return {{"queries", queries}}; }
};

/// u_t = tanh(x_t W + b),  w = softmax(u . c),  y = sum_t w_t x_t: one learned context vector c says what matters
/// (Yang et al. 2016, eq. 5 to 7).
struct ContextPooling {
  Var w{};        // [h, d]
  Var b{};        // [1, h]
  Var context{};  // [h]

  [[nodiscard]] static ContextPooling make(std::int64_t dim, std::int64_t hidden, std::uint64_t seed);

  /// x [B, T, d]; context [B, 1, d].
  [[nodiscard]] Attended operator()(const Var& x, std::span<const std::int64_t> lengths = {},
                                    const WeightsRequest& want = {}) const;
  [[nodiscard]] NamedVars parameters() const { return {{"w", w}, {"b", b}, {"context", context}}; }
};

}  // namespace fovea
