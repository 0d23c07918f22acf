// Attention whose scores depend on the weights of the steps before.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of CoverageAttention.
struct CoverageOptions {
  std::int64_t query_dim = 0, key_dim = 0;  // widths of queries and keys
  std::int64_t hidden = 0;                  // h
};

/// Additive attention with coverage (See et al. 2017, eq. 10 to 12): step t scores v . tanh(W q_t + U k_j + c_j w_c +
/// b) where c = sum of the weights of the steps before. Steps follow each other: time grows with queries, not only
/// work.
///
///     const CoverageAttention layer(parameters, "decoder.attention", {.query_dim = 128, .key_dim = 256, .hidden =
///     64}); const auto [context, weights, coverage, loss] = layer(queries, memory, memory, lengths);
struct CoverageAttention {
  /// What was read, and what has been attended to.
  struct Result {
    Var context{};   // [B, Tq, dv]
    Var weights{};   // [B, Tq, Tk]
    Var coverage{};  // [B, Tk], after the last step
    Var loss{};      // [], coverage_loss() divided by the number of queries
  };

  CoverageAttention() = default;
  /// Weights NAME.w, NAME.u, NAME.v, NAME.b and NAME.coverage_weight.
  CoverageAttention(Parameters& p, const std::string& name, const CoverageOptions& options);

  /// `coverage`: from steps before, [B, Tk]; nothing: zeros.
  [[nodiscard]] Result operator()(const Var& query, const Var& key, const Var& value,
                                  std::span<const std::int64_t> lengths = {}, const Var& coverage = {}) const;

  Var w{}, u{};                     // [h, dq], [h, dk]
  Var v{}, b{}, coverage_weight{};  // [h] each
};

/// What counts in coverage_loss().
struct CoverageLossOptions {
  std::span<const std::int64_t> queries{};  // [B]: how many of each sequence; empty: all
  std::span<const std::int64_t> keys{};     // [B]: how many of each sequence; empty: all
  Var before{};                             // [B, Tk]: what earlier steps attended to; empty: nothing
};

/// sum over t and j of min(w_tj, c_tj), c_tj = before_j + the sum of w_uj over u < t: attending again to the same keys
/// costs (See et al. 2017, eq. 13). weights [B, Tq, Tk].
[[nodiscard]] Var coverage_loss(const Var& weights, const CoverageLossOptions& how = {});

}  // namespace fovea
