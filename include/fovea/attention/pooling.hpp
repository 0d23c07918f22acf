// A sequence as a few vectors: learned queries attend to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of LearnedPooling.
struct LearnedPoolingOptions {
  std::int64_t dim = 0;      // of the sequence
  std::int64_t queries = 1;  // n
};

/// n learned queries attend to a sequence: y = attend(queries, x, x), [B, T, d] to [B, n, d]  (the seeds of Lee et al.
/// 2019; with an additive score the self-attentive embedding of Lin et al. 2017).
///
///     const LearnedPooling pool(parameters, "pool", {.dim = 64, .queries = 4});
///     const Var y = pool(x, {.lengths = lengths}).context;
struct LearnedPooling {
  LearnedPooling() = default;
  /// Weight NAME.queries, normal with deviation 1 / sqrt(dim).
  LearnedPooling(Parameters& p, const std::string& name, const LearnedPoolingOptions& options);

  /// Context [B, n, d]; weights [B, n, T] when wanted. `how.score` is set here.
  [[nodiscard]] Attended operator()(const Var& x, AttendOptions how = {}) const;

  Var queries{};                     // [n, d], the same for every sequence
  Score score = score::ScaledDot{};  // of query and row
};

/// u_t = tanh(x_t W + b),  w = softmax(u . c),  y = sum_t w_t x_t, with one learned context vector c
/// (Yang et al. 2016, eq. 5 to 7).
struct ContextPooling {
  ContextPooling() = default;
  /// Weights NAME.w, NAME.b and NAME.context.
  ContextPooling(Parameters& p, const std::string& name, std::int64_t dim, std::int64_t hidden);

  /// x [B, T, d]; context [B, 1, d].
  [[nodiscard]] Attended operator()(const Var& x, std::span<const std::int64_t> lengths = {},
                                    const WeightsRequest& want = {}) const;

  Var w{};        // [h, d]
  Var b{};        // [1, h]
  Var context{};  // [h]
};

}  // namespace fovea
